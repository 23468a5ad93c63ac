//! How many iterations the engine takes: nearly the same at every size, with bubbles and without.

use crate::scene::Scene;
use meniscus_core::pressure::{Device, Info, Params, PressureSystem, Unknowns, solver};
use std::ops::ControlFlow;

fn solve(system: &PressureSystem, rhs: &Unknowns, tolerance: f64) -> Info {
    let mut x = Unknowns::zeros(system);
    let params = Params { tolerance, max_iterations: 100 };
    let info = solver(Device::Cpu)
        .solve(system, rhs, &mut x, &params, &mut |_| ControlFlow::Continue(()))
        .expect("a well-formed system");
    assert!(info.converged, "{info:?}");
    assert!((true_residual(system, rhs, &x) - info.residual).abs() <= 1e-12, "{info:?}");
    info
}

fn true_residual(system: &PressureSystem, rhs: &Unknowns, x: &Unknowns) -> f64 {
    let mut y = Unknowns::zeros(system);
    system.apply(x, &mut y);
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let zeros = Unknowns::zeros(system);
    let norm = |v: &Unknowns| (square(&v.cells, &rhs.cells) + square(&v.supers, &rhs.supers)).sqrt();
    norm(&y) / norm(&zeros)
}

#[test]
fn the_wavy_box_takes_nearly_the_same_iterations_at_every_size() {
    let counts = [32, 64, 128].map(|n| {
        let (system, rhs) = Scene::wave(n).assemble(false);
        solve(&system, &rhs, 1e-8).iterations
    });
    assert!(counts[2] <= counts[0] + 3, "{counts:?}");
}

#[test]
fn bubbles_cost_no_iterations() {
    for n in [32, 64] {
        let cooler = Scene::cooler(n);
        let [plain, bubbles] = [false, true].map(|constrained| {
            let (system, rhs) = cooler.assemble(constrained);
            solve(&system, &rhs, 1e-8).iterations
        });
        assert!(bubbles <= plain + 1, "{n}: {plain} without bubbles, {bubbles} with");
    }
}
