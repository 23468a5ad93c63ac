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

/// The z-rows with a voxel in a leaf's set.
pub(crate) fn rows_with(set: &[u64; leaf::DIM]) -> impl Iterator<Item = usize> {
    (0..leaf::SIZE / leaf::DIM).filter(|&n| row_of(set, n) != 0)
}

/// Puts the values of a set's rows into a leaf, where the voxels are in the set.
pub(crate) fn put_rows<T: Copy>(leaf: &mut [T], set: &[u64; leaf::DIM], rows: &[Row<T>]) {
    let all = leaf.as_chunks_mut().0;
    rows_with(set).zip(rows).for_each(|(n, row)| all[n] = select(row_of(set, n), *row, all[n]));
}

/// How many z-rows have a voxel in a leaf's set.
pub(crate) fn count_rows(set: &[u64; leaf::DIM]) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let in_slab = |word: u64| {
        // Bit 0 of each byte: whether any of its bits is set. What the next byte shifts in does not come down to it.
        let halves = word | word >> 4;
        let quarters = halves | halves >> 2;
        ((quarters | quarters >> 1) & LOW).count_ones() as usize
    };
    set.iter().map(|word| in_slab(*word)).sum()
}

/// Where pieces of these lengths begin behind each other, and where the last one ends.
pub(crate) fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// An array in pieces, one for each leaf, from `start[l]` to `start[l + 1]`: those that are not empty, with their leaf.
pub(crate) fn in_pieces<'a, T>(mut all: &'a mut [T], start: &[usize]) -> Vec<(usize, &'a mut [T])> {
    let mut pieces = Vec::with_capacity(start.len());
    for (l, ends) in start.windows(2).enumerate().filter(|(_, ends)| ends[0] != ends[1]) {
        let (piece, rest) = all.split_at_mut(ends[1] - ends[0]);
        pieces.push((l, piece));
        all = rest;
    }
    pieces
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
    fn rows_of_sets_lie_behind_each_other() {
        let sets = [[0; 8], [0x80_00_01_00_00_f0_0f_10, 0, 0, u64::MAX, 0, 1, 0, 1 << 63], [0; 8], [2; 8]];
        for set in &sets {
            assert_eq!(count_rows(set), (0..64).filter(|&n| row_of(set, n) != 0).count());
        }
        let start = starts(sets.iter().map(count_rows));
        assert_eq!(start, [0, 0, 15, 15, 23]);
        let mut all: Vec<Row<usize>> = (0..23).map(|n| [n; 8]).collect();
        let pieces = in_pieces(&mut all, &start);
        let found: Vec<_> = pieces.iter().map(|(l, piece)| (*l, piece[0][0], piece.len())).collect();
        assert_eq!(found, [(1, 0, 15), (3, 15, 8)]);
        let mut leaf = vec![usize::MAX; leaf::SIZE];
        put_rows(&mut leaf, &sets[3], pieces[1].1);
        for (n, value) in leaf.into_iter().enumerate() {
            assert_eq!(value, if n % 64 == 1 { 15 + n / 64 } else { usize::MAX });
        }
    }

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
