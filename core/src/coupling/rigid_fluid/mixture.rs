//! The prediction of the whole domain: liquid and bodies as one fluid.

use super::domain::Domain;
use super::places::Place;
use super::rigid::{Parts, RigidBody};
use crate::coupling::fields::LiquidFields;
use crate::grid::{FaceGrid, Grid, leaf};
use std::sync::Arc;

/// What the projection of C starts from.
pub(super) struct Mixture {
    /// Velocity on faces, m/s: of all that flows through each.
    pub(super) vel: FaceGrid<f32>,
    /// Density on faces, kg/m³.
    pub(super) face_density: FaceGrid<f32>,
    /// What moves in the faces of each body.
    pub(super) parts: Vec<Vec<Option<Parts>>>,
    /// Wanted divergence, 1/s: the liquid's, none in the bodies.
    pub(super) source: Option<Grid<f32>>,
}

impl Mixture {
    /// Mixes the liquid's velocity `vel`, m/s, with the bodies' by volume [Carlson et al. 2004, Eq. 26].
    pub(super) fn of(
        fields: &LiquidFields,
        domain: &Domain,
        rigid: &[RigidBody],
        vel: &FaceGrid<f32>,
    ) -> Self {
        let topology = Arc::new(vel.topology.union(&domain.topology));
        let mut mixture = Self {
            vel: vel.on(&topology),
            face_density: liquid_on_faces(fields, domain),
            parts: Vec::with_capacity(rigid.len()),
            source: fields.cells.divergence.map(|source| {
                let mut source = source.clone();
                let topology = source.topology.clone();
                for (slot, source) in source.values.iter_mut().enumerate().filter(|(_, v)| **v != 0.0) {
                    *source *= 1.0 - domain.filled.get(topology.coord(slot));
                }
                source
            }),
        };
        for rigid in rigid {
            let kick = |place: &Place| fields.kick_at(domain.topology.coord(place.slot));
            let parts =
                rigid.parts(kick, |place| f64::from(vel.get(place.axis, domain.topology.coord(place.slot))));
            for ((place, masses), parts) in rigid.places.iter().zip(&rigid.masses).zip(&parts) {
                let (Some(masses), Some(parts)) = (masses, parts) else { continue };
                mixture.face_density.values[place.axis][place.slot] = masses.density;
                mixture.vel.set(place.axis, domain.topology.coord(place.slot), parts.mixed);
            }
            mixture.parts.push(parts);
        }
        mixture
    }
}

/// Density of the liquid on faces, kg/m³.
fn liquid_on_faces(fields: &LiquidFields, domain: &Domain) -> FaceGrid<f32> {
    let rho = &domain.liquid_density;
    let mut out = match fields.face_density {
        Some(given) => given.on(&domain.topology),
        None => FaceGrid::new(domain.topology.clone(), rho.background),
    };
    if fields.face_density.is_none() {
        for (axis, out) in out.values.iter_mut().enumerate() {
            for (slot, out) in out.iter_mut().enumerate() {
                let (l, mut below) = (slot / leaf::SIZE, leaf::local(slot % leaf::SIZE));
                below[axis] -= 1;
                *out = 0.5 * (rho.reach(l, below) + rho.values[slot]);
            }
        }
    }
    out
}
