//! What the forces of joints do to how bodies turn.
//!
//! A taut chain of light links with a heavy end swings across itself faster than substeps can follow: its joints' forces turn
//! links back like springs. Taken where the bodies are, such forces would let the swing grow.

use glam::{DMat3, DVec3};
use nalgebra::{Matrix3, SymmetricEigen};

/// Share of the stable stiffness from which turns are slowed.
const STABLE: f64 = 0.25;
/// What the stiffness counts, for what the forces grow by until the end of the drift.
const MARGIN: f64 = 2.0;

/// The torque by turn, N m/rad, with which a force on an arm turns a body back: the symmetric part of the geometric
/// stiffness [Tournier et al. 2015].
pub(super) fn stiffness(arm: DVec3, force: DVec3) -> DMat3 {
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    DMat3::from_diagonal(DVec3::splat(arm.dot(force))) - (outer(arm, force) + outer(force, arm)) * 0.5
}

/// An inertia with which turns stay stable for substeps of `dt` seconds, I + ¼ dt² K about the axes where that is needed, so
/// that the stiffness acts at the mean of both ends of a drift; `None` where the body's own will do.
pub(super) fn slower(inertia: &DMat3, stiffness: &DMat3, dt: f64) -> Option<DMat3> {
    let eigen = SymmetricEigen::new(Matrix3::from_column_slice(&stiffness.to_cols_array()));
    let mut all = *inertia;
    let mut any = false;
    for c in 0..3 {
        let axis = DVec3::from_array([0, 1, 2].map(|r| eigen.eigenvectors[(r, c)]));
        let more = 0.25 * dt * dt * MARGIN * eigen.eigenvalues[c] - STABLE * axis.dot(*inertia * axis);
        if more > 0.0 && more.is_finite() {
            all += DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z) * more;
            any = true;
        }
    }
    any.then_some(all)
}
