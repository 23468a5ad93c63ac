//! Bodies in the pressure system: how each degree of freedom moves the volumes of cells and bubbles.

use super::Error;
use super::assemble::AirUnknowns;
use super::flux::{WallFlux, wall_flux_near};
use super::gauge::Net;
use super::held::{Held, Motion, Unit, Verdict};
use super::lining::Lining;
use crate::coupling::air::regions::Regions;
use crate::coupling::bodies::{Bodies, Body, Moved};
use crate::coupling::fields::LiquidFields;
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use crate::pressure::{AttachedMass, CELL, Column, PressureSystem, Unknowns};
use glam::IVec3;
use std::sync::Arc;

/// The bodies of a projection: C, whose columns are the outflows that the unit motions of each degree of freedom
/// prescribe to cells and air. They are computed by the flux itself, so C is adjoint to it.
pub(crate) struct Attached<'a> {
    bodies: &'a [Body],
    /// Per body and degree of freedom.
    shares: Vec<Vec<Share>>,
    /// dt M⁻¹ per body, row-major, of the mass with its lining.
    inverse: Vec<Vec<f64>>,
    /// q̇ per body without the solve.
    velocity: Vec<Vec<f64>>,
    /// Which of them joints and contacts join.
    held: Held,
    dt: f64,
}

/// One degree of freedom.
struct Share {
    /// Its velocity on the faces that the body owns, m/s per unit.
    basis: FaceGrid<f32>,
    outflow: Vec<WallFlux>,
}

impl Share {
    /// Whether it moves liquid.
    fn is_wet(&self) -> bool {
        self.outflow.iter().any(|flux| flux.cells.iter().any(|v| *v != 0.0))
    }

    fn net(&self) -> Net {
        let mut net = Net::default();
        for flux in &self.outflow {
            net.all += flux.cells.iter().map(|v| v.abs()).sum::<f64>();
            net.all += flux.air.iter().map(|(_, v)| v.abs()).sum::<f64>();
            net.liquid.extend_from_slice(&flux.liquid);
            net.air.extend_from_slice(&flux.air);
        }
        net
    }
}

impl<'a> Attached<'a> {
    /// Finds the shares of all bodies.
    pub(crate) fn find(fields: &LiquidFields<'a>, regions: &Regions, dt: f64) -> Result<Self, Error> {
        let (shares, inverse, velocity, held) = Default::default();
        let mut found = Self { bodies: &[], shares, inverse, velocity, held, dt };
        let Some(bodies) = fields.bodies else { return Ok(found) };
        found.bodies = bodies.bodies;
        for (b, own) in leaves_of_bodies(&bodies).into_iter().enumerate() {
            let near = near(&own);
            let lining = Lining::find(fields, regions, &bodies, b, near.origins());
            let (mut inverse, velocity) = lining.line(&bodies.bodies[b]).ok_or(Error::Mass(b))?;
            inverse.iter_mut().for_each(|w| *w *= dt);
            found.inverse.push(inverse);
            found.velocity.push(velocity);
            found.shares.push(shares_of(fields, regions, &bodies, b, own, &near));
        }
        let moving = (found.inverse.as_slice(), found.velocity.as_slice());
        found.held = Held::new(bodies.bodies, bodies.constraints, moving, dt).map_err(Error::Constraint)?;
        found.settle_dry();
        Ok(found)
    }

    /// Bodies that neither liquid nor air feels are solved for without them.
    fn settle_dry(&mut self) {
        let is_dry = |b: usize| self.shares[b].iter().all(|share| share.net().all == 0.0);
        let dry: Vec<bool> = (0..self.bodies.len()).map(is_dry).collect();
        for unit in &mut self.held.units {
            if let Unit::Joined(group) = unit
                && group.bodies.iter().all(|&(b, _)| dry[b])
            {
                let still = vec![0.0; group.size()];
                while group.judge(&still, &mut group.moved(&still)) == Verdict::Changed {}
            }
        }
    }

