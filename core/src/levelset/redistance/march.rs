//! Computes distances outward from the interface, as a front of changing voxels.

use super::UNREACHED;
use super::upwind::{HALO, Row, upwind};
use crate::grid::morphology::{VoxelMask, bits_of};
use crate::grid::{Grid, Topology, leaf};
use rayon::prelude::*;

/// The z-rows of a leaf, `[x * 8 + y]`.
type Rows = [Row];
/// Those of a leaf that is missing.
const MISSING: &Rows = &[[UNREACHED; leaf::DIM]; leaf::SIZE / leaf::DIM];

/// Spreads the distances of the `fixed` voxels over the `active` leaves. Each pass visits only voxels whose stencil saw
/// a change in the pass before; the others would get the same value again. A change between two values beyond the band
/// is ignored, because only values beyond the band depend on it.
pub(super) fn march(distance: &mut Grid<f32>, fixed: &VoxelMask, active: &[bool], h: f32, band_voxels: f32) {
    let topology = distance.topology.clone();
    let steps = (3f32.sqrt() * band_voxels).ceil() as usize + 2;
    let (mut changed, mut reached) = (fixed.clone(), fixed.clone());
    let mut moved: Vec<bool> = (0..topology.len()).map(|l| *fixed.words(l) != [0; 8]).collect();
    let mut front: Vec<LeafStep> = Vec::with_capacity(active.iter().filter(|&&active| active).count());
    for _ in 0..steps {
        let beside = |neighbours: &[u32; leaf::NEIGHBOURS]| {
            let faces = leaf::FACE_SLOTS.iter().map(|&s| neighbours[s] as usize);
            faces.chain([neighbours[leaf::SELF_SLOT] as usize]).any(|m| moved.get(m) == Some(&true))
        };
        let leaves = (0..topology.len()).filter(|&l| active[l] && beside(&topology.neighbours()[l]));
        let mut count = 0;
        for l in leaves {
            match front.get_mut(count) {
                Some(step) => step.leaf = l,
                None => front.push(LeafStep::of(l)),
            }
            count += 1;
        }
        let front = &mut front[..count];
        front.par_iter_mut().with_min_len(4).for_each(|step| {
            let l = step.leaf;
            let (wide, beside) = (changed.beside(l, HALO as i32), reached.beside(l, 1));
            let stirred = std::array::from_fn(|x| wide[x] & beside[x] & !fixed.words(l)[x]);
            step.take(&stirred, &topology, &distance.values, h, band_voxels * h);
        });
        moved.iter_mut().enumerate().filter(|(_, moved)| **moved).for_each(|(l, moved)| {
            *changed.words_mut(l) = [0; 8];
            *moved = false;
        });
        for step in front.iter().filter(|step| step.changed != [0; 8]) {
            let l = step.leaf;
            step.write(&mut distance.values[l * leaf::SIZE..][..leaf::SIZE]);
            moved[l] = true;
            *changed.words_mut(l) = step.changed;
            reached.words_mut(l).iter_mut().zip(step.changed).for_each(|(reached, new)| *reached |= new);
        }
        if front.iter().all(|step| step.changed == [0; 8]) {
            return;
        }
    }
}

/// The result of one pass in a leaf.
struct LeafStep {
    leaf: usize,
    /// The voxels whose value changes.
    changed: [u64; 8],
    /// The new values, in rows where any voxel changes.
    rows: [Row; leaf::SIZE / leaf::DIM],
}

impl LeafStep {
    fn of(leaf: usize) -> Self {
        Self { leaf, changed: [0; 8], rows: [[0.0; leaf::DIM]; leaf::SIZE / leaf::DIM] }
    }

