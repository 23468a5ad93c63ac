//! Whitewater against laws: what makes it does not depend on who looks, on threads or on the length of substeps; it flies,
//! floats and rises as bodies without mass do.

use super::*;
use crate::grid::Topology;
use crate::solid::{DomainLimits, Side, Solids};
use glam::IVec3;
use std::sync::Arc;

const H: f64 = 0.1;

/// Particles of a liquid that fills a half-space below y = 0 in a box of 2 m around the origin, by their velocity.
struct Sea {
    position: Vec<[f32; 3]>,
    velocity: Vec<[f32; 3]>,
    id: Vec<[i64; 1]>,
    flow: Vec3,
}

impl Sea {
    fn new(flow: Vec3, velocity: impl Fn(Vec3) -> Vec3) -> Self {
        let mut sea = Self { position: vec![], velocity: vec![], id: vec![], flow };
        let n = 20;
        for (x, y, z) in (-n..n).flat_map(|x| (-n..0).flat_map(move |y| (-n..n).map(move |z| (x, y, z)))) {
            sea.add((Vec3::new(x as f32, y as f32, z as f32) + 0.5) * 0.5 * H as f32, &velocity);
        }
        sea
    }

    fn add(&mut self, x: Vec3, velocity: impl Fn(Vec3) -> Vec3) {
        self.position.push(x.to_array());
        self.velocity.push(velocity(x).to_array());
        self.id.push([self.id.len() as i64]);
    }

    fn seen(&self) -> Liquid<'_> {
        let voxels =
            (-16..16).flat_map(|x| (-16..16).flat_map(move |y| (-16..16).map(move |z| IVec3::new(x, y, z))));
        let topology = Arc::new(Topology::covering(voxels));
        let transform = Transform::uniform(H, DVec3::ZERO);
        let band = 3.0 * H as f32;
        let height = |c: IVec3| transform.to_world(c.as_dvec3()).y as f32;
        let surface = Grid::from_fn(topology.clone(), band, |c| height(c).clamp(-band, band));
        let velocity = FaceGrid::from_fn(topology, 0.0, |axis, _| self.flow[axis]);
        let (origin, position, velocity_of) = (DVec3::ZERO, &*self.position, &*self.velocity);
        let particles = Parcels { origin, position, velocity: velocity_of, id: &self.id };
        Liquid { transform, surface, velocity, particles }
    }
}

fn birth() -> Birth {
    let potentials =
        Potentials { speed: [0.5, 2.0], trapping: [0.1, 1.0], crest: [0.25, 0.5], rates: [50.0, 0.0, 0.0] };
    Birth { potentials, lifespan: 2.0, seed: 7, most: 1_000_000 }
}

/// Two halves of the sea that run together at a speed, all of it carried along.
fn meeting(speed: f32, carried: Vec3) -> impl Fn(Vec3) -> Vec3 {
    move |x| Vec3::new(-speed * x.x.signum(), 0.0, 0.0) + carried
}

fn born(sea: &Sea, dt: f64, times: usize) -> Whitewater {
    let (liquids, mut whitewater) = ([sea.seen()], Whitewater::default());
    (0..times).for_each(|_| assert_eq!(bear(&mut whitewater, &liquids, &birth(), dt), 1.0));
    whitewater
}

#[test]
fn liquid_that_moves_as_one_makes_none() {
    for v in [Vec3::ZERO, Vec3::new(3.0, 0.0, 0.0), Vec3::new(2.0, -4.0, 1.0)] {
        assert!(born(&Sea::new(v, |_| v), 0.01, 10).is_empty(), "{v}");
    }
    // Nor does liquid that turns as one, nor do halves that part.
    let turning = |x: Vec3| Vec3::new(0.3, 4.0, -0.2).cross(x + Vec3::X);
    assert!(born(&Sea::new(Vec3::ZERO, turning), 0.01, 10).is_empty());
    assert!(born(&Sea::new(Vec3::ZERO, meeting(-2.0, Vec3::ZERO)), 0.01, 10).is_empty());
    assert!(born(&Sea::new(Vec3::ZERO, meeting(0.2, Vec3::ZERO)), 0.01, 10).is_empty(), "too slow");
}

#[test]
fn as_many_are_born_as_the_rates_say_at_any_step() {
    let sea = Sea::new(Vec3::ZERO, meeting(3.0, Vec3::ZERO));
    let expected: f64 = rates_of(&sea).iter().map(|&(_, rate)| f64::from(rate)).sum();
    assert!(expected > 1e4, "{expected}");
    for steps in [1usize, 3, 24, 100] {
        let count = born(&sea, 0.5 / steps as f64, steps).len() as f64;
        let mean = 0.5 * expected;
        assert!((count - mean).abs() < 5.0 * mean.sqrt(), "{steps} steps: {count} of {mean}");
    }
}

fn rates_of(sea: &Sea) -> Vec<(u32, f32)> {
    super::birth::rates(&sea.seen(), &birth().potentials)
}

