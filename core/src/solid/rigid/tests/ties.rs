//! The rows that bodies tell to whoever solves for them with a pressure.

use super::*;

const DT: f64 = 1.0 / 96.0;

/// Rows and velocities of a scene's next substep: before contacts and joints, and after.
fn next(scene: &mut Scene) -> (Vec<Velocity>, Vec<Tie>) {
    let times = Intervals { drift: scene.dt, kick: scene.dt, next: scene.dt };
    for body in &mut scene.bodies {
        (body.kick.linear, body.kicked) = (scene.gravity * times.kick, times.kick);
    }
    let around =
        Surroundings { colliders: [&scene.colliders; 2], domain: &scene.domain, interrupt: Interrupt::NEVER };
    fly(&mut scene.bodies, &scene.joints, &scene.memory, &times);
    let before = scene.bodies.iter().map(Body::speed).collect();
    let (bodies, joints) = (&mut scene.bodies, &mut scene.joints);
    (before, meet(bodies, joints, &mut scene.memory, &around, &times, &scene.settings).1)
}

fn speed(tie: &Tie, bodies: &[Body]) -> f64 {
    let of = |(n, counts): &(usize, Velocity)| {
        let v = bodies[*n].speed();
        counts.linear.dot(v.linear) + counts.angular.dot(v.angular)
    };
    tie.ends.iter().map(of).sum()
}

/// Two boxes on the floor that a ball joint joins, a third on one of them, and a fourth in the air.
#[test]
fn rows_say_what_holds_and_their_impulses_are_all_that_bodies_get() {
    let mut scene = Scene::on_floor(DVec3::NEG_Y * 9.81, DT);
    let cube = a_box(DVec3::new(0.2, 0.1, 0.2), 700.0);
    for at in [[0.0, 0.05, 0.0], [0.25, 0.05, 0.0], [0.02, 0.15, 0.01], [3.0, 4.0, 0.0]] {
        let body = scene.add(&cube, DVec3::from_array(at));
        (body.surface.friction, body.may_sleep) = (0.0, false);
    }
    let bodies = [Some(&scene.bodies[0]), Some(&scene.bodies[1])];
    let place = DVec3::new(0.125, 0.07, 0.0);
    let joint = Joint::new(Kind::Ball, bodies, [Joint::frame_at(place, DVec3::X); 2]);
    scene.joints.push(joint);
    scene.run(0.2);
    let (before, ties) = next(&mut scene);
    let joints = ties.iter().filter(|tie| tie.range[0] < 0.0).count();
    assert_eq!(joints, 3);
    assert!(ties.len() >= 3 + 12, "{}", ties.len());
    for tie in &ties {
        let over = speed(tie, &scene.bodies) - tie.wanted;
        assert!(tie.ends.iter().all(|(n, _)| *n < 3), "nothing touches the fourth");
        match tie.range[0] < 0.0 {
            true => assert!(over.abs() < 1e-9, "a joint opens at {over} m/s"),
            false => {
                assert!(over > -1e-5, "a contact closes at {over} m/s");
                assert!(tie.pressed >= 0.0 && (tie.pressed == 0.0 || over < 1e-5), "{tie:?} parts at {over}");
            }
        }
    }
    for ((body, before), given) in scene.bodies.iter().zip(before).zip(given(&scene.bodies, &ties)) {
        let after = body.speed();
        let linear = (after.linear - before.linear - given.linear).length();
        let angular = (after.angular - before.angular - given.angular).length();
        assert!(linear < 1e-9 && angular < 1e-8, "{:?}: {linear} m/s, {angular} rad/s", body.key);
    }
}

/// More bodies that touch than are worth a dense matrix have no rows; the few beside them have.
#[test]
fn what_joins_too_many_bodies_has_no_rows() {
    let mut scene = Scene::on_floor(DVec3::NEG_Y * 9.81, DT);
    let cube = a_box(DVec3::splat(0.1), 700.0);
    for n in 0..15 {
        let apart = if n < 13 { 0.0 } else { 2.0 };
        scene.add(&cube, DVec3::new(0.1 * f64::from(n) + apart, 0.05, 0.0)).may_sleep = false;
    }
    scene.run(2.0 * DT);
    let (_, ties) = next(&mut scene);
    assert!(!ties.is_empty());
    assert!(ties.iter().flat_map(|tie| &tie.ends).all(|(n, _)| *n >= 13));
}
