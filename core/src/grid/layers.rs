//! Extrapolates values, layer by layer, beyond the cells that have them.

use super::morphology::{VoxelMask, offsets};
use super::{Grid, halo, leaf};
use rayon::prelude::*;

/// Voxels around a leaf that the mean reads.
const HALO: usize = 1;
const STRIDES: [usize; 3] = halo::strides(HALO);
/// The 26 around the voxel one step on along each axis: steps and weights.
const AROUND: [(usize, f32); 26] = {
    let (mut around, mut n) = ([(0, 0.0); 26], 0);
    while n < 26 {
        let d = if n < 13 { n } else { n + 1 };
        let (x, y, z): (usize, usize, usize) = (d / 9, d / 3 % 3, d % 3);
        let squared = x.abs_diff(1) + y.abs_diff(1) + z.abs_diff(1);
        around[n] = (x * STRIDES[0] + y * STRIDES[1] + z, 1.0 / squared as f32);
        n += 1;
    }
    around
};
/// Marks a voxel without a value.
const NONE: f32 = f32::NAN;

/// Cells that take values only from some of those around them: per leaf the offset of each, ascending, and which of the
/// 27 around it, itself among them, count: bit 9x + 3y + z for the one at (x, y, z) − 1.
pub type Limited = [Vec<(usize, u32)>];

/// Gives the cells beyond `known`, layer by layer, the mean of those of the 26 cells around them that have a value,
/// weighted by 1/distance². `known` is a mask on the field's leaves, whose values there are finite.
pub fn carry_on(field: &mut Grid<f32>, known: VoxelMask, layers: usize) {
    carry_on_among(field, known, layers, &[]);
}

/// [`carry_on`] where the `limited` cells take their value only from some cells. Those of them that get none in this
/// way take the mean of all around in the end. No entries at all: nowhere limited.
pub fn carry_on_among(field: &mut Grid<f32>, mut known: VoxelMask, layers: usize, limited: &Limited) {
    const ALL: [u64; 8] = [u64::MAX; 8];
    let topology = field.topology.clone();
    if (0..topology.len()).all(|l| *known.words(l) == ALL) {
        return;
    }
    let mut values = vec![NONE; field.values.len()];
    let leaves = values.par_chunks_mut(leaf::SIZE).zip(field.values.par_chunks(leaf::SIZE));
    leaves.enumerate().with_min_len(8).for_each(|(l, (values, field))| match known.words(l) {
        &ALL => values.copy_from_slice(field),
        words => offsets(words).for_each(|n| values[n] = field[n]),
    });
    let limits = |l: usize| limited.get(l).map_or(&[][..], |limits| &limits[..]);
    let last = usize::from(limited.iter().any(|limits| !limits.is_empty()));
    for round in 0..layers + last {
        let is_last = round == layers;
        let layer = VoxelMask::from_words(topology.clone(), |l| match known.words(l) {
            &ALL => [0; 8],
            own => {
                let around = known.grown_in(l, false);
                let asked = if is_last { words_of_offsets(limits(l)) } else { ALL };
                std::array::from_fn(|x| around[x] & !own[x] & asked[x])
            }
        });
        let leaves: Vec<usize> = (0..topology.len()).filter(|&l| *layer.words(l) != [0; 8]).collect();
        let means = |block: &mut Vec<f32>, &l: &usize| {
            halo::gather(&topology, &values, l, HALO, NONE, block);
            let mut means = means(block, layer.words(l));
            if !is_last {
                limits(l).iter().for_each(|&(n, among)| means[n] = mean_among(block, n, among));
            }
            means
        };
        let means: Vec<[f32; leaf::SIZE]> =
            leaves.par_iter().with_min_len(4).map_init(Vec::new, means).collect();
        for (&l, means) in leaves.iter().zip(&means) {
            let mut found = *layer.words(l);
            for n in offsets(layer.words(l)) {
                if means[n].is_nan() {
                    found[n / 64] &= !(1 << (n % 64));
                    continue;
                }
                (values[l * leaf::SIZE + n], field.values[l * leaf::SIZE + n]) = (means[n], means[n]);
            }
            known.words_mut(l).iter_mut().zip(found).for_each(|(known, new)| *known |= new);
        }
    }
}

