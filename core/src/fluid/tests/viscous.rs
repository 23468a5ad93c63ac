use super::flip::Scene;
use super::*;
use crate::fluid::material::find_impossible_viscosity;
use crate::solid::{DomainLimits, Side};

const GRAVITY: f64 = 9.81;

/// A closed tank with a pool of viscosity `mu`, Pa·s, that fills `inside`.
fn pool(mu: f32, inside: impl Fn(DVec3) -> bool + Sync) -> Scene {
    let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::new(1.2, 1.6, 0.8), Side::Closed);
    let mut scene = Scene::new(domain, inside, Vec3::ZERO);
    scene.liquid.particles.viscosity.fill(mu);
    scene.params.viscosity = true;
    scene
}

#[test]
fn honey_at_rest_stays_at_rest() {
    // Where gravity reaches the viscous solve before the pressure does, walls hold honey back that is not held in
    // the middle, and it circulates.
    let speed = |mu: f32, viscous_first: bool| {
        let mut scene = pool(mu, |x| x.y < 0.8);
        scene.viscous_first = viscous_first;
        for _ in 0..24 {
            scene.substep(1.0 / 48.0, GRAVITY);
        }
        scene.rms_speed()
    };
    for mu in [1.0, 100.0, 1e4] {
        let (between, first) = (speed(mu, false), speed(mu, true));
        println!("{mu} Pa·s: rms {between} m/s between projections, {first} m/s before the only one");
        assert!(between < 0.01 && between < first, "{mu} Pa·s: {between} {first} m/s");
    }
}

#[test]
fn a_column_of_honey_falls_more_slowly_the_thicker_it_is() {
    let height = |mu: f32| {
        let mut scene = pool(mu, |x| x.x < 0.6 && x.y < 0.8);
        // While all of them still fall: after that water sloshes back up.
        for _ in 0..12 {
            scene.substep(1.0 / 48.0, GRAVITY);
        }
        let p = &scene.liquid.particles;
        p.position.iter().map(|x| f64::from(x.y)).sum::<f64>() / p.len() as f64
    };
    let heights = [0.0, 100.0, 1e3, 1e5].map(height);
    println!("mean height {heights:?} of 0.4 m");
    assert!(heights[0] < heights[1] && heights[1] < heights[2] && heights[2] < heights[3]);
    assert!(heights[3] > 0.385, "{heights:?}");
}

#[test]
fn without_viscosity_the_substep_is_the_one_without_the_feature() {
    let run = |counts: bool| {
        let mut scene = pool(0.0, |x| x.x < 0.4 && x.y < 0.5);
        scene.params.viscosity = counts;
        for _ in 0..3 {
            scene.substep(1.0 / 48.0, GRAVITY);
            assert!(scene.liquid.viscosity.is_none());
        }
        scene.liquid
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.particles, without.particles);
    assert_eq!(with.velocity.values, without.velocity.values);
    assert_eq!(with.surface.values, without.surface.values);
}

#[test]
fn a_viscosity_that_is_none_is_found() {
    let mut particles = pool(10.0, |x| x.y < 0.3).liquid.particles;
    assert_eq!(find_impossible_viscosity(&particles), None);
    for bad in [-1e-3, f32::NAN, f32::INFINITY, 2e9] {
        particles.viscosity[17] = bad;
        assert_eq!(find_impossible_viscosity(&particles), Some(17), "{bad}");
    }
}
