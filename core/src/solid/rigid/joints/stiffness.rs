//! What the forces of joints do to how bodies turn.
//!
//! A taut chain of light links with a heavy end swings across itself faster than substeps can follow: its joints' forces turn
//! links back like springs. Taken where the bodies are, such forces would let the swing grow. So joints damp it, as much as
//! makes it stable: between their bodies, so that angular momentum stays, and a chain that swings as a whole feels little.

use glam::{DMat3, DVec3};
use nalgebra::{Matrix3, SymmetricEigen};

/// dt² K / I up to which nothing is done. The leapfrog is stable up to 4; forces may grow until the end of the drift.
const STABLE: f64 = 1.0;
/// Damping by dt K. From ½ on, what turns against its neighbours is stable whatever its K; more of it reaches longer waves.
const DAMPING: f64 = 2.0;

/// The torque by turn, N m/rad, with which a force on an arm turns a body back: the symmetric part of the geometric
/// stiffness [Tournier et al. 2015].
pub(super) fn stiffness(arm: DVec3, force: DVec3) -> DMat3 {
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    DMat3::from_diagonal(DVec3::splat(arm.dot(force))) - (outer(arm, force) + outer(force, arm)) * 0.5
}

/// The damping, N m s, that a body's turns need for substeps of `dt` seconds to be stable; 0 where none.
pub(super) fn damping(inertia: &DMat3, stiffness: &DMat3, dt: f64) -> f64 {
    let eigen = SymmetricEigen::new(Matrix3::from_column_slice(&stiffness.to_cols_array()));
    let of = |c: usize| {
        let axis = DVec3::from_array([0, 1, 2].map(|r| eigen.eigenvectors[(r, c)]));
        let k = eigen.eigenvalues[c];
        let is_unstable = dt * dt * k > STABLE * axis.dot(*inertia * axis);
        if is_unstable && k.is_finite() { DAMPING * dt * k } else { 0.0 }
    };
    (0..3).map(of).fold(0.0, f64::max)
}
