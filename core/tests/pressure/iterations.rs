//! How many iterations the engine takes: nearly the same at every size, with bubbles and without, and no
//! more than incomplete Cholesky.

use crate::scene::Scene;
use crate::{relative_residual, solve};
use meniscus_core::pressure::{CELL, Params, PressureSystem, Unknowns};

fn iterations(system: &PressureSystem, rhs: &Unknowns) -> usize {
    let (info, x) = solve(system, rhs, Params { tolerance: 1e-8, max_iterations: 100 });
    assert!(info.converged, "{info:?}");
    assert!((relative_residual(system, rhs, &x) - info.residual).abs() <= 1e-12, "{info:?}");
    info.iterations
}

#[test]
fn the_iterations_do_not_grow_with_the_size() {
    for (name, scene) in [("wave", Scene::wave as fn(i32) -> Scene), ("cooler", Scene::cooler)] {
        let counts = [32, 64, 128].map(|n| {
            let (system, rhs) = scene(n).assemble(false);
            iterations(&system, &rhs)
        });
        assert!(counts[2] <= counts[0] + 1 && counts[2] <= 9, "{name}: {counts:?}");
    }
}

#[test]
fn bubbles_cost_no_iterations() {
    for n in [32, 64] {
        let cooler = Scene::cooler(n);
        let [plain, bubbles] = [false, true].map(|constrained| {
            let (system, rhs) = cooler.assemble(constrained);
            iterations(&system, &rhs)
        });
        assert!(bubbles <= plain + 1, "{n}: {plain} without bubbles, {bubbles} with");
    }
}

#[test]
fn neither_do_one_to_three_hundred_in_a_tank() {
    for (n, count) in [(48, 1), (48, 3), (48, 30), (64, 300)] {
        let tank = Scene::tank(n, count);
        assert_eq!(tank.bubbles, count);
        let [plain, bubbles] = [false, true].map(|constrained| {
            let (system, rhs) = tank.assemble(constrained);
            iterations(&system, &rhs)
        });
        assert!(bubbles <= plain + 1, "{count}: {plain} without bubbles, {bubbles} with");
    }
}

/// The rows of a system without super-cells: diagonal, and the lower triangle's (column, −coefficient).
struct Rows {
    slots: Vec<usize>,
    diagonal: Vec<f64>,
    lower: Vec<Vec<(usize, f64)>>,
}

impl Rows {
    fn new(system: &PressureSystem) -> Self {
        let slots: Vec<usize> = (0..system.label.len()).filter(|&s| system.label[s] == CELL).collect();
        let mut number = vec![usize::MAX; system.label.len()];
        slots.iter().enumerate().for_each(|(i, &s)| number[s] = i);
        let mut out = Self { diagonal: vec![0.0; slots.len()], lower: vec![Vec::new(); slots.len()], slots };
        for slot in 0..system.label.len() {
            for axis in 0..3 {
                let below = system.topology.coord(slot) - meniscus_core::grid::Coord::AXES[axis];
                let Some(other) = system.topology.slot_of(below) else { continue };
                let c = system.face[axis][slot] as f64;
                let (i, j) = (number[slot], number[other]);
                [i, j].iter().filter(|&&i| i != usize::MAX).for_each(|&i| out.diagonal[i] += c);
                if i != usize::MAX && j != usize::MAX && c > 0.0 {
                    out.lower[i.max(j)].push((i.min(j), -c));
                }
            }
        }
        out
    }

    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = x.iter().zip(&self.diagonal).map(|(x, d)| x * d).collect();
        for (i, row) in self.lower.iter().enumerate() {
            for &(j, a) in row {
                y[i] += a * x[j];
                y[j] += a * x[i];
            }
        }
        y
    }

    /// IC(0): no fill on a 7-point stencil changes only the pivots.
    fn pivots(&self) -> Vec<f64> {
        let mut d = self.diagonal.clone();
        for i in 0..d.len() {
            let taken: f64 = self.lower[i].iter().map(|&(j, a)| a * a / d[j]).sum();
            d[i] -= taken;
        }
        d
    }

    fn precondition(&self, pivots: &[f64], r: &[f64]) -> Vec<f64> {
        let mut z = r.to_vec();
        for i in 0..z.len() {
            let sum: f64 = self.lower[i].iter().map(|&(j, a)| a * z[j]).sum();
            z[i] = (z[i] - sum) / pivots[i];
        }
        for i in (0..z.len()).rev() {
            let v = z[i];
            for &(j, a) in &self.lower[i] {
                z[j] -= a * v / pivots[j];
            }
        }
        z
    }
}

/// Iterations of CG with incomplete Cholesky [Bridson 2015, §5.3].
fn incomplete_cholesky_iterations(system: &PressureSystem, rhs: &Unknowns, tolerance: f64) -> usize {
    let rows = Rows::new(system);
    let pivots = rows.pivots();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut r: Vec<f64> = rows.slots.iter().map(|&s| rhs.cells[s]).collect();
    let norm = dot(&r, &r).sqrt();
    let mut p = rows.precondition(&pivots, &r);
    let mut energy = dot(&p, &r);
    for iteration in 1..2000 {
        let q = rows.apply(&p);
        let step = energy / dot(&p, &q);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
        if dot(&r, &r).sqrt() <= tolerance * norm {
            return iteration;
        }
        let z = rows.precondition(&pivots, &r);
        let next = dot(&z, &r);
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / energy * *p);
        energy = next;
    }
    usize::MAX
}

#[test]
fn never_more_iterations_than_incomplete_cholesky() {
    for scene in [Scene::wave(16), Scene::wave(48), Scene::cooler(40)] {
        let (system, rhs) = scene.assemble(false);
        let (ours, theirs) = (iterations(&system, &rhs), incomplete_cholesky_iterations(&system, &rhs, 1e-8));
        assert!(ours <= theirs, "{}: {ours} against {theirs}", scene.n);
    }
}
