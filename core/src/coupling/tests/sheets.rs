//! Sheets across ducts: bodies of three degrees of freedom at each point, with sparse masses.

use super::bodies::{DT, Duct, ENDS, H};
use super::*;
use crate::coupling::bodies::{Bodies, Body, Moved, Piece, Pieces, Skin, Twist};
use crate::coupling::mass::{Mass, SparseMass};
use crate::pressure::MultigridSolver;

/// A grid of triangles across a duct along `axis`, in the middle of its piston; `at`: where its points lie on both other axes,
/// cells.
fn sheet(axis: usize, side: usize, at: impl Fn(usize, usize) -> [f64; 2]) -> Skin {
    let point = |n: usize| {
        let [u, v] = at(n / side, n % side);
        let mut p = DVec3::ZERO;
        (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (0.5 * (ENDS[0] + ENDS[1]), u, v);
        p * H
    };
    let squares = (0..(side - 1) * (side - 1)).map(|n| n / (side - 1) * side + n % (side - 1));
    let halves = |n: usize| [[n, n + 1, n + side], [n + 1, n + side + 1, n + side]];
    let triangles = squares.flat_map(halves).map(|t| t.map(|p| p as u32));
    Skin { points: (0..side * side).map(point).collect(), triangles: triangles.collect() }
}

/// One point in the middle of each face of the duct's cross section.
fn on_faces(axis: usize) -> Skin {
    sheet(axis, 4, |i, j| [i as f64 + 0.5, j as f64 + 0.5])
}

/// The same body as a sheet, of a mass given as entries. The faces of the duct's sides are not its own.
fn as_sheet(mut duct: Duct, axis: usize, skin: Skin, mass: &[(u32, u32, f64)]) -> Duct {
    let owned = duct.owner;
    let inside = |c: Coord| (0..3).all(|a| a == axis || (0..4).contains(&c[a]));
    duct.owner = FaceGrid::from_fn(owned.topology.clone(), 0, |a, c| {
        if inside(c) && inside(c - IVec3::AXES[a]) { owned.get(a, c) } else { 0 }
    });
    let k = 3 * skin.points.len();
    let along = |v: f64| (0..k).map(|dof| if dof % 3 == axis { v } else { 0.0 }).collect::<Vec<f64>>();
    duct.body = Body {
        velocity: along(duct.body.velocity[0]),
        before: duct.body.before.map(|before| along(before[0])),
        mass: Mass::Sparse(SparseMass::new(k, mass).unwrap()),
        pieces: Pieces::Skin(Arc::new(skin)),
    };
    duct
}

/// Equal masses for `points` points.
fn lumped(points: usize, mass: f64) -> Vec<(u32, u32, f64)> {
    (0..3 * points as u32).map(|dof| (dof, dof, mass / points as f64)).collect()
}

/// The scenes of the piston's tests: walled ends, mass, gravity, where the liquid is, and whether only the piston moves.
type Case = ([bool; 2], f64, f64, fn(f64) -> f64, bool);

const CASES: [Case; 7] = [
    ([true; 2], 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7), false),
    ([false; 2], 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7), false),
    ([false; 2], 1e-3, GRAVITY, |x| (8.4 - x).max(x - 22.7), true),
    ([false; 2], 3.0, GRAVITY, |x| (8.4 - x).max(x - 22.7), true),
    ([false; 2], 1e4, GRAVITY, |x| (8.4 - x).max(x - 22.7), true),
    ([true; 2], 3.0, GRAVITY, |_| -9.0, false),
    ([true; 2], 3.0, -GRAVITY, |y| (y - 27.3).max(22.6 - y), false),
];

fn duct(axis: usize, (walled, mass, gravity, liquid, driven): Case) -> Duct {
    let mut duct = Duct::new(axis, walled, mass, gravity, liquid);
    if driven {
        duct.scene.vel = FaceGrid::new(duct.scene.vel.topology.clone(), 0.0);
        duct.kick = DVec3::ZERO;
    }
    duct
}

/// Every point moves as the piston does, and all of them take the piston's impulse.
fn assert_moves_as(piston: &Moved, sheet: &Moved, axis: usize, what: &str) {
    let scale = piston.velocity[0].abs().max(1e-3 * GRAVITY * DT);
    for (dof, v) in sheet.velocity.iter().enumerate() {
        let expected = if dof % 3 == axis { piston.velocity[0] } else { 0.0 };
        assert!((v - expected).abs() < 1e-6 * scale, "{what}: {v} m/s, not {expected}, at {dof}");
    }
    let along = sheet.impulse.iter().skip(axis).step_by(3).sum::<f64>();
    assert!(
        (along - piston.impulse[0]).abs() < 1e-5 * piston.impulse[0].abs().max(1e-6),
        "{what}: {along} {}",
        piston.impulse[0]
    );
}

