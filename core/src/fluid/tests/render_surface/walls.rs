//! What the surface encloses in open space, measured along vertical lines through it and analytic solids, against the volume of the
//! particles.

use super::*;
use crate::fluid::tests::flip::Scene;
use crate::levelset::SignedDistance;
use crate::solid::{Collider, Motion};
use glam::IVec3;

/// Distance of the lines, m: the tank is so many of them wide that none too few or too many lie in it.
const LINES: f64 = H / 8.0;
/// Steps along them, m.
const STEP: f64 = H / 32.0;

/// A solid on a lattice so fine that it is the analytic one.
fn collider(distance: impl Fn(DVec3) -> f64 + Sync) -> Collider {
    let lattice = Transform::uniform(0.25 * H, DVec3::ZERO);
    let sdf = SignedDistance::from_fn(&lattice, IVec3::splat(-80), IVec3::splat(80), 6.0, distance);
    Collider::new(Arc::new(sdf), lattice, Motion::Static)
}

/// Volume inside of a surface where `is_open`.
fn open_volume(surface: &RenderSurface, is_open: impl Fn(DVec3) -> bool) -> f64 {
    let mut crossings = std::collections::BTreeMap::<(i32, i32), Vec<(f64, i32)>>::new();
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|n| surface.points[n as usize].as_dvec3());
        let cross = |a: DVec3, b: DVec3, x: f64, z: f64| (b.z - a.z) * (x - a.x) - (b.x - a.x) * (z - a.z);
        let area = cross(a, b, c.x, c.z);
        let cells =
            |low: f64, high: f64| (low / LINES - 0.5).ceil() as i32..=(high / LINES - 0.5).floor() as i32;
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        for i in cells(low.x, high.x) {
            for k in cells(low.z, high.z) {
                let [x, z] = [i, k].map(|n| (f64::from(n) + 0.5) * LINES);
                let [u, v, w] = [(b, c), (c, a), (a, b)].map(|(a, b)| cross(a, b, x, z) / area);
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    let upwards = (b - a).cross(c - a).y > 0.0;
                    let height = a.y * u + b.y * v + c.y * w;
                    crossings.entry((i, k)).or_default().push((height, if upwards { -1 } else { 1 }));
                }
            }
        }
    }
    let mut steps = 0;
    for ((i, k), mut along) in crossings {
        let [x, z] = [i, k].map(|n| (f64::from(n) + 0.5) * LINES);
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut depth = 0;
        for two in along.windows(2) {
            depth += two[0].1;
            if depth > 0 {
                let [first, last] = [two[0].0, two[1].0].map(|y| (y / STEP - 0.5).ceil() as i32);
                steps +=
                    (first..last).filter(|&j| is_open(DVec3::new(x, (f64::from(j) + 0.5) * STEP, z))).count();
            }
        }
    }
    steps as f64 * LINES * LINES * STEP
}

/// A solid by its signed distance.
type Solid = fn(DVec3) -> f64;

#[test]
fn the_volume_in_open_space_is_the_particles() {
    let tank = DomainLimits {
        min: DVec3::new(0.03, 0.02, 0.01),
        max: DVec3::new(1.53, 2.0, 1.26),
        sides: [Side::Closed, Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed],
    };
    const MIDDLE: DVec3 = DVec3::new(0.77, 0.5, 0.65);
    let bowl: Solid = |x| 0.6 - x.length();
    let ball: Solid = |x| (x - MIDDLE).length() - 0.3;
    let plate: Solid = |x| {
        let beyond = (x - MIDDLE).abs() - DVec3::new(0.5, 0.075, 0.4);
        beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
    };
    let none: Solid = |_| 1.0;
    let unbounded = DomainLimits::unbounded();
    for (name, domain, solid, level) in [
        ("tank", tank, none, 0.83),
        ("bowl", unbounded, bowl, 0.1),
        ("sunk ball", tank, ball, 1.23),
        ("sunk plate", tank, plate, 1.23),
        ("ball at the surface", tank, ball, 0.55),
    ] {
        let colliders = if name == "tank" { vec![] } else { vec![collider(solid)] };
        let is_open = |x: DVec3| solid(x) > 0.0 && domain.distance(x) > 0.0;
        let scene = Scene::among(colliders, domain, |x| x.y < level && is_open(x), Vec3::ZERO);
        let solids = Solids { colliders: &scene.colliders, domain: &domain };
        let particles = scene.liquid.particles;
        let spray = Grid::new(scene.liquid.surface.topology.clone(), 0.0);
        let shape = Shape { particles, level_set: scene.liquid.surface, spray, velocity: None };
        for (scale, most) in [(0.25, 0.005), (0.5, 0.0075), (1.0, 0.02)] {
            let settings = Settings { voxel_scale: scale, ..Settings::default() };
            let made = shape.among(&settings, &solids).expect("a surface");
            assert_closed(&made);
            let error = open_volume(&made, is_open) / shape.volume() - 1.0;
            println!("{name} at scale {scale}: {:.3} %", 100.0 * error);
            assert!(error.abs() < most, "{name} at scale {scale}: {error}");
        }
    }
}

