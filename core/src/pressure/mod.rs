//! The pressure engine: a coupling describes a [`PressureSystem`], a [`PressureSolver`] solves it.

mod assemble;
mod attached;
mod density;
mod device;
mod engine;
mod joined;
mod null_space;
mod operator;
mod solver;
mod system;
mod velocity;

pub use attached::{AttachedMass, Column, MassError};
pub use density::Density;
pub use device::{DeviceSolver, solver};
pub use engine::MultigridSolver;
pub(crate) use joined::{Outflow, changes};
pub use solver::{Error, Info, Iteration, Params, PressureSolver, Progress};
pub use system::{CELL, FIXED, Link, PressureSystem, SOLID, SuperCell, SystemError, Unknowns};
pub(crate) use velocity::{pressures, update_velocity};
