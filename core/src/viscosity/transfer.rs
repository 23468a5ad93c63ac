//! Transfers values between a lattice of faces and one with twice the voxel size. [`Links`] says which fine leaves lie
//! in which coarse ones; [`restrict`] and [`prolong`] are each other's transpose except for the factor 8 of the voxels'
//! volumes.
//!
//! Coarse face I of an axis lies in the plane of fine face 2I and amid four of them; interpolation is linear along
//! all three axes [Trottenberg et al. 2001, §8.7].

use super::operator::{FACES, Operator};
use crate::grid::block::{self as blocks, DIM, SIZE};
use crate::grid::{Coord, Topology, leaf};
use rayon::prelude::*;

/// Coarse voxels along an edge of the part of a coarse leaf that a fine leaf covers.
pub(super) const HALF: usize = leaf::DIM / 2;
/// Voxels of that part.
pub(super) const OCTANT: usize = HALF * HALF * HALF;

/// Weights of the fine voxels 2I − 1, 2I, 2I + 1, 2I + 2 in coarse voxel I along one axis; they add up to 1.
pub(super) type Weights = [f32; 4];
/// Of what lies in the middle of coarse voxels, without interpolation.
pub(super) const MEAN: Weights = [0.0, 0.5, 0.5, 0.0];
/// Of what lies on their lower sides.
pub(super) const ON_SIDE: Weights = [0.25, 0.5, 0.25, 0.0];
/// Of what lies in the middle.
const AMID: Weights = [0.125, 0.375, 0.375, 0.125];

/// Which leaves of a fine lattice lie in which of a coarse one.
pub(super) struct Links {
    /// Per fine leaf: the coarse leaf, and where in it.
    parent: Vec<(usize, [usize; 3])>,
    /// Per coarse leaf: the fine leaf of each octant, or [`leaf::ABSENT`].
    pub(super) children: Vec<[u32; 8]>,
}

impl Links {
    /// Finds the leaves of the coarse lattice.
    pub(super) fn new(fine: &Topology) -> (Topology, Self) {
        let coarse = |origin: &Coord| -> Coord { *origin >> 1 };
        let topology = Topology::new(fine.origins().iter().map(|o| coarse(o) & !7).collect());
        let mut children = vec![[leaf::ABSENT; 8]; topology.len()];
        let mut parent = Vec::with_capacity(fine.len());
        for (l, origin) in fine.origins().iter().enumerate() {
            let at = coarse(origin);
            let octant = [at.x, at.y, at.z].map(|c| (c as usize & 7) / HALF);
            let above = topology.leaf_of(at).unwrap_or_default();
            if let Some(children) = children.get_mut(above) {
                children[octant[0] * 4 + octant[1] * 2 + octant[2]] = l as u32;
            }
            parent.push((above, octant));
        }
        (topology, Self { parent, children })
    }
}

/// Offset in a coarse leaf of voxel `n` of an octant.
pub(super) fn offset(octant: usize, n: usize) -> usize {
    let (o, v) = ([octant >> 2, octant >> 1 & 1, octant & 1], [n / 16, n / 4 % 4, n % 4]);
    let at: [i32; 3] = std::array::from_fn(|a| (o[a] * HALF + v[a]) as i32);
    leaf::offset(at[0], at[1], at[2])
}

/// Weighted sums over the block of a fine leaf: the coarse voxels of its octant.
pub(super) fn gather(block: &[f32; SIZE], weights: [Weights; 3]) -> [f32; OCTANT] {
    let mut x = [0.0; HALF * DIM * DIM];
    let mut y = [0.0; HALF * HALF * DIM];
    let mut z = [0.0; OCTANT];
    sum_rows(block, DIM * DIM, &weights[0], &mut x);
    sum_rows(&x, DIM, &weights[1], &mut y);
    sum_rows(&y, 1, &weights[2], &mut z);
    z
}

/// Values seen as `[rows][10][inner]` become `[rows][4][inner]`.
fn sum_rows(from: &[f32], inner: usize, w: &Weights, to: &mut [f32]) {
    for (from, to) in from.chunks_exact(DIM * inner).zip(to.chunks_exact_mut(HALF * inner)) {
        for (i, to) in to.chunks_exact_mut(inner).enumerate() {
            // Fine voxel −1 stands first in a block.
            let at = &from[2 * i * inner..][..4 * inner];
            for (n, to) in to.iter_mut().enumerate() {
                *to =
                    w[0] * at[n] + w[1] * at[inner + n] + w[2] * at[2 * inner + n] + w[3] * at[3 * inner + n];
            }
        }
    }
}

