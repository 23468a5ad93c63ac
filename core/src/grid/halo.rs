//! A leaf together with the voxels around it, as one dense block.

use super::{Topology, leaf};

/// Copies leaf `l` of a channel and `halo` voxels around it (at most 8) into a dense block of edge
/// `8 + 2 halo`, z fastest; voxels without a leaf read `outside`. Kernels with wide stencils run on the block
/// without asking where a neighbour lives.
pub fn gather<T: Copy>(
    topology: &Topology,
    values: &[T],
    l: usize,
    halo: usize,
    outside: T,
    block: &mut Vec<T>,
) {
    let edge = leaf::DIM + 2 * halo;
    block.resize(edge * edge * edge, outside);
    copy(values, &topology.neighbours()[l], halo, |_| outside, block);
}

/// Copies a leaf, whose row of the neighbour table is given, and `halo` voxels around it; what a missing leaf holds
/// depends on its slot.
#[inline(always)]
pub(super) fn copy<T: Copy>(
    values: &[T],
    neighbours: &[u32; leaf::NEIGHBOURS],
    halo: usize,
    missing: impl Fn(usize) -> T,
    block: &mut [T],
) {
    const ROWS: usize = leaf::SIZE / leaf::DIM;
    let h = halo as i32;
    let edge = leaf::DIM + 2 * halo;
    let leaves = values.as_chunks::<{ leaf::SIZE }>().0;
    let rows = |s: usize| -> Option<&[[T; leaf::DIM]; ROWS]> {
        leaves.get(neighbours[s] as usize)?.as_chunks().0.first_chunk()
    };
    let mut out = block.chunks_exact_mut(edge);
    for x in -h..8 + h {
        for (dy, y0, y1) in [(-1, -h, 0), (0, 0, 8), (1, 8, 8 + h)] {
            let slots = [-1, 0, 1].map(|dz| leaf::slot(x >> 3, dy, dz));
            let [below, own, above] = slots.map(rows);
            for (y, row) in (y0..y1).zip(&mut out) {
                let at = leaf::offset(x, y, 0) / leaf::DIM;
                match below {
                    Some(below) => (0..halo).for_each(|z| row[z] = below[at][leaf::DIM - halo + z]),
                    None => row[..halo].fill(missing(slots[0])),
                }
                match own {
                    Some(own) => row[halo..halo + leaf::DIM].copy_from_slice(&own[at]),
                    None => row[halo..halo + leaf::DIM].fill(missing(slots[1])),
                }
                match above {
                    Some(above) => (0..halo).for_each(|z| row[halo + leaf::DIM + z] = above[at][z]),
                    None => row[halo + leaf::DIM..].fill(missing(slots[2])),
                }
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

    #[test]
    fn a_block_holds_what_reach_finds() {
        let topology =
            Topology::covering([IVec3::ZERO, IVec3::splat(8), IVec3::X * -1, IVec3::new(3, 8, -1)]);
        let topology = Arc::new(topology);
        let grid = Grid::from_fn(topology.clone(), -1, |c| c.x * 10_000 + c.y * 100 + c.z);
        let mut block = Vec::new();
        for l in 0..topology.len() {
            for halo in [0, 1, 3, 8] {
                gather(&topology, &grid.values, l, halo, -1, &mut block);
                let h = halo as i32;
                for n in 0..block.len() as i32 {
                    let e = 8 + 2 * h;
                    let local = [n / (e * e) - h, n / e % e - h, n % e - h];
                    assert_eq!(index(halo, local), n as usize);
                    assert_eq!(block[n as usize], grid.reach(l, local));
                }
            }
        }
    }
}
