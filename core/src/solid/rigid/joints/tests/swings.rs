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

// At 60 substeps a second the chain of twelve gains a fifth of what it falls through: it turns by a radian a substep.
#[test]
fn swings_faster_than_substeps_gain_nothing() {
    for (rate, links) in [(24.0, 4), (120.0, 12), (120.0, 30)] {
        let mut scene = Scene::new(DOWN, 1.0 / rate);
        let points: Vec<DVec3> = (0..=links).map(|n| DVec3::X * 0.1 * f64::from(n)).collect();
        chain(&mut scene, &points, Kind::Ball);
        scene.add(&a_box(DVec3::splat(0.2), 5000.0), DVec3::X * (0.1 * f64::from(links) + 0.1));
        let last = links as usize;
        join(&mut scene, Kind::Ball, [Some(last - 1), Some(last)], points[last], DVec3::Z);
        let (before, depth) = (energy(&scene), 40.0 * G * (0.1 * f64::from(links) + 0.1));
        let means = (0..6).map(|_| (mean_energy(&mut scene, 0.5) - before) / depth);
        let most = means.fold(f64::NEG_INFINITY, f64::max);
        println!("{links} links at {rate} substeps a second: energy at most {most:+.1e}");
        assert!(most < 0.05, "{links} at {rate}: {most}");
    }
}

/// A pendulum of some rods of 1 m and 1 kg that begin high, each as many times as heavy as the one above it.
fn rods(count: usize, kind: Kind, heavier: f64, dt: f64) -> Scene {
    let mut scene = Scene::new(DOWN, dt);
    let mut at = DVec3::ZERO;
    for n in 0..count {
        let angle = [1.5, 1.8, 1.6][n % 3];
        let way = DVec3::new(f64::sin(angle), -f64::cos(angle), 0.0);
        let density = 100.0 * heavier.powi(n as i32);
        let rod = scene.add(&a_box(DVec3::new(0.1, 1.0, 0.1), density), at + 0.5 * way);
        rod.pose.orientation = DQuat::from_rotation_z(angle);
        rod.surface.mask = 0;
        join(&mut scene, kind, [n.checked_sub(1), Some(n)], at, DVec3::Z);
        at += way;
    }
    scene
}

#[test]
fn explore() {
    for kind in [Kind::Revolute, Kind::Ball] {
        for count in [2, 3] {
            for heavier in [1.0, 3.0] {
                for rate in [24.0, 48.0] {
                    let mut scene = rods(count, kind, heavier, 1.0 / rate);
                    let mass: f64 = scene.bodies.iter().enumerate().map(|(n, b)| b.shape.mass() * (n as f64 + 0.5)).sum();
                    let depth = mass * G;
                    scene.run(scene.dt);
                    let start = energy(&scene);
                    let (mut taken, mut most, mut least, mut gap) = (0.0, 0.0f64, 0.0f64, 0.0f64);
                    let mut window = Vec::new();
                    for n in 0..(10.0 * rate) as usize {
                        scene.run(scene.dt);
                        taken += scene.report.damped;
                        gap = gap.max(scene.gap);
                        window.push((energy(&scene) - start) / depth);
                        if n % (rate / 2.0) as usize == 0 {
                            let mean = window.iter().sum::<f64>() / window.len() as f64;
                            (most, least) = (most.max(mean), least.min(mean));
                            window.clear();
                        }
                    }
                    let mut end = 0.0;
                    for _ in 0..rate as usize { scene.run(scene.dt); taken += scene.report.damped; end += (energy(&scene) - start) / depth / rate; }
                    println!("{kind:?} {count} x{heavier} at {rate}: end {end:+.4} most {most:+.4} least {least:+.4} taken {:+.4} gap {gap:.1e}", taken / depth);
                }
            }
        }
    }
}
