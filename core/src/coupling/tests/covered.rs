//! Bodies whose walls touch other solids: what presses there, and what does not pass.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Moved, Piece, Twist};
use crate::levelset::SignedDistance;
use crate::solid::{Collider, Motion, cut_leaves, rasterise};
use glam::DQuat;

const DT: f64 = 0.01;
const H: f64 = 0.02;
/// Cells of the tank along an edge; the water stands two cells lower.
const TANK: i32 = 20;
const DEEP: f64 = (TANK - 2) as f64 * H;

fn cuboid(middle: DVec3, size: DVec3, turn: DQuat) -> impl Fn(DVec3) -> f64 + Sync {
    move |p| {
        let q = (turn.inverse() * (p - middle)).abs() - 0.5 * size;
        q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
    }
}

fn solid(distance: &(dyn Fn(DVec3) -> f64 + Sync)) -> Collider {
    let own = Transform::uniform(0.5 * H, DVec3::splat(-4.0 * H));
    let sdf = SignedDistance::from_fn(&own, IVec3::ZERO, IVec3::splat(2 * TANK + 16), 3.0, distance);
    Collider::new(Arc::new(sdf), own, Motion::Static)
}

type Distance<'a> = &'a (dyn Fn(DVec3) -> f64 + Sync);

/// What a body gets from water on which gravity along -axis has acted, and the water's velocity; `solids` stand still, `above` says
/// where the water ends below. The body has `mass` and the velocity `kick` without the solve.
fn solved(
    (body, middle): (Distance, DVec3),
    solids: &[Distance],
    (axis, above): (usize, f64),
    (mass, kick): (f64, f64),
) -> (Moved, f64) {
    let mut walled = [true; 6];
    walled[2 * axis + 1] = false;
    let water = |p: DVec3| (p[axis] - DEEP).max(above - p[axis]);
    let mut scene = Scene::still(H, IVec3::splat(TANK), walled, water, empty)
        .with_velocity(|a, _| if a == axis { -GRAVITY * DT } else { 0.0 });
    let colliders: Vec<Collider> =
        [solid(body).as_body()].into_iter().chain(solids.iter().map(|s| solid(s))).collect();
    let cut = cut_leaves(&colliders, &scene.domain, &scene.transform);
    let topology = Arc::new(scene.vel.topology.union(&cut));
    let fields = rasterise(&colliders, &scene.domain, &topology, &scene.transform);
    (scene.open, scene.vel_solid, scene.volume) =
        (fields.open, fields.velocity, fields.left_by_first.unwrap());
    let owner = fields.owner.unwrap();
    let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
    let twists = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
    let of = |n: usize| if n < 3 { mass } else { 0.4 * mass * (3.0 * H).powi(2) };
    let masses: Vec<f64> = (0..36).map(|n| if n / 6 == n % 6 { of(n / 6) } else { 0.0 }).collect();
    let mut velocity = vec![0.0; 6];
    velocity[axis] = kick;
    let pieces = vec![Piece { pivot: middle, twists }];
    let bodies = [Body { velocity, before: Some(vec![0.0; 6]), mass: masses.into(), pieces: pieces.into() }];
    let mut fields = scene.fields();
    fields.kick[axis] = -GRAVITY * DT;
    let pieces = vec![Some((0, 0)); 1].into_iter().chain(solids.iter().map(|_| None)).collect::<Vec<_>>();
    let (constraints, left_by_first) = (&[], &scene.volume);
    fields.bodies = Some(Bodies {
        bodies: &bodies,
        constraints,
        owner: &owner,
        left_by_first,
        room: None,
        pieces: &pieces,
    });
    let mut vel = scene.vel.clone();
    let projected = free_surface::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    assert!(projected.info.converged && projected.max_divergence < 1e-6);
    (projected.bodies[0].clone(), scene.fastest(&vel))
}

/// Where the tank's middle is across an axis, and `up` along it, m.
fn at(axis: usize, up: f64) -> DVec3 {
    let mut at = DVec3::new(9.7, 10.2, 9.9) * H;
    at[axis] = up;
    at
}

/// The impulse of water on a body that is held far above any floor.
fn hovering(body: Distance, middle: DVec3, axis: usize) -> DVec3 {
    let (moved, _) = solved((body, middle), &[], (axis, -1.0), (1e9, 0.0));
    DVec3::from_slice(&moved.impulse[..3])
}

/// Water pushes a box on a floor, anywhere between two planes of faces, as it does without the floor: it presses under it.
#[test]
fn water_presses_under_what_stands_on_a_floor() {
    for axis in 0..3 {
        for (n, floor) in [3.0, 3.15, 3.37, 3.5, 3.62, 3.81, 3.98].into_iter().enumerate() {
            let size = [DVec3::new(6.3, 5.4, 7.2), DVec3::new(10.0, 8.0, 9.0)][n % 2] * H;
            let middle = at(axis, floor * H + 0.5 * size[axis]);
            let body = cuboid(middle, size, DQuat::IDENTITY);
            let below = |p: DVec3| p[axis] - floor * H;
            let (moved, fastest) = solved((&body, middle), &[&below], (axis, -1.0), (1e9, 0.0));
            let free = hovering(&body, middle, axis);
            let off = (DVec3::from_slice(&moved.impulse[..3]) - free).length() / free.length();
            assert!(off < 1e-2, "axis {axis}, floor {floor}: {off} of its water's weight");
            assert!(
                fastest < 1e-6 * GRAVITY * DT,
                "axis {axis}, floor {floor}: water flows at {fastest} m/s"
            );
        }
    }
}