    /// The air regions that bodies reach.
    pub(crate) fn reached(&self, regions: usize) -> Vec<bool> {
        let mut reached = vec![false; regions];
        let fluxes = self.shares.iter().flatten().flat_map(|share| &share.outflow);
        fluxes.flat_map(|flux| &flux.air).filter(|(_, v)| *v != 0.0).for_each(|(r, _)| reached[*r] = true);
        reached
    }

    /// dt M̃⁻¹ of what moves as one, with the joints and contacts that hold; C is not known yet.
    pub(crate) fn operators(&self) -> Result<Vec<AttachedMass>, Error> {
        let operator = |unit: &Unit| match unit {
            Unit::Alone(b) => {
                let columns = vec![Column::default(); self.velocity[*b].len()];
                AttachedMass::dense(columns, self.inverse[*b].clone()).map_err(|_| Error::Mass(*b))
            }
            Unit::Joined(group) => {
                let columns = vec![Column::default(); group.size()];
                group.operator(columns, self.dt).map_err(|_| Error::Mass(group.bodies[0].0))
            }
        };
        self.held.units.iter().map(operator).collect()
    }

    fn shares_of_unit<'s>(&'s self, unit: &Unit) -> Vec<&'s Share> {
        unit.bodies().into_iter().flat_map(|(b, _)| &self.shares[b]).collect()
    }

    /// The net outflow of each motion that bodies are free to make.
    pub(crate) fn nets(&self, operators: &[AttachedMass]) -> Vec<Net> {
        let of_unit = |(unit, operator): (&Unit, &AttachedMass)| -> Vec<Net> {
            let nets: Vec<Net> = self.shares_of_unit(unit).into_iter().map(Share::net).collect();
            match operator.motions() {
                None => nets,
                Some(motions) => motions.iter().map(|motion| Net::sum(&nets, motion)).collect(),
            }
        };
        self.held.units.iter().zip(operators).flat_map(of_unit).collect()
    }

    /// What moves as one as the engine takes it.
    pub(crate) fn masses(
        &self,
        operators: &[AttachedMass],
        system: &PressureSystem,
        air: &AirUnknowns,
    ) -> Result<Vec<AttachedMass>, Error> {
        let mass = |(unit, operator): (&Unit, &AttachedMass)| {
            let shares = self.shares_of_unit(unit).into_iter();
            let columns = shares.map(|share| column(share, system, air)).collect();
            operator.with_columns(columns).map_err(|_| Error::Mass(unit.bodies()[0].0))
        };
        self.held.units.iter().zip(operators).map(mass).collect()
    }

    /// q̇ = q̇* + M⁻¹ (dt Cᵀ x + Jᵀ λ) of what moves as one.
    pub(crate) fn motions(&self, system: &PressureSystem, x: &Unknowns) -> Vec<Motion> {
        let motion = |(unit, mass): (&Unit, &AttachedMass)| match unit {
            Unit::Joined(group) => group.moved(&pressed(mass, x, self.dt)),
            Unit::Alone(b) => {
                let (force, inverse) = (pressed(mass, x, 1.0), &self.inverse[*b]);
                let k = force.len();
                let change = |i: usize| (0..k).map(|j| inverse[i * k + j] * force[j]).sum::<f64>();
                let velocity = (0..k).map(|i| self.velocity[*b][i] + change(i)).collect();
                Motion { velocity, impulses: Vec::new() }
            }
        };
        self.held.units.iter().zip(&system.attached).map(motion).collect()
    }

    /// Whether other joints and contacts than those taken to hold would, so that it must be solved again: they do from now on.
    /// The second is false where this has gone round in a circle.
    pub(crate) fn changes(
        &mut self,
        system: &PressureSystem,
        x: &Unknowns,
        motions: &mut [Motion],
    ) -> (bool, bool) {
        let (mut changed, mut sound) = (false, true);
        for ((unit, mass), motion) in self.held.units.iter_mut().zip(&system.attached).zip(motions) {
            if let Unit::Joined(group) = unit {
                let verdict = group.judge(&pressed(mass, x, self.dt), motion);
                changed |= verdict == Verdict::Changed;
                sound &= verdict != Verdict::Circles;
            }
        }
        (changed, sound)
    }

    /// What each body gets: its velocity, and the impulse of liquid and air that changed its own momentum. With it the
    /// impulse of each joint and contact.
    pub(crate) fn moved(&self, motions: &[Motion]) -> (Vec<Moved>, Vec<f64>) {
        let mut all = vec![Moved::default(); self.bodies.len()];
        for (unit, motion) in self.held.units.iter().zip(motions) {
            let held = match unit {
                Unit::Alone(_) => vec![0.0; motion.velocity.len()],
                Unit::Joined(group) => group.given(&motion.impulses),
            };
            for (b, first) in unit.bodies() {
                let body = &self.bodies[b];
                let k = body.velocity.len();
                let velocity = motion.velocity[first..first + k].to_vec();
                let gained: Vec<f64> =
                    velocity.iter().zip(&body.velocity).map(|(v, before)| v - before).collect();
                let of_row = |row: &[f64]| row.iter().zip(&gained).map(|(m, v)| m * v).sum::<f64>();
                let rows = body.mass.chunks_exact(k.max(1)).map(of_row);
                let impulse = rows.zip(&held[first..]).map(|(gained, held)| gained - held).collect();
                let touched = self.shares[b].iter().any(Share::is_wet);
                all[b] = Moved { velocity, impulse, touched };
            }
        }
        (all, self.held.all(motions))
    }

    /// q̇ of each body without pressures.
    fn unpressed(&self) -> Vec<Vec<f64>> {
        let mut all = self.velocity.clone();
        for unit in &self.held.units {
            if let Unit::Joined(group) = unit {
                let velocity = group.unpressed();
                for &(b, first) in &group.bodies {
                    let k = all[b].len();
                    all[b].copy_from_slice(&velocity[first..first + k]);
                }
            }
        }
        all
    }

    /// The solids' velocities, with the bodies moving as they would without the solve; `None` where there are no bodies.
    pub(crate) fn start(&self, fields: &LiquidFields) -> Option<FaceGrid<f32>> {
        self.walls(fields, self.unpressed().iter().map(Vec::as_slice))
    }

    /// The solids' velocities, with the bodies as the solve moved them; `None` where there are no bodies.
    pub(crate) fn end(&self, fields: &LiquidFields, moved: &[Moved]) -> Option<FaceGrid<f32>> {
        self.walls(fields, moved.iter().map(|moved| moved.velocity.as_slice()))
    }

    /// The solids' velocities, with the bodies moving at `velocities`.
    fn walls<'v>(
        &self,
        fields: &LiquidFields,
        velocities: impl Iterator<Item = &'v [f64]>,
    ) -> Option<FaceGrid<f32>> {
        let bodies = fields.bodies?;
        let mut walls = fields.vel_solid.clone();
        for (b, (shares, velocity)) in self.shares.iter().zip(velocities).enumerate() {
            let Some(first) = shares.first() else { continue };
            for (l, &origin) in first.basis.topology.origins().iter().enumerate() {
                let Some(at) = walls.topology.leaf_of(origin) else { continue };
                for (axis, walls) in walls.values.iter_mut().enumerate() {
                    for n in 0..leaf::SIZE {
                        let cell = origin + IVec3::from_array(leaf::local(n));
                        if bodies.of_face(axis, cell).is_some_and(|(body, _)| body == b) {
                            let of_share =
                                |share: &Share| f64::from(share.basis.values[axis][l * leaf::SIZE + n]);
                            let moved: f64 = shares.iter().zip(velocity).map(|(s, v)| v * of_share(s)).sum();
                            walls[at * leaf::SIZE + n] = moved as f32;
                        }
                    }
                }
            }
        }
        Some(walls)
    }
}

