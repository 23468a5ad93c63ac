//! Pistons in ducts: bodies of one degree of freedom, whose pressures and motions are known.

use super::*;
use crate::coupling::bodies::{Bodies, Body, Moved, Piece, Twist};

const DT: f64 = 0.01;
const H: f64 = 0.02;
const AREA: f64 = 16.0 * H * H;
/// The piston's faces, cells.
const ENDS: [f64; 2] = [14.3, 18.2];

/// A duct of 32 × 4 × 4 cells along an axis, a piston across it, liquid where φ (of the position along the duct, cells) says;
/// gravity along the duct has acted for a substep.
struct Duct {
    scene: Scene,
    owner: FaceGrid<u32>,
    body: Body,
}

impl Duct {
    fn new(axis: usize, walled: bool, mass: f64, gravity: f64, liquid: impl Fn(f64) -> f64 + Sync) -> Self {
        let mut size = IVec3::splat(4);
        size[axis] = 32;
        let mut sides = [true; 6];
        (sides[2 * axis], sides[2 * axis + 1]) = (walled, walled);
        let along = |p: DVec3| p[axis] / H;
        let piston = |p: DVec3| H * (ENDS[0] - along(p)).max(along(p) - ENDS[1]);
        let kick = gravity * DT;
        let motion = |p: DVec3| if piston(p) < H { kick * DVec3::AXES[axis] } else { DVec3::ZERO };
        let scene = Scene::new(H, size, sides, |p| H * liquid(along(p)), piston, motion)
            .with_velocity(|a, _| if a == axis { kick } else { 0.0 });
        let at = |a: usize, c: Coord| piston(face_centre(&scene.transform, a, c)) < H;
        let owner = FaceGrid::from_fn(scene.vel.topology.clone(), 0, |a, c| u32::from(at(a, c)));
        let twist = Twist { linear: DVec3::AXES[axis], angular: DVec3::ZERO };
        let piece = Piece { pivot: DVec3::ZERO, twists: vec![twist] };
        let body = Body { velocity: vec![kick], mass: vec![mass], pieces: vec![piece] };
        Self { scene, owner, body }
    }

    fn bubbles(&self) -> (FaceGrid<f32>, Projection, Moved) {
        let bodies = [self.body.clone()];
        let pieces = [Some((0, 0))];
        let mut fields = self.scene.fields();
        fields.bodies = Some(Bodies { bodies: &bodies, owner: &self.owner, pieces: &pieces });
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
        let duct = Duct::new(axis, true, 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7));
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
        // Beyond the weight of the liquid between.
        let column = WATER * GRAVITY * (7.0 + 6.0) * H;
        let (low, high) = (at(0), at(31));
        let wet = WATER * GRAVITY * ((ENDS[0] - 6.4) + (25.7 - ENDS[1])) * H;
        let expected = wet + weight / AREA;
        assert!(((high - low) - expected).abs() < 5e-3 * expected, "{} {expected} {column}", high - low);
        assert!(projected.incompatible_flux < 1e-9);
    }
}

#[test]
fn a_piston_in_an_open_duct_falls_with_its_liquid() {
    let duct = Duct::new(0, false, 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7));
    let (_, projected, moved) = duct.bubbles();
    assert!((moved.velocity[0] - GRAVITY * DT).abs() < 1e-6, "{}", moved.velocity[0]);
    assert!(projected.pressure.values.iter().all(|p| p.abs() < 1e-3));
}

#[test]
fn a_driven_piston_takes_its_liquid_along_and_momentum_is_kept() {
    // Only the piston has speed; air on both sides is open.
    for mass in [1e-3, 3.0, 1e4] {
        let mut duct = Duct::new(2, false, mass, GRAVITY, |x| (8.4 - x).max(x - 22.7));
        duct.scene.vel = FaceGrid::new(duct.scene.vel.topology.clone(), 0.0);
        let kick = GRAVITY * DT;
        let (vel, projected, moved) = duct.bubbles();
        // One velocity of piston and liquid. Liquid counts from the middle of the cell that the piston cuts: 1 % here.
        let liquid = WATER * AREA * ((ENDS[0] - 8.4) + (22.7 - ENDS[1])) * H;
        let expected = mass * kick / (mass + liquid);
        let off = (moved.velocity[0] / expected - 1.0).abs();
        assert!(off < 0.01, "{mass} kg: {} m/s, not {expected}", moved.velocity[0]);
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
    let duct = Duct::new(1, true, 3.0, GRAVITY, |_| -9.0);
    let (_, projected, moved) = duct.bubbles();
    assert!(projected.bubbles.is_empty());
    assert!(moved.velocity[0].abs() < 1e-4 * GRAVITY * DT, "{}", moved.velocity[0]);
}

#[test]
fn a_mass_that_is_none_is_refused() {
    for mass in [0.0, -1.0, f64::NAN] {
        let duct = Duct::new(0, true, mass, GRAVITY, |x| 6.4 - x);
        let bodies = [duct.body.clone()];
        let mut fields = duct.scene.fields();
        fields.bodies = Some(Bodies { bodies: &bodies, owner: &duct.owner, pieces: &[Some((0, 0))] });
        let mut vel = duct.scene.vel.clone();
        let error = constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on);
        assert_eq!(error.unwrap_err(), Error::Mass(0));
    }
}
