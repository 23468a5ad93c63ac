//! Liquid in free flight sets no step until it comes near something.

use super::*;
use crate::fluid::transport::free_flight::{Drifting, Longest, Parts, Surroundings};
use crate::fluid::transport::travel;
use crate::levelset::SignedDistance;
use crate::solid::{Collider, DomainLimits, Motion, Side};
use glam::IVec3;
use proptest::prelude::*;
use std::convert::Infallible;

const GRAVITY: f64 = 9.81;
const CFL: f64 = 2.0;
/// Steps are no longer than this, s, whatever flies.
const MOST: f64 = 0.05;

/// Drops of eight particles, a voxel wide, and what they may meet.
struct Sky {
    position: Vec<[f32; 3]>,
    velocity: Vec<[f32; 3]>,
    domain: DomainLimits,
    colliders: Vec<Collider>,
    bubbles: Vec<DVec3>,
    gravity: f64,
}

impl Sky {
    fn new() -> Self {
        Self {
            position: Vec::new(),
            velocity: Vec::new(),
            domain: DomainLimits::unbounded(),
            colliders: Vec::new(),
            bubbles: Vec::new(),
            gravity: 0.0,
        }
    }

    fn drop(mut self, centre: Vec3, velocity: Vec3) -> Self {
        for n in 0..8 {
            let corner = |bit: i32| if n >> bit & 1 == 1 { 0.025 } else { -0.025 };
            self.position.push((centre + Vec3::new(corner(0), corner(1), corner(2))).to_array());
            self.velocity.push(velocity.to_array());
        }
        self
    }

    /// A still pool, whose surface is at height 0, from x = 0 on.
    fn pool(mut self) -> Self {
        for n in 0..40 * 20 * 20 {
            let at = Vec3::new((n % 40) as f32, -1.0 - (n / 40 % 20) as f32, (n / 800) as f32 - 10.0);
            self.position.push((at * H as f32).to_array());
            self.velocity.push([0.0; 3]);
        }
        self
    }

    fn floor(mut self, height: f64) -> Self {
        self.domain.min.y = height;
        self.domain.sides[2] = Side::Closed;
        self
    }

    /// The longest step, and whose it is.
    fn longest(&self) -> Option<Longest> {
        let Self { position, velocity, domain, gravity, bubbles, .. } = self;
        let parts = Parts::of(&Drifting { origin: DVec3::ZERO, position, velocity }, H);
        let around = Surroundings { domain, acceleration: *gravity, bubbles };
        let Ok(longest) =
            parts.longest_step((CFL, MOST), &around, || Ok::<_, Infallible>(self.colliders.clone()));
        longest
    }

    fn dt(&self) -> f64 {
        self.longest().map_or(MOST, |l| l.dt)
    }
}

/// A ball of half a metre, moving.
fn ball(centre: DVec3, velocity: DVec3) -> Collider {
    let lattice = Transform::uniform(H, DVec3::ZERO);
    let distance = |x: DVec3| x.length() - 0.5;
    let sdf = SignedDistance::from_fn(&lattice, IVec3::splat(-10), IVec3::splat(10), 3.0, distance);
    let motion = Motion::Rigid { linear: velocity, angular: DVec3::ZERO, pivot: centre };
    Collider::new(Arc::new(sdf), Transform::uniform(H, centre), motion)
}

