//! Reads and writes files safely: a file is written completely or not at all, and only regular files are read.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// What names of files that are being written end with.
const TEMPORARY: &str = ".tmp";

/// Writes a file under a temporary name beside it, forces it to disk and renames it. On an error the temporary
/// file is removed and what was there before stays.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    write_piecewise(path, |file| file.write_all(bytes))
}

/// The same for a file whose bytes come piece by piece.
pub fn write_piecewise(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let (temporary, mut file) = temporary_beside(path).map_err(|e| explained(e, path))?;
    let written =
        write(&mut file).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|e| {
        // The first error is the one to report; the temporary file is removed when the next cook begins.
        let _ = std::fs::remove_file(&temporary);
        explained(e, path)
    })
}

/// A new file in the same folder, so that renaming stays on one file system. Its name is nobody else's.
fn temporary_beside(path: &Path) -> std::io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for attempt in 0u32.. {
        let temporary = path.with_file_name(format!(".{name}.{}-{attempt}{TEMPORARY}", std::process::id()));
        match File::create_new(&temporary) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
            made => return made.map(|file| (temporary, file)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Whether a folder within another one is a link: what lies there is not within that other one.
pub fn is_link(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|it| it.is_symlink())
}

/// Removes temporary files of killed writers from a folder. Only for a folder that no other process writes to.
pub fn clear_temporaries(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| is_temporary(p)) {
        // One too many does no harm.
        let _ = std::fs::remove_file(path);
    }
}

/// True for names that [`write_atomically`] gives to a file until it is whole: `.<name>.<process>-<number>.tmp`.
fn is_temporary(path: &Path) -> bool {
    let number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let middle = || path.file_name()?.to_str()?.strip_prefix('.')?.strip_suffix(TEMPORARY)?.rsplit_once('.');
    middle().and_then(|(_, id)| id.split_once('-')).is_some_and(|(a, b)| number(a) && number(b))
}

/// The bytes of a file of at most `most` bytes. Folders, devices, pipes and sockets are refused: reading them may never
/// end.
pub fn read_file(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::other(format!("it has more than {most} bytes, the most that is read")));
    }
    Ok(bytes)
}

/// The same for a file whose first bytes say what it is: `look` gets at most `head` of them and the length of the whole
/// before more is read. A file that does not fit into the free memory is refused.
pub fn read_headed(
    path: &Path,
    most: u64,
    head: usize,
    look: impl FnOnce(&[u8], u64) -> Result<(), String>,
) -> std::io::Result<Vec<u8>> {
    /// A file of up to so many bytes is read without a look at the memory.
    const SMALL: u64 = 1 << 28;
    let mut file = open_file(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    (&mut file).take(head as u64).read_to_end(&mut bytes)?;
    look(&bytes, length).map_err(Error::other)?;
    if length > most {
        return Err(Error::other(format!("it has more than {most} bytes, the most that is read")));
    }
    if length > SMALL && crate::memory::free().is_some_and(|free| length as f64 > free) {
        return Err(Error::other(format!("it has {length} bytes, more than there is free memory")));
    }
    bytes.reserve_exact(usize::try_from(length).unwrap_or(0).saturating_sub(bytes.len()));
    file.take(most.saturating_sub(bytes.len() as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file to read it; refuses anything but regular files.
pub fn open_file(path: &Path) -> std::io::Result<File> {
    // Checked before opening, because opening a pipe waits for a writer.
    refuse_others(&std::fs::metadata(path)?)?;
    let file = File::open(path).map_err(open_files)?;
    refuse_others(&file.metadata()?)?;
    Ok(file)
}

/// An error that says what the thing is, if it is no file.
fn refuse_others(meta: &std::fs::Metadata) -> std::io::Result<()> {
    if meta.is_file() {
        return Ok(());
    }
    #[cfg(unix)]
    let what = {
        use std::os::unix::fs::FileTypeExt;
        let kind = meta.file_type();
        match () {
            () if kind.is_dir() => "a folder",
            () if kind.is_fifo() => "a pipe",
            () if kind.is_socket() => "a socket",
            () => "a device",
        }
    };
    #[cfg(not(unix))]
    let what = "something else";
    Err(Error::new(ErrorKind::InvalidInput, format!("this is no file but {what}")))
}

/// The error with what to do about it, if no file can be opened at all because too many are open.
fn open_files(e: Error) -> Error {
    #[cfg(unix)]
    if matches!(e.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        return Error::new(e.kind(), "no more files can be open at a time; raise the limit (ulimit -n)");
    }
    e
}

/// The error with what to do about it.
pub fn explained(e: Error, path: &Path) -> Error {
    let folder = path.parent().unwrap_or(path).display();
    match e.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::new(
            e.kind(),
            format!("the disk of {folder} is full; make room and continue with --resume"),
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::new(e.kind(), format!("{folder} is not writable; choose another folder with --out"))
        }
        ErrorKind::FileTooLarge => Error::new(
            e.kind(),
            format!(
                "{folder} takes no file of this size; raise the limit (ulimit -f) or choose another folder with --out"
            ),
        ),
        _ => open_files(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write_atomically(&dir.path().join("no/b.txt"), b"x").is_err());
    }

    #[test]
    fn two_writers_of_one_file_do_not_meet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write_piecewise(&path, |outer| {
            outer.write_all(b"out")?;
            write_atomically(&path, b"inner")?;
            outer.write_all(b"er")
        })
        .unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"outer");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_what_was_cut_off_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let names = [".a.0001.vdb.17-0.tmp", ".a.tmp", "a.1-2.tmp", ".hidden", ".x.1-b.tmp"];
        names.iter().for_each(|n| std::fs::write(dir.path().join(n), b"x").unwrap());
        clear_temporaries(dir.path());
        let left = |n: &&&str| dir.path().join(n).exists();
        assert_eq!(names.iter().filter(left).collect::<Vec<_>>(), names[1..].iter().collect::<Vec<_>>());
    }

    #[test]
    fn what_a_file_is_is_asked_before_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        // Four gigabytes that are not on any disk.
        File::create(&path).unwrap().set_len(1 << 32).unwrap();
        let is_ours = |head: &[u8], length: u64| match head {
            b"ours" => Ok(()),
            _ => Err(format!("{} of {length} bytes are not ours", head.len())),
        };
        let said = read_headed(&path, u64::MAX, 4, is_ours).unwrap_err().to_string();
        assert_eq!(said, "4 of 4294967296 bytes are not ours");
        let said = read_headed(&path, 9, 4, |_, _| Ok(())).unwrap_err().to_string();
        assert!(said.contains("more than 9 bytes"), "{said}");
        std::fs::write(&path, b"ours, and more").unwrap();
        assert_eq!(read_headed(&path, 99, 4, is_ours).unwrap(), b"ours, and more");
        std::fs::write(&path, b"o").unwrap();
        assert!(read_headed(&path, 99, 4, is_ours).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let said = |path: &Path| read_file(path, 9).unwrap_err().to_string();
        assert!(said(Path::new("/dev/zero")).contains("no file but a device"));
        assert!(said(dir.path()).contains("no file but a folder"));
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(said(&pipe).contains("no file but a pipe"));
        let ten = dir.path().join("ten");
        std::fs::write(&ten, b"0123456789").unwrap();
        assert!(said(&ten).contains("more than 9 bytes"));
        assert_eq!(read_file(&ten, 10).unwrap(), b"0123456789");
    }
}
