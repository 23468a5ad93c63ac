//! Conjugate gradients, preconditioned by the f32 multigrid cycle. Vectors are f32, with a true residual in f64; where
//! f32 no longer reduces the residual, they are f64. [`plain`] is for operators from elsewhere.

mod double;
pub(crate) mod operator;
pub mod plain;
mod single;
mod vector;

pub use crate::low_rank::{LowRank, LowRankColumn, Weight};
pub use operator::{RightSide, Scratch, apply};
pub use vector::{Real, Vector, dot_cells, dot_supers};

use crate::multigrid::{Level, Multigrid};
use std::ops::ControlFlow;

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
    /// ‖b − A x‖₂ / ‖b‖₂, recomputed from x; [`plain`]'s as the recurrence has it.
    pub residual: f64,
    /// The callback asked to stop.
    pub cancelled: bool,
}

impl Outcome {
    fn goes_on(&self, stop: Stop) -> bool {
        self.residual > stop.tolerance && self.iterations < stop.max_iterations && !self.cancelled
    }
}

/// Told the number of each iteration and its relative residual.
pub type Progress<'a> = &'a mut dyn FnMut(usize, f64) -> ControlFlow<()>;

/// The solver's vectors; kept between solves only to save allocations.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradients {
    /// Initial guess, then the solution.
    pub x: Vector,
    single: single::Vectors,
    double: double::Vectors,
    scratch: Scratch,
}

/// The inputs of one solve.
struct Problem<'a> {
    multigrid: &'a mut Multigrid,
    low_rank: &'a [LowRank],
    right_side: &'a dyn RightSide,
    x: &'a mut Vector,
    scratch: &'a mut Scratch,
    stop: Stop,
    /// ‖b‖₂.
    norm: f64,
}

impl ConjugateGradients {
    /// Sizes the vectors (all zero) for a level.
    pub fn fit(&mut self, level: &Level, low_rank: &[LowRank]) {
        self.x.fit(level.leaves(), level.super_count());
        self.scratch.fit(level, low_rank);
        self.double = Default::default();
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.x.bytes() + self.single.bytes() + self.double.bytes() + self.scratch.bytes()
    }

    /// Solves A x = b from the x given.
    ///
    /// Each stage runs its recurrence until its residual is small enough, then computes the true residual and goes on
    /// from there, as long as the residual still gets smaller. A W-cycle need not be positive definite
    /// ([`Multigrid::precondition`]). Every direction is still conjugate to those before it, and a step that does not
    /// descend (r·z ≤ 0) shows the case: from there on the V-cycle preconditions, as it does in f64.
    pub fn solve(
        &mut self,
        multigrid: &mut Multigrid,
        low_rank: &[LowRank],
        stop: Stop,
        right_side: &dyn RightSide,
        progress: Progress,
    ) -> Outcome {
        let Self { x, single, double, scratch } = self;
        let mut out = Outcome::default();
        let norm = operator::norm(right_side, x.supers.len(), &mut scratch.partials);
        if norm == 0.0 {
            x.fit(scratch.partials.len(), x.supers.len());
            return out;
        }
        let mut problem = Problem { multigrid, low_rank, right_side, x, scratch, stop, norm };
        while single.run(&mut problem, &mut out, progress) && problem.multigrid.take_v_cycle() {}
        if out.goes_on(stop) {
            problem.multigrid.take_v_cycle();
            double.run(&mut problem, &mut out, progress);
        }
        out
    }
}
