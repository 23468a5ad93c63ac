//! Conjugate gradients in f64, preconditioned by the f32 multigrid cycle.

mod operator;
mod vector;

pub use operator::{LowRank, LowRankColumn, Scratch, apply};
pub use vector::{Vector, dot_cells, dot_supers};

use crate::memory;
use crate::multigrid::{GRAIN, Level, Multigrid, Work};
use rayon::prelude::*;
use std::ops::ControlFlow;
use vector::sum_over_leaves;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Iterations after which to give up.
    pub max_iterations: usize,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Iterations done.
    pub iterations: usize,
    /// ‖b − A x‖₂ / ‖b‖₂, recomputed from x.
    pub residual: f64,
    /// The callback asked to stop.
    pub cancelled: bool,
}

/// The solver's vectors; kept between solves only to save allocations.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradients {
    residual: Vector,
    /// Initial guess, then the solution.
    pub x: Vector,
    direction: Vector,
    image: Vector,
    scratch: Scratch,
}

/// Residual reduction (against ‖b‖) that one run of the recurrence is trusted with before the residual is
/// computed anew.
const TRUSTED_REDUCTION: f64 = 1e-9;

impl ConjugateGradients {
    /// Sizes the vectors (all zero) for a level.
    pub fn fit(&mut self, level: &Level, low_rank: &[LowRank]) {
        for v in [&mut self.residual, &mut self.x, &mut self.direction, &mut self.image] {
            v.fit(level.leaves(), level.super_count());
        }
        self.scratch.fit(level, low_rank);
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let vectors = [&self.residual, &self.x, &self.direction, &self.image].map(Vector::bytes);
        let scratch = [&self.scratch.partials, &self.scratch.flow, &self.scratch.columns].map(memory::of);
        vectors.iter().chain(&scratch).sum()
    }

    /// Solves A x = b from the x given; `right_side` writes b (called again for each true residual).
    ///
    /// The recurrence runs until its residual is small enough, then the true residual is computed; should it
    /// have drifted, the iteration starts again from there, as long as that still gains.
    pub fn solve(
        &mut self,
        multigrid: &mut Multigrid,
        low_rank: &[LowRank],
        stop: Stop,
        right_side: &dyn Fn(&mut Vector),
        progress: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
    ) -> Outcome {
        let mut out = Outcome::default();
        right_side(&mut self.residual);
        let norm = self.residual_norm();
        if norm == 0.0 {
            self.x.fit(self.scratch.partials.len(), self.x.supers.len());
            return out;
        }
        out.residual = self.subtract_image(&multigrid.levels[0], low_rank) / norm;
        while out.residual > stop.tolerance && out.iterations < stop.max_iterations && !out.cancelled {
            let before = out.residual;
            let target = stop.tolerance.max(before * TRUSTED_REDUCTION);
            self.run(multigrid, low_rank, norm, Stop { tolerance: target, ..stop }, &mut out, progress);
            right_side(&mut self.residual);
            out.residual = self.subtract_image(&multigrid.levels[0], low_rank) / norm;
            if out.residual > 0.5 * before {
                break;
            }
        }
        out
    }

    fn residual_norm(&mut self) -> f64 {
        let r = &self.residual;
        (dot_cells(&r.cells, &r.cells, &mut self.scratch.partials) + dot_supers(&r.supers, &r.supers)).sqrt()
    }

    /// r −= A x; returns ‖r‖₂.
    fn subtract_image(&mut self, level: &Level, low_rank: &[LowRank]) -> f64 {
        apply(level, low_rank, &self.x, &mut self.image, &mut self.scratch);
        let image = &self.image;
        sum_over_leaves(&mut self.residual.cells, &mut self.scratch.partials, |l, red, black| {
            for (r, q) in [(red, &image.cells[0][l]), (black, &image.cells[1][l])] {
                for (r, q) in r.iter_mut().flatten().zip(q.iter().flatten()) {
                    *r -= q;
                }
            }
            0.0
        });
        self.residual.supers.iter_mut().zip(&image.supers).for_each(|(r, q)| *r -= q);
        self.residual_norm()
    }

