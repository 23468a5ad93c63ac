//! Runs the pressure engine on the device that the user chose.

use super::engine::{Iterate, MultigridSolver};
use super::solver::{Error, Info, Params, PressureSolver, Progress};
use super::system::{PressureSystem, Unknowns};
use crate::device::{Device, Place};
use meniscus_kernels::conjugate_gradients::{self, ConjugateGradients, LowRank, Outcome, RightSide, Stop};
use meniscus_kernels::cuda::{self, Cuda, DeviceConjugateGradients, Failure};
use meniscus_kernels::multigrid::Multigrid;

/// A solver on a device. A CUDA device is opened when the first system comes.
pub fn solver(device: Device) -> Box<dyn PressureSolver> {
    match device {
        Device::Auto => Box::new(DeviceSolver::<Cuda>::new(Cuda::open, false)),
        Device::Cpu => Box::new(MultigridSolver::default()),
        Device::Cuda => Box::new(DeviceSolver::<Cuda>::new(Cuda::open, true)),
    }
}

/// The engine on a device: the hierarchy is set up on the processor, the device iterates.
pub struct DeviceSolver<D: cuda::Device> {
    engine: MultigridSolver,
    place: Place<DeviceConjugateGradients<D>>,
}

impl<D: cuda::Device + 'static> DeviceSolver<D> {
    /// A solver that opens its device when the first system comes. If the device is not `required`, the processor takes
    /// over after the first failure and stays in use.
    pub fn new(open: fn() -> Result<D, Failure>, required: bool) -> Self {
        let open = move || open().map(DeviceConjugateGradients::new);
        Self { engine: MultigridSolver::default(), place: Place::new(open, required, "pressure is solved") }
    }
}

impl<D: cuda::Device> PressureSolver for DeviceSolver<D> {
    fn solve(
        &mut self,
        system: &PressureSystem,
        rhs: &Unknowns,
        x: &mut Unknowns,
        params: &Params,
        progress: Progress,
    ) -> Result<Info, Error> {
        self.engine.solve_on(&mut self.place, system, rhs, x, params, progress)
    }

    fn notice(&mut self) -> Option<String> {
        self.place.notice()
    }
}

impl<D: cuda::Device> Iterate for Place<DeviceConjugateGradients<D>> {
    fn device(&self) -> &'static str {
        if self.there().is_some() { "cuda" } else { "cpu" }
    }

    fn bytes(&self) -> usize {
        self.there().map_or(0, DeviceConjugateGradients::bytes)
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
        let there = |d: &mut DeviceConjugateGradients<D>| {
            d.solve(multigrid, low_rank, stop, right_side, &mut iteration.x, progress)
        };
        match self.try_there(there).map_err(|failure| Error::Device(failure.to_string()))? {
            Some(outcome) => Ok(outcome),
            None => Ok(iteration.solve(multigrid, low_rank, stop, right_side, progress)),
        }
    }
}