    /// Computes the values of the `stirred` voxels from those around them.
    fn take(&mut self, stirred: &[u64; 8], topology: &Topology, values: &[f32], h: f32, width: f32) {
        self.changed = [0; 8];
        if *stirred == [0; 8] {
            return;
        }
        let around = Around::new(topology, values, self.leaf);
        for (x, &slab) in stirred.iter().enumerate().filter(|(_, slab)| **slab != 0) {
            for y in (0..leaf::DIM).filter(|y| slab >> (8 * y) & 0xff != 0) {
                let own = &around.own[x * leaf::DIM + y];
                let new =
                    upwind(own, around.along_x(x, y), around.along_y(x, y), &around.along_z(x, y), h, width);
                let row = &mut self.rows[x * leaf::DIM + y];
                let (stirred, mut changed) = ((slab >> (8 * y)) as u8, [0u8; leaf::DIM]);
                for z in 0..leaf::DIM {
                    let counts = (new[z] != own[z]) & ((new[z].abs() < width) | (own[z].abs() < width));
                    let changes = counts & (stirred & 1 << z != 0);
                    row[z] = if changes { new[z] } else { own[z] };
                    changed[z] = u8::from(changes);
                }
                let changed = bits_of(changed);
                self.changed[x] |= changed << (8 * y);
            }
        }
    }

    /// Writes the new values into the leaf.
    fn write(&self, leaf: &mut [f32]) {
        let rows = leaf.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().zip(&self.rows);
        for (n, (row, new)) in rows.enumerate() {
            if self.changed[n / leaf::DIM] >> (8 * (n % leaf::DIM)) & 0xff != 0 {
                *row = *new;
            }
        }
    }
}

/// The rows of a leaf and of the leaves beside its faces, −x +x −y +y −z +z. Not [`Rows`](crate::grid::rows::Rows), whose
/// rows reach one voxel and are copies: the stencil reads eight rows around each, two voxels away, and copies of them made the
/// whole redistancing 1.4 times as long.
struct Around<'a> {
    own: &'a Rows,
    beside: [&'a Rows; 6],
}

impl<'a> Around<'a> {
    fn new(topology: &Topology, values: &'a [f32], l: usize) -> Self {
        let leaves = values.as_chunks::<{ leaf::SIZE }>().0;
        let neighbours = &topology.neighbours()[l];
        let rows = |m: u32| leaves.get(m as usize).map_or(MISSING, |leaf| leaf.as_chunks().0);
        Self { own: rows(l as u32), beside: leaf::FACE_SLOTS.map(|s| rows(neighbours[s])) }
    }

    /// The rows at two, one voxels before and one, two after along x.
    #[inline(always)]
    fn along_x(&self, x: usize, y: usize) -> [&Row; 4] {
        [x.wrapping_sub(2), x.wrapping_sub(1), x + 1, x + 2].map(|at| {
            let rows = if at < leaf::DIM { self.own } else { self.beside[usize::from(x > 3)] };
            &rows[at % leaf::DIM * leaf::DIM + y]
        })
    }

    /// The same along y.
    #[inline(always)]
    fn along_y(&self, x: usize, y: usize) -> [&Row; 4] {
        [y.wrapping_sub(2), y.wrapping_sub(1), y + 1, y + 2].map(|at| {
            let rows = if at < leaf::DIM { self.own } else { self.beside[2 + usize::from(y > 3)] };
            &rows[x * leaf::DIM + at % leaf::DIM]
        })
    }

    /// The row with two voxels more at either end.
    #[inline(always)]
    fn along_z(&self, x: usize, y: usize) -> [f32; leaf::DIM + 2 * HALO] {
        let n = x * leaf::DIM + y;
        let (below, own, above) = (&self.beside[4][n], &self.own[n], &self.beside[5][n]);
        let mut row = [0.0; leaf::DIM + 2 * HALO];
        row[..HALO].copy_from_slice(&below[leaf::DIM - HALO..]);
        row[HALO..HALO + leaf::DIM].copy_from_slice(own);
        row[HALO + leaf::DIM..].copy_from_slice(&above[..HALO]);
        row
    }
}

#[cfg(test)]
mod tests;
