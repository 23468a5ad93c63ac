//! Sums over the quadratic B-spline around cell centres, of particles and of evenly filled cells.

use super::weights::Weights;
use crate::fluid::particles::Particles;
use crate::fluid::particles::cells::Cells;
use crate::grid::block;
use crate::grid::halo::is_constant;
use crate::grid::{Topology, Transform, leaf};
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

/// Σ_p w_p B(x − x_p) at cell centres, B the tensor product of quadratic B-splines.
pub(crate) struct Spread<'a> {
    topology: &'a Topology,
    /// Per leaf, the number of its block, or [`leaf::ABSENT`].
    place: Vec<u32>,
    blocks: Vec<Block>,
}

/// The sums that the particles of a leaf add to the leaf and the shell around it, and space for one value more, because
/// values are written in fours.
type Block = [f32; block::SIZE + 1];

impl<'a> Spread<'a> {
    /// The sum over the particles, each with the weight of its cell.
    pub fn new(particles: &Particles, cells: &'a Cells, transform: &Transform, weights: &Weights) -> Self {
        let topology = &*cells.topology;
        let frame = particles.frame(transform);
        let leaves: Vec<usize> = (0..topology.len()).filter(|&l| weights.any[l]).collect();
        let mut place = vec![leaf::ABSENT; topology.len()];
        (0..).zip(&leaves).for_each(|(n, &l)| place[l] = n);
        let of_leaf = |&l: &usize| {
            let mut block = [0.0; block::SIZE + 1];
            let origin = (topology.origins()[l] - frame.base).as_vec3();
            for (n, &weight) in weights.in_leaf(l).iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                let [x, y, z] = leaf::local(n);
                let centre = Vec3::new(x as f32, y as f32, z as f32);
                let first = block::index(x - 1, y - 1, z - 1);
                let slot = l * leaf::SIZE + n;
                let range = cells.range(slot);
                if weights.is_even(slot) {
                    add_evenly(&mut block, first, weight);
                } else if range.is_empty() || cells.is_full(slot) {
                    add(&mut block, first, [Vec3::ZERO], weight);
                } else {
                    let offset = |&x: &Vec3| frame.local(x) - origin - centre;
                    add(&mut block, first, particles.position[range].iter().map(offset), weight);
                }
            }
            block
        };
        Self { topology, place, blocks: leaves.par_iter().with_min_len(4).map(of_leaf).collect() }
    }

    /// Adds the sum in leaf `l` to `value`.
    pub fn add_to(&self, value: &mut [f32], l: usize) {
        for (s, &m) in self.topology.neighbours()[l].iter().enumerate() {
            let place = self.place.get(m as usize).map_or(leaf::ABSENT, |&place| place);
            let Some(block) = self.blocks.get(place as usize) else { continue };
            block::rows_covered_by(s, |own, there, n| {
                for z in 0..n {
                    value[own + z] += block[there + z];
                }
            });
        }
    }
}

/// Adds a weight at each offset (its components in −½..½, voxels) from the centre of the cell in the middle of the 3³ cells
/// that start at block index `first`.
#[inline(always)]
fn add(block: &mut Block, first: usize, offsets: impl IntoIterator<Item = Vec3>, weight: f32) {
    const ROWS: [usize; 9] = {
        let [x, y, _] = block::STRIDE;
        [0, y, 2 * y, x, x + y, x + 2 * y, 2 * x, 2 * x + y, 2 * x + 2 * y]
    };
    let Some(window) = block[first..].first_chunk_mut::<{ ROWS[8] + 4 }>() else { return };
    // Rows of three and the value beyond, to which nothing is added; in registers for all the particles of a cell.
    let mut sums = [Vec4::ZERO; 9];
    for (sum, row) in sums.iter_mut().zip(ROWS) {
        *sum = Vec4::from_slice(&window[row..]);
    }
    for d in offsets {
        let d = d.extend(0.0);
        let below = 0.5 * (0.5 - d) * (0.5 - d);
        let above = 0.5 * (0.5 + d) * (0.5 + d);
        let middle = 1.0 - below - above;
        let Mat4 { x_axis, y_axis: y, z_axis: z, .. } =
            Mat4::from_cols(below, middle, above, Vec4::ZERO).transpose();
        let x = x_axis * weight;
        for (i, x) in [x.xxxx(), x.yyyy(), x.zzzz()].into_iter().enumerate() {
            let xy = x * y;
            sums[3 * i] += xy.xxxx() * z;
            sums[3 * i + 1] += xy.yyyy() * z;
            sums[3 * i + 2] += xy.zzzz() * z;
        }
    }
    for (sum, row) in sums.iter().zip(ROWS) {
        sum.write_to_slice(&mut window[row..]);
    }
}

/// The integrals of B over a neighbour of a cell and the cell itself.
const SHARE: [f32; 2] = [1.0 / 6.0, 4.0 / 6.0];

/// Adds a weight spread evenly over the cell in the middle of the 3³ cells that start at block index `first`.
#[inline]
fn add_evenly(block: &mut Block, first: usize, weight: f32) {
    let share = |d: usize| SHARE[usize::from(d == 1)];
    for n in 0..27 {
        let [x, y, z] = [n / 9, n / 3 % 3, n % 3];
        let there = first + x * block::STRIDE[0] + y * block::STRIDE[1] + z;
        block[there] += weight * share(x) * share(y) * share(z);
    }
}

/// The same sum for evenly filled cells: `content` each, `beyond` where there is no leaf.
pub(crate) fn spread_cells(topology: &Topology, content: &[f32], beyond: f32) -> Vec<f32> {
    let mut sum = vec![0.0f32; content.len()];
    sum.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).for_each(|(l, sum)| {
        let mut block = [0.0; block::SIZE];
        block::load(&mut block, content, &topology.neighbours()[l], beyond);
        spread_block(&block, sum);
    });
    sum
}

/// The sum over evenly filled cells in the leaf of a block; and whether all are filled to the same level.
pub(crate) fn spread_block(block: &[f32; block::SIZE], sum: &mut [f32]) -> bool {
    const PLANE: usize = block::STRIDE[0];
    if is_constant(block) {
        sum.fill(block[0]);
        return true;
    }
    let three = |below: f32, own: f32, above: f32| SHARE[0] * (below + above) + SHARE[1] * own;
    for (x, sum) in sum.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let [below, own, above] = [0, 1, 2].map(|d| &block[(x + d) * PLANE..][..PLANE]);
        let mut along_x = [0.0; PLANE];
        (0..PLANE).for_each(|n| along_x[n] = three(below[n], own[n], above[n]));
        let mut along_y = [0.0; leaf::DIM * block::DIM];
        for n in 0..along_y.len() {
            along_y[n] = three(along_x[n], along_x[n + block::DIM], along_x[n + 2 * block::DIM]);
        }
        for (sum, row) in
            sum.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().zip(along_y.as_chunks::<{ block::DIM }>().0)
        {
            (0..leaf::DIM).for_each(|z| sum[z] = three(row[z], row[z + 1], row[z + 2]));
        }
    }
    false
}

#[cfg(test)]
mod tests;
