//! 10³ blocks: a leaf and the one-voxel shell around it. Kernels scatter and gather in a block without looking up which
//! leaf a voxel belongs to.

use super::{Coord, FaceGrid, Grid, Topology, halo, leaf};

/// A leaf and its shell.
pub type Block<T> = [T; SIZE];

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

/// Index of the leaf's own voxel `n`.
#[inline(always)]
pub const fn centre(n: usize) -> usize {
    let [x, y, z] = leaf::local(n);
    index(x, y, z)
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
    let [(x0, x1, dx), (y0, y1, dy), (z0, z1, dz)] = leaf::displacement(s).map(shared);
    for x in x0..x1 {
        for y in y0..y1 {
            f(leaf::offset(x, y, z0), index(x + dx, y + dy, z0 + dz), (z1 - z0) as usize);
        }
    }
}

/// Fills the block of a leaf from a channel: `neighbours` is the leaf's row of the neighbour table.
pub fn load<T: Copy>(
    block: &mut Block<T>,
    values: &[T],
    neighbours: &[u32; leaf::NEIGHBOURS],
    background: T,
) {
    halo::copy::<1, T>(values, neighbours, |_| background, block);
}

/// The block around a leaf origin, active there or not; what a missing leaf holds depends on its slot.
pub fn around_origin<T: Copy>(
    topology: &Topology,
    values: &[T],
    origin: Coord,
    missing: impl Fn(usize) -> T,
) -> Block<T> {
    let mut block = [missing(leaf::SELF_SLOT); SIZE];
    halo::copy::<1, T>(values, &topology.surroundings(origin), missing, &mut block);
    block
}

/// The block of a grid around a leaf origin, active there or not.
pub fn of<T: Copy>(grid: &Grid<T>, origin: Coord) -> Block<T> {
    around_origin(&grid.topology, &grid.values, origin, |_| grid.background)
}

/// The blocks of the three components of a staggered field around a leaf with these surroundings.
pub fn faces<T: Copy>(field: &FaceGrid<T>, around: &[u32; leaf::NEIGHBOURS]) -> [Block<T>; 3] {
    let mut blocks = [[field.background; SIZE]; 3];
    for (block, values) in blocks.iter_mut().zip(&field.values) {
        load(block, values, around, field.background);
    }
    blocks
}

/// A leaf's values, a z-row each: `[x * 8 + y]`.
pub type Rows<T> = [[T; leaf::DIM]; leaf::SIZE / leaf::DIM];

/// The z-row n of the leaf in a block, displaced by `d` voxels (each −1 ..= 1).
#[inline(always)]
pub fn row<T>(block: &Block<T>, n: usize, d: [i32; 3]) -> &[T; leaf::DIM] {
    let (x, y) = ((n / leaf::DIM) as i32, (n % leaf::DIM) as i32);
    let first = index(x + d[0], y + d[1], d[2]);
    block[first..].first_chunk().expect("a row inside the block")
}

/// Combines the 3³ values around every voxel of the leaf, along z, then y, then x; `three` is given a value and those before
/// and after it.
#[inline(always)]
pub fn around<T: Copy + Default>(block: &Block<T>, three: impl Fn([T; 3]) -> T) -> Rows<T> {
    let mut along_z = [[T::default(); leaf::DIM]; DIM * DIM];
    for (out, row) in along_z.iter_mut().zip(block.as_chunks::<DIM>().0) {
        (0..leaf::DIM).for_each(|z| out[z] = three([row[z], row[z + 1], row[z + 2]]));
    }
    let mut along_y = [[T::default(); leaf::DIM]; DIM * leaf::DIM];
    for (n, out) in along_y.iter_mut().enumerate() {
        let first = n / leaf::DIM * DIM + n % leaf::DIM;
        let (a, b, c) = (&along_z[first], &along_z[first + 1], &along_z[first + 2]);
        (0..leaf::DIM).for_each(|z| out[z] = three([a[z], b[z], c[z]]));
    }
    let mut along_x = [[T::default(); leaf::DIM]; leaf::SIZE / leaf::DIM];
    for (n, out) in along_x.iter_mut().enumerate() {
        let (a, b, c) = (&along_y[n], &along_y[n + leaf::DIM], &along_y[n + 2 * leaf::DIM]);
        (0..leaf::DIM).for_each(|z| out[z] = three([a[z], b[z], c[z]]));
    }
    along_x
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn sums_around_are_those_of_all_27() {
        let block: [f32; SIZE] = std::array::from_fn(|n| (n * 7919 % 31) as f32);
        let sums = around(&block, |[a, b, c]| a + b + c);
        for (n, sum) in sums.as_flattened().iter().enumerate() {
            let [x, y, z] = leaf::local(n);
            let all = (0..27).map(|d| block[index(x + d / 9 - 1, y + d / 3 % 3 - 1, z + d % 3 - 1)]);
            assert_eq!(*sum, all.sum::<f32>());
            assert_eq!(row(&block, n / 8, [1, 0, -1])[n % 8], block[index(x + 1, y, z - 1)]);
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
