//! The multigrid cycle changes how soon a step is solved, not what it is.

use super::*;
use crate::viscosity::multigrid::Multigrid;

/// ν dt / h² of [`lopsided`] at this viscosity, and a step of 0.1 s, is this number.
const STIFFNESS: f64 = 1e4;

fn stiff() -> Scene {
    lopsided(|p| p).viscosity(STIFFNESS).moving(noisy)
}

/// A box half full, and ν dt / h² of a step of 0.1 s in it.
fn pool(cells: i32, stiffness: f64) -> Scene {
    let h = 1.0 / f64::from(cells);
    let walls = |p: DVec3| p.min_element().min((1.0 - p).min_element());
    let scene = Scene::new(h, [IVec3::splat(-8), IVec3::splat(cells + 8)], |p| p.y - 0.52, walls);
    scene.viscosity(stiffness * RHO * h * h / 0.1).moving(noisy)
}

fn with(scene: &Scene, preconditioner: Preconditioner, tolerance: f64) -> (FaceGrid<f32>, Info) {
    let mut u = scene.velocity.clone();
    let params = Params { tolerance, preconditioner, ..TIGHT };
    let info = diffuse(&scene.liquid(), &mut u, 0.1, &params, &mut run_on).unwrap();
    assert!(info.converged, "{info:?}");
    (u, info)
}

#[test]
fn the_cycle_is_symmetric_and_positive() {
    let system = stiff().system(0.1);
    let unknown = &system.operator.inverse_diagonal;
    let random = |seed: u64| -> Vec<f64> {
        let value = |n: usize| if unknown[n] > 0.0 { noise(n as u64 ^ seed << 32) } else { 0.0 };
        (0..unknown.len()).map(value).collect()
    };
    let mut multigrid = Multigrid::new(&system.operator);
    let mut cycle = |r: &[f64]| -> Vec<f64> {
        multigrid.cycle(&system.operator, r).iter().map(|&z| f64::from(z)).collect()
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    for seed in 0..4 {
        let (x, y) = (random(seed), random(seed + 10));
        let (bx, by) = (cycle(&x), cycle(&y));
        let energy = dot(&x, &bx);
        assert!(energy > 0.0);
        assert!((dot(&y, &bx) - dot(&x, &by)).abs() < 1e-4 * energy, "{seed}");
    }
}

#[test]
fn both_preconditioners_lead_to_the_same_velocity() {
    let scene = pool(16, STIFFNESS).walls_move(|p| DVec3::new(p.y, 0.3, 0.0));
    let (u, plain) = with(&scene, Preconditioner::Diagonal, 1e-11);
    let (v, multigrid) = with(&scene, Preconditioner::Multigrid, 1e-11);
    println!("{} iterations with the diagonal, {} with multigrid", plain.iterations, multigrid.iterations);
    assert!(3 * multigrid.iterations < plain.iterations);
    let off = u.values.iter().flatten().zip(v.values.iter().flatten()).map(|(a, b)| (a - b).abs());
    let off = off.fold(0.0, f32::max);
    assert!(off < 1e-5, "{off}");
}

#[test]
fn iterations_hardly_depend_on_stiffness_or_size() {
    let mut most = 0;
    for cells in [16, 32] {
        for stiffness in [1e2, 1e6] {
            let (_, info) = with(&pool(cells, stiffness), Preconditioner::Auto, 1e-5);
            println!("{cells} cells, ν dt/h² = {stiffness:e}: {} iterations", info.iterations);
            most = most.max(info.iterations);
        }
    }
    assert!(most <= 40, "{most}");
}

#[test]
fn threads_change_no_bit() {
    let scene = stiff();
    same_on_any_threads(|| with(&scene, Preconditioner::Multigrid, 1e-8));
}

#[test]
fn a_drop_as_thick_as_can_be_is_rigid() {
    // ν dt/h² = 1e7: what is left is the motion of a rigid body with the momentum and spin of before.
    let centre = DVec3::splat(0.08);
    let spin = move |p: DVec3| DVec3::new(3.0, -5.0, 2.0).cross(p - centre) + DVec3::new(1.0, 0.5, -0.2);
    let ball = Scene::new(0.01, [IVec3::ZERO, IVec3::splat(16)], |p| p.distance(centre) - 0.053, empty);
    let scene = ball.viscosity(1e7).moving(|p| spin(p) + noisy(p));
    let (u, _) = with(&scene, Preconditioner::Auto, 1e-9);
    let dp = (scene.momentum(&u) - scene.momentum(&scene.velocity)).length();
    let dl = (scene.angular_momentum(&u) - scene.angular_momentum(&scene.velocity)).length();
    assert!(dp < 1e-5 * scene.momentum(&u).length() && dl < 1e-5 * scene.angular_momentum(&u).length());
    // A rigid motion has as much energy as its momentum and spin say; a strain would add to it.
    let mut v = u.clone();
    let info = diffuse(&scene.liquid(), &mut v, 0.1, &Params::default(), &mut run_on).unwrap();
    assert!(info.converged);
    assert!((scene.energy(&v) / scene.energy(&u) - 1.0).abs() < 1e-4);
}
