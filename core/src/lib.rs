//! The physics of Meniscus. Safe Rust; no FFI, no files, no GPU API.
//!
//! A substep is *predict → solve → correct*: every medium predicts ([`fluid`], [`solid`]), one coupling
//! ([`coupling`]) describes the shared unknowns to the pressure engine ([`pressure`]) and solves them, every
//! medium corrects. All of it stands on sparse leaf grids ([`grid`]) and level sets ([`levelset`]).
#![forbid(unsafe_code)]

mod control;
pub mod coupling;
pub mod device;
pub mod fluid;
pub mod grid;
pub mod interrupt;
pub mod levelset;
pub mod mesh;
pub mod number;
pub mod pressure;
pub mod solid;
