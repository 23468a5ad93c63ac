//! What shots cost on this machine: a table in the user's cache folder that every cook adds to and `check` reads.

use crate::files::{read_file, write_atomically};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Most cooks that are remembered.
const MOST: usize = 200;
/// Largest table that is read, bytes.
const LARGEST: u64 = 1 << 20;
/// Raised when entries mean something else.
const VERSION: u32 = 3;
/// Share of the substeps foreseen for the fastest fall that a shot takes, before any was cooked: its liquid is seldom all
/// that fast.
const SHARE: f64 = 0.8;
/// Share of the other processors' time that is used, before any shot was cooked.
const EFFICIENCY: f64 = 0.8;
/// Difference in size, a logarithm, at which a shot of the table counts half as much as one of the same size.
const ALIKE: f64 = 0.7;
/// By how much what is drawn and written takes longer or shorter than usual, at most, as other shots tell.
const DOUBT: f64 = 4.0;

/// What a shot is foreseen to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shot {
    /// Its graph with all that was set for it, as a hash.
    pub graph: String,
    /// Types of its solvers, couplings and outputs, in alphabetical order.
    pub nodes: Vec<String>,
    /// Threads.
    pub processors: u32,
    /// Seconds of one core for a substep, by what the nodes say of themselves.
    pub seconds: f64,
    /// Seconds of one core for what is drawn and written at a frame.
    pub beside: f64,
    /// Substeps a frame in which what falls farthest or begins fastest keeps to the graph's CFL number.
    pub fall: f64,
    /// Fewest and most substeps a frame.
    pub limits: (u32, u32),
}

/// What a frame of a shot took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// Substeps.
    pub substeps: f64,
    /// Seconds that a substep took in its stages.
    pub substep: f64,
    /// Seconds a frame beside the substeps: outputs that the simulation waited for.
    pub beside: f64,
}

impl Took {
    /// Seconds of a frame.
    pub fn frame(&self) -> f64 {
        self.substeps * self.substep + self.beside
    }
}

/// How much is known of a shot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// This shot was cooked on this machine.
    Itself,
    /// Shots of the same nodes were.
    Alike,
    /// Only shots of other nodes were.
    Others,
    /// None was: the nodes say what they take on a usual machine.
    Nothing,
}

/// A shot, and what a frame of it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    shot: Shot,
    took: Took,
}

impl Entry {
    /// Whether its numbers can be those of a cook.
    fn is_sound(&self) -> bool {
        /// Greatest seconds and substeps that are believed, and the least that are not nothing.
        const MOST: f64 = 1e9;
        const LEAST: f64 = 1e-9;
        let Self { shot: Shot { seconds, beside: written, fall, .. }, took } = self;
        let Took { substeps, substep, beside } = took;
        [seconds, written, fall, substeps, substep, beside]
            .into_iter()
            .all(|x| *x == 0.0 || (LEAST..MOST).contains(x))
    }
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    version: u32,
    /// The latest last.
    cooks: Vec<Entry>,
}

impl Costs {
    fn path() -> Option<PathBuf> {
        crate::cache::folder().map(|folder| folder.join("costs.json"))
    }

    /// The user's table; an empty one where there is none that can be read.
    pub fn read() -> Self {
        let bytes = Self::path().and_then(|path| read_file(&path, LARGEST).ok());
        let table: Option<Self> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut table = table.filter(|table| table.version == VERSION).unwrap_or_default();
        table.cooks.retain(Entry::is_sound);
        table
    }

    /// Keeps the table. Where that fails, the next `check` knows less.
    pub fn write(&self) {
        let Some(path) = Self::path() else { return };
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let (Ok(()), Ok(text)) = (made, serde_json::to_vec_pretty(self)) {
            let _ = write_atomically(&path, &text);
        }
    }

    /// Remembers a cook, in the place of an earlier one of the same shot. JSON has no word for numbers that are not finite.
    pub fn learn(&mut self, shot: Shot, took: Took) {
        let entry = Entry { shot, took };
        if !entry.is_sound() {
            return;
        }
        let Entry { shot, .. } = &entry;
        self.version = VERSION;
        self.cooks.retain(|e| !(e.shot.graph == shot.graph && e.shot.processors == shot.processors));
        self.cooks.push(entry);
        self.cooks.drain(..self.cooks.len().saturating_sub(MOST));
    }