/// Water that was thrown about in a glass whose wall is 1.4 voxels: its mesh shows no air at the wall below its surface, and nothing of
/// it comes out on the other side of the wall.
#[test]
fn water_in_a_thin_glass_touches_it_and_stays_in_it() {
    const RADIUS: f64 = 0.6;
    let thickness = 1.4 * H;
    let glass = move |x: DVec3| {
        let from_axis = DVec3::new(x.x, 0.0, x.z).length();
        let side = (from_axis - RADIUS - 0.5 * thickness).abs() - 0.5 * thickness;
        let floor = (x.y + 0.5 * thickness).abs() - 0.5 * thickness;
        side.min(floor.max(from_axis - RADIUS - thickness))
    };
    let domain = DomainLimits::unbounded();
    let colliders = vec![collider(glass)];
    for seed in 1..4_u64 {
        // Particles that happen to lie far apart, as after a splash: one in four is missing.
        let is_missing = |x: DVec3| {
            let bits =
                x.to_array().map(f64::to_bits).iter().fold(seed, |hash, bits| {
                    (hash ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
                });
            bits % 4 == 0
        };
        let inside = |x: DVec3| x.y < 0.8 && x.y > 0.0 && x.x.hypot(x.z) < RADIUS && !is_missing(x);
        let scene = Scene::among(colliders.clone(), domain, inside, Vec3::ZERO);
        let solids = Solids { colliders: &scene.colliders, domain: &domain };
        let particles = scene.liquid.particles;
        let spray = Grid::new(scene.liquid.surface.topology.clone(), 0.0);
        let shape = Shape { particles, level_set: scene.liquid.surface, spray, velocity: None };
        let made = shape.among(&Settings::default(), &solids).expect("a surface");
        let (mut at_wall, mut lowest, mut farthest) = (0, f64::MAX, f64::MIN);
        for point in &made.points {
            let x = point.as_dvec3();
            let into = (x.x.hypot(x.z) - RADIUS) / H;
            farthest = farthest.max(into);
            // Below the surface, and above the corner with the floor.
            if x.y < 0.8 - 2.0 * H && x.y > 1.5 * H && into > -1.0 {
                at_wall += 1;
                lowest = lowest.min(into);
            }
        }
        println!("seed {seed}: {at_wall} points at the wall, {lowest:.2} to {farthest:.2} voxels into it");
        assert!(at_wall > 500 && lowest > -0.05 && farthest < 1.0, "{lowest} to {farthest} of 1.4 voxels");
    }
}

/// A pool on one side of a plate thinner than the liquid's voxels: its mesh ends in the plate, wherever that lies on the lattice and
/// however it is turned.
#[test]
fn a_pool_behind_a_thin_plate_does_not_show_on_the_other_side() {
    let tank = DomainLimits {
        min: DVec3::new(-1.0, 0.0, -0.4),
        max: DVec3::new(1.0, 2.0, 0.4),
        sides: [Side::Closed, Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed],
    };
    for (thickness, coarse) in [(0.6, 0.25), (0.75, 0.25), (0.75, 0.375), (1.125, 0.375), (1.6, 0.5)] {
        for (offset, turn) in [(0.0, 0.0), (0.3, 0.0), (0.65, 0.0), (0.45, 0.2), (0.1, -0.35)] {
            let normal = DVec3::new(f64::cos(turn), f64::sin(turn), 0.0);
            let half = 0.5 * thickness * H;
            let along = move |x: DVec3| x.dot(normal) - offset * H;
            let lattice = Transform::uniform(coarse * H, DVec3::ZERO);
            let distance = move |x: DVec3| along(x).abs() - half;
            let (low, high) = (IVec3::splat(-96), IVec3::splat(96));
            let sdf = SignedDistance::from_fn(&lattice, low, high, 6.0, distance);
            let plate = Collider::new(Arc::new(sdf), lattice, Motion::Static);
            let in_pool = |x: DVec3| along(x) < -half && x.y < 0.6;
            let scene = Scene::among(vec![plate], tank, in_pool, Vec3::ZERO);
            let solids = Solids { colliders: &scene.colliders, domain: &tank };
            let particles = scene.liquid.particles;
            let spray = Grid::new(scene.liquid.surface.topology.clone(), 0.0);
            let shape = Shape { particles, level_set: scene.liquid.surface, spray, velocity: None };
            for scale in [0.25, 0.5] {
                let settings = Settings { voxel_scale: scale, ..Settings::default() };
                let made = shape.among(&settings, &solids).expect("a surface");
                assert_closed(&made);
                let farthest =
                    made.points.iter().map(|p| along(p.as_dvec3()) - half).fold(f64::MIN, f64::max);
                let at_plate = |p: &&Vec3| {
                    let p = p.as_dvec3();
                    p.y > 2.0 * H && p.y < 0.6 - 3.0 * H && p.z.abs() < 0.4 - 1.5 * H
                };
                let into = made.points.iter().filter(at_plate).map(|p| along(p.as_dvec3()) + half);
                let nearest = into.filter(|into| *into > -0.75 * H).fold(f64::MAX, f64::min) / H;
                println!("{nearest} into");
                assert!(nearest > 0.0, "{thickness} voxels at {offset}, turned by {turn}: {nearest} into it");
                println!("{thickness} {coarse} {offset} {turn} {scale}: {:.3} voxels out", farthest / H);
                assert!(
                    farthest < 0.02 * H,
                    "{thickness} voxels at {offset}, turned by {turn}: {} out",
                    farthest / H
                );
            }
        }
    }
}
