//! Conjugate gradients on the viscous step, preconditioned by its diagonal or a multigrid cycle.

use super::bodies::{Attached, Pushed};
use super::multigrid::Multigrid;
use super::operator::{FACES, Operator};
use super::stencil::System;
use super::{Error, Params, Preconditioner};
use crate::grid::{Coord, FaceGrid, leaf};
use crate::pressure::{Iteration, Progress};
use meniscus_kernels::conjugate_gradients::Stop;
use meniscus_kernels::conjugate_gradients::plain::{self, Cycle};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// ν dt / h² above which multigrid pays for its cycles.
const MULTIGRID_FROM: f64 = 10.0;

/// Whether multigrid cycles after the first reduce the residual so little that the diagonal alone is the better
/// preconditioner.
///
/// At the rim of drops and threads that the lattice barely resolves, faces have too few strains to be stiff. They move
/// freely, and a coarser level cannot represent that. In the interior and at walls a cycle halves the residual.
fn falls_short(cycles: usize, reduction: f64) -> bool {
    /// Cycles before which no decision is made.
    const TRIAL: usize = 5;
    /// Largest mean factor by which a useful cycle multiplies the residual.
    const LEFT: f64 = 0.63;
    cycles >= TRIAL && reduction > LEFT.powi(cycles as i32)
}

/// A solution, `[leaf][3][512]`, and how it was reached.
pub(super) struct Solved {
    pub(super) velocity: Vec<f64>,
    /// What it does to bodies.
    pub(super) pushed: Option<Pushed>,
    pub(super) iterations: usize,
    pub(super) residual: f64,
}

/// Solves A u = M u* + walls from the velocity before; `stiffness` is ν dt / h² at its largest.
pub(super) fn solve(
    system: &System,
    bodies: Option<&Attached>,
    velocity: &FaceGrid<f32>,
    stiffness: f64,
    params: &Params,
    progress: Progress,
) -> Result<Solved, Error> {
    let (operator, before) = (&system.operator, load(system, velocity));
    let mut right_side = right_side(system, &before);
    let force = bodies.map(|bodies| bodies.force(|slot| at(system, velocity, slot)));
    let coupled = Coupled { operator, bodies };
    if let Some((bodies, force)) = bodies.zip(force.as_ref()) {
        bodies.enter_pull(&mut right_side);
        let moved = bodies.yields(force);
        right_side
            .par_chunks_mut(FACES)
            .enumerate()
            .for_each(|(l, right_side)| bodies.subtract(l, &moved, right_side, |_, _| ()));
    }
    let norm = plain::dot(&right_side, &right_side, FACES).sqrt();
    if !norm.is_finite() {
        return Err(Error::Velocity);
    }
    let multigrid = match params.preconditioner {
        Preconditioner::Auto => stiffness > MULTIGRID_FROM,
        Preconditioner::Diagonal => false,
        Preconditioner::Multigrid => true,
    };
    let mut done = 0;
    let mut run = |cycles: Option<&mut dyn Cycle>| -> Result<Solved, Error> {
        let (may_fall_short, mut first, mut cancelled) = (cycles.is_some(), None, false);
        let stop = Stop { tolerance: params.tolerance, max_iterations: params.max_iterations - done };
        let told = &mut |n: usize, residual: f64| {
            let first = *first.get_or_insert(residual);
            cancelled = progress(Iteration { number: done + n, residual }).is_break();
            match cancelled || may_fall_short && falls_short(n - 1, residual / first) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let (velocity, out) =
            plain::solve(&coupled, before.clone(), right_side.clone(), norm, cycles, stop, told);
        done += out.iterations;
        match cancelled {
            true => Err(Error::Cancelled { iterations: done }),
            false => {
                let pushed = bodies.zip(force.as_ref()).map(|(bodies, force)| {
                    let felt = bodies.felt(&velocity);
                    bodies.pushed(&force.iter().zip(felt).map(|(f, felt)| f - felt).collect::<Vec<_>>())
                });
                Ok(Solved { velocity, pushed, iterations: done, residual: out.residual })
            }
        }
    };
    if multigrid {
        let mut cycles = Cycles { operator, multigrid: Multigrid::new(operator) };
        let solved = run(Some(&mut cycles))?;
        if solved.residual <= params.tolerance {
            return Ok(solved);
        }
    }
    run(None)
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

/// The velocity of a face, m/s, by its slot in the system.
fn at(system: &System, velocity: &FaceGrid<f32>, slot: usize) -> f64 {
    let (l, f) = (slot / FACES, slot % FACES);
    let cell = system.operator.topology.origins()[l] + Coord::from_array(leaf::local(f % leaf::SIZE));
    f64::from(velocity.get(f / leaf::SIZE, cell))
}

/// M u* + walls.
fn right_side(system: &System, before: &[f64]) -> Vec<f64> {
    let Operator { inverse_diagonal, mass, .. } = &system.operator;
    let mut out = vec![0.0; before.len()];
    out.par_iter_mut().enumerate().with_min_len(FACES).for_each(|(slot, out)| {
        if inverse_diagonal[slot] > 0.0 {
            *out = f64::from(mass[slot]) * before[slot] + system.walls.get(slot).copied().unwrap_or(0.0);
        }
    });
    out
}

/// A, or A − B P Bᵀ where there are bodies.
pub(super) struct Coupled<'a> {
    pub(super) operator: &'a Operator,
    pub(super) bodies: Option<&'a Attached>,
}

impl plain::Operator for Coupled<'_> {
    const CHUNK: usize = FACES;

    fn apply(&self, leaf: usize, v: &[f64], image: &mut [f64]) -> f64 {
        self.operator.apply(leaf, v, image)
    }

    fn inverse_diagonal(&self, leaf: usize) -> &[f32] {
        &self.operator.inverse_diagonal[leaf * FACES..][..FACES]
    }

    fn apply_all(&self, v: &[f64], image: &mut [f64], sums: &mut [[f64; 2]]) {
        let moved = self.bodies.map(|bodies| (bodies, bodies.yields(&bodies.felt(v))));
        image.par_chunks_mut(FACES).zip(sums).enumerate().for_each(|(l, (image, sum))| {
            *sum = [self.operator.apply(l, v, image), 0.0];
            if let Some((bodies, moved)) = &moved {
                let v = &v[l * FACES..];
                bodies.subtract(l, moved, image, |f, pulled| sum[0] -= pulled * v[f]);
            }
        });
    }
}

/// Multigrid cycles on an operator.
struct Cycles<'a> {
    operator: &'a Operator,
    multigrid: Multigrid,
}

impl Cycle for Cycles<'_> {
    fn cycle(&mut self, r: &[f64]) -> &[f32] {
        self.multigrid.cycle(self.operator, r)
    }
}
