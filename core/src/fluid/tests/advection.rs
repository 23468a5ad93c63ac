use super::*;
use crate::fluid::transport::advection::{AdvectionParams, Way, advect};
use crate::grid::{Coord, FaceGrid, Topology};
use crate::levelset::SignedDistance;
use crate::solid::{Collider, DomainLimits, Motion, Side, Solids};
use glam::{DMat3, IVec3};
use proptest::prelude::*;

fn field(lo: i32, hi: i32, u: impl Fn(DVec3) -> DVec3 + Sync) -> FaceGrid<f32> {
    let (first, last) = (lo >> 3, hi >> 3);
    let range = || first..=last;
    let leaves =
        range().flat_map(|x| range().flat_map(move |y| range().map(move |z| IVec3::new(x, y, z) * 8)));
    let topology = Arc::new(Topology::new(leaves.collect()));
    FaceGrid::from_fn(topology, 0.0, |axis, c: Coord| u(transform().face_centre(axis, c))[axis] as f32)
}

fn collider(low: f64, high: f64, motion: Motion, distance: impl Fn(DVec3) -> f64 + Sync) -> Collider {
    let lattice = Transform::uniform(H, DVec3::ZERO);
    let voxel = |x: f64| Coord::splat((x / H) as i32);
    let sdf = SignedDistance::from_fn(&lattice, voxel(low), voxel(high), 3.0, distance);
    Collider::new(Arc::new(sdf), lattice, motion)
}

fn single(x: Vec3, v: Vec3) -> Particles {
    let mut p = Particles::new(DVec3::ZERO);
    p.push(particle(x, v, 0));
    p
}

#[test]
fn a_turn_brings_particles_back() {
    let u = field(-16, 15, |x| DVec3::new(-x.y, x.x, 0.0));
    let domain = DomainLimits::unbounded();
    let solids = Solids { colliders: &[], domain: &domain };
    let error = |steps: usize| {
        let mut p = single(Vec3::new(0.7, 0.2, 0.3), Vec3::ZERO);
        let dt = std::f64::consts::TAU / steps as f64;
        for _ in 0..steps {
            advect(&mut p, &Way::through(&u, transform(), dt), &solids, &AdvectionParams::default());
        }
        p.position[0].distance(Vec3::new(0.7, 0.2, 0.3))
    };
    let (coarse, fine) = (error(24), error(48));
    assert!(fine < 5e-4, "{fine}");
    assert!(coarse / fine > 6.0, "third order: {coarse} {fine}");
}

#[test]
fn newborn_particles_move_on_their_own() {
    let u = field(0, 7, |_| DVec3::X);
    let domain = DomainLimits::unbounded();
    let solids = Solids { colliders: &[], domain: &domain };
    let mut p = single(Vec3::splat(0.4), Vec3::Y);
    let way = Way { born_from: 0, ..Way::through(&u, transform(), 0.1) };
    advect(&mut p, &way, &solids, &AdvectionParams::default());
    assert!((p.position[0] - Vec3::new(0.4, 0.5, 0.4)).length() < 1e-6);
}

/// Along a floor, or along the edge of two walls, particles come to the wall in their way, and lose the speed into it: in a corner
/// the nearest wall is not the one that is hit.
#[test]
fn what_slides_along_walls_comes_into_their_corner() {
    let corner = DVec3::new(-0.613, -0.509, -0.377);
    let domain = DomainLimits::uniform(corner, corner + 4.0, Side::Closed);
    let solids = Solids { colliders: &[], domain: &domain };
    let params = AdvectionParams::default();
    let rim = params.separation * H;
    for turn in 0..3 {
        let turned = |x: f64, y: f64, z: f64| DVec3::from([[x, y, z], [z, x, y], [y, z, x]][turn]);
        for (away, aside) in
            [(0.06, 2.0), (0.145, 2.0), (0.145, rim / H), (0.7, rim / H), (3.0, 1e-9 + rim / H)]
        {
            for down in [0.0, 0.01, 1.0] {
                let v = turned(-3.0, -down, 0.0).as_vec3();
                let u = field(-32, 63, |_| v.as_dvec3());
                let start = corner + turned(away * H, rim, aside * H);
                let mut p = single(start.as_vec3(), v);
                advect(&mut p, &Way::through(&u, transform(), 0.2), &solids, &params);
                let (end, v) = (p.position[0].as_dvec3() - corner, p.velocity[0]);
                let (forth, speed) = (end[turn], f64::from(v[turn]));
                assert!(
                    (forth - rim).abs() < 1e-5,
                    "turn {turn}, {away} {aside} {down}: {end} from the corner"
                );
                assert!(speed > -1e-4, "turn {turn}, {away} {aside} {down}: {v} m/s");
                assert!(end.min_element() > 0.99 * rim, "turn {turn}: {end} from the corner");
            }
        }
    }
}

