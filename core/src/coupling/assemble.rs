//! The pressure system of a liquid and its air: one assembly for every coupling.

use super::block::{self, Block};
use super::fields::{Density, LiquidFields};
use super::flux::Flux;
use super::regions::{LABEL_SOLID, Regions, component_of};
use super::volumes::Leftover;
use crate::grid::{Coord, Topology, leaf};
use crate::levelset::fractions::theta;
use crate::pressure::{CELL, FIXED, PressureSystem, SOLID, SuperCell, Unknowns};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Per air region, the super-cell that carries its pressure; `None` where the pressure is given as 0.
pub(super) type AirUnknowns = Vec<Option<u32>>;

/// The leaves with liquid, and those that its cells reach through a face.
pub(super) fn liquid_leaves(regions: &Regions) -> Arc<Topology> {
    let topology = &regions.cells.topology;
    let reached = |(l, &origin): (usize, &Coord)| {
        let mut out = Vec::new();
        let own = &regions.cells.values[l * leaf::SIZE..][..leaf::SIZE];
        let mut sides = [false; 6];
        for (n, _) in own.iter().enumerate().filter(|(_, label)| **label < LABEL_SOLID) {
            for (a, x) in leaf::local(n).into_iter().enumerate() {
                sides[2 * a] |= x == 0;
                sides[2 * a + 1] |= x == leaf::DIM as i32 - 1;
            }
            if out.is_empty() {
                out.push(origin);
            }
        }
        for (side, _) in sides.iter().enumerate().filter(|(_, reached)| **reached) {
            let mut step = IVec3::ZERO;
            step[side / 2] = (side as i32 % 2 * 2 - 1) * leaf::DIM as i32;
            out.push(origin + step);
        }
        out
    };
    let origins: Vec<Vec<Coord>> = topology.origins().par_iter().enumerate().map(reached).collect();
    Arc::new(Topology::new(origins.concat()))
}

/// What one leaf needs to know of its faces.
struct Faces<'a> {
    labels: Block<i32>,
    phi: Block<f32>,
    density: Option<Block<f32>>,
    uniform_density: f64,
    tension: Option<Block<f32>>,
    fields: &'a LiquidFields<'a>,
}

impl<'a> Faces<'a> {
    fn new(fields: &'a LiquidFields<'a>, regions: &Regions, origin: Coord) -> Self {
        let (density, uniform_density) = match fields.density {
            Density::Uniform(rho) => (None, rho),
            Density::PerCell(rho) => (Some(Block::of(rho, origin)), 0.0),
        };
        Self {
            labels: regions.block(origin),
            phi: Block::of(fields.surface, origin),
            density,
            uniform_density,
            tension: fields.tension.map(|t| Block::of(t, origin)),
            fields,
        }
    }

    fn density(&self, i: usize) -> f64 {
        self.density.as_ref().map_or(self.uniform_density, |rho| f64::from(rho[i]))
    }

    /// c_f = dt α h / (ρ θ) of the face between block positions `low` and `high`, θ the ghost-fluid factor
    /// of a face between liquid and air, else 1 [Gibou et al. 2002]; 0 where nothing is coupled.
    fn coefficient(&self, low: usize, high: usize, alpha: f32, dt: f64) -> f64 {
        let area = dt * f64::from(alpha) * self.fields.voxel_size();
        match (self.labels[low] < LABEL_SOLID, self.labels[high] < LABEL_SOLID) {
            (true, true) => area / (0.5 * (self.density(low) + self.density(high))),
            (true, false) if self.labels[high] >= 0 => area / (self.density(low) * self.theta(low, high)),
            (false, true) if self.labels[low] >= 0 => area / (self.density(high) * self.theta(high, low)),
            _ => 0.0,
        }
    }

    fn theta(&self, liquid: usize, air: usize) -> f64 {
        f64::from(theta(self.phi[liquid], self.phi[air]))
    }

    /// σκ on the face between two cells, Pa: what it adds to the pressure of the air there; negative where
    /// the lower cell is the air, so that always p_high + jump − p_low drives the face.
    fn jump(&self, low: usize, high: usize) -> f64 {
        let Some(tension) = &self.tension else { return 0.0 };
        let at = |liquid: usize, air: usize| {
            let t = self.theta(liquid, air);
            (1.0 - t) * f64::from(tension[liquid]) + t * f64::from(tension[air])
        };
        match (self.labels[low], self.labels[high]) {
            (l, a) if l < LABEL_SOLID && a >= 0 => at(low, high),
            (a, l) if l < LABEL_SOLID && a >= 0 => -at(high, low),
            _ => 0.0,
        }
    }
}

