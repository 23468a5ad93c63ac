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

/// (dt ω)² of a body's turns about its own middle up to which nothing is done. The leapfrog is stable up to 4; forces may grow until the
/// end of the drift.
const STABLE: f64 = 1.0;
/// The same of the fastest swing of all bodies that hang together: it is known from below only, and forces change more of them at once.
pub(super) const FOLLOWED: f64 = 0.5;
/// Damping by dt K. From ½ on, what turns against its neighbours is stable whatever its K; more of it reaches longer waves.
const DAMPING: f64 = 2.0;

/// The torque by turn, N m/rad, with which forces on its arms turn a body back: its geometric stiffness [Tournier et al. 2015],
/// from the sum of arm forceᵀ. Where the forces leave a torque, what the body's own parts resist it with counts as forces too: without
/// them, a force across a thin rod would seem to twist the rod about itself, faster than any substep follows.
pub(super) fn stiffness(pulls: &DMat3, inertia: &DMat3) -> DMat3 {
    let torque = DVec3::new(
        pulls.z_axis.y - pulls.y_axis.z,
        pulls.x_axis.z - pulls.z_axis.x,
        pulls.y_axis.x - pulls.x_axis.y,
    );
    // ∫ ρ x xᵀ, and the spin that the torque gives: what parts resist with is −ρ spin × x.
    let trace = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
    let spread = DMat3::from_diagonal(DVec3::splat(0.5 * trace(inertia))) - *inertia;
    let spin = inertia.inverse() * torque;
    let turn = DMat3::from_cols(spin.cross(DVec3::X), spin.cross(DVec3::Y), spin.cross(DVec3::Z));
    let pulls = *pulls + spread * turn;
    DMat3::from_diagonal(DVec3::splat(trace(&pulls))) - (pulls + pulls.transpose()) * 0.5
}

/// a bᵀ.
pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Eigenvalues of a symmetric matrix, and their axes.
fn eigen(matrix: &DMat3) -> [(f64, DVec3); 3] {
    let eigen = SymmetricEigen::new(Matrix3::from_column_slice(&matrix.to_cols_array()));
    [0, 1, 2]
        .map(|c| (eigen.eigenvalues[c], DVec3::from_array([0, 1, 2].map(|r| eigen.eigenvectors[(r, c)]))))
}

/// What of a stiffness turns a body back.
pub(super) fn restoring(stiffness: &DMat3) -> DMat3 {
    let back = eigen(stiffness).map(|(k, axis)| outer(axis, axis) * k.max(0.0));
    back[0] + back[1] + back[2]
}

/// The damping by turn, N m s, that a body's turns about its middle need for substeps of `dt` seconds to be stable; 0 where none.
pub(super) fn damping(inertia: &DMat3, stiffness: &DMat3, dt: f64) -> f64 {
    let of = |(k, axis): (f64, DVec3)| {
        let is_unstable = dt * dt * k > STABLE * axis.dot(*inertia * axis);
        if is_unstable && k.is_finite() { DAMPING * dt * k } else { 0.0 }
    };
    eigen(stiffness).map(of).into_iter().fold(0.0, f64::max)
}
