//! Files appear whole or not at all.

use super::OutputError;
use std::io::Write;
use std::path::Path;

/// Writes a file under a temporary name beside `path`, then renames it. A failure leaves what was there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    let temporary = path.with_file_name(name);
    let outcome = write_all(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    outcome.map_err(|error| {
        // Best effort: the first error is the one to report.
        let _ = std::fs::remove_file(&temporary);
        OutputError(format!("cannot write {}: {error}", path.display()))
    })
}

fn write_all(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    // A full disk may only be noticed here.
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_no_part_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        std::fs::create_dir(folder.path().join("b.txt")).unwrap();
        let error = write(&folder.path().join("b.txt"), b"x").unwrap_err().to_string();
        assert!(error.starts_with("cannot write "), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
