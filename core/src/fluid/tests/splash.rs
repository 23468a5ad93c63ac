//! Drops that meet in free flight: nothing outside them gives or takes momentum, and no energy comes from anywhere.

use super::flip::Scene;
use super::*;
use crate::solid::{DomainLimits, Side};

/// Two balls of so many voxels' radius fly at each other, `aside` voxels off their middle line, and splash. Returns how far their
/// momentum strays, of the sum of its absolute values; and how much energy they gain after any moment, of that of the start.
fn strays(radius: [f64; 2], aside: f64, dt: f64) -> [f64; 2] {
    let domain = DomainLimits::uniform(DVec3::splat(-4.0), DVec3::splat(4.0), Side::Kill);
    let off = DVec3::new(0.0, 0.13, 0.21);
    let left = (DVec3::new(-radius[0] - 0.5, 0.0, 0.0) + off) * H;
    let right = (DVec3::new(radius[1] + 0.5, aside, 0.0) + off) * H;
    let filled = |p: DVec3| p.distance(left) < radius[0] * H || p.distance(right) < radius[1] * H;
    let mut scene = Scene::new(domain, filled, Vec3::ZERO);
    let Particles { position, velocity, .. } = &mut scene.liquid.particles;
    for (x, v) in position.iter().zip(velocity) {
        *v = if x.x < 0.0 { Vec3::new(4.0, 0.0, 0.0) } else { Vec3::new(-2.0, 0.5, 0.0) };
    }
    let sums = |scene: &Scene| {
        let v = scene.liquid.particles.velocity.iter().map(|v| v.as_dvec3());
        (v.clone().sum::<DVec3>(), v.map(|v| 0.5 * v.length_squared()).sum::<f64>())
    };
    let size: f64 = scene.liquid.particles.velocity.iter().map(|v| f64::from(v.length())).sum();
    let (first, mut worst) = (sums(&scene), [0.0f64; 2]);
    let mut least = first.1;
    for _ in 0..(0.2 / dt) as usize {
        scene.substep(dt, 0.0);
        let now = sums(&scene);
        least = least.min(now.1);
        let strayed = [(now.0 - first.0).length() / size, (now.1 - least) / first.1];
        worst = std::array::from_fn(|k| worst[k].max(strayed[k]));
    }
    worst
}

#[test]
fn drops_that_meet_keep_their_momentum_and_gain_no_energy() {
    for (radius, aside, most) in
        [([1.2, 1.2], 0.5, 0.06), ([2.0, 2.0], 1.0, 0.025), ([3.0, 1.5], 2.0, 0.025), ([4.0, 2.0], 0.0, 0.01)]
    {
        for dt in [0.02, 0.005] {
            let [momentum, energy] = strays(radius, aside, dt);
            println!("{radius:?} voxels, {aside} aside, {dt} s: momentum {momentum:.4}, energy {energy:+.4}");
            assert!(momentum < most, "{radius:?}, {aside}, {dt}: {momentum} of the momentum strays");
            assert!(energy < 5e-3, "{radius:?}, {aside}, {dt}: energy grows by {energy}");
        }
    }
}
