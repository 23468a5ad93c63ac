//! Files that are whole or not there.

use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

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
    let temporary = temporary_name(path);
    let written = File::create(&temporary)
        .and_then(|mut f| write(&mut f).and_then(|()| f.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|e| {
        // The first error is the one worth telling; a leftover temporary file is overwritten next time.
        let _ = std::fs::remove_file(&temporary);
        explained(e, path)
    })
}

/// A name in the same folder, so that renaming stays on one file system.
pub fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// The error with what to do about it.
fn explained(e: Error, path: &Path) -> Error {
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
        _ => e,
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
}
