//! The pressure engine: sets up the multigrid hierarchy, iterates, and reports the true residual.

use super::assemble::{self, ActiveLeaves};
use super::null_space::NullSpace;
use super::solver::{Error, Info, Iteration, Params, PressureSolver, Progress};
use super::system::{CELL, PressureSystem, Unknowns};
use crate::grid::leaf;
use meniscus_kernels::checkerboard::{self, Half};
use meniscus_kernels::conjugate_gradients::{
    self, ConjugateGradients, LowRank, Outcome, RightSide, Stop, Vector,
};
use meniscus_kernels::multigrid::{Bodies, Cycle, GRAIN, Multigrid};
use rayon::prelude::*;
use std::time::Instant;

/// A device that iterates once the hierarchy is set up.
pub(super) trait Iterate {
    /// "cpu", "cuda": where the last solve ran.
    fn device(&self) -> &'static str;

    /// Bytes it holds besides the hierarchy.
    fn bytes(&self) -> usize;

    /// Solves from `iteration.x`, and leaves the solution there.
    fn iterate(
        &mut self,
        multigrid: &mut Multigrid,
        iteration: &mut ConjugateGradients,
        low_rank: &[LowRank],
        stop: Stop,
        right_side: &dyn RightSide,
        progress: conjugate_gradients::Progress,
    ) -> Result<Outcome, Error>;
}

/// The processor.
pub(super) struct Processor;

impl Iterate for Processor {
    fn device(&self) -> &'static str {
        "cpu"
    }

    fn bytes(&self) -> usize {
        0
    }

    fn iterate(
        &mut self,
        multigrid: &mut Multigrid,
        iteration: &mut ConjugateGradients,
        low_rank: &[LowRank],
        stop: Stop,
        right_side: &dyn RightSide,
        progress: conjugate_gradients::Progress,
    ) -> Result<Outcome, Error> {
        Ok(iteration.solve(multigrid, low_rank, stop, right_side, progress))
    }
}

/// Conjugate gradients preconditioned by a multigrid cycle, on the processor.
#[derive(Clone, Debug, Default)]
pub struct MultigridSolver {
    multigrid: Multigrid,
    iteration: ConjugateGradients,
}

impl PressureSolver for MultigridSolver {
    fn solve(
        &mut self,
        system: &PressureSystem,
        rhs: &Unknowns,
        x: &mut Unknowns,
        params: &Params,
        progress: Progress,
    ) -> Result<Info, Error> {
        self.solve_on(&mut Processor, system, rhs, x, params, progress)
    }
}

impl MultigridSolver {
    /// Sets up the hierarchy, lets `device` iterate, and reports the result.
    pub(super) fn solve_on(
        &mut self,
        device: &mut dyn Iterate,
        system: &PressureSystem,
        rhs: &Unknowns,
        x: &mut Unknowns,
        params: &Params,
        progress: Progress,
    ) -> Result<Info, Error> {
        let start = Instant::now();
        system.validate()?;
        system.validate_vector("right side", rhs)?;
        system.validate_vector("initial guess", x)?;
        let active = ActiveLeaves::new(system);
        let mut finest = assemble::finest_level(system, &active, self.multigrid.take_finest());
        assemble::set_lone_diagonals(&mut finest, &system.attached, &active);
        let unknowns = finest.unknown_cells + system.super_cells.len();
        let null_space = NullSpace::find(system, &active, &finest);
        let low_rank = assemble::low_rank(&system.attached, &active);
        self.iteration.fit(&finest, &low_rank);
        let bodies = Bodies::new(&low_rank, &finest);
        self.multigrid.build(finest, assemble::extents(system), bodies, Cycle::default());
        let shifts = null_space.shifts(&active, rhs);
        load(system, &active, x, &mut self.iteration.x);
        let setup_seconds = start.elapsed().as_secs_f64();

        let stop = Stop { tolerance: params.tolerance, max_iterations: params.max_iterations };
        let right_side =
            Compatible { system, active: &active, rhs, null_space: &null_space, shifts: &shifts };
        let outcome = device.iterate(
            &mut self.multigrid,
            &mut self.iteration,
            &low_rank,
            stop,
            &right_side,
            &mut |number, residual| progress(Iteration { number, residual }),
        )?;
        store(&active, &self.iteration.x, x);
        project(&null_space, &active, x);
        if outcome.cancelled {
            return Err(Error::Cancelled { iterations: outcome.iterations });
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Info {
            unknowns,
            iterations: outcome.iterations,
            residual: outcome.residual,
            converged: outcome.residual <= params.tolerance,
            null_space: null_space.dimension(),
            incompatible: incompatible(&null_space, &shifts, rhs),
            bytes: self.multigrid.bytes()
                + self.iteration.bytes()
                + null_space.bytes()
                + active.bytes()
                + device.bytes(),
            device: device.device(),
            setup_seconds,
            solve_seconds: seconds - setup_seconds,
        })
    }
}

