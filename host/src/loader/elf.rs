//! Checks that a shared library is complete.

use std::io::{Read, Seek, SeekFrom};

/// Type of a program header whose segment is loaded.
const LOADED: u64 = 1;

/// Bytes of the header that a file begins with, and of that of a segment.
const HEADER: usize = 64;
const ENTRY: usize = 56;

/// False if a 64-bit little-endian ELF file ends before a segment that would be loaded, or its segments overlap. The
/// system's loader would map them all the same, over other memory of the program, and the first access would crash it.
pub(super) fn is_whole(file: &mut (impl Read + Seek)) -> std::io::Result<bool> {
    let header = part(file, 0, HEADER)?;
    let is_elf64 = header.starts_with(b"\x7fELF\x02\x01");
    let length = file.seek(SeekFrom::End(0))?;
    let Some(headers) = Headers::of(&header) else { return Ok(!is_elf64) };
    // A table of other entries is none, and would be read at any length that it names.
    if !is_elf64 || headers.at > length || headers.size != ENTRY {
        return Ok(!is_elf64);
    }
    let table = part(file, headers.at, ENTRY * headers.count)?;
    Ok(segments_lie_within(&table, &headers, length).unwrap_or(false))
}

/// At most so many bytes from a place on; fewer where the file ends.
fn part(file: &mut (impl Read + Seek), at: u64, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where the headers of the segments stand.
struct Headers {
    at: u64,
    size: usize,
    count: usize,
}

impl Headers {
    fn of(header: &[u8]) -> Option<Self> {
        let (size, count) = (number(header, 54, 2)? as usize, number(header, 56, 2)? as usize);
        Some(Self { at: number(header, 32, 8)?, size, count })
    }
}

/// None where the headers themselves are cut off or make no sense.
fn segments_lie_within(table: &[u8], headers: &Headers, length: u64) -> Option<bool> {
    // Segments come in the order of their addresses.
    let mut taken = 0;
    for n in 0..headers.count {
        let header = table.get(n * headers.size..)?;
        if number(header, 0, 4)? != LOADED {
            continue;
        }
        let [offset, address, in_file, in_memory] =
            [(8, 8), (16, 8), (32, 8), (40, 8)].map(|(at, n)| number(header, at, n));
        let (offset, address, in_file, in_memory) = (offset?, address?, in_file?, in_memory?);
        if offset.checked_add(in_file)? > length || in_file > in_memory || address < taken {
            return Some(false);
        }
        taken = address.checked_add(in_memory)?;
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

    fn is_whole(bytes: &[u8]) -> bool {
        super::is_whole(&mut std::io::Cursor::new(bytes)).unwrap()
    }

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
        let mut wide = whole.clone();
        wide[54..58].fill(0xff);
        assert!(!is_whole(&wide), "headers are longer than any");
        // A segment that is only looked at becomes one that is loaded, over another.
        let headers = || (0..number(&whole, 56, 2).unwrap() as usize).map(|n| 64 + 56 * n);
        let kind = |at: &usize| number(&whole, *at, 4).unwrap();
        let last = headers().rfind(|at| kind(at) == LOADED).unwrap();
        let note = headers().find(|at| *at > last && number(&whole, at + 40, 8) > Some(0)).unwrap();
        let mut twice = whole.clone();
        twice[note] = LOADED as u8;
        twice[note + 1..note + 4].fill(0);
        assert!(!is_whole(&twice), "a segment lies over another");
    }
}
