//! The pressure engine: a coupling describes a [`PressureSystem`], a [`PressureSolver`] solves it.

mod assemble;
mod device;
mod engine;
mod null_space;
mod operator;
mod solver;
mod system;

pub use device::{DeviceSolver, solver};
pub use engine::MultigridSolver;
pub use solver::{Error, Info, Iteration, Params, PressureSolver, Progress};
pub use system::{
    AttachedMass, CELL, Column, FIXED, Link, PressureSystem, SOLID, SuperCell, SystemError, Unknowns,
};
