//! The mass of a body that deforms, with the liquid between its walls and the planes of faces (`lining`).

use super::lining::{LEAST_MASS, layers};
use super::skinned::Skinned;
use crate::coupling::air::regions::Regions;
use crate::coupling::bodies::{Bodies, Body};
use crate::coupling::fields::LiquidFields;
use crate::coupling::mass::{Mass, SparseMass};
use crate::pressure::{AttachedMass, Column, MassError};
use std::borrow::Cow;

/// Share of a mass matrix's row sums that counts in the lightest motion: of linear triangles, a quarter [Wathen 1987].
const LINEAR: f64 = 0.25;

/// The operator of a body and its velocity without the solve.
pub(super) struct Lined {
    /// dt M⁻¹ of the mass with its lining; without columns.
    pub(super) inverse: AttachedMass,
    /// q̇.
    pub(super) velocity: Vec<f64>,
}

/// Why a body has no usable mass.
pub(super) enum Fault {
    /// It is of another size, or not symmetric.
    Mass,
    /// It is not positive definite: a degree of freedom that shows it.
    Indefinite(usize),
}

/// The mass of a body that deforms, with its lining. Each layer of liquid is shared out to the corners of its place, so that S
/// is diagonal; where it counts negative, no more of it counts as mass than leaves [`LEAST_MASS`] of what is there. Its impulse
/// counts whole.
pub(super) fn line(
    fields: &LiquidFields,
    regions: &Regions,
    bodies: &Bodies,
    body: usize,
    skinned: &Skinned,
    dt: f64,
) -> Result<Lined, Fault> {
    let own = &bodies.bodies[body];
    let mass = sparse(own)?;
    let (mut lining, mut impulse) = (vec![0.0; mass.size()], vec![0.0; mass.size()]);
    for layer in layers(fields, regions, bodies, skinned.near().origins()) {
        let place = skinned.place(layer.axis, layer.face).into_iter();
        for (dof, weight) in place.flat_map(|place| place.along(layer.axis)) {
            lining[dof] += weight * layer.mass;
            impulse[dof] += weight * layer.mass * fields.kick_at(layer.cell)[layer.axis];
        }
    }
    let is_diagonal = mass.entries().iter().all(|e| e.0 == e.1);
    if !is_diagonal {
        // What is no mass by itself must not become one by its lining.
        factor(&mass, &[], 1.0)?;
    }
    let part = (1.0 - LEAST_MASS) * if is_diagonal { 1.0 } else { LINEAR };
    for (own, sum) in lining.iter_mut().zip(row_sums(&mass)) {
        *own = own.max(-part * sum.max(0.0));
    }
    let inverse = match factor(&mass, &lining, dt) {
        Ok(inverse) => inverse,
        // Motions may be lighter than what their row sums say.
        Err(_) => {
            lining.iter_mut().for_each(|own| *own = own.max(0.0));
            factor(&mass, &lining, dt)?
        }
    };
    let velocity = match &own.before {
        // The liquid at its walls moves as they do, whatever moves them.
        None => own.velocity.clone(),
        Some(before) if before.len() == mass.size() => {
            let momentum = own.mass.times(&own.velocity);
            let of_lining = lining.iter().zip(before).zip(&impulse).map(|((m, v), impulse)| m * v + impulse);
            let all: Vec<f64> = momentum.iter().zip(of_lining).map(|(own, lining)| own + lining).collect();
            inverse.weigh(&all).iter().map(|v| v / dt).collect()
        }
        Some(_) => return Err(Fault::Mass),
    };
    if velocity.iter().all(|v| v.is_finite()) { Ok(Lined { inverse, velocity }) } else { Err(Fault::Mass) }
}

/// The mass of a body as entries.
fn sparse(body: &Body) -> Result<Cow<'_, SparseMass>, Fault> {
    let k = body.velocity.len();
    match &body.mass {
        Mass::Sparse(mass) if mass.size() == k => Ok(Cow::Borrowed(mass)),
        Mass::Dense(mass) if mass.len() == k * k => {
            let entries = mass.iter().enumerate().map(|(e, &v)| ((e / k) as u32, (e % k) as u32, v));
            let mass = SparseMass::new(k, &entries.collect::<Vec<_>>());
            mass.map(Cow::Owned).map_err(|_| Fault::Mass)
        }
        _ => Err(Fault::Mass),
    }
}

/// What each degree of freedom has when the whole body moves along its axis.
fn row_sums(mass: &SparseMass) -> Vec<f64> {
    let mut sums = vec![0.0; mass.size()];
    for &(i, j, m) in mass.entries().iter().filter(|(i, j, _)| i % 3 == j % 3) {
        sums[i as usize] += m;
        if i != j {
            sums[j as usize] += m;
        }
    }
    sums
}

/// dt (M + S)⁻¹; `lining`: the diagonal of S.
fn factor(mass: &SparseMass, lining: &[f64], dt: f64) -> Result<AttachedMass, Fault> {
    let own = mass.entries().iter().map(|&(i, j, m)| (i, j, m / dt));
    let lining =
        lining.iter().enumerate().filter(|(_, s)| **s != 0.0).map(|(i, s)| (i as u32, i as u32, s / dt));
    let entries: Vec<_> = own.chain(lining).collect();
    AttachedMass::sparse(vec![Column::default(); mass.size()], &entries).map_err(|error| match error {
        MassError::Mass(row) => Fault::Indefinite(row),
        _ => Fault::Mass,
    })
}
