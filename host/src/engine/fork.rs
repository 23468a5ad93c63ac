//! A cook that goes on from a frame of another one, in a folder of its own.
//!
//! What keyframes may change may differ from that frame on: to the simulation it is a key there. The frames up to it are
//! the other cook's, as links to the same bytes; no cook writes into a file that is there, so the other one stays as it is.

use super::checkpoint;
use super::listed::Listed;
use super::record::STATS;
use crate::graph::{Animated, Network};
use crate::output::file_name;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Folder of the checkpoints within a cook's.
pub(super) const CHECKPOINTS: &str = "checkpoints";
/// Frames that a message names.
const NAMED: usize = 5;

/// Where a cook leaves another one.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The other cook's folder.
    pub parent: PathBuf,
    /// The last frame that both have.
    pub frame: i32,
    /// The state at its end.
    pub(super) checkpoint: PathBuf,
}

impl Fork {
    /// At the latest frame up to this one that has a checkpoint; the error is one sentence.
    pub fn find(parent: &Path, frame: i32) -> Result<Self, String> {
        let all = checkpoint::whole_frames(&parent.join(CHECKPOINTS));
        if let Some((frame, checkpoint)) = all.iter().find(|(at, _)| *at <= frame) {
            return Ok(Self { parent: parent.into(), frame: *frame, checkpoint: checkpoint.clone() });
        }
        let frames: Vec<String> = all.iter().rev().take(NAMED).map(|(at, _)| at.to_string()).collect();
        let there = match frames.len() {
            0 => "it has none".to_owned(),
            n if n < all.len() => format!("it has those of the frames {}, …", frames.join(", ")),
            _ => format!("it has those of the frames {}", frames.join(", ")),
        };
        Err(format!(
            "{} has no checkpoint of frame {frame} or before ({there}); cook it with --keep-checkpoints to have more",
            parent.display()
        ))
    }

    /// Gives a folder the other cook's files of the frames that both have, from the shot's first on; `listed` are all of
    /// them. What was listed of those frames.
    pub(super) fn share(&self, out: &Path, first: i32, listed: Vec<Listed>) -> std::io::Result<Vec<Listed>> {
        let both: Vec<Listed> = listed.into_iter().filter_map(|l| l.within((first, self.frame))).collect();
        let files: Vec<PathBuf> = both.iter().flat_map(Listed::each).chain([STATS.into()]).collect();
        if let Some(there) = files.iter().map(|file| out.join(file)).find(|to| to.symlink_metadata().is_ok())
        {
            return Err(std::io::Error::other(format!(
                "{} is there already, and is none of this cook: choose another folder with --out",
                there.display()
            )));
        }
        files.iter().try_for_each(|file| share(&self.parent.join(file), &out.join(file)))?;
        Ok(both)
    }

    /// Whether a cook of this network from its first frame makes the frames that both have, by the record of the other
    /// cook.
    pub fn is_same_before(&self, record: &Json, network: &Network) -> bool {
        let is_fork = record["parent"]["reproducible"] == Json::Bool(false);
        let was = record["nodes"].as_object();
        !is_fork && was.is_some_and(|was| was.len() == network.nodes.len() && self.are_same(was, network))
    }

    fn are_same(&self, was: &serde_json::Map<String, Json>, network: &Network) -> bool {
        let frame = f64::from(self.frame);
        network.nodes.iter().all(|node| {
            let was = &was.get(&node.name).unwrap_or(&Json::Null);
            let same = |(name, is): (&String, &Animated)| {
                let read = node
                    .node_type
                    .param(name)
                    .and_then(|spec| crate::graph::from_json(spec, &was["params"][name]));
                read.is_some_and(|was| was.is_same_until(is, frame))
            };
            was["bypass"] == Json::Bool(node.bypass) && node.params.iter().all(same)
        })
    }
}

/// Makes the same bytes appear under another path. A file that is not there is not shared.
fn share(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.symlink_metadata().is_ok_and(|m| m.is_file()) {
        return Ok(());
    }
    let named =
        |e: std::io::Error| std::io::Error::new(e.kind(), format!("cannot write {}: {e}", to.display()));
    to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(named)?;
    match std::fs::hard_link(from, to) {
        // Another disk, or one that has no links.
        Err(_) => std::fs::copy(from, to).map(drop).map_err(named),
        Ok(()) => Ok(()),
    }
}

impl Listed {
    /// Its files, by their paths below the cook's folder.
    fn each(&self) -> impl Iterator<Item = PathBuf> {
        let (folder, pattern) = self.split();
        let name = move |frame: i32| Path::new(folder).join(file_name(pattern, frame));
        let (first, last) = self.frames;
        (first..=last).map(name)
    }
}
