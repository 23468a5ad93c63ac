//! Joints against theory, against trees in generalised coordinates, and against what they must keep.

mod hubs;
mod springs;
mod swings;

use super::*;
use crate::solid::articulated::{Gravity, Joint as TreeJoint, Link, State, Tree, bias, mass_matrix, place};
use crate::solid::rigid::tests::{Scene, a_box};
use crate::solid::rigid::{Body, Led, MassProperties, Pose, Velocity};
use glam::{DQuat, DVec3};
use nalgebra::DVector;
use std::f64::consts::{FRAC_PI_2, PI};

const G: f64 = 9.81;
const DOWN: DVec3 = DVec3::new(0.0, -G, 0.0);

/// Joins two bodies of a scene, or one and the world, where they are.
fn join(scene: &mut Scene, kind: Kind, ends: [Option<usize>; 2], at: DVec3, axis: DVec3) -> &mut Joint {
    let frame = Joint::frame_at(at, axis);
    let bodies = ends.map(|end| end.map(|n| &scene.bodies[n]));
    let joint = Joint::new(kind, bodies, [frame; 2]);
    scene.joints.push(joint);
    scene.joints.last_mut().unwrap()
}

/// A rod of 1 m that hangs from a hinge at the origin, turned by an angle about z.
fn pendulum(angle: f64, dt: f64) -> Scene {
    let mut scene = Scene::new(DOWN, dt);
    let turn = DQuat::from_rotation_z(angle);
    let rod = a_box(DVec3::new(0.1, 1.0, 0.1), 500.0);
    scene.add(&rod, turn * DVec3::Y * -0.5).pose.orientation = turn;
    join(&mut scene, Kind::Revolute, [None, Some(0)], DVec3::ZERO, DVec3::Z);
    scene
}

/// Largest gap of any joint in a run, m and rad.
fn widest(scene: &mut Scene, seconds: f64) -> [f64; 2] {
    let mut worst = [0.0f64; 2];
    for _ in 0..(seconds / scene.dt).round() as usize {
        scene.run(scene.dt);
        (0..2).for_each(|n| worst[n] = worst[n].max(scene.report.apart[n]));
        worst[0] = worst[0].max(scene.gap);
    }
    worst
}

fn energy(scene: &Scene) -> f64 {
    let of = |b: &Body| b.kinetic_energy() - b.shape.mass() * scene.gravity.dot(b.pose.position);
    scene.bodies.iter().map(of).sum()
}

/// The complete elliptic integral K(k), by the arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    PI / (2.0 * a)
}

#[test]
fn a_pendulum_swings_with_the_period_of_theory_at_small_and_large_amplitudes() {
    for (amplitude, dt, allowed) in
        [(0.05f64, 1.0 / 96.0, 5e-4), (2.6, 1.0 / 96.0, 5e-3), (2.6, 1.0 / 384.0, 5e-4)]
    {
        let mut scene = pendulum(amplitude, dt);
        let shape = scene.bodies[0].shape.clone();
        let inertia = shape.inertia().z_axis.z + shape.mass() * 0.25;
        let period = 4.0 * (inertia / (shape.mass() * G * 0.5)).sqrt() * elliptic((0.5 * amplitude).sin());
        let (mut crossings, mut last, mut t) = (Vec::new(), amplitude, 0.0);
        let mut worst = 0.0f64;
        while crossings.len() < 5 {
            scene.run(dt);
            t += dt;
            let turn = scene.bodies[0].pose.orientation;
            let now = 2.0 * turn.z.atan2(turn.w);
            if now * last < 0.0 && now.abs() < 1.0 {
                crossings.push(t - dt * now / (now - last));
            }
            last = now;
            worst = worst.max(scene.report.apart[0]);
        }
        let found = (crossings[4] - crossings[0]) / 2.0;
        println!(
            "amplitude {amplitude}, dt {dt}: period off by {:.1e}, gap {worst:.1e} m",
            found / period - 1.0
        );
        assert!((found / period - 1.0).abs() < allowed, "{found}, not {period}");
        assert!(worst < 1e-8, "{worst}");
    }
}

