//! Builds the pressure system of a liquid and its air, for every coupling.

use super::compatible::Leftover;
use super::flux::Flux;
use crate::coupling::air::regions::sets::{ALL, Around, NONE, Words};
use crate::coupling::air::regions::{LABEL_SOLID, Regions, component_of};
use crate::coupling::fields::LiquidFields;
use crate::grid::block::{self, Block};
use crate::grid::morphology::{offsets, shift};
use crate::grid::rows::{Rows, row_of};
use crate::grid::{Coord, Topology, leaf};
use crate::levelset::fractions::theta;
use crate::pressure::{CELL, Density, FIXED, PressureSystem, SOLID, SuperCell, Unknowns};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Per air region, the super-cell that carries its pressure; `None` where the pressure is given as 0.
pub(crate) type AirUnknowns = Vec<Option<u32>>;

/// The leaves with liquid, and the leaves that liquid cells touch through a face.
pub(crate) fn liquid_leaves(regions: &Regions) -> Arc<Topology> {
    let topology = &regions.cells.topology;
    let reached = |(l, &origin): (usize, &Coord)| {
        let mut out = Vec::new();
        let liquid = regions.liquid_of(l);
        if *liquid == NONE {
            return out;
        }
        out.push(origin);
        let beyond = |side: usize| {
            let step = if side % 2 == 1 { 1 } else { -1 };
            let inside = shift(&ALL, &NONE, side / 2, step);
            (0..leaf::DIM).any(|x| liquid[x] & !inside[x] != 0)
        };
        for side in (0..6).filter(|&side| beyond(side)) {
            let mut step = IVec3::ZERO;
            step[side / 2] = (side as i32 % 2 * 2 - 1) * leaf::DIM as i32;
            out.push(origin + step);
        }
        out
    };
    let origins: Vec<Vec<Coord>> = topology.origins().par_iter().enumerate().map(reached).collect();
    Arc::new(Topology::new(origins.concat()))
}