#[test]
fn a_lone_drop_sets_no_step_and_what_it_nears_does() {
    let fast = Vec3::NEG_Y * 20.0;
    let lone = || Sky::new().drop(Vec3::new(0.3, 5.0, 0.2), fast);
    assert_eq!(lone().longest(), None);
    // It falls beside a still pool, below it, or together with another drop.
    assert_eq!(Sky::new().pool().drop(Vec3::new(-2.0, 3.0, 0.0), fast).longest(), None);
    assert_eq!(Sky::new().pool().drop(Vec3::new(1.0, -5.0, 0.0), fast).longest(), None);
    assert_eq!(lone().drop(Vec3::new(0.3, 7.0, 0.2), fast).longest(), None);
    // Towards a pool, a floor or a solid that stands or comes, it sees them far ahead.
    let bound = travel::longest_step(20.0, H, CFL, 0.0);
    let slow = [
        Sky::new().pool().drop(Vec3::new(1.0, 3.0, 0.0), fast),
        lone().floor(2.0),
        Sky { colliders: vec![ball(DVec3::new(0.3, 1.0, 0.2), DVec3::ZERO)], ..lone() },
        Sky { colliders: vec![ball(DVec3::new(-3.0, 4.8, 0.2), DVec3::X * 15.0)], ..lone() },
    ];
    for sky in slow {
        let dt = sky.dt();
        assert!(bound < dt && dt < MOST, "{dt} s");
    }
    // Beside them it is bound like all liquid, and so is what holds a bubble.
    let bound_there = [
        Sky::new().pool().drop(Vec3::new(1.0, 0.5, 0.0), fast),
        lone().floor(4.95),
        Sky { colliders: vec![ball(DVec3::new(0.3, 4.2, 0.2), DVec3::ZERO)], ..lone() },
        Sky { bubbles: vec![DVec3::new(0.3, 5.0, 0.2)], ..lone() },
    ];
    for sky in bound_there {
        let longest = sky.longest().expect("something sets the step");
        assert!((longest.dt - bound).abs() < 1e-9, "{longest:?}");
        assert_eq!(sky.velocity[longest.particle], fast.to_array());
    }
    // A ball that flies as it does is none that it meets.
    let along = ball(DVec3::new(0.3, 3.0, 0.2), DVec3::NEG_Y * 20.0);
    assert_eq!(Sky { colliders: vec![along], ..lone() }.longest(), None);
}

#[test]
fn what_tears_apart_sets_the_step_by_its_own_speeds() {
    let sky = Sky::new()
        .drop(Vec3::ZERO, Vec3::new(3.0, 50.0, 0.0))
        .drop(Vec3::X * 0.2, Vec3::new(-3.0, 50.0, 0.0));
    // Two drops, three metres a second each against what they are together: half a voxel.
    assert!((sky.dt() - 0.5 * H / 3.0).abs() < 1e-9, "{}", sky.dt());
}

#[test]
fn of_very_many_drops_some_are_asked() {
    let rain = |n: usize| {
        (0..n).fold(Sky::new(), |sky, n| {
            let at = Vec3::new((n % 20) as f32, (n / 20) as f32, 0.0) * 2.0;
            sky.drop(at, Vec3::NEG_Y * (10.0 + n as f32 * 1e-3))
        })
    };
    assert_eq!(rain(60).longest(), None);
    assert!(rain(200).dt() < MOST);
}

proptest! {
    /// However a drop is thrown at a floor: steps that are promised one ahead never carry it farther than CFL allows
    /// beyond where it lands, and promises are kept.
    #[test]
    fn a_promised_step_never_passes_what_it_meets(
        height in 0.5f64..40.0,
        speed in 0.0f64..60.0,
        gravity in prop::sample::select(vec![0.0, GRAVITY]),
    ) {
        let (mut y, mut v) = (height, -speed);
        let mut promised: Option<f64> = None;
        for _ in 0..400 {
            let drop = Vec3::new(0.0, y as f32 + 0.025, 0.0);
            let sky = Sky { gravity, ..Sky::new().drop(drop, Vec3::Y * v as f32).floor(0.0) };
            let wish = sky.dt();
            // As the host's clock: a promise is kept unless it is far too long, and grows at most twofold.
            let dt = promised.map_or(wish, |p| if p <= 1.65 * wish { p } else { wish });
            let bound = travel::longest_step(-v, H, CFL, gravity);
            prop_assert!(promised.is_none_or(|p| p <= 1.65 * wish || wish <= bound), "{promised:?} {wish}");
            let way = (-v + 0.5 * gravity * dt) * dt;
            prop_assert!(way < y.max(CFL * H * 1.65), "{way} m of {y} m, {dt} s at {v} m/s");
            (y, v) = (y - way, v - gravity * dt);
            promised = Some(wish.min(2.0 * dt));
            if y <= 0.0 {
                return Ok(());
            }
        }
        prop_assert!(speed == 0.0 && gravity == 0.0 || y < height);
    }
}
