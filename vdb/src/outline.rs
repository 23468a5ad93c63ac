//! Reads the outline of a `.vdb` file before OpenVDB opens it: header, metadata, the places of its grids, and whether
//! it is unchanged.

use crate::Error;
use crate::content::{self, Content};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// First bytes of every file.
const MAGIC: [u8; 8] = 0x5644_4220_i64.to_le_bytes();
/// Bytes of the header: magic, file version, library version (major, minor), one flag, identifier.
pub(crate) const HEADER: usize = 57;
/// Position of the flag that says whether the places of the grids are in the file.
const HAS_PLACES: usize = 20;
/// Before this file version the header had one byte more; such files are read, too.
const PLAIN_HEADER: u32 = 222;
/// No name or text of metadata is longer.
const LONGEST: u64 = 1 << 24;

/// A file's description of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// True for a file that this crate wrote, and that nobody has changed since.
    pub ours: bool,
    /// Metadata of the file: name, OpenVDB's name of the type, bytes of the value.
    pub metadata: Vec<(String, String, Vec<u8>)>,
    /// Names of the grids.
    pub grids: Vec<String>,
}

impl Outline {
    /// A number among the metadata, whatever its type.
    pub fn number(&self, key: &str) -> Option<f64> {
        let (_, kind, bytes) = self.metadata.iter().find(|m| m.0 == key)?;
        match kind.as_str() {
            "float" => Some(f64::from(f32::from_le_bytes(bytes.as_slice().try_into().ok()?))),
            "double" => Some(f64::from_le_bytes(bytes.as_slice().try_into().ok()?)),
            "int32" => Some(f64::from(i32::from_le_bytes(bytes.as_slice().try_into().ok()?))),
            "int64" => Some(i64::from_le_bytes(bytes.as_slice().try_into().ok()?) as f64),
            "string" => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
            _ => None,
        }
    }
}

