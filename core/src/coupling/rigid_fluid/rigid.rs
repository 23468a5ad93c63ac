//! The rigid projection: the motion of a body that has the momentum of the field in it [Carlson et al. 2004, §6.3].

use super::domain::{Domain, body};
use super::places::{Masses, Place, cell_density, masses_at, places};
use crate::coupling::bodies::{Bodies, Body, Moved, Pieces};
use crate::coupling::fields::LiquidFields;
use crate::coupling::mass::Mass;
use crate::coupling::projection::Error;
use crate::grid::Grid;
use glam::DVec3;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Least density of a body, in densities of the liquid around it. Lighter ones are thrown: a cube of six voxels let go at the bottom of
/// a tank reached 4 m/s at this bound, 16 and 310 m/s at a tenth and a hundredth of it.
const LIGHTEST: f64 = 1e-3;

/// A body in C.
pub(super) struct RigidBody {
    /// Faces in it, wet or dry, by leaf.
    pub(super) places: Vec<Place>,
    /// J of each place: velocity along its axis per unit of each degree of freedom, `[place][k]`.
    basis: Vec<f64>,
    /// ρ_r, kg/m³.
    pub(super) density: f64,
    /// Of each place; `None` where it is dry.
    pub(super) masses: Vec<Option<Masses>>,
    /// M of the body.
    mass: DMatrix<f64>,
    /// M and the liquid of closed faces.
    lined: Cholesky<f64, Dyn>,
    /// What joints and contacts gave, as momentum along each degree of freedom.
    held: DVector<f64>,
    /// q̇ with the weight of the body and the lift of the liquid that it displaces.
    start: DVector<f64>,
}

/// What moves in a face of C, m/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// The body's part.
    pub(super) body: f64,
    /// The liquid's.
    pub(super) liquid: f64,
    /// Both, by volume: what flows through the face.
    pub(super) mixed: f32,
}

/// All bodies of a projection, and the density of the cells of C, kg/m³.
pub(super) fn find_all(
    fields: &LiquidFields,
    bodies: &Bodies,
    domain: &Domain,
) -> Result<(Vec<RigidBody>, Grid<f32>), Error> {
    let mut held: Vec<DVector<f64>> =
        bodies.bodies.iter().map(|body| DVector::zeros(body.velocity.len())).collect();
    for (n, row) in bodies.constraints.iter().enumerate() {
        for &(b, freedom, value) in &row.entries {
            let entry = held.get_mut(b).and_then(|held| held.get_mut(freedom));
            *entry.ok_or(Error::Constraint(n))? += value * row.pressed;
        }
    }
    let mut all = Vec::with_capacity(held.len());
    for (b, (places, held)) in places(bodies, domain).into_iter().zip(held).enumerate() {
        all.push(RigidBody::dry(fields, bodies, domain, b, places, held)?);
    }
    let density = cell_density(domain, all.iter().map(|rigid| (rigid.places.as_slice(), rigid.density)));
    for (b, rigid) in all.iter_mut().enumerate() {
        rigid.wet(fields, domain, &density, &bodies.bodies[b]);
        if rigid.is_wet() && rigid.places.iter().all(|place| place.is_thin(domain)) {
            return Err(Error::Thin(b));
        }
        if rigid.is_light() {
            return Err(Error::Light(b));
        }
    }
    Ok((all, density))
}

