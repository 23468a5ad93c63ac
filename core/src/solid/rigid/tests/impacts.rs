//! What falls on, presses and hits bodies that others hold.

use super::*;
use glam::Vec3;

/// A ball that weighs as much as many crates falls on a stack of them, beside another stack: none of them jumps, whatever the step.
#[test]
fn a_heavy_ball_on_stacks_throws_nothing() {
    for (dt, density) in [(1.0 / 96.0, 2500.0), (1.0 / 24.0, 2500.0), (1.0 / 96.0, 20000.0)] {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        let shape = a_box(DVec3::splat(0.3), 300.0);
        for n in 0..16 {
            let [column, row] = [n / 8, n % 8].map(f64::from);
            scene.add(&shape, DVec3::new(0.31 * column, 0.15 + 0.3 * row, 0.0));
        }
        let round = Arc::new(Shape::of(&ball(0.3, 16), density).unwrap().0);
        let body = scene.add(&round, DVec3::new(0.05, 2.8, 0.02));
        *body = body.clone().moving(Velocity { linear: DVec3::Y * -5.0, angular: DVec3::ZERO });
        let height = |b: &Body| 9.81 * b.shape.mass() * b.pose.position.y;
        let energy = |s: &Scene| s.bodies.iter().map(|b| b.kinetic_energy() + height(b)).sum::<f64>();
        scene.run(dt);
        let mut last = (energy(&scene), scene.bodies.clone());
        let (mut gained, mut deepest, mut farthest) = (0.0f64, 0.0f64, 0.0f64);
        for _ in 0..(0.5 / dt) as usize {
            scene.run(dt);
            let moved = |(a, b): (&Body, &Body)| a.pose.position.distance(b.pose.position);
            farthest = scene.bodies[..16].iter().zip(&last.1).map(moved).fold(farthest, f64::max);
            gained = gained.max(energy(&scene) - last.0);
            deepest = deepest.max(scene.report.overlap);
            last = (energy(&scene), scene.bodies.clone());
        }
        println!("{dt} {density}: {gained} J gained, {deepest} m deep, {farthest} m in a step");
        // The ball brings 13 J/kg.
        assert!(gained < 0.01 * round.mass(), "dt {dt}: {gained} J gained in a substep");
        assert!(deepest < 0.01, "dt {dt}: {deepest} m deep");
        assert!(farthest < 5.0 * dt, "dt {dt}: {farthest} m in a substep");
    }
}

/// What is held from below stays where it is until something bounces on it, and as it is: what holds it then has to hold
/// more, and does not lift it before.
#[test]
fn what_is_held_does_not_move_before_something_bounces_on_it() {
    for (dt, restitution, across) in
        [(1.0 / 96.0, 0.2, 0.155), (1.0 / 96.0, 0.8, 0.155), (1.0 / 96.0, 0.2, 0.0), (1.0 / 30.0, 0.5, 0.1)]
    {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        let shape = a_box(DVec3::splat(0.3), 300.0);
        for n in 0..4 {
            let [column, row] = [n / 2, n % 2].map(f64::from);
            scene.add(&shape, DVec3::new(0.31 * column, 0.15 + 0.3 * row, 0.0));
        }
        let round = Arc::new(Shape::of(&ball(0.3, 16), 2500.0).unwrap().0);
        let body = scene.add(&round, DVec3::new(across, 1.1, 0.02));
        body.surface.restitution = restitution;
        *body = body.clone().moving(Velocity { linear: DVec3::Y * -5.0, angular: DVec3::ZERO });
        let (mut highest, mut deepest) = ([0.0f64; 4], 0.0f64);
        for _ in 0..(0.08 / dt) as usize {
            scene.run(dt);
            let rise = |n: usize| scene.bodies[n].pose.position.y - [0.15, 0.45][n % 2];
            (0..4).for_each(|n| highest[n] = highest[n].max(rise(n)));
            deepest = deepest.max(scene.report.overlap);
        }
        println!("{dt} {restitution} {across}: {highest:?} {deepest}");
        assert!(scene.bodies[4].velocity.y > -1.0, "it has not met them");
        assert!(highest.iter().all(|h| *h < 0.002), "dt {dt}, e {restitution}: {highest:?}");
        assert!(deepest < 0.002, "dt {dt}, e {restitution}: {deepest} m deep");
    }
}

