//! Swings that substeps follow keep their energy, and faster ones gain none.

use super::*;

#[test]
fn a_small_bob_on_a_long_arm_keeps_its_energy_at_one_substep_a_frame() {
    // Bobs from a third of the arm to a hundredth, of one and of two arms: by their own inertia alone, the joints' forces would turn
    // far beyond what a substep follows; on their arcs they take 1 s.
    for (size, kind, arms) in [
        (0.1, Kind::Ball, 1),
        (0.03, Kind::Ball, 1),
        (0.003, Kind::Revolute, 1),
        (0.1, Kind::Ball, 2),
        (0.03, Kind::Revolute, 2),
    ] {
        let mut scene = Scene::new(DOWN, 1.0 / 24.0);
        for arm in 0..arms {
            let angle = 0.6 - 0.3 * f64::from(arm);
            let at = DVec3::new(angle.sin(), -angle.cos(), 0.0) * 0.3 * f64::from(arm + 1);
            let pivot = if arm == 0 { DVec3::ZERO } else { scene.bodies[0].pose.position };
            scene.add(&a_box(DVec3::splat(size), 1000.0), at);
            let upper = (arm > 0).then_some(0);
            join(&mut scene, kind, [upper, Some(arm as usize)], pivot, DVec3::Z);
        }
        let mass: f64 = scene.bodies.iter().map(|b| b.shape.mass()).sum();
        let lowest = -scene.bodies[0].shape.mass() * G * 0.3 * f64::from(arms * (arms + 1) / 2);
        let at_rest = energy(&scene) - lowest;
        let (first, _) = (mean_energy(&mut scene, 2.0), mean_energy(&mut scene, 6.0));
        let lost = (mean_energy(&mut scene, 2.0) - first) / at_rest;
        println!("{size} {kind:?}, {arms} of {mass:.1e} kg: {lost:+.1e} of its energy in 8 s");
        assert!(lost.abs() < 0.05, "{size} {kind:?}, {arms}: {lost}");
    }
}

/// The mean over some time: velocities are those of the middle of a drift, and their energy leads and lags that of the places.
fn mean_energy(scene: &mut Scene, seconds: f64) -> f64 {
    let steps = (seconds / scene.dt).round() as usize;
    let run = |_| {
        scene.run(scene.dt);
        energy(scene)
    };
    (0..steps).map(run).sum::<f64>() / steps as f64
}

#[test]
fn swings_faster_than_substeps_gain_nothing() {
    // The weight decides where a chaotic swing goes.
    for (rate, links, density) in
        [(48.0, 4, 5000.0), (48.0, 4, 5400.0), (48.0, 4, 5900.0), (120.0, 12, 5000.0), (120.0, 30, 5000.0)]
    {
        let mut scene = Scene::new(DOWN, 1.0 / rate);
        let points: Vec<DVec3> = (0..=links).map(|n| DVec3::X * 0.1 * f64::from(n)).collect();
        chain(&mut scene, &points, Kind::Ball);
        scene.add(&a_box(DVec3::splat(0.2), density), DVec3::X * (0.1 * f64::from(links) + 0.1));
        let last = links as usize;
        join(&mut scene, Kind::Ball, [Some(last - 1), Some(last)], points[last], DVec3::Z);
        let (before, depth) = (energy(&scene), density * 0.2f64.powi(3) * G * (0.1 * f64::from(links) + 0.1));
        let means = (0..6).map(|_| (mean_energy(&mut scene, 0.5) - before) / depth);
        let most = means.fold(f64::NEG_INFINITY, f64::max);
        println!("{links} links at {rate} substeps a second: energy at most {most:+.1e}");
        assert!(most < 0.05, "{links} at {rate}: {most}");
    }
}
