//! The laws of the pressure engine.

mod iterations;
mod scene;
