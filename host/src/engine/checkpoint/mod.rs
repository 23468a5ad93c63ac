//! Checkpoints: the whole state in one file, so that a resumed cook is byte-identical to an uninterrupted one.
//!
//! ```text
//! "MNSCHKPT"  version u32  payload length u64  blake3 of the payload [32]  payload
//! ```
//!
//! All numbers are little-endian. Files are created by renaming, so a checkpoint exists completely or not at all. One
//! that was cut or changed later is refused by its length and hash.

mod keeper;
mod origin;
mod read;
mod sound;
mod write;

pub(super) use keeper::{Also, Keeper};
pub use origin::Origin;

use super::state::{Holder, State};
use crate::graph::Network;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"MNSCHKPT";
const VERSION: u32 = 2;
const EXTENSION: &str = "mns";
/// Bytes before the payload.
const HEAD: usize = 52;
/// Largest checkpoint that is read, bytes.
const LARGEST: u64 = 1 << 40;

/// Why a checkpoint could not be written or read: one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(pub String);

/// A saved state and its origin.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The state.
    pub state: State,
    /// What it was made from: graph, plugins, files.
    pub origin: Origin,
}

impl Checkpoint {
    /// A checkpoint of a network's state, without the scratch of its last substep.
    pub fn new(origin: Origin, network: &Network, state: &State) -> Self {
        let mut state = state.clone();
        state.drop_scratch();
        for (holder, object) in &mut state.holders {
            let (Holder::Object(i) | Holder::Node(i)) = holder;
            // Nodes are found by name, in case a graph numbers them differently.
            object.name.clone_from(&network.nodes[*i].name);
            object.kind.clone_from(&network.nodes[*i].node_type.id);
        }
        Self { state, origin }
    }

    /// Writes into `folder` under a name that tells frame and substep; temporary name, then rename.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, CheckpointError> {
        let path = folder.join(file_name(self.state.clock.frame, self.state.clock.substep));
        let because = |e: std::io::Error| CheckpointError(format!("cannot write {}: {e}", path.display()));
        std::fs::create_dir_all(folder).map_err(because)?;
        crate::files::write_piecewise(&path, |file| write::file(self, file)).map_err(because)?;
        Ok(path)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bad = |e: String| CheckpointError(format!("checkpoint {}: {e}", path.display()));
        let look = |head: &[u8], length: u64| check_head(head, length.saturating_sub(HEAD as u64));
        let bytes = crate::files::read_headed(path, LARGEST, HEAD, look).map_err(|e| bad(e.to_string()))?;
        Self::from_bytes(&bytes).map_err(bad)
    }

    /// Reads the bytes of a file; the error is one sentence.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (head, payload) = bytes.split_at(HEAD.min(bytes.len()));
        check_head(head, payload.len() as u64)?;
        if blake3::hash(payload).as_bytes() != &head[20..HEAD] {
            return Err("its contents do not fit its hash: it is damaged".into());
        }
        read::payload(payload)
    }

    /// The state as a network numbers its nodes, which may be others than when it was saved; the error is one sentence.
    pub fn state_for(self, network: &Network) -> Result<State, String> {
        let State { clock, holders } = self.state;
        let number = |name: &str| network.nodes.iter().position(|n| n.name == name);
        let mut state = State { clock, ..State::new(clock.frame) };
        for (holder, object) in holders {
            let name = &object.name;
            let at =
                number(name).ok_or_else(|| format!("it holds data of `{name}`, which the graph has not"))?;
            let holder = match holder {
                Holder::Object(_) => Holder::Object(at),
                Holder::Node(_) => Holder::Node(at),
            };
            if state.holders.contains_key(&holder) {
                return Err(format!("it holds data of `{name}` twice"));
            }
            state.holders.insert(holder, object);
        }
        sound::check(&state, network).map_or(Ok(state), Err)
    }
}

/// Checks the bytes before a payload of so many bytes; the error is one sentence.
fn check_head(head: &[u8], payload: u64) -> Result<(), String> {
    if head.len() < HEAD || !head.starts_with(MAGIC) {
        return Err("this is no Meniscus checkpoint, or it is cut short".into());
    }
    let number = |r: std::ops::Range<usize>| head[r].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    let (version, length) = (number(8..12), number(12..20));
    if version != u64::from(VERSION) {
        return Err(format!("it is of version {version}, this host reads version {VERSION}"));
    }
    match payload.cmp(&length) {
        Ordering::Less => Err(format!("it is cut short: {payload} of {length} bytes are there")),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(format!("it is damaged: {payload} bytes are there, not {length}")),
    }
}

/// Name of the checkpoint at a frame and, within it, after so many substeps.
fn file_name(frame: i32, substep: u32) -> String {
    let sign = if frame < 0 { "-" } else { "" };
    let frame = frame.unsigned_abs();
    if substep == 0 {
        format!("checkpoint.{sign}{frame:04}.{EXTENSION}")
    } else {
        format!("checkpoint.{sign}{frame:04}-{substep:03}.{EXTENSION}")
    }
}

/// The moment that a file name stands for: the substeps of a frame come before the frame's end.
fn moment(path: &Path) -> Option<(i32, u32)> {
    let name = path.file_name()?.to_str()?;
    let middle = name.strip_prefix("checkpoint.")?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    let (sign, digits) = middle.strip_prefix('-').map_or((1, middle), |d| (-1, d));
    match digits.split_once('-') {
        Some((frame, substep)) => Some((sign * frame.parse::<i32>().ok()?, substep.parse().ok()?)),
        None => Some((sign * digits.parse::<i32>().ok()?, u32::MAX)),
    }
}

/// The frame that a checkpoint's name tells.
pub(crate) fn frame_of(path: &Path) -> Option<i32> {
    moment(path).map(|(frame, _)| frame)
}

/// The frame that a checkpoint was made at the end of; none within a frame.
pub(crate) fn whole_frame_of(path: &Path) -> Option<i32> {
    moment(path).filter(|m| m.1 == u32::MAX).map(|m| m.0)
}

/// The checkpoints at the ends of frames, latest first.
pub(super) fn whole_frames(folder: &Path) -> Vec<(i32, PathBuf)> {
    all(folder).into_iter().filter_map(|path| Some((whole_frame_of(&path)?, path))).collect()
}

/// The checkpoints of a folder, latest first.
pub(super) fn all(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<((i32, u32), PathBuf)> =
        entries.filter_map(|e| e.ok().map(|e| e.path())).filter_map(|p| Some((moment(&p)?, p))).collect();
    found.sort();
    found.into_iter().rev().map(|(_, p)| p).collect()
}

/// The latest checkpoint of a folder.
pub fn latest(folder: &Path) -> Option<PathBuf> {
    all(folder).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_moment() {
        for (frame, substep, key) in
            [(7, 0, (7, u32::MAX)), (7, 3, (7, 3)), (-12, 0, (-12, u32::MAX)), (12345, 1, (12345, 1))]
        {
            assert_eq!(moment(Path::new(&file_name(frame, substep))), Some(key));
        }
        assert_eq!(moment(Path::new("checkpoint.x.mns")), None);
        assert!(moment(Path::new(&file_name(7, 3))) < moment(Path::new(&file_name(7, 0))));
    }
}