/// A jet that outruns its own velocity field keeps its way: ahead of it that holds nothing.
#[test]
fn what_flies_farther_than_velocity_is_known_flies_on() {
    let known = |x: DVec3| if x.x < 0.9 { DVec3::X * 30.0 } else { DVec3::ZERO };
    let u = field(-16, 63, known);
    let domain = DomainLimits::unbounded();
    let solids = Solids { colliders: &[], domain: &domain };
    let run = |speed: f32, dt: f64| {
        let mut p = single(Vec3::splat(0.4), Vec3::X * speed);
        let way = Way { reach: 4.0, ..Way::through(&u, transform(), dt) };
        advect(&mut p, &way, &solids, &AdvectionParams::default());
        p.position[0].x - 0.4
    };
    // 30 voxels, and one and a half, which the field alone decides.
    assert!((run(30.0, 0.1) - 3.0).abs() < 1e-4, "{}", run(30.0, 0.1));
    assert!((run(40.0, 0.005) - 0.15).abs() < 1e-4, "{}", run(40.0, 0.005));
}

#[test]
fn sides_hold_pass_or_kill() {
    let u = field(-16, 23, |_| DVec3::new(3.0, 3.0, 0.0));
    let mut domain = DomainLimits::uniform(DVec3::ZERO, DVec3::ONE, Side::Open);
    let run = |domain: &DomainLimits| {
        let solids = Solids { colliders: &[], domain };
        let mut p = single(Vec3::new(0.9, 0.5, 0.5), Vec3::new(3.0, 3.0, 0.0));
        let selection =
            advect(&mut p, &Way::through(&u, transform(), 0.1), &solids, &AdvectionParams::default());
        assert_eq!(selection.source.len(), p.len());
        p
    };
    assert!((run(&domain).position[0].x - 1.2).abs() < 1e-5);
    domain.sides[1] = Side::Kill;
    assert!(run(&domain).is_empty());
    domain.sides[1] = Side::Closed;
    let p = run(&domain);
    assert!((p.position[0] - Vec3::new(0.995, 0.8, 0.5)).length() < 1e-4, "slides: {}", p.position[0]);
    assert!((p.velocity[0] - Vec3::new(0.0, 3.0, 0.0)).length() < 1e-5);
}

#[test]
fn a_moving_wall_sweeps_particles_before_it() {
    let u = field(0, 15, |_| DVec3::ZERO);
    let domain = DomainLimits::unbounded();
    // A thin plate that ends the substep at y = 0.85 and came from y = 0.45.
    let motion = Motion::Rigid { linear: DVec3::Y * 4.0, angular: DVec3::ZERO, pivot: DVec3::ZERO };
    let plate = [collider(0.0, 1.6, motion, |x| (x.y - 0.85).abs() - 0.05)];
    let solids = Solids { colliders: &plate, domain: &domain };
    let mut p = single(Vec3::new(0.8, 0.7, 0.8), Vec3::ZERO);
    for _ in 0..1 {
        advect(&mut p, &Way::through(&u, transform(), 0.1), &solids, &AdvectionParams::default());
    }
    assert!(p.position[0].y > 0.9, "{}", p.position[0]);
    assert!(p.velocity[0].y > 3.9, "{}", p.velocity[0]);
}

