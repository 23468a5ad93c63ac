//! The pressure solve on a CUDA device: the same hierarchy, iteration and order in memory as on the processor, one
//! block a leaf, everything resident on the device between iterations.
//!
//! `cuda/pressure.cu` is the device module; [`Device`] is what the driver code here asks of whatever runs it: an
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
mod pages;
#[cfg(all(test, feature = "emulation"))]
mod parity;
mod solver;

#[cfg(not(feature = "cuda"))]
pub use absent::Cuda;
pub use device::{Device, Failure};
#[cfg(feature = "cuda")]
pub use driver::Cuda;
#[cfg(feature = "emulation")]
pub use emulation::Emulation;
pub use launch::{KERNELS, Launch, Program};
pub use measure::Pass;
pub use solver::DeviceConjugateGradients;
