//! The papers' own scenes, at sizes a test can afford.

mod foam;
mod rising_bubble;
mod u_tube;
mod water_cooler;
