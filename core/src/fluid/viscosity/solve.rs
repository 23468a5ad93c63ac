//! Conjugate gradients on the viscous step, preconditioned by its diagonal or a multigrid cycle [Shewchuk 1994, §B3].
//!
//! Sums are partial sums per leaf, added in the order of the leaves, so that threads change no bit.

use super::multigrid::Multigrid;
use super::operator::{FACES, Operator};
use super::stencil::System;
use super::{Error, Params, Preconditioner};
use crate::grid::{FaceGrid, leaf};
use crate::pressure::{Iteration, Progress};
use rayon::prelude::*;

/// ν dt / h² above which multigrid pays for its cycles.
const MULTIGRID_FROM: f64 = 10.0;

/// Whether cycles take so little off the residual that the diagonal alone is the better choice.
///
/// Where drops and threads are rounded by the lattice, faces at their rim hang on too few strains to be stiff: they
/// move freely, which a coarser level cannot tell. Interiors and walls take about half off per cycle.
fn falls_short(cycles: usize, reduction: f64) -> bool {
    /// Cycles before which nothing is said.
    const TRIAL: usize = 5;
    /// What a cycle should leave of the residual, on average.
    const LEFT: f64 = 0.63;
    cycles >= TRIAL && reduction > LEFT.powi(cycles as i32)
}

/// How the iteration ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) iterations: usize,
    pub(super) residual: f64,
}

/// A solution, `[leaf][3][512]`, and how it was reached.
pub(super) struct Solved {
    pub(super) velocity: Vec<f64>,
    pub(super) outcome: Outcome,
}

/// Vectors over the faces, `[leaf][3][512]`, 0 on faces that are no unknowns.
struct Iterates<'a> {
    system: &'a System,
    operator: &'a Operator,
    /// `None`: the diagonal.
    multigrid: Option<Multigrid>,
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    /// One entry a leaf.
    partials: Vec<[f64; 2]>,
}

/// Solves A u = M u* + walls from the velocity before; `stiffness` is ν dt / h² at its largest.
pub(super) fn solve(
    system: &System,
    velocity: &FaceGrid<f32>,
    stiffness: f64,
    params: &Params,
    progress: Progress,
) -> Result<Solved, Error> {
    let before = load(system, velocity);
    let n = before.len();
    let mut at = Iterates {
        system,
        operator: &system.operator,
        multigrid: None,
        x: before,
        residual: vec![0.0; n],
        direction: vec![0.0; n],
        image: vec![0.0; n],
        partials: vec![[0.0; 2]; system.operator.topology.len()],
    };
    let norm = at.right_side();
    if !norm.is_finite() {
        return Err(Error::Velocity);
    }
    let multigrid = match params.preconditioner {
        Preconditioner::Auto => stiffness > MULTIGRID_FROM,
        Preconditioner::Diagonal => false,
        Preconditioner::Multigrid => true,
    };
    at.multigrid = multigrid.then(|| Multigrid::new(&system.operator));
    let mut outcome = at.iterate(norm, params, 0, progress)?;
    if at.multigrid.take().is_some() && outcome.residual > params.tolerance {
        at.x = load(system, velocity);
        at.right_side();
        outcome = at.iterate(norm, params, outcome.iterations, progress)?;
    }
    Ok(Solved { velocity: at.x, outcome })
}

/// The unknowns' velocity before, m/s.
fn load(system: &System, velocity: &FaceGrid<f32>) -> Vec<f64> {
    let mut out = vec![0.0; system.operator.mass.len()];
    out.par_chunks_mut(FACES).enumerate().for_each(|(l, out)| {
        let from = velocity.topology.leaf_of(system.operator.topology.origins()[l]);
        let unknown = &system.operator.inverse_diagonal[l * FACES..];
        for (f, out) in out.iter_mut().enumerate().filter(|&(f, _)| unknown[f] > 0.0) {
            let value = |l: usize| velocity.values[f / leaf::SIZE][l * leaf::SIZE + f % leaf::SIZE];
            *out = f64::from(from.map_or(velocity.background, value));
        }
    });
    out
}

fn add(sums: &[[f64; 2]]) -> [f64; 2] {
    sums.iter().fold([0.0; 2], |[a, b], s| [a + s[0], b + s[1]])
}

