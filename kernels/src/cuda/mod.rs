//! The CUDA implementation, with the processor's memory layout and one block per leaf: the pressure solve, whose data
//! stays on the device between iterations, and the particles' advection and velocity transfer.
//!
//! `cuda/pressure.cu` and `cuda/particles.cu` are the device modules. [`Device`] is the interface that the driver code
//! here needs: an NVIDIA GPU implements it, and an emulation that runs the same source on the processor.

#[cfg(not(feature = "cuda"))]
mod absent;
mod arena;
mod attached;
mod bytes;
mod cycle;
mod device;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(feature = "emulation")]
mod emulation;
mod hierarchy;
mod iteration;
mod launch;
mod layout;
mod measure;
mod mirror;
mod pages;
#[cfg(all(test, feature = "emulation"))]
mod parity;
mod particle_layout;
mod particle_tables;
mod particles;
mod solver;

#[cfg(not(feature = "cuda"))]
pub use absent::Cuda;
pub use device::{Device, Failure};
#[cfg(feature = "cuda")]
pub use driver::Cuda;
#[cfg(feature = "emulation")]
pub use emulation::Emulation;
pub use launch::{Launch, PARTICLE_KERNELS, PRESSURE_KERNELS, Program};
pub use measure::Pass;
pub use mirror::{Stamp, Stamped, Traffic};
pub use particle_layout::Frame;
pub use particle_tables::{
    CellList, Exchange, Fate, Field, LeafTable, Newborn, ParticleArrays, SolidShape, SolidTable, Way,
};
pub use particles::DeviceParticles;
pub use solver::DeviceConjugateGradients;
