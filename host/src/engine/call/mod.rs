//! Calls across the C ABI: what a plugin receives, and what it returns.
//!
//! A [`Bridge`] stands behind `ctx->host` while a call lasts. It answers the plugin's requests from a state that does
//! not change meanwhile, and collects the plugin's writes separately, so that a failed or rejected call has written
//! nothing.

mod arena;
mod bridge;
mod callbacks;
mod commit;
mod convert;
mod instance;
mod merge;
mod paranoid;
mod shape;
mod view;

pub(super) use commit::{commit, unsound};
pub(super) use instance::Instance;
pub(super) use merge::Contributions;

use super::state::Slot;
use crate::data::{Data, Geometry};
use crate::node::Stage;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The observer of a cook. Called from any thread.
pub trait Watcher: Sync {
    /// Progress of a stage: `done` from 0 to 1, negative if unknown.
    fn progress(&self, node: &str, stage: &str, done: f64);
    /// A message of a node.
    fn log(&self, node: &str, level: Level, sentence: &str);
}

/// The device for solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// A GPU if there is one.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// A GPU; without one the solve fails.
    Cuda,
}

impl Device {
    /// As plugins are told.
    pub(super) fn text(self) -> &'static CStr {
        match self {
            Self::Auto => c"auto",
            Self::Cpu => c"cpu",
            Self::Cuda => c"cuda",
        }
    }
}

/// Weight of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For plugin authors.
    Debug,
    /// For users.
    Info,
    /// Something to act on.
    Warning,
}

/// The time of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timing {
    pub(super) time: f64,
    pub(super) dt: f64,
    pub(super) dt_next: f64,
    pub(super) dt_kick: f64,
    pub(super) frame_left: f64,
    pub(super) fps: f64,
    pub(super) cfl: f64,
    pub(super) frame: i32,
    pub(super) substep: u32,
}

/// The origin of an item of a port.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// Simulated data.
    Slot(Slot),
    /// Geometry wired into the node.
    Input(Arc<Geometry>),
}

/// An item of a port.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) name: CString,
    pub(super) source: Source,
}

/// The subject of a call.
pub(super) struct Request<'a> {
    /// Node name.
    pub(super) node: &'a str,
    /// Object name, when the call is about one.
    pub(super) object: Option<&'a str>,
    /// Stage; `None` in `create` and `suggest_dt`.
    pub(super) stage: Option<Stage>,
    /// Entry of the coupling's schedule.
    pub(super) step: u32,
    /// The items of every port.
    pub(super) items: Vec<Vec<Item>>,
    /// Parameter values in the order of the descriptor.
    pub(super) params: Vec<([f64; 3], Option<CString>)>,
    pub(super) timing: Timing,
    pub(super) threads: u32,
    pub(super) device: Device,
    /// Rehearsal: nothing is cooked; the question is whether the shot could begin.
    pub(super) trial: bool,
    /// Whether read-only data is compared before and after.
    pub(super) paranoid: bool,
    pub(super) cancel: &'a AtomicBool,
    pub(super) watcher: &'a dyn Watcher,
}

/// The statistics of a linear solve.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Solve {
    /// Which.
    pub name: String,
    /// `cpu` or `cuda`.
    pub device: String,
    /// Number of unknowns.
    pub unknowns: u64,
    /// Iterations done.
    pub iterations: u32,
    /// Final residual, relative to the right side.
    pub residual: f64,
    /// Wall time, s.
    pub seconds: f64,
}

/// What a node measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// Name of the object; `None` where it is of the whole.
    pub(super) object: Option<String>,
    /// Key in stats.jsonl.
    pub(super) key: String,
    pub(super) values: Vec<f64>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    NotConverged,
    Cancelled,
    Rejected,
    Failed,
}

/// What a call wrote to a slot.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The port through which it came.
    pub(super) port: usize,
    /// The data; `None` where it was taken away.
    pub(super) data: Option<Data>,
}

/// The results of a call.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    /// Why it failed, one sentence.
    pub(super) reason: String,
    /// The port whose data it could not use.
    pub(super) port: Option<usize>,
    /// New data by slot.
    pub(super) writes: BTreeMap<Slot, Written>,
    pub(super) measures: Vec<Measured>,
    pub(super) solves: Vec<Solve>,
    /// Longest next substep asked for, s.
    pub(super) wish: Option<f64>,
    /// Length suggested when this one was rejected, s.
    pub(super) suggestion: f64,
}