    /// Preconditioned conjugate gradients on the residual as it stands [Shewchuk 1994, §B3].
    fn run(
        &mut self,
        multigrid: &mut Multigrid,
        low_rank: &[LowRank],
        norm: f64,
        stop: Stop,
        out: &mut Outcome,
        progress: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
    ) {
        // The f32 cycle works on r / scale, of length near 1 whatever the units of b.
        // (The length known when r is written is the one before the step: near enough.)
        let mut scale = self.residual_norm();
        self.direction.fit(self.scratch.partials.len(), self.x.supers.len());
        let mut scaled = scale;
        self.update(&mut multigrid.work[0], 0.0, 1.0 / scale);
        let mut energy = 0.0;
        while out.iterations < stop.max_iterations {
            multigrid.precondition();
            let z = &multigrid.work[0];
            let next = scale
                * (dot_cells(&self.residual.cells, &z.x, &mut self.scratch.partials)
                    + dot_supers(&self.residual.supers, &z.x_super));
            let beta = if energy > 0.0 { next / energy } else { 0.0 };
            energy = next;
            self.turn(z, scale, beta);
            let Self { direction, image, scratch, .. } = self;
            let curvature = apply(&multigrid.levels[0], low_rank, direction, image, scratch);
            let step = energy / curvature;
            if !step.is_finite() || step <= 0.0 {
                return;
            }
            let length = self.update(&mut multigrid.work[0], step, 1.0 / scaled);
            out.iterations += 1;
            if progress(out.iterations, length / norm).is_break() {
                out.cancelled = true;
                return;
            }
            if length <= stop.tolerance * norm || !length.is_finite() {
                return;
            }
            scale = scaled;
            scaled = length;
        }
    }

    /// p = z + β p.
    fn turn(&mut self, z: &Work, scale: f64, beta: f64) {
        for (p, z) in self.direction.cells.iter_mut().zip(&z.x) {
            p.par_iter_mut().zip(z).with_min_len(GRAIN).for_each(|(p, z)| {
                for (p, z) in p.iter_mut().flatten().zip(z.iter().flatten()) {
                    *p = scale * *z as f64 + beta * *p;
                }
            });
        }
        for (p, z) in self.direction.supers.iter_mut().zip(&z.x_super) {
            *p = scale * z + beta * *p;
        }
    }

    /// x += step · p, r −= step · A p, and the cycle's input b = r · scale; returns ‖r‖₂.
    fn update(&mut self, work: &mut Work, step: f64, scale: f64) -> f64 {
        let Self { residual, x, direction, image, scratch, .. } = self;
        let leaves = scratch.partials.len();
        let mut square = 0.0;
        for colour in 0..2 {
            let (p, q) = (&direction.cells[colour], &image.cells[colour]);
            let written = x.cells[colour][..leaves].par_iter_mut().zip(&mut residual.cells[colour][..leaves]);
            let written = written.zip(&mut work.b[colour][..leaves]).zip(&mut scratch.partials);
            written.with_min_len(GRAIN).enumerate().for_each(|(l, (((x, r), b), sum))| {
                for row in 0..64 {
                    for k in 0..4 {
                        x[row][k] += step * p[l][row][k];
                        r[row][k] -= step * q[l][row][k];
                        b[row][k] = (r[row][k] * scale) as f32;
                    }
                }
                *sum = vector::dot_half(r, r);
            });
            square += scratch.partials.iter().sum::<f64>();
        }
        for (b, (x, p)) in x.supers.iter_mut().zip(&direction.supers).enumerate() {
            *x += step * p;
            residual.supers[b] -= step * image.supers[b];
            work.b_super[b] = residual.supers[b] * scale;
        }
        (square + dot_supers(&residual.supers, &residual.supers)).sqrt()
    }
}
