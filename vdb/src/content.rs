//! Detects changed files: files of this crate carry a hash of their content where OpenVDB puts a random identifier.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// Where OpenVDB's file header holds its identifier: magic (8 bytes), three version numbers (4 each), one flag.
pub(crate) const ID_AT: usize = 21;
/// Length of the identifier as text.
pub(crate) const ID_LEN: usize = 36;
/// Digits of an identifier that state its kind, not its content (RFC 9562: version, variant).
const KIND: [usize; 2] = [14, 19];
/// A file that matches so many digits of its hash, of 30, is one whose identifier was damaged: by chance two match.
const NEARLY: usize = 20;

/// The origin of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Written by this crate, and unchanged.
    Ours,
    /// Written by this crate, and changed since.
    Damaged,
    /// Written by another program.
    Theirs,
}

/// The identifier of some content: the BLAKE3 hash as a version 8 UUID (RFC 9562), in lower case.
pub(crate) fn identifier(hash: &blake3::Hash) -> String {
    let mut id = [0u8; 16];
    id.copy_from_slice(&hash.as_bytes()[..16]);
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    let hex: String = id.iter().map(|b| format!("{b:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// True for a text of the form of an identifier.
pub(crate) fn is_identifier(text: &[u8]) -> bool {
    text.len() == ID_LEN
        && text.iter().enumerate().all(|(i, &b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// The origin of a file's content, from all of its bytes.
pub(crate) fn of(file: &mut (impl Read + Seek)) -> std::io::Result<Content> {
    let mut head = [0; ID_AT + ID_LEN];
    match file.read_exact(&mut head) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(Content::Theirs),
        read => read?,
    }
    let said = head[ID_AT..].to_vec();
    head[ID_AT..].fill(b'0');
    let mut hasher = blake3::Hasher::new();
    hasher.update(&head);
    file.seek(SeekFrom::Start(head.len() as u64))?;
    hasher.update_reader(file)?;
    let own = identifier(&hasher.finalize());
    if own.as_bytes() == said {
        return Ok(Content::Ours);
    }
    let is_digit = |i: &usize| !KIND.contains(i) && own.as_bytes()[*i] != b'-';
    let nearly = (0..ID_LEN).filter(is_digit).filter(|&i| own.as_bytes()[i] == said[i]).count() >= NEARLY;
    Ok(if nearly || claims_a_hash(&said) { Content::Damaged } else { Content::Theirs })
}

/// True for an identifier as [`identifier`] makes them. OpenVDB's own are of version 4, or 32 random digits in upper case.
fn claims_a_hash(id: &[u8]) -> bool {
    let kind = id[KIND[0]] == b'8' && matches!(id[KIND[1]], b'8' | b'9' | b'a' | b'b');
    let lower = id.iter().any(|b| (b'a'..=b'f').contains(b)) && !id.iter().any(u8::is_ascii_uppercase);
    is_identifier(id) && kind && lower
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn content(bytes: &[u8]) -> Content {
        of(&mut Cursor::new(bytes)).unwrap()
    }

    fn ours() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..500).map(|i| (i * 7 % 251) as u8).collect();
        bytes[ID_AT..ID_AT + ID_LEN].fill(b'0');
        let id = identifier(&blake3::hash(&bytes));
        bytes[ID_AT..ID_AT + ID_LEN].copy_from_slice(id.as_bytes());
        bytes
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_ours_is_seen() {
        let whole = ours();
        assert_eq!(content(&whole), Content::Ours);
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(content(&bytes), Content::Damaged, "bit {bit}");
        }
        for length in ID_AT + ID_LEN..whole.len() {
            assert_eq!(content(&whole[..length]), Content::Damaged, "cut to {length}");
        }
    }

    #[test]
    fn files_of_others_are_left_to_them() {
        let mut bytes = ours();
        for id in ["0bad5eed-0123-4123-8123-0123456789ab", "0BAD5EED-0123-8123-8123-0123456789AB"] {
            bytes[ID_AT..ID_AT + ID_LEN].copy_from_slice(id.as_bytes());
            assert_eq!(content(&bytes), Content::Theirs, "{id}");
        }
        assert_eq!(content(b"short"), Content::Theirs);
    }
}
