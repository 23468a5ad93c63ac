//! Free rotation of a rigid body.

use glam::{DMat3, DQuat, DVec3};
use nalgebra::{Matrix3, SymmetricEigen};

/// Largest angle, rad, of one step of the splitting.
const TURN: f64 = 0.05;

/// The principal axes of an inertia, as a rotation from them, and the moments about them, kg m².
pub(super) fn principal(inertia: &DMat3) -> (DQuat, DVec3) {
    let columns = inertia.to_cols_array();
    let eigen = SymmetricEigen::new(Matrix3::from_column_slice(&columns));
    let axis = |c: usize| {
        DVec3::new(eigen.eigenvectors[(0, c)], eigen.eigenvectors[(1, c)], eigen.eigenvectors[(2, c)])
    };
    let (x, y) = (axis(0).normalize(), axis(1));
    let y = (y - x * x.dot(y)).normalize();
    let axes = DMat3::from_cols(x, y, x.cross(y));
    let moments = DVec3::from_array([0, 1, 2].map(|c| axes.col(c).dot(*inertia * axes.col(c))));
    (DQuat::from_mat3(&axes).normalize(), moments)
}

/// The orientation after `dt` seconds of free rotation with the angular momentum `momentum`, kg m²/s, world axes, which
/// stays exactly what it is: turns about one principal axis after the other, each of which is exact
/// [Dullweber et al. 1997]. Second order, reversible, and the energy's error stays bounded.
pub(super) fn turned(orientation: DQuat, momentum: DVec3, (axes, moments): (DQuat, DVec3), dt: f64) -> DQuat {
    let mut turned = orientation * axes;
    let fastest = (turned.inverse() * momentum / moments).abs().max_element();
    let least = momentum.length() / moments.min_element();
    let steps = (fastest.max(0.5 * least) * dt.abs() / TURN).ceil().clamp(1.0, 1e4);
    let dt = dt / steps;
    for _ in 0..steps as usize {
        for (axis, part) in [(2, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)] {
            let about = (turned.inverse() * momentum)[axis];
            turned *= DQuat::from_axis_angle(DVec3::AXES[axis], part * dt * about / moments[axis]);
        }
        turned = turned.normalize();
    }
    (turned * axes.inverse()).normalize()
}

/// The constant angular velocity, rad/s, that turns one orientation into another in `dt` seconds.
pub(super) fn rate(from: DQuat, to: DQuat, dt: f64) -> DVec3 {
    let turn = to * from.inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let sine = turn.xyz().length();
    if sine < 1e-150 {
        return DVec3::ZERO;
    }
    turn.xyz() / sine * (2.0 * sine.atan2(turn.w) / dt)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENTS: DVec3 = DVec3::new(1.0, 2.0, 3.0);

    fn energy(q: DQuat, l: DVec3, (axes, moments): (DQuat, DVec3)) -> f64 {
        let m = (q * axes).inverse() * l;
        0.5 * (m * m / moments).element_sum()
    }

    #[test]
    fn an_asymmetric_top_flips_over_as_dzhanibekovs_nut_does_and_keeps_its_energy() {
        let inertia = DMat3::from_diagonal(MOMENTS);
        let axes = principal(&inertia);
        // About the middle axis, a little off.
        let omega = DVec3::new(1e-3, 5.0, 0.0);
        let l = inertia * omega;
        let (mut q, start) = (DQuat::IDENTITY, energy(DQuat::IDENTITY, l, axes));
        let (mut flips, mut up) = (0, true);
        for _ in 0..4000 {
            q = turned(q, l, axes, 0.01);
            assert!((energy(q, l, axes) / start - 1.0).abs() < 2e-4);
            let now = (q * DVec3::Y).dot(l) > 0.0;
            flips += u32::from(now != up);
            up = now;
        }
        // Jacobi's solution: the half period is 2 K(k) / rate.
        let period = half_period(omega);
        let expected = (40.0 / period).round();
        assert!((f64::from(flips) - expected).abs() <= 1.0, "{flips} flips, {expected} expected");
    }

    /// Time between two flips: 2 K / λ of the Euler equations' elliptic functions, K by the arithmetic-geometric mean.
    fn half_period(omega: DVec3) -> f64 {
        let l = MOMENTS * omega;
        let (twice, square) = ((l * omega).element_sum(), l.length_squared());
        let [a, b, c] = MOMENTS.to_array();
        // Which axis the momentum goes around decides the order of the moments.
        let (a, c) = if square > twice * b { (a, c) } else { (c, a) };
        let rate = ((c - b) * (square - twice * a) / (a * b * c)).sqrt();
        let k2 = (b - a) * (twice * c - square) / ((c - b) * (square - twice * a));
        let (mut x, mut y) = (1.0f64, (1.0 - k2).sqrt());
        for _ in 0..30 {
            (x, y) = (0.5 * (x + y), (x * y).sqrt());
        }
        std::f64::consts::PI / x / rate
    }

    #[test]
    fn halving_the_step_quarters_the_error_and_going_back_returns() {
        let axes = (DQuat::from_rotation_x(0.3), MOMENTS);
        let l = DVec3::new(0.02, 0.05, -0.03);
        let run = |n: usize| (0..n).fold(DQuat::IDENTITY, |q, _| turned(q, l, axes, 1.0 / n as f64));
        let truth = run(4096);
        let error = |n| (run(n) * truth.inverse()).xyz().length();
        let ratio = error(4) / error(8);
        assert!((3.6..4.4).contains(&ratio), "{ratio}");
        let back = turned(turned(DQuat::IDENTITY, l, axes, 0.7), l, axes, -0.7);
        assert!(back.xyz().length() < 1e-14);
    }

    #[test]
    fn a_rate_turns_one_orientation_into_the_other() {
        let (a, b) = (DQuat::from_rotation_y(0.4), DQuat::from_euler(glam::EulerRot::XYZ, 0.9, -0.2, 0.1));
        let there = DQuat::from_scaled_axis(rate(a, b, 0.25) * 0.25) * a;
        assert!((there * b.inverse()).xyz().length() < 1e-14);
        assert_eq!(rate(a, a, 1.0).length(), 0.0);
    }
}