#[test]
fn they_are_born_where_liquid_meets_near_the_surface() {
    let whitewater = born(&Sea::new(Vec3::ZERO, meeting(3.0, Vec3::ZERO)), 0.02, 5);
    assert!(whitewater.position.iter().all(|x| x.x.abs() < 0.3 && x.y > -0.3));
    let ids: Vec<i64> = (0..whitewater.len() as i64).collect();
    assert_eq!(whitewater.id, ids);
    assert!(whitewater.life.iter().all(|life| (1.0..3.0).contains(life)));
}

#[test]
fn running_together_looks_the_same_from_every_side_and_to_everyone_who_moves_along() {
    let total = |sea: Sea| rates_of(&sea).iter().map(|&(_, rate)| f64::from(rate)).sum::<f64>();
    // Speeds so high that all count in full, so that only what runs together tells them apart.
    let fast = Vec3::new(0.0, 0.0, 40.0);
    let still = total(Sea::new(Vec3::ZERO, meeting(0.4, fast)));
    let turned = total(Sea::new(Vec3::ZERO, |x| {
        let v = meeting(0.4, fast)(Vec3::new(-x.z, x.y, x.x));
        Vec3::new(v.z, v.y, -v.x)
    }));
    let carried = total(Sea::new(Vec3::ZERO, meeting(0.4, -fast)));
    assert!(still > 100.0 && (still - turned).abs() < 1e-4 * still, "{still} {turned}");
    assert!((still - carried).abs() < 1e-3 * still, "{still} {carried}");
}

#[test]
fn drops_in_flight_and_crests_make_spray() {
    let only = |rates: [f32; 3]| Potentials { rates, ..birth().potentials };
    let mut sea = Sea::new(Vec3::ZERO, |_| Vec3::new(0.0, 3.0, 0.0));
    sea.add(Vec3::new(0.0, 0.2, 0.0), |_| Vec3::new(0.0, 3.0, 0.0));
    let drop = (sea.id.len() - 1) as u32;
    assert_eq!(super::birth::rates(&sea.seen(), &only([0.0, 0.0, 8.0])), [(drop, 8.0)]);
    assert!(super::birth::rates(&sea.seen(), &only([0.0, 8.0, 0.0])).is_empty(), "a plane has no crests");
    // A drop of two voxels' radius, κ = 1 per voxel, that rises: only its upper part moves outwards.
    let mut liquid = sea.seen();
    let radius = 2.0 * H as f32;
    let round = |c: IVec3| liquid.transform.to_world(c.as_dvec3()).as_vec3().length() - radius;
    liquid.surface = Grid::from_fn(liquid.surface.topology.clone(), 0.8, |c| round(c).clamp(-0.8, 0.8));
    let crests = super::birth::rates(&liquid, &only([0.0, 8.0, 0.0]));
    assert!(!crests.is_empty());
    for (p, rate) in crests {
        let x = Vec3::from(sea.position[p as usize]);
        assert!(x.normalize().y > 0.5 && rate == 8.0, "{x} {rate}");
    }
}

#[test]
fn threads_do_not_matter() {
    let sea = Sea::new(Vec3::new(0.3, 0.1, 0.2), meeting(3.0, Vec3::ZERO));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let liquids = [sea.seen()];
            let mut whitewater = Whitewater::default();
            let domain = DomainLimits::uniform(DVec3::splat(-0.7), DVec3::splat(0.7), Side::Closed);
            let by = Drift { air_drag: 0.5, rise_speed: 0.2 };
            let most = birth();
            let birth =
                Birth { potentials: Potentials { rates: [500.0, 0.0, 9.0], ..most.potentials }, ..most };
            for _ in 0..4 {
                drift(&mut whitewater, &Solids { colliders: &[], domain: &domain }, H, 0.02);
                bear(&mut whitewater, &liquids, &birth, 0.02);
                kick(&mut whitewater, &liquids, &[], &by, 0.02, 0.02);
            }
            whitewater
        })
    };
    let one = run(1);
    assert!(one.len() > 3 * 4096, "{} fill several tasks", one.len());
    assert!(one == run(3) && one == run(8));
}

#[test]
fn no_more_than_asked_for_are_born_and_from_everywhere() {
    let sea = Sea::new(Vec3::ZERO, meeting(3.0, Vec3::ZERO));
    let mut whitewater = Whitewater::default();
    let birth = Birth { most: 500, ..birth() };
    let share = bear(&mut whitewater, &[sea.seen()], &birth, 0.5);
    assert!(share < 0.1 && (400..=500).contains(&whitewater.len()), "{share} {}", whitewater.len());
    let low = whitewater.position.iter().filter(|x| x.z < 0.0).count();
    assert!((150..350).contains(&low), "{low} of 500 on one side");
    (0..20).for_each(|_| assert!(bear(&mut whitewater, &[sea.seen()], &birth, 0.5) < 1.0));
    assert!(whitewater.len() <= 500);
}

