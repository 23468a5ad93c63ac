//! The fraction of a cell, a face's cube or an edge's cube that is liquid and not solid.
//!
//! The liquid's level set continues into solids, so its fraction and the open fraction are measured separately and
//! multiplied. This is exact where the surface meets a wall at a right angle; clipping with both level sets at once is
//! not.
//!
//! All of them are cubes of the lattice of half steps: index q stands for q/2 voxels, so cell i is centred at 2i, its
//! lower node at 2i − 1, and a cube centred at q has its corners at q ± 1.

use crate::grid::{Grid, Topology, halo, leaf};
use crate::levelset::fractions::cell_inside;

/// Voxels around a leaf that its blocks hold.
pub(super) const HALO: usize = 1;
/// First half step of a leaf that is a corner of one of its cubes.
const FIRST: i32 = -2;
/// Half steps along an axis: −2 ..= 15.
const EDGE: usize = 18;
/// Voxels along an axis of a block.
const VOXELS: usize = leaf::DIM + 2 * HALO;

/// φ at every half step of a leaf, linear in between.
#[derive(Default)]
pub(super) struct HalfSteps {
    /// φ of the liquid.
    liquid: Vec<f32>,
    /// φ of the solids; only where `near_solid`.
    solid: Vec<f32>,
    near_solid: bool,
    scratch: [Vec<f32>; 2],
}

/// The two lattice points, offset from voxel q/2, that a half step lies between (twice the same where it is one).
#[inline(always)]
fn between(q: i32, nodes: bool) -> [i32; 2] {
    match (nodes, q & 1 == 0) {
        (false, true) => [q >> 1; 2],
        (false, false) => [(q - 1) >> 1, (q + 1) >> 1],
        (true, true) => [q >> 1, (q >> 1) + 1],
        (true, false) => [(q + 1) >> 1; 2],
    }
}

/// Means at the half steps of one axis: values seen as `[rows][10][inner]` become `[rows][18][inner]`.
fn refine(from: &[f32], inner: usize, nodes: bool, to: &mut Vec<f32>) {
    to.clear();
    for row in from.chunks_exact(VOXELS * inner) {
        for q in 0..EDGE as i32 {
            let [a, b] =
                between(q + FIRST, nodes).map(|i| &row[(i + HALO as i32) as usize * inner..][..inner]);
            to.extend(a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)));
        }
    }
}

/// Whether liquid can reach a half step that is no node: through its face, through a face of its cell or, in the middle
/// of an edge, through all faces around.
fn is_open(q: [i32; 3], open: &[Vec<f32>; 3]) -> bool {
    let voxel = q.map(|q| (q + 1) >> 1);
    let passes = |axis: usize, at: [i32; 3]| open[axis][halo::index(HALO, at)] > 0.0;
    let next = |axis: usize, by: i32| {
        let mut at = voxel;
        at[axis] += by;
        at
    };
    let even: Vec<usize> = (0..3).filter(|&axis| q[axis] & 1 == 0).collect();
    match even[..] {
        [_, _, _] => (0..3).any(|axis| passes(axis, voxel) || passes(axis, next(axis, 1))),
        [a, b] => passes(3 - a - b, voxel),
        [along] => {
            let [b, c] = [(along + 1) % 3, (along + 2) % 3];
            passes(b, voxel) && passes(b, next(c, -1)) && passes(c, voxel) && passes(c, next(b, -1))
        }
        _ => false,
    }
}