/// It goes up again as from a floor, however it is stepped.
#[test]
fn a_ball_that_loses_nothing_comes_back_from_a_crate_as_from_a_floor() {
    for dt in [1.0 / 48.0, 1.0 / 96.0, 1.0 / 240.0] {
        for crates in [1, 2] {
            let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
            for n in 0..crates {
                scene.add(&a_box(DVec3::splat(0.3), 300.0), DVec3::Y * (0.15 + 0.3 * f64::from(n)));
            }
            let round = Arc::new(Shape::of(&ball(0.15, 16), 300.0).unwrap().0);
            let top = 0.3 * f64::from(crates) + 0.15;
            let body = scene.add(&round, DVec3::Y * (top + 1.0));
            (body.surface.restitution, body.surface.friction) = (1.0, 0.0);
            let height = |s: &Scene| s.bodies.last().unwrap().pose.position.y - top;
            scene.run(0.48);
            let mut highest = 0.0f64;
            for _ in 0..(0.45 / dt) as usize {
                scene.run(dt);
                highest = highest.max(height(&scene));
            }
            assert!((highest - 1.0).abs() < 0.01, "dt {dt}, {crates} crates: {highest}");
        }
    }
}

#[test]
fn what_bounces_lies_still_in_stacks() {
    for (restitution, count, dt) in
        [(0.01, 4, 1.0 / 96.0), (0.3, 6, 1.0 / 96.0), (1.0, 6, 1.0 / 48.0), (0.5, 3, 1.0 / 24.0)]
    {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        for n in 0..count {
            let body = scene.add(&a_box(DVec3::splat(0.3), 300.0), DVec3::Y * (0.15 + 0.3 * f64::from(n)));
            (body.surface.restitution, body.may_sleep) = (restitution, false);
        }
        scene.run(3.0);
        for (n, body) in scene.bodies.iter().enumerate() {
            let off = body.pose.position.distance(DVec3::Y * (0.15 + 0.3 * n as f64));
            let v = body.speed().linear.length();
            assert!(off < 1e-3 && v < 0.01, "e {restitution}, dt {dt}: crate {n} {off} m off, {v} m/s");
        }
    }
}

/// Nothing fulfils the contacts of a box between two plates that close: it is in the way, and stays where it is.
#[test]
fn presses_squirt_nothing_out() {
    for (friction, closes, dt) in [
        (0.5, 0.002, 1.0 / 384.0),
        (0.5, 0.005, 1.0 / 96.0),
        (0.0, 0.005, 1.0 / 192.0),
        (0.2, 0.02, 1.0 / 96.0),
    ] {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        let held = scene.add(&a_box(DVec3::splat(0.2), 500.0), DVec3::Y * 0.1);
        held.surface.friction = friction;
        for side in [-1.0, 1.0] {
            let plate =
                scene.add(&a_box(DVec3::new(0.1, 0.3, 0.4), 500.0), DVec3::new(0.15 * side, 0.16, 0.0));
            plate.surface.friction = friction;
        }
        let places = [1, 2].map(|n| scene.bodies[n].pose);
        let steps = (0.25 / dt) as usize;
        let (mut farthest, mut before) = (0.0f64, scene.bodies[0].pose.position);
        for step in 0..=2 * steps {
            let still = step >= steps;
            for (k, side) in [1.0, -1.0].into_iter().enumerate() {
                let share = step.min(steps) as f64 / steps as f64;
                let pose =
                    Pose { position: places[k].position + DVec3::X * (side * closes * share), ..places[k] };
                let speed = if still { 0.0 } else { side * closes / (steps as f64 * dt) };
                let velocity = Velocity { linear: DVec3::X * speed, angular: DVec3::ZERO };
                scene.bodies[1 + k].led = Some(Led { pose, velocity: [velocity; 2] });
            }
            scene.take(if step == 0 { 0.0 } else { dt }, dt);
            let now = scene.bodies[0].pose.position;
            farthest = farthest.max(now.distance(before));
            before = now;
        }
        let off = before.distance(DVec3::Y * 0.1);
        assert!(farthest < 0.01, "friction {friction}, {closes} m: {farthest} m in a substep");
        assert!(off < 0.02 && before.y > 0.09, "friction {friction}, {closes} m: at {before}");
    }
}

