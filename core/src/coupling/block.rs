//! A leaf with the layers of cells beyond its six faces, whatever topology the channel lives on.

use crate::grid::{Coord, FaceGrid, Grid, Topology, leaf};
use glam::IVec3;

/// Cells along one edge of a block: a leaf and one layer on either side.
const EDGE: usize = leaf::DIM + 2;

/// Values of a leaf and of the cells beyond its faces, background where no leaf is active.
#[derive(Clone, Copy)]
pub(super) struct Block<T> {
    values: [T; EDGE * EDGE * EDGE],
}

/// Offset steps inside a [`Block`] along x, y, z.
pub(super) const STEP: [usize; 3] = [EDGE * EDGE, EDGE, 1];

/// Position in a [`Block`] of the leaf's own voxel `n`.
#[inline(always)]
pub(super) const fn centre(n: usize) -> usize {
    let [x, y, z] = leaf::local(n);
    (x as usize + 1) * STEP[0] + (y as usize + 1) * STEP[1] + z as usize + 1
}

impl<T> std::ops::Index<usize> for Block<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.values[i]
    }
}

/// Leaf numbers, in a topology, of the 3×3×3 leaves around any leaf origin (active there or not).
pub(super) fn surroundings(topology: &Topology, origin: Coord) -> [u32; leaf::NEIGHBOURS] {
    match topology.leaf_of(origin) {
        Some(l) => topology.neighbours()[l],
        None => std::array::from_fn(|s| {
            let d = IVec3::new(s as i32 / 9 - 1, s as i32 / 3 % 3 - 1, s as i32 % 3 - 1);
            topology.leaf_of(origin + d * leaf::DIM as i32).map_or(leaf::ABSENT, |l| l as u32)
        }),
    }
}

impl<T: Copy> Block<T> {
    /// A block of one value.
    pub(super) fn all(value: T) -> Self {
        Self { values: [value; EDGE * EDGE * EDGE] }
    }

    /// The block of a channel slice `[leaf][512]` around the leaf whose surroundings are given; leaves that
    /// are not active are filled with `absent(slot)`. Only the leaf and its six face neighbours are read:
    /// the block's edges and corners hold no values to rely on.
    pub(super) fn gather_with(
        values: &[T],
        around: &[u32; leaf::NEIGHBOURS],
        absent: impl Fn(usize) -> T,
    ) -> Self {
        let mut block = Self { values: [absent(leaf::SELF_SLOT); EDGE * EDGE * EDGE] };
        block.fill(values, around, absent);
        block
    }

    /// Fills a block that holds what the leaf itself reads when it is not active.
    fn fill(&mut self, values: &[T], around: &[u32; leaf::NEIGHBOURS], absent: impl Fn(usize) -> T) {
        let leaf_of = |slot: usize| -> Option<&[T; leaf::SIZE]> {
            let l = around[slot];
            if l == leaf::ABSENT { None } else { values[l as usize * leaf::SIZE..].first_chunk() }
        };
        if let Some(own) = leaf_of(leaf::SELF_SLOT) {
            for (row, from) in own.as_chunks::<{ leaf::DIM }>().0.iter().enumerate() {
                let to = (row / 8 + 1) * STEP[0] + (row % 8 + 1) * STEP[1] + 1;
                self.values[to..to + leaf::DIM].copy_from_slice(from);
            }
        }
        for (side, &slot) in leaf::FACE_SLOTS.iter().enumerate() {
            let (axis, above) = (side / 2, side % 2 == 1);
            match leaf_of(slot) {
                Some(neighbour) => self.fill_layer(axis, above, neighbour),
                None => self.fill_layer(axis, above, &[absent(slot); leaf::SIZE]),
            }
        }
    }

    /// Fills the layer beyond one face from the leaf that lies there.
    fn fill_layer(&mut self, axis: usize, above: bool, neighbour: &[T; leaf::SIZE]) {
        let (layer, from) = if above { (EDGE - 1, 0) } else { (0, leaf::DIM - 1) };
        let (layer, from) = (layer * STEP[axis], from * leaf::STRIDE[axis]);
        if axis == 2 {
            for row in 0..leaf::DIM * leaf::DIM {
                let to = (row / leaf::DIM + 1) * STEP[0] + (row % leaf::DIM + 1) * STEP[1] + layer;
                self.values[to] = neighbour[row * leaf::DIM + from];
            }
        } else {
            for i in 0..leaf::DIM {
                let (from, to) = (from + i * leaf::STRIDE[1 - axis], layer + (i + 1) * STEP[1 - axis] + 1);
                self.values[to..to + leaf::DIM].copy_from_slice(&neighbour[from..from + leaf::DIM]);
            }
        }
    }

    /// The block of a channel slice, `background` where no leaf is active.
    pub(super) fn gather(values: &[T], background: T, around: &[u32; leaf::NEIGHBOURS]) -> Self {
        Self::gather_with(values, around, |_| background)
    }

    /// The block of a grid around a leaf origin.
    pub(super) fn of(grid: &Grid<T>, origin: Coord) -> Self {
        Self::gather(&grid.values, grid.background, &surroundings(&grid.topology, origin))
    }
}

/// The three components of a staggered field around a leaf with these surroundings.
pub(super) fn faces_around<T: Copy>(field: &FaceGrid<T>, around: &[u32; leaf::NEIGHBOURS]) -> [Block<T>; 3] {
    let mut blocks = [Block { values: [field.background; EDGE * EDGE * EDGE] }; 3];
    for (block, values) in blocks.iter_mut().zip(&field.values) {
        block.fill(values, around, |_| field.background);
    }
    blocks
}

