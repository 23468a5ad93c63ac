//! Looks at the file of a shared library, a part at a time: it may be as large as a small shot.

use super::elf::is_whole;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Largest library that is looked at, bytes.
const LARGEST: u64 = 2 << 30;
/// Bytes that are read at a time.
const PART: usize = 1 << 16;

/// What its bytes say, before any code of it runs.
pub(super) struct LibraryFile {
    /// Of all bytes.
    pub(super) hash: blake3::Hash,
    /// Nothing of it is cut off.
    pub(super) is_whole: bool,
    /// The name of the plugin symbol stands in it.
    pub(super) names_symbol: bool,
}

impl LibraryFile {
    /// Looks at a file; one that is no library is an error.
    pub(super) fn look(path: &Path) -> std::io::Result<Self> {
        let mut file = crate::files::open_file(path)?;
        let length = file.metadata()?.len();
        let mut head = Vec::new();
        (&mut file).take(4).read_to_end(&mut head)?;
        if cfg!(target_os = "linux") && head != b"\x7fELF" {
            return Err(std::io::Error::other("it is no shared library"));
        }
        if length > LARGEST {
            return Err(std::io::Error::other(format!(
                "it has more than {LARGEST} bytes, the most that is read"
            )));
        }
        let is_whole = is_whole(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        let (hash, names_symbol) = read(file.take(LARGEST))?;
        Ok(Self { hash, is_whole, names_symbol })
    }
}

/// The hash of all bytes, and whether the plugin symbol's name is among them.
fn read(mut bytes: impl Read) -> std::io::Result<(blake3::Hash, bool)> {
    let name = meniscus_abi::SYMBOL.to_bytes_with_nul();
    let (mut hasher, mut found) = (blake3::Hasher::new(), false);
    // What was read, behind the end of what was read before.
    let mut part = Vec::with_capacity(PART + name.len());
    loop {
        let kept = part.len();
        (&mut bytes).take(PART as u64).read_to_end(&mut part)?;
        if part.len() == kept {
            return Ok((hasher.finalize(), found));
        }
        hasher.update(&part[kept..]);
        found = found || memchr::memmem::find(&part, name).is_some();
        let from = part.len().saturating_sub(name.len() - 1);
        part.drain(..from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_wherever_it_lies_in_the_parts() {
        let name = meniscus_abi::SYMBOL.to_bytes_with_nul();
        for at in (PART - name.len() - 2..PART + 2).chain([0, 3 * PART - 4]) {
            let mut bytes = vec![7; 4 * PART + 5];
            bytes[at..at + name.len()].copy_from_slice(name);
            assert_eq!(read(&bytes[..]).unwrap(), (blake3::hash(&bytes), true), "at {at}");
            bytes[at] = b'x';
            assert_eq!(read(&bytes[..]).unwrap(), (blake3::hash(&bytes), false), "at {at}");
        }
        assert_eq!(read(&b""[..]).unwrap(), (blake3::hash(b""), false));
    }
}
