//! What still water does to bodies of known volume, wherever on the lattice they lie.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Moved, Piece, Twist};
use crate::coupling::memory::BubbleMemory;
use crate::coupling::projection::Projection;
use crate::levelset::fractions::cell_inside;
use glam::DQuat;
use std::f64::consts::PI;

const DT: f64 = 0.01;
const H: f64 = 0.02;
/// Cells of the tank along an edge; the water stands two cells lower.
const TANK: i32 = 20;
/// A level of the water above all forms, m.
const DEEP: f64 = (TANK - 2) as f64 * H;

/// A solid: its distance from its middle, m, and its volume, m³.
struct Form {
    name: &'static str,
    distance: Box<dyn Fn(DVec3) -> f64 + Sync>,
    volume: f64,
}

fn cuboid(half: DVec3, turn: DQuat) -> impl Fn(DVec3) -> f64 + Sync {
    move |p| {
        let q = (turn.inverse() * p).abs() - half;
        q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
    }
}

fn forms() -> Vec<Form> {
    let cuboid_of = |name, cells: DVec3, turn: DQuat| Form {
        name,
        distance: Box::new(cuboid(0.5 * H * cells, turn)),
        volume: (H * cells).element_product(),
    };
    let ball = |name, r: f64| Form {
        name,
        distance: Box::new(move |p: DVec3| p.length() - r * H),
        volume: 4.0 / 3.0 * PI * (r * H).powi(3),
    };
    let turned = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 0.7, 0.2);
    vec![
        cuboid_of("box", DVec3::new(6.3, 4.7, 5.5), DQuat::IDENTITY),
        cuboid_of("plate", DVec3::new(8.0, 1.5, 8.0), DQuat::IDENTITY),
        cuboid_of("plate on edge", DVec3::new(1.6, 6.2, 7.0), DQuat::IDENTITY),
        cuboid_of("box turned a little", DVec3::new(8.2, 4.0, 6.0), DQuat::from_rotation_z(0.06)),
        cuboid_of("turned box", DVec3::new(7.0, 5.0, 6.0), turned),
        ball("small ball", 2.5),
        ball("ball", 4.0),
    ]
}

/// A body in still water on which gravity along -axis has acted, held where it is by whatever holds it.
fn held(form: &Form, middle: DVec3, axis: usize, mass: f64) -> Moved {
    solved(form, middle, axis, DEEP, (mass, 0.0))
}

/// The same, free to move.
fn let_go(form: &Form, middle: DVec3, axis: usize, mass: f64) -> Moved {
    solved(form, middle, axis, DEEP, (mass, -GRAVITY * DT))
}

/// A body of some mass and velocity along an axis without the solve.
fn solved(form: &Form, middle: DVec3, axis: usize, level: f64, (mass, kick): (f64, f64)) -> Moved {
    let projected = projected(form, middle, axis, (&|p: DVec3| p[axis] - level, None), (mass, kick));
    projected.bodies[0].clone()
}

/// The same in a liquid of this level set, where its gaps were liquid in the substep that left this memory.
fn projected(
    form: &Form,
    middle: DVec3,
    axis: usize,
    (liquid, memory): (&(dyn Fn(DVec3) -> f64 + Sync), Option<&BubbleMemory>),
    (mass, kick): (f64, f64),
) -> Projection {
    let size = IVec3::splat(TANK);
    let mut walled = [true; 6];
    walled[2 * axis + 1] = false;
    let body = |p: DVec3| (form.distance)(p - middle);
    let scene = Scene::still(H, size, walled, liquid, body)
        .with_velocity(|a, _| if a == axis { -GRAVITY * DT } else { 0.0 });
    let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
        u32::from(body(scene.transform.face_centre(a, c)) < H)
    });
    let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
    let twists = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
    // The radius of gyration of a ball of three voxels.
    let of = |n: usize| if n < 3 { mass } else { 0.4 * mass * (3.0 * H).powi(2) };
    let mass: Vec<f64> = (0..36).map(|n| if n / 6 == n % 6 { of(n / 6) } else { 0.0 }).collect();
    let mut velocity = vec![0.0; 6];
    velocity[axis] = kick;
    let pieces = vec![Piece { pivot: middle, twists }];
    let bodies = [Body { velocity, before: Some(vec![0.0; 6]), mass: mass.into(), pieces: pieces.into() }];
    let mut fields = scene.fields();
    fields.kick[axis] = -GRAVITY * DT;
    fields.bodies = Some(Bodies {
        bodies: &bodies,
        constraints: &[],
        owner: &owner,
        left_by_first: &scene.volume,
        room: None,
        pieces: &[Some((0, 0))],
    });
    let mut vel = scene.vel.clone();
    fields.previous_bubbles = memory;
    fields.volume_gain = 18.4;
    let projected =
        constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    if kick == 0.0 && memory.is_none() {
        let fastest = scene.fastest(&vel) / (GRAVITY * DT);
        assert!(fastest < 1e-4, "still water stays still beside a {}", form.name);
    }
    projected
}

/// The volume of a form as its distances at the nodes of the cells tell it, m³.
fn sampled(form: &Form, middle: DVec3) -> f64 {
    moments(form, middle).0
}