/// The three components of a staggered field around a leaf origin.
pub(super) fn faces<T: Copy>(field: &FaceGrid<T>, origin: Coord) -> [Block<T>; 3] {
    faces_around(field, &surroundings(&field.topology, origin))
}

/// A z-row of a leaf.
pub(super) type Row<T> = [T; leaf::DIM];

/// Where the cell behind face `k` (by axis, lower first) of a leaf's cell `n` lies: in the same leaf, or else in the one
/// beyond the face.
#[inline(always)]
pub(super) const fn behind(n: usize, k: usize) -> Result<usize, usize> {
    let (stride, last) = (leaf::STRIDE[k / 2], leaf::DIM - 1);
    match ((n / stride) & last, k % 2 == 1) {
        (0, false) => Err(n + last * stride),
        (7, true) => Err(n - last * stride),
        (_, false) => Ok(n - stride),
        (_, true) => Ok(n + stride),
    }
}

/// A channel on a leaf and on those beyond its faces, where it lies: for kernels that take it row by row.
pub(super) struct Rows<'a, T> {
    /// Those beyond the faces, by axis, lower first, and the leaf itself.
    leaves: [Option<&'a [T; leaf::SIZE]>; 7],
    background: T,
}

/// Place of the leaf itself in [`Rows::leaves`].
const OWN: usize = 6;

impl<'a, T: Copy> Rows<'a, T> {
    /// The rows of a channel slice around the leaf whose surroundings are given.
    pub(super) fn around(values: &'a [T], background: T, around: &[u32; leaf::NEIGHBOURS]) -> Self {
        let leaves = values.as_chunks().0;
        let of = |k: usize| leaf::FACE_SLOTS.get(k).copied().unwrap_or(leaf::SELF_SLOT);
        Self { leaves: std::array::from_fn(|k| leaves.get(around[of(k)] as usize)), background }
    }

    /// The rows of a grid around a leaf origin.
    pub(super) fn of(grid: &'a Grid<T>, origin: Coord) -> Self {
        Self::around(&grid.values, grid.background, &surroundings(&grid.topology, origin))
    }

    /// The rows of the components of a staggered field around a leaf origin.
    pub(super) fn faces(field: &'a FaceGrid<T>, origin: Coord) -> [Self; 3] {
        let around = surroundings(&field.topology, origin);
        field.values.each_ref().map(|values| Self::around(values, field.background, &around))
    }

    /// The value in voxel `n`.
    #[inline(always)]
    pub(super) fn at(&self, n: usize) -> T {
        self.leaves[OWN].map_or(self.background, |leaf| leaf[n])
    }

    /// The value in the voxel behind face `k` of voxel `n`.
    #[inline(always)]
    pub(super) fn at_behind(&self, n: usize, k: usize) -> T {
        match behind(n, k) {
            Ok(n) => self.at(n),
            Err(n) => self.leaves[k].map_or(self.background, |leaf| leaf[n]),
        }
    }

    /// The z-row n.
    #[inline(always)]
    pub(super) fn row(&self, n: usize) -> Row<T> {
        self.row_of(OWN, n)
    }

    #[inline(always)]
    fn row_of(&self, k: usize, n: usize) -> Row<T> {
        self.leaves[k].map_or([self.background; leaf::DIM], |leaf| leaf.as_chunks().0[n])
    }

    /// The voxels behind the faces `k` of the z-row n.
    #[inline(always)]
    pub(super) fn row_behind(&self, n: usize, k: usize) -> Row<T> {
        const LAST: usize = leaf::DIM - 1;
        let (x, y, own) = (n / leaf::DIM, n % leaf::DIM, self.row(n));
        match k {
            0 if x > 0 => self.row(n - leaf::DIM),
            0 => self.row_of(0, n + LAST * leaf::DIM),
            1 if x < LAST => self.row(n + leaf::DIM),
            1 => self.row_of(1, n - LAST * leaf::DIM),
            2 if y > 0 => self.row(n - 1),
            2 => self.row_of(2, n + LAST),
            3 if y < LAST => self.row(n + 1),
            3 => self.row_of(3, n - LAST),
            4 => {
                let [a, b, c, d, e, f, g, _] = own;
                [
                    self.leaves[4].map_or(self.background, |leaf| leaf[n * leaf::DIM + LAST]),
                    a,
                    b,
                    c,
                    d,
                    e,
                    f,
                    g,
                ]
            }
            _ => {
                let [_, b, c, d, e, f, g, h] = own;
                [b, c, d, e, f, g, h, self.leaves[5].map_or(self.background, |leaf| leaf[n * leaf::DIM])]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn rows_hold_what_blocks_hold() {
        let corners = [IVec3::ZERO, IVec3::new(8, 0, 0), IVec3::new(0, -8, 0), IVec3::new(0, 0, 8)];
        let topology = Arc::new(Topology::covering(corners));
        let grid = Grid::from_fn(topology, -1, |c| c.x * 10_000 + c.y * 100 + c.z);
        for origin in [IVec3::ZERO, IVec3::new(8, 0, 0), IVec3::new(-8, 0, 0)] {
            let (block, rows) = (Block::of(&grid, origin), Rows::of(&grid, origin));
            for n in 0..leaf::SIZE {
                assert_eq!(rows.at(n), block[centre(n)]);
                assert_eq!(rows.row(n / 8)[n % 8], block[centre(n)]);
                for k in 0..6 {
                    let step = STEP[k / 2];
                    let there = block[if k % 2 == 1 { centre(n) + step } else { centre(n) - step }];
                    assert_eq!(rows.at_behind(n, k), there, "{n} {k}");
                    assert_eq!(rows.row_behind(n / 8, k)[n % 8], there, "{n} {k}");
                }
            }
        }
    }
}
