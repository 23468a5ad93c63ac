//! The interface that every pressure solver offers, on any device.

use super::system::{PressureSystem, SystemError, Unknowns};
use std::ops::ControlFlow;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Relative residual to reach: ‖b − A x‖₂ ≤ tolerance ‖b‖₂, b made compatible with the null space.
    pub tolerance: f64,
    /// Iterations after which the solve gives up (and says so in [`Info::converged`]).
    pub max_iterations: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 1000 }
    }
}

/// The result of a solve in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// Unknowns that take part: cells with an open face, and super-cells.
    pub unknowns: usize,
    /// Iterations spent.
    pub iterations: usize,
    /// True relative residual ‖b − A x‖₂ / ‖b‖₂, recomputed in f64 from the result.
    pub residual: f64,
    /// Whether `residual` reached the tolerance.
    pub converged: bool,
    /// Dimension of the null space that was projected out.
    pub null_space: usize,
    /// Share ‖b − Π b‖₂ / ‖b‖₂ of the right side that lies in the null space and was projected out.
    pub incompatible: f64,
    /// Memory the solver itself held while it iterated, all levels included, from what its vectors have allocated.
    pub bytes: usize,
    /// "cpu" or "cuda": where it was solved.
    pub device: &'static str,
    /// Time spent on the hierarchy before the first iteration, seconds.
    pub setup_seconds: f64,
    /// Time spent iterating, seconds.
    pub solve_seconds: f64,
}

/// One iteration, as told to the progress callback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Iterations done, from 1.
    pub number: usize,
    /// Relative residual by the solver's recurrence.
    pub residual: f64,
}

/// Called once per iteration; `Break` cancels the solve.
pub type Progress<'a> = &'a mut dyn FnMut(Iteration) -> ControlFlow<()>;

/// Why a solve gave no result. (Not reaching the tolerance is a result: see [`Info::converged`].)
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The system or a vector is malformed.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The progress callback asked to stop; `x` holds the last iterate.
    #[error("pressure solve cancelled after {iterations} iterations")]
    Cancelled {
        /// Iterations done until then.
        iterations: usize,
    },
    /// The device that was asked for cannot be used.
    #[error("no pressure solve on a CUDA device: {0}")]
    Device(String),
}

/// Solves pressure systems. An instance holds only caches: dropping it between two solves does not change a bit of the
/// result.
pub trait PressureSolver: Send {
    /// Solves `A x = rhs`, starting from the given `x`. The result has no component in the null space.
    fn solve(
        &mut self,
        system: &PressureSystem,
        rhs: &Unknowns,
        x: &mut Unknowns,
        params: &Params,
        progress: Progress,
    ) -> Result<Info, Error>;

    /// A message to show once: why solves do not run on the device that was asked for.
    fn notice(&mut self) -> Option<String> {
        None
    }
}
