//! A leaf together with the voxels around it, as one dense block.

use super::{Topology, leaf};

/// Copies leaf `l` of a channel and `HALO` voxels around it (at most 8) into a dense block of edge
/// `8 + 2 HALO`, z fastest; voxels without a leaf read `outside`. Kernels with wide stencils run on the block
/// without asking where a neighbour lives.
pub fn gather<const HALO: usize, T: Copy>(
    topology: &Topology,
    values: &[T],
    l: usize,
    outside: T,
    block: &mut Vec<T>,
) {
    const { assert!(HALO <= leaf::DIM) }
    let edge = leaf::DIM + 2 * HALO;
    block.resize(edge * edge * edge, outside);
    copy::<HALO, T>(values, &topology.neighbours()[l], |_| outside, block);
}

/// Copies a leaf, whose row of the neighbour table is given, and `HALO` voxels around it; what a missing leaf holds
/// depends on its slot alone, and is asked for more than once.
#[inline(always)]
pub(super) fn copy<const HALO: usize, T: Copy>(
    values: &[T],
    neighbours: &[u32; leaf::NEIGHBOURS],
    missing: impl Fn(usize) -> T,
    block: &mut [T],
) {
    let h = HALO as i32;
    let leaves = values.as_chunks::<{ leaf::SIZE }>().0;
    let mut out = block.chunks_exact_mut(leaf::DIM + 2 * HALO);
    for x in -h..8 + h {
        for (dy, y0, y1) in [(-1, -h, 0), (0, 0, 8), (1, 8, 8 + h)] {
            let slots = [-1, 0, 1].map(|dz| leaf::slot(x >> 3, dy, dz));
            let fills = slots.map(|s| [missing(s); leaf::DIM]);
            // The rows of the three leaves along z; of a missing one, one row for all.
            let [below, own, above] = [0, 1, 2].map(|d| {
                let there = leaves.get(neighbours[slots[d]] as usize);
                there.map_or((std::slice::from_ref(&fills[d]), 0), |leaf| (leaf.as_chunks().0, usize::MAX))
            });
            for (y, row) in (y0..y1).zip(&mut out) {
                let at = leaf::offset(x, y, 0) / leaf::DIM;
                let of = |(rows, mask): (&[[T; leaf::DIM]], usize)| rows[at & mask];
                let (low, rest) = row.split_at_mut(HALO);
                low.copy_from_slice(&of(below)[leaf::DIM - HALO..]);
                rest[..leaf::DIM].copy_from_slice(&of(own));
                rest[leaf::DIM..].copy_from_slice(&of(above)[..HALO]);
            }
        }
    }
}

/// Position in a block gathered with `halo` of the voxel at leaf-local coordinates (each in −halo..8 + halo).
#[inline(always)]
pub const fn index(halo: usize, local: [i32; 3]) -> usize {
    let (h, edge) = (halo as i32, (leaf::DIM + 2 * halo) as i32);
    (((local[0] + h) * edge + local[1] + h) * edge + local[2] + h) as usize
}

/// Steps of one voxel along x, y, z in a block gathered with `halo`.
pub const fn strides(halo: usize) -> [usize; 3] {
    let edge = leaf::DIM + 2 * halo;
    [edge * edge, edge, 1]
}

/// Whether all values are the same.
pub fn is_constant(values: &[f32]) -> bool {
    let Some(&first) = values.first() else { return true };
    // Sixteen at a time, so that they are compared at once.
    let (chunks, rest) = values.as_chunks::<16>();
    let same = |values: &[f32]| values.iter().fold(true, |same, &value| same & (value == first));
    chunks.iter().all(|chunk| same(chunk)) && same(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use glam::IVec3;
    use std::sync::Arc;

    #[test]
    fn constant_is_without_an_exception() {
        let mut values = [0.5; 37];
        assert!(is_constant(&values) && is_constant(&[]));
        values[36] = 0.25;
        assert!(!is_constant(&values) && is_constant(&values[..36]));
    }

    fn holds_what_reach_finds<const HALO: usize>(grid: &Grid<i32>) {
        let (mut block, h) = (Vec::new(), HALO as i32);
        for l in 0..grid.topology.len() {
            gather::<HALO, _>(&grid.topology, &grid.values, l, -1, &mut block);
            for n in 0..block.len() as i32 {
                let e = 8 + 2 * h;
                let local = [n / (e * e) - h, n / e % e - h, n % e - h];
                assert_eq!(index(HALO, local), n as usize);
                assert_eq!(block[n as usize], grid.reach(l, local));
            }
        }
    }

    #[test]
    fn a_block_holds_what_reach_finds() {
        let topology =
            Topology::covering([IVec3::ZERO, IVec3::splat(8), IVec3::X * -1, IVec3::new(3, 8, -1)]);
        let grid = Grid::from_fn(Arc::new(topology), -1, |c| c.x * 10_000 + c.y * 100 + c.z);
        holds_what_reach_finds::<0>(&grid);
        holds_what_reach_finds::<1>(&grid);
        holds_what_reach_finds::<3>(&grid);
        holds_what_reach_finds::<8>(&grid);
    }
}
