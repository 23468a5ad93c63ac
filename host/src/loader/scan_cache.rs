//! What is known of plugins from earlier scans, by the hash of their bytes.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a plugin that hung or ended the program is not opened again.
const LEFT_ALONE: Duration = Duration::from_secs(3600);

/// Increased when scans check more, so that plugins that passed earlier are scanned again.
const SCAN: u32 = 3;

/// A result of a scan that is stored. Refusals are not stored: they are quick, and often caused by something outside
/// the file, such as a missing library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Sound,
    Hung,
    /// It ended the program when a command opened it.
    Ended,
}

/// The place of one plugin's verdict.
pub(super) struct Cache(Option<PathBuf>);

impl Cache {
    /// Of a file whose bytes have this hash. The path is part of it: what a library finds beside itself may differ.
    pub(super) fn of(path: &Path, bytes: &blake3::Hash) -> Self {
        Self::within(folder(), path, bytes)
    }

    fn within(folder: Option<PathBuf>, path: &Path, bytes: &blake3::Hash) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let mut hash = blake3::Hasher::new();
        hash.update(bytes.as_bytes()).update(real.as_os_str().as_encoded_bytes());
        hash.update(env!("CARGO_PKG_VERSION").as_bytes()).update(&meniscus_abi::LAYOUT_HASH.to_le_bytes());
        hash.update(&SCAN.to_le_bytes());
        Self(folder.map(|f| f.join(hash.finalize().to_hex().as_str())))
    }

    pub(super) fn read(&self) -> Option<Verdict> {
        let path = self.0.as_ref()?;
        match std::fs::read(path).ok()?.as_slice() {
            b"sound" => Some(Verdict::Sound),
            bad @ (b"hung" | b"ended") => {
                let since = path.metadata().ok()?.modified().ok()?.elapsed().ok()?;
                let verdict = if bad == b"hung" { Verdict::Hung } else { Verdict::Ended };
                (since < LEFT_ALONE).then_some(verdict)
            }
            _ => None,
        }
    }

    /// If nothing can be written, the next command scans again; then the result is false.
    pub(super) fn write(&self, verdict: Verdict) -> bool {
        let Some(path) = &self.0 else { return false };
        let word = match verdict {
            Verdict::Sound => "sound",
            Verdict::Hung => "hung",
            Verdict::Ended => "ended",
        };
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(path, word)).is_ok()
    }
}

/// `plugins` in the user's cache folder.
fn folder() -> Option<PathBuf> {
    crate::cache::folder().map(|folder| folder.join("plugins"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_holds_for_these_bytes_at_this_place() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str, bytes: &[u8]| {
            Cache::within(Some(dir.path().join("a/b")), &dir.path().join(path), &blake3::hash(bytes))
        };
        assert_eq!(at("x.so", b"1").read(), None);
        assert!(at("x.so", b"1").write(Verdict::Sound));
        assert_eq!(at("x.so", b"1").read(), Some(Verdict::Sound));
        assert_eq!((at("x.so", b"2").read(), at("y.so", b"1").read()), (None, None));
        for verdict in [Verdict::Hung, Verdict::Ended] {
            assert!(at("x.so", b"2").write(verdict));
            assert_eq!(at("x.so", b"2").read(), Some(verdict));
        }
    }

    #[test]
    fn nowhere_to_write_is_no_failure() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for folder in [None, Some(file.join("below a file"))] {
            let cache = Cache::within(folder, Path::new("x.so"), &blake3::hash(b"1"));
            assert!(!cache.write(Verdict::Sound));
            assert_eq!(cache.read(), None);
        }
    }
}
