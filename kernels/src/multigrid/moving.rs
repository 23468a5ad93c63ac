//! A sheet in the smoother of one level, as data.

use crate::memory;
use crate::sparse::SparseFactor;

/// A sheet of a level.
#[derive(Clone, Debug, Default)]
pub struct Moving {
    /// Degrees of freedom.
    pub size: usize,
    /// M: (row, column, value), row ≥ column, sorted.
    pub mass: Vec<(u32, u32, f64)>,
    /// Per colour: (leaf, row · 4 + lane, degree of freedom, entry of C), by cells.
    pub cells: [Vec<(u32, u8, u32, f32)>; 2],
    /// (super-cell, degree of freedom, entry of C).
    pub supers: Vec<(u32, u32, f64)>,
    /// The factors of M + T of red, black and, if there are any, super-cells.
    pub carry: [SparseFactor; 3],
}

impl Moving {
    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let cells = self.cells.iter().map(memory::of).sum::<usize>();
        let factors = self.carry.iter().map(SparseFactor::bytes).sum::<usize>();
        memory::of(&self.mass) + cells + memory::of(&self.supers) + factors
    }
}
