//! Row-by-row access to a channel on a leaf and on the leaves beyond its faces, without copies.

use super::{Coord, FaceGrid, Grid, leaf};

/// A z-row of a leaf.
pub(crate) type Row<T> = [T; leaf::DIM];

/// Bit z: voxel z of the z-row n is in a leaf's set.
#[inline(always)]
pub(crate) fn row_of(set: &[u64; leaf::DIM], n: usize) -> u8 {
    (set[n / leaf::DIM] >> (leaf::DIM * (n % leaf::DIM))) as u8
}

/// `row` where its voxel is in a row of a set, else `other`.
#[inline(always)]
pub(crate) fn select<T: Copy>(set: u8, row: Row<T>, other: Row<T>) -> Row<T> {
    std::array::from_fn(|z| if set & 1 << z != 0 { row[z] } else { other[z] })
}

/// Where the cell behind face `k` (by axis, lower first) of a leaf's cell `n` lies: in the same leaf, or else in the one
/// beyond the face.
#[inline(always)]
pub(crate) const fn behind(n: usize, k: usize) -> Result<usize, usize> {
    let (stride, last) = (leaf::STRIDE[k / 2], leaf::DIM - 1);
    match ((n / stride) & last, k % 2 == 1) {
        (0, false) => Err(n + last * stride),
        (7, true) => Err(n - last * stride),
        (_, false) => Ok(n - stride),
        (_, true) => Ok(n + stride),
    }
}

/// A channel on a leaf and on the leaves beyond its faces, in place: for kernels that read it row by row.
pub(crate) struct Rows<'a, T> {
    /// Those beyond the faces, by axis, lower first, and the leaf itself.
    leaves: [Option<&'a [T; leaf::SIZE]>; 7],
    background: T,
}

/// Place of the leaf itself in [`Rows::leaves`].
const OWN: usize = 6;

impl<'a, T: Copy> Rows<'a, T> {
    /// The rows of a channel slice around the leaf whose surroundings are given.
    pub(crate) fn around(values: &'a [T], background: T, around: &[u32; leaf::NEIGHBOURS]) -> Self {
        let leaves = values.as_chunks().0;
        let of = |k: usize| leaf::FACE_SLOTS.get(k).copied().unwrap_or(leaf::SELF_SLOT);
        Self { leaves: std::array::from_fn(|k| leaves.get(around[of(k)] as usize)), background }
    }

    /// The rows of a grid around a leaf origin.
    pub(crate) fn of(grid: &'a Grid<T>, origin: Coord) -> Self {
        Self::around(&grid.values, grid.background, &grid.topology.surroundings(origin))
    }

    /// The rows of the components of a staggered field around a leaf origin.
    pub(crate) fn faces(field: &'a FaceGrid<T>, origin: Coord) -> [Self; 3] {
        let around = field.topology.surroundings(origin);
        field.values.each_ref().map(|values| Self::around(values, field.background, &around))
    }

    /// The value in voxel `n`.
    #[inline(always)]
    pub(crate) fn at(&self, n: usize) -> T {
        self.leaves[OWN].map_or(self.background, |leaf| leaf[n])
    }

    /// The value in the voxel behind face `k` of voxel `n`.
    #[inline(always)]
    pub(crate) fn at_behind(&self, n: usize, k: usize) -> T {
        match behind(n, k) {
            Ok(n) => self.at(n),
            Err(n) => self.leaves[k].map_or(self.background, |leaf| leaf[n]),
        }
    }

    /// Whether the leaf with the voxel behind face `k` of voxel `n` is stored.
    pub(crate) fn is_stored_behind(&self, n: usize, k: usize) -> bool {
        behind(n, k).is_ok() || self.leaves[k].is_some()
    }

    /// The z-row n.
    #[inline(always)]
    pub(crate) fn row(&self, n: usize) -> Row<T> {
        self.row_of(OWN, n)
    }

    #[inline(always)]
    fn row_of(&self, k: usize, n: usize) -> Row<T> {
        self.leaves[k].map_or([self.background; leaf::DIM], |leaf| leaf.as_chunks().0[n])
    }

    /// The voxels behind the faces `k` of the z-row n.
    #[inline(always)]
    pub(crate) fn row_behind(&self, n: usize, k: usize) -> Row<T> {
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
    use crate::grid::Topology;
    use crate::grid::block::{self, STRIDE, centre};
    use glam::IVec3;
    use std::sync::Arc;

    #[test]
    fn rows_hold_what_blocks_hold() {
        let corners = [IVec3::ZERO, IVec3::new(8, 0, 0), IVec3::new(0, -8, 0), IVec3::new(0, 0, 8)];
        let topology = Arc::new(Topology::covering(corners));
        let grid = Grid::from_fn(topology, -1, |c| c.x * 10_000 + c.y * 100 + c.z);
        for origin in [IVec3::ZERO, IVec3::new(8, 0, 0), IVec3::new(-8, 0, 0)] {
            let (block, rows) = (block::of(&grid, origin), Rows::of(&grid, origin));
            for n in 0..leaf::SIZE {
                assert_eq!(rows.at(n), block[centre(n)]);
                assert_eq!(rows.row(n / 8)[n % 8], block[centre(n)]);
                for k in 0..6 {
                    let step = STRIDE[k / 2];
                    let there = block[if k % 2 == 1 { centre(n) + step } else { centre(n) - step }];
                    assert_eq!(rows.at_behind(n, k), there, "{n} {k}");
                    assert_eq!(rows.row_behind(n / 8, k)[n % 8], there, "{n} {k}");
                }
            }
        }
    }
}
