//! The f64 stage of conjugate gradients, for systems so ill-conditioned that f32 does not reach the tolerance.

use super::operator::{apply, residual};
use super::vector::{Vector, dot_cells, dot_half, dot_supers};
use super::{Outcome, Problem, Progress};
use crate::multigrid::{GRAIN, Work};
use rayon::prelude::*;

/// The vectors of the stage; empty until it is needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Vectors {
    residual: Vector,
    direction: Vector,
    image: Vector,
}

/// Factor by which one run of the recurrence reduces the residual (relative to ‖b‖) before the residual is computed
/// anew.
const TRUSTED_REDUCTION: f64 = 1e-9;

impl Vectors {
    pub fn bytes(&self) -> usize {
        self.residual.bytes() + self.direction.bytes() + self.image.bytes()
    }

    /// Runs the recurrence, computes the true residual, and repeats that as long as the residual gets smaller.
    pub fn run(&mut self, problem: &mut Problem, out: &mut Outcome, progress: Progress) {
        let (leaves, supers) = (problem.scratch.partials.len(), problem.x.supers.len());
        for v in [&mut self.residual, &mut self.direction, &mut self.image] {
            v.fit(leaves, supers);
        }
        out.residual = self.true_residual(problem);
        while out.goes_on(problem.stop) {
            let before = out.residual;
            let target = problem.stop.tolerance.max(before * TRUSTED_REDUCTION);
            self.recur(problem, target, out, progress);
            out.residual = self.true_residual(problem);
            if out.residual > 0.5 * before {
                break;
            }
        }
    }

    /// r = b − A x; returns ‖r‖₂ / ‖b‖₂.
    fn true_residual(&mut self, problem: &mut Problem) -> f64 {
        let Problem { multigrid, low_rank, right_side, x, scratch, norm, .. } = problem;
        let Vector { cells, supers } = &mut self.residual;
        residual(&multigrid.levels[0], low_rank, *right_side, x, 1.0, cells, supers, scratch) / *norm
    }

    /// Preconditioned conjugate gradients from the current residual [Shewchuk 1994, §B3].
    fn recur(&mut self, problem: &mut Problem, target: f64, out: &mut Outcome, progress: Progress) {
        let Problem { multigrid, low_rank, x, scratch, norm, stop, .. } = problem;
        // The f32 cycle works on r / scale, which has length near 1 whatever the units of b. (When r is written, only
        // its length before the step is known; that is near enough.)
        let mut scale = out.residual * *norm;
        self.direction.fit(scratch.partials.len(), x.supers.len());
        let mut scaled = scale;
        self.update(&mut multigrid.work[0], x, 0.0, 1.0 / scale, &mut scratch.partials);
        let mut energy = 0.0;
        while out.iterations < stop.max_iterations {
            multigrid.precondition();
            let z = &multigrid.work[0];
            let next = scale
                * (dot_cells(&self.residual.cells, &z.x, &mut scratch.partials)
                    + dot_supers(&self.residual.supers, &z.x_super));
            let beta = if energy > 0.0 { next / energy } else { 0.0 };
            energy = next;
            self.turn(z, scale, beta);
            let curvature = apply(&multigrid.levels[0], low_rank, &self.direction, &mut self.image, scratch);
            let step = energy / curvature;
            if !step.is_finite() || step <= 0.0 {
                return;
            }
            let work = &mut multigrid.work[0];
            let length = self.update(work, x, step, 1.0 / scaled, &mut scratch.partials);
            out.iterations += 1;
            out.cancelled = progress(out.iterations, length / *norm).is_break();
            if out.cancelled || length <= target * *norm || !length.is_finite() {
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
    fn update(
        &mut self,
        work: &mut Work,
        x: &mut Vector,
        step: f64,
        scale: f64,
        partials: &mut [f64],
    ) -> f64 {
        let Self { residual, direction, image } = self;
        let leaves = partials.len();
        let mut square = 0.0;
        for colour in 0..2 {
            let (p, q) = (&direction.cells[colour], &image.cells[colour]);
            let written = x.cells[colour][..leaves].par_iter_mut().zip(&mut residual.cells[colour][..leaves]);
            let written = written.zip(&mut work.b[colour][..leaves]).zip(&mut *partials);
            written.with_min_len(GRAIN).enumerate().for_each(|(l, (((x, r), b), sum))| {
                for row in 0..64 {
                    for k in 0..4 {
                        x[row][k] += step * p[l][row][k];
                        r[row][k] -= step * q[l][row][k];
                        b[row][k] = (r[row][k] * scale) as f32;
                    }
                }
                *sum = dot_half(r, r);
            });
            square += partials.iter().sum::<f64>();
        }
        for (b, (x, p)) in x.supers.iter_mut().zip(&direction.supers).enumerate() {
            *x += step * p;
            residual.supers[b] -= step * image.supers[b];
            work.b_super[b] = residual.supers[b] * scale;
        }
        (square + dot_supers(&residual.supers, &residual.supers)).sqrt()
    }
}