impl RigidBody {
    /// A body that nothing has wetted. ρ_r is the greatest density with which Σ ρ w h³ J Jᵀ ≤ M over all of its faces.
    fn dry(
        fields: &LiquidFields,
        bodies: &Bodies,
        domain: &Domain,
        b: usize,
        places: Vec<Place>,
        held: DVector<f64>,
    ) -> Result<Self, Error> {
        let this = &bodies.bodies[b];
        let k = this.velocity.len();
        let Pieces::Rigid(pieces) = &this.pieces else { return Err(Error::Deforms(b)) };
        let mass = match &this.mass {
            Mass::Dense(mass) => mass.clone(),
            Mass::Sparse(mass) => mass.dense(),
        };
        if mass.len() != k * k || pieces.iter().any(|p| p.twists.len() != k) {
            return Err(Error::Mass(b));
        }
        let mass = DMatrix::from_row_slice(k, k, &mass);
        if (&mass - mass.transpose()).amax() > 1e-9 * mass.amax() {
            return Err(Error::Mass(b));
        }
        let factor = mass.clone().cholesky().ok_or(Error::Mass(b))?;
        let mut basis = Vec::with_capacity(places.len() * k);
        let mut volume = DMatrix::zeros(k, k);
        for place in &places {
            let number = domain.owner.values[place.axis][place.slot];
            let piece =
                body(bodies, number).and_then(|(_, piece)| pieces.get(piece)).ok_or(Error::Mass(b))?;
            let at = fields.transform.face_centre(place.axis, domain.topology.coord(place.slot));
            let first = basis.len();
            basis.extend(piece.along(place.axis, at));
            add_outer(&mut volume, &basis[first..], place.share * fields.voxel_size().powi(3));
        }
        let lower = factor.l();
        let half = lower.solve_lower_triangular(&volume).ok_or(Error::Mass(b))?.transpose();
        let relative = lower.solve_lower_triangular(&half).ok_or(Error::Mass(b))?;
        let most = (0.5 * (&relative + relative.transpose())).symmetric_eigenvalues().max();
        Ok(Self {
            density: if most > 0.0 { 1.0 / most } else { 0.0 },
            masses: vec![None; places.len()],
            start: DVector::from_column_slice(&this.velocity) + factor.solve(&held),
            places,
            basis,
            mass,
            lined: factor,
            held,
        })
    }

    /// J of a place.
    fn basis(&self, place: usize) -> &[f64] {
        let k = self.start.len();
        &self.basis[place * k..(place + 1) * k]
    }

    /// Finds the masses of the faces that lie in C, and lets the liquid that was there lift the body.
    ///
    /// The liquid of closed faces moves as the body's walls moved before, and takes what forces give to liquid.
    fn wet(&mut self, fields: &LiquidFields, domain: &Domain, cells: &Grid<f32>, this: &Body) {
        let before = this.before.as_ref().filter(|before| before.len() == self.start.len());
        let mut lined = self.mass.clone();
        let mut momentum = &self.mass * &self.start;
        for n in 0..self.places.len() {
            let place = &self.places[n];
            let found = masses_at(domain, cells, place, self.density, fields.voxel_size().powi(3));
            let Some(masses) = found else { continue };
            let kick = fields.kick_at(domain.topology.coord(place.slot))[place.axis];
            let j = self.basis(n);
            if place.is_closed {
                add_outer(&mut lined, j, masses.liquid);
                let speed = match before {
                    Some(before) => along(j, before) + kick,
                    None => along(j, self.start.as_slice()),
                };
                add(&mut momentum, masses.liquid * (speed - kick), j);
            }
            add(&mut momentum, -masses.instead * kick, j);
            self.masses[n] = Some(masses);
        }
        if let Some(factor) = lined.cholesky() {
            self.start = factor.solve(&momentum);
            self.lined = factor;
        }
    }

    /// Whether the liquid around it is denser by more than [`LIGHTEST`].
    fn is_light(&self) -> bool {
        let mut masses = self.masses.iter().flatten();
        masses.any(|masses| self.density < LIGHTEST * masses.liquid_density)
    }

    /// Whether any of it lies in C.
    fn is_wet(&self) -> bool {
        self.masses.iter().any(Option::is_some)
    }