#[test]
fn a_sheet_of_equal_masses_moves_as_the_piston_that_weighs_as_much() {
    for (axis, (n, &case)) in (0..3).flat_map(|axis| CASES.iter().enumerate().map(move |c| (axis, c))) {
        let piston = duct(axis, case).bubbles().2;
        let sheet = as_sheet(duct(axis, case), axis, on_faces(axis), &lumped(16, case.1));
        let (_, projected, moved) = sheet.bubbles();
        assert_moves_as(&piston, &moved, axis, &format!("axis {axis}, case {n}"));
        assert!(projected.max_divergence * H < 1e-6 && projected.incompatible_flux < 1e-9);
    }
}

/// Points anywhere, masses of any size, and springs far stiffer than water.
#[test]
fn a_stiff_sheet_of_any_mesh_moves_as_the_piston_that_weighs_as_much() {
    let (side, stiff) = (6usize, 1e6);
    for (n, &case) in CASES.iter().enumerate().filter(|(_, case)| case.1 >= 3.0) {
        let axis = n % 3;
        let at = |i: usize, j: usize| {
            let shift = |k: usize| 0.3 * noise((7 * n + 100 * k + 10 * i + j) as u64);
            [0.8 * i as f64 + shift(0), 0.8 * j as f64 + shift(1)]
        };
        let skin = sheet(axis, side, at);
        let weights: Vec<f64> = (0..side * side).map(|p| 1.0 + 0.8 * noise(p as u64 + 3)).collect();
        let whole: f64 = weights.iter().sum();
        let mut mass: Vec<(u32, u32, f64)> = (0..3 * weights.len())
            .map(|dof| (dof as u32, dof as u32, case.1 * weights[dof / 3] / whole))
            .collect();
        for t in &skin.triangles {
            for (p, q) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                for (i, j) in (0..3).map(|a| (3 * p + a, 3 * q + a)) {
                    let spring = stiff * case.1;
                    mass.extend([(i, i, spring), (j, j, spring), (i.max(j), i.min(j), -spring)]);
                }
            }
        }
        let piston = duct(axis, case).bubbles().2;
        let moved = as_sheet(duct(axis, case), axis, skin, &mass).bubbles().2;
        let scale = piston.velocity[0].abs().max(0.1 * GRAVITY * DT);
        for v in moved.velocity.iter().skip(axis).step_by(3) {
            assert!((v - piston.velocity[0]).abs() < 1e-5 * scale, "case {n}: {v} {}", piston.velocity[0]);
        }
    }
}

/// The rods of a cross section, each a rigid piece with a degree of freedom of its own.
fn as_rods(mut duct: Duct, axis: usize, mass: Mass) -> (Duct, Vec<Option<(usize, usize)>>) {
    let rod = |rod: usize| Piece {
        pivot: DVec3::ZERO,
        twists: (0..16)
            .map(|dof| Twist {
                linear: if dof == rod { DVec3::AXES[axis] } else { DVec3::ZERO },
                angular: DVec3::ZERO,
            })
            .collect(),
    };
    let owned = duct.owner.clone();
    duct.owner = FaceGrid::from_fn(owned.topology.clone(), 0, |a, c| {
        let [i, j] = [1, 2].map(|k| c[(axis + k) % 3].clamp(0, 3) as u32);
        if owned.get(a, c) > 0 { 1 + 4 * i + j } else { 0 }
    });
    let velocity = vec![duct.body.velocity[0]; 16];
    duct.body = Body {
        velocity,
        before: Some(vec![0.0; 16]),
        mass,
        pieces: (0..16).map(rod).collect::<Vec<_>>().into(),
    };
    (duct, (0..16).map(|rod| Some((0, rod))).collect())
}

/// A random symmetric positive definite matrix with few entries beside its diagonal.
fn random_mass(seed: u64, size: usize, mass: f64) -> Vec<(u32, u32, f64)> {
    let mut out: Vec<(u32, u32, f64)> = (0..size as u32).map(|i| (i, i, mass)).collect();
    for n in 0..2 * size as u64 {
        let pick = |k: u64| (noise(seed * 977 + 3 * n + k).abs() * size as f64) as u32 % size as u32;
        let (i, j, pull) = (pick(0), pick(1), mass * noise(seed + 5 * n));
        if i != j {
            out.extend([(i, i, pull.abs()), (j, j, pull.abs()), (i.max(j), i.min(j), pull)]);
        }
    }
    out
}

