//! Joints and contacts between the bodies of a projection: part of the one solve.
//!
//! ```text
//! q̇ = q̇* + M⁻¹ (dt Cᵀ p + Jᵀ λ)      J q̇ + soft λ = wanted, where λ is between its least and most
//! ```
//!
//! As long as the same rows hold, they take part as M̃⁻¹ = M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ J M⁻¹ and as a change of q̇*, so that
//! pressures and bodies stay one linear system. Contacts begin with those that pressed when whoever moves the bodies looked.
//! After the solve, those that would pull are let go, those that bodies pass are taken up, and it is solved again from
//! the pressures that were found: an active set with a warm start [Hintermueller et al. 2002]. Friction is no part of it.

mod eliminate;
mod group;
#[cfg(test)]
mod tests;

use super::Error;
use crate::coupling::bodies::{Body, Constraint};
use crate::union_find::DisjointSets;
use group::Group;
pub(crate) use group::{Motion, Verdict};

/// The bodies of a projection as rows join them.
#[derive(Debug, Default)]
pub(super) struct ConstraintGroups {
    /// Bodies that move by themselves, and bodies that rows join, in the order of their first.
    pub(super) units: Vec<Unit>,
    rows: usize,
}

/// What moves as one.
#[derive(Debug)]
pub(super) enum Unit {
    /// A body that no row speaks of.
    Alone(usize),
    /// Bodies that rows join.
    Joined(Box<Group>),
}

/// Whether a row speaks of degrees of freedom that are there, in numbers.
fn is_sound(row: &Constraint, bodies: &[Body]) -> bool {
    let there = |&(body, freedom, value): &(usize, usize, f64)| {
        value.is_finite() && bodies.get(body).is_some_and(|b: &Body| freedom < b.velocity.len())
    };
    let [least, most] = row.range;
    row.entries.iter().all(there)
        && row.wanted.is_finite()
        && row.pressed.is_finite()
        && (0.0..f64::INFINITY).contains(&row.soft)
        && least <= most
        && least < f64::INFINITY
        && most > f64::NEG_INFINITY
}

impl ConstraintGroups {
    /// Of bodies with dt M⁻¹ (row-major; empty where they deform) and q̇ without the solve of each. The error says which row is none.
    pub(super) fn new(
        bodies: &[Body],
        constraints: &[Constraint],
        (inverse, velocity): (&[Vec<f64>], &[Vec<f64>]),
        dt: f64,
    ) -> Result<Self, Error> {
        if let Some(row) = constraints.iter().position(|row| !is_sound(row, bodies)) {
            return Err(Error::Constraint(row));
        }
        // Rows join bodies of dense masses.
        let mut held = constraints.iter().flat_map(|row| &row.entries).map(|&(body, ..)| body);
        if let Some(body) = held.find(|&body| inverse[body].is_empty()) {
            return Err(Error::SkinHeld(body));
        }
        let mut sets = DisjointSets::new(bodies.len());
        let mut joined = vec![false; bodies.len()];
        for row in constraints {
            row.entries.windows(2).for_each(|pair| sets.union(pair[0].0, pair[1].0));
            row.entries.iter().for_each(|e| joined[e.0] = true);
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
        (0..bodies.len()).for_each(|b| members[sets.find(b)].push(b));
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
        for (r, row) in constraints.iter().enumerate() {
            if let Some(first) = row.entries.first() {
                rows[sets.find(first.0)].push(r);
            }
        }
        let masses: Vec<Vec<f64>> =
            inverse.iter().map(|weight| weight.iter().map(|w| w / dt).collect()).collect();
        let unit = |(members, rows): (Vec<usize>, Vec<usize>)| match members.as_slice() {
            [] => None,
            &[alone] if !joined[alone] => Some(Unit::Alone(alone)),
            _ => {
                let part = |&b: &usize| (b, masses[b].as_slice(), velocity[b].as_slice());
                let parts: Vec<_> = members.iter().map(part).collect();
                Some(Unit::Joined(Box::new(Group::new(&parts, rows, constraints))))
            }
        };
        let units = members.into_iter().zip(rows).filter_map(unit).collect();
        Ok(Self { units, rows: constraints.len() })
    }

    /// Numbers of the rows in the groups, by the rows' places among all.
    pub(super) fn all(&self, motions: &[Motion]) -> Vec<f64> {
        let mut all = vec![0.0; self.rows];
        for (unit, motion) in self.units.iter().zip(motions) {
            if let Unit::Joined(group) = unit {
                group.rows.iter().zip(&motion.impulses).for_each(|(&r, impulse)| all[r] = *impulse);
            }
        }
        all
    }
}

impl Unit {
    /// Its bodies and the first degree of freedom of each.
    pub(super) fn bodies(&self) -> Vec<(usize, usize)> {
        match self {
            Self::Alone(body) => vec![(*body, 0)],
            Self::Joined(group) => group.bodies.clone(),
        }
    }
}
