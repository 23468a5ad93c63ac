//! The domain C = liquid ∪ the parts of bodies below its surface [Carlson et al. 2004, Fig. 4].

use super::carried::{self, Cells};
use crate::coupling::bodies::Bodies;
use crate::coupling::fields::LiquidFields;
use crate::grid::{Coord, FaceGrid, Grid, Topology, leaf};
use crate::pressure::Density;
use glam::IVec3;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The fields of C.
pub(super) struct Domain {
    /// The leaves of the liquid, of the bodies' surfaces and of the bodies' insides.
    pub(super) topology: Arc<Topology>,
    /// Solid that a face belongs to, counted from 1; 0: to none.
    pub(super) owner: FaceGrid<u32>,
    /// Share of each face that no solid closes.
    pub(super) open: FaceGrid<f32>,
    /// Share of each face that nothing but a body closes.
    pub(super) open_to_all: FaceGrid<f32>,
    /// The same, less what others shut; `None`: nobody does.
    pub(super) open_under_lids: Option<FaceGrid<f32>>,
    /// Share of each cell that solids fill.
    pub(super) filled: Grid<f32>,
    /// φ of the liquid, m, carried on into the bodies.
    pub(super) surface: Grid<f32>,
    /// Density of the liquid, kg/m³, carried on into the bodies.
    pub(super) liquid_density: Grid<f32>,
}

impl Domain {
    /// Finds C.
    pub(super) fn find(fields: &LiquidFields, bodies: &Bodies) -> Self {
        let seen = fields.surface.topology.union(&fields.open.topology).union(&bodies.owner.topology);
        let inside = inner_leaves(fields, bodies, &seen);
        let origins = inside.keys().map(|&origin| Coord::from_array(origin));
        let topology = Arc::new(Topology::new(seen.origins().iter().copied().chain(origins).collect()));
        let mut owner = bodies.owner.on(&topology);
        let mut open = fields.left_by_solids().on(&topology);
        let mut filled = bodies.left_by_first.on(&topology);
        // Where bodies that touch lie in one another no cell holds more than its volume.
        filled.values.iter_mut().for_each(|v| *v = if *v < 0.0 { 1.0 } else { 1.0 - *v });
        filled.background = 0.0;
        for (&origin, &number) in &inside {
            let Some(l) = topology.leaf_of(Coord::from_array(origin)) else { continue };
            let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
            filled.values[own.clone()].fill(1.0);
            owner.values.iter_mut().for_each(|v| v[own.clone()].fill(number));
            open.values.iter_mut().for_each(|v| v[own.clone()].fill(0.0));
        }
        let mut open_to_all = open.clone();
        for (open, owner) in open_to_all.values.iter_mut().zip(&owner.values) {
            let of_body = open.iter_mut().zip(owner).filter(|(_, number)| body(bodies, **number).is_some());
            of_body.for_each(|(open, _)| *open = 1.0);
        }
        let open_under_lids = fields.without_lids.map(|_| {
            let mut under = fields.open.on(&topology);
            for (under, (left, to_all)) in
                under.values.iter_mut().zip(open.values.iter().zip(&open_to_all.values))
            {
                for (under, (&left, &to_all)) in under.iter_mut().zip(left.iter().zip(to_all)) {
                    *under = if left > 0.0 { to_all * *under / left } else { to_all };
                }
            }
            under
        });
        let mut domain = Self {
            liquid_density: match fields.density {
                Density::Uniform(rho) => Grid::new(topology.clone(), rho as f32),
                Density::PerCell(rho) => rho.on(&topology),
            },
            surface: fields.surface.on(&topology),
            owner,
            open,
            open_to_all,
            open_under_lids,
            filled,
            topology,
        };
        domain.carry_on(fields, bodies);
        domain
    }

    /// Carries the liquid's surface and density on into the bodies, and into the cells that they close together with other solids:
    /// no particle comes there, so the liquid takes them for air, and a body that lies on a floor would have a free surface under it.
    fn carry_on(&mut self, fields: &LiquidFields, bodies: &Bodies) {
        let mut cells = vec![Cells::Known; self.filled.values.len()];
        let mut unknown = Vec::new();
        for (slot, &filled) in self.filled.values.iter().enumerate() {
            if filled <= 0.5 && self.has_open_face(slot) {
                continue;
            }
            cells[slot] = Cells::Wall;
            if self.is_of_body(bodies, slot) {
                cells[slot] = Cells::Unknown;
                unknown.push(slot);
            }
        }
        let up = (0..3).max_by(|&a, &b| fields.kick[a].abs().total_cmp(&fields.kick[b].abs()));
        let up = up.filter(|&axis| fields.kick[axis] != 0.0);
        let background = self.surface.background;
        unknown.iter().for_each(|&slot| self.surface.values[slot] = background);
        let density = matches!(fields.density, Density::PerCell(_)).then_some(&mut self.liquid_density);
        carried::carry_on(&mut self.surface, density, cells, &unknown, up);
    }