/// The places of two rods after some time, by Runge and Kutta's method on the tree of the same joints.
fn two_rods_exactly(scene: &Scene, seconds: f64) -> [DVec3; 2] {
    let link = |parent, at: DVec3| {
        let shape = &scene.bodies[0].shape;
        let mass = MassProperties { mass: shape.mass(), centre: DVec3::Y * -0.5, inertia: shape.inertia() };
        let frame = Pose { position: at, orientation: DQuat::IDENTITY };
        Link { parent, joint: TreeJoint::Revolute(DVec3::Z), frame, mass }
    };
    let tree = Tree::new(vec![link(None, DVec3::ZERO), link(Some(0), DVec3::Y * -1.0)]).unwrap();
    let slope = |q: &[f64], v: &[f64]| -> Vec<f64> {
        let load = DVector::from_vec(bias(&tree, q, v, Gravity(DOWN)));
        (-mass_matrix(&tree, q).cholesky().unwrap().solve(&load)).as_slice().to_vec()
    };
    let mut s = State { q: vec![FRAC_PI_2, 0.0], v: vec![0.0; 2] };
    let add =
        |a: &[f64], b: &[f64], by: f64| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + by * b).collect() };
    let h = 1e-3;
    for _ in 0..(seconds / h).round() as usize {
        let a = slope(&s.q, &s.v);
        let vb = add(&s.v, &a, 0.5 * h);
        let b = slope(&add(&s.q, &s.v, 0.5 * h), &vb);
        let vc = add(&s.v, &b, 0.5 * h);
        let c = slope(&add(&s.q, &vb, 0.5 * h), &vc);
        let vd = add(&s.v, &c, h);
        let d = slope(&add(&s.q, &vc, h), &vd);
        for n in 0..2 {
            s.q[n] += h / 6.0 * (s.v[n] + 2.0 * vb[n] + 2.0 * vc[n] + vd[n]);
            s.v[n] += h / 6.0 * (a[n] + 2.0 * b[n] + 2.0 * c[n] + d[n]);
        }
    }
    let placed = place(&tree, &s.q);
    [0, 1].map(|n| placed.0[n].place(DVec3::Y * -0.5))
}

