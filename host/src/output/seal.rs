//! Seals text files with a hash of their contents, so that damage is detected.

use std::ops::Range;

/// What stands before the hash, in a JSON object; the hash is 64 digits, and a quotation mark follows.
const KEY: &[u8] = b"\"content_hash\":\"";
/// Digits of a hash.
const DIGITS: usize = 64;
/// A hash that is not known yet.
const BLANK: [u8; DIGITS] = [b'0'; DIGITS];
/// Bytes from the start of a file in which its hash is looked for.
const HEAD: usize = 1 << 16;

/// Appends a place for the hash to what is being written; [`seal`] puts it there.
pub(super) fn place(out: &mut Vec<u8>) {
    out.extend_from_slice(KEY);
    out.extend_from_slice(&BLANK);
    out.push(b'"');
}

/// Puts the hash of all bytes, its own digits taken as noughts, where [`place`] made room.
pub(super) fn seal(bytes: &mut [u8]) {
    if let Some(digits) = digits(bytes) {
        let hash = hash_around(bytes, &digits);
        bytes[digits].copy_from_slice(hash.to_hex().as_bytes());
    }
}

/// Whether the bytes are what was sealed; `None` where there is no hash.
pub(crate) fn holds(bytes: &[u8]) -> Option<bool> {
    let digits = digits(bytes)?;
    let hash = hash_around(bytes, &digits);
    Some(bytes[digits] == *hash.to_hex().as_bytes())
}

fn digits(bytes: &[u8]) -> Option<Range<usize>> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let first = head.windows(KEY.len()).position(|w| w == KEY)? + KEY.len();
    let digits = first..first + DIGITS;
    (bytes.get(digits.end) == Some(&b'"')).then_some(digits)
}

fn hash_around(bytes: &[u8], digits: &Range<usize>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..digits.start]).update(&BLANK).update(&bytes[digits.end..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_seen() {
        let mut bytes = b"{\"a\":1,".to_vec();
        place(&mut bytes);
        bytes.extend_from_slice(b",\"b\":[1.5,2.5]}");
        seal(&mut bytes);
        assert_eq!(holds(&bytes), Some(true));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert_ne!(holds(&other), Some(true), "byte {at}, bit {bit}");
            }
            assert_ne!(holds(&bytes[..at]), Some(true), "cut at {at}");
        }
        assert_eq!(holds(b"{\"a\":1}"), None);
    }
}