/// One particle, somewhere.
fn one(position: Vec3, velocity: Vec3) -> Whitewater {
    Whitewater {
        position: vec![position],
        velocity: vec![velocity],
        id: vec![0],
        age: vec![0.0],
        life: vec![100.0],
        kind: vec![Kind::Spray],
        next_id: 1,
        ..Default::default()
    }
}

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// A particle's place and velocity after `seconds` in `steps` steps of a leapfrog.
fn flown(mut whitewater: Whitewater, sea: &[Liquid], by: &Drift, seconds: f64, steps: usize) -> Whitewater {
    let domain = DomainLimits::unbounded();
    let solids = Solids { colliders: &[], domain: &domain };
    let dt = seconds / steps as f64;
    let kick_of = |dt: f64| [GRAVITY * dt as f32];
    kick(&mut whitewater, sea, &kick_of(0.5 * dt), by, 0.5 * dt, dt);
    for _ in 0..steps {
        drift(&mut whitewater, &solids, H, dt);
        kick(&mut whitewater, sea, &kick_of(dt), by, dt, dt);
    }
    whitewater
}

#[test]
fn spray_flies_as_in_still_air() {
    let k = 1.5f64;
    let by = Drift { air_drag: k as f32, rise_speed: 0.2 };
    let start = Vec3::new(4.0, 6.0, 0.0);
    let g = GRAVITY.as_dvec3();
    let end = {
        let decay = -(-k * 0.8f64).exp_m1() / k;
        start.as_dvec3() * decay + g / k * (0.8 - decay)
    };
    let off =
        |steps| flown(one(Vec3::ZERO, start), &[], &by, 0.8, steps).position[0].as_dvec3().distance(end);
    let (coarse, fine) = (off(8), off(16));
    assert!(coarse < 0.02 && fine < 0.3 * coarse, "second order: {coarse} {fine}");
}

#[test]
fn bubbles_rise_at_their_speed_and_begin_with_twice_gravity() {
    let sea = Sea::new(Vec3::new(0.3, 0.0, 0.0), |_| Vec3::ZERO);
    let by = Drift { air_drag: 0.0, rise_speed: 0.25 };
    let deep = Vec3::new(0.0, -0.9, 0.0);
    for steps in [10usize, 100] {
        let after = flown(one(deep, Vec3::ZERO), &[sea.seen()], &by, 1.0, steps);
        let v = after.velocity[0];
        assert_eq!(after.kind[0], Kind::Bubble);
        assert!(v.distance(Vec3::new(0.3, 0.25, 0.0)) < 1e-4, "{v}");
        assert!((after.position[0].y - (deep.y + 0.25)).abs() < 0.01 && after.life[0] > 100.9);
    }
    let dt = 1e-4;
    let v = super::motion::risen(Vec3::ZERO, Vec3::ZERO, GRAVITY * dt, 0.25, dt);
    assert!((v.y / dt - 19.62).abs() < 0.1, "{}", v.y / dt);
}

#[test]
fn foam_comes_to_the_surface_and_stays() {
    let sea = Sea::new(Vec3::new(0.5, 0.0, 0.0), |_| Vec3::ZERO);
    let by = Drift { air_drag: 0.0, rise_speed: 0.2 };
    // The surface lies at y = 0.
    for y in [-0.45, -0.06, 0.03] {
        let after = flown(one(Vec3::new(-0.9, y, 0.0), Vec3::ZERO), &[sea.seen()], &by, 3.0, 72);
        let x = after.position[0];
        assert!(x.y.abs() < 2e-3 && (x.x - 0.6).abs() < 0.05, "from {y}: {x}");
        assert_eq!(after.kind[0], Kind::Foam);
    }
}

#[test]
fn they_vanish_at_their_age_and_beyond_the_box_and_stop_at_walls() {
    let domain = DomainLimits {
        sides: [Side::Closed, Side::Closed, Side::Closed, Side::Kill, Side::Open, Side::Open],
        ..DomainLimits::uniform(DVec3::splat(-1.0), DVec3::splat(1.0), Side::Closed)
    };
    let solids = Solids { colliders: &[], domain: &domain };
    let moved = |velocity: Vec3, dt: f64| {
        let mut whitewater = one(Vec3::ZERO, velocity);
        drift(&mut whitewater, &solids, H, dt);
        whitewater
    };
    for gone in [Vec3::Y, Vec3::Z, -Vec3::Z] {
        assert!(moved(gone * 2.0, 1.0).is_empty(), "{gone}");
    }
    for stopped in [Vec3::X, -Vec3::X, -Vec3::Y] {
        let whitewater = moved(stopped * 2.0, 1.0);
        assert!(
            (whitewater.position[0].dot(stopped) - 0.995).abs() < 1e-3
                && whitewater.velocity[0] == Vec3::ZERO
        );
    }
    assert!(moved(Vec3::ZERO, 99.9).len() == 1 && moved(Vec3::ZERO, 100.1).is_empty());
    let mut bubble = Whitewater { kind: vec![Kind::Bubble], ..one(Vec3::ZERO, Vec3::ZERO) };
    (0..3).for_each(|_| drift(&mut bubble, &solids, H, 90.0));
    assert_eq!(bubble.len(), 1, "bubbles wait");
    assert_eq!(bubble.counts(), [0, 0, 1]);
}