/// Cᵀx of every column, times `by`.
fn pressed(mass: &AttachedMass, x: &Unknowns, by: f64) -> Vec<f64> {
    mass.columns().iter().map(|column| by * work(column, x)).collect()
}

/// Cᵀx of one column.
fn work(column: &Column, x: &Unknowns) -> f64 {
    let cells: f64 = column.cells.iter().map(|&(slot, c)| c * x.cells[slot as usize]).sum();
    cells + column.supers.iter().map(|&(b, c)| c * x.supers[b as usize]).sum::<f64>()
}

/// The leaves with faces of each body.
fn leaves_of_bodies(bodies: &Bodies) -> Vec<Vec<Coord>> {
    let owner = bodies.owner;
    let mut own = vec![Vec::new(); bodies.bodies.len()];
    for (l, &origin) in owner.topology.origins().iter().enumerate() {
        for values in &owner.values {
            let (mut last, mut of_leaf) = (0, values[l * leaf::SIZE..][..leaf::SIZE].iter());
            while let Some(&number) = of_leaf.find(|&&number| number != last) {
                last = number;
                let body = bodies.pieces.get((number as usize).wrapping_sub(1)).copied().flatten();
                if let Some(leaves) = body.and_then(|(b, _)| own.get_mut(b))
                    && leaves.last() != Some(&origin)
                {
                    leaves.push(origin);
                }
            }
        }
    }
    own
}

