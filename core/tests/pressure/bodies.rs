//! Bodies that the pressure moves: as many iterations as without, the right motion, every kind of operator.

use crate::random_systems::{difference, direct, energy};
use crate::shoal::{Shoal, membrane};
use crate::{Random, dot, relative_residual, solve};
use meniscus_core::grid::{Coord, Topology, leaf};
use meniscus_core::pressure::{
    AttachedMass, CELL, Column, FIXED, MassError, MultigridSolver, Params, PressureSolver, PressureSystem,
    SOLID, SuperCell, Unknowns,
};
use std::ops::ControlFlow;
use std::sync::Arc;

const TIGHT: Params = Params { tolerance: 1e-8, max_iterations: 200 };

/// Iterations against the same balls on given paths.
fn iterations(shoal: &Shoal) -> [usize; 2] {
    [false, true].map(|free| {
        let (system, rhs) = shoal.assemble(free);
        let (info, x) = solve(&system, &rhs, TIGHT);
        assert!(info.converged, "{info:?}");
        assert!((relative_residual(&system, &rhs, &x) - info.residual).abs() <= 1e-12);
        info.iterations
    })
}

#[test]
fn bodies_light_and_heavy_cost_at_most_three_iterations() {
    for (n, count) in [(48, 1), (48, 4), (64, 10)] {
        for density in [0.01, 0.1, 1.0, 100.0] {
            let [fixed, free] = iterations(&Shoal::lattice(n, count, density));
            assert!(free <= fixed + 3, "{count} of {density}: {fixed} on given paths, {free} free");
        }
    }
}

/// Balls of three cells, a hundred of them: too small for the coarse levels to know well.
#[test]
fn a_hundred_bodies_of_three_cells() {
    let mut mixed = Shoal::lattice(64, 100, 1.0);
    mixed.density = (0..100).map(|i| 10f64.powi(i % 5 - 2)).collect();
    for (shoal, allowed) in
        [(Shoal::lattice(64, 100, 0.5), 3), (Shoal::lattice(64, 100, 0.01), 3), (mixed, 3)]
    {
        let [fixed, free] = iterations(&shoal);
        assert!(free <= fixed + allowed, "{fixed} on given paths, {free} free");
    }
}

#[test]
fn bodies_that_touch_and_share_cells() {
    let balls: Vec<_> =
        (0..27).map(|i| ([i % 3, i / 3 % 3, i / 9].map(|k| 9.0 + 9.0 * f64::from(k)), 4.4)).collect();
    let [fixed, free] = iterations(&Shoal { n: 40, balls, density: vec![0.05; 27], full: false });
    assert!(free <= fixed + 12, "{fixed} on given paths, {free} free");
}

#[test]
fn the_bits_do_not_depend_on_threads_or_on_what_was_solved_before() {
    let mut shoal = Shoal::lattice(48, 12, 0.1);
    shoal.full = true;
    let (system, rhs) = shoal.assemble(true);
    let (other, other_rhs) = Shoal::lattice(32, 3, 0.01).assemble(true);
    let run = |solver: &mut MultigridSolver, system: &PressureSystem, rhs: &Unknowns| {
        let mut x = Unknowns::zeros(system);
        let go_on = &mut |_| ControlFlow::Continue(());
        solver.solve(system, rhs, &mut x, &TIGHT, go_on).expect("a pressure");
        x.cells.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    let expected = run(&mut MultigridSolver::default(), &system, &rhs);
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut used = MultigridSolver::default();
        pool.install(|| {
            run(&mut used, &other, &other_rhs);
            assert!(run(&mut used, &system, &rhs) == expected, "{threads} threads");
        });
    }
}

/// A box of liquid, up to 1000 cells, with up to 20 bodies on random cells and bubbles, dense, bound or sparse.
fn random_crowd(random: &mut Random) -> PressureSystem {
    let size = Coord::new(4 + random.below(7) as i32, 4 + random.below(7) as i32, 4 + random.below(7) as i32);
    let topology =
        Arc::new(Topology::covering((0..8).map(|k| Coord::new(8 * (k & 1), 8 * (k >> 1 & 1), 8 * (k >> 2)))));
    let slots = topology.len() * leaf::SIZE;
    let inside = |c: Coord| c.cmpge(Coord::ZERO).all() && c.cmplt(size).all();
    let (closed, bubbles) = (random.unit() < 0.5, random.below(3));
    let mut label = vec![SOLID; slots];
    for slot in (0..slots).filter(|&s| inside(topology.coord(s))) {
        let surface = !closed && topology.coord(slot).y == size.y - 1;
        let bubble = bubbles > 0 && random.unit() < 0.05;
        label[slot] = if bubble { random.below(bubbles) as i32 } else { CELL };
        label[slot] = if surface { FIXED } else { label[slot] };
    }
    let face = std::array::from_fn(|_| (0..slots).map(|_| (0.1 + random.unit()) as f32).collect());
    let super_cells = vec![SuperCell::default(); bubbles];
    let cells: Vec<u32> = (0..slots as u32).filter(|&s| label[s as usize] == CELL).collect();
    let attached = (0..1 + random.below(20)).map(|i| crowd_body(random, &cells, bubbles, i)).collect();
    PressureSystem { topology, label, face, super_cells, attached, links: vec![] }
}

