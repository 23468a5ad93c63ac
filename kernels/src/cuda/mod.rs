//! What runs on a CUDA device, in the processor's order in memory, one block a leaf: the pressure solve, everything
//! resident on the device between iterations, and the way of particles' velocity to the faces, back, and on.
//!
//! `cuda/pressure.cu` and `cuda/particles.cu` are the device modules; [`Device`] is what the driver code here asks of whatever runs it: an
//! NVIDIA GPU, or an emulation that runs the same source on the processor.

#[cfg(not(feature = "cuda"))]
mod absent;
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
