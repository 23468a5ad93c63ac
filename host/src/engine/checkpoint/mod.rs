//! Checkpoints: the whole state in one file, so that a resumed cook is byte-identical to an uninterrupted one.
//!
//! ```text
//! "MNSCHKPT"  version u32  payload length u64  blake3 of the payload [32]  payload
//! ```
//!
//! All numbers are little-endian. Files appear by renaming, so a checkpoint is whole or not there; one that was
//! cut or changed afterwards is refused by its length and hash.

mod read;
mod saver;
mod write;

pub(super) use saver::Saver;

use super::state::State;
use crate::graph::Network;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"MNSCHKPT";
const VERSION: u32 = 1;
const EXTENSION: &str = "mns";
/// Bytes before the payload.
const HEAD: usize = 52;

/// Why a checkpoint could not be written or read: one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(pub String);

/// A saved state and what it was made from.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The state.
    pub state: State,
    /// A fingerprint of every node and of the settings that shape the result, by name.
    pub made_from: Vec<(String, String)>,
}

impl Checkpoint {
    /// A checkpoint of a network's state, without the scratch of its last substep.
    pub fn new(network: &Network, state: &State) -> Self {
        let mut state = state.clone();
        state.drop_scratch();
        Self { state, made_from: fingerprints(network) }
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
        let bytes = std::fs::read(path).map_err(|e| bad(e.to_string()))?;
        Self::from_bytes(&bytes).map_err(bad)
    }

    /// Reads the bytes of a file; the error is one sentence.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let Some((head, payload)) = bytes.split_at_checked(HEAD).filter(|(h, _)| h.starts_with(MAGIC)) else {
            return Err("this is no Meniscus checkpoint, or it is cut short".into());
        };
        let number =
            |r: std::ops::Range<usize>| head[r].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
        let (version, length) = (number(8..12), number(12..20));
        if version != u64::from(VERSION) {
            return Err(format!("it is of version {version}, this host reads version {VERSION}"));
        }
        if length != payload.len() as u64 {
            return Err(format!("it is cut short: {} of {length} bytes are there", payload.len()));
        }
        if blake3::hash(payload).as_bytes() != &head[20..HEAD] {
            return Err("its contents do not fit its hash: it is damaged".into());
        }
        read::payload(payload)
    }

    /// What keeps a network from going on from here, if anything: one sentence.
    pub fn misfit(&self, network: &Network) -> Option<String> {
        let now = fingerprints(network);
        let changed =
            |(name, print): &(String, String)| !self.made_from.iter().any(|(n, p)| n == name && p == print);
        let gone = |(name, _): &(String, String)| !now.iter().any(|(n, _)| n == name);
        let differs =
            |name: &str| format!("{name} is not as it was when the checkpoint was made; cook from the start");
        match (now.iter().find(|f| changed(f)), self.made_from.iter().find(|f| gone(f))) {
            (Some((name, _)), _) | (None, Some((name, _))) => Some(differs(name)),
            _ => None,
        }
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

/// The moment that a file name tells: the substeps of a frame come before the frame's end.
fn moment(path: &Path) -> Option<(i32, u32)> {
    let name = path.file_name()?.to_str()?;
    let middle = name.strip_prefix("checkpoint.")?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    let (sign, digits) = middle.strip_prefix('-').map_or((1, middle), |d| (-1, d));
    match digits.split_once('-') {
        Some((frame, substep)) => Some((sign * frame.parse::<i32>().ok()?, substep.parse().ok()?)),
        None => Some((sign * digits.parse::<i32>().ok()?, u32::MAX)),
    }
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

/// What shapes the result, by name: settings, and every node that is not an output.
fn fingerprints(network: &Network) -> Vec<(String, String)> {
    let hash = |text: String| blake3::hash(text.as_bytes()).to_hex().to_string();
    let s = &network.settings;
    let mut prints =
        vec![("the shot's timing".to_owned(), hash(format!("{:?} {} {:?}", s.fps, s.frames.0, s.substeps)))];
    for node in &network.nodes {
        let inputs: Vec<&str> = node.inputs.iter().map(|&i| network.nodes[i].name.as_str()).collect();
        let t = &node.node_type;
        if t.kind != crate::node::NodeKind::Output {
            let text = format!("{} {} {:?} {} {:?}", t.id, t.version, inputs, node.bypass, node.params);
            prints.push((format!("node `{}`", node.name), hash(text)));
        }
    }
    prints
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