/// The same, and its middle with all of a cell in the cell's middle, m.
fn moments(form: &Form, middle: DVec3) -> (f64, DVec3) {
    let transform = Transform::uniform(H, DVec3::ZERO);
    let n = TANK as usize;
    let inside = |i: usize| {
        let c = IVec3::new((i / n / n) as i32, (i / n % n) as i32, (i % n) as i32);
        let corner = |k: usize| {
            let node =
                c.as_dvec3() - 0.5 + IVec3::new(k as i32 & 1, k as i32 >> 1 & 1, k as i32 >> 2).as_dvec3();
            let phi = (form.distance)(transform.to_world(node) - middle);
            if phi.abs() < 1e-9 * H { 0.0 } else { phi as f32 }
        };
        (f64::from(cell_inside(std::array::from_fn(corner))), transform.to_world(c.as_dvec3()))
    };
    let cells: Vec<(f64, DVec3)> = (0..n * n * n).map(inside).collect();
    let sum: f64 = cells.iter().map(|(share, _)| share).sum();
    (sum * H.powi(3), cells.iter().map(|(share, at)| *share * *at).sum::<DVec3>() / sum)
}

/// [Archimedes]: the force is the weight of the displaced water, and it acts in its middle. What the lattice sees of a body is
/// what it displaces, all of a cell in the cell's middle.
#[test]
fn a_body_held_under_water_is_pushed_by_the_weight_of_what_it_displaces_anywhere_on_the_lattice() {
    for form in forms() {
        let mut worst = [0.0f64; 2];
        for n in 0..6 {
            let axis = n % 3;
            let middle = H * (DVec3::new(9.0, 9.37, 9.71) + f64::from(n as u8) / 6.0);
            let moved = held(&form, middle, axis, 1e9);
            let (volume, centre) = moments(&form, middle);
            let weight = WATER * GRAVITY * volume;
            let force = moved.impulse[axis] / DT;
            let expected = (centre - middle).cross(weight * DVec3::AXES[axis]);
            let moment = (DVec3::from_slice(&moved.impulse[3..]) / DT - expected).length();
            worst = [worst[0].max((force / weight - 1.0).abs()), worst[1].max(moment / (weight * H))];
        }
        println!("{}: force off by {:.5}, moment {:.4} voxels", form.name, worst[0], worst[1]);
        assert!(worst[0] < 1e-3, "{}: the force is off by {}", form.name, worst[0]);
        assert!(worst[1] < 2e-3, "{}: the force acts {} voxels beside its middle", form.name, worst[1]);
    }
}

/// Particles that lag behind a body's wall leave gaps there for a substep, which no air has entered.
#[test]
fn a_gap_that_opens_behind_a_body_does_not_suck_at_it() {
    let form = &forms()[0];
    for axis in 0..3 {
        let middle = H * (DVec3::new(9.0, 9.37, 9.71) + axis as f64 / 6.0);
        let level = |p: DVec3| p[axis] - DEEP;
        let whole = projected(form, middle, axis, (&level, None), (1e9, 0.0));
        // The first cell below the body whose centre is outside it.
        let half = 0.5 * H * DVec3::new(6.3, 4.7, 5.5)[axis];
        let mut gap = H * ((middle / H).floor() + 0.5);
        gap[axis] = H * (((middle[axis] - half) / H - 0.7).floor() + 0.5);
        let torn = |p: DVec3| level(p).max(0.3 * H - p.distance(gap));
        let after = projected(form, middle, axis, (&torn, Some(&whole.memory)), (1e9, 0.0));
        assert_eq!(after.bubbles.iter().filter(|b| !b.exterior).count(), 1, "the gap is one");
        let [before, after] = [&whole, &after].map(|p| p.bodies[0].impulse[axis]);
        assert!((after / before - 1.0).abs() < 0.05, "axis {axis}: {after} N s of {before}");
    }
}

/// A body as heavy as the water it displaces falls no faster than that.
#[test]
fn a_body_that_weighs_what_it_displaces_stays_where_it_is() {
    for form in forms() {
        let middle = H * DVec3::new(9.1, 9.47, 9.81);
        let mass = WATER * sampled(&form, middle);
        let moved = let_go(&form, middle, 1, mass);
        let speed = DVec3::from_slice(&moved.velocity).length() / (GRAVITY * DT);
        println!("{}: {speed:.6} of a fall", form.name);
        assert!(speed < 5e-3, "{}: it moves at {speed} of a fall", form.name);
    }
}

/// The same afloat: what is under the level counts, to a fiftieth of a voxel.
#[test]
fn a_box_held_half_under_water_is_pushed_by_what_is_under_it_wherever_bottom_and_level_lie() {
    let cells = DVec3::new(7.3, 5.6, 6.4);
    let cuboid = cuboid(0.5 * H * cells, DQuat::IDENTITY);
    let form = Form { name: "box", distance: Box::new(cuboid), volume: (H * cells).element_product() };
    let area = cells.x * cells.z * H * H;
    for n in 0..6 {
        let middle = H * DVec3::new(9.1, 9.47 + 0.3 * f64::from(n), 9.81);
        let whole = sampled(&form, middle) / form.volume;
        for level in [-0.3, 0.1, 0.4].map(|above| middle.y + above * H) {
            let moved = solved(&form, middle, 1, level, (1e9, 0.0));
            let measured = moved.impulse[1] / DT / (WATER * GRAVITY * whole * area);
            let off = (measured - (level - middle.y + 0.5 * H * cells.y)) / H;
            assert!(off.abs() < 0.02, "{n}: off by {off} voxels of depth");
        }
    }
}
