//! Where to solve: on the processor, or on a CUDA device, with the processor to fall back on.

use super::engine::{Iterate, MultigridSolver};
use super::solver::{Error, Info, Params, PressureSolver, Progress};
use super::system::{PressureSystem, Unknowns};
use meniscus_kernels::conjugate_gradients::{self, ConjugateGradients, LowRank, Outcome, RightSide, Stop};
use meniscus_kernels::cuda::{self, Cuda, DeviceConjugateGradients, Failure};
use meniscus_kernels::multigrid::Multigrid;

/// Where to solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// A CUDA device where there is one, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device, or an error.
    Cuda,
}

/// A solver on a device. A CUDA device is looked for when the first system comes.
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
    accelerator: Accelerator<D>,
}

impl<D: cuda::Device> DeviceSolver<D> {
    /// A solver that opens its device when the first system comes. Where the device is not `required`, the
    /// processor takes over from the first failure on.
    pub fn new(open: fn() -> Result<D, Failure>, required: bool) -> Self {
        let accelerator = Accelerator { open, required, place: Place::Unknown, notice: None };
        Self { engine: MultigridSolver::default(), accelerator }
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
        self.engine.solve_on(&mut self.accelerator, system, rhs, x, params, progress)
    }

    fn notice(&mut self) -> Option<String> {
        self.accelerator.notice.take()
    }
}

/// Where solves run.
enum Place<D: cuda::Device> {
    /// No system has come yet.
    Unknown,
    /// On the device.
    Device(Box<DeviceConjugateGradients<D>>),
    /// On the processor, since the device failed.
    Processor,
}

/// A device, or what has become of it.
struct Accelerator<D: cuda::Device> {
    open: fn() -> Result<D, Failure>,
    required: bool,
    place: Place<D>,
    notice: Option<String>,
}

impl<D: cuda::Device> Accelerator<D> {
    /// Gives the device up: an error where it is required, else a notice.
    fn give_up(&mut self, failure: &Failure) -> Result<(), Error> {
        self.place = Place::Unknown;
        if self.required {
            return Err(Error::Device(failure.to_string()));
        }
        self.place = Place::Processor;
        self.notice = Some(format!("pressure is solved on the processor: {failure}"));
        Ok(())
    }

    /// Opens the device, if that has not been tried yet.
    fn look_for_device(&mut self) -> Result<(), Error> {
        if matches!(self.place, Place::Unknown) {
            match (self.open)() {
                Ok(device) => self.place = Place::Device(Box::new(DeviceConjugateGradients::new(device))),
                Err(failure) => self.give_up(&failure)?,
            }
        }
        Ok(())
    }
}

impl<D: cuda::Device> Iterate for Accelerator<D> {
    fn device(&self) -> &'static str {
        match self.place {
            Place::Device(_) => "cuda",
            Place::Unknown | Place::Processor => "cpu",
        }
    }

    fn bytes(&self) -> usize {
        match &self.place {
            Place::Device(device) => device.bytes(),
            _ => 0,
        }
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
        self.look_for_device()?;
        if let Place::Device(device) = &mut self.place {
            match device.solve(multigrid, low_rank, stop, right_side, &mut iteration.x, progress) {
                Ok(outcome) => return Ok(outcome),
                Err(failure) => self.give_up(&failure)?,
            }
        }
        Ok(iteration.solve(multigrid, low_rank, stop, right_side, progress))
    }
}
