//! A leaf with the layers of cells beyond its six faces, whatever topology the channel lives on.

use crate::grid::{Coord, FaceGrid, Grid, Topology, leaf};
use glam::IVec3;

/// Cells along one edge of a block: a leaf and one layer on either side.
const EDGE: usize = leaf::DIM + 2;

/// Values of a leaf and of the cells beyond its faces, background where no leaf is active.
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
    /// The block of a channel slice `[leaf][512]` around the leaf whose surroundings are given; leaves that
    /// are not active are filled with `absent(slot)`. Only the leaf and its six face neighbours are read:
    /// the block's edges and corners hold no values to rely on.
    pub(super) fn gather_with(
        values: &[T],
        around: &[u32; leaf::NEIGHBOURS],
        absent: impl Fn(usize) -> T,
    ) -> Self {
        let leaf_of = |slot: usize| -> Option<&[T; leaf::SIZE]> {
            let l = around[slot];
            if l == leaf::ABSENT { None } else { values[l as usize * leaf::SIZE..].first_chunk() }
        };
        let own = leaf_of(leaf::SELF_SLOT);
        let mut block = Self { values: [absent(leaf::SELF_SLOT); EDGE * EDGE * EDGE] };
        if let Some(own) = own {
            for (row, from) in own.as_chunks::<{ leaf::DIM }>().0.iter().enumerate() {
                let to = (row / 8 + 1) * STEP[0] + (row % 8 + 1) * STEP[1] + 1;
                block.values[to..to + leaf::DIM].copy_from_slice(from);
            }
        }
        for (side, &slot) in leaf::FACE_SLOTS.iter().enumerate() {
            let axis = side / 2;
            let (step, stride) = (STEP[axis], leaf::STRIDE[axis]);
            // The layer beyond the leaf, and the layer of the neighbour that lies there.
            let (to, from) = if side % 2 == 0 { (0, 7 * stride) } else { (9 * step, 0) };
            let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
            let (neighbour, outside) = match leaf_of(slot) {
                Some(values) => (Some(values), values[0]),
                None => (None, absent(slot)),
            };
            for i in 0..leaf::DIM {
                for j in 0..leaf::DIM {
                    let at = to + (i + 1) * STEP[a] + (j + 1) * STEP[b];
                    let n = from + i * leaf::STRIDE[a] + j * leaf::STRIDE[b];
                    block.values[at] = neighbour.map_or(outside, |v| v[n]);
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
