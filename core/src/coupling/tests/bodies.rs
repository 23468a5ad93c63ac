//! Pistons in ducts: bodies of one degree of freedom, whose pressures and motions are known.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Moved, Piece, Twist};

pub(super) const DT: f64 = 0.01;
pub(super) const H: f64 = 0.02;
const AREA: f64 = 16.0 * H * H;
/// The piston's faces, cells.
pub(super) const ENDS: [f64; 2] = [14.3, 18.2];

/// A duct of 32 × 4 × 4 cells along an axis, a piston across it, liquid where φ (of the position along the duct, cells) says;
/// gravity along the duct has acted for a substep.
pub(super) struct Duct {
    pub(super) scene: Scene,
    pub(super) owner: FaceGrid<u32>,
    pub(super) body: Body,
    /// What gravity gave to the liquid, m/s.
    pub(super) kick: DVec3,
}

impl Duct {
    pub(super) fn new(
        axis: usize,
        walled: [bool; 2],
        mass: f64,
        gravity: f64,
        liquid: impl Fn(f64) -> f64 + Sync,
    ) -> Self {
        Self::as_wide_as(f64::INFINITY, axis, walled, mass, gravity, liquid)
    }

    /// The same with a piston that reaches only so far across the next axis, cells.
    fn as_wide_as(
        width: f64,
        axis: usize,
        walled: [bool; 2],
        mass: f64,
        gravity: f64,
        liquid: impl Fn(f64) -> f64 + Sync,
    ) -> Self {
        let mut size = IVec3::splat(4);
        size[axis] = 32;
        let mut sides = [true; 6];
        [sides[2 * axis], sides[2 * axis + 1]] = walled;
        let along = |p: DVec3| p[axis] / H;
        let beside = |p: DVec3| p[(axis + 1) % 3] / H - width;
        let piston = |p: DVec3| H * (ENDS[0] - along(p)).max(along(p) - ENDS[1]).max(beside(p));
        let kick = gravity * DT;
        let motion = |p: DVec3| if piston(p) < H { kick * DVec3::AXES[axis] } else { DVec3::ZERO };
        let scene = Scene::new(H, size, sides, |p| H * liquid(along(p)), piston, motion)
            .with_velocity(|a, _| if a == axis { kick } else { 0.0 });
        let in_duct = |p: DVec3| (0..3).all(|a| a == axis || (-0.01..=4.01).contains(&(p[a] / H)));
        let at = |a: usize, c: Coord| {
            let p = scene.transform.face_centre(a, c);
            piston(p) < H && in_duct(p)
        };
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| u32::from(at(a, c)));
        let twist = Twist { linear: DVec3::AXES[axis], angular: DVec3::ZERO };
        let piece = Piece { pivot: DVec3::ZERO, twists: vec![twist] };
        let body = Body {
            velocity: vec![kick],
            before: Some(vec![0.0]),
            mass: vec![mass].into(),
            pieces: vec![piece].into(),
        };
        Self { scene, owner, body, kick: kick * DVec3::AXES[axis] }
    }

    fn bodies_of<'a>(&'a self, bodies: &'a [Body]) -> Bodies<'a> {
        Bodies {
            bodies,
            constraints: &[],
            owner: &self.owner,
            left_by_first: &self.scene.volume,
            room: None,
            pieces: &[Some((0, 0))],
        }
    }

    pub(super) fn bubbles(&self) -> (FaceGrid<f32>, Projection, Moved) {
        self.bubbles_under(None)
    }

    /// The same where `lid` is what is left open of the faces.
    fn bubbles_under(&self, lid: Option<&FaceGrid<f32>>) -> (FaceGrid<f32>, Projection, Moved) {
        let bodies = [self.body.clone()];
        let mut fields = self.scene.fields();
        fields.bodies = Some(self.bodies_of(&bodies));
        fields.kick = self.kick;
        if let Some(lid) = lid {
            (fields.open, fields.without_lids) = (lid, Some(fields.open));
        }
        let mut vel = self.scene.vel.clone();
        let projected =
            constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
        let moved = projected.bodies[0].clone();
        (vel, projected, moved)
    }
}

#[test]
fn a_piston_between_sealed_chambers_rests_on_the_difference_of_their_pressures() {
    for axis in 0..3 {
        // Air at both ends, liquid on both sides of the piston.
        let duct = Duct::new(axis, [true; 2], 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7));
        let (vel, projected, moved) = duct.bubbles();
        assert_eq!(projected.bubbles.len(), 2);
        assert!(moved.velocity[0].abs() < 1e-5 * GRAVITY * DT, "{}", moved.velocity[0]);
        assert!(duct.scene.fastest(&vel) < 1e-5 * GRAVITY * DT);
        // The impulse of the pressure is what gravity gave to the piston.
        let weight = 3.0 * GRAVITY;
        assert!((moved.impulse[0] / DT + weight).abs() < 1e-4 * weight, "{} N", moved.impulse[0] / DT);
        let at = |x: i32| {
            let mut c = IVec3::splat(2);
            c[axis] = x;
            f64::from(projected.pressure.get(c))
        };
        let (low, high) = (at(0), at(31));
        let wet = WATER * GRAVITY * ((ENDS[0] - 6.4) + (25.7 - ENDS[1])) * H;
        let expected = wet + weight / AREA;
        assert!(((high - low) - expected).abs() < 5e-3 * expected, "{} {expected}", high - low);
        assert!(projected.incompatible_flux < 1e-9);
    }
}