/// A row with gaps, awake or asleep: what is hit has nothing to meet until it is hit.
#[test]
fn what_is_struck_meets_what_stands_beside_it() {
    for (gap, asleep, restitution, dt) in [
        (0.01, false, 0.0, 1.0 / 96.0),
        (0.01, true, 0.0, 1.0 / 96.0),
        (0.03, true, 0.0, 1.0 / 48.0),
        (0.01, false, 0.5, 1.0 / 96.0),
    ] {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        for n in 0..5 {
            scene.add(&a_box(DVec3::splat(0.3), 300.0), DVec3::new((0.3 + gap) * f64::from(n), 0.15, 0.0));
        }
        scene.bodies.iter_mut().for_each(|b| b.surface.restitution = restitution);
        scene.run(if asleep { 1.0 } else { 2.0 * dt });
        assert!(scene.bodies.iter().all(|b| b.rest.asleep == asleep));
        let round = Arc::new(Shape::of(&ball(0.2, 16), 7000.0).unwrap().0);
        let body = scene.add(&round, DVec3::new(-0.6, 0.2, 0.01));
        *body = body.clone().moving(Velocity { linear: DVec3::X * 6.0, angular: DVec3::ZERO });
        let mut deepest = 0.0f64;
        for _ in 0..(0.2 / dt) as usize {
            scene.run(dt);
            deepest = deepest.max(scene.report.overlap);
        }
        assert!(scene.bodies[4].velocity.x > 1.0, "the last was not reached");
        assert!(deepest < 0.005, "gap {gap}, asleep {asleep}, e {restitution}: {deepest} m deep");
    }
}

/// Nine bodies that come to lie in a thin wall, faster than a substep can follow: speed (m/s), tilt (degrees) and thickness (m) of the wall.
/// Most contacts that pressed at once, and their energy, J: as they come, the most that they have, and what is left.
fn into_a_thin_wall(
    shape: &Arc<Shape>,
    turn: DQuat,
    (speed, tilt, thick): (f64, f64, f64),
) -> (usize, [f64; 3]) {
    let dt = 1.0 / 96.0;
    let mut scene = Scene::new(DVec3::Y * -9.81, dt);
    let mut wall = centred(DVec3::new(3.0, thick, 3.0));
    let leans = DQuat::from_rotation_z(f64::to_radians(tilt));
    wall.points.iter_mut().for_each(|p| *p = (leans * p.as_dvec3()).as_vec3() - 0.3 * Vec3::Y);
    let (distance, lattice) = levelset_of(&wall, (0.5 * thick).max(0.02));
    scene.colliders.push(Collider::new(distance, lattice, Motion::Static));
    for n in 0..9 {
        let [x, z] = [n % 3, n / 3].map(|k| f64::from(k) - 1.0);
        let body = scene.add(shape, DVec3::new(0.337 * x + 0.01, 1.0, 0.341 * z + 0.02));
        body.pose.orientation = turn;
        let linear = DVec3::new(0.1 * speed, -speed, 0.0);
        *body = body.clone().moving(Velocity { linear, angular: DVec3::ZERO });
    }
    let energy = |s: &Scene| s.bodies.iter().map(Body::kinetic_energy).sum::<f64>();
    let (brings, mut most, mut met) = (energy(&scene), 0.0f64, 0);
    for _ in 0..12 {
        scene.run(dt);
        most = most.max(energy(&scene));
        met = met.max(scene.report.contacts);
    }
    let left = energy(&scene);
    println!(
        "{speed} m/s, {tilt} degrees, {thick} m: at most {most:.3e} of {brings:.3e} J, {left:.3e} are left"
    );
    (met, [brings, most, left])
}