#[test]
fn a_hollow_wall_holds_no_particle_back() {
    let u = field(-16, 15, |x| DVec3::new(-x.y, x.x, 0.0));
    let domain = DomainLimits::unbounded();
    let (radius, params) = (0.9, AdvectionParams::default());
    let pipe = [collider(-1.5, 1.5, Motion::Static, |x| radius - x.truncate().length())];
    let solids = Solids { colliders: &pipe, domain: &domain };
    // A turn with the flow, in substeps of a sixth of a voxel to two voxels.
    for steps in [360, 90, 30] {
        let start = Vec3::new((radius - params.separation * H) as f32, 0.0, 0.0);
        let mut p = single(start, Vec3::Y * start.x);
        let (mut angle, mut before) = (0.0, start);
        for _ in 0..steps {
            advect(
                &mut p,
                &Way::through(&u, transform(), std::f64::consts::TAU / steps as f64),
                &solids,
                &params,
            );
            let x = p.position[0];
            angle += before.truncate().angle_to(x.truncate());
            before = x;
            let distance = pipe[0].distance(x.as_dvec3());
            assert!(distance > 0.0 && distance < 0.3 * H, "{distance} m from the wall");
        }
        let turn = f64::from(angle) / std::f64::consts::TAU;
        assert!((turn - 1.0).abs() < 0.03, "{turn} turns in {steps} substeps");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_particle_enters_a_ball(x in 0.3f32..1.3, y in 0.3f32..1.3, z in 0.3f32..1.3, u in -8f64..8.0, v in -8f64..8.0, w in -8f64..8.0) {
        let centre = DVec3::splat(0.8);
        let distance = |p: DVec3| (p - centre).length() - 0.35;
        let start = Vec3::new(x, y, z);
        prop_assume!(distance(start.as_dvec3()) > 0.01);
        let flow = field(-16, 31, |_| DVec3::new(u, v, w));
        let ball = [collider(0.0, 1.6, Motion::Static, distance)];
        let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(1.6), Side::Closed);
        let solids = Solids { colliders: &ball, domain: &domain };
        let mut p = single(start, DVec3::new(u, v, w).as_vec3());
        for _ in 0..3 {
            advect(&mut p, &Way::through(&flow, transform(), 0.05), &solids, &AdvectionParams::default());
            let end = p.position[0].as_dvec3();
            prop_assert!(ball[0].distance(end) > 0.0, "{} inside the ball", end);
            prop_assert!(domain.contains(end));
        }
    }

    #[test]
    fn no_particle_crosses_a_wall_one_voxel_thin(
        yaw in 0f64..6.3, pitch in -1.5f64..1.5, offset in -0.3f64..0.3,
        x in 0.3f32..1.3, y in 0.3f32..1.3, z in 0.3f32..1.3, speed in 0f64..12.0,
    ) {
        let normal = DMat3::from_rotation_y(yaw) * DMat3::from_rotation_z(pitch) * DVec3::X;
        let side = |p: DVec3| (p - 0.8).dot(normal) - offset;
        let wall = [collider(-1.6, 3.2, Motion::Static, |p| side(p).abs() - 0.5 * H)];
        let start = Vec3::new(x, y, z);
        let before = side(start.as_dvec3());
        prop_assume!(before.abs() > 0.6 * H);
        // Straight at the wall, up to six voxels a step.
        let u = -normal * before.signum() * speed;
        let flow = field(-16, 31, |_| u);
        let domain = DomainLimits::unbounded();
        let solids = Solids { colliders: &wall, domain: &domain };
        let mut p = single(start, u.as_vec3());
        for _ in 0..3 {
            advect(&mut p, &Way::through(&flow, transform(), 0.05), &solids, &AdvectionParams::default());
            prop_assert_eq!(side(p.position[0].as_dvec3()).signum(), before.signum());
            prop_assert!(wall[0].distance(p.position[0].as_dvec3()) > 0.0);
        }
    }
}
