//! Chooses where particles move and exchange velocity with the faces: on the processor, or on a CUDA device with the
//! processor as fallback.

mod copies;

use super::advection::{self, AdvectionParams, Way};
use super::transfer::{self, Transfer};
use crate::device::{Device, Place};
use crate::fluid::particles::{Particles, Selection};
use crate::grid::FaceGrid;
use crate::interrupt::Interrupt;
use crate::solid::Solids;
use copies::OnDevice;
use meniscus_kernels::cuda::{self, Cuda, Failure};
use std::convert::Infallible;

/// Moves particles, and transfers velocity to the faces and back.
pub trait Mover {
    /// Why a call failed.
    type Error;

    /// Returns an error when the user cancels; called between the parts of a substep.
    fn go_on(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// See [`advection::advect`].
    fn advect(
        &mut self,
        particles: &mut Particles,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, Self::Error>;

    /// See [`transfer::particles_to_faces`]: the mean velocity.
    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        transfer: &Transfer,
    ) -> Result<FaceGrid<f32>, Self::Error>;

    /// See [`transfer::faces_to_particles`].
    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        transfer: &Transfer,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
    ) -> Result<(), Self::Error>;
}

/// Moves particles on the processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Processor;

impl Mover for Processor {
    type Error = Infallible;

    fn advect(
        &mut self,
        particles: &mut Particles,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, Infallible> {
        Ok(advection::advect(particles, way, solids, params))
    }

    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        transfer: &Transfer,
    ) -> Result<FaceGrid<f32>, Infallible> {
        Ok(transfer::particles_to_faces(particles, transfer).value)
    }

    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        transfer: &Transfer,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
    ) -> Result<(), Infallible> {
        transfer::faces_to_particles(particles, transfer, velocity, before);
        Ok(())
    }
}

/// A mover that checks for cancellation while it moves and between the parts of a substep.
#[derive(Debug)]
pub struct Interruptible<'a, M> {
    /// The mover that does the work.
    pub mover: &'a mut M,
    /// Asked whether to cancel.
    pub interrupt: Interrupt<'a>,
}

/// Why a part of a substep did not finish.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped<E> {
    /// The user cancelled.
    #[error("it was asked to stop")]
    Interrupted,
    /// The mover failed.
    #[error("{0}")]
    Failed(E),
}

impl<M: Mover> Mover for Interruptible<'_, M> {
    type Error = Stopped<M::Error>;

    fn go_on(&self) -> Result<(), Self::Error> {
        self.interrupt.check().map_err(|_| Stopped::Interrupted)?;
        self.mover.go_on().map_err(Stopped::Failed)
    }

    fn advect(
        &mut self,
        particles: &mut Particles,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, Self::Error> {
        let way = Way { interrupt: self.interrupt, ..*way };
        let moved = self.mover.advect(particles, &way, solids, params).map_err(Stopped::Failed)?;
        self.go_on().map(|()| moved)
    }

    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        transfer: &Transfer,
    ) -> Result<FaceGrid<f32>, Self::Error> {
        self.go_on()?;
        self.mover.particles_to_faces(particles, transfer).map_err(Stopped::Failed)
    }

    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        transfer: &Transfer,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
    ) -> Result<(), Self::Error> {
        self.go_on()?;
        self.mover.faces_to_particles(particles, transfer, velocity, before).map_err(Stopped::Failed)
    }
}

/// The device that was asked for cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("no particles on a CUDA device: {0}")]
pub struct DeviceError(Failure);

/// A mover on a device. It holds only caches: dropping it between two substeps does not change a bit of the result.
pub struct DeviceMover<D: cuda::Device = Cuda>(Place<OnDevice<D>>);

impl DeviceMover {
    /// Moves particles on the device that the user chose. A device is opened when the first particles come.
    pub fn on(device: Device) -> Self {
        let Self(place) = Self::new(Cuda::open, device == Device::Cuda);
        Self(if device == Device::Cpu { place.on_processor() } else { place })
    }
}

impl<D: cuda::Device + 'static> DeviceMover<D> {
    /// Moves particles on a device that is opened when the first particles come. If it is not `required`, the processor
    /// takes over after the first failure and stays in use.
    pub fn new(open: fn() -> Result<D, Failure>, required: bool) -> Self {
        Self(Place::new(move || open().map(OnDevice::new), required, "particles move"))
    }
}

impl<D: cuda::Device> DeviceMover<D> {
    /// A message to show once: why particles do not move on the device that was asked for.
    pub fn notice(&mut self) -> Option<String> {
        self.0.notice()
    }

    fn try_there<R>(
        &mut self,
        act: impl FnOnce(&mut OnDevice<D>) -> Result<R, Failure>,
    ) -> Result<Option<R>, DeviceError> {
        self.0.try_there(act).map_err(DeviceError)
    }
}

impl<D: cuda::Device> Mover for DeviceMover<D> {
    type Error = DeviceError;

    fn advect(
        &mut self,
        particles: &mut Particles,
        way: &Way,
        solids: &Solids,
        params: &AdvectionParams,
    ) -> Result<Selection, DeviceError> {
        // Without particles, no device is opened.
        let moved = match particles.is_empty() {
            true => None,
            false => self.try_there(|there| there.advect(particles, way, solids, params))?,
        };
        Ok(moved.unwrap_or_else(|| advection::advect(particles, way, solids, params)))
    }

    fn particles_to_faces(
        &mut self,
        particles: &Particles,
        transfer: &Transfer,
    ) -> Result<FaceGrid<f32>, DeviceError> {
        let carried = self.try_there(|there| there.particles_to_faces(particles, transfer))?;
        Ok(carried.unwrap_or_else(|| transfer::particles_to_faces(particles, transfer).value))
    }

    fn faces_to_particles(
        &mut self,
        particles: &mut Particles,
        transfer: &Transfer,
        velocity: &FaceGrid<f32>,
        before: &FaceGrid<f32>,
    ) -> Result<(), DeviceError> {
        let taken =
            self.try_there(|there| there.faces_to_particles(particles, transfer, velocity, before))?;
        if taken.is_none() {
            transfer::faces_to_particles(particles, transfer, velocity, before);
        }
        Ok(())
    }
}