    /// What a frame of a shot is expected to take. Of shots of the same nodes, or of all where there is none, those of about its size
    /// count most.
    pub fn expected(&self, shot: &Shot) -> (Took, Known) {
        let here = || self.cooks.iter().filter(|e| e.shot.processors == shot.processors);
        let mut alike: Vec<&Entry> = here().filter(|e| e.shot.nodes == shot.nodes).collect();
        let known = if alike.is_empty() { Known::Others } else { Known::Alike };
        if alike.is_empty() {
            alike = here().collect();
        }
        if let Some(itself) = alike.iter().find(|e| e.shot.graph == shot.graph) {
            return (itself.took, Known::Itself);
        }
        let weight = |e: &Entry| 1.0 / (1.0 + ((e.shot.seconds / shot.seconds).ln() / ALIKE).powi(2));
        // Ratios have a geometric mean.
        let mean = |ratio: &dyn Fn(&Entry) -> f64| -> Option<f64> {
            let known = alike.iter().map(|e| (weight(e), ratio(e).ln()));
            let known = known.filter(|(weight, ratio)| weight.is_finite() && ratio.is_finite());
            let (sum, all) = known.fold((0.0, 0.0), |(sum, all), (w, ratio)| (sum + w * ratio, all + w));
            (all > 0.0).then(|| (sum / all).exp())
        };
        let usual = 1.0 / (1.0 + EFFICIENCY * (f64::from(shot.processors) - 1.0));
        let slower = mean(&|e| e.took.substep / e.shot.seconds);
        let share = mean(&|e| e.took.substeps / e.shot.fall);
        let (least, most) = (f64::from(shot.limits.0), f64::from(shot.limits.1));
        // What the simulation did not wait for counts, too. A ratio to so little says nothing of large pictures.
        let near = |e: &Entry| weight(e) / (1.0 + ((e.shot.beside / shot.beside).ln() / ALIKE).powi(2));
        let of = |seconds: &dyn Fn(&Entry) -> f64| -> f64 {
            alike.iter().map(|e| near(e) * seconds(e)).filter(|s| s.is_finite()).sum()
        };
        let (waited, foreseen) = (of(&|e| e.took.beside), of(&|e| e.shot.beside));
        let ratio = if foreseen > 0.0 { waited / foreseen } else { usual };
        let beside = shot.beside * ratio.clamp(usual / DOUBT, usual * DOUBT);
        let took = Took {
            substeps: (shot.fall * share.unwrap_or(SHARE)).clamp(least, most.max(least)),
            substep: shot.seconds * slower.unwrap_or(usual),
            beside,
        };
        (took, if slower.is_some() { known } else { Known::Nothing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(graph: &str, seconds: f64, fall: f64) -> Shot {
        let nodes = vec!["flip_solver".to_owned()];
        Shot { graph: graph.into(), nodes, processors: 2, seconds, beside: 0.2, fall, limits: (1, 8) }
    }

    #[test]
    fn a_shot_that_was_cooked_takes_what_it_took() {
        let mut costs = Costs::default();
        let took = |substep| Took { substeps: 5.0, substep, beside: 0.25 };
        costs.learn(shot("a", 1.0, 4.0), took(9.0));
        costs.learn(shot("a", 1.0, 4.0), took(0.5));
        assert_eq!(costs.cooks.len(), 1);
        assert_eq!(costs.expected(&shot("a", 1.0, 4.0)), (took(0.5), Known::Itself));
        assert_eq!(took(0.5).frame(), 2.75);
        // Another number of threads is another machine.
        let alone = Shot { processors: 1, ..shot("a", 1.0, 4.0) };
        assert_eq!(costs.expected(&alone).1, Known::Nothing);
    }

    #[test]
    fn shots_of_the_same_nodes_tell_how_fast_the_machine_is() {
        let mut costs = Costs::default();
        let unknown = costs.expected(&shot("new", 2.0, 5.0));
        assert_eq!(unknown.1, Known::Nothing);
        assert!((unknown.0.substeps - 5.0 * SHARE).abs() < 1e-12);
        // Three times as long as a core should need, at half the substeps of the fall.
        for (graph, seconds) in [("small", 0.1), ("large", 4.0)] {
            let took = Took { substeps: 2.0, substep: 3.0 * seconds, beside: 0.1 };
            costs.learn(shot(graph, seconds, 4.0), took);
        }
        let (took, known) = costs.expected(&shot("new", 2.0, 6.0));
        assert_eq!(known, Known::Alike);
        assert!((took.substep - 6.0).abs() < 1e-9 && (took.substeps - 3.0).abs() < 1e-9, "{took:?}");
        assert!((took.beside - 0.1).abs() < 1e-9, "{took:?}");
        // Twice the pixels and bytes take twice as long.
        let larger = Shot { beside: 0.4, ..shot("new", 2.0, 6.0) };
        assert!((costs.expected(&larger).0.beside - 0.2).abs() < 1e-9);
        // What a tiny picture took says little of a large one: at most four times as long as usual.
        let mut tiny = Costs::default();
        tiny.learn(
            Shot { beside: 1e-4, ..shot("tiny", 2.0, 4.0) },
            Took { substeps: 2.0, substep: 1.0, beside: 0.05 },
        );
        let usual = 1.0 / (1.0 + EFFICIENCY);
        assert!(tiny.expected(&larger).0.beside <= 0.4 * DOUBT * usual + 1e-12);
        // Shots of its own size count most.
        costs.learn(shot("slow", 2.1, 4.0), Took { substeps: 2.0, substep: 21.0, beside: 0.1 });
        let now = costs.expected(&shot("new", 2.0, 6.0)).0.substep / 2.0;
        assert!(now > 4.5 && now < 10.0, "{now}");
        // As few and as many substeps as the graph allows.
        assert_eq!(costs.expected(&shot("new", 2.0, 0.0)).0.substeps, 1.0);
        assert_eq!(costs.expected(&shot("new", 2.0, 1e9)).0.substeps, 8.0);
    }

    #[test]
    fn the_latest_are_kept() {
        let mut costs = Costs::default();
        (0..2 * MOST).for_each(|n| costs.learn(shot(&n.to_string(), 1.0, 1.0), Took::default()));
        assert_eq!(costs.cooks.len(), MOST);
        assert_eq!(costs.cooks[0].shot.graph, MOST.to_string());
    }
}
