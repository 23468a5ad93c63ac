//! Which solid each face belongs to, and how bodies share cells with other solids.

use super::SolidFields;
use super::motion::LeafOwners;
use crate::grid::rows::Rows;
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use crate::levelset::fractions::cell_inside;
use crate::solid::Collider;
use crate::solid::occupancy::Placed;
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The owners of all faces from those of each leaf that a body touches.
pub(super) fn owners(leaves: Vec<Option<Box<LeafOwners>>>, topology: &Arc<Topology>) -> FaceGrid<u32> {
    let mut owner = FaceGrid::new(topology.clone(), 0);
    for (axis, values) in owner.values.iter_mut().enumerate() {
        for (values, leaf) in values.chunks_exact_mut(leaf::SIZE).zip(&leaves) {
            if let Some(leaf) = leaf {
                values.copy_from_slice(&leaf[axis]);
            }
        }
    }
    owner
}

/// Those of a leaf; `None` where nobody owns any.
pub(super) fn owners_of_leaf(owner: &FaceGrid<u32>, l: usize) -> Option<Box<LeafOwners>> {
    let of = |axis: usize| &owner.values[axis][l * leaf::SIZE..][..leaf::SIZE];
    if (0..3).all(|axis| of(axis).iter().all(|&number| number == 0)) {
        return None;
    }
    let mut leaf = Box::new([[0; leaf::SIZE]; 3]);
    leaf.iter_mut().enumerate().for_each(|(axis, values)| values.copy_from_slice(of(axis)));
    Some(leaf)
}

/// The owners of a cell's faces, lower and upper across each axis. A face that is not stored has the owner of the one below it.
pub(crate) fn owners_of_cell(owner: &[Rows<u32>; 3], n: usize) -> [[u32; 2]; 3] {
    std::array::from_fn(|a| {
        let low = owner[a].at(n);
        let stored = owner[a].is_stored_behind(n, 2 * a + 1);
        [low, if stored { owner[a].at_behind(n, 2 * a + 1) } else { low }]
    })
}

/// Whether several solids own a cell's faces.
pub(crate) fn is_shared(owners: &[[u32; 2]; 3]) -> bool {
    owners.as_flattened().iter().any(|&number| number != owners[0][0])
}

/// A gap between a body and another solid is closed in cells none of whose faces is as open as this: a slot one voxel wide
/// covers half of some face wherever it lies on the grid. What flowed in a narrower one would be a jet through next to nothing;
/// how the gap presses on its walls, the coupling knows without flow.
pub(crate) const NARROW: f32 = 0.5;

/// A body that shares more of a cell than this with a wall lies in the wall: nothing gets between them. Contacts overlap by less than a
/// hundredth of a voxel, and signed distances of bent walls err by two.
const EMBEDDED: f32 = 0.1;

/// The faces of cells, and who owns them.
struct Cells<'a> {
    colliders: &'a [Collider],
    owner: &'a FaceGrid<u32>,
    topology: &'a Topology,
}

