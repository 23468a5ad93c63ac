//! Watches a cook, shows it, and keeps what it cost for `check`.

use super::progress::Progress;
use crate::costs::{Costs, Shot, Took};
use crate::engine::{Estimate, Level, Onlooker, SubstepStats, Watcher};
use crate::graph::Network;
use crate::node::NodeKind;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Fewest frames of a cook that say what others will take: the first ones are often the cheapest.
const LEAST: u32 = 4;

/// A shot, as far as its costs go: the text of its graph, what was bound to it and what was set for it.
pub(super) fn shot(
    text: &str,
    network: &Network,
    said: &[String],
    processors: u32,
    estimate: &Estimate,
) -> Shot {
    let Network { settings, nodes, .. } = network;
    let takes_part = [NodeKind::Solver, NodeKind::Coupling, NodeKind::Output];
    let active = nodes.iter().filter(|n| !n.bypass && takes_part.contains(&n.node_type.kind));
    let mut nodes: Vec<String> = active.map(|n| n.node_type.id.clone()).collect();
    nodes.sort();
    nodes.dedup();
    let mut graph = blake3::Hasher::new();
    graph.update(text.as_bytes());
    for set in said {
        graph.update(&[0]).update(set.as_bytes());
    }
    Shot {
        graph: graph.finalize().to_hex().to_string(),
        nodes,
        processors,
        seconds: estimate.substep_seconds(),
        beside: estimate.frame_seconds(),
        fall: estimate.fall,
        limits: (settings.substeps.min, settings.substeps.max),
    }
}

/// What was seen of a cook.
#[derive(Default)]
struct Seen {
    estimate: Option<Estimate>,
    began: Option<Instant>,
    frames: u32,
    substeps: u32,
    /// Seconds in stages.
    staged: f64,
    /// Of the frames that are done: seconds since the cook began, substeps, seconds in stages.
    done: (f64, u32, f64),
}

/// An onlooker that learns.
pub(super) struct Learning<'a> {
    progress: &'a Progress,
    seen: Mutex<Seen>,
}

impl<'a> Learning<'a> {
    pub(super) fn beside(progress: &'a Progress) -> Self {
        Self { progress, seen: Mutex::default() }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Seen) -> T) -> T {
        f(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what a cook of a shot took, if it was long enough.
    pub(super) fn keep(&self, text: &str, network: &Network, said: &[String], processors: u32) {
        self.with(|seen| {
            let Some(estimate) = seen.estimate.take().filter(|_| seen.frames >= LEAST) else { return };
            let (elapsed, substeps, staged) = seen.done;
            let frames = f64::from(seen.frames);
            let took = Took {
                substeps: f64::from(substeps) / frames,
                substep: staged / f64::from(substeps.max(1)),
                beside: (elapsed - staged).max(0.0) / frames,
            };
            let mut costs = Costs::read();
            costs.learn(shot(text, network, said, processors, &estimate), took);
            costs.write();
        });
    }
}

impl Watcher for Learning<'_> {
    fn progress(&self, node: &str, stage: &str, done: f64) {
        self.progress.progress(node, stage, done);
    }

    fn log(&self, node: &str, level: Level, sentence: &str) {
        self.progress.log(node, level, sentence);
    }
}

impl Onlooker for Learning<'_> {
    fn expects(&self, estimate: &Estimate) {
        self.with(|seen| seen.estimate = Some(estimate.clone()));
    }

    fn begins(&self, frame: i32, last: i32) {
        self.with(|seen| seen.began = Some(Instant::now()));
        self.progress.begins(frame, last);
    }

    fn substep(&self, stats: &SubstepStats, fraction: f64) {
        self.with(|seen| {
            seen.substeps += 1;
            seen.staged += stats.stages.iter().map(|(_, seconds)| seconds).sum::<f64>();
            if fraction >= 1.0 {
                seen.frames += 1;
                let elapsed = seen.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
                seen.done = (elapsed, seen.substeps, seen.staged);
            }
        });
        self.progress.substep(stats, fraction);
    }

    fn frame(&self, frame: i32, files: &[PathBuf]) {
        self.progress.frame(frame, files);
    }
}