fn crowd_body(random: &mut Random, cells: &[u32], bubbles: usize, number: usize) -> AttachedMass {
    let k = 1 + random.below(6);
    let column = |random: &mut Random| {
        let mut cells: Vec<(u32, f64)> =
            (0..2 + random.below(12)).map(|_| (cells[random.below(cells.len())], random.signed())).collect();
        // Half of the columns move no volume as a whole.
        if random.unit() < 0.5 {
            cells[0].1 -= cells.iter().map(|e| e.1).sum::<f64>();
        }
        let pushed: Vec<u32> = (0..bubbles as u32).filter(|_| random.unit() < 0.2).collect();
        let supers = pushed.into_iter().map(|b| (b, random.signed())).collect();
        Column { cells, supers, moved: 0.0 }
    };
    let columns: Vec<Column> = (0..k).map(|_| column(random)).collect();
    let heavy = 10f64.powf(2.0 * random.signed());
    let diagonal = |i: usize, j: usize| if i == j { heavy } else { 0.0 };
    let dense: Vec<f64> = (0..k * k).map(|e| diagonal(e / k, e % k)).collect();
    match number % 3 {
        0 => AttachedMass::dense(columns, dense).expect("a mass"),
        1 => {
            let row: Vec<f64> = (0..k).map(|_| random.signed()).collect();
            let twice = row.iter().map(|v| 2.0 * v).collect();
            AttachedMass::constrained(columns, &dense, &[row, twice]).expect("a mass")
        }
        _ => {
            let springs = (1..k as u32).map(|i| (i, i - 1, -0.4 / heavy));
            let entries: Vec<_> = (0..k as u32).map(|i| (i, i, 1.0 / heavy)).chain(springs).collect();
            AttachedMass::sparse(columns, &entries).expect("a mass")
        }
    }
}

#[test]
fn random_crowds_agree_with_a_dense_direct_solve() {
    let mut random = Random(16);
    let mut largest = 0;
    for round in 0..40 {
        let system = random_crowd(&mut random);
        largest = largest.max(system.cell_count());
        let truth = random.unknowns(&system);
        let mut rhs = Unknowns::zeros(&system);
        system.apply(&truth, &mut rhs);
        let (info, x) = solve(&system, &rhs, Params { tolerance: 1e-10, max_iterations: 1000 });
        assert!(info.converged, "{round}: {info:?}");
        // The direct solve takes n³ operations: the larger ones are compared with the truth alone.
        let exact = if system.cell_count() < 300 { direct(&system, &rhs) } else { truth.clone() };
        let scale = energy(&system, &exact);
        assert!(energy(&system, &difference(&x, &exact)) <= 1e-9 * scale + 1e-25, "{round}: {info:?}");
        assert!(energy(&system, &difference(&truth, &exact)) <= 1e-9 * scale + 1e-25, "{round}");
    }
    assert!(largest > 700, "{largest}");
}

/// A tank full of liquid, 12 × 4 × 4, with walls at the given x, pistons in them, and a bubble if asked for.
fn chambers(walls: &[i32], pistons: &[(i32, i32, f64)]) -> PressureSystem {
    let topology = Arc::new(Topology::new(vec![Coord::ZERO, Coord::new(8, 0, 0)]));
    let size = topology.len() * leaf::SIZE;
    let inside = |c: Coord| c.x < 12 && c.y < 4 && c.z < 4;
    let label = (0..size).map(|s| if inside(topology.coord(s)) { CELL } else { SOLID }).collect();
    let open =
        |axis: usize, s: usize| if axis == 0 && walls.contains(&topology.coord(s).x) { 0.0 } else { 1.0 };
    let face = std::array::from_fn(|axis| (0..size).map(|s| open(axis, s)).collect());
    let slot = |x: i32, n: i32| topology.slot_of(Coord::new(x, n / 4, n % 4)).expect("inside") as u32;
    let piston = |&(wall, cells, inverse): &(i32, i32, f64)| {
        let sides = (0..cells).flat_map(|n| [(slot(wall - 1, n), 1.0), (slot(wall, n), -1.0)]);
        let column = Column { cells: sides.collect(), ..Column::default() };
        AttachedMass::dense(vec![column], vec![inverse]).expect("a mass")
    };
    let attached = pistons.iter().map(piston).collect();
    PressureSystem { topology: topology.clone(), label, face, attached, ..PressureSystem::default() }
}