/// The leaves whose cells have faces in `own`: a face also belongs to the cell below it.
fn near(own: &[Coord]) -> Topology {
    let below = |&o: &Coord| [0, 1, 2].map(|axis| o - leaf::DIM as i32 * IVec3::AXES[axis]);
    Topology::new(own.iter().flat_map(below).chain(own.iter().copied()).collect())
}

/// The shares of a body's degrees of freedom; `own`: the leaves with its faces, `near`: those of their cells.
fn shares_of(
    fields: &LiquidFields,
    regions: &Regions,
    bodies: &Bodies,
    body: usize,
    own: Vec<Coord>,
    near: &Topology,
) -> Vec<Share> {
    let owner = bodies.owner;
    let piece_of = |number: u32| {
        let of = bodies.pieces.get((number as usize).wrapping_sub(1)).copied().flatten();
        of.filter(|(b, _)| *b == body).map(|(_, piece)| piece)
    };
    let topology = Arc::new(Topology::new(own));
    let this = &bodies.bodies[body];
    let share = |dof: usize| {
        let velocity = |axis: usize, c: Coord| {
            let Some(piece) = piece_of(owner.get(axis, c)).and_then(|p| this.pieces.get(p)) else {
                return 0.0;
            };
            let mut at = c.as_dvec3();
            at[axis] -= 0.5;
            piece.twists[dof].at(fields.transform.to_world(at) - piece.pivot)[axis] as f32
        };
        let basis = FaceGrid::from_fn(topology.clone(), 0.0, velocity);
        let outflow = wall_flux_near(&LiquidFields { vel_solid: &basis, ..*fields }, regions, near.origins());
        Share { basis, outflow }
    };
    (0..this.velocity.len()).map(share).collect()
}

/// A share over the unknowns of a system; bubbles without a row take none.
fn column(share: &Share, system: &PressureSystem, air: &AirUnknowns) -> Column {
    let mut supers = vec![0.0; system.super_cells.len()];
    let mut cells = Vec::new();
    for flux in &share.outflow {
        if let Some(l) = system.topology.leaf_of(flux.origin) {
            let slots = (0..leaf::SIZE).map(|n| (l * leaf::SIZE + n, flux.cells[n]));
            let coupled = slots.filter(|&(slot, v)| v != 0.0 && system.label[slot] == CELL);
            cells.extend(coupled.map(|(slot, v)| (slot as u32, v)));
        }
        for &(r, v) in &flux.air {
            if let Some(b) = air[r] {
                supers[b as usize] += v;
            }
        }
    }
    let supers =
        supers.into_iter().enumerate().filter(|(_, v)| *v != 0.0).map(|(b, v)| (b as u32, v)).collect();
    Column { cells, supers }
}
