//! Which cells beside a wall lie on the same side of it.

use crate::grid::block::{self, Block};
use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::{FaceGrid, leaf};
use rayon::prelude::*;

/// The cells of a block of 27 that are at or beyond their second layer along each axis: those whose lower face lies in
/// the block.
const UPPER: [u32; 3] = {
    let (mut upper, mut n) = ([0; 3], 0);
    while n < 27 {
        let at = [n / 9, n / 3 % 3, n % 3];
        let mut axis = 0;
        while axis < 3 {
            if at[axis] > 0 {
                upper[axis] |= 1 << n;
            }
            axis += 1;
        }
        n += 1;
    }
    upper
};
/// Step along each axis in a block of 27.
const STEP: [u32; 3] = [9, 3, 1];
/// The cell in its middle.
const MIDDLE: u32 = 1 << 13;

/// For the cells that are not `known` and have an open face, which of the 27 cells around each are joined to it by open
/// faces between them. The space of such a cell lies on one side of a thin wall, and cells on the other side say
/// nothing about it.
pub(super) fn of(open: &FaceGrid<f32>, known: &VoxelMask) -> Vec<Vec<(usize, u32)>> {
    const ALL: [u64; 8] = [u64::MAX; 8];
    let topology = known.topology();
    let of_leaf = |l: usize| {
        if *known.words(l) == ALL {
            return Vec::new();
        }
        let faces = block::faces(open, &open.topology.surroundings(topology.origins()[l]));
        let open = OpenFaces::of(&faces);
        let asked: [u64; 8] = known.words(l).map(|word| !word);
        let with_room = || offsets(&asked).map(leaf::local).filter(|&at| open.any_of(at));
        let mut limited = Vec::with_capacity(with_room().count());
        limited.extend(with_room().map(|at| (leaf::offset(at[0], at[1], at[2]), open.joined(at))));
        limited
    };
    (0..topology.len()).into_par_iter().with_min_len(4).map(of_leaf).collect()
}

/// Which lower faces of a block's cells are open.
struct OpenFaces {
    /// Per axis and z-row of the block, a bit for each cell.
    rows: [[u16; block::DIM * block::DIM]; 3],
}

impl OpenFaces {
    fn of(faces: &[Block<f32>; 3]) -> Self {
        let row = |row: &[f32; block::DIM]| {
            row.iter().enumerate().fold(0, |bits, (z, &open)| bits | u16::from(open > 0.0) << z)
        };
        let rows = |faces: &Block<f32>| {
            let all = faces.as_chunks().0;
            std::array::from_fn(|n| row(&all[n]))
        };
        Self { rows: faces.each_ref().map(rows) }
    }

    /// The faces of a z-row beside a leaf's cell: its own where `dx` and `dy` are 1, one before or after it where they are 0 or 2.
    /// Bit 0 is the cell before it along z, bit 1 its own, bit 2 the one after it.
    #[inline(always)]
    fn row(&self, axis: usize, [x, y, z]: [i32; 3], dx: usize, dy: usize) -> u32 {
        u32::from(self.rows[axis][(x as usize + dx) * block::DIM + y as usize + dy] >> z)
    }

    /// Whether any of the six faces of a leaf's cell is open.
    fn any_of(&self, at: [i32; 3]) -> bool {
        const OWN: u32 = 1 << 1;
        const ABOVE: u32 = 1 << 2;
        let of_x = self.row(0, at, 1, 1) | self.row(0, at, 2, 1);
        let of_y = self.row(1, at, 1, 1) | self.row(1, at, 1, 2);
        let of_z = self.row(2, at, 1, 1);
        (of_x | of_y) & OWN | of_z & (OWN | ABOVE) != 0
    }

    /// Those of the 27 cells around a leaf's cell that open faces join to it.
    fn joined(&self, at: [i32; 3]) -> u32 {
        let open: [u32; 3] = std::array::from_fn(|axis| {
            let row = |n: usize| (self.row(axis, at, n / 3, n % 3) & 7) << (3 * n);
            (0..9).map(row).fold(0, |a, b| a | b) & UPPER[axis]
        });
        let mut reached = MIDDLE;
        loop {
            let mut grown = reached;
            for axis in 0..3 {
                grown |= (grown << STEP[axis]) & open[axis];
                grown |= (grown & open[axis]) >> STEP[axis];
            }
            if grown == reached {
                return reached;
            }
            reached = grown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use std::sync::Arc;

    #[test]
    fn walls_part_sides_and_gaps_join_them() {
        let topology = Arc::new(Topology::covering([Coord::ZERO]));
        // A wall in the plane x = 3, with and without a gap at y = 4.
        for gap in [false, true] {
            let open = FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| match axis == 0 && c.x == 3 {
                true => f32::from(gap && c.y == 4),
                false => 0.3,
            });
            let known = VoxelMask::from_fn(topology.clone(), |s| topology.coord(s) != Coord::splat(3));
            let found = of(&open, &known);
            let all = (1 << 27) - 1;
            assert_eq!(found, [vec![(leaf::offset(3, 3, 3), if gap { all } else { all << 9 & all })]]);
        }
        let shut = FaceGrid::from_fn(topology.clone(), 1.0, |_, _| 0.0);
        let none = VoxelMask::from_fn(topology.clone(), |s| topology.coord(s) != Coord::splat(3));
        assert_eq!(of(&shut, &none), [vec![]]);
    }
}
