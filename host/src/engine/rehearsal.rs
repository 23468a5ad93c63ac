//! A rehearsal: finds what a cook would refuse at its start, without cooking.

use super::call::{Level, Watcher};
use super::simulation::{Manner, Simulation, Stop};
use super::span::span;
use super::state::Clock;
use super::stats::Gathering;
use crate::graph::{Network, Problem, Problems};
use crate::loader::Plugins;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// Initialises every object in trial mode (`mns.trial`), where nodes only check, and then its forces, its solver and its
/// couplings, frame by frame as they would begin. Returns the nodes' warnings.
pub fn rehearse(
    network: &Network,
    plugins: &Plugins,
    folder: &Path,
    manner: Manner,
) -> Result<Vec<String>, Problems> {
    let (never, listener) = (AtomicBool::new(false), Listener::default());
    let mut simulation = Simulation::new(network, plugins, folder, manner, &never, &listener)?;
    simulation.trial = true;
    let (first, last) = network.settings.frames;
    let starts: BTreeSet<i32> = simulation
        .plan
        .objects
        .iter()
        .map(|&object| span(&network.nodes[object], (first, last)).0)
        .filter(|start| (first..=last).contains(start))
        .collect();
    for start in starts {
        simulation.state.clock = Clock::at_frame(start);
        match simulation.begin_and_end_objects(&mut Gathering::default()) {
            Ok(()) => {}
            Err(Stop::Failed(problem)) => return Err(problem.into()),
            Err(Stop::Cancelled) => return Err(Problem::graph("the check was broken off").into()),
        }
    }
    drop(simulation);
    Ok(listener.0.into_inner().unwrap_or_else(PoisonError::into_inner).told())
}

/// Warnings of one node that are kept.
const WARNINGS: usize = 20;

/// Keeps the warnings.
#[derive(Default)]
struct Listener(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    sentences: Vec<String>,
    counts: BTreeMap<String, usize>,
}

impl Heard {
    fn hear(&mut self, node: &str, sentence: &str) {
        let count = self.counts.entry(node.to_owned()).or_default();
        *count += 1;
        if *count <= WARNINGS {
            self.sentences.push(format!("node `{node}`: {sentence}"));
        }
    }

    /// What is kept, and how much is not.
    fn told(mut self) -> Vec<String> {
        for (node, count) in self.counts.iter().filter(|(_, count)| **count > WARNINGS) {
            let more = count - WARNINGS;
            self.sentences.push(format!("node `{node}`: {more} more of its warnings are left out"));
        }
        self.sentences
    }
}

impl Watcher for Listener {
    fn progress(&self, _node: &str, _stage: &str, _done: f64) {}

    fn log(&self, node: &str, level: Level, sentence: &str) {
        if level == Level::Warning {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).hear(node, sentence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_warnings_is_counted() {
        let mut heard = Heard::default();
        (0..1000).for_each(|_| heard.hear("bad", "once more"));
        heard.hear("good", "once");
        let told = heard.told();
        assert_eq!(told.len(), WARNINGS + 2);
        assert_eq!(told[WARNINGS], "node `good`: once");
        assert_eq!(told[WARNINGS + 1], "node `bad`: 980 more of its warnings are left out");
    }
}
