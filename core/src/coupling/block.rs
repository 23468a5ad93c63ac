//! A leaf with one layer of its surroundings, whatever topology the channel lives on.

use crate::grid::{Coord, FaceGrid, Grid, Topology, leaf};
use glam::IVec3;

/// Cells along one edge of a block: a leaf and one layer on either side.
const EDGE: usize = leaf::DIM + 2;

/// Values of the 10³ cells around a leaf, background where no leaf is active.
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

/// Along one axis, what the leaf displaced by −1, 0, 1 gives to a block: (first local, first in block, count).
const SPAN: [(usize, usize, usize); 3] = [(leaf::DIM - 1, 0, 1), (0, 1, leaf::DIM), (0, leaf::DIM + 1, 1)];

impl<T: Copy> Block<T> {
    /// The block of a channel slice `[leaf][512]` around the leaf whose surroundings are given; leaves that
    /// are not active are filled with `absent(slot)`.
    pub(super) fn gather_with(
        values: &[T],
        around: &[u32; leaf::NEIGHBOURS],
        absent: impl Fn(usize) -> T,
    ) -> Self {
        let mut block = Self { values: [absent(leaf::SELF_SLOT); EDGE * EDGE * EDGE] };
        for (s, &l) in around.iter().enumerate() {
            let background = if l == leaf::ABSENT { Some(absent(s)) } else { None };
            let ((lx, bx, nx), (ly, by, ny), (lz, bz, nz)) = (SPAN[s / 9], SPAN[s / 3 % 3], SPAN[s % 3]);
            for x in 0..nx {
                for y in 0..ny {
                    let to = (bx + x) * STEP[0] + (by + y) * STEP[1] + bz;
                    let row = &mut block.values[to..to + nz];
                    match background {
                        Some(v) => row.fill(v),
                        None => {
                            let from = l as usize * leaf::SIZE + (lx + x) * 64 + (ly + y) * 8 + lz;
                            row.copy_from_slice(&values[from..from + nz]);
                        }
                    }
                }
            }
        }
        block
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
    std::array::from_fn(|axis| Block::gather(&field.values[axis], field.background, around))
}

/// The three components of a staggered field around a leaf origin.
pub(super) fn faces<T: Copy>(field: &FaceGrid<T>, origin: Coord) -> [Block<T>; 3] {
    faces_around(field, &surroundings(&field.topology, origin))
}
