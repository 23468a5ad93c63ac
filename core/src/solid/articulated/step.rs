//! The step in time of articulated bodies.

use super::bias::{Gravity, bias};
use super::mass_matrix::mass_matrix;
use super::state::State;
use super::tree::Tree;
use nalgebra::{DMatrix, DVector};

/// How a kick was solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kicked {
    /// Steps for the bias forces.
    pub iterations: u32,
    /// Change of velocity in the last one, by the largest velocity.
    pub change: f64,
}

/// Fixed-point steps after which Newton's method goes on: thin links that spin do not let them converge.
const SIMPLE: u32 = 8;
/// Steps, at most.
const MOST: u32 = 40;
/// Change, by the largest velocity, at which they end.
const SETTLED: f64 = 1e-13;

/// Gives a tree the velocities of the middle of the next substep, from those of the middle of this one:
///
/// ```text
/// M(q) (v⁺ − v⁻) = kick (τ − c(q, ½ (v⁻ + v⁺)))
/// ```
///
/// With [`drift`], q⁺ = q exp(dt v⁺), this is the leapfrog with its velocity-dependent forces at the mean of both
/// velocities. It is symmetric in time and second order, and so keeps the energy of a reversible system without drift for
/// as long as steps are equal [Hairer et al. 2003]. Velocities are solved first and positions drift once, by what was solved: a pressure
/// solve or contacts add their impulses to the left side, with the same M(q). `force`: τ, generalised.
///
/// `None` where M(q) is singular: a degree of freedom moves no mass.
pub fn kick(tree: &Tree, state: &mut State, force: &[f64], gravity: Gravity, kick: f64) -> Option<Kicked> {
    let mass = mass_matrix(tree, &state.q);
    let factor = mass.clone().cholesky()?;
    let before = DVector::from_column_slice(&state.v);
    let mut after = before.clone();
    let mut kicked = Kicked::default();
    while kicked.iterations < MOST && !after.is_empty() {
        let mean = 0.5 * (&before + &after);
        let load = bias(tree, &state.q, mean.as_slice(), gravity);
        let push = DVector::from_iterator(before.len(), force.iter().zip(&load).map(|(f, c)| kick * (f - c)));
        let off = &mass * (&before - &after) + push;
        let step = match kicked.iterations < SIMPLE {
            true => factor.solve(&off),
            false => (&mass + 0.5 * kick * slope(tree, state, &mean)).lu().solve(&off)?,
        };
        after += &step;
        let (last, change) = (kicked.change, step.amax() / after.amax().max(1e-300));
        kicked = Kicked { iterations: kicked.iterations + 1, change };
        // Newton's method gets no further than rounding lets it.
        let is_rounding = kicked.iterations > SIMPLE + 1 && change < 1e-9 && change > 0.1 * last;
        if change <= SETTLED || is_rounding {
            break;
        }
    }
    state.v.copy_from_slice(after.as_slice());
    Some(kicked)
}

/// The derivative of the bias forces by the velocities. They are quadratic in these, so that differences give it exactly.
fn slope(tree: &Tree, state: &State, v: &DVector<f64>) -> DMatrix<f64> {
    let (still, size) = (Gravity::default(), v.amax().max(1.0));
    let mut slope = DMatrix::zeros(v.len(), v.len());
    for n in 0..v.len() {
        let at = |by: f64| {
            let mut moved = v.clone();
            moved[n] += by;
            bias(tree, &state.q, moved.as_slice(), still)
        };
        let (up, down) = (at(size), at(-size));
        for (m, (up, down)) in up.iter().zip(&down).enumerate() {
            slope[(m, n)] = (up - down) / (2.0 * size);
        }
    }
    slope
}

/// Moves a tree for `dt` seconds by its velocities.
pub fn drift(tree: &Tree, state: &mut State, dt: f64) {
    let way: Vec<f64> = state.v.iter().map(|v| v * dt).collect();
    state.advance(tree, &way);
}
