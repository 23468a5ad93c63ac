//! Closed volumes: their constant is found, projected out, and the same every time.

use crate::solve;
use meniscus_core::grid::{Coord, Topology};
use meniscus_core::pressure::{
    AttachedMass, CELL, Column, FIXED, Params, PressureSystem, SOLID, SuperCell, Unknowns,
};
use std::sync::Arc;

/// A row of 12 × 4 × 4 cells along x, open inside, walled all around; a wall between x = 5 and x = 6 if `split`.
fn tank(split: bool) -> PressureSystem {
    let topology = Arc::new(Topology::new(vec![Coord::ZERO, Coord::new(8, 0, 0)]));
    let size = topology.len() * 512;
    let inside = |c: Coord| c.x < 12 && c.y < 4 && c.z < 4;
    let label = (0..size).map(|s| if inside(topology.coord(s)) { CELL } else { SOLID }).collect();
    let open = |axis: usize, s: usize| if split && axis == 0 && topology.coord(s).x == 6 { 0.0 } else { 1.0 };
    let face = std::array::from_fn(|axis| (0..size).map(|s| open(axis, s)).collect());
    PressureSystem { topology: topology.clone(), label, face, ..PressureSystem::default() }
}

fn slot(system: &PressureSystem, x: i32, y: i32, z: i32) -> usize {
    system.topology.slot_of(Coord::new(x, y, z)).expect("inside the tank")
}

/// A right side that pumps from one end of each half to its other, plus `extra` everywhere.
fn pump(system: &PressureSystem, extra: f64) -> Unknowns {
    let mut rhs = Unknowns::zeros(system);
    for (x, v) in [(0, 1.0), (5, -1.0), (6, 2.0), (11, -2.0)] {
        rhs.cells[slot(system, x, 1, 2)] = v;
    }
    for (v, &l) in rhs.cells.iter_mut().zip(&system.label) {
        if l == CELL {
            *v += extra;
        }
    }
    rhs
}

fn mean(system: &PressureSystem, x: &Unknowns, range: std::ops::Range<i32>) -> f64 {
    let cells = (0..system.label.len())
        .filter(|&s| system.label[s] == CELL && range.contains(&system.topology.coord(s).x));
    cells.map(|s| x.cells[s]).sum()
}

const TIGHT: Params = Params { tolerance: 1e-11, max_iterations: 100 };

#[test]
fn a_closed_tank_has_one_and_a_split_one_has_two() {
    for (split, dimension) in [(false, 1), (true, 2)] {
        let system = tank(split);
        let (info, x) = solve(&system, &pump(&system, 0.0), TIGHT);
        assert!(info.converged && info.null_space == dimension && info.incompatible < 1e-15, "{info:?}");
        assert!(mean(&system, &x, 0..12).abs() < 1e-10);
        if split {
            assert!(mean(&system, &x, 0..6).abs() < 1e-10);
        }
    }
}

#[test]
fn an_impossible_inflow_is_reported_and_changes_nothing() {
    let system = tank(false);
    let (_, x) = solve(&system, &pump(&system, 0.0), TIGHT);
    let (info, y) = solve(&system, &pump(&system, 0.25), TIGHT);
    assert!(info.converged && info.incompatible > 0.1, "{info:?}");
    let apart = x.cells.iter().zip(&y.cells).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart}");
}

#[test]
fn one_open_cell_or_a_compressible_bubble_ends_it() {
    let mut open = tank(false);
    let s = slot(&open, 0, 0, 0);
    open.label[s] = FIXED;
    let mut bubble = tank(false);
    bubble.super_cells = vec![SuperCell { compliance: 0.0 }];
    let s = slot(&bubble, 3, 3, 3);
    bubble.label[s] = 0;
    assert_eq!(solve(&bubble, &pump(&bubble, 0.0), TIGHT).0.null_space, 1);
    bubble.super_cells[0].compliance = 1e-3;
    for system in [open, bubble] {
        let (info, _) = solve(&system, &pump(&system, 0.25), Params { tolerance: 1e-9, ..TIGHT });
        assert!(info.converged && info.null_space == 0 && info.incompatible == 0.0, "{info:?}");
    }
}

#[test]
fn a_piston_between_two_closed_volumes_leaves_one_of_two() {
    let mut system = tank(true);
    let face = |x: i32, sign: f64| {
        let cells = (0..16).map(move |n| (x, n / 4, n % 4));
        cells.map(|(x, y, z)| (slot(&tank(true), x, y, z) as u32, sign)).collect::<Vec<_>>()
    };
    let cells = [face(5, 1.0), face(6, -1.0)].concat();
    system.attached =
        vec![AttachedMass::dense(vec![Column { cells, ..Column::default() }], vec![0.5]).expect("a mass")];
    let (info, x) = solve(&system, &pump(&system, 0.0), TIGHT);
    assert!(info.converged && info.null_space == 1 && info.incompatible < 1e-15, "{info:?}");
    // The piston stands still, so both ends of it push alike.
    let (left, right) = (mean(&system, &x, 5..6), mean(&system, &x, 6..7));
    assert!((left - right).abs() < 1e-8, "{left} {right}");
}

#[test]
fn liquid_walled_in_cell_by_cell_stays_at_rest() {
    let mut system = tank(false);
    system.face = std::array::from_fn(|_| vec![0.0; system.label.len()]);
    let (info, x) = solve(&system, &pump(&system, 0.25), TIGHT);
    assert!(info.converged && info.null_space == 12 * 16, "{info:?}");
    assert!(x.cells.iter().all(|&v| v == 0.0));
}