impl Cells<'_> {
    fn is_body(&self, number: u32) -> bool {
        number > 0 && self.colliders[number as usize - 1].is_body()
    }

    /// Largest and smallest open fraction of a cell's faces.
    fn openings(&self, open: &FaceGrid<f32>, cell: Coord) -> [f32; 2] {
        let faces = |axis: usize| [cell, cell + IVec3::AXES[axis]].map(|c| (axis, c));
        // Faces that are not stored lie in solids.
        let alpha =
            |(axis, c): (usize, Coord)| self.topology.slot_of(c).map_or(0.0, |slot| open.values[axis][slot]);
        let all = (0..3).flat_map(faces).map(alpha);
        all.fold([0.0, 1.0], |[most, least], alpha| [alpha.max(most), alpha.min(least)])
    }

    /// Whether none of a cell's faces is as open as [`NARROW`].
    fn is_narrow(&self, open: &FaceGrid<f32>, cell: Coord) -> bool {
        self.openings(open, cell)[0] < NARROW
    }

    /// The owners of a cell's faces, if one of them is a body.
    fn owners_with_body(&self, cell: Coord) -> Option<[[u32; 2]; 3]> {
        let of = |axis: usize, c: Coord| self.topology.slot_of(c).map(|slot| self.owner.values[axis][slot]);
        let pair = |axis: usize| {
            let low = of(axis, cell)?;
            Some([low, of(axis, cell + IVec3::AXES[axis]).unwrap_or(low)])
        };
        let owners = [pair(0)?, pair(1)?, pair(2)?];
        owners.as_flattened().iter().any(|&number| self.is_body(number)).then_some(owners)
    }

    /// What the first body in a cell leaves of it to the other owners of its faces, and how much of that they do not need: below 0
    /// where they lie in each other.
    fn left(&self, placed: &Placed, cell: Coord, owners: &[[u32; 2]; 3]) -> Option<[f32; 2]> {
        let first = owners.as_flattened().iter().copied().filter(|&number| self.is_body(number)).min()?;
        let mut others: Vec<u32> = owners.as_flattened().iter().copied().filter(|&n| n != first).collect();
        others.sort_unstable();
        others.dedup();
        let distance = |number: u32, world: DVec3| match number {
            0 => placed.solids.domain.distance(world),
            n => self.colliders[n as usize - 1].distance(world),
        };
        let low = cell.as_dvec3() - 0.5;
        let corner = |c: usize| low + DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
        let corners: [DVec3; 8] = std::array::from_fn(|c| placed.world(corner(c)));
        let filled = |numbers: &[u32]| {
            let nearest = |at: DVec3| numbers.iter().map(|&n| distance(n, at)).fold(f64::INFINITY, f64::min);
            cell_inside(corners.map(|at| nearest(at).min(placed.far()) as f32))
        };
        let left = 1.0 - filled(&[first]);
        Some([left, left - filled(&others)])
    }

    /// How much of a cell the owners of its faces must share to lie in each other.
    ///
    /// Bodies never do. What is between them pushes both alike, and each displaces its whole surface: one that did not would look like a
    /// piston, which carries away all that a full tank has no room for.
    fn embedded(&self, h: f64, owners: &[[u32; 2]; 3]) -> f32 {
        let mut all: Vec<u32> = owners.as_flattened().to_vec();
        if all.iter().all(|&number| self.is_body(number)) {
            return f32::INFINITY;
        }
        all.sort_unstable();
        all.dedup();
        let solids = all.iter().filter(|&&number| number > 0).map(|&n| &self.colliders[n as usize - 1]);
        let grown: f64 = solids.map(|solid| solid.sdf().grown.max(0.0) / h).sum();
        EMBEDDED + grown as f32
    }

    /// The cells that a body shares with other solids and that are not open all around.
    fn shared(&self, open: &FaceGrid<f32>) -> Vec<(Coord, [[u32; 2]; 3])> {
        let has_body = |l: usize| {
            let own = |values: &Vec<u32>| {
                values[l * leaf::SIZE..][..leaf::SIZE].iter().any(|&number| self.is_body(number))
            };
            self.owner.values.iter().any(own)
        };
        let has_body: Vec<bool> = (0..self.topology.len()).into_par_iter().map(has_body).collect();
        let of_leaf = |(l, &origin): (usize, &Coord)| {
            // The upper faces of a leaf's last cells belong to the next leaf.
            let above = IVec3::AXES.map(|e| self.topology.leaf_of(origin + leaf::DIM as i32 * e));
            if !above.into_iter().flatten().chain([l]).any(|l| has_body[l]) {
                return Vec::new();
            }
            let cells = (0..leaf::SIZE).map(|n| origin + IVec3::from_array(leaf::local(n)));
            let shared = |cell: Coord| {
                let owners = self.owners_with_body(cell).filter(is_shared)?;
                (self.openings(open, cell)[1] < 1.0).then_some((cell, owners))
            };
            cells.filter_map(shared).collect()
        };
        let found: Vec<Vec<_>> = self.topology.origins().par_iter().enumerate().map(of_leaf).collect();
        found.concat()
    }
}

/// Closes the cells that a body and other solids nearly fill together, and those of bodies that are nearly closed by that.
/// In all cells that a body shares with other solids, `left_by_first` becomes what the first of their bodies leaves, below 0 in those
/// that are closed where it lies in a wall; and `volume` what all of them leave, which nodes do not see of a gap between two of them.
pub(super) fn close_gaps(placed: &Placed, fields: &mut SolidFields) {
    let SolidFields { open, volume, left_by_first, owner: Some(owner), .. } = fields else { return };
    let left_by_first = left_by_first.insert(volume.clone());
    let topology = open.topology.clone();
    let cells = Cells { colliders: placed.solids.colliders, owner, topology: &topology };
    let shared = cells.shared(open);
    for (cell, owners) in &shared {
        if let Some(([left, apart], slot)) = cells.left(placed, *cell, owners).zip(topology.slot_of(*cell)) {
            left_by_first.values[slot] = left;
            volume.values[slot] = apart.max(0.0);
        }
    }
    let is_narrow = |(cell, _): &(Coord, _)| cells.is_narrow(open, *cell);
    let mut closing: Vec<_> = shared.into_iter().filter(is_narrow).collect();
    let mut closed: BTreeSet<[i32; 3]> = closing.iter().map(|(cell, _)| cell.to_array()).collect();
    while !closing.is_empty() {
        for &(cell, owners) in &closing {
            for axis in 0..3 {
                let faces = [cell, cell + IVec3::AXES[axis]].into_iter().filter_map(|c| topology.slot_of(c));
                faces.for_each(|slot| open.values[axis][slot] = 0.0);
            }
            if let Some(([left, apart], slot)) = cells.left(placed, cell, &owners).zip(topology.slot_of(cell))
            {
                let lies_in_wall = apart < -cells.embedded(placed.h, &owners);
                left_by_first.values[slot] = if lies_in_wall { apart } else { left };
            }
        }
        let beside = closing.iter().flat_map(|(cell, _)| IVec3::AXES.map(|e| [*cell - e, *cell + e]));
        let mut next = Vec::new();
        for cell in beside.flatten() {
            let Some(owners) = cells.owners_with_body(cell) else { continue };
            if cells.is_narrow(open, cell) && closed.insert(cell.to_array()) {
                next.push((cell, owners));
            }
        }
        closing = next;
    }
}
