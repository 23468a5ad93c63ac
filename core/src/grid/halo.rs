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
    block.reserve(edge * edge * edge);
    let neighbours = &topology.neighbours()[l];
    for x in -h..8 + h {
        for y in -h..8 + h {
            for (dz, first, count) in [(-1, 8 - h, halo), (0, 0, 8), (1, 0, halo)] {
                match neighbours[leaf::slot(x >> 3, y >> 3, dz)] {
                    leaf::ABSENT => block.extend(std::iter::repeat_n(outside, count)),
                    m => {
                        let start = m as usize * leaf::SIZE + leaf::offset(x, y, first);
                        block.extend_from_slice(&values[start..start + count]);
                    }
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