#[test]
fn a_piston_in_an_open_duct_falls_with_its_liquid() {
    let duct = Duct::new(0, [false; 2], 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7));
    let (_, projected, moved) = duct.bubbles();
    assert!((moved.velocity[0] - GRAVITY * DT).abs() < 1e-6, "{}", moved.velocity[0]);
    assert!(projected.pressure.values.iter().all(|p| p.abs() < 1e-3));
}

#[test]
fn a_driven_piston_takes_its_liquid_along_and_momentum_is_kept() {
    // Only the piston has speed; air on both sides is open.
    for mass in [1e-3, 3.0, 1e4] {
        let mut duct = Duct::new(2, [false; 2], mass, GRAVITY, |x| (8.4 - x).max(x - 22.7));
        duct.scene.vel = FaceGrid::new(duct.scene.vel.topology.clone(), 0.0);
        duct.kick = DVec3::ZERO;
        let kick = GRAVITY * DT;
        let (vel, projected, moved) = duct.bubbles();
        // One velocity of piston and liquid.
        let liquid = WATER * AREA * ((ENDS[0] - 8.4) + (22.7 - ENDS[1])) * H;
        let expected = mass * kick / (mass + liquid);
        let off = (moved.velocity[0] / expected - 1.0).abs();
        assert!(off < 1e-5, "{mass} kg: {} m/s, not {expected}", moved.velocity[0]);
        for z in [10, 12, 20] {
            let u = f64::from(vel.get(2, IVec3::new(1, 2, z)));
            assert!((u - moved.velocity[0]).abs() < 1e-6, "{u} {}", moved.velocity[0]);
        }
        assert!(projected.max_divergence * H < 1e-6);
        let walls = projected.vel_solid.unwrap();
        assert!((f64::from(walls.get(2, IVec3::new(1, 1, 16))) - moved.velocity[0]).abs() < 1e-6);
    }
}

#[test]
fn a_full_chamber_holds_its_piston_whatever_pushes_it() {
    let duct = Duct::new(1, [true; 2], 3.0, GRAVITY, |_| -9.0);
    let (_, projected, moved) = duct.bubbles();
    assert!(projected.bubbles.is_empty());
    assert!(moved.velocity[0].abs() < 1e-4 * GRAVITY * DT, "{}", moved.velocity[0]);
}

/// A piston 2.4 cells wide in a duct of 4, and a lid over the gap beside it: the body keeps its own part of the faces that both
/// close.
#[test]
fn where_a_lid_shuts_the_gap_beside_it_a_full_chamber_holds_a_piston() {
    for axis in 0..3 {
        let duct = Duct::as_wide_as(2.4, axis, [true; 2], 3.0, GRAVITY, |_| -9.0);
        let plane = |a: usize, c: Coord| if a == axis && c[axis] == 16 { 1.0 } else { 0.0 };
        let lid = FaceGrid::from_fn(duct.scene.vel.topology.clone(), 0.0, plane);
        let lid = crate::coupling::shut(&duct.scene.fields(), &lid).open;
        let (_, _, free) = duct.bubbles();
        assert!(
            free.velocity[0] > 0.01 * GRAVITY * DT,
            "nothing holds it without the lid: {}",
            free.velocity[0]
        );
        let (vel, projected, moved) = duct.bubbles_under(Some(&lid));
        assert!(moved.velocity[0].abs() < 1e-5 * GRAVITY * DT, "{}", moved.velocity[0]);
        assert!(duct.scene.fastest(&vel) < 1e-5 * GRAVITY * DT);
        // p(18.2) - p(14.3) carries its weight on its own area alone.
        let at = |x: i32| {
            let mut c = IVec3::splat(3);
            c[axis] = x;
            f64::from(projected.pressure.get(c))
        };
        let own = 2.4 / 4.0 * AREA;
        let expected = WATER * GRAVITY * (31.0 - (ENDS[1] - ENDS[0])) * H + 3.0 * GRAVITY / own;
        let found = at(31) - at(0);
        assert!((found - expected).abs() < 5e-3 * expected, "axis {axis}: {found} Pa, not {expected}");
    }
}

#[test]
fn a_mass_that_is_none_is_refused() {
    for mass in [0.0, -1.0, f64::NAN] {
        let duct = Duct::new(0, [true; 2], mass, GRAVITY, |x| 6.4 - x);
        let bodies = [duct.body.clone()];
        let mut fields = duct.scene.fields();
        fields.bodies = Some(duct.bodies_of(&bodies));
        let mut vel = duct.scene.vel.clone();
        let error = constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on);
        assert_eq!(error.unwrap_err(), Error::Mass(0));
    }
}

