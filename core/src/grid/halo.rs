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
    let h = halo as i32;
    let edge = leaf::DIM + 2 * halo;
    block.clear();
    block.resize(edge * edge * edge, outside);
    let neighbours = &topology.neighbours()[l];
    let mut rows = block.chunks_exact_mut(edge);
    for x in -h..8 + h {
        for y in -h..8 + h {
            let Some(row) = rows.next() else { return };
            let first = leaf::offset(x, y, 0);
            let there = |z: i32| match neighbours[leaf::slot(x >> 3, y >> 3, z)] {
                leaf::ABSENT => None,
                m => values[m as usize * leaf::SIZE + first..].first_chunk::<{ leaf::DIM }>(),
            };
            if let Some(below) = there(-1) {
                (0..halo).for_each(|z| row[z] = below[leaf::DIM - halo + z]);
            }
            if let Some(own) = there(0) {
                row[halo..halo + leaf::DIM].copy_from_slice(own);
            }
            if let Some(above) = there(1) {
                (0..halo).for_each(|z| row[halo + leaf::DIM + z] = above[z]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use glam::IVec3;
    use std::sync::Arc;

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