/// The system of [Goldade and Batty 2017, Eq. 8]: liquid cells, and the air regions that are unknowns, each
/// one super-cell.
pub(super) fn system(
    fields: &LiquidFields,
    regions: &Regions,
    topology: &Arc<Topology>,
    air: &AirUnknowns,
    dt: f64,
) -> PressureSystem {
    let size = topology.len() * leaf::SIZE;
    let mut label = vec![SOLID; size];
    let mut face = [vec![0f32; size], vec![0f32; size], vec![0f32; size]];
    let [fx, fy, fz] = &mut face;
    let leaves = label.par_chunks_mut(leaf::SIZE).zip(topology.origins());
    let faces =
        fx.par_chunks_mut(leaf::SIZE).zip(fy.par_chunks_mut(leaf::SIZE)).zip(fz.par_chunks_mut(leaf::SIZE));
    leaves.zip(faces).for_each(|((label, &origin), ((fx, fy), fz))| {
        let at = Faces::new(fields, regions, origin);
        let open = block::faces(fields.open, origin);
        let out = [fx, fy, fz];
        for n in 0..leaf::SIZE {
            let i = block::centre(n);
            label[n] = match at.labels[i] {
                LABEL_SOLID => SOLID,
                r if r >= 0 => air[r as usize].map_or(FIXED, |b| b as i32),
                _ => CELL,
            };
            for axis in 0..3 {
                let alpha = open[axis][i];
                if alpha > 0.0 {
                    out[axis][n] = at.coefficient(i - block::STEP[axis], i, alpha, dt) as f32;
                }
            }
        }
    });
    let supers = air.iter().flatten().count();
    PressureSystem {
        topology: topology.clone(),
        label,
        face,
        super_cells: vec![SuperCell::default(); supers],
        attached: Vec::new(),
    }
}

/// The right side −(D u* + s), −(B u* + s_b), but for what is left over.
pub(super) fn right_side(
    regions: &Regions,
    system: &PressureSystem,
    air: &AirUnknowns,
    flux: &Flux,
    left: &Leftover,
) -> Unknowns {
    let mut rhs = Unknowns::zeros(system);
    rhs.cells.par_chunks_mut(leaf::SIZE).zip(flux.cells.par_chunks(leaf::SIZE)).enumerate().for_each(
        |(l, (rhs, outflow))| {
            let Some(labels) = regions.of_leaf(system.topology.origins()[l]) else { return };
            for (n, &label) in labels.iter().enumerate().filter(|(_, label)| **label < LABEL_SOLID) {
                rhs[n] = left.per_cell[component_of(label)] - outflow[n];
            }
        },
    );
    for (r, b) in air.iter().enumerate() {
        if let Some(b) = b {
            rhs.supers[*b as usize] = left.air[r] - flux.air[r];
        }
    }
    rhs
}

/// Outflow c_f σκ across every face of a system that the jump of pressure at the liquid's surface drives,
/// m³/s, `[axis][leaf][512]`, positive towards the lower cell; `None` without surface tension
/// [Hong and Kim 2005].
pub(super) fn tension_flux(
    fields: &LiquidFields,
    regions: &Regions,
    system: &PressureSystem,
) -> Option<[Vec<f64>; 3]> {
    fields.tension?;
    let axis_flux = |axis: usize| {
        let mut out = vec![0.0; system.face[axis].len()];
        let leaves = out.par_chunks_mut(leaf::SIZE).zip(system.face[axis].par_chunks(leaf::SIZE));
        leaves.zip(system.topology.origins()).for_each(|((out, face), &origin)| {
            let at = Faces::new(fields, regions, origin);
            for n in (0..leaf::SIZE).filter(|&n| face[n] > 0.0) {
                let i = block::centre(n);
                out[n] = f64::from(face[n]) * at.jump(i - block::STEP[axis], i);
            }
        });
        out
    };
    Some([axis_flux(0), axis_flux(1), axis_flux(2)])
}

/// Moves the surface tension's flux to the right side of the cells and bubbles on both sides of each face.
pub(super) fn add_tension(system: &PressureSystem, tension: &[Vec<f64>; 3], rhs: &mut Unknowns) {
    let mut add = |slot: usize, outflow: f64| match system.label[slot] {
        CELL => rhs.cells[slot] += outflow,
        b if b >= 0 => rhs.supers[b as usize] += outflow,
        _ => {}
    };
    for (axis, tension) in tension.iter().enumerate() {
        for (slot, &q) in tension.iter().enumerate().filter(|(_, q)| **q != 0.0) {
            let mut below = leaf::local(slot % leaf::SIZE);
            below[axis] -= 1;
            add(slot, -q);
            if let Some(low) = system.topology.reach(slot / leaf::SIZE, below) {
                add(low, q);
            }
        }
    }
}