/// A piston on a cell of air, stepped by hand: what the duct becomes as the piston moves is left out, so its bubble's volume
/// is that of its book.
fn bounce(dt: f64, steps: usize) -> Vec<(f64, f64, f64)> {
    let gas = crate::coupling::Gas { pressure: 1e5, heat_ratio: 1.4 };
    // Liquid at the low end, then air up to the piston; beyond it the duct is open.
    let mut duct = Duct::new(0, [true, false], 2.0, 0.0, |x| x - 4.4);
    duct.body.velocity = vec![0.05];
    let (mut memory, mut states) = (None, Vec::new());
    for _ in 0..steps {
        let bodies = [duct.body.clone()];
        let walls = FaceGrid::from_fn(duct.owner.topology.clone(), 0.0, |a, c| {
            if a == 0 && duct.owner.get(a, c) > 0 { duct.body.velocity[0] as f32 } else { 0.0 }
        });
        let mut fields = duct.scene.fields();
        fields.bodies = Some(duct.bodies_of(&bodies));
        (fields.gas, fields.drift, fields.vel_solid) = (Some(gas), dt, &walls);
        fields.previous_bubbles = memory.as_ref();
        let mut vel = FaceGrid::new(duct.scene.vel.topology.clone(), 0.0);
        let projected =
            constraint_bubbles::project(&fields, &mut vel, dt, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
        duct.body.velocity = projected.bodies[0].velocity.clone();
        let cell = projected.bubbles.iter().position(|b| b.constrained).unwrap();
        let book = projected.memory.bubbles[0].book;
        assert!((projected.bubbles[cell].found_volume - book.gas).abs() < 1e-12, "only the piston moved");
        states.push((duct.body.velocity[0], book.rest, book.gas));
        memory = Some(projected.memory);
    }
    states
}

#[test]
fn a_piston_bounces_on_compressible_air_at_its_springs_period_and_loses_nothing() {
    let volume = bounce(1e-3, 1)[0].2;
    let stiffness = 1.4 * 1e5 * AREA * AREA / volume;
    let period = std::f64::consts::TAU * (2.0f64 / stiffness).sqrt();
    for per_period in [12.0, 40.0] {
        let dt = period / per_period;
        let states = bounce(dt, (5.2 * per_period) as usize);
        let turns: Vec<f64> = (1..states.len())
            .filter(|&n| states[n - 1].0 * states[n].0 < 0.0)
            .map(|n| n as f64 - states[n].0 / (states[n].0 - states[n - 1].0))
            .collect();
        let measured = 2.0 * dt * (turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64;
        // The rule's own period: a half of its angle has the tangent ω dt / 2.
        let angle = 2.0 * (0.5 * std::f64::consts::TAU / per_period).atan();
        let expected = dt * std::f64::consts::TAU / angle;
        assert!((measured / expected - 1.0).abs() < 0.01, "{measured} s, not {expected}");
        assert!(per_period < 20.0 || (measured / period - 1.0).abs() < 0.01, "{measured} s, not {period}");
        // Energy where velocity and volume are known: half-way between two velocities.
        let last = |range: std::ops::Range<usize>| states[range].iter().fold(0.0f64, |m, s| m.max(s.0.abs()));
        let turn = per_period as usize;
        let (first, end) = (last(0..turn), last(states.len() - turn..states.len()));
        assert!((end / first - 1.0).abs() < 0.02, "{first} m/s in the first period, {end} in the last");
    }
}

#[test]
fn liquid_does_not_part_from_a_body() {
    let mut duct = Duct::new(2, [false; 2], 3.0, GRAVITY, |x| (8.4 - x).max(x - 22.7));
    duct.scene.vel = FaceGrid::new(duct.scene.vel.topology.clone(), 0.0);
    duct.kick = DVec3::ZERO;
    let (_, _, clinging) = duct.bubbles();
    let bodies = [duct.body.clone()];
    let mut fields = duct.scene.fields();
    fields.bodies = Some(duct.bodies_of(&bodies));
    fields.parting = Some(crate::coupling::Parting { cavitation: -1.0, previous: None });
    let mut vel = duct.scene.vel.clone();
    let projected =
        constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap();
    assert_eq!(projected.bodies[0], clinging);
}

#[test]
fn air_that_touches_no_liquid_holds_a_piston_too() {
    // All liquid is beyond the piston; the cell before it holds nothing but air.
    let duct = Duct::new(1, [true; 2], 3.0, -GRAVITY, |y| (y - 27.3).max(22.6 - y));
    let (_, projected, moved) = duct.bubbles();
    assert_eq!(projected.bubbles.iter().filter(|b| b.constrained).count(), 3);
    assert!(moved.velocity[0].abs() < 1e-5 * GRAVITY * DT, "{}", moved.velocity[0]);
}

#[test]
fn what_a_body_says_counts_not_what_its_faces_have() {
    // Its faces still have the velocity of the substep before.
    let mut duct = Duct::new(0, [false; 2], 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7));
    let (_, _, told) = duct.bubbles();
    duct.scene.vel_solid = FaceGrid::new(duct.scene.vel.topology.clone(), 0.0);
    let (_, _, silent) = duct.bubbles();
    assert!((told.velocity[0] - silent.velocity[0]).abs() < 1e-9, "{told:?} {silent:?}");
}
