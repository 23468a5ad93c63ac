//! The contract of a plugin's node: its stages, ports, roles and schedule.

use super::NodeKind;
use crate::data::{Element, Lifetime, Sampling, Shown};

/// Stages of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// At an object's first frame: once for the object, for its forces and its solver, once for each coupling.
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
    /// Writes its share of a coupling's system.
    Contribute,
}

/// Number of stages.
pub const STAGES: usize = 7;

impl Stage {
    /// Every stage, in the order of their codes in the C ABI.
    pub const ALL: [Stage; STAGES] = [
        Stage::Init,
        Stage::Predict,
        Stage::Advance,
        Stage::Transport,
        Stage::Solve,
        Stage::Correct,
        Stage::Contribute,
    ];

    /// Name as people read it, also in stats.jsonl.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Init => "init",
            Stage::Predict => "predict",
            Stage::Advance => "advance",
            Stage::Transport => "transport",
            Stage::Solve => "solve",
            Stage::Correct => "correct",
            Stage::Contribute => "contribute",
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
    /// As people read it, the shape of a grid included.
    pub fn described(self) -> String {
        match self {
            Carries::Grid { element, components, sampling } => {
                let count = if components == 1 { String::new() } else { format!("{components} x ") };
                format!("grid ({count}{} at {})", element.name(), sampling.place())
            }
            other => other.name().into(),
        }
    }

    /// Whether it is a grid of whole numbers.
    pub fn is_whole(self) -> bool {
        matches!(self, Carries::Grid { element, .. } if !matches!(element, Element::F32 | Element::F64))
    }

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
    /// All objects that a solver solves.
    Solved,
    /// Every other object wired into the solver.
    Affector,
    /// Geometry wired into the node.
    Input,
    /// The objects of a coupling's participants of one role.
    Participant(usize),
    /// Data kept for the node itself.
    Node,
    /// What a coupling's participants (of one role, or of all) keep for themselves.
    Member(Option<usize>),
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

/// Keys of a line of stats.jsonl that no node may take.
pub const STATS_KEYS: [&str; 11] = [
    "frame",
    "substep",
    "time",
    "dt",
    "step",
    "cfl",
    "stages",
    "solves",
    "max_divergence",
    "objects",
    "memory_bytes",
];

/// A point attribute in stats.jsonl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Its key there.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Written as true or false.
    pub is_truth: bool,
}

impl Reported {
    /// Stands for the name of the object.
    pub const OBJECT: &'static str = "@object";
}

/// How the points of a geometry are listed in stats.jsonl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Key of the list.
    pub key: String,
    /// What an entry has.
    pub entries: Vec<Reported>,
}

/// One port of a node type.
#[derive(Clone, Debug)]
pub struct PortSpec {
    /// Name of the data on its owner; empty for every geometry of the object that forces may move.
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
    pub access: [Access; STAGES],
    /// What it is to output nodes.
    pub shown: Shown,
    /// Caches write it unless their user names something else.
    pub is_result: bool,
    /// Geometry that forces may move, or a grid that they add to.
    pub is_movable: bool,
    /// How stats.jsonl lists its points.
    pub report: Option<Report>,
}

impl PortSpec {
    /// True where it stands for everything of its shape that forces may move.
    pub fn is_every_movable(&self) -> bool {
        self.name.is_empty()
    }

    /// Its name, for people.
    pub fn called(&self) -> &str {
        if self.is_every_movable() { "what forces move" } else { &self.name }
    }

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
    /// Most objects that they solve between them; `None` for any number.
    pub max_objects: Option<usize>,
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
    pub stages: [bool; STAGES],
    /// Node kinds it takes as inputs.
    pub accepts: Vec<NodeKind>,
    /// Its ports.
    pub ports: Vec<PortSpec>,
    /// Its roles, in the order that the descriptor lists them.
    pub roles: Vec<Role>,
    /// Its schedule; empty: [`Self::schedule`] says which.
    pub steps: Vec<Step>,
    /// What it solves may gain and lose mass.
    pub accepts_sources: bool,
    /// It adds or removes mass.
    pub is_source: bool,
    /// Solvers of lower rank step first.
    pub rank: i32,
    /// It does not run without a GPU.
    pub needs_gpu: bool,
    /// What its objects cost while a substep runs.
    pub cost: Cost,
}

/// What an object costs while a substep runs; 0 where nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Bytes per particle.
    pub particle_bytes: f64,
    /// Bytes per voxel.
    pub voxel_bytes: f64,
    /// Seconds of one core per particle.
    pub particle_seconds: f64,
    /// Seconds of one core per voxel; of what has no particles, per voxel as large as those of the particles around it.
    pub voxel_seconds: f64,
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
        let own = |stage| Step { role: None, stage };
        let ahead = all(Stage::Predict).chain([own(Stage::Predict)]);
        let shares = all(Stage::Contribute).chain([own(Stage::Contribute), own(Stage::Solve)]);
        ahead.chain(shares).chain([own(Stage::Correct)]).chain(all(Stage::Correct)).collect()
    }

    /// True where a stage sees all objects of a solver in one call.
    pub fn takes_all(&self, stage: Stage) -> bool {
        let uses = |p: &PortSpec| p.access(stage).reads || p.access(stage).writes;
        stage != Stage::Init && self.ports.iter().any(|p| p.owner == PortOwner::Solved && uses(p))
    }
}