impl Iterates<'_> {
    /// r = M u* + walls; returns its length.
    fn right_side(&mut self) -> f64 {
        let (system, x) = (self.system, &self.x);
        let leaves = self.residual.par_chunks_mut(FACES).zip(&mut self.partials);
        leaves.enumerate().for_each(|(l, (r, sum))| {
            let mut square = 0.0;
            for (f, r) in r.iter_mut().enumerate() {
                let slot = l * FACES + f;
                if system.operator.inverse_diagonal[slot] > 0.0 {
                    *r = f64::from(system.operator.mass[slot]) * x[slot]
                        + system.walls.get(slot).copied().unwrap_or(0.0);
                    square += *r * *r;
                }
            }
            *sum = [square, 0.0];
        });
        add(&self.partials)[0].sqrt()
    }

    /// image = A v; returns vᵀ A v.
    fn apply(operator: &Operator, v: &[f64], image: &mut [f64], partials: &mut [[f64; 2]]) -> f64 {
        image.par_chunks_mut(FACES).zip(&mut *partials).enumerate().for_each(|(l, (image, sum))| {
            *sum = [operator.apply(l, v, image), 0.0];
        });
        add(partials)[0]
    }

    /// x += step p, r −= step A p; returns rᵀ r and rᵀ D⁻¹ r.
    fn update(&mut self, step: f64) -> [f64; 2] {
        let Self { operator, x, residual, direction, image, partials, .. } = self;
        let leaves = x.par_chunks_mut(FACES).zip(residual.par_chunks_mut(FACES)).zip(&mut *partials);
        leaves.enumerate().for_each(|(l, ((x, r), sum))| {
            let here = l * FACES..(l + 1) * FACES;
            let (p, q) = (&direction[here.clone()], &image[here.clone()]);
            let inverse = &operator.inverse_diagonal[here];
            *sum = [0.0; 2];
            for f in 0..FACES {
                x[f] += step * p[f];
                r[f] -= step * q[f];
                sum[0] += r[f] * r[f];
                sum[1] += r[f] * r[f] * f64::from(inverse[f]);
            }
        });
        add(partials)
    }

    /// p = z + β p for the preconditioned residual z; returns rᵀ z. `before` is the last rᵀ z, after which a `step`
    /// along p was taken; the diagonal's rᵀ z is known. A cycle is rounded, so with it β = zᵀ (r − r_before) / before,
    /// which keeps directions conjugate all the same [Notay 2000].
    fn turn(&mut self, of_diagonal: f64, before: f64, step: f64) -> f64 {
        let Self { operator, multigrid, residual, direction, image, partials, .. } = self;
        let Some(multigrid) = multigrid else {
            let beta = of_diagonal / before;
            direction.par_chunks_mut(FACES).enumerate().for_each(|(l, p)| {
                let here = l * FACES..(l + 1) * FACES;
                let (r, inverse) = (&residual[here.clone()], &operator.inverse_diagonal[here]);
                for f in 0..FACES {
                    p[f] = f64::from(inverse[f]) * r[f] + beta * p[f];
                }
            });
            return of_diagonal;
        };
        let z = multigrid.cycle(operator, residual);
        let leaves = residual.par_chunks(FACES).zip(z.par_chunks(FACES)).zip(image.par_chunks(FACES));
        leaves.zip(&mut *partials).for_each(|(((r, z), image), sum)| {
            *sum = [0.0; 2];
            for ((r, image), z) in r.iter().zip(image).zip(z.iter().map(|&z| f64::from(z))) {
                sum[0] += r * z;
                sum[1] -= step * image * z;
            }
        });
        let [energy, change] = add(partials);
        let beta = change / before;
        direction.par_chunks_mut(FACES).zip(z.par_chunks(FACES)).for_each(|(p, z)| {
            p.iter_mut().zip(z).for_each(|(p, &z)| *p = f64::from(z) + beta * *p);
        });
        energy
    }

    /// Iterates from x, of which r is the right side; `done` iterations came before.
    fn iterate(
        &mut self,
        norm: f64,
        params: &Params,
        done: usize,
        progress: Progress,
    ) -> Result<Outcome, Error> {
        let mut out = Outcome { iterations: done, ..Outcome::default() };
        self.direction.fill(0.0);
        if norm == 0.0 {
            self.x.fill(0.0);
            return Ok(out);
        }
        // r = b − A x: a step of length 1 with no direction.
        Self::apply(self.operator, &self.x, &mut self.image, &mut self.partials);
        let [mut square, mut of_diagonal] = self.update(1.0);
        out.residual = square.sqrt() / norm;
        if out.residual <= params.tolerance {
            return Ok(out);
        }
        let first = out.residual;
        let mut energy = self.turn(of_diagonal, f64::INFINITY, 0.0);
        while out.residual > params.tolerance && out.iterations < params.max_iterations {
            let curvature = Self::apply(self.operator, &self.direction, &mut self.image, &mut self.partials);
            let step = energy / curvature;
            if !step.is_finite() || step <= 0.0 {
                break;
            }
            [square, of_diagonal] = self.update(step);
            out.iterations += 1;
            out.residual = square.sqrt() / norm;
            let told = Iteration { number: out.iterations, residual: out.residual };
            if progress(told).is_break() {
                return Err(Error::Cancelled { iterations: out.iterations });
            }
            if self.multigrid.is_some() && falls_short(out.iterations, out.residual / first) {
                break;
            }
            energy = self.turn(of_diagonal, energy, step);
        }
        Ok(out)
    }
}
