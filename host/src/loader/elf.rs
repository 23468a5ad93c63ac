//! Whether a shared library is all there.

/// Type of a program header whose segment is loaded.
const LOADED: u64 = 1;

/// False when a 64-bit little-endian ELF file ends before a segment that would be loaded: the system's loader maps
/// what is missing all the same, and the first touch of it ends the process.
pub(super) fn is_whole(file: &[u8]) -> bool {
    let is_elf64 = file.starts_with(b"\x7fELF\x02\x01");
    !is_elf64 || segments_lie_within(file).unwrap_or(false)
}

/// None where the headers themselves are cut off or make no sense.
fn segments_lie_within(file: &[u8]) -> Option<bool> {
    let table = usize::try_from(number(file, 32, 8)?).ok()?;
    let (size, count) = (number(file, 54, 2)? as usize, number(file, 56, 2)? as usize);
    for n in 0..count {
        let header = file.get(table.checked_add(n * size)?..)?;
        let end = number(header, 8, 8)?.checked_add(number(header, 32, 8)?)?;
        if number(header, 0, 4)? == LOADED && end > file.len() as u64 {
            return Some(false);
        }
    }
    Some(true)
}

/// A little-endian number of so many bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.get(..size)?;
    Some(bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_whole_until_a_loaded_segment_is_cut() {
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_whole(&whole));
        for n in [20, 60, 100, 4096] {
            assert!(!is_whole(&whole[..n]), "cut after {n} bytes");
        }
        assert!(is_whole(b"no ELF file at all: not for us to say"));
        let mut far = whole.clone();
        far[32..40].fill(0xff);
        assert!(!is_whole(&far), "the table of headers lies beyond the end");
    }
}