/// Inflow into one chamber, outflow of another: what a moving piston asks for.
fn flow(system: &PressureSystem, from: i32, to: i32) -> Unknowns {
    let mut rhs = Unknowns::zeros(system);
    for (x, v) in [(from, 1.0), (to, -1.0)] {
        rhs.cells[system.topology.slot_of(Coord::new(x, 1, 2)).expect("inside")] = v;
    }
    rhs
}

#[test]
fn a_small_float_beside_a_heavy_body_holds_its_chambers() {
    // Three chambers, two pistons: one constant remains, whatever the pistons weigh and however small they are.
    for pistons in [[(4, 16, 1.0), (8, 16, 1.0)], [(4, 16, 1e4), (8, 16, 1e-4)], [(4, 16, 1e-9), (8, 1, 1.0)]]
    {
        let system = chambers(&[4, 8], &pistons);
        let rhs = flow(&system, 1, 10);
        let (info, x) = solve(&system, &rhs, Params { tolerance: 1e-7, max_iterations: 300 });
        assert!(info.null_space == 1 && info.incompatible < 1e-14, "{pistons:?}: {info:?}");
        assert!(info.converged, "{pistons:?}: {info:?}");
        // Each piston sweeps the volume that flows in.
        for (piston, mass) in pistons.iter().zip(&system.attached) {
            let moved =
                mass.weigh(&[mass.columns()[0].cells.iter().map(|&(s, w)| w * x.cells[s as usize]).sum()]);
            assert!((moved[0].abs() * f64::from(piston.1) - 1.0).abs() < 1e-5, "{piston:?}: {moved:?}");
        }
    }
}

#[test]
fn a_mass_beside_one_a_million_million_times_larger_still_holds() {
    let system = chambers(&[4, 8], &[(4, 16, 1e-8), (8, 16, 1e8)]);
    let (info, _) = solve(&system, &flow(&system, 1, 2), Params { max_iterations: 1, ..TIGHT });
    assert_eq!(info.null_space, 1);
}

#[test]
fn what_a_contact_holds_counts_as_held() {
    // A rod joins both pistons to a fixed wall: neither moves, and every chamber keeps its constant.
    let free = chambers(&[4, 8], &[(4, 16, 1.0), (8, 16, 1.0)]);
    let columns: Vec<Column> = free.attached.iter().map(|a| a.columns()[0].clone()).collect();
    let inverse = [1.0, 0.0, 0.0, 1e-6];
    let bound = |rows: &[Vec<f64>]| {
        let mut system = free.clone();
        system.attached = vec![AttachedMass::constrained(columns.clone(), &inverse, rows).expect("a mass")];
        system
    };
    for (rows, dimension) in [
        (vec![], 1),
        (vec![vec![1.0, -1.0]], 2),
        (vec![vec![1.0, -1.0], vec![-3.0, 3.0]], 2),
        (vec![vec![1.0, 0.0], vec![0.0, 1e-9]], 3),
    ] {
        let system = bound(&rows);
        let (info, _) = solve(&system, &flow(&system, 1, 2), TIGHT);
        assert!(info.converged && info.null_space == dimension, "{rows:?}: {info:?}");
    }
}

#[test]
fn a_body_in_a_closed_tank_leaves_the_tanks_constant() {
    let mut shoal = Shoal::lattice(32, 2, 0.02);
    shoal.full = true;
    let (system, rhs) = shoal.assemble(true);
    let (info, x) = solve(&system, &rhs, TIGHT);
    assert!(info.converged && info.null_space == 1, "{info:?}");
    assert!(x.cells.iter().sum::<f64>().abs() < 1e-6 * dot(&x, &x).sqrt() * (info.unknowns as f64).sqrt());
    assert!(info.iterations <= 12, "{info:?}");
}

