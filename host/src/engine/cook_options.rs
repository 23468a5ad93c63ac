//! What a cook is told, whom it tells, and how it ends.

use super::call::Watcher;
use super::checkpoint::CheckpointError;
use super::estimate::Estimate;
use super::fork::Fork;
use super::record::Record;
use super::simulation::Manner;
use super::stats::SubstepStats;
use crate::graph::{Problem, Problems};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The options of a cook.
pub struct CookOptions<'a> {
    /// Folder of everything written.
    pub out: &'a Path,
    /// Folder of the graph file; file parameters are relative to it.
    pub folder: &'a Path,
    /// First and last frame to write, when not the graph's own. The simulation always begins with the graph's
    /// first frame or a checkpoint.
    pub frames: Option<(i32, i32)>,
    /// Goes on from the latest checkpoint in `out`.
    pub resume: bool,
    /// Goes on from a frame of another cook, if `out` has no checkpoint of its own.
    pub fork: Option<&'a Fork>,
    /// Removes what an earlier cook listed in `cook.json` and this one will not write.
    pub replace: bool,
    /// Frames between checkpoints.
    pub checkpoint_every: u32,
    /// Frames between the checkpoints that are kept besides the latest.
    pub keep_checkpoints: Option<u32>,
    /// How the simulation runs.
    pub manner: Manner,
    /// Memory that may be used, bytes; a shot that is expected to need more is refused.
    pub room: Option<f64>,
    /// Finish the substep, write a checkpoint and end.
    pub stop: &'a AtomicBool,
    /// End at once; the substep under way is lost.
    pub cancel: &'a AtomicBool,
    /// The contents of `cook.json`.
    pub record: &'a Record,
}

/// The observer of a cook, called from the cooking thread.
pub trait Onlooker: Watcher {
    /// What the shot was expected to cost. Not called where the memory is not looked at.
    fn expects(&self, _estimate: &Estimate) {}
    /// The shot is about to begin, or to go on, at this frame.
    fn begins(&self, frame: i32, last: i32);
    /// A substep is done; `fraction` of its frame is.
    fn substep(&self, stats: &SubstepStats, fraction: f64);
    /// A frame is done and these files are written.
    fn frame(&self, frame: i32, files: &[PathBuf]);
}

/// How a cook ended without failing.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Every frame is written.
    Done,
    /// It was stopped; this checkpoint holds what was done.
    Interrupted(PathBuf),
}

/// Why a cook failed; what is on disk stays.
#[derive(Debug, thiserror::Error)]
pub enum CookError {
    /// The graph cannot be cooked.
    #[error("{0}")]
    Graph(Problems),
    /// A node failed, or a file could not be written; one sentence.
    #[error("{0}")]
    Failed(String),
}

impl From<Problem> for CookError {
    fn from(p: Problem) -> Self {
        CookError::Failed(p.to_string())
    }
}

impl From<std::io::Error> for CookError {
    fn from(e: std::io::Error) -> Self {
        CookError::Failed(e.to_string())
    }
}

impl From<CheckpointError> for CookError {
    fn from(e: CheckpointError) -> Self {
        CookError::Failed(e.to_string())
    }
}
