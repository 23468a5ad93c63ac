//! Bodies in the pressure system: how each degree of freedom moves the volumes of cells and bubbles.

use super::Error;
use super::assemble::AirUnknowns;
use super::body_faces::{BodyFaces, BodyFlux};
use super::constraints::{ConstraintGroups, Motion, Unit, Verdict};
use super::covered::{Covered, Face, Pushed, at_face};
use super::flux::Flux;
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
use rayon::prelude::*;

/// The bodies of a projection: C, whose columns are the outflows that the unit motions of each degree of freedom
/// prescribe to cells and air. They are summed by the rule of the flux ([`super::flux`]), so C is adjoint to it.
pub(crate) struct Attached<'a> {
    bodies: &'a [Body],
    /// Per body.
    shares: Vec<Shares>,
    /// q̇ per body without the solve.
    velocity: Vec<Vec<f64>>,
    /// Which of them joints and contacts join.
    groups: ConstraintGroups,
    dt: f64,
}

/// A body's columns of C, and dt M⁻¹ of its mass with its lining.
enum Shares {
    /// Of rigid pieces.
    Rigid(Box<Rigid>),
    /// It deforms; its columns are made when the system is known.
    Skin(Box<Skinned>, AttachedMass),
}

/// The faces and columns of a body whose pieces move rigidly.
struct Rigid {
    faces: BodyFaces,
    /// Per degree of freedom.
    columns: Vec<Share>,
    /// dt M⁻¹, row-major.
    inverse: Vec<f64>,
}

impl Shares {
    /// dt M⁻¹, row-major; empty where that is no dense matrix.
    fn dense(&self) -> Vec<f64> {
        match self {
            Self::Rigid(rigid) => rigid.inverse.clone(),
            Self::Skin(..) => Vec::new(),
        }
    }

    /// The net outflow of each degree of freedom.
    fn nets(&self) -> Vec<Net> {
        match self {
            Self::Rigid(rigid) => rigid.columns.iter().map(Share::net).collect(),
            Self::Skin(skinned, _) => skinned.nets().collect(),
        }
    }
}

/// One degree of freedom.
struct Share {
    outflow: Vec<BodyFlux>,
    /// Beside walls that other solids cover.
    pushed: Pushed,
}

impl Share {
    /// What it moves, in absolute values. What goes into air is summed, and sums may cancel: of a body that lies in one bubble
    /// rounding is left.
    fn moved(&self) -> f64 {
        self.outflow.iter().map(|flux| flux.moved).sum::<f64>() + self.pushed.all()
    }

    fn net(&self) -> Net {
        let mut net = Net::default();
        for flux in &self.outflow {
            net.liquid.extend_from_slice(&flux.liquid);
            net.air.extend_from_slice(&flux.air);
        }
        net.all = self.moved();
        net.liquid.extend(self.pushed.liquid.iter().map(|&(_, of, v)| (of, v)));
        net.air.extend_from_slice(&self.pushed.air);
        net
    }
}

impl<'a> Attached<'a> {
    /// No body.
    pub(crate) fn none(dt: f64) -> Self {
        let (shares, velocity, groups) = Default::default();
        Self { bodies: &[], shares, velocity, groups, dt }
    }

    /// Finds the shares of all bodies.
    pub(crate) fn find(fields: &LiquidFields<'a>, regions: &Regions, dt: f64) -> Result<Self, Error> {
        let mut found = Self::none(dt);
        let Some(bodies) = fields.bodies else { return Ok(found) };
        found.bodies = bodies.bodies;
        let leaves = leaves_of_bodies(&bodies);
        let near_all = near(&leaves.concat());
        let covered = Covered::find(fields, regions, &bodies, near_all.origins());
        let linings = Lining::of_all(fields, regions, &bodies, near_all.origins(), &covered);
        let covers = covered.by_body(&bodies);
        let of_body = |(b, own): (usize, Vec<Coord>)| {
            let (body, near) = (&bodies.bodies[b], near(&own));
            match &body.pieces {
                Pieces::Rigid(_) => {
                    let (mut inverse, velocity) = linings[b].line(body).ok_or(Error::Mass(b))?;
                    inverse.iter_mut().for_each(|w| *w *= dt);
                    let faces = BodyFaces::find(fields, regions, &bodies, b, (own, &near));
                    let columns = columns(fields, &bodies, b, &faces, (&covered, &covers[b]));
                    Ok((Shares::Rigid(Box::new(Rigid { faces, columns, inverse })), velocity))
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
                    Ok((Shares::Skin(Box::new(skinned), lined.inverse), lined.velocity))
                }
            }
        };
        let each: Vec<Result<_, Error>> = leaves.into_par_iter().enumerate().map(of_body).collect();
        // The first body at fault is named, whatever the threads do.
        for shares in each {
            let (shares, velocity) = shares?;
            found.shares.push(shares);
            found.velocity.push(velocity);
        }
        let inverse: Vec<Vec<f64>> = found.shares.iter().map(Shares::dense).collect();
        let moving = (inverse.as_slice(), found.velocity.as_slice());
        found.groups = ConstraintGroups::new(bodies.bodies, bodies.constraints, moving, dt)?;
        found.settle_dry();
        Ok(found)
    }

