//! A W-cycle that is not positive definite: it is noticed, and the V-cycle takes over, on both sides.

use super::operator::{Given, noise};
use super::scene::{Random, Scene, layers, tank};
use super::solve::{compare, hierarchy, right_side};
use crate::conjugate_gradients::operator::{Scratch, apply};
use crate::conjugate_gradients::{ConjugateGradients, Stop, Vector, dot_cells, dot_supers};
use crate::multigrid::Multigrid;
use std::ops::ControlFlow;

/// rᵀ B r / vᵀ r for r = A v and the v that powers of B A tend to.
fn rayleigh_quotient(scene: &Scene, multigrid: &mut Multigrid) -> f64 {
    let level = &scene.level;
    let mut scratch = Scratch::default();
    scratch.fit(level, &[]);
    let (mut v, mut r): (Vector<f32>, Vector<f32>) = (noise(scene, &mut Random(1)), Vector::default());
    r.fit(level.leaves(), level.super_count());
    let mut quotient = 0.0;
    for _ in 0..30 {
        let energy = apply(level, &[], &v, &mut r, &mut scratch);
        let shrink = 1.0 / energy.sqrt();
        for half in &mut r.cells {
            half.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|value| *value *= shrink as f32);
        }
        r.supers.iter_mut().for_each(|value| *value *= shrink);
        let work = &mut multigrid.work[0];
        work.b.clone_from(&r.cells);
        work.b_super.clone_from(&r.supers);
        multigrid.precondition();
        let work = &multigrid.work[0];
        quotient = dot_cells(&r.cells, &work.x, &mut scratch.partials) + dot_supers(&r.supers, &work.x_super);
        v = Vector { cells: work.x.clone(), supers: work.x_super.clone() };
    }
    quotient
}

#[test]
fn two_visits_are_not_always_definite_but_one_is() {
    let scene = layers();
    let mut multigrid = hierarchy(&scene);
    let twice = rayleigh_quotient(&scene, &mut multigrid);
    assert!(twice < -0.1, "{twice}");
    assert!(multigrid.take_v_cycle() && !multigrid.take_v_cycle());
    let once = rayleigh_quotient(&scene, &mut multigrid);
    assert!(once > 1.0, "{once}");
    let liquid = tank(4, 0.6, &[5.0, 2.0], 0.0);
    let water = rayleigh_quotient(&liquid, &mut hierarchy(&liquid));
    assert!((0.9..1.1).contains(&water), "{water}");
}

/// Solves on the processor; iterations, and whether the W-cycle was given up.
fn solve(scene: &Scene, mut multigrid: Multigrid, stop: Stop) -> (usize, bool) {
    let (before, b) = (multigrid.parts().visits, right_side(scene, 1));
    let mut iteration = ConjugateGradients::default();
    iteration.fit(&scene.level, &[]);
    let mut go = |_, _| ControlFlow::Continue(());
    let outcome = iteration.solve(&mut multigrid, &[], stop, &Given(&b), &mut go);
    assert!(outcome.residual <= stop.tolerance, "{outcome:?}");
    (outcome.iterations, multigrid.parts().visits != before)
}

#[test]
fn the_v_cycle_takes_over_within_few_iterations() {
    let (scene, stop) = (layers(), Stop { tolerance: 1e-8, max_iterations: 60 });
    let mut simple = hierarchy(&scene);
    simple.take_v_cycle();
    let (best, _) = solve(&scene, simple, stop);
    let (iterations, gave_up) = solve(&scene, hierarchy(&scene), stop);
    assert!(gave_up && iterations <= best + 5, "{iterations} against {best}");
    compare(&scene, 1, stop, 1);
    let liquid = tank(4, 0.6, &[5.0, 2.0], 0.0);
    let (iterations, gave_up) = solve(&liquid, hierarchy(&liquid), stop);
    assert!(!gave_up && iterations <= 8, "{iterations}");
}