/// No solve after another gives them more energy, however the wall lies.
#[test]
fn what_a_thin_wall_stops_gains_no_energy() {
    let turn = DQuat::from_euler(glam::EulerRot::ZYX, 0.175, 0.524, 0.349);
    for shot in [(60.0, 40.0, 0.03), (90.0, 15.0, 0.1), (180.0, 15.0, 0.1), (400.0, 15.0, 0.1)] {
        let (met, [brings, most, left]) = into_a_thin_wall(&a_box(DVec3::splat(0.12), 1000.0), turn, shot);
        assert!(met > 20 && left < 0.8 * brings, "{shot:?}: {met} contacts press, and {left} J are left");
        assert!(most < 1.02 * brings, "{shot:?}: {most} of {brings} J");
    }
}

/// Slim bodies have a hundred times the energy where they turn about their long axis with the same momentum.
#[test]
fn what_is_slim_gains_no_energy_in_a_thin_wall() {
    for (size, angle) in [([0.6, 0.04, 0.04], 0.3), ([0.04, 0.6, 0.02], 1.2), ([0.3, 0.02, 0.02], 0.0)] {
        let turn = DQuat::from_euler(glam::EulerRot::ZYX, 0.1, 0.2 + angle, 1.2);
        let shape = a_box(DVec3::from_array(size), 1000.0);
        for shot in [(30.0, 15.0, 0.05), (60.0, 0.0, 0.05), (200.0, 30.0, 0.03)] {
            let (_, [brings, most, left]) = into_a_thin_wall(&shape, turn, shot);
            assert!(left < 0.95 * brings, "{size:?}, {shot:?}: {left} J are left of {brings}");
            assert!(most < 1.05 * brings, "{size:?}, {shot:?}: {most} of {brings} J");
        }
    }
}

/// What undoes an overlap turns a rod that spins about its length or tumbles, at any angle: it gains no energy. What does not spin, and what
/// has the same energy however it lies, is turned by all of it.
#[test]
fn a_push_gives_a_spinning_rod_no_energy() {
    let turned = |size: [f64; 3], spin: DVec3, across: DVec3, angle: f64| {
        let mut scene = Scene::new(DVec3::ZERO, 0.01);
        let body = scene.add(&a_box(DVec3::from_array(size), 1000.0), DVec3::ZERO);
        *body = body.clone().moving(Velocity { linear: DVec3::X, angular: spin });
        let (had, momentum) = (body.kinetic_energy(), body.momentum);
        body.push.angular = across * (angle / 0.01);
        body.limit_push(0.01);
        let share = body.push.angular.dot(across) * 0.01 / angle;
        body.drift(0.01);
        assert_eq!(body.momentum, momentum);
        (share, body.kinetic_energy() / had)
    };
    let rod = [0.6, 0.04, 0.04];
    for angle in [0.001, 0.03, 0.3, 1.5] {
        for (axis, across) in [(DVec3::X, DVec3::Z), (DVec3::Z, DVec3::Y)] {
            let (_, grown) = turned(rod, 40.0 * axis, across, angle);
            assert!(grown < 1.011, "{angle} rad about {across}: {grown} times the energy");
        }
        for (size, spin) in [(rod, DVec3::ZERO), ([0.2; 3], 40.0 * DVec3::X), (rod, 40.0 * DVec3::X)] {
            let (share, _) = turned(size, spin, DVec3::X, angle);
            assert!((share - 1.0).abs() < 1e-12, "{angle} rad of {size:?}, {spin} rad/s: {share}");
        }
    }
    assert!(
        turned(rod, 40.0 * DVec3::Z, DVec3::Y, 1.5).0 < 0.3,
        "a tumbling rod is not turned into a spinning one"
    );
}

