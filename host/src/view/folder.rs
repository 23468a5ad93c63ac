//! Reads a cook's folder, and nothing outside it.

use crate::files::open_file;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Most bytes of the lines that one request gets.
const LINES: u64 = 4 << 20;
/// Bytes at a file's beginning that tell it from the one before.
const HEAD: usize = 512;

/// A cook's folder. It may vanish, and come back as another, at any moment.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

/// A part of a growing file.
#[derive(Default)]
pub struct Lines {
    /// Whole lines.
    pub bytes: Vec<u8>,
    /// Where the next part begins.
    pub next: u64,
    /// Length of the whole file now.
    pub length: u64,
    /// What tells this file from another in its place.
    pub id: String,
}

impl Folder {
    /// The folder at an absolute path.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Opens a file by its names below the folder. A link that leads out of the folder is as good as no file.
    pub fn open(&self, names: &[&str]) -> std::io::Result<File> {
        let none = || Error::from(ErrorKind::NotFound);
        // Hidden files are other programs', or not whole yet.
        let plain = |name: &&str| {
            !name.is_empty()
                && !name.starts_with('.')
                && !name.contains(['/', '\\'])
                && !name.contains(char::is_control)
        };
        if names.is_empty() || !names.iter().all(plain) {
            return Err(none());
        }
        let root = self.root.canonicalize()?;
        let path = names.iter().fold(root.clone(), |path, name| path.join(name)).canonicalize()?;
        if !path.starts_with(&root) {
            return Err(none());
        }
        let file = open_file(&path)?;
        if is_elsewhere(&file, &path) { Err(none()) } else { Ok(file) }
    }

    /// The whole of a file of at most so many bytes.
    pub fn read(&self, name: &str, most: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(&[name])?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(Error::other("it is too long")) } else { Ok(bytes) }
    }

    /// Names of what a folder below it holds, sorted; nothing where there is none.
    pub fn names(&self, below: &str) -> Vec<String> {
        let root = self.root.canonicalize().ok();
        let inside = root.and_then(|root| {
            let folder = root.join(below).canonicalize().ok()?;
            folder.starts_with(&root).then_some(folder)
        });
        let entries = inside.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .filter(|n| !n.starts_with('.'))
            .collect();
        names.sort();
        names
    }

    /// Whole lines of a growing file from a byte on; from the first if the file is not the one of that `id`. A file that a
    /// folder does not have yet has no lines.
    pub fn lines(&self, name: &str, from: u64, id: Option<&str>) -> std::io::Result<Lines> {
        let mut file = match self.open(&[name]) {
            Err(e) if e.kind() == ErrorKind::NotFound && self.path().is_dir() => return Ok(Lines::default()),
            file => file?,
        };
        let length = file.metadata()?.len();
        let now = identity(&mut file)?;
        let from = if id == Some(now.as_str()) && from <= length { from } else { 0 };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(LINES).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        // A line longer than that is none of ours.
        let skipped = if whole == 0 && bytes.len() as u64 == LINES { LINES } else { 0 };
        bytes.truncate(whole);
        Ok(Lines { next: from + whole as u64 + skipped, bytes, length, id: now })
    }
}

/// What a file is and how it begins: another that takes its place begins with other bytes or is another file.
fn identity(file: &mut File) -> std::io::Result<String> {
    let mut head = Vec::new();
    file.take(HEAD as u64).read_to_end(&mut head)?;
    let first = head.iter().position(|&b| b == b'\n').map_or(0, |end| end + 1);
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&file.metadata()?);
    #[cfg(not(unix))]
    let number = 0;
    Ok(format!("{number:x}-{}", &blake3::hash(&head[..first]).to_hex()[..8]))
}

/// Whether an open file is not the one at that path: a link was put in its way meanwhile.
fn is_elsewhere(file: &File, path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        real.is_ok_and(|real| real != path)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, path);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("cook");
        std::fs::create_dir_all(root.join("cache")).unwrap();
        std::fs::write(root.join("cache/a.png"), b"inside").unwrap();
        std::fs::write(dir.path().join("secret"), b"outside").unwrap();
        (dir, Folder::new(root))
    }

    #[test]
    fn nothing_outside_is_opened() {
        let (_dir, folder) = folder();
        assert!(folder.open(&["cache", "a.png"]).is_ok());
        let none: [&[&str]; 8] = [
            &[],
            &["cache"],
            &["..", "secret"],
            &["cache/../../secret"],
            &[""],
            &[".", "cache", "a.png"],
            &["/etc/passwd"],
            &["cache", "a.png", "b"],
        ];
        for names in none {
            assert!(folder.open(names).is_err(), "{names:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        use std::os::unix::fs::symlink;
        let (dir, folder) = folder();
        symlink(dir.path().join("secret"), folder.path().join("out")).unwrap();
        symlink(dir.path(), folder.path().join("up")).unwrap();
        symlink("a.png", folder.path().join("cache/b.png")).unwrap();
        assert!(folder.open(&["out"]).is_err() && folder.open(&["up", "secret"]).is_err());
        assert!(folder.names("up").is_empty());
        assert!(folder.open(&["cache", "b.png"]).is_ok(), "within it a link is a name");
        assert_eq!(folder.names("cache"), ["a.png", "b.png"]);
        let real = dir.path().join("real");
        std::fs::rename(folder.path(), &real).unwrap();
        symlink(&real, folder.path()).unwrap();
        assert!(folder.open(&["cache", "a.png"]).is_ok(), "the folder itself may be a link");
    }

    #[test]
    fn lines_go_on_where_they_ended() {
        let (_dir, folder) = folder();
        let path = folder.path().join("s");
        assert!(folder.lines("s", 5, Some("5-0123")).unwrap().bytes.is_empty(), "not written yet");
        std::fs::write(&path, b"one\ntwo\nthr").unwrap();
        let first = folder.lines("s", 0, None).unwrap();
        assert_eq!((&first.bytes[..], first.next), (&b"one\ntwo\n"[..], 8));
        std::fs::write(&path, b"one\ntwo\nthree\n").unwrap();
        let second = folder.lines("s", first.next, Some(&first.id)).unwrap();
        assert_eq!((&second.bytes[..], second.next), (&b"three\n"[..], 14));
        let rest = folder.lines("s", second.next, Some(&second.id)).unwrap();
        assert!(rest.bytes.is_empty() && rest.next == 14);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, b"other\n").unwrap();
        assert_eq!(folder.lines("s", 14, Some(&second.id)).unwrap().bytes, b"other\n", "another file");
    }
}
