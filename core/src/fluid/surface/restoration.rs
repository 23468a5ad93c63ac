//! Restores the volume of sheets and gaps thinner than the smoothing kernel, which smoothing removes from the level
//! set.

use super::fraction::Fraction;
use crate::grid::block;
use crate::grid::morphology::{VoxelMask, offsets, words_of};
use crate::grid::{Grid, leaf};
use crate::levelset::fractions::cell_inside;
use rayon::prelude::*;

/// Rounds of correction.
const ROUNDS: usize = 2;
/// Slope of a flat surface's smoothed fraction at the surface, per voxel: the quadratic B-spline at 0.
const SLOPE: f32 = 0.75;
/// Largest difference between the fraction measured in a flat surface's cells and the smoothed fraction that it was
/// made of: at one voxel from it, 1/12 − 1/48. Where the two agree up to this, the surface is flat and is left alone.
const FLAT: f32 = 1.0 / 16.0;

/// Moves the level set (voxels) wherever it holds less or more liquid than `fraction`, by the distance that would
/// correct it on a flat surface. This is one step of a deconvolution [van Cittert 1931], done twice.
///
/// Sheets thinner than a voxel and narrow gaps keep their volume in this way, as far as a grid can resolve them. A
/// surface that is flat over the kernel's width does not move at all.
pub(crate) fn restore(distance: &mut Grid<f32>, fraction: &Fraction, reach: f32) {
    let topology = distance.topology.clone();
    let is_liquid = |d: f32| d < 0.0;
    let liquid = VoxelMask::of_values(topology.clone(), &distance.values, is_liquid);
    let air = VoxelMask::from_words(topology.clone(), |l| liquid.words(l).map(|word| !word));
    let beyond = is_liquid(distance.background);
    // Away from the surface a cell has the value of its centre, and in solids no fraction is asked for.
    let mut stale = VoxelMask::from_words(topology.clone(), |l| {
        let beside_liquid = liquid.grown_in(l, beyond);
        if beside_liquid == [0; 8] {
            return beside_liquid;
        }
        let (beside_air, open) = (air.grown_in(l, !beyond), fraction.with_room(l));
        std::array::from_fn(|x| beside_liquid[x] & beside_air[x] & open[x])
    });
    let mut inside: Vec<f32> =
        distance.values.par_iter().with_min_len(4096).map(|&d| f32::from(is_liquid(d))).collect();
    let mut moved = VoxelMask::from_words(topology.clone(), |_| [u64::MAX; 8]);
    for round in 1..=ROUNDS {
        measure_cells(distance, &stale, &mut inside);
        // Only the fractions beside stale cells have changed; cells that moved before may move again.
        let is_still = |l: usize| {
            let around = topology.neighbours()[l].iter().filter(|&&m| m != leaf::ABSENT);
            *moved.words(l) == [0; 8] && around.clone().all(|&m| *stale.words(m as usize) == [0; 8])
        };
        let leaves = distance.values.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8);
        let words = leaves.map(|(l, distance)| match is_still(l) {
            true => [0; 8],
            false => correct(distance, &fraction.of_cells(&topology, &inside, l), fraction, l, reach),
        });
        moved = VoxelMask::of_words(topology.clone(), words.collect());
        if round < ROUNDS {
            stale = VoxelMask::from_words(topology.clone(), |l| {
                let (around, open) = (moved.grown_in(l, false), fraction.with_room(l));
                std::array::from_fn(|x| around[x] & open[x])
            });
        }
    }
}

/// Moves the level set in leaf `l` by the excess or lack of liquid in its cells; returns the voxels that moved.
fn correct(distance: &mut [f32], held: &[f32], fraction: &Fraction, l: usize, reach: f32) -> [u64; 8] {
    let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
    let (value, known) = (&fraction.value[own.clone()], &fraction.known[own]);
    let mut moved = [false; leaf::SIZE];
    for (n, distance) in distance.iter_mut().enumerate().take(leaf::SIZE) {
        let excess = held[n] - value[n];
        moved[n] = known[n] & (excess.abs() > FLAT);
        let to = (*distance + (excess - FLAT.copysign(excess)) / SLOPE).clamp(-reach, reach);
        *distance = if moved[n] { to } else { *distance };
    }
    words_of(&moved, |moved| moved)
}

/// Fraction inside the level set, interpolated trilinearly, of the `stale` cells: the mean of their eight octants.
fn measure_cells(distance: &Grid<f32>, stale: &VoxelMask, inside: &mut [f32]) {
    let topology = &distance.topology;
    inside.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).for_each(|(l, inside)| {
        if *stale.words(l) == [0; 8] {
            return;
        }
        let mut block = [0.0; block::SIZE];
        block::load(&mut block, &distance.values, &topology.neighbours()[l], distance.background);
        for n in offsets(stale.words(l)) {
            let c = leaf::local(n);
            inside[n] = cell(&block, block::index(c[0] - 1, c[1] - 1, c[2] - 1));
        }
    });
}

/// Fraction of the cell in the middle of the 3³ centres that start at `first`.
fn cell(block: &[f32; block::SIZE], first: usize) -> f32 {
    let [sx, sy, _] = block::STRIDE;
    let mut points = [[[0.0f32; 3]; 3]; 3];
    let (mut any, mut all) = (false, true);
    for (x, plane) in points.iter_mut().enumerate() {
        for (y, row) in plane.iter_mut().enumerate() {
            row.copy_from_slice(&block[first + x * sx + y * sy..][..3]);
            any |= row.iter().any(|&d| d < 0.0);
            all &= row.iter().all(|&d| d < 0.0);
        }
    }
    if !any || all {
        return f32::from(all);
    }
    // From centres −1, 0, 1 to the ends and the middle of the cell, axis after axis.
    let halves = |[a, b, c]: [f32; 3]| [0.5 * (a + b), b, 0.5 * (b + c)];
    for plane in &mut points {
        plane.iter_mut().for_each(|row| *row = halves(*row));
        for z in 0..3 {
            let along = halves([plane[0][z], plane[1][z], plane[2][z]]);
            (0..3).for_each(|y| plane[y][z] = along[y]);
        }
    }
    for y in 0..3 {
        for z in 0..3 {
            let along = halves([points[0][y][z], points[1][y][z], points[2][y][z]]);
            (0..3).for_each(|x| points[x][y][z] = along[x]);
        }
    }
    let octant = |o: usize| {
        let (x, y, z) = (o & 1, o >> 1 & 1, o >> 2);
        cell_inside(std::array::from_fn(|n| points[x + (n & 1)][y + (n >> 1 & 1)][z + (n >> 2)]))
    };
    (0..8).map(octant).sum::<f32>() / 8.0
}
