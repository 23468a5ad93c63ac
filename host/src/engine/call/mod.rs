//! Calls across the C ABI: what a plugin is handed, and what comes back.
//!
//! A [`Bridge`] stands behind `ctx->host` while a call lasts. It answers the plugin's questions from a state
//! that nobody changes meanwhile, and collects what the plugin writes apart from it, so that a failed or
//! rejected call has written nothing.

mod arena;
mod bridge;
mod callbacks;
mod commit;
mod convert;
mod instance;
mod paranoid;
mod shape;
mod view;

pub(super) use commit::{commit, unsound};
pub(super) use instance::Instance;

use super::state::Slot;
use crate::data::{Data, Geometry};
use crate::node::Stage;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Whoever watches a cook. Called from any thread.
pub trait Watcher: Sync {
    /// A stage is `done` (0 to 1, negative where nobody knows).
    fn progress(&self, node: &str, stage: &str, done: f64);
    /// A node has something to say.
    fn log(&self, node: &str, level: Level, sentence: &str);
}

/// Where solves should run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// On a GPU where there is one.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On a GPU, or not at all.
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
    /// For whoever looks into a plugin.
    Debug,
    /// For whoever watches the cook.
    Info,
    /// Something to act on.
    Warning,
}

/// When a call happens.
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

/// Where an item of a port comes from.
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

/// What a call is about.
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
    /// Nothing is cooked: the question is whether the shot could begin.
    pub(super) trial: bool,
    /// What it may only read is compared with what it was.
    pub(super) paranoid: bool,
    pub(super) cancel: &'a AtomicBool,
    pub(super) watcher: &'a dyn Watcher,
}

/// What a linear solve did.
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

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    NotConverged,
    Cancelled,
    Rejected,
    Failed,
}

/// What came back from a call.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    /// Why it failed, one sentence.
    pub(super) reason: String,
    /// New data by slot.
    pub(super) writes: BTreeMap<Slot, Data>,
    pub(super) measures: Vec<(String, Vec<f64>)>,
    pub(super) solves: Vec<Solve>,
    /// Longest next substep asked for, s.
    pub(super) wish: Option<f64>,
    /// Length suggested when this one was rejected, s.
    pub(super) suggestion: f64,
}
