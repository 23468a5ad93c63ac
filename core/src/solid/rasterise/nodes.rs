//! φ at the nodes of a leaf, and how open its cells and faces are.

use crate::grid::{Coord, leaf};
use crate::levelset::fractions::{cell_inside, face_open};
use crate::solid::occupancy::Nearby;
use crate::solid::split_cells::is_split;
use glam::{DVec3, IVec3};

/// Nodes of a block along an axis, and in all.
const DIM: usize = 10;
pub(in crate::solid) const SIZE: usize = DIM * DIM * DIM;
/// Index steps of one node along x, y, z.
pub(super) const STEP: [usize; 3] = [DIM * DIM, DIM, 1];
/// Index steps from a cell's lower node to its corners, x fastest.
const CORNERS: [usize; 8] = [0, 100, 10, 110, 1, 101, 11, 111];

/// φ at the nodes of a leaf and of its first neighbours, −1 ..= 8 along each axis, z fastest.
pub(super) struct NodeBlock {
    pub(super) phi: [f32; SIZE],
    /// φ of each solid that may cut the leaf, in the order of [`Nearby`]; `None` where nobody asked.
    pub(super) each: Option<Vec<[f32; SIZE]>>,
    /// The nodes outside of solids, φ > 0: bit z + 1 of the column `10 (x + 1) + y + 1`.
    outside: [u16; DIM * DIM],
}

/// Of eight cells or faces in a row along z, a bit each from bit 1 on: those whose corners are all outside of solids, and those
/// of which some are.
#[derive(Clone, Copy)]
struct Outside {
    all: u16,
    some: u16,
}

impl Outside {
    fn of<const N: usize>(columns: [u16; N]) -> Self {
        let (all, some) = columns.into_iter().fold((u16::MAX, 0), |(all, some), c| (all & c, some | c));
        Self { all, some }
    }

    /// The same for what reaches from each node to the next along z.
    fn along_z(self) -> Self {
        Self { all: self.all & self.all >> 1, some: self.some | self.some >> 1 }
    }
}

/// The bits of the cells of a leaf in a row.
const OWN: u16 = 0x1fe;

/// The places z of a row's bits, ascending.
fn places(bits: u16) -> impl Iterator<Item = usize> {
    (0..leaf::DIM).filter(move |z| bits & 2 << z != 0)
}

/// The rows of a leaf: x, y.
fn rows() -> impl Iterator<Item = [usize; 2]> {
    (0..leaf::DIM * leaf::DIM).map(|n| [n / leaf::DIM, n % leaf::DIM])
}

/// The column of nodes at x, y of a leaf.
fn column([x, y]: [usize; 2]) -> usize {
    DIM * (x + 1) + y + 1
}

impl NodeBlock {
    pub(super) fn new(near: &mut Nearby, origin: Coord) -> Self {
        let (phi, each) = near.nodes(origin);
        let column = |n: usize| {
            let bits = phi[DIM * n..][..DIM].iter().zip(0..).map(|(&phi, z)| u16::from(phi > 0.0) << z);
            bits.fold(0, |all, bit| all | bit)
        };
        let outside = std::array::from_fn(column);
        Self { phi, each: Some(each), outside }
    }

    /// A leaf in which φ is the same everywhere.
    pub(super) fn constant(phi: f32) -> Self {
        let outside = if phi > 0.0 { (1 << DIM) - 1 } else { 0 };
        Self { phi: [phi; SIZE], each: None, outside: [outside; DIM * DIM] }
    }

    /// The lower node of a cell of the leaf.
    #[inline(always)]
    pub(super) fn index([x, y, z]: [i32; 3]) -> usize {
        ((x + 1) * 100 + (y + 1) * 10 + z + 1) as usize
    }

    /// Writes φ at the lower nodes of the leaf's cells.
    pub(super) fn write(&self, nodes: &mut [f32]) {
        for ([x, y], nodes) in rows().zip(nodes.as_chunks_mut::<{ leaf::DIM }>().0) {
            nodes.copy_from_slice(&self.phi[DIM * column([x, y]) + 1..][..leaf::DIM]);
        }
    }