/// A right side less its component in the null space.
struct Compatible<'a> {
    system: &'a PressureSystem,
    active: &'a ActiveLeaves,
    rhs: &'a Unknowns,
    null_space: &'a NullSpace,
    shifts: &'a [f64],
}

impl RightSide for Compatible<'_> {
    fn cells(&self, l: usize, [red, black]: [&mut Half<f64>; 2]) {
        let mut values = unknown_values(self.system, self.active.leaves[l], self.rhs);
        if !self.shifts.is_empty() {
            self.null_space.subtract(l, self.shifts, &mut values);
        }
        checkerboard::split(&values, red, black);
    }

    fn super_cell(&self, b: usize) -> f64 {
        self.rhs.supers[b] - self.null_space.shift_super(b, self.shifts)
    }
}

/// A vector's values in the unknown cells of a topology leaf; 0 elsewhere.
fn unknown_values(system: &PressureSystem, l: u32, from: &Unknowns) -> [f64; leaf::SIZE] {
    let here = l as usize * leaf::SIZE..(l as usize + 1) * leaf::SIZE;
    let (values, labels) = (&from.cells[here.clone()], &system.label[here]);
    std::array::from_fn(|n| if labels[n] == CELL { values[n] } else { 0.0 })
}

/// Copies a vector's unknowns into the engine's order.
fn load(system: &PressureSystem, active: &ActiveLeaves, from: &Unknowns, to: &mut Vector) {
    let [red, black] = &mut to.cells;
    let halves = red.par_iter_mut().zip(black.par_iter_mut()).zip(&active.leaves).with_min_len(GRAIN);
    halves.for_each(|((red, black), &l)| checkerboard::split(&unknown_values(system, l, from), red, black));
    to.supers.copy_from_slice(&from.supers);
}

/// Copies a vector back; cells outside the active leaves become 0.
fn store(active: &ActiveLeaves, from: &Vector, to: &mut Unknowns) {
    to.cells.par_chunks_mut(leaf::SIZE).zip(&active.number).with_min_len(GRAIN).for_each(|(values, &i)| {
        if (i as usize) < active.leaves.len() {
            checkerboard::join(&from.cells[0][i as usize], &from.cells[1][i as usize], values);
        } else {
            values.fill(0.0);
        }
    });
    to.supers.copy_from_slice(&from.supers);
}

/// Removes the component in the null space.
fn project(null_space: &NullSpace, active: &ActiveLeaves, x: &mut Unknowns) {
    if null_space.is_empty() {
        return;
    }
    let shifts = null_space.shifts(active, x);
    x.cells.par_chunks_mut(leaf::SIZE).zip(&active.number).for_each(|(values, &i)| {
        if (i as usize) < active.leaves.len() {
            null_space.subtract(i as usize, &shifts, values);
        }
    });
    for (b, v) in x.supers.iter_mut().enumerate() {
        *v -= null_space.shift_super(b, &shifts);
    }
}

fn incompatible(null_space: &NullSpace, shifts: &[f64], rhs: &Unknowns) -> f64 {
    let removed = null_space.norm(shifts);
    if removed == 0.0 {
        return 0.0;
    }
    let partial = rhs.cells.par_chunks(leaf::SIZE).map(|c| c.iter().map(|v| v * v).sum::<f64>());
    let cells: f64 = partial.collect::<Vec<f64>>().iter().sum();
    removed / (cells + rhs.supers.iter().map(|v| v * v).sum::<f64>()).sqrt()
}