/// The same where the floor is a side of the domain, and where a body reaches a little into it.
#[test]
fn water_presses_under_what_stands_on_a_side() {
    let size = DVec3::new(6.3, 5.4, 7.2) * H;
    for axis in 0..3 {
        for over in [0.0, 0.03, 0.07] {
            let middle = at(axis, 0.5 * size[axis] - over * H);
            let body = cuboid(middle, size, DQuat::IDENTITY);
            let (moved, _) = solved((&body, middle), &[], (axis, -1.0), (1e9, 0.0));
            let higher = at(axis, 0.5 * size[axis] + (4.0 - over) * H);
            let free = hovering(&cuboid(higher, size, DQuat::IDENTITY), higher, axis);
            let off = (DVec3::from_slice(&moved.impulse[..3]) - free).length() / free.length();
            assert!(off < 0.01, "axis {axis}, {over} voxels in it: {off} of its water's weight");
        }
    }
}

/// On slopes, too: up, and not along the slope.
#[test]
fn water_presses_under_what_stands_on_a_slope() {
    for degrees in [5.0f64, 12.0, 20.0, 33.0, 45.0] {
        let turn = DQuat::from_rotation_z(degrees.to_radians());
        let size = DVec3::new(7.0, 6.0, 7.5) * H;
        let foot = DVec3::new(10.1, 6.3, 9.9) * H;
        let middle = foot + turn * (0.5 * size.y * DVec3::Y);
        let body = cuboid(middle, size, turn);
        let slope = |p: DVec3| (turn.inverse() * (p - foot)).y;
        let (moved, _) = solved((&body, middle), &[&slope], (1, -1.0), (1e9, 0.0));
        let free = hovering(&body, middle, 1);
        let off = (DVec3::from_slice(&moved.impulse[..3]) - free) / free.length();
        println!("{degrees}°: {off}");
        assert!(off.length() < 0.03, "{degrees}°: {off}");
    }
}

/// A body as heavy as the water that it displaces stays on the floor that it lies on; one of half that mass leaves it.
#[test]
fn a_neutral_body_stays_where_it_touches() {
    for axis in 0..3 {
        for floor in [3.0, 3.3, 3.77] {
            let size = DVec3::new(6.0, 5.0, 7.0) * H;
            let middle = at(axis, floor * H + 0.5 * size[axis]);
            let body = cuboid(middle, size, DQuat::IDENTITY);
            let below = |p: DVec3| p[axis] - floor * H;
            let kick = GRAVITY * DT;
            let mass = hovering(&body, middle, axis)[axis] / kick;
            let (moved, _) = solved((&body, middle), &[&below], (axis, -1.0), (mass, -kick));
            let off = moved.velocity[axis] / kick;
            assert!(off.abs() < 0.01, "axis {axis}, floor {floor}: it goes at {off} g dt");
            let (moved, _) = solved((&body, middle), &[&below], (axis, -1.0), (0.5 * mass, -kick));
            let rises = moved.velocity[axis] / kick;
            assert!((0.1..1.0).contains(&rises), "axis {axis}, floor {floor}: it rises at {rises} g dt");
        }
    }
}

/// A lid on the hole of a plate: nothing passes, and the water presses it on, by its column over the hole at least and over the
/// lid at most.
#[test]
fn a_lid_holds_the_water_above_it() {
    for axis in 0..3 {
        for (plate, thick) in [(8.0, 2.0), (7.3, 1.6), (7.6, 2.4)] {
            let hole = |p: DVec3| {
                let off = (p - at(axis, 0.0)).abs();
                let across = [off[(axis + 1) % 3], off[(axis + 2) % 3]];
                4.0 * H - across[0].max(across[1])
            };
            let wall = move |p: DVec3| {
                let slab = (p[axis] - plate * H).max((plate - 2.0) * H - p[axis]);
                slab.max(hole(p))
            };
            let mut size = DVec3::splat(12.0 * H);
            size[axis] = thick * H;
            let middle = at(axis, (plate + 0.5 * thick) * H);
            let lid = cuboid(middle, size, DQuat::IDENTITY);
            let (moved, fastest) = solved((&lid, middle), &[&wall], (axis, (plate - 0.5) * H), (1e9, 0.0));
            assert!(
                fastest < 1e-3 * GRAVITY * DT,
                "axis {axis}, plate {plate}: water flows at {fastest} m/s"
            );
            let column = WATER * (DEEP - (plate + thick) * H) * GRAVITY * DT;
            let pressed = -moved.impulse[axis] / column;
            let areas = [8.0f64, 12.0].map(|edge| (edge * H).powi(2));
            println!("axis {axis}, plate {plate}: {} of the lid", pressed / areas[1]);
            assert!(
                pressed > 0.95 * areas[0] && pressed < 1.05 * areas[1],
                "axis {axis}, plate {plate}: {pressed} m², between {areas:?}"
            );
        }
    }
}
