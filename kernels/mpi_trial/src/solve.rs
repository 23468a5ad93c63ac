//! Conjugate gradients with the diagonal as preconditioner [Shewchuk 1994, §B3], in f64.

use crate::team::{Buffers, Team, Times};
use meniscus_kernels::conjugate_gradients::Vector;

/// What a solve gave.
pub struct Solved {
    pub x: Vector<f64>,
    pub iterations: usize,
    /// ‖r‖ / ‖b‖ by the recurrence.
    pub residual: f64,
    pub times: Times,
}

/// Calls `f(to, a, (colour, leaf, place in the half-leaf))` for the cells of the own leaves.
fn for_cells(
    own: usize,
    to: &mut Vector<f64>,
    a: &Vector<f64>,
    mut f: impl FnMut(&mut f64, f64, (usize, usize, usize)),
) {
    for c in 0..2 {
        for l in 0..own {
            let cells = to.cells[c][l].as_flattened_mut().iter_mut().zip(a.cells[c][l].as_flattened());
            cells.enumerate().for_each(|(i, (to, &a))| f(to, a, (c, l, i)));
        }
    }
}

pub fn solve(team: &mut Team, b: &Vector<f64>, tolerance: f64) -> Solved {
    let own = team.own;
    let mut x = team.zero::<f64>();
    let (mut r, mut z, mut q) = (b.clone(), team.zero::<f64>(), team.zero::<f64>());
    let precondition = |team: &Team, z: &mut Vector<f64>, r: &Vector<f64>| {
        let diagonal = &team.level.diagonal;
        for_cells(own, z, r, |z, r, (c, l, i)| *z = r / f64::from(diagonal[c][l].as_flattened()[i]));
        z.supers[0] = r.supers[0] / team.super_diagonal;
    };
    precondition(team, &mut z, &r);
    let mut p = z.clone();
    let [mut rz, bb] = team.products(&r, &z);
    let (mut buffers, mut times) = (Buffers::default(), Times::default());
    let (mut iterations, mut residual) = (0, 1.0);
    while residual > tolerance && iterations < 5000 {
        let step = rz / team.apply(&mut p, &mut q, &mut buffers, &mut times);
        for_cells(own, &mut x, &p, |x, p, _| *x += step * p);
        for_cells(own, &mut r, &q, |r, q, _| *r -= step * q);
        x.supers[0] += step * p.supers[0];
        r.supers[0] -= step * q.supers[0];
        precondition(team, &mut z, &r);
        let [next, rr] = team.products(&r, &z);
        let beta = next / rz;
        rz = next;
        for_cells(own, &mut p, &z, |p, z, _| *p = z + beta * *p);
        p.supers[0] = z.supers[0] + beta * p.supers[0];
        iterations += 1;
        residual = (rr / bb).sqrt();
    }
    Solved { x, iterations, residual, times }
}
