use super::flip::Scene;
use super::*;
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
        for _ in 0..24 {
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
