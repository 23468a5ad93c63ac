//! Springs against theory at any stiffness and any substep.

use super::*;

const DT: f64 = 1.0 / 48.0;

/// A spring between places of two bodies, or one and the world, as long as it is without force.
fn stretch(scene: &mut Scene, ends: [Option<usize>; 2], places: [DVec3; 2], length: f64, stiffness: f64) {
    let bodies = ends.map(|end| end.map(|n| &scene.bodies[n]));
    let frames = places.map(|place| Joint::frame_at(place, DVec3::X));
    scene.joints.push(Joint { stiffness, ..Joint::new(Kind::Spring(length), bodies, frames) });
}

fn still(scene: &mut Scene, at: DVec3, density: f64) -> usize {
    scene.add(&a_box(DVec3::splat(0.2), density), at).may_sleep = false;
    scene.bodies.len() - 1
}

/// What swings about 0 by `AMPLITUDE` at first.
type Way = fn(&Scene) -> f64;
const AMPLITUDE: f64 = 1e-3;

/// Scenes with one swing of ω rad/s, each with its way.
fn swings(omega: f64) -> Vec<(&'static str, Scene, Way)> {
    let new = || Scene::new(DVec3::ZERO, DT);
    let k = |mass: f64| mass * omega * omega;
    let mass = |scene: &Scene, n: usize| scene.bodies[n].shape.mass();
    let off = DVec3::X * AMPLITUDE;
    let mut all: Vec<(&'static str, Scene, Way)> = Vec::new();

    let mut scene = new();
    let n = still(&mut scene, DVec3::X + off, 500.0);
    let stiffness = k(mass(&scene, n));
    stretch(&mut scene, [None, Some(n)], [DVec3::ZERO, DVec3::X + off], 1.0, stiffness);
    all.push(("a body and the world", scene, |s| s.bodies[0].pose.position.x - 1.0));

    let mut scene = new();
    let (a, b) = (still(&mut scene, DVec3::ZERO, 300.0), still(&mut scene, DVec3::X + off, 1700.0));
    let reduced = 1.0 / (1.0 / mass(&scene, a) + 1.0 / mass(&scene, b));
    stretch(&mut scene, [Some(a), Some(b)], [DVec3::ZERO, DVec3::X + off], 1.0, k(reduced));
    all.push(("two bodies", scene, |s| (s.bodies[1].pose.position - s.bodies[0].pose.position).x - 1.0));

    let mut scene = new();
    let n = still(&mut scene, off, 500.0);
    for side in [-1.0, 1.0] {
        let stiffness = 0.5 * k(mass(&scene, n));
        stretch(&mut scene, [None, Some(n)], [DVec3::X * side, off], 1.0, stiffness);
    }
    all.push(("a body between two springs", scene, |s| s.bodies[0].pose.position.x));

    let mut scene = new();
    let n = still(&mut scene, DVec3::ZERO, 500.0);
    let stiffness = k(mass(&scene, n));
    let slide = join(&mut scene, Kind::Prismatic, [None, Some(n)], DVec3::new(0.3, 0.7, 0.0), DVec3::X);
    (slide.stiffness, slide.rest) = (stiffness, -AMPLITUDE);
    all.push(("a slide", scene, |s| s.bodies[0].pose.position.x + AMPLITUDE));

    let mut scene = new();
    let rod = a_box(DVec3::new(1.0, 0.1, 0.1), 500.0);
    scene.add(&rod, DVec3::X * 0.5).may_sleep = false;
    let inertia = rod.inertia().z_axis.z + 0.25 * rod.mass();
    let door = join(&mut scene, Kind::Revolute, [None, Some(0)], DVec3::ZERO, DVec3::Z);
    (door.stiffness, door.rest) = (k(inertia), -AMPLITUDE);
    all.push(("a door", scene, |s| s.joints[0].state.turned + AMPLITUDE));
    all
}

#[test]
fn springs_that_substeps_follow_swing_with_the_period_of_theory() {
    for turn in [0.05, 0.3, 0.8, 1.0] {
        for (name, mut scene, way) in swings(turn / DT) {
            let mut worst = 0.0f64;
            for n in 0..200 {
                worst =
                    worst.max((way(&scene) - AMPLITUDE * f64::cos(turn * f64::from(n))).abs() / AMPLITUDE);
                scene.run(DT);
            }
            println!("{name}, {turn} rad a substep: {worst:.1e} of the amplitude off in 200 substeps");
            assert!(worst < 1e-3, "{name} at {turn}: {worst}");
        }
    }
}

/// Energy in springs between the world and a body, J.
fn stretched(scene: &Scene) -> f64 {
    let world = Pose { position: DVec3::ZERO, orientation: DQuat::IDENTITY };
    let of = |j: &Joint| 0.5 * j.stiffness * j.way([world, scene.bodies[0].pose]).powi(2);
    scene.joints.iter().map(of).sum()
}

/// Stretches so small that the springs' directions stay: of larger ones whose turns substeps do not follow, energy comes and goes.
#[test]
fn springs_of_any_stiffness_and_number_at_any_steps_gain_nothing() {
    let corners = [DVec3::new(0.1, 0.1, 0.1), DVec3::new(-0.1, 0.1, 0.05), DVec3::new(0.0, -0.1, 0.1)];
    for turn in [0.7, 2.0, 9.0, 300.0] {
        for count in 1..=6 {
            for steps in [[DT, DT], [DT, 0.5 * DT]] {
                let mut scene = Scene::new(DVec3::ZERO, DT);
                let n = still(&mut scene, DVec3::ZERO, 500.0);
                let stiffness = scene.bodies[n].shape.mass() * (turn / DT).powi(2);
                for spring in 0..count {
                    let angle = f64::from(spring) * 1.1;
                    let far = DVec3::new(angle.cos(), 0.4, angle.sin());
                    let at = corners[spring as usize % 3];
                    stretch(&mut scene, [None, Some(n)], [far, at], (far - at).length() - 1e-5, stiffness);
                }
                let most = stretched(&scene);
                let mut worst = 0.0f64;
                scene.take(0.0, DT);
                for n in 0..300 {
                    scene.take(steps[n % 2], steps[(n + 1) % 2]);
                    worst = worst.max(stretched(&scene) / most);
                }
                println!(
                    "{count} springs, {turn} rad a substep, {steps:?}: {worst:.3} of the energy at most"
                );
                assert!(worst < 1.01, "{count} at {turn}, {steps:?}: {worst}");
            }
        }
    }
}

#[test]
fn a_spring_holds_a_weight_where_theory_says() {
    for turn in [0.3, 0.8, 3.0, 30.0] {
        let mut scene = Scene::new(DOWN, DT);
        let n = still(&mut scene, DVec3::Y * -1.0, 500.0);
        let mass = scene.bodies[n].shape.mass();
        let stiffness = mass * (turn / DT).powi(2);
        stretch(&mut scene, [None, Some(n)], [DVec3::ZERO, DVec3::Y * -1.0], 1.0, stiffness);
        scene.joints[0].damping = 2.0 * (stiffness * mass).sqrt();
        scene.run(4.0);
        let sag = -1.0 - scene.bodies[n].pose.position.y;
        assert!((sag * stiffness / (mass * G) - 1.0).abs() < 1e-6, "{turn}: {sag}");
    }
}