/// Reads a file's outline. Refuses files that are no `.vdb` files, that end before their grids do, and files of this
/// crate that have been changed.
pub fn outline(path: &Path) -> Result<Outline, Error> {
    let io = |source| Error::Io { path: path.to_path_buf(), source };
    let damaged = |reason: &str| Error::Damaged { path: path.to_path_buf(), reason: reason.into() };
    let meta = std::fs::metadata(path).map_err(io)?;
    if meta.is_dir() {
        return Err(io(std::io::ErrorKind::IsADirectory.into()));
    }
    if !meta.is_file() {
        return Err(damaged("it is no file but a device or a pipe"));
    }
    let mut file = std::fs::File::open(path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    // All of a file is read to hash it, so what it is is asked before.
    let mut magic = [0; MAGIC.len()];
    if size >= magic.len() as u64 {
        file.read_exact(&mut magic).map_err(io)?;
        if magic != MAGIC {
            return Err(damaged("not a VDB file"));
        }
        file.seek(SeekFrom::Start(0)).map_err(io)?;
    }
    let content = content::of(&mut file).map_err(io)?;
    if content == Content::Damaged {
        return Err(damaged("it is damaged: its contents are not those that were written"));
    }
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let mut walk = Walk { input: std::io::BufReader::new(file), at: 0, size };
    let mut outline = walk.all().map_err(|reason| damaged(&reason))?;
    outline.ours = content == Content::Ours;
    Ok(outline)
}

/// Reads a file front to back. A length that reaches beyond the file's end is refused.
struct Walk<R> {
    input: R,
    at: u64,
    size: u64,
}

impl<R: Read + Seek> Walk<R> {
    fn all(&mut self) -> Result<Outline, String> {
        let header: [u8; HEADER] = self.array().map_err(|_| "it ends too early")?;
        if !header.starts_with(&MAGIC) {
            return Err("not a VDB file".into());
        }
        let version = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        if version >= PLAIN_HEADER && !content::is_identifier(&header[content::ID_AT..]) {
            return Err("its header is damaged".into());
        }
        let mut outline = Outline::default();
        if version < PLAIN_HEADER {
            return Ok(outline);
        }
        outline.metadata = self.metadata()?;
        let grids = i32::from_le_bytes(self.array()?);
        if grids < 0 {
            return Err(format!("it announces {grids} grids"));
        }
        if header[HAS_PLACES] == 0 {
            return Ok(outline);
        }
        for _ in 0..grids {
            outline.grids.push(self.grid()?);
        }
        Ok(outline)
    }

    /// Name and place of a grid; goes on behind its end.
    fn grid(&mut self) -> Result<String, String> {
        let name = self.text()?;
        // Element type, and the grid whose tree it shares.
        self.text()?;
        self.text()?;
        let mut places = [self.at, 0, 0, 0];
        for place in &mut places[1..] {
            *place = u64::from_le_bytes(self.array()?);
        }
        places[0] = self.at;
        if places.windows(2).any(|w| w[0] > w[1]) {
            return Err("its grids do not follow one another".into());
        }
        self.skip_to(places[3])?;
        // Names of grids that were alike carry a number behind this mark.
        Ok(name.split('\u{1e}').next().unwrap_or_default().to_owned())
    }

    fn metadata(&mut self) -> Result<Vec<(String, String, Vec<u8>)>, String> {
        let count = u32::from_le_bytes(self.array()?);
        let mut all = Vec::new();
        for _ in 0..count {
            let (name, kind) = (self.text()?, self.text()?);
            all.push((name, kind, self.bytes()?));
        }
        Ok(all)
    }

    fn text(&mut self) -> Result<String, String> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    fn bytes(&mut self) -> Result<Vec<u8>, String> {
        let length = u64::from(u32::from_le_bytes(self.array()?));
        if length > (self.size - self.at).min(LONGEST) {
            return Err(format!("it ends too early, or a text of {length} bytes is none"));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.input.read_exact(bytes).map_err(|_| "it ends too early")?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn skip_to(&mut self, at: u64) -> Result<(), String> {
        if at > self.size {
            return Err("it ends too early".into());
        }
        self.input.seek(SeekFrom::Start(at)).map_err(|e| e.to_string())?;
        self.at = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn walk(bytes: Vec<u8>) -> Result<Outline, String> {
        let size = bytes.len() as u64;
        Walk { input: Cursor::new(bytes), at: 0, size }.all()
    }

    fn text(t: &str) -> Vec<u8> {
        [&(t.len() as u32).to_le_bytes()[..], t.as_bytes()].concat()
    }

    /// A file of another program with a number, and one grid of `inside` bytes.
    fn file(inside: usize) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &224u32.to_le_bytes(), &[12, 0, 0, 0, 1, 0, 0, 0, 1]].concat();
        bytes.extend(b"0BAD5EED-0123-8123-8123-0123456789AB");
        bytes.extend([&1u32.to_le_bytes()[..], &text("fps"), &text("float"), &4u32.to_le_bytes()].concat());
        bytes.extend([&24f32.to_le_bytes()[..], &1u32.to_le_bytes()].concat());
        bytes.extend([text("surface\u{1e}0"), text("Tree_float_5_4_3"), text("")].concat());
        let at = bytes.len() as u64 + 24;
        [at, at, at + inside as u64].iter().for_each(|p| bytes.extend(p.to_le_bytes()));
        bytes.extend(vec![7; inside]);
        bytes
    }

    #[test]
    fn a_sound_file_tells_its_metadata_and_grids() {
        let outline = walk(file(100)).unwrap();
        assert_eq!(outline.number("fps"), Some(24.0));
        assert_eq!(outline.grids, ["surface"]);
    }

    #[test]
    fn every_cut_and_every_length_that_reaches_beyond_the_end_is_found() {
        let whole = file(100);
        for cut in 0..whole.len() {
            assert!(walk(whole[..cut].to_vec()).is_err(), "cut to {cut} bytes");
        }
        for at in HEADER..whole.len() - 103 {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&0x7fff_ff00_u32.to_le_bytes());
            // Whatever byte is changed is part of a length, a count, a place or a text: the reader stops at once in
            // every case.
            let _ = walk(bytes);
        }
    }
}
