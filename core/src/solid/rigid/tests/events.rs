//! Bodies that bounce, sleep and are fast.

use super::*;

/// Balls and boxes that lose nothing, in a closed box without gravity.
fn gas(dt: f64, seed: u64) -> Scene {
    let mut scene = Scene::new(DVec3::ZERO, dt);
    scene.domain = DomainLimits::uniform(DVec3::splat(-0.6), DVec3::splat(0.6), Side::Closed);
    let shapes = [crate_of(0.16), Arc::new(Shape::of(&ball(0.09, 8), 300.0).unwrap().0)];
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    for n in 0..8 {
        let at = DVec3::new(f64::from(n & 1), f64::from(n >> 1 & 1), f64::from(n >> 2)) * 0.5 - 0.25;
        let mut velocity = || DVec3::new(random(), random(), random()) * 3.0;
        let v = Velocity { linear: velocity(), angular: velocity() };
        let body = scene.add(&shapes[(n % 3 == 0) as usize], at);
        (body.surface.restitution, body.surface.friction, body.may_sleep) = (1.0, 0.0, false);
        *body = body.clone().moving(v);
    }
    scene
}

#[test]
fn bodies_that_lose_nothing_keep_their_energy_for_ten_seconds() {
    for (dt, seed) in [(1.0 / 24.0, 1), (1.0 / 60.0, 2), (1.0 / 200.0, 3)] {
        let mut scene = gas(dt, seed);
        let energy = |s: &Scene| s.bodies.iter().map(Body::kinetic_energy).sum::<f64>();
        let start = energy(&scene);
        for second in 1..=10 {
            scene.run(1.0);
            let now = energy(&scene) / start;
            assert!((now - 1.0).abs() < 0.01, "dt {dt}, {second} s: {now}");
        }
    }
}

#[test]
fn what_bounces_never_rises_above_where_it_fell_from_and_comes_to_rest() {
    for (shape, low) in [(crate_of(0.2), 0.1f64), (a_box(DVec3::new(0.3, 0.2, 0.4), 900.0), 0.1)] {
        for e in [1.0, 0.8, 0.5, 0.2] {
            for dt in [1.0 / 24.0, 1.0 / 100.0, 1.0 / 240.0] {
                let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
                scene.add(&shape, DVec3::Y * 0.6).surface.restitution = e;
                let mut highest = [0.0f64; 20];
                for part in &mut highest {
                    for _ in 0..(0.5 / dt) as usize {
                        scene.run(dt);
                        *part = part.max(scene.bodies[0].pose.position.y);
                    }
                }
                assert!(highest.iter().all(|h| *h < 0.6005), "e {e}, dt {dt}: {highest:?}");
                if e < 1.0 {
                    let body = &scene.bodies[0];
                    assert!(body.rest.asleep && (body.pose.position.y - low).abs() < 0.001, "e {e}, dt {dt}");
                } else {
                    assert!(highest.iter().all(|h| *h > 0.55), "e {e}, dt {dt}: {highest:?}");
                }
            }
        }
    }
}

#[test]
fn a_sleeping_body_wakes_when_what_it_rests_on_moves_away() {
    let ways = [
        Velocity { linear: DVec3::Y * -3.0, angular: DVec3::ZERO },
        Velocity { linear: DVec3::Y * 1.0, angular: DVec3::ZERO },
        Velocity { linear: DVec3::X * 4.0, angular: DVec3::ZERO },
        Velocity { linear: DVec3::ZERO, angular: DVec3::Z * 2.0 },
    ];
    for way in ways {
        for (jumps, stack) in [(false, 1), (true, 1), (false, 3)] {
            let mut scene = Scene::new(DVec3::Y * -9.81, 1.0 / 48.0);
            let plate = scene.add(&a_box(DVec3::new(1.0, 0.1, 1.0), 500.0), DVec3::ZERO);
            let still = Velocity::default();
            plate.led = Some(Led { pose: plate.pose, velocity: [still; 2] });
            for n in 0..stack {
                scene.add(&crate_of(0.2), DVec3::Y * (0.15 + 0.2 * f64::from(n)));
            }
            scene.run(1.5);
            assert!(scene.bodies[1..].iter().all(|b| b.rest.asleep), "they do not sleep");
            let before = scene.bodies[1].pose.position;
            for _ in 0..24 {
                let plate = &mut scene.bodies[0];
                let pose = Pose {
                    position: plate.pose.position + way.linear / 48.0,
                    orientation: DQuat::from_scaled_axis(way.angular / 48.0) * plate.pose.orientation,
                };
                let velocity = if jumps { still } else { way };
                plate.led = Some(Led { pose, velocity: [velocity; 2] });
                scene.take(1.0 / 48.0, 1.0 / 48.0);
            }
            let moved = (scene.bodies[1].pose.position - before).length();
            assert!(moved > 0.05, "{way:?}, jumps {jumps}, {stack} boxes: {moved}");
            assert!(scene.bodies[1..].iter().all(|b| !b.rest.asleep));
        }
    }
}