/// The set of some cells of a leaf.
fn words_of_offsets(cells: &[(usize, u32)]) -> [u64; 8] {
    let mut words = [0; 8];
    cells.iter().for_each(|&(n, _)| words[n / 64] |= 1 << (n % 64));
    words
}

/// The mean of those values around a leaf's voxel `n` that are `among` the 27 around it, weighted by 1/distance²;
/// [`NONE`] if there are none.
fn mean_among(block: &[f32], n: usize, among: u32) -> f32 {
    let [x, y, z] = leaf::local(n);
    let first = halo::index(HALO, [x - 1, y - 1, z - 1]);
    let (mut sum, mut weight) = (0.0, 0.0);
    for (k, (step, w)) in AROUND.into_iter().enumerate() {
        let bit = if k < 13 { k } else { k + 1 };
        let value = block[first + step];
        if among >> bit & 1 == 1 && !value.is_nan() {
            sum += w * value;
            weight += w;
        }
    }
    sum / weight
}

/// The means of the 26 values around the voxels of a leaf in a block, weighted by 1/distance²; values that are [`NONE`]
/// do not count. Computed a row at a time, for rows where a voxel is `wanted`.
fn means(block: &[f32], wanted: &[u64; 8]) -> [f32; leaf::SIZE] {
    let mut means = [NONE; leaf::SIZE];
    for (n, mean) in means.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
        let (x, y) = (n / leaf::DIM, n % leaf::DIM);
        if wanted[x] >> (8 * y) & 0xff == 0 {
            continue;
        }
        let first = x * STRIDES[0] + y * STRIDES[1];
        let (mut sum, mut weight) = ([0.0; leaf::DIM], [0.0; leaf::DIM]);
        for (step, w) in AROUND {
            let Some(row) = block[first + step..].first_chunk::<{ leaf::DIM }>() else { continue };
            for z in 0..leaf::DIM {
                let there = !row[z].is_nan();
                sum[z] += if there { w * row[z] } else { 0.0 };
                weight[z] += if there { w } else { 0.0 };
            }
        }
        (0..leaf::DIM).for_each(|z| mean[z] = sum[z] / weight[z]);
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use std::sync::Arc;

    /// The mean of those values around that exist.
    fn plain_mean(field: &Grid<f32>, known: &VoxelMask, c: Coord) -> f32 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for d in (0..27).filter(|&d| d != 13) {
            let d = Coord::new(d / 9, d / 3 % 3, d % 3) - 1;
            if field.topology.slot_of(c + d).is_some_and(|s| known.has(s)) {
                let w = 1.0 / d.length_squared() as f32;
                sum += w * field.get(c + d);
                weight += w;
            }
        }
        sum / weight
    }

    #[test]
    fn each_layer_is_the_mean_of_those_before() {
        let topology = Arc::new(Topology::covering([Coord::ZERO, Coord::X * 8, Coord::new(8, -1, 9)]));
        let key = |c: Coord| ((c.x * 7 + c.y * 13 + c.z * 29) % 17) as f32 * 0.3;
        let field = Grid::from_fn(topology.clone(), 0.0, key);
        let first = VoxelMask::from_fn(topology.clone(), |s| {
            let c = topology.coord(s);
            c.x + 2 * c.y < 5 && c.x != 3
        });
        let (mut plain, mut known) = (field.clone(), first.clone());
        for _ in 0..2 {
            let around = known.grown(false);
            let layer: Vec<usize> =
                (0..field.values.len()).filter(|&s| around.has(s) && !known.has(s)).collect();
            let before = plain.clone();
            layer.iter().for_each(|&s| plain.values[s] = plain_mean(&before, &known, topology.coord(s)));
            known = known.union(&VoxelMask::from_fn(topology.clone(), |s| layer.contains(&s)));
        }
        let mut carried = field.clone();
        carry_on(&mut carried, first, 2);
        assert_eq!(carried.values, plain.values);
        assert_ne!(carried.values, field.values);
    }
}