#[test]
fn a_double_pendulum_follows_the_tree_of_the_same_joints() {
    let off = |dt: f64| {
        let mut scene = pendulum(FRAC_PI_2, dt);
        let first = scene.bodies[0].clone();
        scene.add(&first.shape, DVec3::X * 1.5).pose.orientation = first.pose.orientation;
        join(&mut scene, Kind::Revolute, [Some(0), Some(1)], DVec3::X, DVec3::Z);
        scene.run(1.5);
        let exact = two_rods_exactly(&scene, 1.5);
        (0..2).map(|n| (scene.bodies[n].pose.position - exact[n]).length()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (off(1.0 / 240.0), off(1.0 / 480.0));
    println!("double pendulum after 1.5 s: off by {coarse:.2e} and {fine:.2e} m");
    assert!(fine < 2e-3 && (3.0..5.0).contains(&(coarse / fine)), "{coarse} {fine}");
}

/// A chain of rods of 0.1 m through some points.
fn chain(scene: &mut Scene, points: &[DVec3], kind: Kind) {
    let rod = a_box(DVec3::new(0.1, 0.02, 0.02), 800.0);
    for (n, ends) in points.windows(2).enumerate() {
        let turn = DQuat::from_rotation_arc(DVec3::X, (ends[1] - ends[0]).normalize());
        let link = scene.add(&rod, 0.5 * (ends[0] + ends[1]));
        (link.pose.orientation, link.surface.mask) = (turn, 0);
        join(scene, kind, [n.checked_sub(1), Some(n)], ends[0], DVec3::Z);
    }
}

#[test]
fn a_chain_of_twenty_links_comes_to_hang_as_a_catenary_and_does_not_drift() {
    let mut scene = Scene::new(DOWN, 1.0 / 96.0);
    let leg = |n: i32| DVec3::new(-0.6 + 0.06 * f64::from(n), -0.08 * f64::from(10 - (n - 10).abs()), 0.0);
    let points: Vec<DVec3> = (0..=20).map(leg).collect();
    chain(&mut scene, &points, Kind::Revolute);
    join(&mut scene, Kind::Revolute, [Some(19), None], points[20], DVec3::Z);
    scene.joints.iter_mut().for_each(|j| j.damping = 0.004);
    let worst = widest(&mut scene, 8.0);
    // 2 a sinh(D / 2a) = L for D = 1.2 m, L = 2 m, by bisection.
    let (mut low, mut high) = (0.1f64, 2.0f64);
    for _ in 0..60 {
        let a = 0.5 * (low + high);
        if 2.0 * a * (0.6 / a).sinh() > 2.0 { low = a } else { high = a }
    }
    let catenary = |x: f64| low * ((x / low).cosh() - (0.6 / low).cosh());
    let off = |b: &Body| (b.pose.position.y - catenary(b.pose.position.x)).abs();
    let worst_off = scene.bodies.iter().map(off).fold(0.0, f64::max);
    let fastest = scene.bodies.iter().map(|b| b.velocity.length()).fold(0.0, f64::max);
    println!("chain: gaps {worst:?}, {worst_off:.1e} m from the catenary at {fastest:.1e} m/s");
    assert!(worst[0] < 1e-8 && worst[1] < 1e-7, "{worst:?}");
    assert!(worst_off < 0.01 && fastest < 0.05, "{worst_off} {fastest}");
}

#[test]
fn a_whipping_chain_with_a_heavy_end_keeps_its_energy_and_does_not_drift() {
    let mut scene = Scene::new(DOWN, 1.0 / 240.0);
    let points: Vec<DVec3> = (0..=12).map(|n| DVec3::X * 0.1 * f64::from(n)).collect();
    chain(&mut scene, &points, Kind::Ball);
    scene.add(&a_box(DVec3::splat(0.2), 5000.0), DVec3::X * 1.3);
    join(&mut scene, Kind::Ball, [Some(11), Some(12)], points[12], DVec3::Z);
    let before = energy(&scene);
    // By what it falls through.
    let depth = 40.0 * G * 1.3;
    let (mut before_mending, mut worst, mut most, mut least) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for n in 0..720 {
        scene.run(1.0 / 240.0);
        before_mending = before_mending.max(scene.gap);
        worst = worst.max(scene.report.apart[0]);
        let gained = (energy(&scene) - before) / depth;
        (most, least) = (most.max(gained), least.min(gained));
        if n % 60 == 59 {
            println!("  {:.2} s: gap {before_mending:.1e} m, energy {gained:+.1e}", f64::from(n + 1) / 240.0);
        }
    }
    println!(
        "heavy end: gap {before_mending:.1e} m, mended {worst:.1e} m, energy {least:+.1e} to {most:+.1e}"
    );
    assert!(worst < 1e-5, "{worst}");
    assert!(most < 0.05 && least > -0.5, "{least} {most}");
}

#[test]
fn a_free_body_of_joints_keeps_linear_and_angular_momentum() {
    let mut scene = Scene::new(DVec3::ZERO, 1.0 / 120.0);
    let sizes = [DVec3::new(0.3, 0.1, 0.2), DVec3::new(0.1, 0.4, 0.1), DVec3::splat(0.15)];
    for n in 0..5 {
        let at = DVec3::new(0.4 * f64::from(n), 0.1 * f64::from(n % 2), 0.05 * f64::from(n));
        let shape = a_box(sizes[n as usize % 3], 300.0 + 200.0 * f64::from(n));
        let body = scene.add(&shape, at);
        let spin = DVec3::new(1.0, -0.7, 0.4) * f64::from(n - 1);
        *body = body
            .clone()
            .moving(Velocity { linear: DVec3::new(0.3, -0.2, 0.1 * f64::from(n)), angular: spin });
        // What undoes an overlap moves bodies across their ways, and that counts as angular momentum.
        (body.may_sleep, body.surface.mask) = (false, 0);
    }
    let kinds = [Kind::Ball, Kind::Revolute, Kind::Prismatic, Kind::Fixed];
    for n in 0..4 {
        let at = 0.5 * (scene.bodies[n].pose.position + scene.bodies[n + 1].pose.position);
        join(&mut scene, kinds[n], [Some(n), Some(n + 1)], at, DVec3::new(0.2, 1.0, 0.3));
    }
    // A motor and a spring within it change nothing either.
    scene.joints[1].motor = Some(Motor { drive: Drive::Speed(3.0), most: 2.0 });
    join(&mut scene, Kind::Spring(0.5), [Some(0), Some(3)], DVec3::ZERO, DVec3::X).stiffness = 30.0;
    let (p, l) = (scene.momentum(), scene.angular_momentum());
    let worst = widest(&mut scene, 3.0);
    let (dp, dl) = ((scene.momentum() - p).length(), (scene.angular_momentum() - l).length());
    println!(
        "free: momentum {dp:.1e} of {:.1}, angular {dl:.1e} of {:.1}, gaps {worst:?}",
        p.length(),
        l.length()
    );
    assert!(dp < 1e-11 * p.length() && dl < 1e-9 * l.length(), "{dp} {dl}");
    assert!(worst[0] < 1e-7 && worst[1] < 1e-6, "{worst:?}");
}

/// A wheel on an axle at the origin, without gravity.
fn wheel(dt: f64) -> (Scene, f64) {
    let mut scene = Scene::new(DVec3::ZERO, dt);
    let shape = a_box(DVec3::new(0.5, 0.5, 0.1), 400.0);
    scene.add(&shape, DVec3::ZERO);
    join(&mut scene, Kind::Revolute, [None, Some(0)], DVec3::ZERO, DVec3::Z);
    (scene, shape.inertia().z_axis.z)
}

#[test]
fn a_motor_speeds_up_with_its_torque_and_holds_its_speed() {
    let (mut scene, inertia) = wheel(1.0 / 48.0);
    scene.joints[0].motor = Some(Motor { drive: Drive::Speed(8.0), most: 4.0 * inertia });
    scene.run(1.0);
    // Velocity is half a substep ahead.
    let expected = 4.0 * (1.0 + 0.5 / 48.0);
    let spin = scene.bodies[0].speed().angular.z;
    assert!((spin - expected).abs() < 1e-6, "{spin}, not {expected}");
    assert!((scene.joints[0].state.load[1] / (4.0 * inertia) - 1.0).abs() < 1e-9);
    scene.run(1.5);
    let spin = scene.bodies[0].speed().angular.z;
    assert!((spin - 8.0).abs() < 1e-6, "{spin}");
    assert!(scene.joints[0].state.load[1] < 1e-6);
    assert!(scene.report.apart[0] < 1e-9 && scene.joints[0].state.turned > 8.0);
}

#[test]
fn a_motor_goes_to_a_place_more_than_a_turn_away_and_stays() {
    for most in [5.0, 500.0, f64::INFINITY] {
        let (mut scene, inertia) = wheel(1.0 / 48.0);
        scene.joints[0].motor = Some(Motor { drive: Drive::Place(9.0), most: most * inertia });
        let mut farthest = 0.0f64;
        for _ in 0..48 * 5 {
            scene.run(1.0 / 48.0);
            farthest = farthest.max(scene.joints[0].state.turned);
        }
        let turned = scene.joints[0].state.turned;
        assert!((turned - 9.0).abs() < 1e-6 && farthest < 9.01, "{most}: {turned}, {farthest}");
    }
}

#[test]
fn stops_hold_at_both_limits() {
    for sign in [-1.0, 1.0] {
        let (mut scene, inertia) = wheel(1.0 / 48.0);
        scene.joints[0].limits = Some([-0.4, 0.7]);
        scene.joints[0].motor = Some(Motor { drive: Drive::Speed(sign * 20.0), most: 10.0 * inertia });
        let mut farthest = 0.0f64;
        for _ in 0..96 {
            scene.run(1.0 / 48.0);
            farthest = farthest.max(scene.joints[0].state.turned * sign);
        }
        let stop = if sign > 0.0 { 0.7 } else { 0.4 };
        let at = scene.joints[0].state.turned * sign;
        assert!((at - stop).abs() < 1e-6 && farthest < stop + 1e-6, "{at} {farthest}");
    }
    // A cone for a ball joint: the rod of a pendulum stays in it.
    let mut scene = Scene::new(DOWN, 1.0 / 96.0);
    let rod = a_box(DVec3::new(0.5, 0.05, 0.05), 500.0);
    scene.add(&rod, DVec3::X * 0.25);
    join(&mut scene, Kind::Ball, [None, Some(0)], DVec3::ZERO, DVec3::X).limits = Some([0.0, 0.5]);
    let mut farthest = 0.0f64;
    for _ in 0..192 {
        scene.run(1.0 / 96.0);
        farthest = farthest.max((scene.bodies[0].pose.orientation * DVec3::X).angle_between(DVec3::X));
    }
    assert!((0.49..0.505).contains(&farthest), "{farthest}");
    // A slide between two ends.
    let mut scene = Scene::new(DOWN, 1.0 / 48.0);
    scene.add(&rod, DVec3::ZERO);
    join(&mut scene, Kind::Prismatic, [None, Some(0)], DVec3::ZERO, DVec3::Y).limits = Some([-0.3, 0.3]);
    scene.run(1.0);
    let at = scene.bodies[0].pose.position;
    assert!((at - DVec3::Y * -0.3).length() < 1e-6, "{at}");
}

#[test]
fn a_joint_breaks_at_the_load_that_it_is_said_to() {
    for (share, holds) in [(0.99, false), (1.01, true)] {
        for kind in [Kind::Fixed, Kind::Ball, Kind::Revolute] {
            let mut scene = Scene::new(DOWN, 1.0 / 48.0);
            let shape = a_box(DVec3::splat(0.2), 700.0);
            scene.add(&shape, DVec3::Y * -0.3);
            let joint = join(&mut scene, kind, [None, Some(0)], DVec3::ZERO, DVec3::Z);
            joint.breaking[0] = share * shape.mass() * G;
            scene.run(0.5);
            assert_eq!(scene.joints[0].state.broken, !holds, "{kind:?}");
            assert_eq!(scene.bodies[0].pose.position.y < -0.5, !holds);
            if holds {
                assert!((scene.joints[0].state.load[0] / (shape.mass() * G) - 1.0).abs() < 1e-9);
            }
        }
        // An arm that sticks out breaks by its torque.
        let mut scene = Scene::new(DOWN, 1.0 / 48.0);
        let shape = a_box(DVec3::new(0.6, 0.1, 0.1), 700.0);
        scene.add(&shape, DVec3::X * 0.3);
        let joint = join(&mut scene, Kind::Fixed, [None, Some(0)], DVec3::ZERO, DVec3::Z);
        joint.breaking[1] = share * shape.mass() * G * 0.3;
        scene.run(0.5);
        assert_eq!(scene.joints[0].state.broken, !holds);
    }
}

#[test]
fn a_loop_of_four_bars_turns_and_stays_closed() {
    let mut scene = Scene::new(DOWN, 1.0 / 96.0);
    let (a, b, d) = (DVec3::ZERO, DVec3::Y * 0.2, DVec3::X * 0.7);
    // Where circles of 0.6 m around b and 0.5 m around d meet.
    let (apart, along) = ((d - b).length(), (d - b).normalize());
    let x = (0.36 - 0.25 + apart * apart) / (2.0 * apart);
    let c = b + along * x + DVec3::Z.cross(along) * (0.36 - x * x).sqrt();
    for (from, to) in [(a, b), (b, c), (c, d)] {
        let turn = DQuat::from_rotation_arc(DVec3::X, (to - from).normalize());
        let bar = a_box(DVec3::new((to - from).length(), 0.03, 0.03), 600.0);
        scene.add(&bar, 0.5 * (from + to)).pose.orientation = turn;
    }
    let ends = [[None, Some(0)], [Some(0), Some(1)], [Some(1), Some(2)], [Some(2), None]];
    for (ends, at) in ends.into_iter().zip([a, b, c, d]) {
        join(&mut scene, Kind::Revolute, ends, at, DVec3::Z);
    }
    scene.joints[0].motor = Some(Motor { drive: Drive::Speed(5.0), most: 1000.0 });
    let worst = widest(&mut scene, 4.0);
    let turned = scene.joints[0].state.turned;
    println!("four bars: gaps {worst:?}, turned {turned}");
    assert!(worst[0] < 1e-8 && worst[1] < 1e-7, "{worst:?}");
    assert!((turned - 20.0).abs() < 0.15, "{turned}");
    assert!(scene.bodies.iter().all(|b| b.pose.position.z.abs() < 1e-8));
}

#[test]
fn a_spring_swings_with_its_period_and_a_stiff_one_gains_nothing() {
    let shape = a_box(DVec3::splat(0.2), 500.0);
    let scene_of = |dt: f64, stiffness: f64, damping: f64| {
        let mut scene = Scene::new(DVec3::ZERO, dt);
        scene.add(&shape, DVec3::X * 1.1).may_sleep = false;
        let ends = [None, Some(&scene.bodies[0])];
        let frames = [Joint::frame_at(DVec3::ZERO, DVec3::X), Joint::frame_at(DVec3::X * 1.1, DVec3::X)];
        let joint = Joint { stiffness, damping, ..Joint::new(Kind::Spring(1.0), ends, frames) };
        scene.joints.push(joint);
        scene
    };
    let mut scene = scene_of(1.0 / 240.0, 160.0, 0.0);
    let period = 2.0 * PI * (shape.mass() / 160.0).sqrt();
    scene.run(3.0 * period);
    let x = scene.bodies[0].pose.position.x - 1.0;
    assert!((x - 0.1).abs() < 1e-3, "{x} after three periods");
    // 50 rad a step.
    let mut stiff = scene_of(1.0 / 24.0, 6e6, 0.0);
    let mut farthest = 0.0f64;
    for _ in 0..240 {
        stiff.run(1.0 / 24.0);
        farthest = farthest.max((stiff.bodies[0].pose.position.x - 1.0).abs());
    }
    assert!(farthest < 0.1 + 1e-6, "{farthest}");
    // Critical damping: x = 0.1 (1 + w t) exp(-w t).
    let w = (160.0 / shape.mass()).sqrt();
    let mut damped = scene_of(1.0 / 480.0, 160.0, 2.0 * (160.0 * shape.mass()).sqrt());
    damped.run(0.3);
    let (x, exact) = (damped.bodies[0].pose.position.x - 1.0, 0.1 * (1.0 + w * 0.3) * (-w * 0.3).exp());
    assert!((x - exact).abs() < 1e-3, "{x}, not {exact}");
    // About an axle.
    let (mut scene, inertia) = wheel(1.0 / 240.0);
    (scene.joints[0].stiffness, scene.joints[0].rest) = (9.0 * inertia, 0.5);
    scene.run(PI / 3.0 * (240.0f64 / 240.0));
    assert!((scene.joints[0].state.turned - 1.0).abs() < 2e-3, "{}", scene.joints[0].state.turned);
}

#[test]
fn contacts_feel_what_hangs_on_a_body() {
    for (density, tips) in [(100.0, false), (1500.0, true)] {
        let mut scene = Scene::on_floor(DOWN, 1.0 / 96.0);
        scene.add(&a_box(DVec3::splat(0.2), 500.0), DVec3::Y * 0.1);
        scene.add(&a_box(DVec3::splat(0.2), density), DVec3::new(0.25, 0.25, 0.0));
        join(&mut scene, Kind::Fixed, [Some(0), Some(1)], DVec3::new(0.15, 0.2, 0.0), DVec3::X);
        let worst = widest(&mut scene, 0.5);
        let up = (scene.bodies[0].pose.orientation * DVec3::Y).y;
        assert_eq!(up < 0.97, tips, "{density}: {up}");
        assert!(tips || (scene.bodies[0].pose.position.y - 0.1).abs() < 2e-4);
        assert!(worst[0] < 1e-7, "{worst:?}");
        assert!(scene.report.overlap < 2e-3, "{}", scene.report.overlap);
    }
}

#[test]
fn jointed_bodies_pass_through_each_other_unless_told_to_meet() {
    for meets in [false, true] {
        let mut scene = Scene::new(DVec3::ZERO, 1.0 / 96.0);
        let shape = a_box(DVec3::new(0.3, 0.1, 0.1), 500.0);
        scene.add(&shape, DVec3::X * -0.16);
        scene.add(&shape, DVec3::X * 0.16);
        let hinge = join(&mut scene, Kind::Revolute, [Some(0), Some(1)], DVec3::ZERO, DVec3::Z);
        hinge.meets = meets;
        hinge.motor = Some(Motor { drive: Drive::Speed(2.0), most: 5.0 });
        scene.run(1.2);
        let turned = scene.joints[0].state.turned;
        assert_eq!(turned > 2.0, !meets, "{turned}");
    }
}

#[test]
fn what_keyframes_lead_drags_what_hangs_on_it() {
    let mut scene = Scene::new(DOWN, 1.0 / 96.0);
    let shape = a_box(DVec3::splat(0.1), 500.0);
    scene.add(&shape, DVec3::ZERO);
    scene.add(&shape, DVec3::Y * -0.5);
    join(&mut scene, Kind::Ball, [Some(0), Some(1)], DVec3::ZERO, DVec3::X);
    let v = Velocity { linear: DVec3::X * 2.0, angular: DVec3::Y };
    let mut worst = 0.0f64;
    for n in 0..=96 {
        let t = f64::from(n) / 96.0;
        let pose = Pose { position: v.linear * t, orientation: DQuat::from_rotation_y(t) };
        scene.bodies[0].led = Some(Led { pose, velocity: [v; 2] });
        let (drift, next) = if n == 0 { (0.0, 1.0 / 96.0) } else { (1.0 / 96.0, 1.0 / 96.0) };
        scene.take(drift, next);
        worst = worst.max(scene.report.apart[0]);
    }
    assert!(worst < 1e-8, "{worst}");
    assert!((scene.bodies[1].pose.position - scene.bodies[0].pose.position).length() < 0.5 + 1e-6);
}

#[test]
fn a_joint_whose_body_is_gone_or_is_the_same_twice_does_nothing() {
    let mut scene = Scene::new(DOWN, 1.0 / 48.0);
    let shape = a_box(DVec3::splat(0.1), 500.0);
    scene.add(&shape, DVec3::ZERO);
    scene.add(&shape, DVec3::X);
    join(&mut scene, Kind::Fixed, [Some(0), Some(1)], DVec3::X * 0.5, DVec3::X);
    join(&mut scene, Kind::Fixed, [Some(0), Some(0)], DVec3::ZERO, DVec3::X);
    scene.bodies.truncate(1);
    scene.run(0.5);
    assert!((scene.bodies[0].pose.position.y + 0.5 * G * 0.25).abs() < 1e-9);
}