    /// Whether a face of a cell belongs to a body.
    fn is_of_body(&self, bodies: &Bodies, slot: usize) -> bool {
        let (l, local) = (slot / leaf::SIZE, leaf::local(slot % leaf::SIZE));
        (0..3).any(|axis| {
            let mut above = local;
            above[axis] += 1;
            let numbers = [self.owner.values[axis][slot], self.owner.reach(axis, l, above)];
            numbers.iter().any(|&number| body(bodies, number).is_some())
        })
    }

    /// Whether some face of a cell is open to the liquid. Faces that nobody has described lie in solids.
    fn has_open_face(&self, slot: usize) -> bool {
        let (l, local) = (slot / leaf::SIZE, leaf::local(slot % leaf::SIZE));
        (0..3).any(|axis| {
            let mut above = local;
            above[axis] += 1;
            let upper = self.topology.reach(l, above);
            let is_open = |slot: usize| self.open.values[axis][slot] > 0.0;
            is_open(slot) || upper.is_some_and(is_open)
        })
    }

    /// The cell below a lower face of a cell.
    pub(super) fn below(&self, axis: usize, slot: usize) -> Option<usize> {
        let mut below = leaf::local(slot % leaf::SIZE);
        below[axis] -= 1;
        self.topology.reach(slot / leaf::SIZE, below)
    }
}

/// Body and piece of a solid.
pub(super) fn body(bodies: &Bodies, number: u32) -> Option<(usize, usize)> {
    bodies.pieces.get((number as usize).wrapping_sub(1)).copied().flatten()
}

/// The leaves that are wholly inside of bodies and that nobody has described, and the solid that each lies in. A leaf that a
/// surface runs through is described, so they are those that are reached from filled cells without crossing a described one.
fn inner_leaves(fields: &LiquidFields, bodies: &Bodies, seen: &Topology) -> BTreeMap<[i32; 3], u32> {
    let mut inside = BTreeMap::new();
    let Some((low, high)) = seen.bounds() else { return inside };
    let mut reached = VecDeque::new();
    let middle = |origin: Coord| fields.transform.to_world(origin.as_dvec3() + 3.5);
    let is_new = |origin: Coord, inside: &BTreeMap<[i32; 3], u32>| {
        let in_box = origin.cmpge(low & !7).all() && origin.cmple(high).all();
        let at = middle(origin);
        let in_domain = at.cmpge(fields.domain.min).all() && at.cmple(fields.domain.max).all();
        in_box && in_domain && seen.leaf_of(origin).is_none() && !inside.contains_key(&origin.to_array())
    };
    let beside = |origin: Coord, side: usize| {
        origin + (side as i32 % 2 * 2 - 1) * leaf::DIM as i32 * IVec3::AXES[side / 2]
    };
    for &origin in bodies.owner.topology.origins() {
        for side in 0..6 {
            let next = beside(origin, side);
            if is_new(next, &inside)
                && let Some(number) = filled_side(fields, bodies, origin, side)
            {
                inside.insert(next.to_array(), number);
                reached.push_back((next, number));
            }
        }
    }
    while let Some((origin, number)) = reached.pop_front() {
        for side in 0..6 {
            let next = beside(origin, side);
            if is_new(next, &inside) {
                inside.insert(next.to_array(), number);
                reached.push_back((next, number));
            }
        }
    }
    inside
}

/// The solid of a body that fills a cell at a side of a leaf.
fn filled_side(fields: &LiquidFields, bodies: &Bodies, origin: Coord, side: usize) -> Option<u32> {
    let axis = side / 2;
    let cells = (0..64).map(|n: i32| {
        let mut cell = origin;
        cell[axis] += if side % 2 == 1 { leaf::DIM as i32 - 1 } else { 0 };
        cell[(axis + 1) % 3] += n / 8;
        cell[(axis + 2) % 3] += n % 8;
        cell
    });
    let mut filled = cells
        .filter(|&c| bodies.left_by_first.get(c) <= 0.0 && fields.left_by_solids().get(axis, c) <= 0.0)
        .map(|c| bodies.owner.get(axis, c));
    filled.find(|&number| body(bodies, number).is_some())
}
