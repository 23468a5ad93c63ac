//! The f32 stage of conjugate gradients: half the memory and half the traffic of f64. Before rounding errors in f32
//! spoil the residual, the correction is added to x (f64) and the residual is computed anew in f64. The search
//! direction is kept, so that convergence continues undisturbed: residual replacement [van der Vorst and Ye 2000].
//! Where rounding has spoiled the residual already, the direction is dropped.

use super::operator::{apply, residual};
use super::vector::{Vector, dot_cells, dot_half, dot_supers};
use super::{Outcome, Problem, Progress};
use crate::checkerboard::{self, Field};
use crate::memory;
use crate::multigrid::{GRAIN, Work};
use rayon::prelude::*;

/// The vectors of the stage. Its residual is the right side of the cycle's finest level.
#[derive(Clone, Debug, Default)]
pub(super) struct Vectors {
    /// Sum of the corrections to x since the last true residual, cells.
    gained: Field<f32>,
    direction: Vector<f32>,
    image: Vector<f32>,
}

/// Reduction of the residual after which f32 is no longer trusted and the true residual is computed.
const TRUSTED_REDUCTION: f64 = 1e-3;
/// Iterations after which it is computed in any case. A recurrence that diverges never reaches the reduction, and its
/// rounding errors stay small beside its residual.
const PATIENCE: usize = 20;
/// Unit roundoff of f32.
const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
/// If a true residual is reduced by less than this since the last one, f32 makes no more progress.
const LEAST_GAIN: f64 = 0.25;

impl Vectors {
    pub fn bytes(&self) -> usize {
        memory::of_field(&self.gained) + self.direction.bytes() + self.image.bytes()
    }

    /// Preconditioned conjugate gradients [Shewchuk 1994, §B3] until done or without progress; returns whether a step
    /// did not descend. Everything is divided by ‖b‖₂, so that f32 sees lengths near 1 whatever the units.
    pub fn run(&mut self, problem: &mut Problem, out: &mut Outcome, progress: Progress) -> bool {
        let (leaves, supers) = (problem.scratch.partials.len(), problem.x.supers.len());
        checkerboard::reset(&mut self.gained, leaves);
        self.direction.fit(leaves, supers);
        self.image.fit(leaves, supers);
        out.residual = true_residual(problem);
        let (mut trusted, mut rounding, mut energy) = (out.residual, 0.0, 0.0);
        let mut since = out.iterations;
        while out.goes_on(problem.stop) {
            problem.multigrid.precondition();
            let work = &mut problem.multigrid.work[0];
            let next = dot_cells(&work.b, &work.x, &mut problem.scratch.partials)
                + dot_supers(&work.b_super, &work.x_super);
            self.turn(work, if energy > 0.0 { next / energy } else { 0.0 });
            energy = next;
            let level = &problem.multigrid.levels[0];
            let curvature = apply(level, problem.low_rank, &self.direction, &mut self.image, problem.scratch);
            let step = energy / curvature;
            if !step.is_finite() || step <= 0.0 {
                self.fold(problem.x, problem.norm);
                return true;
            }
            let work = &mut problem.multigrid.work[0];
            out.residual = self.update(work, step, problem.x, problem.norm, &mut problem.scratch.partials);
            out.iterations += 1;
            out.cancelled = progress(out.iterations, out.residual).is_break();
            // Bound on the drift of the recurrence [van der Vorst and Ye 2000, Eq. 2.4], relative to ‖b‖.
            let magnitude = problem.scratch.magnitudes.iter().sum::<f64>().sqrt();
            rounding += ROUNDOFF * (step * magnitude + out.residual);
            let lost = rounding >= out.residual;
            let overdue = out.iterations - since >= PATIENCE;
            if lost || overdue || !out.goes_on(problem.stop) || out.residual < TRUSTED_REDUCTION * trusted {
                self.fold(problem.x, problem.norm);
                out.residual = true_residual(problem);
                if out.residual > LEAST_GAIN * trusted {
                    return false;
                }
                (trusted, rounding, since) = (out.residual, 0.0, out.iterations);
                energy = if lost { 0.0 } else { energy };
            }
        }
        self.fold(problem.x, problem.norm);
        false
    }

    /// p = z + β p.
    fn turn(&mut self, z: &Work, beta: f64) {
        let b = beta as f32;
        for (p, z) in self.direction.cells.iter_mut().zip(&z.x) {
            p.par_iter_mut().zip(z).with_min_len(GRAIN).for_each(|(p, z)| {
                for (p, z) in p.as_flattened_mut().iter_mut().zip(z.as_flattened()) {
                    *p = z + b * *p;
                }
            });
        }
        for (p, z) in self.direction.supers.iter_mut().zip(&z.x_super) {
            *p = z + beta * *p;
        }
    }

    /// x += step · p, r −= step · A p; returns ‖r‖₂.
    fn update(&mut self, work: &mut Work, step: f64, x: &mut Vector, norm: f64, partials: &mut [f64]) -> f64 {
        let Self { gained, direction, image } = self;
        let leaves = partials.len();
        let (mut square, s) = (0.0, step as f32);
        for colour in 0..2 {
            let (p, q) = (&direction.cells[colour], &image.cells[colour]);
            let written = gained[colour][..leaves].par_iter_mut().zip(&mut work.b[colour][..leaves]);
            let written = written.zip(&mut *partials).with_min_len(GRAIN).enumerate();
            written.for_each(|(l, ((x, r), sum))| {
                for row in 0..64 {
                    for k in 0..4 {
                        x[row][k] += s * p[l][row][k];
                        r[row][k] -= s * q[l][row][k];
                    }
                }
                *sum = dot_half(r, r);
            });
            square += partials.iter().sum::<f64>();
        }
        for (b, r) in work.b_super.iter_mut().enumerate() {
            x.supers[b] += norm * step * direction.supers[b];
            *r -= step * image.supers[b];
        }
        (square + dot_supers(&work.b_super, &work.b_super)).sqrt()
    }

    /// Adds the corrections to x and clears them.
    fn fold(&mut self, x: &mut Vector, norm: f64) {
        for (x, gained) in x.cells.iter_mut().zip(&mut self.gained) {
            x.par_iter_mut().zip(gained).with_min_len(GRAIN).for_each(|(x, gained)| {
                for (x, gained) in x.as_flattened_mut().iter_mut().zip(gained.as_flattened_mut()) {
                    *x += norm * *gained as f64;
                    *gained = 0.0;
                }
            });
        }
    }
}

/// Writes (b − A x) / ‖b‖₂ to the cycle's right side; returns its length.
fn true_residual(problem: &mut Problem) -> f64 {
    let Problem { multigrid, low_rank, right_side, x, scratch, norm, .. } = problem;
    let (level, work) = (&multigrid.levels[0], &mut multigrid.work[0]);
    let cells = &mut work.b;
    residual(level, low_rank, *right_side, x, 1.0 / *norm, cells, &mut work.b_super, scratch) / *norm
}
