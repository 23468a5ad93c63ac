//! Viscosity and trapped air in one substep.

use super::*;
use crate::coupling::viscous::{Viscous, between_projections};
use crate::viscosity::{self, Viscosity, Walls};

/// A closed tank full of honey but for a bubble, thrown about.
fn honey() -> Scene {
    let h = 0.01;
    let c = DVec3::new(8.3, 7.8, 8.1) * h;
    Scene::still(h, IVec3::splat(16), [true; 6], move |p: DVec3| 4.3 * h - p.distance(c), empty)
        .with_velocity(noisy_velocity)
}

#[test]
fn honey_around_a_bubble_is_incompressible_and_so_is_the_bubble() {
    let scene = honey();
    let (h, dt) = (scene.transform.voxel_size(), 0.01);
    let solid = Grid::new(scene.surface.topology.clone(), 1.0);
    for mu in [1.0, 1e5] {
        let viscous = Viscous {
            solid: &solid,
            viscosity: Viscosity::Uniform(mu),
            walls: Walls::NoSlip,
            params: viscosity::Params::default(),
        };
        let mut vel = scene.vel.clone();
        let mut project = |fields: &LiquidFields, vel: &mut FaceGrid<f32>| {
            constraint_bubbles::project(fields, vel, dt, &mut PlainCg, &TIGHT, &mut run_on)
        };
        let (p, info) =
            between_projections(&scene.fields(), &viscous, &mut vel, dt, &mut project, &mut run_on).unwrap();
        assert!(info.converged && p.info.converged, "{info:?} {:?}", p.info);
        assert_eq!(p.bubbles.len(), 1);
        println!("{mu} Pa·s: divergence {} 1/s, flux {} m³/s", p.max_divergence, p.max_bubble_flux);
        assert!(p.max_divergence * h < 2e-5, "{mu} Pa·s: {} m/s", p.max_divergence * h);
        assert!(p.max_bubble_flux < 1e-4 * h * h, "{mu} Pa·s: {} m³/s", p.max_bubble_flux);
        assert!(scene.fastest(&vel) < scene.fastest(&scene.vel), "{mu} Pa·s");
    }
}