/// Weights of the faces of an axis.
pub(super) fn of_faces(axis: usize) -> [Weights; 3] {
    std::array::from_fn(|a| if a == axis { ON_SIDE } else { AMID })
}

/// `coarse` = Pᵀ `fine` / 8, for values `[leaf][3][512]` that are 0 on faces that are no unknowns.
pub(super) fn restrict(links: &Links, fine: &Operator, values: &[f32], coarse: &Operator, out: &mut [f32]) {
    out.par_chunks_mut(FACES).enumerate().for_each(|(l, out)| {
        out.fill(0.0);
        let mut block = [0.0; SIZE];
        for (octant, &child) in links.children[l].iter().enumerate().filter(|(_, c)| **c != leaf::ABSENT) {
            for axis in 0..3 {
                let around = &fine.around[child as usize];
                blocks::load(&mut block, &values[axis * leaf::SIZE..], around, 0.0);
                let unknown = &coarse.inverse_diagonal[l * FACES + axis * leaf::SIZE..];
                for (n, value) in gather(&block, of_faces(axis)).into_iter().enumerate() {
                    let to = offset(octant, n);
                    out[axis * leaf::SIZE + to] = if unknown[to] > 0.0 { value } else { 0.0 };
                }
            }
        }
    });
}

/// `fine` = P `coarse` on the unknowns, 0 elsewhere.
pub(super) fn prolong(links: &Links, coarse: &Operator, values: &[f32], fine: &Operator, out: &mut [f32]) {
    /// Coarse voxels around an octant, itself included, along an axis.
    const WIDE: usize = HALF + 2;
    out.par_chunks_mut(FACES).enumerate().for_each(|(l, out)| {
        let (above, octant) = links.parent[l];
        let mut block = [0.0; SIZE];
        let mut part = [0.0; WIDE * WIDE * WIDE];
        let mut x = [0.0; leaf::DIM * WIDE * WIDE];
        let mut y = [0.0; leaf::DIM * leaf::DIM * WIDE];
        for axis in 0..3 {
            blocks::load(&mut block, &values[axis * leaf::SIZE..], &coarse.around[above], 0.0);
            for (row, part) in part.chunks_exact_mut(WIDE).enumerate() {
                let at = [octant[0] * HALF + row / WIDE, octant[1] * HALF + row % WIDE];
                part.copy_from_slice(&block[(at[0] * DIM + at[1]) * DIM + octant[2] * HALF..][..WIDE]);
            }
            let out = &mut out[axis * leaf::SIZE..][..leaf::SIZE];
            spread_rows(&part, WIDE * WIDE, axis == 0, &mut x);
            spread_rows(&x, WIDE, axis == 1, &mut y);
            spread_rows(&y, 1, axis == 2, out);
            let unknown = &fine.inverse_diagonal[l * FACES + axis * leaf::SIZE..];
            out.iter_mut().zip(unknown).filter(|(_, u)| **u == 0.0).for_each(|(out, _)| *out = 0.0);
        }
    });
}

/// Values seen as `[rows][6][inner]` become `[rows][8][inner]`; `along` for faces of this axis.
fn spread_rows(from: &[f32], inner: usize, along: bool, to: &mut [f32]) {
    // Coarse voxels I − 1, I, I + 1 in fine voxels 2I and 2I + 1.
    let weights =
        if along { [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]] } else { [[0.25, 0.75, 0.0], [0.0, 0.75, 0.25]] };
    let rows = from.chunks_exact((HALF + 2) * inner).zip(to.chunks_exact_mut(leaf::DIM * inner));
    for (from, to) in rows {
        for (i, to) in to.chunks_exact_mut(inner).enumerate() {
            let (w, at) = (weights[i & 1], &from[i / 2 * inner..][..3 * inner]);
            for (n, to) in to.iter_mut().enumerate() {
                *to = w[0] * at[n] + w[1] * at[inner + n] + w[2] * at[2 * inner + n];
            }
        }
    }
}
