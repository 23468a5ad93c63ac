//! Bodies against what theory says of them.

mod events;
mod faces;
mod impacts;
mod rolling;
mod ties;

use super::*;
use crate::interrupt::Interrupt;
use crate::levelset;
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, cuboid};
use crate::solid::{Collider, DomainLimits, Motion, Side};
use glam::{DQuat, DVec3};
use std::sync::Arc;

pub(super) const SURFACE: Surface =
    Surface { friction: 0.5, restitution: 0.0, padding: 0.0, group: 1, mask: u32::MAX };

/// Bodies in a box, stepped at one length unless said otherwise.
pub(super) struct Scene {
    pub(super) bodies: Vec<Body>,
    pub(super) joints: Vec<Joint>,
    pub(super) memory: Vec<Memory>,
    pub(super) colliders: Vec<Collider>,
    pub(super) domain: DomainLimits,
    pub(super) gravity: DVec3,
    pub(super) dt: f64,
    pub(super) lead: f64,
    pub(super) settings: Settings,
    pub(super) report: Report,
    pub(super) gap: f64,
}

impl Scene {
    pub(super) fn new(gravity: DVec3, dt: f64) -> Self {
        let domain = DomainLimits::unbounded();
        let report = Report::default();
        let (bodies, joints, memory, colliders, settings) = Default::default();
        Self { bodies, joints, memory, colliders, domain, gravity, dt, lead: 0.0, settings, report, gap: 0.0 }
    }

    /// With a closed side under them, at height 0.
    pub(super) fn on_floor(gravity: DVec3, dt: f64) -> Self {
        let mut scene = Self::new(gravity, dt);
        scene.domain.min.y = 0.0;
        scene.domain.sides[2] = Side::Closed;
        scene
    }

    pub(super) fn add(&mut self, shape: &Arc<Shape>, at: DVec3) -> &mut Body {
        let key = [0, self.bodies.len() as i64];
        let pose = Pose { position: at, orientation: DQuat::IDENTITY };
        self.bodies.push(Body::new(key, shape.clone(), SURFACE, pose));
        self.bodies.last_mut().unwrap()
    }

    pub(super) fn take(&mut self, drift: f64, next: f64) {
        let times = Intervals { drift, kick: drift + 0.5 * next - self.lead, next };
        self.lead = 0.5 * next;
        for body in &mut self.bodies {
            (body.kick.linear, body.kicked) = (self.gravity * times.kick, times.kick);
        }
        let around = Surroundings {
            colliders: [&self.colliders; 2],
            domain: &self.domain,
            interrupt: Interrupt::NEVER,
        };
        self.gap = fly(&mut self.bodies, &self.joints, &self.memory, &times);
        let (bodies, joints) = (&mut self.bodies, &mut self.joints);
        self.report = meet(bodies, joints, &mut self.memory, &around, &times, &self.settings).0;
    }

    /// Runs for some time, first with a step of length 0 as the host does.
    pub(super) fn run(&mut self, seconds: f64) {
        if self.lead == 0.0 {
            self.take(0.0, self.dt);
        }
        for _ in 0..(seconds / self.dt).round() as usize {
            self.take(self.dt, self.dt);
        }
    }

    pub(super) fn momentum(&self) -> DVec3 {
        self.bodies.iter().map(|b| b.velocity * b.shape.mass()).sum()
    }

    pub(super) fn angular_momentum(&self) -> DVec3 {
        let of = |b: &Body| b.momentum + b.pose.position.cross(b.velocity) * b.shape.mass();
        self.bodies.iter().map(of).sum()
    }
}

fn centred(size: DVec3) -> TriMesh {
    let mut mesh = cuboid(size.as_vec3());
    mesh.points.iter_mut().for_each(|p| *p -= 0.5 * size.as_vec3());
    mesh
}

pub(super) fn a_box(size: DVec3, density: f64) -> Arc<Shape> {
    Arc::new(Shape::of(&centred(size), density).unwrap().0)
}

fn crate_of(size: f64) -> Arc<Shape> {
    a_box(DVec3::splat(size), 500.0)
}