/// The values around one leaf that its face coefficients need.
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
            Density::PerCell(rho) => (Some(block::of(rho, origin)), 0.0),
        };
        Self {
            labels: regions.block(origin),
            phi: block::of(fields.surface, origin),
            density,
            uniform_density,
            tension: fields.cells.tension.map(|t| block::of(t, origin)),
            fields,
        }
    }

    fn density(&self, i: usize) -> f64 {
        self.density.as_ref().map_or(self.uniform_density, |rho| f64::from(rho[i]))
    }

    /// c_f = dt α h / (ρ θ) of the face between block positions `low` and `high`, θ the ghost-fluid factor
    /// of a face between liquid and air, else 1 [Gibou et al. 2002]; 0 where nothing is coupled. `given`: ρ of the face,
    /// where it is not the mean of both cells.
    fn coefficient(&self, low: usize, high: usize, alpha: f32, given: Option<f32>, dt: f64) -> f64 {
        let area = dt * f64::from(alpha) * self.fields.voxel_size();
        let mean = || 0.5 * (self.density(low) + self.density(high));
        match (self.labels[low] < LABEL_SOLID, self.labels[high] < LABEL_SOLID) {
            (true, true) => area / given.map_or_else(mean, f64::from),
            (true, false) if self.labels[high] >= 0 => area / (self.density(low) * self.theta(low, high)),
            (false, true) if self.labels[low] >= 0 => area / (self.density(high) * self.theta(high, low)),
            _ => 0.0,
        }
    }

    fn theta(&self, liquid: usize, air: usize) -> f64 {
        f64::from(theta(self.phi[liquid], self.phi[air]))
    }

    /// σκ on the face between two cells, Pa: the surface tension's contribution to the pressure of the air there.
    /// Negative where the lower cell is the air, so that p_high + jump − p_low is always what drives the face.
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
pub(crate) fn system(
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
        let around = regions.around(origin);
        for (n, label) in label.iter_mut().enumerate() {
            *label = match around.label(n) {
                LABEL_SOLID => SOLID,
                r if r >= 0 => air[r as usize].map_or(FIXED, |b| b as i32),
                _ => CELL,
            };
        }
        let mut at: Option<Faces> = None;
        let given = fields.face_density.map(|rho| Rows::faces(rho, origin));
        for (axis, (out, open)) in [fx, fy, fz].into_iter().zip(Rows::faces(fields.open, origin)).enumerate()
        {
            let (submerged, surface) = coupled_faces(&around, axis);
            let one_by_one = match fields.density {
                Density::Uniform(rho) => {
                    let rows = out.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate();
                    for (n, out) in rows.filter(|(n, _)| row_of(&submerged, *n) != 0) {
                        let (set, alpha) = (row_of(&submerged, n), open.row(n));
                        let coefficient = |z: usize| {
                            let area = dt * f64::from(alpha[z]) * fields.voxel_size();
                            (area / (0.5 * (rho + rho))) as f32
                        };
                        let all: [f32; leaf::DIM] = std::array::from_fn(coefficient);
                        *out = std::array::from_fn(|z| if set & 1 << z != 0 { all[z] } else { 0.0 });
                    }
                    surface
                }
                Density::PerCell(_) => std::array::from_fn(|x| submerged[x] | surface[x]),
            };
            for n in offsets(&one_by_one) {
                let i = block::centre(n);
                let at = at.get_or_insert_with(|| Faces::new(fields, regions, origin));
                let given = given.as_ref().map(|rho| rho[axis].at(n));
                out[n] = at.coefficient(i - block::STRIDE[axis], i, open.at(n), given, dt) as f32;
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
        links: Vec::new(),
    }
}

/// The open lower `axis` faces of a leaf between liquid and liquid, and those between liquid and air.
fn coupled_faces(around: &Around, axis: usize) -> (Words, Words) {
    let (open, liquid, air) = (around.passable(2 * axis), around.liquid(), around.air());
    let (liquid_below, air_below) = (around.liquid_behind(2 * axis), around.air_behind(2 * axis));
    let submerged = std::array::from_fn(|x| open[x] & liquid[x] & liquid_below[x]);
    let surface = |x: usize| open[x] & (liquid[x] & air_below[x] | air[x] & liquid_below[x]);
    (submerged, std::array::from_fn(surface))
}

/// The right side −(D u* + s), −(B u* + s_b), less the outflow that no velocity can remove.
pub(crate) fn right_side(
    regions: &Regions,
    system: &PressureSystem,
    air: &AirUnknowns,
    flux: &Flux,
    left: &Leftover,
) -> Unknowns {
    let mut rhs = Unknowns::zeros(system);
    let nothing_left = left.is_none();
    rhs.cells.par_chunks_mut(leaf::SIZE).zip(flux.cells.par_chunks(leaf::SIZE)).enumerate().for_each(
        |(l, (rhs, outflow))| {
            if nothing_left {
                // Outflows are 0 where no liquid is.
                rhs.iter_mut().zip(outflow).for_each(|(rhs, outflow)| *rhs = 0.0 - outflow);
                return;
            }
            let Some(labels) = regions.of_leaf(system.topology.origins()[l]) else { return };
            for (n, &label) in labels.iter().enumerate().filter(|(_, label)| **label < LABEL_SOLID) {
                rhs[n] = left.of_cell(component_of(label), l * leaf::SIZE + n) - outflow[n];
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

/// Outflow c_f J across every face of a system, driven by what the pressure jumps by, m³/s, `[axis][leaf][512]`, positive towards
/// the lower cell: σκ at the liquid's surface [Hong and Kim 2005], less what something in the face carries. `None` where nothing
/// jumps.
pub(crate) fn jump_flux(
    fields: &LiquidFields,
    regions: &Regions,
    system: &PressureSystem,
) -> Option<[Vec<f64>; 3]> {
    if fields.cells.tension.is_none() && fields.jump.is_none() {
        return None;
    }
    let axis_flux = |axis: usize| {
        let mut out = vec![0.0; system.face[axis].len()];
        let leaves = out.par_chunks_mut(leaf::SIZE).zip(system.face[axis].par_chunks(leaf::SIZE));
        leaves.zip(system.topology.origins()).for_each(|((out, face), &origin)| {
            let at = Faces::new(fields, regions, origin);
            let carried = fields.jump.map(|jump| Rows::faces(jump, origin));
            for n in (0..leaf::SIZE).filter(|&n| face[n] > 0.0) {
                let i = block::centre(n);
                let carried = carried.as_ref().map_or(0.0, |jump| f64::from(jump[axis].at(n)));
                out[n] = f64::from(face[n]) * (at.jump(i - block::STRIDE[axis], i) - carried);
            }
        });
        out
    };
    Some([axis_flux(0), axis_flux(1), axis_flux(2)])
}

/// Moves the flux of jumps to the right side of the cells and bubbles on both sides of each face.
pub(crate) fn add_jumps(system: &PressureSystem, jumps: &[Vec<f64>; 3], rhs: &mut Unknowns) {
    let mut add = |slot: usize, outflow: f64| match system.label[slot] {
        CELL => rhs.cells[slot] += outflow,
        b if b >= 0 => rhs.supers[b as usize] += outflow,
        _ => {}
    };
    for (axis, jumps) in jumps.iter().enumerate() {
        for (slot, &q) in jumps.iter().enumerate().filter(|(_, q)| **q != 0.0) {
            let mut below = leaf::local(slot % leaf::SIZE);
            below[axis] -= 1;
            add(slot, -q);
            if let Some(low) = system.topology.reach(slot / leaf::SIZE, below) {
                add(low, q);
            }
        }
    }
}
