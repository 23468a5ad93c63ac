//! The highest pressure of the air near a leaf.

use super::Regions;
use crate::grid::morphology::offsets;
use crate::grid::{Coord, leaf};
use glam::IVec3;
use rayon::prelude::*;

impl Regions {
    /// Per leaf, the highest value `of` the air regions in its cells and behind its walls; −∞ where there are none.
    pub(crate) fn highest_in_leaves(&self, of: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let of_leaf = |l: usize| {
            let labels = &self.cells.values[l * leaf::SIZE..][..leaf::SIZE];
            let slots = l * leaf::SIZE..(l + 1) * leaf::SIZE;
            let first = self.parted.partition_point(|&(slot, _)| slot < slots.start);
            let behind = self.parted[first..].iter().take_while(|(slot, _)| *slot < slots.end);
            let mut seen = i32::MIN;
            let mut highest = f64::NEG_INFINITY;
            let own = offsets(self.air_cells.words(l)).map(|n| labels[n]);
            for label in own.chain(behind.map(|&(_, region)| region)) {
                if label != seen && label >= 0 {
                    highest = highest.max(of(label as usize));
                }
                seen = label;
            }
            highest
        };
        (0..self.cells.topology.len()).into_par_iter().map(of_leaf).collect()
    }

    /// The highest value `of` the air regions in a leaf and in those around it; `in_leaves` as [`Self::highest_in_leaves`]
    /// has found them.
    pub(crate) fn highest_around(&self, origin: Coord, in_leaves: &[f64], of: impl Fn(usize) -> f64) -> f64 {
        let value = |(s, &l): (usize, &u32)| match l {
            leaf::ABSENT => {
                let d = IVec3::from_array(leaf::displacement(s));
                let label = self.at_tile(origin + d * leaf::DIM as i32);
                usize::try_from(label).map_or(f64::NEG_INFINITY, &of)
            }
            l => in_leaves[l as usize],
        };
        let around = self.cells.topology.surroundings(origin);
        around.iter().enumerate().map(value).fold(f64::NEG_INFINITY, f64::max)
    }
}
