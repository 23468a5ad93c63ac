//! The papers' own scenes, at sizes a test can afford.

mod foam;
mod kept_volume;
mod moving_platform;
mod rigid_scenes;
mod rising_bubble;
mod surface_tension_cube;
mod trapped_air;
mod u_tube;
mod viscous_jet;
mod wall_with_holes;
mod water_cooler;
