//! What a node is, as data: read by the host's checks, the help text, the docs and the DCC adapters.

use crate::{
    Carries, Drawn, Gpu, GridClass, Lifetime, Means, Merge, NodeKind, Owner, ParamType, Sampling, Stage,
};
use std::ffi::c_char;

/// An entry of a menu parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct MenuItem {
    /// In graph files.
    pub token: *const c_char,
    /// For people.
    pub label: *const c_char,
}

/// A parameter of a node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Param {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// What its value is.
    pub ty: ParamType,
    /// In graph files.
    pub name: *const c_char,
    /// For people.
    pub label: *const c_char,
    /// Tabs, separated by `/`.
    pub folder: *const c_char,
    /// SI, null for a pure number.
    pub unit: *const c_char,
    /// A sentence or two for an artist.
    pub help: *const c_char,
    /// Houdini's parameter of this meaning, or null.
    pub houdini_name: *const c_char,
    /// `{ track == 0 }`, or null.
    pub disable_when: *const c_char,
    /// Default of strings and files.
    pub default_text: *const c_char,
    /// Default of everything else.
    pub default_number: [f64; 3],
    /// Equal ends: no range.
    pub range: [f64; 2],
    /// [`crate::flags`]
    pub flags: u32,
    /// Entries of the menu.
    pub menu_count: u32,
    /// The menu.
    pub menu: *const MenuItem,
    /// What it means to the host.
    pub means: Means,
    /// 0
    pub reserved: u32,
}

/// Named data a node reads or writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Port {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Grid, geometry or table.
    pub carries: Carries,
    /// Of the data on its owner.
    pub name: *const c_char,
    /// A sentence.
    pub help: *const c_char,
    /// SI.
    pub unit: *const c_char,
    /// Whose data it is.
    pub owner: Owner,
    /// Of participants and members: entry of the node's roles; of members, [`Role::ANY`] for all of them.
    pub role: u32,
    /// Grids: where values sit.
    pub sampling: Sampling,
    /// Grids: element type.
    pub element: crate::Element,
    /// Grids: components per voxel.
    pub components: u32,
    /// Checkpointed or scratch.
    pub lifetime: Lifetime,
    /// How several writers go together.
    pub merge: Merge,
    /// 1: a reading stage does not run without it.
    pub required: u32,
    /// [`crate::Access`] by stage.
    pub access: [u8; Port::STAGES],
    /// Grids: what it means to other programs.
    pub grid_class: GridClass,
    /// Level sets: how pictures draw it.
    pub drawn: Drawn,
    /// [`crate::flags`]
    pub flags: u32,
    /// 0
    pub reserved: u32,
    /// Geometry: how its points are listed in stats.jsonl, or null.
    pub report: *const c_char,
}

impl Port {
    /// Room in [`Port::access`].
    pub const STAGES: usize = 16;

    /// Access of a stage to this port.
    pub fn access(&self, stage: Stage) -> crate::Access {
        crate::Access(usize::try_from(stage.0).ok().and_then(|s| self.access.get(s)).copied().unwrap_or(0))
    }
}

/// A part in a coupling, played by the participants whose medium it names.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Role {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Fewest participants.
    pub min_count: u32,
    /// Most participants, 0: any number.
    pub max_count: u32,
    /// Most objects that they solve between them, 0: any number.
    pub max_objects: u32,
    /// "liquid"
    pub name: *const c_char,
    /// The participants' medium, null: any.
    pub medium: *const c_char,
    /// A sentence.
    pub help: *const c_char,
}

impl Role {
    /// Of ports of members: all roles.
    pub const ANY: u32 = u32::MAX;
}

/// An entry of a coupling's schedule.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Step {
    /// Whose stage, or [`Step::SELF`].
    pub role: u32,
    /// Which.
    pub stage: Stage,
}

impl Step {
    /// The coupling itself.
    pub const SELF: u32 = u32::MAX;
}

/// A node type.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Node {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Of the node's meaning.
    pub version: u32,
    /// "meniscus.flip_solver"
    pub id: *const c_char,
    /// For people.
    pub label: *const c_char,
    /// What it does, for an artist.
    pub help: *const c_char,
    /// Object, solver: what it is made of or solves.
    pub medium: *const c_char,
    /// Houdini's node of this meaning, or null.
    pub houdini_name: *const c_char,
    /// Keys of references.bib, separated by blanks.
    pub cites: *const c_char,
    /// Object, force, solver or coupling.
    pub kind: NodeKind,
    /// Bits of the stages it implements.
    pub stages: u32,
    /// Bits of the node kinds it takes as inputs.
    pub accepts: u32,
    /// Fewest inputs.
    pub min_inputs: u32,
    /// Most inputs, 0: any number.
    pub max_inputs: u32,
    /// Whether it uses a GPU.
    pub gpu: Gpu,
    /// [`crate::flags`]
    pub flags: u32,
    /// Length of `ports`.
    pub port_count: u32,
    /// Length of `params`.
    pub param_count: u32,
    /// Length of `roles`.
    pub role_count: u32,
    /// Length of `steps`; 0: predict all roles, solve, correct all roles.
    pub step_count: u32,
    /// Solver: lower ones step first, see [`Node::RANK_SOLID`].
    pub rank: i32,
    /// Its ports.
    pub ports: *const Port,
    /// Its parameters.
    pub params: *const Param,
    /// Its roles.
    pub roles: *const Role,
    /// Its schedule.
    pub steps: *const Step,
    /// Object: bytes per particle while a substep runs.
    pub particle_bytes: f64,
    /// Object: bytes per voxel.
    pub voxel_bytes: f64,
    /// Object: seconds of one core per particle and substep.
    pub particle_seconds: f64,
    /// Object: seconds of one core per voxel and substep; of what has no particles, per voxel as large as those of the particles
    /// around it.
    pub voxel_seconds: f64,
}

impl Node {
    /// Rank of solvers of solids, which others meet where they are going.
    pub const RANK_SOLID: i32 = -200;
    /// Rank of solvers of cloth and other thin solids.
    pub const RANK_CLOTH: i32 = -100;
    /// Rank of solvers of liquids, and of those that say nothing.
    pub const RANK_LIQUID: i32 = 0;
    /// Rank of solvers of smoke.
    pub const RANK_SMOKE: i32 = 100;
    /// Rank of solvers of what follows fluids and changes nothing of them.
    pub const RANK_WHITEWATER: i32 = 200;

    /// Whether `run` implements a stage.
    pub fn implements(&self, stage: Stage) -> bool {
        (0..32).contains(&stage.0) && self.stages & (1 << stage.0) != 0
    }

    /// Whether it takes a kind of node as input.
    pub fn takes(&self, kind: NodeKind) -> bool {
        (0..32).contains(&kind.0) && self.accepts & (1 << kind.0) != 0
    }
}

// SAFETY: descriptors are constant for the life of the library; the pointers lead to constants.
unsafe impl Sync for MenuItem {}
// SAFETY: as above.
unsafe impl Sync for Param {}
// SAFETY: as above.
unsafe impl Sync for Port {}
// SAFETY: as above.
unsafe impl Sync for Role {}
// SAFETY: as above.
unsafe impl Sync for Node {}
