//! Linear theory of a half-submerged sphere that is let go: Cummins' equation with the memory of its waves,
//! (m + A∞) z'' + ∫₀ᵗ K(t − τ) z'(τ) dτ + ρ g π a² z = 0, K(t) = 2/π ∫ B(ω) cos ωt dω [Cummins 1962].
//!
//! A damped oscillator with the damping of its own frequency is not the same: in the first swing the waves that take energy are
//! not there yet. It gives peaks in the ratio 0.59 where Cummins' equation gives 0.64.

use crate::GRAVITY;
use std::f64::consts::PI;

/// ω² a/g, added mass and damping of a hemisphere in deep water, in units of M = 2/3 π ρ a³ and M ω [Hulme 1982, table 1].
const HULME: [[f64; 3]; 26] = [
    [0.0, 0.8310, 0.0],
    [0.05, 0.8764, 0.1036],
    [0.1, 0.8627, 0.1816],
    [0.2, 0.7938, 0.2793],
    [0.3, 0.7157, 0.3254],
    [0.4, 0.6452, 0.3410],
    [0.5, 0.5861, 0.3391],
    [0.6, 0.5381, 0.3271],
    [0.7, 0.4999, 0.3098],
    [0.8, 0.4698, 0.2899],
    [0.9, 0.4464, 0.2691],
    [1.0, 0.4284, 0.2484],
    [1.2, 0.4047, 0.2096],
    [1.4, 0.3924, 0.1756],
    [1.6, 0.3871, 0.1469],
    [1.8, 0.3864, 0.1229],
    [2.0, 0.3884, 0.1031],
    [2.5, 0.3988, 0.0674],
    [3.0, 0.4111, 0.0452],
    [4.0, 0.4322, 0.0219],
    [5.0, 0.4471, 0.0116],
    [6.0, 0.4574, 0.0066],
    [7.0, 0.4647, 0.0040],
    [8.0, 0.4700, 0.0026],
    [9.0, 0.4740, 0.0017],
    [10.0, 0.4771, 0.0012],
];
/// Added mass of the fastest swings, M.
const FASTEST: f64 = 0.5;

/// A column of the table at ω² a/g, straight between its rows; the damping falls as its third power beyond them.
fn hulme(at: f64, column: usize) -> f64 {
    let last = HULME[HULME.len() - 1];
    match HULME.windows(2).find(|p| at <= p[1][0]) {
        Some(p) => p[0][column] + (p[1][column] - p[0][column]) * (at - p[0][0]) / (p[1][0] - p[0][0]),
        None if column == 2 => last[2] * (last[0] / at).powi(3),
        None => last[1],
    }
}

/// What the sphere remembers, K/M at multiples of `dt`, 1/s².
fn memory(a: f64, dt: f64, steps: usize) -> Vec<f64> {
    const D: f64 = 0.02;
    let damping: Vec<_> =
        (0..2500).map(|i| (i as f64 + 0.5) * D).map(|w| (w, hulme(w * w * a / GRAVITY, 2) * w)).collect();
    let at = |t: f64| 2.0 / PI * D * damping.iter().map(|(w, b)| b * (w * t).cos()).sum::<f64>();
    (0..steps).map(|i| at(i as f64 * dt)).collect()
}

/// The heights, in shares of the drop, at the ends of the first swings of a sphere of radius `a` that floats half in the water,
/// with their times, s.
pub fn swings(a: f64) -> Vec<(f64, f64)> {
    let (dt, steps) = (0.001, 1700);
    let k = memory(a, dt, steps);
    // In units of M, which is the sphere's own mass.
    let stiffness = 1.5 * GRAVITY / a;
    let (mut z, mut v) = (vec![1.0], vec![0.0]);
    for i in 0..steps - 1 {
        let past: f64 = (0..=i).map(|j| k[i - j] * v[j]).sum();
        let force = -stiffness * z[i] - dt * (past - 0.5 * (k[0] * v[i] + k[i] * v[0]));
        v.push(v[i] + dt * force / (1.0 + FASTEST));
        z.push(z[i] + dt * v[i + 1]);
    }
    let ends = (1..steps - 1).filter(|&i| (z[i] - z[i - 1]) * (z[i + 1] - z[i]) <= 0.0);
    ends.map(|i| (i as f64 * dt, z[i])).collect()
}

/// The memory of the table's damping gives back the table's added mass [Ogilvie 1964], so neither column has an error.
#[test]
fn added_mass_and_damping_are_one_function() {
    let (a, dt) = (0.15, 0.001);
    let k = memory(a, dt, 4000);
    for w in [5.0, 8.0, 12.0f64] {
        let sum: f64 = k.iter().enumerate().map(|(i, k)| k * (w * i as f64 * dt).sin()).sum();
        let (found, table) = (FASTEST - dt * sum / w, hulme(w * w * a / GRAVITY, 1));
        assert!((found - table).abs() < 0.01, "ω = {w}: {found}, not {table}");
    }
}
