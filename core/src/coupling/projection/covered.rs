//! Walls of bodies that other solids cover: liquid seeps between the two and presses there as it does beside them.

use super::flux::Flux;
use crate::coupling::air::regions::{LABEL_SOLID, Regions, component_of};
use crate::coupling::bodies::{Bodies, Piece};
use crate::coupling::fields::LiquidFields;
use crate::grid::rows::Rows;
use crate::grid::{Coord, Topology, leaf};
use crate::solid::{NARROW, is_shared, owners_of_cell};
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A face of a cell.
pub(super) struct Face {
    pub(super) axis: usize,
    /// The cell above it.
    pub(super) at: Coord,
    /// The solid that it belongs to.
    pub(super) owner: u32,
}

/// The cells without an open face that bodies fill together with other solids, those beside liquid and air first.
///
/// No pressure is known in such a cell, so nothing would press on the body's wall in it: a stone on the bottom would lose the
/// part of its buoyancy that the water under it gives. Real walls are rough, and water or air gets between them without
/// going through. So the pressure of a covered cell is a mean of the cells beside it that lie nearer to the open; between two
/// sides of a plug it changes in the middle, and nothing passes. What the wall displaces in the cell, those cells take.
/// Every body displaces its whole surface then: the net outflow of its motion is 0, and an even pressure does not push it.
#[derive(Default)]
pub(super) struct Covered {
    cells: Vec<Cell>,
}

/// One of them.
pub(super) struct Cell {
    pub(super) at: Coord,
    /// Owners of its faces, lower and upper across each axis; `None` where it only passes on what others have.
    owners: Option<[[u32; 2]; 3]>,
    /// Density of what presses in it, kg/m³; air counts as 0.
    pub(super) density: f64,
    /// Mean of density times place, cells, of what presses in it.
    moment: DVec3,
    /// Whose mean pressure it has, with their shares.
    beside: Vec<(Beside, f64)>,
    /// Open area of what lies beside it, faces.
    opening: f64,
}

/// A cell before it is known what lies beside it; `owners` as in [`Cell`].
struct Waiting {
    at: Coord,
    owners: Option<[[u32; 2]; 3]>,
}

/// A neighbour that lies nearer to the open.
#[derive(Clone, Copy)]
enum Beside {
    Covered(usize),
    /// A cell, and which connected liquid it is of.
    Liquid(Coord, usize),
    /// A cell, and which region it is of.
    Air(Coord, usize),
}

/// What a covered body's unit motion pushes out of the cells around.
#[derive(Clone, Debug, Default)]
pub(super) struct Pushed {
    /// Out of liquid cells of a connected liquid, m³/s per unit, in the order of their coordinates.
    pub(super) liquid: Vec<(Coord, usize, f64)>,
    /// Out of air regions.
    pub(super) air: Vec<(usize, f64)>,
}

impl Covered {
    /// Finds the covered cells in the leaves where bodies own faces.
    pub(super) fn find(fields: &LiquidFields, regions: &Regions, bodies: &Bodies, near: &[Coord]) -> Self {
        let found: Vec<Vec<Waiting>> =
            near.par_iter().map(|&origin| waiting(fields, regions, bodies, origin)).collect();
        let mut waiting: Vec<Waiting> = found.into_iter().flatten().collect();
        let mut covered = Self::default();
        if !waiting.iter().any(|cell| cell.owners.is_some()) {
            return covered;
        }
        let narrow: BTreeSet<[i32; 3]> =
            waiting.iter().filter(|cell| cell.owners.is_none()).map(|cell| cell.at.to_array()).collect();
        let mut known: BTreeMap<[i32; 3], usize> = BTreeMap::new();
        // From the open inwards, a layer at a time.
        loop {
            let beside = |cell: &Waiting| nearest(regions, (&known, &narrow), cell.at);
            let reached: Vec<Vec<Beside>> = waiting.par_iter().map(beside).collect();
            let (layer, rest): (Vec<_>, Vec<_>) =
                waiting.into_iter().zip(reached).partition(|(_, beside)| !beside.is_empty());
            waiting = rest.into_iter().map(|(cell, _)| cell).collect();
            if layer.is_empty() {
                return covered;
            }
            let cells: Vec<Cell> =
                layer.into_iter().map(|(cell, beside)| covered.cell(fields, cell, beside)).collect();
            for cell in cells {
                known.insert(cell.at.to_array(), covered.cells.len());
                covered.cells.push(cell);
            }
        }
    }