/// A closed side that is keyed carries what sleeps at it, or lets it fall, as it does what is awake.
#[test]
fn a_sleeping_body_wakes_when_a_closed_side_moves() {
    for (way, stack) in [(0.2, 1), (-0.2, 1), (0.2, 3), (-0.2, 3)] {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, 1.0 / 48.0);
        for n in 0..stack {
            scene.add(&crate_of(0.2), DVec3::Y * (0.1 + 0.2 * f64::from(n)));
        }
        scene.run(1.5);
        assert!(scene.bodies.iter().all(|b| b.rest.asleep), "they do not sleep");
        for _ in 0..24 {
            scene.domain.min.y += way / 48.0;
            scene.take(1.0 / 48.0, 1.0 / 48.0);
        }
        let heights: Vec<f64> = scene.bodies.iter().map(|b| b.pose.position.y - scene.domain.min.y).collect();
        assert!(scene.bodies.iter().all(|b| !b.rest.asleep), "{way}: {heights:?}");
        for (n, height) in (0..).zip(heights) {
            let off = height - (0.1 + 0.2 * f64::from(n));
            assert!(off.abs() < 0.05, "{way}: box {n} is {off} m off the floor that moves");
        }
    }
}

#[test]
fn nothing_fast_passes_a_solid_of_voxels_whoever_of_the_two_moves() {
    let (distance, lattice) = levelset_of(&centred(DVec3::new(0.2, 1.0, 1.0)), 0.05);
    for speed in [10.0, 50.0, 300.0, 3000.0] {
        for size in [0.02, 0.2] {
            for moves in [false, true] {
                for dt in [1.0 / 24.0, 1.0 / 192.0] {
                    let mut scene = Scene::new(DVec3::ZERO, dt);
                    let away = 1.3 * speed * dt + 0.3;
                    let velocity = if moves { DVec3::X * -speed } else { DVec3::ZERO };
                    let motion =
                        |v: DVec3| Motion::Rigid { linear: v, angular: DVec3::ZERO, pivot: DVec3::ZERO };
                    scene.add(&crate_of(size), DVec3::X * -away).velocity = DVec3::X * speed + velocity;
                    let mut lattice = lattice;
                    scene.colliders = vec![Collider::new(distance.clone(), lattice, motion(velocity))];
                    scene.take(0.0, dt);
                    for _ in 0..6 {
                        lattice.translation += velocity * dt;
                        scene.colliders = vec![Collider::new(distance.clone(), lattice, motion(velocity))];
                        scene.take(dt, dt);
                    }
                    let side = scene.bodies[0].pose.position.x - (lattice.translation.x - lattice_of_rest());
                    assert!(
                        side < -0.08 - 0.45 * size,
                        "{speed} m/s, {size} m, moves {moves}, dt {dt}: {side}"
                    );
                }
            }
        }
    }
}

/// Where the lattice of the wall starts while it is at rest, m.
fn lattice_of_rest() -> f64 {
    levelset::lattice(&centred(DVec3::new(0.2, 1.0, 1.0)), 0.05).translation.x
}