fn solved(duct: &Duct, pieces: &[Option<(usize, usize)>], solver: &mut dyn PressureSolver) -> Moved {
    let bodies = [duct.body.clone()];
    let mut fields = duct.scene.fields();
    fields.kick = duct.kick;
    fields.bodies = Some(Bodies {
        bodies: &bodies,
        owner: &duct.owner,
        left_by_first: &duct.scene.volume,
        room: None,
        pieces,
        constraints: &[],
    });
    let mut vel = duct.scene.vel.clone();
    let projected = constraint_bubbles::project(&fields, &mut vel, DT, solver, &TIGHT, &mut run_on).unwrap();
    assert!(projected.info.converged);
    assert!(projected.max_divergence * H < 1e-5, "{}", projected.max_divergence * H);
    projected.bodies[0].clone()
}

/// The points of a sheet that move along the duct alone are rods.
#[test]
fn a_sparse_mass_moves_points_as_the_same_dense_one_moves_rods() {
    for seed in 0..6 {
        let axis = seed as usize % 3;
        let mass = SparseMass::new(16, &random_mass(seed, 16, 0.1)).unwrap();
        let scene = || {
            let mut duct = Duct::new(axis, [false, true], 3.0, GRAVITY, |x| (6.4 - x).max(x - 25.7));
            duct.scene = duct.scene.with_velocity(noisy_velocity);
            duct
        };
        let (rods, pieces) = as_rods(scene(), axis, Mass::Dense(mass.dense()));
        let dense = solved(&rods, &pieces, &mut PlainCg);
        let mut widened: Vec<(u32, u32, f64)> =
            mass.entries().iter().map(|&(i, j, m)| (3 * i + axis as u32, 3 * j + axis as u32, m)).collect();
        widened.extend((0..48u32).filter(|dof| dof % 3 != axis as u32).map(|dof| (dof, dof, 1e12)));
        let sheet = as_sheet(scene(), axis, on_faces(axis), &widened);
        let mut solvers: [Box<dyn PressureSolver>; 2] =
            [Box::new(PlainCg), Box::new(MultigridSolver::default())];
        for solver in &mut solvers {
            let sparse = solved(&sheet, &[Some((0, 0))], solver.as_mut());
            let size = dense.velocity.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (rod, v) in dense.velocity.iter().enumerate() {
                let of_point = sparse.velocity[3 * rod + axis];
                assert!((of_point - v).abs() < 1e-8 * size, "seed {seed}: {of_point} {v}");
                let [own, other] = [dense.impulse[rod], sparse.impulse[3 * rod + axis]];
                assert!((own - other).abs() < 1e-7 * size, "seed {seed}: {own} {other}");
            }
        }
        // Rigid pieces take a sparse mass, too.
        let (rods, pieces) = as_rods(scene(), axis, Mass::Sparse(mass));
        assert_eq!(solved(&rods, &pieces, &mut PlainCg), dense);
    }
}

#[test]
fn a_mass_of_a_sheet_that_is_none_is_refused() {
    let refused = |mass: &[(u32, u32, f64)], change: fn(&mut Body)| {
        let mut duct = as_sheet(duct(0, CASES[1]), 0, on_faces(0), mass);
        change(&mut duct.body);
        let bodies = [duct.body.clone()];
        let mut fields = duct.scene.fields();
        fields.bodies = Some(Bodies {
            bodies: &bodies,
            owner: &duct.owner,
            left_by_first: &duct.scene.volume,
            room: None,
            pieces: &[Some((0, 0))],
            constraints: &[],
        });
        let mut vel = duct.scene.vel.clone();
        constraint_bubbles::project(&fields, &mut vel, DT, &mut PlainCg, &TIGHT, &mut run_on).unwrap_err()
    };
    let sound = lumped(16, 3.0);
    let indefinite: Vec<_> = sound.iter().copied().chain([(4, 1, 0.2)]).collect();
    assert!(matches!(refused(&indefinite, |_| ()), Error::Indefinite { body: 0, row: 1 | 4 }));
    assert_eq!(
        refused(&sound, |body| body.mass = Mass::Sparse(SparseMass::new(3, &lumped(1, 1.0)).unwrap())),
        Error::Mass(0)
    );
    assert_eq!(refused(&sound, |body| body.pieces = Pieces::Skin(Arc::default())), Error::Mass(0));
    assert_eq!(refused(&sound, |body| body.before = Some(vec![0.0; 5])), Error::Mass(0));
    assert_eq!(refused(&sound, |body| body.velocity[7] = f64::NAN), Error::Mass(0));
}