    /// A cell that has the pressure of its neighbours, of each by how open it is: no jet comes from one that is nearly closed.
    fn cell(&self, fields: &LiquidFields, Waiting { at, owners }: Waiting, beside: Vec<Beside>) -> Cell {
        let opening = |beside: &Beside| match *beside {
            Beside::Covered(n) => self.cells[n].opening,
            Beside::Liquid(cell, _) | Beside::Air(cell, _) => {
                f64::from(openings(fields, cell).as_flattened().iter().sum::<f32>())
            }
        };
        let density = |beside: &Beside| match *beside {
            Beside::Covered(n) => self.cells[n].density,
            Beside::Air(..) => 0.0,
            Beside::Liquid(cell, _) => fields.density.at(cell),
        };
        let openings: Vec<f64> = beside.iter().map(opening).collect();
        let all: f64 = openings.iter().sum();
        let share = |opening: f64| if all > 0.0 { opening / all } else { 1.0 / beside.len() as f64 };
        let shares: Vec<f64> = openings.iter().map(|&opening| share(opening)).collect();
        let moment = |beside: &Beside| match *beside {
            Beside::Covered(n) => self.cells[n].moment,
            Beside::Liquid(cell, _) | Beside::Air(cell, _) => density(beside) * cell.as_dvec3(),
        };
        let of = || beside.iter().zip(&shares);
        let mean = |of_one: &dyn Fn(&Beside) -> f64| of().map(|(b, share)| share * of_one(b)).sum();
        let moment = of().map(|(b, &share)| share * moment(b)).sum();
        let (density, opening) = (mean(&density), mean(&opening));
        Cell { at, owners, density, opening, moment, beside: beside.into_iter().zip(shares).collect() }
    }

    /// The cells.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells that each body covers, ascending.
    pub(super) fn by_body(&self, bodies: &Bodies) -> Vec<Vec<usize>> {
        let mut of_body = vec![Vec::new(); bodies.bodies.len()];
        for (n, cell) in self.cells.iter().enumerate() {
            cell.bodies(bodies).into_iter().for_each(|body| of_body[body].push(n));
        }
        of_body
    }

    /// What a motion of a body pushes out of the cells around those that it covers; `velocity`: of a face, m/s, 0 where
    /// another solid owns it.
    pub(super) fn pushed(&self, h: f64, own: &[usize], velocity: impl Fn(&Face) -> f64) -> Pushed {
        let mut outflow: BTreeMap<usize, f64> =
            own.iter().map(|&n| (n, self.cells[n].outflow(h, &velocity))).collect();
        let (mut liquid, mut air) =
            (BTreeMap::<[i32; 3], (usize, f64)>::new(), BTreeMap::<usize, f64>::new());
        // A cell's neighbours have smaller numbers, so the largest is done first.
        while let Some((n, all)) = outflow.pop_last() {
            for &(beside, share) in self.cells[n].beside.iter().filter(|_| all != 0.0) {
                let share = share * all;
                match beside {
                    Beside::Covered(n) => *outflow.entry(n).or_default() += share,
                    Beside::Liquid(cell, of) => liquid.entry(cell.to_array()).or_insert((of, 0.0)).1 += share,
                    Beside::Air(_, r) => *air.entry(r).or_default() += share,
                }
            }
        }
        let liquid = liquid.into_iter().map(|(cell, (of, v))| (IVec3::from_array(cell), of, v)).collect();
        Pushed { liquid, air: air.into_iter().collect() }
    }
}

impl Pushed {
    /// All of it, without signs.
    pub(super) fn all(&self) -> f64 {
        let liquid: f64 = self.liquid.iter().map(|(.., v)| v.abs()).sum();
        liquid + self.air.iter().map(|(_, v)| v.abs()).sum::<f64>()
    }

    /// Adds it, `by` times, to the outflow of cells, liquids and air.
    pub(super) fn enter(&self, topology: &Topology, by: f64, flux: &mut Flux) {
        for &(cell, of, v) in &self.liquid {
            if let Some(slot) = topology.slot_of(cell) {
                flux.cells[slot] += by * v;
                flux.liquid[of] += by * v;
            }
        }
        self.air.iter().for_each(|&(r, v)| flux.air[r] += by * v);
    }
}

impl Cell {
    /// Net outflow through its faces, which are all closed, m³/s.
    fn outflow(&self, h: f64, velocity: impl Fn(&Face) -> f64) -> f64 {
        let Some(owners) = self.owners else { return 0.0 };
        let faces = (0..6).map(|k| (k / 2, k % 2));
        let through = |(axis, side): (usize, usize)| {
            let at = self.at + side as i32 * IVec3::AXES[axis];
            let sign = if side == 1 { h * h } else { -h * h };
            sign * velocity(&Face { axis, at, owner: owners[axis][side] })
        };
        faces.map(through).sum()
    }

