//! Joints and contacts of bodies inside the solve: what lies, hangs or is stopped under water.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Constraint, Moved, Piece, Twist};

const DT: f64 = 0.01;
const H: f64 = 0.02;
const CONTACT: [f64; 2] = [0.0, f64::INFINITY];
const JOINT: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Boxes of given middles and half sizes, cells, in a tank of 14 × 20 × 14 with water up to `level`; gravity has acted.
struct Tank {
    scene: Scene,
    owner: FaceGrid<u32>,
    bodies: Vec<Body>,
    pieces: Vec<Option<(usize, usize)>>,
}

/// A box: middle and half size, cells; density, kg/m³.
type Block = (DVec3, DVec3, f64);

impl Tank {
    fn new(blocks: &[Block], level: f64) -> Self {
        Self::of_parts(blocks, blocks, level)
    }

    /// `solids`: what the water sees of the blocks.
    fn of_parts(blocks: &[Block], solids: &[Block], level: f64) -> Self {
        let away = move |(middle, half, _): &Block, p: DVec3| {
            let q = (p / H - *middle).abs() - *half;
            H * (q.max(DVec3::ZERO).length() + q.max_element().min(0.0))
        };
        let (own, seen): (Vec<Block>, Vec<Block>) = (blocks.to_vec(), solids.to_vec());
        let solid = |p: DVec3| seen.iter().map(|b| away(b, p)).fold(f64::MAX, f64::min);
        let (size, walled) = (IVec3::new(14, 20, 14), [true, true, true, false, true, true]);
        let scene = Scene::still(H, size, walled, |p| p.y - level * H, solid).falling(DT);
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
            let p = scene.transform.face_centre(a, c);
            let nearest = (0..own.len()).min_by(|&i, &j| away(&own[i], p).total_cmp(&away(&own[j], p)));
            nearest.filter(|&n| away(&own[n], p) < H).map_or(0, |n| n as u32 + 1)
        });
        let body = |&(middle, half, density): &Block| {
            let mass = density * (2.0 * H * half).element_product();
            let turning = |i: usize| {
                let (a, b) = (half[(i + 1) % 3] * H, half[(i + 2) % 3] * H);
                mass / 3.0 * (a * a + b * b)
            };
            let of = |n: usize| if n < 3 { mass } else { turning(n - 3) };
            let unit = |n: usize, of: usize| if n / 3 == of { DVec3::AXES[n % 3] } else { DVec3::ZERO };
            let twists = (0..6).map(|n| Twist { linear: unit(n, 0), angular: unit(n, 1) }).collect();
            let mut velocity = vec![0.0; 6];
            velocity[1] = -GRAVITY * DT;
            Body {
                velocity,
                before: Some(vec![0.0; 6]),
                mass: (0..36)
                    .map(|n| if n / 6 == n % 6 { of(n / 6) } else { 0.0 })
                    .collect::<Vec<f64>>()
                    .into(),
                pieces: vec![Piece { pivot: middle * H, twists }].into(),
            }
        };
        let pieces = (0..blocks.len()).map(|b| Some((b, 0))).collect();
        Self { scene, owner, bodies: blocks.iter().map(body).collect(), pieces }
    }

    fn solve(&self, constraints: &[Constraint]) -> (FaceGrid<f32>, Projection) {
        let (bodies, left_by_first) = (self.bodies.as_slice(), &self.scene.volume);
        let mut fields = self.scene.fields();
        fields.kick.y = -GRAVITY * DT;
        fields.bodies = Some(Bodies {
            bodies,
            constraints,
            owner: &self.owner,
            left_by_first,
            room: None,
            pieces: &self.pieces,
        });
        let mut vel = self.scene.vel.clone();
        let projected =
            free_surface::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
        assert!(projected.constraints.settled, "{:?}", projected.constraints);
        (vel, projected)
    }
}

/// The speed at a place of a body (its middle in cells) along a direction, as a row.
fn at(body: usize, middle: DVec3, place: DVec3, way: DVec3) -> Vec<(usize, usize, f64)> {
    let turn = (H * (place - middle)).cross(way);
    let values = way.to_array().into_iter().chain(turn.to_array());
    values.enumerate().map(|(i, v)| (body, i, v)).filter(|e| e.2 != 0.0).collect()
}