#[test]
fn a_body_on_a_bubble_compresses_it() {
    // A piston, 16 cells, between a chamber that is one bubble and liquid under a free surface.
    let mut system = chambers(&[6], &[(6, 16, 0.3)]);
    for slot in 0..system.label.len() {
        let c = system.topology.coord(slot);
        if c.x >= 6 && c.x < 12 && system.label[slot] == CELL {
            system.label[slot] = 0;
        }
        if c.x == 0 && system.label[slot] == CELL {
            system.label[slot] = FIXED;
        }
    }
    let column = &system.attached[0].columns()[0];
    let cells = column.cells.iter().copied().filter(|e| e.1 > 0.0).collect();
    let column = Column { cells, supers: vec![(0, -16.0)], moved: 0.0 };
    system.attached = vec![AttachedMass::dense(vec![column.clone()], vec![0.3]).expect("a mass")];
    for compliance in [0.0, 0.5] {
        system.super_cells = vec![SuperCell { compliance }];
        let mut rhs = Unknowns::zeros(&system);
        column.cells.iter().for_each(|&(s, w)| rhs.cells[s as usize] = w);
        rhs.supers[0] = -16.0;
        let (info, x) = solve(&system, &rhs, TIGHT);
        assert!(info.converged && info.null_space == 0 && info.iterations <= 12, "{info:?}");
        let exact = direct(&system, &rhs);
        assert!(energy(&system, &difference(&x, &exact)) <= 1e-10 * energy(&system, &exact));
        // The bubble alone resists the piston: 0.3 · 16 · force + compliance λ = 16.
        let force: f64 =
            column.cells.iter().map(|&(s, w)| w * x.cells[s as usize]).sum::<f64>() - 16.0 * x.supers[0];
        let balance = -16.0 * 0.3 * force + compliance * x.supers[0] + 16.0;
        assert!(balance.abs() < 1e-5, "{balance}");
    }
}

#[test]
fn a_membrane_with_a_sparse_factor() {
    let (system, rhs) = membrane(24, 30, 0.5, 3.0);
    let (info, x) = solve(&system, &rhs, TIGHT);
    assert!(info.converged, "{info:?}");
    assert!((relative_residual(&system, &rhs, &x) - info.residual).abs() <= 1e-12);
    assert!(system.attached[0].bytes() < 900 * 900);
}

/// Light or heavy, coarser or finer than the grid: the cycle knows membranes. Those of next to no mass are the hardest: they
/// take more iterations, but converge.
#[test]
fn membranes_cost_few_iterations() {
    for (n, side) in [(32, 20), (32, 50), (48, 48)] {
        let [light, lightest] = [16, 150];
        let masses = [(0.01, 0.03, light), (0.1, 0.3, light), (10.0, 30.0, light), (1e-3, 1.0, lightest)];
        for (mass, spring, allowed) in masses {
            let (system, rhs) = membrane(n, side, mass, spring);
            let mut fixed = system.clone();
            fixed.attached.clear();
            let (without, with) = (solve(&fixed, &rhs, TIGHT).0, solve(&system, &rhs, TIGHT).0);
            let few = with.iterations <= without.iterations + allowed;
            assert!(with.converged && few, "{side}² of {mass}, {spring}: {without:?} {with:?}");
        }
    }
}

#[test]
fn the_bits_of_a_membrane_do_not_depend_on_threads() {
    let (system, rhs) = membrane(32, 40, 0.05, 0.2);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| solve(&system, &rhs, TIGHT).1)
    };
    let first = on(1);
    assert!([2, 5].into_iter().all(|threads| on(threads) == first));
}

#[test]
fn inverse_masses_that_are_none_are_refused() {
    let columns = |k: usize| vec![Column::default(); k];
    let indefinite = vec![1.0, 2.0, 2.0, 1.0];
    assert!(matches!(AttachedMass::dense(columns(2), indefinite).err(), Some(MassError::Indefinite(_))));
    assert_eq!(AttachedMass::dense(columns(1), vec![-1.0]).err(), Some(MassError::Indefinite(0)));
    assert_eq!(AttachedMass::dense(columns(1), vec![f64::NAN]).err(), Some(MassError::Indefinite(0)));
    let skew = vec![1.0, 0.5, 0.0, 1.0];
    assert_eq!(AttachedMass::dense(columns(2), skew).err(), Some(MassError::Indefinite(0)));
    assert!(matches!(AttachedMass::dense(columns(2), vec![1.0]).err(), Some(MassError::Shape { .. })));
    assert!(AttachedMass::dense(columns(2), vec![1.0, 1.0, 1.0, 1.0]).is_ok());
    let loose = [(0, 0, 1.0), (1, 1, -1.0)];
    assert_eq!(AttachedMass::sparse(columns(2), &loose).err(), Some(MassError::Mass(1)));
}
