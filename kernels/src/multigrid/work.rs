//! The vectors of one level in the cycle.

use super::block::Motion;
use super::level::Level;
use crate::checkerboard::Field;
use crate::memory;

/// The vectors of one level.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Correction of the cells.
    pub x: Field<f32>,
    /// Right side of the cells.
    pub b: Field<f32>,
    /// Correction of the super-cells.
    pub x_super: Vec<f64>,
    /// Right side of the super-cells.
    pub b_super: Vec<f64>,
    /// Per contact group: Σ c x.
    pub inflow: Vec<f64>,
    /// Per block of bodies.
    pub motions: Vec<Motion>,
    /// Per sheet.
    pub sheet_motions: Vec<Motion>,
}

impl Work {
    /// Sizes the vectors for a level; keeps old allocations.
    pub fn fit(&mut self, level: &Level) {
        crate::checkerboard::reset(&mut self.x, level.leaves());
        crate::checkerboard::reset(&mut self.b, level.leaves());
        for v in [&mut self.x_super, &mut self.b_super] {
            v.clear();
            v.resize(level.super_count(), 0.0);
        }
        self.inflow.clear();
        self.inflow.resize(level.contacts.groups.len(), 0.0);
        self.motions = level.blocks.list.iter().map(|block| Motion::of(block.size)).collect();
        self.sheet_motions = level.sheets.iter().map(|sheet| Motion::of(sheet.size)).collect();
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let vectors = [&self.x_super, &self.b_super, &self.inflow].map(memory::of);
        let motions = self.motions.iter().chain(&self.sheet_motions).map(Motion::bytes).sum::<usize>();
        memory::of_field(&self.x) + memory::of_field(&self.b) + vectors.iter().sum::<usize>() + motions
    }
}
