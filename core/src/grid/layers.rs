//! Values carried on, layer by layer, beyond the cells that have them.

use super::morphology::{VoxelMask, offsets};
use super::{Grid, halo, leaf};
use rayon::prelude::*;

/// Voxels around a leaf that the mean reads.
const HALO: usize = 1;
const STRIDES: [usize; 3] = halo::strides(HALO);
/// Stands for no value.
const NONE: f32 = f32::NAN;

/// Gives the cells beyond `known`, layer by layer, the mean of the 26 around them that have a value, weighted by 1/distance².
/// `known` is a mask on the field's leaves, whose values there are numbers.
pub fn carry_on(field: &mut Grid<f32>, mut known: VoxelMask, layers: usize) {
    let topology = field.topology.clone();
    let value = |(slot, &value): (usize, &f32)| if known.has(slot) { value } else { NONE };
    let mut values: Vec<f32> = field.values.par_iter().enumerate().with_min_len(4096).map(value).collect();
    for _ in 0..layers {
        let around = known.grown(false);
        let layer = VoxelMask::from_words(topology.clone(), |l| {
            std::array::from_fn(|x| around.words(l)[x] & !known.words(l)[x])
        });
        let means = |block: &mut Vec<f32>, l: usize| -> Vec<f32> {
            if *layer.words(l) == [0; 8] {
                return Vec::new();
            }
            halo::gather(&topology, &values, l, HALO, NONE, block);
            offsets(layer.words(l)).map(|n| mean(block, halo::index(HALO, leaf::local(n)))).collect()
        };
        let means: Vec<Vec<f32>> = (0..topology.len()).into_par_iter().map_init(Vec::new, means).collect();
        let leaves = values.par_chunks_mut(leaf::SIZE).zip(field.values.par_chunks_mut(leaf::SIZE));
        leaves.zip(means).enumerate().for_each(|(l, ((values, out), means))| {
            for (n, mean) in offsets(layer.words(l)).zip(means) {
                (values[n], out[n]) = (mean, mean);
            }
        });
        known = known.union(&layer);
    }
}

/// The mean of the 26 values around one of a block, weighted by 1/distance²; of those that are [`NONE`], nothing.
fn mean(block: &[f32], at: usize) -> f32 {
    let first = at - STRIDES.iter().sum::<usize>();
    let (mut sum, mut weight) = (0.0, 0.0);
    for d in 0..27 {
        let [x, y, z] = [d / 9, d / 3 % 3, d % 3];
        let value = block[first + x * STRIDES[0] + y * STRIDES[1] + z];
        let squared = x.abs_diff(1) + y.abs_diff(1) + z.abs_diff(1);
        if !value.is_nan() {
            let w = 1.0 / squared as f32;
            sum += w * value;
            weight += w;
        }
    }
    sum / weight
}
