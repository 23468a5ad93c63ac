//! Where particles move and exchange velocity with the faces: on the processor, or on a CUDA device, with the
//! processor to fall back on.

mod copies;

use super::advection::{self, AdvectionParams};
use super::cells::Cells;
use super::inlet::Inlet;
use super::particles::{Particles, Selection};
use super::transfer::{self, VelocityTransfer};
use crate::grid::{FaceGrid, Transform};
use crate::pressure::Device;
use crate::solid::Solids;
use copies::OnDevice;
use meniscus_kernels::cuda::{self, Cuda, Failure};
use std::convert::Infallible;

/// What particles move through in a substep.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// Face velocity, m/s.
    pub velocity: &'a FaceGrid<f32>,
    /// Length of the substep, s.
    pub dt: f64,
    /// Particles with ids from here on are newer than the velocity and move with their own.
    pub born_from: i64,
    /// Where sources drive the liquid.
    pub inlet: Option<&'a Inlet>,
}

/// Moves particles, and their velocity to the faces and back.
pub trait Mover {
    /// Why it could not.
    type Error;

    /// As [`advection::advect`].
    fn advect(
        &mut self,
        particles: &mut Particles,
        transform: &Transform,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, Self::Error>;

    /// As [`transfer::particles_to_faces`]: the mean velocity.
    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        cells: &Cells,
        transform: &Transform,
        transfer: VelocityTransfer,
    ) -> Result<FaceGrid<f32>, Self::Error>;

    /// As [`transfer::faces_to_particles`].
    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        cells: &Cells,
        transform: &Transform,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
        transfer: VelocityTransfer,
    ) -> Result<(), Self::Error>;
}

/// The processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Processor;

impl Mover for Processor {
    type Error = Infallible;

    fn advect(
        &mut self,
        particles: &mut Particles,
        transform: &Transform,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, Infallible> {
        let Way { velocity, dt, born_from, inlet } = *way;
        Ok(advection::advect(particles, transform, velocity, solids, dt, born_from, inlet, params))
    }

    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        cells: &Cells,
        transform: &Transform,
        transfer: VelocityTransfer,
    ) -> Result<FaceGrid<f32>, Infallible> {
        Ok(transfer::particles_to_faces(particles, cells, transform, transfer).value)
    }

    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        cells: &Cells,
        transform: &Transform,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
        transfer: VelocityTransfer,
    ) -> Result<(), Infallible> {
        transfer::faces_to_particles(particles, cells, transform, velocity, before, transfer);
        Ok(())
    }
}

/// The device that was asked for cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("no particles on a CUDA device: {0}")]
pub struct DeviceError(Failure);

/// A CUDA device, or what has become of it. Holds only caches: dropping it between two substeps changes no bit.
pub struct DeviceMover<D: cuda::Device = Cuda> {
    open: fn() -> Result<D, Failure>,
    required: bool,
    place: Place<D>,
    notice: Option<String>,
}

/// Where particles move.
enum Place<D: cuda::Device> {
    /// None has come yet.
    Unknown,
    /// On the device.
    Device(Box<OnDevice<D>>),
    /// On the processor, since it was asked for or the device failed.
    Processor,
}

impl DeviceMover {
    /// Moves particles where the user wants it. A device is looked for when the first particles come.
    pub fn on(device: Device) -> Self {
        let mover = Self::new(Cuda::open, device == Device::Cuda);
        if device == Device::Cpu { Self { place: Place::Processor, ..mover } } else { mover }
    }
}

impl<D: cuda::Device> DeviceMover<D> {
    /// Moves particles on a device, opened when the first ones come. Where it is not `required`, the processor takes
    /// over from the first failure on.
    pub fn new(open: fn() -> Result<D, Failure>, required: bool) -> Self {
        Self { open, required, place: Place::Unknown, notice: None }
    }

    /// A sentence to tell once: why particles do not move on the device they might have moved on.
    pub fn notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Does something on the device, if it is there and can; `None` where the processor must.
    fn try_there<R>(
        &mut self,
        act: impl FnOnce(&mut OnDevice<D>) -> Result<R, Failure>,
    ) -> Result<Option<R>, DeviceError> {
        if matches!(self.place, Place::Unknown) {
            match (self.open)() {
                Ok(device) => self.place = Place::Device(Box::new(OnDevice::new(device))),
                Err(failure) => self.give_up(failure)?,
            }
        }
        let Place::Device(there) = &mut self.place else { return Ok(None) };
        match act(there) {
            Ok(done) => Ok(Some(done)),
            Err(failure) => self.give_up(failure).map(|()| None),
        }
    }

    /// Gives the device up: an error where it is required, else a notice.
    fn give_up(&mut self, failure: Failure) -> Result<(), DeviceError> {
        self.place = Place::Unknown;
        if self.required {
            return Err(DeviceError(failure));
        }
        self.place = Place::Processor;
        self.notice = Some(format!("particles move on the processor: {failure}"));
        Ok(())
    }
}

impl<D: cuda::Device> Mover for DeviceMover<D> {
    type Error = DeviceError;

    fn advect(
        &mut self,
        particles: &mut Particles,
        transform: &Transform,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, DeviceError> {
        if !particles.is_empty() {
            let moved = self.try_there(|there| there.advect(particles, transform, way, solids, params))?;
            if let Some(selection) = moved {
                return Ok(selection);
            }
        }
        let Ok(selection) = Processor.advect(particles, transform, way, solids, params);
        Ok(selection)
    }

    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        cells: &Cells,
        transform: &Transform,
        transfer: VelocityTransfer,
    ) -> Result<FaceGrid<f32>, DeviceError> {
        let carried =
            self.try_there(|there| there.particles_to_faces(particles, cells, transform, transfer))?;
        Ok(carried
            .unwrap_or_else(|| transfer::particles_to_faces(particles, cells, transform, transfer).value))
    }

    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        cells: &Cells,
        transform: &Transform,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
        transfer: VelocityTransfer,
    ) -> Result<(), DeviceError> {
        let taken = self.try_there(|there| {
            there.faces_to_particles(particles, cells, transform, velocity, before, transfer)
        })?;
        if taken.is_none() {
            transfer::faces_to_particles(particles, cells, transform, velocity, before, transfer);
        }
        Ok(())
    }
}