impl HalfSteps {
    /// Reads the blocks of a leaf, gathered with [`HALO`] voxels around: φ of the liquid at cells, of solids at nodes, and the
    /// open fraction of faces. Voxels are `h` metres wide.
    pub(super) fn load(&mut self, liquid: &[f32], solid: &[f32], open: &[Vec<f32>; 3], h: f32) {
        let [a, b] = &mut self.scratch;
        let mut at_half_steps = |block: &[f32], nodes: bool, out: &mut Vec<f32>| {
            refine(block, VOXELS * VOXELS, nodes, a);
            refine(a, VOXELS, nodes, b);
            refine(b, 1, nodes, out);
        };
        at_half_steps(liquid, false, &mut self.liquid);
        self.near_solid = solid.iter().any(|&s| s <= 0.0);
        if self.near_solid {
            at_half_steps(solid, true, &mut self.solid);
            self.find_gaps(open, 0.5 * h);
        }
    }

    /// Half steps in a gap one voxel wide whose walls lie in the planes of nodes. All nodes around are 0 there, and so
    /// is their mean, so the faces decide: where those are open, φ is `half` a voxel.
    fn find_gaps(&mut self, open: &[Vec<f32>; 3], half: f32) {
        let steps = || FIRST..FIRST + EDGE as i32;
        for x in steps() {
            for y in steps() {
                for z in steps() {
                    let q = [x, y, z];
                    if self.solid[Self::index(q)] == 0.0 && self.amid_zeros(q) && is_open(q, open) {
                        self.solid[Self::index(q)] = half;
                    }
                }
            }
        }
    }

    /// Whether a half step that is no node lies between nodes that are all 0, as far as the block reaches.
    fn amid_zeros(&self, q: [i32; 3]) -> bool {
        let is_node = |q: [i32; 3]| q.iter().all(|q| q & 1 != 0);
        let corner = |n: usize| -> [i32; 3] {
            std::array::from_fn(|axis| {
                q[axis] + if q[axis] & 1 == 0 { 2 * (n as i32 >> axis & 1) - 1 } else { 0 }
            })
        };
        let reaches = |q: &[i32; 3]| q.iter().all(|&q| q >= FIRST);
        !is_node(q) && (0..8).map(corner).filter(reaches).all(|q| self.solid[Self::index(q)] == 0.0)
    }

    #[inline(always)]
    fn index(q: [i32; 3]) -> usize {
        let [x, y, z] = q.map(|q| (q - FIRST) as usize);
        (x * EDGE + y) * EDGE + z
    }

    /// Fraction of the voxel-sized cube centred at a half step that is liquid and not solid.
    #[inline]
    pub(super) fn fraction(&self, q: [i32; 3]) -> f32 {
        let first = Self::index(q.map(|q| q - 1));
        let inside = |phi: &[f32]| {
            let corner = |n: usize| 2 * ((n & 1) * EDGE * EDGE + (n >> 1 & 1) * EDGE + (n >> 2));
            cell_inside(std::array::from_fn(|n| phi[first + corner(n)]))
        };
        let liquid = inside(&self.liquid);
        if liquid <= 0.0 || !self.near_solid {
            return liquid;
        }
        // In a gap one voxel wide, all corners may lie in its walls.
        let fills_gap = self.solid(q) > 0.0
            && (0..8).all(|n| {
                self.solid[first + 2 * ((n & 1) * EDGE * EDGE + (n >> 1 & 1) * EDGE + (n >> 2))] == 0.0
            });
        if fills_gap { liquid } else { liquid * (1.0 - inside(&self.solid)) }
    }

    /// φ of the solids at a half step; 1 far from them.
    #[inline]
    pub(super) fn solid(&self, q: [i32; 3]) -> f32 {
        if self.near_solid { self.solid[Self::index(q)] } else { 1.0 }
    }
}

/// Leaves with liquid, or within reach of it.
pub(super) fn leaves(surface: &Grid<f32>, h: f32) -> Topology {
    /// Distance, voxels, from which no cube around a voxel can hold liquid.
    const REACH: f32 = 2.0;
    let wet = |l: &usize| surface.values[l * leaf::SIZE..][..leaf::SIZE].iter().any(|&p| p < REACH * h);
    let origins = surface.topology.origins();
    Topology::new((0..origins.len()).filter(wet).map(|l| origins[l]).collect())
}