#[test]
fn what_spins_meets_nothing_beyond_its_own_reach() {
    for spin in [10.0, 1000.0, 1e6] {
        let mut scene = Scene::on_floor(DVec3::ZERO, 1.0 / 192.0);
        let body = scene.add(&a_box(DVec3::new(0.3, 0.05, 0.05), 800.0), DVec3::Y * 0.4);
        *body = body.clone().moving(Velocity { linear: DVec3::ZERO, angular: DVec3::Z * spin });
        scene.add(&crate_of(0.2), DVec3::new(0.4, 0.4, 0.0));
        scene.run(0.1);
        assert_eq!(scene.bodies[0].velocity, DVec3::ZERO, "{spin} rad/s");
        assert_eq!(scene.bodies[1].velocity, DVec3::ZERO, "{spin} rad/s");
    }
}

/// A crate on a floor that turns at 3 rad/s stays at its distance from the middle, whoever turns, at any step, and turns with it.
#[test]
fn what_stands_on_a_carousel_goes_round_in_a_circle() {
    let spin = DVec3::Y * 3.0;
    let floor = levelset_of(&centred(DVec3::new(3.0, 0.4, 3.0)), 0.05);
    for dt in [1.0 / 24.0, 1.0 / 96.0] {
        for is_body in [false, true] {
            let mut scene = Scene::new(DVec3::Y * -9.81, dt);
            let turned = |time: f64| DQuat::from_scaled_axis(spin * time);
            let at = DVec3::new(0.3, 0.3, 0.1);
            let n = usize::from(is_body);
            if is_body {
                scene.add(&a_box(DVec3::new(3.0, 0.4, 3.0), 500.0), DVec3::ZERO);
            }
            let body = scene.add(&crate_of(0.2), at);
            *body = body.clone().moving(Velocity { linear: spin.cross(at), angular: spin });
            body.may_sleep = false;
            let place = |scene: &mut Scene, time: f64| {
                let (orientation, velocity) = (turned(time), Velocity { linear: DVec3::ZERO, angular: spin });
                if is_body {
                    let pose = Pose { position: DVec3::ZERO, orientation };
                    scene.bodies[0].led = Some(Led { pose, velocity: [velocity; 2] });
                } else {
                    let mut lattice = floor.1;
                    lattice.linear = glam::DMat3::from_quat(orientation) * lattice.linear;
                    lattice.translation = orientation * lattice.translation;
                    let motion = Motion::Rigid { linear: DVec3::ZERO, angular: spin, pivot: DVec3::ZERO };
                    scene.colliders = vec![Collider::new(floor.0.clone(), lattice, motion)];
                }
            };
            place(&mut scene, 0.0);
            scene.take(0.0, dt);
            let steps = (2.0 / dt).round() as usize;
            for step in 1..=steps {
                place(&mut scene, step as f64 * dt);
                scene.take(dt, dt);
            }
            let found = scene.bodies[n].pose;
            let expected = turned(2.0) * at;
            let off = (found.position - expected).length() / at.length();
            assert!(off < 0.02, "dt {dt}, body {is_body}: {} for {expected}", found.position);
            let turn = (found.orientation * turned(2.0).inverse()).to_scaled_axis().length();
            assert!(turn < 0.05, "dt {dt}, body {is_body}: turned by {turn} too little");
        }
    }
}

#[test]
fn bodies_sleep_through_the_beginning_of_others() {
    let mut scene = Scene::on_floor(DVec3::Y * -9.81, 1.0 / 48.0);
    scene.add(&crate_of(0.2), DVec3::Y * 0.1);
    scene.run(2.0);
    assert!(scene.bodies[0].rest.asleep);
    // The other begins: its kick is half a substep longer.
    scene.add(&crate_of(0.2), DVec3::new(2.0, 1.0, 0.0));
    let dt = scene.dt;
    for (body, kick) in scene.bodies.iter_mut().zip([dt, 1.5 * dt]) {
        (body.kick.linear, body.kicked) = (scene.gravity * kick, kick);
    }
    let times = Intervals { drift: dt, kick: 1.5 * dt, next: dt };
    fly(&mut scene.bodies, &[], &scene.memory, &times);
    assert!(scene.bodies[0].rest.asleep && !scene.bodies[1].rest.asleep);
}