    /// Bodies that neither liquid nor air feels are solved for without them.
    fn settle_dry(&mut self) {
        let is_dry = |b: usize| self.shares[b].nets().iter().all(|net| net.all == 0.0);
        let dry: Vec<bool> = (0..self.bodies.len()).map(is_dry).collect();
        for unit in &mut self.groups.units {
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
        for shares in &self.shares {
            match shares {
                Shares::Rigid(rigid) => {
                    let air =
                        rigid.columns.iter().flat_map(|share| &share.outflow).flat_map(|flux| &flux.air);
                    let behind = rigid.columns.iter().flat_map(|share| &share.pushed.air);
                    air.chain(behind).filter(|(_, v)| *v != 0.0).for_each(|(r, _)| reached[*r] = true);
                }
                Shares::Skin(skinned, _) => skinned.air().for_each(|r| reached[r] = true),
            }
        }
        reached
    }

    /// dt M̃⁻¹ of what moves as one, with the joints and contacts that hold; C is not known yet.
    pub(crate) fn operators(&self) -> Result<Vec<AttachedMass>, Error> {
        let operator = |unit: &Unit| match unit {
            Unit::Alone(b) => {
                let columns = vec![Column::default(); self.velocity[*b].len()];
                match &self.shares[*b] {
                    Shares::Rigid(rigid) => AttachedMass::dense(columns, rigid.inverse.clone()),
                    Shares::Skin(_, operator) => operator.with_columns(columns),
                }
                .map_err(|_| Error::Mass(*b))
            }
            Unit::Joined(group) => {
                let columns = vec![Column::default(); group.size()];
                group.operator(columns, self.dt).map_err(|error| Error::Mass(group.at_fault(&error)))
            }
        };
        self.groups.units.iter().map(operator).collect()
    }

    /// The shares of the rigid bodies that move as one.
    fn shares_of_unit<'s>(&'s self, unit: &Unit) -> impl Iterator<Item = &'s Share> {
        unit.bodies().into_iter().flat_map(|(b, _)| match &self.shares[b] {
            Shares::Rigid(rigid) => rigid.columns.as_slice(),
            Shares::Skin(..) => &[],
        })
    }

    /// The skin that moves by itself. Rows that speak of one were refused.
    fn skin_of(&self, unit: &Unit) -> Option<&Skinned> {
        match unit {
            Unit::Alone(b) => match &self.shares[*b] {
                Shares::Rigid(..) => None,
                Shares::Skin(skinned, _) => Some(skinned),
            },
            Unit::Joined(_) => None,
        }
    }

    /// The net outflow of each motion that bodies are free to make.
    pub(crate) fn nets(&self, operators: &[AttachedMass]) -> Vec<Net> {
        let of_unit = |(unit, operator): (&Unit, &AttachedMass)| -> Vec<Net> {
            let nets: Vec<Net> = unit.bodies().into_iter().flat_map(|(b, _)| self.shares[b].nets()).collect();
            match operator.motions() {
                None => nets,
                Some(motions) => motions.iter().map(|motion| Net::sum(&nets, motion)).collect(),
            }
        };
        self.groups.units.iter().zip(operators).flat_map(of_unit).collect()
    }

    /// What moves as one as the engine takes it.
    pub(crate) fn masses(
        &self,
        operators: &[AttachedMass],
        system: &PressureSystem,
        air: &AirUnknowns,
    ) -> Result<Vec<AttachedMass>, Error> {
        let mass = |(unit, operator): (&Unit, &AttachedMass)| {
            let columns = match self.skin_of(unit) {
                Some(skinned) => skinned.columns(system, air),
                None => self.shares_of_unit(unit).map(|share| column(share, system, air)).collect(),
            };
            operator.with_columns(columns).map_err(|_| Error::Mass(unit.bodies()[0].0))
        };
        self.groups.units.iter().zip(operators).map(mass).collect()
    }

    /// q̇ = q̇* + M⁻¹ (dt Cᵀ x + Jᵀ λ) of what moves as one.
    pub(crate) fn motions(&self, system: &PressureSystem, x: &Unknowns) -> Vec<Motion> {
        let motion = |(unit, mass): (&Unit, &AttachedMass)| match unit {
            Unit::Joined(group) => group.moved(&pressed(mass, x, self.dt)),
            Unit::Alone(b) => {
                let force = pressed(mass, x, 1.0);
                let k = force.len();
                let change: Vec<f64> = match &self.shares[*b] {
                    Shares::Rigid(rigid) => {
                        let dot = |row: &[f64]| row.iter().zip(&force).map(|(w, force)| w * force).sum();
                        rigid.inverse.chunks_exact(k.max(1)).map(dot).collect()
                    }
                    Shares::Skin(..) => mass.weigh(&force),
                };
                let velocity = self.velocity[*b].iter().zip(change).map(|(v, change)| v + change).collect();
                Motion { velocity, impulses: Vec::new() }
            }
        };
        self.groups.units.iter().zip(&system.attached).map(motion).collect()
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
        for ((unit, mass), motion) in self.groups.units.iter_mut().zip(&system.attached).zip(motions) {
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
        for (unit, motion) in self.groups.units.iter().zip(motions) {
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
                let gained = body.mass.times(&gained);
                let impulse = gained.iter().zip(&held[first..]).map(|(gained, held)| gained - held).collect();
                all[b] = Moved { velocity, impulse };
            }
        }
        (all, self.groups.all(motions))
    }

    /// q̇ of each body without pressures.
    fn unpressed(&self) -> Vec<Vec<f64>> {
        let mut all = self.velocity.clone();
        for unit in &self.groups.units {
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

    /// Adds what covered walls push away, with the bodies moving as they would without the solve.
    pub(crate) fn enter_start(&self, topology: &Topology, flux: &mut Flux) {
        self.enter(topology, self.unpressed().iter().map(Vec::as_slice), flux);
    }

    /// The same, with the bodies as the solve moved them.
    pub(crate) fn enter_end(&self, topology: &Topology, moved: &[Moved], flux: &mut Flux) {
        self.enter(topology, moved.iter().map(|moved| moved.velocity.as_slice()), flux);
    }

    fn enter<'v>(&self, topology: &Topology, velocities: impl Iterator<Item = &'v [f64]>, flux: &mut Flux) {
        for (shares, velocity) in self.shares.iter().zip(velocities) {
            if let Shares::Rigid(rigid) = shares {
                rigid
                    .columns
                    .iter()
                    .zip(velocity)
                    .for_each(|(share, &v)| share.pushed.enter(topology, v, flux));
            }
        }
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
        fields.bodies?;
        let mut walls = fields.vel_solid.clone();
        for (shares, velocity) in self.shares.iter().zip(velocities) {
            match shares {
                Shares::Rigid(rigid) => rigid.faces.write(velocity, &mut walls),
                Shares::Skin(skinned, _) => skinned.write(velocity, &mut walls),
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
                let body = bodies.of_number(number);
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

/// The shares of a body's degrees of freedom; `own`: the covered cells that it covers.
fn columns(
    fields: &LiquidFields,
    bodies: &Bodies,
    body: usize,
    faces: &BodyFaces,
    (covered, own): (&Covered, &[usize]),
) -> Vec<Share> {
    let this = &bodies.bodies[body];
    let pieces = this.pieces.rigid();
    let share = |dof: usize| {
        let at_face = |face: &Face| -> f64 {
            let of_body = bodies.of_number(face.owner).filter(|(of, _)| *of == body);
            let piece = of_body.and_then(|(_, piece)| pieces.get(piece));
            piece.map_or(0.0, |piece| at_face(fields, piece, dof, face))
        };
        Share { outflow: faces.outflow(dof), pushed: covered.pushed(fields.voxel_size(), own, at_face) }
    };
    (0..this.velocity.len()).map(share).collect()
}

/// A share over the unknowns of a system; bubbles without a row take none.
fn column(share: &Share, system: &PressureSystem, air: &AirUnknowns) -> Column {
    let mut supers = vec![0.0; system.super_cells.len()];
    let mut cells = Vec::new();
    for flux in &share.outflow {
        if let Some(l) = system.topology.leaf_of(flux.origin) {
            let slots = flux.cells.iter().map(|&(n, v)| (l * leaf::SIZE + n, v));
            let coupled = slots.filter(|&(slot, v)| v != 0.0 && system.label[slot] == CELL);
            cells.extend(coupled.map(|(slot, v)| (slot as u32, v)));
        }
        for &(r, v) in &flux.air {
            if let Some(b) = air[r] {
                supers[b as usize] += v;
            }
        }
    }
    for &(cell, _, v) in &share.pushed.liquid {
        let slot = system.topology.slot_of(cell).filter(|&slot| v != 0.0 && system.label[slot] == CELL);
        cells.extend(slot.map(|slot| (slot as u32, v)));
    }
    for &(r, v) in &share.pushed.air {
        if let Some(b) = air[r] {
            supers[b as usize] += v;
        }
    }
    let supers =
        supers.into_iter().enumerate().filter(|(_, v)| *v != 0.0).map(|(b, v)| (b as u32, v)).collect();
    Column { cells, supers, moved: share.moved() }
}
