//! Values carried on, layer by layer, beyond the cells that have them.

use super::morphology::{VoxelMask, offsets};
use super::{Grid, leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Gives the cells beyond `known`, layer by layer, the mean of the 26 around them that have a value, weighted by 1/distance².
/// `known` is a mask on the field's leaves.
pub fn carry_on(field: &mut Grid<f32>, mut known: VoxelMask, layers: usize) {
    let topology: Arc<_> = field.topology.clone();
    for _ in 0..layers {
        let around = known.grown(false);
        let layer = VoxelMask::from_words(topology.clone(), |l| {
            std::array::from_fn(|x| around.words(l)[x] & !known.words(l)[x])
        });
        let before = field.values.clone();
        let mean = |l: usize, n: usize| {
            let c = leaf::local(n);
            let (mut sum, mut weight) = (0.0, 0.0);
            for d in 0..27i32 {
                let d = [d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1];
                let there = topology.reach(l, [c[0] + d[0], c[1] + d[1], c[2] + d[2]]);
                if let Some(slot) = there.filter(|&s| known.has(s)) {
                    let w = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) as f32;
                    sum += w * before[slot];
                    weight += w;
                }
            }
            sum / weight
        };
        field.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
            offsets(layer.words(l)).for_each(|n| values[n] = mean(l, n));
        });
        known = known.union(&layer);
    }
}