#[test]
fn a_body_in_free_flight_follows_the_parabola_whatever_its_steps() {
    let g = DVec3::new(0.3, -9.81, 0.0);
    let mut scene = Scene::new(g, 0.0);
    let v = DVec3::new(1.0, 2.0, -0.5);
    scene.add(&crate_of(0.1), DVec3::ZERO).velocity = v;
    scene.take(0.0, 0.04);
    let mut t = 0.0;
    for (drift, next) in [(0.04, 0.01), (0.01, 0.02), (0.02, 0.0417), (0.0417, 0.003), (0.003, 0.04)] {
        scene.take(drift, next);
        t += drift;
        let exact = v * t + 0.5 * g * t * t;
        assert!((scene.bodies[0].pose.position - exact).length() < 1e-14);
    }
}

#[test]
fn a_tumbling_body_keeps_its_angular_momentum_to_the_last_bit() {
    let mut scene = Scene::new(DVec3::new(0.0, -9.81, 0.0), 0.01);
    let body = scene.add(&a_box(DVec3::new(0.1, 0.2, 0.35), 800.0), DVec3::ZERO);
    *body = body.clone().moving(Velocity { linear: DVec3::X, angular: DVec3::new(0.02, 7.0, 0.01) });
    let (l, energy) = (body.momentum, 0.5 * body.momentum.dot(body.speed().angular));
    for _ in 0..10 {
        scene.run(1.0);
        let body = &scene.bodies[0];
        assert_eq!(body.momentum, l);
        assert!((0.5 * body.momentum.dot(body.speed().angular) / energy - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_box_slides_on_a_slope_just_when_it_must() {
    // Gravity is turned instead of the slope.
    for mu in [0.1f64, 0.4, 0.9] {
        for ratio in [0.9, 0.98, 1.02, 1.3] {
            let angle = (mu * ratio).atan();
            for across in [0.0f64, 0.7] {
                let down = DVec3::new(across.cos(), 0.0, across.sin());
                let g = 9.81 * (angle.sin() * down - angle.cos() * DVec3::Y);
                let mut scene = Scene::on_floor(g, 1.0 / 48.0);
                scene.add(&a_box(DVec3::new(0.4, 0.1, 0.3), 300.0), DVec3::Y * 0.05).surface.friction = mu;
                scene.run(1.0);
                let moved = scene.bodies[0].pose.position.dot(down);
                let expected = 0.5 * (9.81 * (angle.sin() - mu * angle.cos())).max(0.0);
                assert!(
                    (moved - expected).abs() < 1e-4 + 0.01 * expected,
                    "μ {mu}, {ratio}: {moved}, not {expected}"
                );
                assert!((scene.bodies[0].pose.position.y - 0.05).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn a_box_slides_on_a_slope_of_voxels_just_when_it_must() {
    let floor = levelset_of(&centred(DVec3::new(4.0, 0.5, 4.0)), 0.05);
    for (ratio, slides) in [(0.95f64, false), (1.1, true)] {
        let turn = DQuat::from_rotation_z(-(0.5 * ratio).atan());
        let mut scene = Scene::new(DVec3::Y * -9.81, 1.0 / 48.0);
        let mut collider = floor.1;
        collider.linear = glam::DMat3::from_quat(turn) * collider.linear;
        collider.translation = turn * collider.translation;
        scene.colliders = vec![Collider::new(floor.0.clone(), collider, Motion::Static)];
        scene.add(&crate_of(0.2), turn * DVec3::Y * 0.35).pose.orientation = turn;
        scene.run(1.0);
        let moved = scene.bodies[0].pose.position.distance(turn * DVec3::Y * 0.35);
        let a = 9.81 * ((0.5 * ratio).atan().sin() - 0.5 * (0.5 * ratio).atan().cos());
        match slides {
            true => assert!((moved / (0.5 * a) - 1.0).abs() < 0.05, "{moved}"),
            false => assert!(moved < 1e-3, "{moved}"),
        }
    }
}

fn levelset_of(mesh: &TriMesh, h: f64) -> (Arc<levelset::SignedDistance>, crate::grid::Transform) {
    let lattice = levelset::lattice(mesh, h);
    (Arc::new(levelset::from_mesh(mesh, &lattice, 4.0).unwrap()), lattice)
}

#[test]
fn a_stack_of_ten_boxes_stands_for_ten_seconds() {
    for (dt, sleeps) in [(1.0 / 24.0, false), (1.0 / 96.0, false), (1.0 / 48.0, true)] {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        let shape = crate_of(0.2);
        for n in 0..10 {
            let lean = 0.01 * f64::from(n % 3 - 1);
            scene.add(&shape, DVec3::new(lean, 0.1 + 0.2 * f64::from(n), -lean)).may_sleep = sleeps;
        }
        let before: Vec<DVec3> = scene.bodies.iter().map(|b| b.pose.position).collect();
        scene.run(10.0);
        for (body, before) in scene.bodies.iter().zip(&before) {
            let moved = (body.pose.position - *before).length();
            assert!(moved < 0.002, "dt {dt}: {} moved by {moved}", body.key[1]);
            assert_eq!(body.rest.asleep, sleeps);
        }
    }
}

#[test]
fn a_sleeping_stack_wakes_when_it_is_hit_or_its_foot_goes() {
    for hit in [false, true] {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, 1.0 / 48.0);
        let shape = crate_of(0.2);
        for n in 0..3 {
            scene.add(&shape, DVec3::Y * (0.1 + 0.2 * f64::from(n)));
        }
        scene.run(2.0);
        assert!(scene.bodies.iter().all(|b| b.rest.asleep));
        if hit {
            scene.add(&shape, DVec3::new(-1.0, 0.5, 0.0)).velocity = DVec3::X * 8.0;
            scene.bodies[3].key = [1, 0];
        } else {
            scene.bodies.remove(0);
        }
        scene.run(0.5);
        let fallen = scene.bodies[1].pose.position.y < 0.4 || scene.bodies[1].pose.position.x > 0.05;
        assert!(fallen, "{:?}", scene.bodies[1].pose.position);
    }
}

#[test]
fn a_sleeping_body_that_is_about_to_be_hit_is_no_wall() {
    for asleep in [false, true] {
        let mut scene = Scene::new(DVec3::ZERO, 1.0 / 48.0);
        let shape = crate_of(0.2);
        scene.add(&shape, DVec3::X * -0.25).velocity = DVec3::X * 3.0;
        scene.add(&shape, DVec3::ZERO).rest.asleep = asleep;
        scene.run(1.0);
        assert!((scene.bodies[0].velocity.x - 1.5).abs() < 1e-6, "{:?}", scene.bodies[0].velocity);
    }
}

#[test]
fn bodies_that_collide_keep_momentum_and_part_as_restitution_says() {
    for e in [0.0, 0.3, 1.0] {
        for dt in [0.001, 0.0123, 0.05] {
            let mut scene = Scene::new(DVec3::ZERO, dt);
            let light = a_box(DVec3::splat(0.2), 300.0);
            let heavy = a_box(DVec3::new(0.2, 0.3, 0.3), 900.0);
            scene.add(&light, DVec3::X * -0.5).velocity = DVec3::X * 3.0;
            scene.add(&heavy, DVec3::X * 0.1).velocity = DVec3::X * -1.0;
            scene.bodies.iter_mut().for_each(|b| b.surface.restitution = e);
            let before = scene.momentum();
            scene.run(0.6);
            let after = scene.bodies[1].velocity.x - scene.bodies[0].velocity.x;
            assert!((after - 4.0 * e).abs() < 1e-6, "e {e}, dt {dt}: {after}");
            assert!((scene.momentum() - before).length() < 1e-12 * before.length());
        }
    }
}

#[test]
fn a_glancing_blow_keeps_linear_and_angular_momentum() {
    let mut scene = Scene::new(DVec3::ZERO, 0.01);
    let shape = crate_of(0.2);
    scene.add(&shape, DVec3::new(-0.5, 0.07, 0.03)).velocity = DVec3::X * 2.0;
    scene.bodies[0].surface.restitution = 0.5;
    let other = scene.add(&shape, DVec3::ZERO);
    *other = other.clone().moving(Velocity { linear: DVec3::ZERO, angular: DVec3::new(1.0, 2.0, 3.0) });
    let (p, l) = (scene.momentum(), scene.angular_momentum());
    scene.run(1.0);
    assert!(scene.bodies[1].velocity.length() > 0.1);
    assert!((scene.momentum() - p).length() < 1e-12);
    // Impulses act where the bodies are when the drift begins; half of a drift's lever remains.
    assert!((scene.angular_momentum() - l).length() < 1e-9, "{}", scene.angular_momentum() - l);
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() {
    let mut scene = Scene::on_floor(DVec3::Y * -9.81, 1.0 / 480.0);
    let shape = Arc::new(Shape::of(&ball(0.05, 12), 800.0).unwrap().0);
    let radius = -shape.hulls()[0].iter().map(|p| p.y).fold(0.0, f64::min);
    scene.add(&shape, DVec3::Y * (radius + 1.0)).surface.restitution = 0.7;
    let fall = (2.0f64 / 9.81).sqrt();
    scene.run(fall * 1.02);
    let mut highest = 0.0f64;
    for _ in 0..(1.4 * fall * 480.0) as usize {
        scene.run(1.0 / 480.0);
        highest = highest.max(scene.bodies[0].pose.position.y - radius);
    }
    assert!((highest - 0.49).abs() < 0.01, "{highest}");
}

#[test]
fn dominoes_fall_at_a_speed_that_two_step_sizes_agree_on() {
    let speed = |dt: f64| {
        let mut scene = Scene::on_floor(DVec3::Y * -9.81, dt);
        let shape = a_box(DVec3::new(0.02, 0.2, 0.1), 600.0);
        for n in 0..16 {
            let body = scene.add(&shape, DVec3::new(0.08 * f64::from(n), 0.1, 0.0));
            body.surface.friction = 0.6;
        }
        // The first is given a push at its top.
        let first = &mut scene.bodies[0];
        *first = first.clone().moving(Velocity { linear: DVec3::X * 0.4, angular: DVec3::Z * -4.0 });
        let up = |scene: &Scene, n: usize| (scene.bodies[n].pose.orientation * DVec3::Y).y;
        let mut times = [0.0; 2];
        for step in 0..(1.0 / dt) as usize {
            let before = [3, 9].map(|n| up(&scene, n));
            scene.run(dt);
            for ((at, before), time) in [3, 9].into_iter().zip(before).zip(&mut times) {
                let now = up(&scene, at);
                if *time == 0.0 && now < 0.9 {
                    *time = (step as f64 + (before - 0.9) / (before - now)) * dt;
                }
            }
        }
        assert!(times[1] > times[0] && times[0] > 0.0, "they do not fall: {times:?}");
        0.08 * 6.0 / (times[1] - times[0])
    };
    let (coarse, fine) = (speed(1.0 / 240.0), speed(1.0 / 960.0));
    assert!((coarse / fine - 1.0).abs() < 0.015, "{coarse} and {fine} m/s");
}

#[test]
fn fast_bodies_do_not_pass_through_thin_ones() {
    let mut scene = Scene::new(DVec3::ZERO, 1.0 / 24.0);
    let plate = a_box(DVec3::new(0.01, 1.0, 1.0), 20000.0);
    scene.add(&plate, DVec3::ZERO);
    scene.add(&crate_of(0.1), DVec3::X * -3.0).velocity = DVec3::X * 20.0;
    scene.run(0.5);
    assert!(scene.bodies[1].pose.position.x < scene.bodies[0].pose.position.x);
    assert!(scene.bodies[0].velocity.x > 0.04);
}

#[test]
fn a_ring_hangs_on_a_rod_and_does_not_fall_off() {
    let mut scene = Scene::new(DVec3::Y * -9.81, 1.0 / 96.0);
    let ring = Arc::new(Shape::of(&crate::mesh::shapes::torus(0.3, 0.05, 32, 12), 500.0).unwrap().0);
    let axis = {
        let l = ring.inertia();
        [DVec3::X, DVec3::Y, DVec3::Z]
            .into_iter()
            .max_by(|a, b| (l * *a).dot(*a).total_cmp(&(l * *b).dot(*b)))
            .unwrap()
    };
    let turn = DQuat::from_rotation_arc(axis, DVec3::Z);
    scene.add(&ring, DVec3::Y * -0.22).pose.orientation = turn;
    let rod = scene.add(&a_box(DVec3::new(0.04, 0.04, 2.0), 500.0), DVec3::ZERO);
    let rest = Velocity::default();
    rod.led = Some(Led { pose: rod.pose, velocity: [rest; 2] });
    scene.run(2.0);
    assert!(scene.bodies[0].pose.position.y > -0.3, "{:?}", scene.bodies[0].pose.position);
}

#[test]
fn keyframes_carry_what_lies_on_them() {
    let mut scene = Scene::new(DVec3::Y * -9.81, 1.0 / 48.0);
    let tray = scene.add(&a_box(DVec3::new(1.0, 0.1, 1.0), 500.0), DVec3::ZERO);
    let start = tray.pose;
    scene.add(&crate_of(0.2), DVec3::Y * 0.15);
    let v = Velocity { linear: DVec3::new(0.5, 0.2, 0.0), angular: DVec3::ZERO };
    for n in 0..=48 {
        let pose = Pose { position: start.position + v.linear * f64::from(n) / 48.0, ..start };
        scene.bodies[0].led = Some(Led { pose, velocity: [v; 2] });
        let (drift, next) = if n == 0 { (0.0, 1.0 / 48.0) } else { (1.0 / 48.0, 1.0 / 48.0) };
        scene.take(drift, next);
    }
    let crate_at = scene.bodies[1].pose.position;
    assert!((crate_at.y - 0.35).abs() < 0.003, "{crate_at}");
    assert!((crate_at.x - 0.5).abs() < 0.03, "{crate_at}");
}

#[test]
fn groups_that_do_not_meet_pass_through_each_other() {
    let mut scene = Scene::new(DVec3::ZERO, 0.02);
    scene.add(&crate_of(0.2), DVec3::X * -0.5).velocity = DVec3::X;
    scene.add(&crate_of(0.2), DVec3::ZERO).surface.group = 2;
    scene.bodies[0].surface.mask = 1;
    scene.run(1.0);
    assert!((scene.bodies[0].pose.position.x - 0.5).abs() < 1e-12);
}

#[test]
fn what_overlaps_at_the_start_is_found() {
    let mut scene = Scene::new(DVec3::ZERO, 0.02);
    let shape = crate_of(0.2);
    for n in 0..3 {
        scene.add(&shape, DVec3::X * 0.2 * f64::from(n));
    }
    assert_eq!(overlap(&scene.bodies, &[], |_| true), None);
    scene.bodies[2].pose.position.x = 0.35;
    assert_eq!(overlap(&scene.bodies, &[], |body| body.key[1] == 0), None);
    let (a, b, depth) = overlap(&scene.bodies, &[], |_| true).unwrap();
    assert!((a, b) == (1, 2) && (depth - 0.05).abs() < 1e-3);
    let (floor, lattice) = levelset_of(&centred(DVec3::new(2.0, 0.2, 2.0)), 0.02);
    let floor = Collider::new(floor, lattice, Motion::Static);
    assert_eq!(
        overlap_with_solids(&scene.bodies, std::slice::from_ref(&floor), |_| true).map(|(n, c, _)| (n, c)),
        Some((0, 0))
    );
    scene.bodies.iter_mut().for_each(|b| b.pose.position.y = 0.2);
    assert_eq!(overlap_with_solids(&scene.bodies, &[floor], |_| true), None);
}

#[test]
fn a_corner_that_stands_up_meets_the_middle_of_a_face() {
    // A post of voxels thinner than the box that falls on it.
    let (post, lattice) = levelset_of(&centred(DVec3::new(0.06, 0.4, 0.06)), 0.01);
    let mut scene = Scene::new(DVec3::Y * -9.81, 1.0 / 96.0);
    scene.colliders = vec![Collider::new(post, lattice, Motion::Static)];
    scene.add(&crate_of(0.3), DVec3::Y * 0.5);
    scene.run(0.6);
    assert!(scene.bodies[0].pose.position.y > 0.3, "{:?}", scene.bodies[0].pose.position);
}

#[test]
fn what_presses_is_told_without_what_undoes_overlaps() {
    let mut scene = Scene::on_floor(DVec3::Y * -9.81, 1.0 / 48.0);
    scene.add(&crate_of(0.2), DVec3::Y * 0.09).may_sleep = false;
    scene.run(1.0);
    let body = &scene.bodies[0];
    assert!((body.struck.linear - DVec3::Y * 9.81).length() < 1e-6, "{:?}", body.struck);
    assert!(body.pose.position.y > 0.0995, "{:?}", body.pose.position);
}

#[test]
fn a_large_body_does_not_fall_through_a_solid_of_small_voxels() {
    let (floor, lattice) = levelset_of(&centred(DVec3::new(2.0, 0.2, 2.0)), 0.02);
    let mut scene = Scene::new(DVec3::Y * -9.81, 0.0);
    scene.colliders = vec![Collider::new(floor, lattice, Motion::Static)];
    scene.add(&crate_of(0.6), DVec3::Y * 1.2).velocity = DVec3::Y * -12.0;
    let mut dt = longest_step(&scene.bodies, &scene.colliders, 9.81);
    scene.take(0.0, dt);
    for _ in 0..200 {
        let next = longest_step(&scene.bodies, &scene.colliders, 9.81).min(1.0 / 24.0);
        scene.take(dt, next);
        dt = next;
    }
    assert!((scene.bodies[0].pose.position.y - 0.4).abs() < 0.005, "{:?}", scene.bodies[0].pose);
}

#[test]
fn a_body_takes_a_velocity_that_something_else_has_solved_for() {
    let mut scene = Scene::new(DVec3::ZERO, 0.01);
    let body = scene.add(&a_box(DVec3::new(0.1, 0.2, 0.35), 800.0), DVec3::ZERO);
    let given = Velocity { linear: DVec3::new(1.0, 2.0, 3.0), angular: DVec3::new(-1.0, 0.5, 2.0) };
    body.take(given);
    assert!((body.speed().angular - given.angular).length() < 1e-12);
    assert_eq!((body.speed().linear, body.motion[1].linear), (given.linear, given.linear));
    scene.run(0.01);
    assert!((scene.bodies[0].pose.position - given.linear * 0.01).length() < 1e-12);
}

/// A heap is left in the middle of its contacts once the user asks to stop, however many sweeps it may take.
#[test]
fn a_heap_stops_when_it_is_asked_to() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let mut scene = Scene::on_floor(DVec3::new(0.0, -9.81, 0.0), 1.0 / 96.0);
    let shape = Arc::new(Shape::of(&ball(0.5, 12), 800.0).unwrap().0);
    (0..12).for_each(|i| {
        scene.add(&shape, DVec3::new(0.0, 0.5 + 0.98 * f64::from(i), 0.0));
    });
    scene.settings.sweeps = 1_000_000;
    let times = Intervals { drift: scene.dt, kick: scene.dt, next: scene.dt };
    let sweeps = |after: usize| {
        let mut bodies = scene.bodies.clone();
        bodies.iter_mut().for_each(|body| body.velocity.y = -1.0);
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= after;
        let interrupt = Interrupt::new(&stop);
        let around = Surroundings { colliders: [&[]; 2], domain: &scene.domain, interrupt };
        meet(&mut bodies, &mut [], &mut Vec::new(), &around, &times, &scene.settings).0.sweeps
    };
    let whole = sweeps(usize::MAX);
    assert!(whole > 20, "{whole} sweeps");
    assert_eq!(sweeps(0), 0);
    let stopped = [30, 32, 34].map(sweeps);
    assert!(stopped.is_sorted() && stopped[2] < whole, "{stopped:?} of {whole}");
}
