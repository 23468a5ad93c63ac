//! The multigrid hierarchy as plain data, for a device that runs the cycle itself.

use super::{Aggregation, COARSEST_SWEEPS, Level, Multigrid};
use crate::dense::Cholesky;

/// Everything that the cycle reads.
pub struct Parts<'a> {
    /// Finest first.
    pub levels: &'a [Level],
    /// The transfer between each level and the next coarser one.
    pub maps: &'a [Aggregation],
    /// Sweeps on each level before and after the coarse correction; on the last, those that replace a direct solve.
    pub sweeps: Vec<usize>,
    /// Visits to the next level in one visit to each.
    pub visits: Vec<usize>,
    /// (colour, leaf, row, lane) of the last level's unknown cells; its super-cells follow in the factor.
    pub coarsest_cells: &'a [(usize, usize, usize, usize)],
    /// Factor of the last level's matrix, unless it is too large.
    pub factor: Option<&'a Cholesky>,
}

impl Multigrid {
    /// The hierarchy in memory.
    pub fn parts(&self) -> Parts<'_> {
        let last = self.levels.len().saturating_sub(1);
        let sweeps = |l| if l == last { COARSEST_SWEEPS } else { self.cycle.sweeps_on(l) };
        Parts {
            levels: &self.levels,
            maps: &self.maps,
            sweeps: (0..self.levels.len()).map(sweeps).collect(),
            visits: (0..self.levels.len()).map(|l| self.visits_from(l)).collect(),
            coarsest_cells: &self.coarsest.cells,
            factor: self.coarsest.factor.as_ref(),
        }
    }
}
