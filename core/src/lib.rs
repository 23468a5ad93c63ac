//! The physics of Meniscus, in safe Rust: no FFI, no files, no GPU API.
//!
//! A substep is *predict → solve → correct*. Every medium predicts ([`fluid`], [`solid`]). One coupling ([`coupling`])
//! describes the shared unknowns to the pressure engine ([`pressure`]), which solves them. Then every medium corrects.
//! Fields live on sparse leaf grids ([`grid`]); surfaces are level sets ([`levelset`]).
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
pub mod scan;
pub mod solid;
mod tuned;
mod union_find;
pub mod viscosity;
