//! Which coarse cell each cell and super-cell of a level goes to.

use crate::memory;

/// Where a super-cell of the fine level goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parent {
    /// It stays a super-cell, with this number.
    Super(u32),
    /// It has become smaller than a coarse cell and joins this one: (leaf, offset in leaf order).
    Cell(u32, u16),
}

/// The transfer between a fine level and its coarse level.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    /// Per coarse leaf: its eight fine leaves by octant (x << 2 | y << 1 | z); the fine void where absent.
    pub children: Vec<[u32; 8]>,
    /// Per fine leaf: its coarse leaf and octant.
    pub parents: Vec<(u32, u8)>,
    /// Per fine super-cell.
    pub supers: Vec<Parent>,
}

impl Aggregation {
    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        memory::of(&self.children) + memory::of(&self.parents) + memory::of(&self.supers)
    }
}
