//! What may happen to a file: bits that flip, ends that are missing, numbers that are absurd.

use meniscus_tests::random::Random;

/// Lengths, counts and indices that break who believes them.
const ABSURD: [u64; 12] = [
    0,
    1,
    0x7f,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0x0100_0000,
    0x4000_0000,
];
/// Numbers that break who calculates with them.
const NUMBERS: [f64; 9] = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e30, 1e-320, 1e9];
/// The same as text.
const WORDS: [&str; 16] = [
    "0",
    "-1",
    "1e308",
    "1e-320",
    "1e999",
    "nan",
    "null",
    "\"\"",
    "[]",
    "{}",
    "true",
    "99999999999999999999",
    "1e9",
    "-1e30",
    "2147483648",
    "\"\\u001b[2J\"",
];

/// A changed copy; it may happen to be equal.
pub fn bytes(whole: &[u8], r: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=r.below(4).saturating_sub(1) {
        once(&mut bytes, r);
    }
    bytes
}

fn once(bytes: &mut Vec<u8>, r: &mut Random) {
    let at = r.below(bytes.len());
    let end = (at + 1 + r.below(64)).min(bytes.len());
    match r.below(10) {
        _ if bytes.is_empty() => bytes.push(r.draw() as u8),
        0..=2 => bytes[at] ^= 1 << r.below(8),
        3 => bytes[at] = r.draw() as u8,
        4 => bytes.truncate(at),
        5 => put(bytes, at, &(r.one_of(&ABSURD) as u32).to_le_bytes()),
        6 => put(bytes, at, &r.one_of(&ABSURD).to_le_bytes()),
        7 if r.below(2) == 0 => put(bytes, at, &r.one_of(&NUMBERS).to_le_bytes()),
        7 => put(bytes, at, &(r.one_of(&NUMBERS) as f32).to_le_bytes()),
        8 => drop(bytes.drain(at..end)),
        _ => {
            let piece = bytes[at..end].to_vec();
            let to = r.below(bytes.len());
            drop(bytes.splice(to..to, piece));
        }
    }
}

/// A changed copy of a library: some of the words that say something (not nought) become others.
pub fn words(whole: &[u8], r: &mut Random) -> Vec<u8> {
    const WORD: usize = 4;
    let mut bytes = whole.to_vec();
    let says: Vec<usize> = (0..bytes.len() / WORD)
        .map(|n| n * WORD)
        .filter(|&at| bytes[at..at + WORD].iter().any(|&b| b != 0))
        .collect();
    for _ in 0..=r.below(3) {
        let at = r.one_of(&says);
        match r.below(4) {
            0 => bytes[at + r.below(WORD)] ^= 1 << r.below(8),
            1 => put(&mut bytes, at, &r.one_of(&ABSURD).to_le_bytes()),
            2 => put(&mut bytes, at, &(r.one_of(&ABSURD) as u32).to_le_bytes()),
            _ => put(&mut bytes, at, &(r.below(256) as u32).to_le_bytes()),
        }
    }
    bytes
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    let room = new.len().min(bytes.len() - at);
    bytes[at..at + room].copy_from_slice(&new[..room]);
}

/// A changed copy of a text: now and then a number or a word becomes another one, else as [`bytes`].
pub fn text(whole: &[u8], r: &mut Random) -> Vec<u8> {
    if r.below(3) == 0 {
        return bytes(whole, r);
    }
    let mut text = whole.to_vec();
    for _ in 0..=r.below(3) {
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b"+-._\"".contains(&b);
        let mut start = r.below(text.len());
        while start > 0 && is_word(text[start - 1]) {
            start -= 1;
        }
        let length = text[start..].iter().take_while(|b| is_word(**b)).count();
        let word = r.one_of(&WORDS).as_bytes().to_vec();
        drop(text.splice(start..start + length, word));
    }
    text
}