    /// What moves in the faces of C before the projection; `None` where a face is dry. At a place `kick` is what forces added to the
    /// liquid's velocity, and `liquid` its velocity, m/s.
    ///
    /// The body's part and the liquid of closed faces have, beside the body's rigid motion, what keeps liquid at rest there.
    pub(super) fn parts(
        &self,
        kick: impl Fn(&Place) -> DVec3,
        liquid: impl Fn(&Place) -> f64,
    ) -> Vec<Option<Parts>> {
        let of_place = |n: usize| {
            let (place, masses) = (&self.places[n], self.masses[n].as_ref()?);
            let rigid = along(self.basis(n), self.start.as_slice());
            let kick = kick(place)[place.axis];
            let body = if masses.own > 0.0 { rigid + masses.instead / masses.own * kick } else { rigid };
            let liquid = if place.is_closed { rigid + kick } else { liquid(place) };
            let mixed = (masses.share * body + (1.0 - masses.share) * liquid) as f32;
            Some(Parts { body, liquid, mixed })
        };
        (0..self.places.len()).map(of_place).collect()
    }

    /// The parts after the projection, which made `u`, m/s, of their mixture: one gradient of pressure has moved both.
    pub(super) fn pressed(&self, parts: &[Option<Parts>], u: impl Fn(&Place) -> f32) -> Vec<Option<Parts>> {
        let of_place = |n: usize| {
            let (place, masses, before) = (&self.places[n], self.masses[n].as_ref()?, parts[n]?);
            let mixed = u(place);
            let impulse = f64::from(masses.density) * (f64::from(mixed) - f64::from(before.mixed));
            let gained = |density: f64| if density > 0.0 { impulse / density } else { 0.0 };
            Some(Parts {
                body: before.body + gained(self.density),
                liquid: before.liquid + gained(masses.liquid_density),
                mixed,
            })
        };
        (0..self.places.len()).map(of_place).collect()
    }

    /// q̇' with M q̇' = Σ m u J over the faces in C + what the rest of M has [Carlson et al. 2004, Eq. 24, 25]. M is the exact
    /// mass, with the liquid of closed faces; the rest is M − Σ m J Jᵀ.
    pub(super) fn made_rigid(&self, parts: &[Option<Parts>]) -> Vec<f64> {
        let mut gained = DVector::zeros(self.start.len());
        for (n, parts) in parts.iter().enumerate() {
            let (Some(parts), Some(masses)) = (parts, &self.masses[n]) else { continue };
            let j = self.basis(n);
            let rigid = along(j, self.start.as_slice());
            add(&mut gained, masses.own * (parts.body - rigid), j);
            if self.places[n].is_closed {
                add(&mut gained, masses.liquid * (parts.liquid - rigid), j);
            }
        }
        (&self.start + self.lined.solve(&gained)).as_slice().to_vec()
    }

    /// What the body gets from what the projection made of the parts.
    pub(super) fn moved(&self, body: &Body, parts: &[Option<Parts>]) -> Moved {
        let velocity = self.made_rigid(parts);
        let gained = DVector::from_iterator(
            velocity.len(),
            velocity.iter().zip(&body.velocity).map(|(after, before)| after - before),
        );
        let impulse = &self.mass * gained - &self.held;
        Moved { velocity, impulse: impulse.as_slice().to_vec() }
    }

    /// q̇ with the weight of the body and the lift of the liquid that it displaces.
    #[cfg(test)]
    pub(super) fn start(&self) -> Vec<f64> {
        self.start.as_slice().to_vec()
    }
}

/// J q̇.
fn along(j: &[f64], velocity: &[f64]) -> f64 {
    j.iter().zip(velocity).map(|(j, v)| j * v).sum()
}

fn add(to: &mut DVector<f64>, by: f64, j: &[f64]) {
    to.iter_mut().zip(j).for_each(|(to, j)| *to += by * j);
}

/// Adds `by` J Jᵀ.
fn add_outer(to: &mut DMatrix<f64>, j: &[f64], by: f64) {
    for (column, b) in j.iter().enumerate() {
        for (row, a) in j.iter().enumerate() {
            to[(row, column)] += by * a * b;
        }
    }
}