    /// Density times way to the cell from what presses in it, kg/m³ times cells: the pressure grows by its product with gravity.
    pub(super) fn way(&self) -> DVec3 {
        self.density * self.at.as_dvec3() - self.moment
    }

    /// The bodies that cover it.
    pub(super) fn bodies(&self, bodies: &Bodies) -> BTreeSet<usize> {
        let owners = self.owners.iter().flat_map(|owners| owners.as_flattened());
        owners.filter_map(|&number| bodies.of_number(number)).map(|(body, _)| body).collect()
    }

    /// The owners of its faces, lower and upper across each axis, where it is covered; and the share of it that a body leaves.
    pub(super) fn shared(&self, body: usize, bodies: &Bodies) -> Option<([[u32; 2]; 3], f64)> {
        let owners = self.owners?;
        let all = owners.as_flattened().iter().filter(|&&number| bodies.of_number(number).is_some());
        let of = |&number: &u32| bodies.of_number(number).is_some_and(|(b, _)| b == body);
        let is_first = all.min().is_some_and(of);
        let left = if is_first { bodies.left_by_first.get(self.at) } else { bodies.left_by_others(self.at) };
        Some((owners, f64::from(left)))
    }
}

/// The cells of a leaf that are covered, and those of liquid and air that are nearly closed: nothing is pushed into these, they pass
/// it on.
fn waiting(fields: &LiquidFields, regions: &Regions, bodies: &Bodies, origin: Coord) -> Vec<Waiting> {
    let is_body = |&number: &u32| {
        bodies.of_number(number).is_some_and(|(b, _)| !bodies.bodies[b].pieces.rigid().is_empty())
    };
    let Some(labels) = regions.of_leaf(origin) else { return Vec::new() };
    let owner = Rows::faces(bodies.owner, origin);
    let of_cell = |n: usize| {
        let at = origin + IVec3::from_array(leaf::local(n));
        if labels[n] != LABEL_SOLID {
            let is_narrow = openings(fields, at).as_flattened().iter().all(|&alpha| alpha < NARROW);
            return is_narrow.then_some(Waiting { at, owners: None });
        }
        let owners = owners_of_cell(&owner, n);
        // Where solids lie in each other, nothing gets between them.
        let covered = is_shared(&owners) && owners.as_flattened().iter().any(is_body);
        let covered = covered && bodies.left_by_first.get(at) >= 0.0;
        covered.then_some(Waiting { at, owners: Some(owners) })
    };
    (0..leaf::SIZE).filter_map(of_cell).collect()
}

/// The open fractions of a cell's faces, lower and upper across each axis.
fn openings(fields: &LiquidFields, cell: Coord) -> [[f32; 2]; 3] {
    std::array::from_fn(|a| [cell, cell + IVec3::AXES[a]].map(|c| fields.left_by_solids().get(a, c)))
}

/// The neighbours of a cell that lie nearer to the open: across faces, else across edges, else across corners.
fn nearest(
    regions: &Regions,
    (known, narrow): (&BTreeMap<[i32; 3], usize>, &BTreeSet<[i32; 3]>),
    at: Coord,
) -> Vec<Beside> {
    let steps = |wanted: i32| {
        let all = (0..27).map(|n| IVec3::new(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1));
        all.filter(move |step| step.abs().element_sum() == wanted)
    };
    let beside = |step: IVec3| {
        let cell = at + step;
        if let Some(&n) = known.get(&cell.to_array()) {
            return Some(Beside::Covered(n));
        }
        match regions.label_at(cell) {
            LABEL_SOLID => None,
            _ if narrow.contains(&cell.to_array()) => None,
            label if label < LABEL_SOLID => Some(Beside::Liquid(cell, component_of(label))),
            label => Some(Beside::Air(cell, label as usize)),
        }
    };
    (1..=3)
        .map(|wanted| steps(wanted).filter_map(beside).collect::<Vec<_>>())
        .find(|b| !b.is_empty())
        .unwrap_or_default()
}

/// The velocity of a rigid piece at a face, m/s per unit of a degree of freedom.
pub(super) fn at_face(fields: &LiquidFields, piece: &Piece, dof: usize, face: &Face) -> f64 {
    let arm = fields.transform.face_centre(face.axis, face.at) - piece.pivot;
    piece.twists[dof].at(arm)[face.axis]
}
