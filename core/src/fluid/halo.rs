//! 10³ blocks: a leaf and the one-voxel shell around it, so that kernels scatter and gather without asking
//! which leaf a voxel belongs to.

use crate::grid::leaf;

/// Voxels along one edge of a block.
pub const DIM: usize = leaf::DIM + 2;
/// Voxels in a block.
pub const SIZE: usize = DIM * DIM * DIM;
/// Index step along each axis (z is contiguous).
pub const STRIDE: [usize; 3] = [DIM * DIM, DIM, 1];

/// Index of the voxel at leaf-local coordinates, each in −1..=8.
#[inline(always)]
pub const fn index(x: i32, y: i32, z: i32) -> usize {
    ((x + 1) as usize * DIM + (y + 1) as usize) * DIM + (z + 1) as usize
}

/// The part of a leaf that lies within one voxel of its neighbour at displacement d ∈ {−1, 0, 1}: local
/// coordinates first..last, and what to add to them to get the neighbour's own local coordinates.
#[inline(always)]
const fn shared(d: i32) -> (i32, i32, i32) {
    match d {
        -1 => (0, 1, 8),
        1 => (7, 8, -8),
        _ => (0, 8, 0),
    }
}

/// Calls `f(own z-row offset, block index in the neighbour at slot s, row length)` for every z-row of a leaf that the
/// halo of that neighbour covers.
#[inline(always)]
pub fn rows_covered_by(s: usize, mut f: impl FnMut(usize, usize, usize)) {
    let d = [s as i32 / 9 - 1, s as i32 / 3 % 3 - 1, s as i32 % 3 - 1];
    let [(x0, x1, dx), (y0, y1, dy), (z0, z1, dz)] = d.map(shared);
    for x in x0..x1 {
        for y in y0..y1 {
            f(leaf::offset(x, y, z0), index(x + dx, y + dy, z0 + dz), (z1 - z0) as usize);
        }
    }
}

/// Fills the block of a leaf from a channel: `neighbours` is the leaf's row of the neighbour table.
pub fn load<T: Copy>(
    block: &mut [T; SIZE],
    values: &[T],
    neighbours: &[u32; leaf::NEIGHBOURS],
    background: T,
) {
    const LAST: usize = leaf::DIM - 1;
    for (n, row) in block.as_chunks_mut::<DIM>().0.iter_mut().enumerate() {
        let (x, y) = ((n / DIM) as i32 - 1, (n % DIM) as i32 - 1);
        let first = leaf::offset(x, y, 0);
        let there = |z: i32| match neighbours[leaf::slot(x >> 3, y >> 3, z)] {
            leaf::ABSENT => None,
            m => values[m as usize * leaf::SIZE + first..].first_chunk::<{ leaf::DIM }>(),
        };
        row[0] = there(-1).map_or(background, |below| below[LAST]);
        match there(0) {
            Some(own) => row[1..=leaf::DIM].copy_from_slice(own),
            None => row[1..=leaf::DIM].fill(background),
        }
        row[DIM - 1] = there(1).map_or(background, |above| above[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Grid, Topology};
    use std::sync::Arc;

    fn cube() -> Arc<Topology> {
        Arc::new(Topology::new(vec![Coord::ZERO]).dilated(1))
    }

    #[test]
    fn block_holds_the_leaf_and_its_shell() {
        let t = cube();
        let key = |c: Coord| (c.x * 10_000 + c.y * 100 + c.z) as f32;
        let grid = Grid::from_fn(t.clone(), -1.0, key);
        let l = t.leaf_of(Coord::ZERO).unwrap();
        let mut block = [0.0; SIZE];
        load(&mut block, &grid.values, &t.neighbours()[l], grid.background);
        for x in -1..=8 {
            for y in -1..=8 {
                for z in -1..=8 {
                    assert_eq!(block[index(x, y, z)], key(Coord::new(x, y, z)));
                }
            }
        }
    }

    #[test]
    fn halos_cover_each_shell_voxel_once() {
        let mut covered = [0; leaf::SIZE];
        for s in 0..leaf::NEIGHBOURS {
            rows_covered_by(s, |own, _, n| covered[own..own + n].iter_mut().for_each(|c| *c += 1));
        }
        for (n, c) in covered.iter().enumerate() {
            let at_border = leaf::local(n).iter().filter(|&&x| x == 0 || x == 7).count();
            assert_eq!(*c, 1 << at_border);
        }
    }
}
