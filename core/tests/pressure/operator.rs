//! The operator is symmetric and positive semidefinite, and it is the Laplacian.

use crate::random_systems::random_system;
use crate::{Random, dot, solve};
use meniscus_core::grid::{Coord, Topology};
use meniscus_core::pressure::{CELL, FIXED, Params, PressureSystem, Unknowns};
use std::f64::consts::PI;
use std::sync::Arc;

#[test]
fn symmetric_and_positive_semidefinite_on_random_vectors() {
    for seed in 0..40 {
        let mut random = Random(seed);
        let system = random_system(&mut random);
        let [x, y] = [random.unknowns(&system), random.unknowns(&system)];
        let [mut ax, mut ay] = [Unknowns::zeros(&system), Unknowns::zeros(&system)];
        system.apply(&x, &mut ax);
        system.apply(&y, &mut ay);
        let size = (dot(&x, &ax) * dot(&y, &ay)).sqrt();
        assert!((dot(&x, &ay) - dot(&y, &ax)).abs() <= 1e-12 * size.max(1e-30), "seed {seed}");
        assert!(dot(&x, &ax) >= 0.0 && dot(&y, &ay) >= 0.0, "seed {seed}");
    }
}

/// −∇²p = 3π² p on the unit cube with p = 0 on its sides, p = Π sin πx: largest error at the cell centres.
fn sine_error(cells: i32) -> f64 {
    let h = 1.0 / (cells + 1) as f64;
    let within =
        |c: Coord, lo: i32, hi: i32| c.cmpge(Coord::splat(lo)).all() && c.cmple(Coord::splat(hi)).all();
    let range = 0..cells + 2;
    let all = range.clone().flat_map(|x| {
        let range = range.clone();
        range.clone().flat_map(move |y| range.clone().map(move |z| Coord::new(x, y, z)))
    });
    let topology = Arc::new(Topology::covering(all));
    let size = topology.len() * 512;
    let label = (0..size).map(|s| if within(topology.coord(s), 1, cells) { CELL } else { FIXED }).collect();
    let face = std::array::from_fn(|_| vec![h as f32; size]);
    let system = PressureSystem { topology: topology.clone(), label, face, ..PressureSystem::default() };
    // The coefficient as the f32 the system holds, so that h³ and c agree.
    let weight = h as f32 as f64 * h * h;
    let exact = |s: usize| (0..3).map(|a| (PI * topology.coord(s)[a] as f64 * h).sin()).product::<f64>();
    let mut rhs = Unknowns::zeros(&system);
    for s in (0..size).filter(|&s| system.label[s] == CELL) {
        rhs.cells[s] = weight * 3.0 * PI * PI * exact(s);
    }
    let (info, x) = solve(&system, &rhs, Params { tolerance: 1e-10, max_iterations: 100 });
    assert!(info.converged, "{info:?}");
    let errors = (0..size).filter(|&s| system.label[s] == CELL).map(|s| (x.cells[s] - exact(s)).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn the_poisson_problem_converges_at_second_order() {
    let [coarse, fine] = [15, 31].map(sine_error);
    let order = (coarse / fine).log2();
    assert!((1.9..2.1).contains(&order), "{coarse} → {fine}: order {order}");
}