fn row(entries: Vec<(usize, usize, f64)>, range: [f64; 2]) -> Constraint {
    Constraint { entries, range, ..Constraint::default() }
}

fn corners(block: &Block, up: f64) -> Vec<DVec3> {
    let (middle, half, _) = block;
    let corner = |(x, z): (f64, f64)| *middle + *half * DVec3::new(x, up, z);
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner).to_vec()
}

fn velocity(moved: &Moved) -> f64 {
    moved.velocity.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// What lies carries its weight less its buoyancy to what it lies on, and what floats up against a lid the rest of its buoyancy;
/// nothing moves. Both from a guess that says nothing presses.
#[test]
fn what_lies_or_is_held_down_under_water_stays_and_its_contact_carries_the_difference() {
    for (density, up, told) in
        [(2500.0, 1.0, 0.0), (2500.0, 1.0, 1.0), (300.0, -1.0, 0.0), (300.0, -1.0, 1.0)]
    {
        let block: Block = (DVec3::new(6.6, 8.3, 7.1), DVec3::new(2.7, 2.2, 3.1), density);
        let tank = Tank::new(&[block], 17.0);
        let contact = |place: DVec3| {
            let entries = at(0, block.0, place, up * DVec3::Y);
            Constraint { pressed: told, ..row(entries, CONTACT) }
        };
        let rows: Vec<Constraint> = corners(&block, -up).into_iter().map(contact).collect();
        let (vel, projected) = tank.solve(&rows);
        let moved = &projected.bodies[0];
        assert!(velocity(moved) < 1e-7 * GRAVITY * DT, "{density}: {moved:?}");
        assert!(tank.scene.fastest(&vel) < 1e-4 * GRAVITY * DT, "{density}: the water moves");
        // What the lattice sees of it: it cuts off its edges.
        let seen: f64 = tank.scene.volume.values.iter().map(|&open| 1.0 - f64::from(open)).sum();
        let displaced = seen * H.powi(3) * WATER * GRAVITY * DT;
        let weight = (2.0 * H * block.1).element_product() * density * GRAVITY * DT;
        let carried: f64 = projected.constraints.impulses.iter().sum();
        let expected = (weight - displaced).abs();
        assert!((carried / expected - 1.0).abs() < 0.01, "{density}: {carried} N s, not {expected}");
        // The liquid gives what it gives a body that is held in any other way.
        assert!((moved.impulse[1] / displaced - 1.0).abs() < 0.01);
        assert_eq!(projected.constraints.passes, if told > 0.0 { 1 } else { 2 });
    }
}

/// Contacts that are told to press but would pull let go in the same call: it moves as if they were not there.
#[test]
fn a_contact_that_would_pull_lets_go() {
    let block: Block = (DVec3::new(6.6, 8.3, 7.1), DVec3::new(2.7, 2.2, 3.1), 300.0);
    let tank = Tank::new(&[block], 17.0);
    let (_, free) = tank.solve(&[]);
    assert_eq!((free.constraints.passes, free.constraints.impulses.len()), (1, 0));
    assert!(free.bodies[0].velocity[1] > 0.1 * GRAVITY * DT);
    let floor = |place: DVec3| Constraint { pressed: 1.0, ..row(at(0, block.0, place, DVec3::Y), CONTACT) };
    let rows: Vec<Constraint> = corners(&block, -1.0).into_iter().map(floor).collect();
    let (_, projected) = tank.solve(&rows);
    assert_eq!(projected.constraints.impulses, [0.0; 4]);
    for (a, b) in projected.bodies[0].velocity.iter().zip(&free.bodies[0].velocity) {
        assert!((a - b).abs() < 1e-7, "{a} {b}");
    }
}

/// A gap is left for the drift: the body comes down by as much as there is room.
#[test]
fn a_body_comes_down_by_the_gap_that_is_there() {
    let block: Block = (DVec3::new(6.6, 8.3, 7.1), DVec3::new(2.7, 2.2, 3.1), 4000.0);
    let tank = Tank::new(&[block], 17.0);
    let wanted = -1e-3 * H / DT;
    let contact = |place: DVec3| Constraint { wanted, ..row(at(0, block.0, place, DVec3::Y), CONTACT) };
    let rows: Vec<Constraint> = corners(&block, -1.0).into_iter().map(contact).collect();
    let (_, projected) = tank.solve(&rows);
    assert!((projected.bodies[0].velocity[1] - wanted).abs() < 1e-9, "{:?}", projected.bodies[0]);
}

/// A box and its lower and upper half, half in the water.
fn halves(density: f64) -> (Block, [Block; 2]) {
    let (middle, half) = (DVec3::new(7.0, 9.0, 7.0), DVec3::new(3.1, 3.0, 2.7));
    let part = |sign: f64| -> Block {
        (middle + DVec3::Y * 0.5 * sign * half.y, half * DVec3::new(1.0, 0.5, 1.0), density)
    };
    ((middle, half, density), [part(-1.0), part(1.0)])
}

/// Two halves that a fixed joint holds together move as the whole.
#[test]
fn two_halves_of_a_box_that_a_joint_holds_move_as_the_box() {
    let (whole, blocks) = halves(325.0);
    for level in [8.0, 9.7] {
        // Where the two meet, distances to both would make the whole look thinner.
        let tank = Tank::of_parts(&blocks, &[whole], level);
        let place = whole.0;
        let joint = |n: usize| {
            let entries = |sign: f64, b: usize| -> Vec<(usize, usize, f64)> {
                match n < 3 {
                    true => at(b, blocks[b].0, place, sign * DVec3::AXES[n]),
                    false => vec![(b, n, sign)],
                }
            };
            row([entries(1.0, 0), entries(-1.0, 1)].concat(), JOINT)
        };
        let (_, projected) = tank.solve(&(0..6).map(joint).collect::<Vec<_>>());
        let (_, one) = Tank::new(&[whole], level).solve(&[]);
        for (moved, block) in projected.bodies.iter().zip(&blocks) {
            let v = &moved.velocity;
            let there = DVec3::from_slice(v) + DVec3::from_slice(&v[3..]).cross(H * (place - block.0));
            let expected = DVec3::from_slice(&one.bodies[0].velocity);
            let off = (there - expected).length() / (GRAVITY * DT);
            assert!(off < 1e-6, "{level}: {there} m/s, not {expected}");
        }
    }
}

/// A box that lies on a floating one: the two move as one, and what one gives the other gets.
#[test]
fn a_box_on_a_floating_box_moves_as_one_with_it() {
    let (whole, blocks) = halves(325.0);
    for level in [8.0, 9.7] {
        // Where the two meet, distances to both would make the whole look thinner.
        let tank = Tank::of_parts(&blocks, &[whole], level);
        let contact = |place: DVec3| {
            let mut entries = at(1, blocks[1].0, place, DVec3::Y);
            entries.extend(at(0, blocks[0].0, place, -DVec3::Y));
            row(entries, CONTACT)
        };
        let rows: Vec<Constraint> = corners(&blocks[1], -1.0).into_iter().map(contact).collect();
        let (_, projected) = tank.solve(&rows);
        let heave = |b: usize| projected.bodies[b].velocity[1] / (GRAVITY * DT);
        assert!((heave(0) - heave(1)).abs() < 1e-4, "{level}: {} and {} falls", heave(0), heave(1));
        if level < whole.0.y {
            // The upper one is dry: what it may slide by does not matter to the water.
            let (_, one) = Tank::new(&[whole], level).solve(&[]);
            let expected = one.bodies[0].velocity[1] / (GRAVITY * DT);
            assert!((heave(0) - expected).abs() < 1e-4, "{level}: {} falls, not {expected}", heave(0));
        }
        let carried: f64 = projected.constraints.impulses.iter().sum();
        // Three corners carry it as well as four; one of them may have nothing to carry, up to the solve's residual.
        let least = projected.constraints.impulses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(carried > 0.0 && least >= -1e-3 * carried, "{level}: {:?}", projected.constraints);
        // It changes the momentum of the upper box, and that of the lower one by as much the other way.
        let gained = |b: usize| {
            let body = &tank.bodies[b];
            change(body, &projected.bodies[b])[1] - projected.bodies[b].impulse[1]
        };
        assert!((gained(1) - carried).abs() < 1e-9 * carried && (gained(0) + carried).abs() < 1e-9 * carried);
    }
}

/// A ball joint between two boxes under water: its ends move as one to rounding, and take no momentum from the two.
#[test]
fn a_ball_joint_under_water_stays_together_whatever_the_pressure_does() {
    let blocks: [Block; 2] = [
        (DVec3::new(4.6, 8.3, 7.1), DVec3::new(1.9, 2.2, 2.1), 300.0),
        (DVec3::new(9.9, 8.9, 6.9), DVec3::new(1.7, 2.4, 2.3), 3000.0),
    ];
    let tank = Tank::new(&blocks, 17.0);
    let place = DVec3::new(7.2, 9.0, 7.3);
    let joint = |way: DVec3| {
        let mut entries = at(0, blocks[0].0, place, way);
        entries.extend(at(1, blocks[1].0, place, -way));
        row(entries, JOINT)
    };
    let rows = DVec3::AXES.map(joint);
    let (_, projected) = tank.solve(&rows);
    let speed = |b: usize| {
        let v = &projected.bodies[b].velocity;
        DVec3::from_slice(v) + DVec3::from_slice(&v[3..]).cross(H * (place - blocks[b].0))
    };
    assert!((speed(0) - speed(1)).length() < 1e-12, "{} {}", speed(0), speed(1));
    assert!(projected.constraints.impulses.iter().any(|i| i.abs() > 1e-3));
    let gained = |b: usize| {
        let (body, moved) = (&tank.bodies[b], &projected.bodies[b]);
        let gained = change(body, moved);
        DVec3::from_array([0, 1, 2].map(|i| gained[i] - moved.impulse[i]))
    };
    let held = gained(0).length();
    assert!((gained(0) + gained(1)).length() < 1e-9 * held, "{} {}", gained(0), gained(1));
    // Other names and another order of the rows change nothing but rounding.
    let turned = Tank::new(&[blocks[1], blocks[0]], 17.0);
    let swapped: Vec<Constraint> = [2, 0, 1]
        .map(|r: usize| {
            let entries = rows[r].entries.iter().map(|&(b, i, v)| (1 - b, i, v)).collect();
            Constraint { entries, ..rows[r].clone() }
        })
        .to_vec();
    let (_, other) = turned.solve(&swapped);
    for (a, b) in projected.bodies.iter().rev().zip(&other.bodies) {
        assert!(a.velocity.iter().zip(&b.velocity).all(|(a, b)| (a - b).abs() < 1e-7), "{a:?} {b:?}");
    }
}

/// A full chamber whose piston a contact holds has no room for anything: the constant of its pressure is free again.
#[test]
fn a_jammed_piston_leaves_the_constant_of_its_chambers() {
    for pressed in [0.0, 1.0] {
        let size = IVec3::new(4, 24, 4);
        let piston = |p: DVec3| (10.3 * H - p.y).max(p.y - 13.2 * H);
        let scene = Scene::still(H, size, [true; 6], |_| -9.0, piston).falling(DT);
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| {
            u32::from(piston(scene.transform.face_centre(a, c)) < H)
        });
        let twist = Twist { linear: DVec3::Y, angular: DVec3::ZERO };
        let bodies = [Body {
            velocity: vec![-GRAVITY * DT],
            before: Some(vec![0.0]),
            mass: vec![20.0].into(),
            pieces: vec![Piece { pivot: DVec3::ZERO, twists: vec![twist] }].into(),
        }];
        let stop = [Constraint { pressed, ..row(vec![(0, 0, 1.0)], CONTACT) }];
        let mut fields = scene.fields();
        fields.kick.y = -GRAVITY * DT;
        fields.bodies = Some(Bodies {
            bodies: &bodies,
            constraints: &stop,
            owner: &owner,
            left_by_first: &scene.volume,
            room: None,
            pieces: &[Some((0, 0))],
        });
        let mut vel = scene.vel.clone();
        let projected =
            free_surface::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
        assert!(velocity(&projected.bodies[0]) < 1e-6 * GRAVITY * DT);
        assert!(scene.fastest(&vel) < 1e-4 * GRAVITY * DT);
        assert!(projected.constraints.settled && projected.info.converged);
    }
}

/// What a body's momentum has gained along each degree of freedom.
fn change(body: &Body, moved: &Moved) -> Vec<f64> {
    let gained: Vec<f64> =
        moved.velocity.iter().zip(&body.velocity).map(|(after, before)| after - before).collect();
    body.mass.times(&gained)
}
