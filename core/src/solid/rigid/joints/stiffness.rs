//! What the forces of joints do to how bodies turn.
//!
//! A taut chain of light links with a heavy end swings across itself faster than substeps can follow: its joints' forces turn
//! links back like springs. Taken where the bodies are, such forces would let the swing grow. So joints damp it, as much as
//! makes it stable: between their bodies, so that angular momentum stays, and a chain that swings as a whole feels little.
//!
//! How fast a swing is depends on what moves with it: a ball on a long rod moves on an arc about the far end of the rod, and
//! is slow. A body's own inertia alone gives a bound ([`damping`]); where that says too fast, the bodies' linkage finds
//! the fastest swing that the joints allow.

use glam::{DMat3, DVec3};
use nalgebra::{Matrix3, SymmetricEigen};

/// (dt ω)² of a swing up to which nothing is done. The leapfrog is stable up to 4; forces may grow until the end of the drift.
const STABLE: f64 = 1.0;
/// The same of the fastest swing of all bodies that hang together: it is known from below only, and forces change more of them at once.
pub(super) const FOLLOWED: f64 = 0.5;
/// Damping by dt K. From ½ on, what turns against its neighbours is stable whatever its K; more of it reaches longer waves.
const DAMPING: f64 = 2.0;

/// The torque by turn, N m/rad, with which a force on an arm turns a body back: the symmetric part of the geometric
/// stiffness [Tournier et al. 2015].
pub(super) fn stiffness(arm: DVec3, force: DVec3) -> DMat3 {
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    DMat3::from_diagonal(DVec3::splat(arm.dot(force))) - (outer(arm, force) + outer(force, arm)) * 0.5
}

/// Eigenvalues of a symmetric matrix, and their axes.
fn eigen(matrix: &DMat3) -> [(f64, DVec3); 3] {
    let eigen = SymmetricEigen::new(Matrix3::from_column_slice(&matrix.to_cols_array()));
    [0, 1, 2]
        .map(|c| (eigen.eigenvalues[c], DVec3::from_array([0, 1, 2].map(|r| eigen.eigenvectors[(r, c)]))))
}

/// What of a stiffness turns a body back.
pub(super) fn restoring(stiffness: &DMat3) -> DMat3 {
    let back = eigen(stiffness)
        .map(|(k, axis)| DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z) * k.max(0.0));
    back[0] + back[1] + back[2]
}

/// The damping, N m s, that a body's turns about its middle need for substeps of `dt` seconds to be stable; 0 where none.
pub(super) fn damping(inertia: &DMat3, stiffness: &DMat3, dt: f64) -> f64 {
    let of = |(k, axis): (f64, DVec3)| {
        let is_unstable = dt * dt * k > STABLE * axis.dot(*inertia * axis);
        if is_unstable && k.is_finite() { DAMPING * dt * k } else { 0.0 }
    };
    eigen(stiffness).map(of).into_iter().fold(0.0, f64::max)
}