/// Bodies that tumble on a floor, with long substeps and short ones. With friction, one bounce of 1 may gain a quarter.
#[test]
fn a_tumbling_body_does_not_bounce_ever_higher() {
    for (size, spin) in [([0.05, 0.6, 0.05], [5.0, 3.0, 2.0]), ([0.3, 0.2, 0.1], [3.0, 8.0, 1.0])] {
        let shape = a_box(DVec3::from_array(size), 1000.0);
        for (restitution, friction) in [(1.0, 0.0), (0.8, 0.5), (1.0, 0.5)] {
            for substeps in [1, 2, 8] {
                let dt = 1.0 / 24.0 / f64::from(substeps);
                let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
                let body = scene.add(&shape, DVec3::Y * 1.5);
                body.pose.orientation = DQuat::from_euler(glam::EulerRot::ZYX, 0.1, 0.2, 1.2);
                (body.surface.restitution, body.surface.friction) = (restitution, friction);
                body.may_sleep = false;
                let turns = Velocity { linear: DVec3::X * 0.3, angular: DVec3::from_array(spin) };
                *body = body.clone().moving(turns);
                let energy = |b: &Body| b.kinetic_energy() + b.shape.mass() * 9.81 * b.pose.position.y;
                let (had, mut most) = (energy(&scene.bodies[0]), 0.0f64);
                for _ in 0..72 {
                    scene.run(1.0 / 24.0);
                    most = most.max(energy(&scene.bodies[0]));
                }
                println!("{size:?}, e {restitution}, friction {friction}, {substeps}: {}", most / had);
                assert!(
                    most < 1.3 * had,
                    "{size:?}, e {restitution}, friction {friction}, {substeps}: {had} -> {most} J"
                );
            }
        }
    }
}

/// A keyframed bat that meets a ball leaves it v + e (v + u), whatever its weight: v its own speed, u that of the ball.
#[test]
fn what_a_bat_hits_leaves_as_fast_as_the_bounce_says() {
    for (bat, comes) in [(3.0, 0.0), (3.0, 1.0), (40.0, 2.0), (1.0, 3.0)] {
        for restitution in [0.0, 0.15, 0.4, 0.7, 1.0] {
            for dt in [1.0 / 24.0, 1.0 / 96.0] {
                let mut scene = Scene::new(DVec3::ZERO, dt);
                let round = Arc::new(Shape::of(&ball(0.1, 16), 700.0).unwrap().0);
                let body = scene.add(&round, DVec3::X * (0.1 + 4.0 * (bat + comes) * dt));
                body.surface.restitution = restitution;
                *body = body.clone().moving(Velocity { linear: DVec3::X * -comes, angular: DVec3::ZERO });
                let start = scene.add(&a_box(DVec3::new(0.2, 1.0, 1.0), 1000.0), DVec3::X * -0.1).pose;
                for step in 0..10 {
                    let velocity = Velocity { linear: DVec3::X * bat, angular: DVec3::ZERO };
                    let position = start.position + velocity.linear * (f64::from(step) * dt);
                    scene.bodies[1].led =
                        Some(Led { pose: Pose { position, ..start }, velocity: [velocity; 2] });
                    scene.take(if step == 0 { 0.0 } else { dt }, dt);
                }
                let (leaves, expected) = (scene.bodies[0].velocity.x, bat + restitution * (bat + comes));
                assert!(
                    (leaves / expected - 1.0).abs() < 0.02,
                    "bat {bat} m/s, ball {comes} m/s, e {restitution}, {dt} s: {leaves} for {expected} m/s"
                );
            }
        }
    }
}
