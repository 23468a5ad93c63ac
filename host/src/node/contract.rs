//! The contract of a plugin's node: its stages, ports, roles and schedule.

use super::NodeKind;
use crate::data::{Element, Lifetime, Sampling};

/// Stages of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Once, at an object's first frame.
    Init,
    /// Advects, integrates its own forces, collides.
    Predict,
    /// Moves ahead of the others.
    Advance,
    /// Transports and remeshes between two solves.
    Transport,
    /// Solves the shared unknowns.
    Solve,
    /// Takes the solution back into its own state.
    Correct,
}

impl Stage {
    /// Every stage, in the order of their codes in the C ABI.
    pub const ALL: [Stage; 6] =
        [Stage::Init, Stage::Predict, Stage::Advance, Stage::Transport, Stage::Solve, Stage::Correct];

    /// Name as people read it, also in stats.jsonl.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Init => "init",
            Stage::Predict => "predict",
            Stage::Advance => "advance",
            Stage::Transport => "transport",
            Stage::Solve => "solve",
            Stage::Correct => "correct",
        }
    }
}

/// What a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// A sparse grid.
    Grid {
        /// Element type.
        element: Element,
        /// Components per voxel.
        components: usize,
        /// Where values sit.
        sampling: Sampling,
    },
    /// Points, polylines or triangles.
    Geometry,
    /// Named arrays.
    Table,
}

impl Carries {
    /// `grid`, `geometry` or `table`.
    pub fn name(self) -> &'static str {
        match self {
            Carries::Grid { .. } => "grid",
            Carries::Geometry => "geometry",
            Carries::Table => "table",
        }
    }
}

/// The owner of a port's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortOwner {
    /// The object being created, acted on or solved.
    Object,
    /// Every other object wired into the solver.
    Affector,
    /// Geometry wired into the node.
    Input,
    /// The objects of a coupling's participants of one role.
    Participant(usize),
    /// Data kept for the node itself.
    Node,
}

/// What a stage does with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Access {
    /// Reads what is there.
    pub reads: bool,
    /// Changes it or makes it anew.
    pub writes: bool,
}

/// How the contributions of several writers are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The last write wins.
    Replace,
    /// Summed.
    Add,
    /// The smallest.
    Min,
}

/// One port of a node type.
#[derive(Clone, Debug)]
pub struct PortSpec {
    /// Name of the data on its owner.
    pub name: String,
    /// One sentence for people.
    pub help: String,
    /// Unit.
    pub unit: String,
    /// What it carries.
    pub carries: Carries,
    /// Whose data it names.
    pub owner: PortOwner,
    /// How long the data lives.
    pub lifetime: Lifetime,
    /// How several writers go together.
    pub merge: Merge,
    /// A reading stage does not run without it.
    pub required: bool,
    /// What each stage does with it, by [`Stage`] code.
    pub access: [Access; 6],
}

impl PortSpec {
    /// What a stage does with the port.
    pub fn access(&self, stage: Stage) -> Access {
        self.access[stage as usize]
    }
}

/// A part in a coupling.
#[derive(Clone, Debug)]
pub struct Role {
    /// Name.
    pub name: String,
    /// The participants' medium; empty for any.
    pub medium: String,
    /// Fewest participants.
    pub min_count: usize,
    /// Most participants; `None` for any number.
    pub max_count: Option<usize>,
}

/// An entry of a coupling's schedule: a stage of every participant of a role, or (`None`) of the coupling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The role.
    pub role: Option<usize>,
    /// The stage.
    pub stage: Stage,
}

/// What a plugin's node promises.
#[derive(Clone, Debug, Default)]
pub struct Contract {
    /// Number of the plugin among the loaded ones.
    pub plugin: usize,
    /// Number of the node in its plugin.
    pub node: u32,
    /// What an object is made of, or a solver solves.
    pub medium: String,
    /// Stages it implements, by [`Stage`] code.
    pub stages: [bool; 6],
    /// Node kinds it takes as inputs.
    pub accepts: Vec<NodeKind>,
    /// Its ports.
    pub ports: Vec<PortSpec>,
    /// Its roles, solids first.
    pub roles: Vec<Role>,
    /// Its schedule; empty: predict all roles, solve, correct all roles.
    pub steps: Vec<Step>,
    /// What it solves may gain and lose mass.
    pub accepts_sources: bool,
    /// It adds or removes mass.
    pub is_source: bool,
    /// It does not run without a GPU.
    pub needs_gpu: bool,
}

impl Contract {
    /// True when the node implements a stage.
    pub fn implements(&self, stage: Stage) -> bool {
        self.stages[stage as usize]
    }

    /// The schedule, the default one written out.
    pub fn schedule(&self) -> Vec<Step> {
        if !self.steps.is_empty() {
            return self.steps.clone();
        }
        let all = |stage| (0..self.roles.len()).map(move |r| Step { role: Some(r), stage });
        let solve = Step { role: None, stage: Stage::Solve };
        all(Stage::Predict).chain([solve]).chain(all(Stage::Correct)).collect()
    }
}
