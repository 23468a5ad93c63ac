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
    // Were gravity to reach the viscous solve before the pressure did, the walls would hold honey back that its
    // middle does not, and it would circulate at about g dt, 0.2 m/s.
    for mu in [1.0, 100.0, 1e4] {
        let mut scene = pool(mu, |x| x.y < 0.8);
        for _ in 0..24 {
            scene.substep(1.0 / 48.0, GRAVITY);
        }
        println!("{mu} Pa·s: rms {} m/s", scene.rms_speed());
        assert!(scene.rms_speed() < 5e-3, "{mu} Pa·s: {} m/s", scene.rms_speed());
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
