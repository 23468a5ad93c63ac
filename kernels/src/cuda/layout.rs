//! The twins of the structs in `cuda/layout.cuh`, which describes the fields. Pointers are `u64` addresses on the
//! device.

use super::bytes::Plain;

/// An address on the device.
pub type Pointer = u64;

/// Entries by row of a half-leaf.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RowLists {
    pub page: Pointer,
    pub first: Pointer,
    pub entries: Pointer,
}

/// A coupling of one cell, with a weight of f32.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry {
    pub weight: f32,
    pub target: u32,
    pub lane: u32,
}

/// A coupling of one cell, with a weight of f64.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WideEntry {
    pub weight: f64,
    pub target: u32,
    pub lane: u32,
}

/// The super-cells of a level and their contacts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Supers {
    pub count: u32,
    pub runs: u32,
    pub linked: u32,
    pub padding: u32,
    pub run_first: Pointer,
    pub run_owner: Pointer,
    pub first_run: Pointer,
    pub contact_cell: Pointer,
    pub contact_weight: Pointer,
    pub first_neighbour: Pointer,
    pub neighbour: Pointer,
    pub neighbour_weight: Pointer,
    pub linked_list: Pointer,
    pub diagonal: Pointer,
    pub tied: Pointer,
}

/// The bodies of a level in the smoother.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Bodies {
    pub count: u32,
    pub degrees: u32,
    pub first: Pointer,
    pub first_matrix: Pointer,
    pub carry: Pointer,
    pub weight: Pointer,
    pub first_entry: Pointer,
    pub entry_cell: Pointer,
    pub entry_weight: Pointer,
    pub cells: RowLists,
    pub first_of_super: Pointer,
    pub degree_of_super: Pointer,
    pub weight_of_super: Pointer,
    pub pushed: Pointer,
    pub moved: Pointer,
    pub impulse: Pointer,
    pub sheets: Sheets,
}

/// The sheets of a level.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Sheets {
    pub degrees: u32,
    pub begin: u32,
    pub mass_first: Pointer,
    pub mass_at: Pointer,
    pub mass_value: Pointer,
    pub carry: [Factor; 3],
}

/// One grid of the hierarchy.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    pub leaves: u32,
    pub padding: u32,
    pub neighbours: Pointer,
    pub faces: [Pointer; 3],
    pub diagonal: Pointer,
    pub uniform: Pointer,
    pub bubbles: RowLists,
    pub zeros: RowLists,
    pub supers: Supers,
    pub bodies: Bodies,
}

/// The vectors of a level in the cycle.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    pub x: Pointer,
    pub b: Pointer,
    pub x_super: Pointer,
    pub b_super: Pointer,
    pub inflow: Pointer,
}

/// The transfer between a level and the next coarser one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    pub coarse_leaves: u32,
    pub cells: u32,
    pub children: Pointer,
    pub parents: Pointer,
    pub super_parent: Pointer,
    pub cell: Pointer,
    pub first_shrunk: Pointer,
    pub shrunk: Pointer,
}

/// The dense solve of the last level.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Coarsest {
    pub cells: u32,
    pub size: u32,
    pub cell: Pointer,
    pub by_row: Pointer,
    pub by_column: Pointer,
}

/// The factors of sparse matrices, all in one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Factor {
    pub size: u32,
    pub forward_steps: u32,
    pub backward_steps: u32,
    pub padding: u32,
    pub column: Pointer,
    pub row_first: Pointer,
    pub row_at: Pointer,
    pub row_value: Pointer,
    pub column_first: Pointer,
    pub column_at: Pointer,
    pub column_value: Pointer,
    pub inverse_pivot: Pointer,
    pub forward_first: Pointer,
    pub forward_list: Pointer,
    pub backward_first: Pointer,
    pub backward_list: Pointer,
    pub solution: Pointer,
}

/// The attached masses.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LowRank {
    pub columns: u32,
    pub padding: u32,
    pub first_entry: Pointer,
    pub entry_cell: Pointer,
    pub entry_weight: Pointer,
    pub first_super: Pointer,
    pub super_number: Pointer,
    pub super_weight: Pointer,
    pub body_first: Pointer,
    pub body_columns: Pointer,
    pub weight_first: Pointer,
    pub weight: Pointer,
    pub cells: RowLists,
    pub first_of_super: Pointer,
    pub column_of_super: Pointer,
    pub weight_of_super: Pointer,
    pub moved: Pointer,
    pub weighed: Pointer,
    pub factor: Factor,
}

/// A vector over the unknowns of the finest level.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Vector {
    pub cells: Pointer,
    pub supers: Pointer,
}

/// `Phase::DONE`: the kernels do nothing any more.
pub const DONE: u32 = 0;
/// `Phase::RUN`: the kernels iterate.
pub const RUN: u32 = 1;
/// `Phase::REPLACE`: the corrections are added to x and the true residual is computed.
pub const REPLACE: u32 = 2;
/// Residuals remembered between two looks of the host.
pub const HISTORY: usize = 64;

/// The scalars of a solve.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub tolerance: f64,
    pub norm: f64,
    pub residual: f64,
    pub trusted: f64,
    pub energy: f64,
    pub beta: f64,
    pub step: f64,
    pub scaled: f64,
    pub scale: f64,
    pub super_square: f64,
    pub rounding: f64,
    pub history: [f64; HISTORY],
    pub max_iterations: u32,
    pub iterations: u32,
    pub since: u32,
    pub phase: u32,
    pub broken: u32,
    pub padding: u32,
}

// SAFETY: numbers without padding between them.
unsafe impl Plain for State {}
// SAFETY: see above.
unsafe impl Plain for Entry {}
// SAFETY: see above.
unsafe impl Plain for WideEntry {}

const _: () =
    assert!(size_of::<RowLists>() == 24 && size_of::<Entry>() == 12 && size_of::<WideEntry>() == 16);
const _: () = assert!(size_of::<Supers>() == 104 && size_of::<Level>() == 736 && size_of::<Work>() == 40);
const _: () =
    assert!(size_of::<Aggregation>() == 56 && size_of::<Coarsest>() == 32 && size_of::<LowRank>() == 272);
const _: () = assert!(size_of::<Bodies>() == 528 && size_of::<Factor>() == 120);
const _: () = assert!(size_of::<Vector>() == 16 && size_of::<State>() == 88 + 8 * HISTORY + 24);