    /// Writes the open fraction of the leaf's cells over a leaf filled with 1.
    pub(super) fn open_volumes(&self, volume: &mut [f32], near: &mut Nearby, origin: Coord) {
        for (row, volume) in rows().zip(volume.as_chunks_mut::<{ leaf::DIM }>().0) {
            for z in places(OWN & !self.cells(column(row)).all) {
                let i = DIM * column(row) + z + 1;
                let phi = CORNERS.map(|step| self.phi[i + step]);
                volume[z] = match phi == [0.0; 8] {
                    false => 1.0 - cell_inside(phi),
                    // In a gap one voxel wide the value in its middle decides.
                    true => f32::from(near.at(middle(origin, row, z)) > 0.0),
                };
            }
        }
    }

    /// The cells above the nodes of a column.
    fn cells(&self, c: usize) -> Outside {
        Outside::of([c, c + DIM, c + 1, c + DIM + 1].map(|c| self.outside[c])).along_z()
    }

    /// The lower faces of these cells across an axis.
    fn faces(&self, c: usize, axis: usize) -> Outside {
        match axis {
            0 => Outside::of([c, c + 1].map(|c| self.outside[c])).along_z(),
            1 => Outside::of([c, c + DIM].map(|c| self.outside[c])).along_z(),
            _ => Outside::of([c, c + DIM, c + 1, c + DIM + 1].map(|c| self.outside[c])),
        }
    }

    /// The cells, −1 ..= 7 along each axis, that a thin wall splits, bits as in `outside`.
    fn split_cells(&self) -> [u16; DIM * DIM] {
        std::array::from_fn(|c| {
            if c / DIM == DIM - 1 || c % DIM == DIM - 1 {
                return 0;
            }
            let Outside { all, some } = self.cells(c);
            let corners = [c, c + DIM, c + 1, c + DIM + 1].map(|c| self.outside[c]);
            let is_split = |z: &usize| {
                let bit = |n: usize| u8::from(corners[n % 4] >> (z + n / 4) & 1 == 1) << n;
                is_split((0..8).fold(0, |pattern, n| pattern | bit(n)))
            };
            let cut = (0..DIM - 1).filter(|z| some & !all & 1 << z != 0);
            cut.filter(is_split).fold(0, |split, z| split | 1 << z)
        })
    }

    /// Writes α of the leaf's faces over a leaf filled with 1.
    pub(super) fn open_fractions(&self, open: &mut [&mut [f32]; 3], near: &mut Nearby, origin: Coord) {
        if self.outside.iter().all(|&column| column == (1 << DIM) - 1) {
            return;
        }
        let split = self.split_cells();
        for (axis, open) in open.iter_mut().enumerate() {
            let (s, t) = (STEP[(axis + 1) % 3], STEP[(axis + 2) % 3]);
            for (row, open) in rows().zip(open.as_chunks_mut::<{ leaf::DIM }>().0) {
                let c = column(row);
                let beside = [split[c - DIM], split[c - 1], split[c] << 1][axis];
                let closed = split[c] | beside;
                for z in places(OWN & (closed | !self.faces(c, axis).all)) {
                    let i = DIM * c + z + 1;
                    let phi = [self.phi[i], self.phi[i + s], self.phi[i + t], self.phi[i + s + t]];
                    open[z] = match (closed & 2 << z != 0, phi == [0.0; 4]) {
                        (true, _) => 0.0,
                        (false, false) => face_open(phi),
                        // In the plane of a wall, or across a gap one voxel wide, the value in its middle decides.
                        (false, true) => {
                            f32::from(near.at(middle(origin, row, z) - 0.5 * DVec3::AXES[axis]) > 0.0)
                        }
                    };
                }
            }
        }
    }
}

/// The middle of a leaf's cell, as an index position.
fn middle(origin: Coord, [x, y]: [usize; 2], z: usize) -> DVec3 {
    (origin + IVec3::new(x as i32, y as i32, z as i32)).as_dvec3()
}
