//! Bodies in the pressure system: how each degree of freedom moves the volumes of cells and bubbles.

use super::Error;
use super::assemble::AirUnknowns;
use super::flux::{WallFlux, wall_flux_near};
use super::gauge::Net;
use super::lining::Lining;
use super::skin_lining::{self, Fault};
use super::skinned::Skinned;
use crate::coupling::air::regions::Regions;
use crate::coupling::bodies::{Bodies, Body, Moved, Pieces};
use crate::coupling::fields::LiquidFields;
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use crate::pressure::{AttachedMass, CELL, Column, PressureSystem, Unknowns};
use glam::IVec3;
use std::sync::Arc;

/// The bodies of a projection: C, whose columns are the outflows that the unit motions of each degree of freedom
/// prescribe to cells and air. They are computed by the flux itself, so C is adjoint to it.
pub(crate) struct Attached<'a> {
    bodies: &'a [Body],
    /// Per body.
    shares: Vec<Shares>,
    /// q̇ per body without the solve.
    velocity: Vec<Vec<f64>>,
}

/// A body's columns of C, and dt M⁻¹ of its mass with its lining.
enum Shares {
    /// Per degree of freedom; row-major.
    Rigid(Vec<Share>, Vec<f64>),
    /// Without columns.
    Skin(Box<Skinned>, AttachedMass),
}

/// One degree of freedom.
struct Share {
    /// Its velocity on the faces that the body owns, m/s per unit.
    basis: FaceGrid<f32>,
    outflow: Vec<WallFlux>,
}

impl<'a> Attached<'a> {
    /// Finds the shares of all bodies. The error says which body has no usable mass.
    pub(crate) fn find(fields: &LiquidFields<'a>, regions: &Regions, dt: f64) -> Result<Self, Error> {
        let Some(bodies) = fields.bodies else {
            return Ok(Self { bodies: &[], shares: Vec::new(), velocity: Vec::new() });
        };
        let mut found = Self { bodies: bodies.bodies, shares: Vec::new(), velocity: Vec::new() };
        for (b, own) in leaves_of_bodies(&bodies).into_iter().enumerate() {
            let (body, near) = (&bodies.bodies[b], near(&own));
            let (shares, velocity) = match &body.pieces {
                Pieces::Rigid(_) => {
                    let lining = Lining::find(fields, regions, &bodies, b, near.origins());
                    let (mut inverse, velocity) = lining.line(body).ok_or(Error::Mass(b))?;
                    inverse.iter_mut().for_each(|w| *w *= dt);
                    (Shares::Rigid(shares(fields, regions, &bodies, b, own, &near), inverse), velocity)
                }
                Pieces::Skin(skin) => {
                    if !skin.is_of(body.velocity.len()) {
                        return Err(Error::Mass(b));
                    }
                    let skinned = Skinned::find(fields, regions, &bodies, b, skin, (own, near));
                    let lined = skin_lining::line(fields, regions, &bodies, b, &skinned, dt);
                    let lined = lined.map_err(|fault| match fault {
                        Fault::Mass => Error::Mass(b),
                        Fault::Indefinite(row) => Error::Indefinite { body: b, row },
                    })?;
                    (Shares::Skin(Box::new(skinned), lined.inverse), lined.velocity)
                }
            };
            found.shares.push(shares);
            found.velocity.push(velocity);
        }
        Ok(found)
    }

    /// The air regions that bodies reach.
    pub(crate) fn reached(&self, regions: usize) -> Vec<bool> {
        let mut reached = vec![false; regions];
        for shares in &self.shares {
            match shares {
                Shares::Rigid(shares, _) => {
                    let air = shares.iter().flat_map(|share| &share.outflow).flat_map(|flux| &flux.air);
                    air.filter(|(_, v)| *v != 0.0).for_each(|(r, _)| reached[*r] = true);
                }
                Shares::Skin(skinned, _) => skinned.air().for_each(|r| reached[r] = true),
            }
        }
        reached
    }

    /// The net outflow of each degree of freedom.
    pub(crate) fn nets(&self) -> Vec<Net> {
        let net = |share: &Share| {
            let mut net = Net::default();
            for flux in &share.outflow {
                net.all += flux.cells.iter().map(|v| v.abs()).sum::<f64>();
                net.all += flux.air.iter().map(|(_, v)| v.abs()).sum::<f64>();
                net.liquid.extend_from_slice(&flux.liquid);
                net.air.extend_from_slice(&flux.air);
            }
            net
        };
        let mut nets = Vec::new();
        for shares in &self.shares {
            match shares {
                Shares::Rigid(shares, _) => nets.extend(shares.iter().map(net)),
                Shares::Skin(skinned, _) => nets.extend(skinned.nets()),
            }
        }
        nets
    }

    /// The bodies as the engine takes them. The error says which body has no usable mass.
    pub(crate) fn masses(
        &self,
        system: &PressureSystem,
        air: &AirUnknowns,
    ) -> Result<Vec<AttachedMass>, Error> {
        let mass = |(b, shares): (usize, &Shares)| {
            let mass = match shares {
                Shares::Rigid(shares, inverse) => {
                    let columns = shares.iter().map(|share| column(share, system, air)).collect();
                    AttachedMass::dense(columns, inverse.clone())
                }
                Shares::Skin(skinned, inverse) => inverse.with_columns(skinned.columns(system, air)),
            };
            mass.map_err(|_| Error::Mass(b))
        };
        self.shares.iter().enumerate().map(mass).collect()
    }

    /// q̇ = q̇* + dt M⁻¹ Cᵀ x, and the impulses that changed the bodies' own momenta.
    pub(crate) fn moved(&self, system: &PressureSystem, x: &Unknowns) -> Vec<Moved> {
        let moved = |(b, mass): (usize, &AttachedMass)| {
            let (body, shares) = (&self.bodies[b], &self.shares[b]);
            let force: Vec<f64> = mass.columns().iter().map(|c| work(c, x)).collect();
            let k = force.len();
            let change: Vec<f64> = match shares {
                Shares::Rigid(_, inverse) => {
                    (0..k).map(|i| (0..k).map(|j| inverse[i * k + j] * force[j]).sum()).collect()
                }
                Shares::Skin(..) => mass.weigh(&force),
            };
            let velocity: Vec<f64> =
                self.velocity[b].iter().zip(change).map(|(v, change)| v + change).collect();
            let gained: Vec<f64> =
                velocity.iter().zip(&body.velocity).map(|(v, before)| v - before).collect();
            Moved { impulse: body.mass.times(&gained), velocity }
        };
        system.attached.iter().enumerate().map(moved).collect()
    }

    /// The solids' velocities, with the bodies moving as they would without the solve; `None` where there are no bodies.
    pub(crate) fn start(&self, fields: &LiquidFields) -> Option<FaceGrid<f32>> {
        self.walls(fields, self.velocity.iter().map(Vec::as_slice))
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
            let shares = match shares {
                Shares::Rigid(shares, _) => shares,
                Shares::Skin(skinned, _) => {
                    skinned.write(velocity, &mut walls);
                    continue;
                }
            };
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
fn shares(
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
    let pieces = this.pieces.rigid();
    let share = |dof: usize| {
        let velocity = |axis: usize, c: Coord| {
            let Some(piece) = piece_of(owner.get(axis, c)).and_then(|p| pieces.get(p)) else {
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
