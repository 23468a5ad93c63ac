//! Whole solves through the driver: the same solution, as many iterations, the same bits every time.

use super::operator::{Given, noise};
use super::scene::{Random, Scene, noisy, sheet, swarm, tank};
use crate::conjugate_gradients::operator::{Scratch, apply};
use crate::conjugate_gradients::{ConjugateGradients, Outcome, Stop, Vector};
use crate::cuda::emulation::Emulation;
use crate::cuda::{Device, DeviceConjugateGradients};
use crate::multigrid::{Cycle, Multigrid};
use std::ops::ControlFlow;

/// A right side that some x answers.
pub fn right_side(scene: &Scene, seed: u64) -> Vector {
    let truth = noise(scene, &mut Random(seed));
    let mut b = Vector::default();
    b.fit(scene.level.leaves(), scene.level.super_count());
    let mut scratch = Scratch::default();
    scratch.fit(&scene.level, &scene.low_rank);
    apply(&scene.level, &scene.low_rank, &truth, &mut b, &mut scratch);
    b
}

pub fn hierarchy(scene: &Scene) -> Multigrid {
    let mut multigrid = Multigrid::default();
    multigrid.build(scene.level.clone(), scene.extents.clone(), scene.bodies(), Cycle::default());
    multigrid
}

fn on_processor(scene: &Scene, b: &Vector, stop: Stop) -> (Outcome, Vector) {
    let mut iteration = ConjugateGradients::default();
    iteration.fit(&scene.level, &scene.low_rank);
    let mut go = |_, _| ControlFlow::Continue(());
    let outcome = iteration.solve(&mut hierarchy(scene), &scene.low_rank, stop, &Given(b), &mut go);
    (outcome, iteration.x)
}

/// A solver on the emulated device.
fn emulated(descending: bool, ahead: usize) -> DeviceConjugateGradients<Emulation> {
    let mut solver = DeviceConjugateGradients::new(Emulation { descending });
    solver.ahead = ahead;
    solver
}

fn on_device<D: Device>(
    solver: &mut DeviceConjugateGradients<D>,
    scene: &Scene,
    b: &Vector,
    stop: Stop,
) -> (Outcome, Vector) {
    let mut x = Vector::default();
    x.fit(scene.level.leaves(), scene.level.super_count());
    let mut numbers = Vec::new();
    let mut note = |number, residual: f64| {
        assert!(residual.is_finite());
        numbers.push(number);
        ControlFlow::Continue(())
    };
    let outcome = solver.solve(&hierarchy(scene), &scene.low_rank, stop, &Given(b), &mut x, &mut note);
    let outcome = outcome.expect("a device that does not fail");
    assert_eq!(numbers, (1..=outcome.iterations).collect::<Vec<_>>());
    (outcome, x)
}

/// √(eᵀ A e / xᵀ A x), e the difference: blind to the null space.
fn apart(scene: &Scene, a: &Vector, x: &Vector) -> f64 {
    let mut scratch = Scratch::default();
    scratch.fit(&scene.level, &scene.low_rank);
    let mut image = Vector::default();
    image.fit(scene.level.leaves(), scene.level.super_count());
    let whole = apply(&scene.level, &scene.low_rank, x, &mut image, &mut scratch);
    let mut e = a.clone();
    for (e, x) in e.cells.iter_mut().zip(&x.cells) {
        let (e, x) = (e.as_flattened_mut().as_flattened_mut(), x.as_flattened().as_flattened());
        e.iter_mut().zip(x).for_each(|(e, x)| *e -= x);
    }
    e.supers.iter_mut().zip(&x.supers).for_each(|(e, x)| *e -= x);
    let square = apply(&scene.level, &scene.low_rank, &e, &mut image, &mut scratch);
    if whole > 0.0 { (square.max(0.0) / whole).sqrt() } else { square }
}

fn bits(x: &Vector) -> Vec<u64> {
    x.cells.iter().flatten().flatten().flatten().chain(&x.supers).map(|v| v.to_bits()).collect()
}

/// Solves on both sides; the iteration counts may differ by `slack`.
pub fn compare(scene: &Scene, seed: u64, stop: Stop, slack: usize) -> Outcome {
    let b = right_side(scene, seed);
    let (expected, x) = on_processor(scene, &b, stop);
    let (outcome, y) = on_device(&mut emulated(false, 4), scene, &b, stop);
    assert!(outcome.residual <= stop.tolerance, "{outcome:?} {expected:?}");
    assert!(outcome.iterations.abs_diff(expected.iterations) <= slack, "{outcome:?} {expected:?}");
    let apart = apart(scene, &y, &x);
    assert!(apart <= 1e3 * stop.tolerance, "{apart}: {outcome:?} {expected:?}");
    outcome
}

#[test]
fn tanks_with_and_without_bubbles_in_as_many_iterations() {
    let scenes = [
        tank(3, 0.5, &[], 0.0),
        tank(3, 0.7, &[7.0, 3.0, 1.5, 0.8], 0.0),
        tank(2, 0.8, &[4.0, 2.5], 1e-2),
        tank(2, 2.0, &[3.0], 0.0),
        tank(2, 2.0, &[3.0], 1e-3),
        tank(2, 2.0, &[], 0.0),
    ];
    for (i, scene) in scenes.iter().enumerate() {
        for tolerance in [1e-5, 1e-10] {
            let outcome = compare(scene, i as u64, Stop { tolerance, max_iterations: 300 }, 1);
            assert!(outcome.iterations > 2);
        }
    }
}

#[test]
fn light_sheets_in_about_as_many_iterations() {
    for (seed, bubbles) in [(0, &[][..]), (1, &[7.0, 3.0]), (2, &[4.0, 1.5])] {
        let mut scene = tank(3, 0.7, bubbles, 1e-3);
        scene.low_rank = (0..2).map(|_| sheet(&mut Random(seed), &scene.level)).collect();
        let outcome = compare(&scene, seed, Stop { tolerance: 1e-9, max_iterations: 1000 }, 3);
        assert!(outcome.iterations > 2);
    }
}

#[test]
fn noise_of_every_kind() {
    for seed in 0..40 {
        let scene = noisy(seed);
        // Where hundreds of iterations are needed, rounding decides how many.
        let b = right_side(&scene, seed);
        let expected = on_processor(&scene, &b, Stop { tolerance: 1e-9, max_iterations: 3000 }).0;
        // A body much stiffer than the faces beside it enlarges what f32 rounds in the cycle.
        let share = if scene.low_rank.is_empty() { 8 } else { 2 };
        compare(
            &scene,
            seed,
            Stop { tolerance: 1e-9, max_iterations: 3000 },
            1 + expected.iterations / share,
        );
    }
}

#[test]
fn more_bubbles_than_a_dense_factor_takes() {
    let scene = swarm(700);
    assert!(hierarchy(&scene).parts().factor.is_none());
    let outcome = compare(&scene, 1, Stop { tolerance: 1e-5, max_iterations: 300 }, 1);
    assert!(outcome.iterations > 2);
}

#[test]
fn the_same_bits_whatever_the_order_the_batch_and_what_was_solved_before() {
    for scene in [tank(2, 0.7, &[4.0, 1.5], 1e-3), noisy(5), noisy(11)] {
        let (b, stop) = (right_side(&scene, 1), Stop { tolerance: 1e-11, max_iterations: 400 });
        let (first, x) = on_device(&mut emulated(false, 4), &scene, &b, stop);
        let mut used = emulated(true, 7);
        let other = noisy(3);
        on_device(&mut used, &other, &right_side(&other, 2), stop);
        for solver in [&mut emulated(true, 1), &mut emulated(false, 13), &mut used] {
            let (outcome, y) = on_device(solver, &scene, &b, stop);
            assert_eq!(first, outcome);
            assert_eq!(bits(&x), bits(&y));
        }
    }
}

#[test]
fn nothing_to_solve_too_few_iterations_and_a_call_to_stop() {
    let scene = tank(2, 0.7, &[3.0], 0.0);
    let mut solver = emulated(false, 2);
    let mut zero = right_side(&scene, 1);
    zero.fit(scene.level.leaves(), scene.level.super_count());
    let (outcome, x) = on_device(&mut solver, &scene, &zero, Stop { tolerance: 1e-6, max_iterations: 50 });
    assert_eq!((outcome.iterations, outcome.residual), (0, 0.0));
    assert!(bits(&x).iter().all(|&v| v == 0));

    let b = right_side(&scene, 1);
    let few = Stop { tolerance: 1e-12, max_iterations: 3 };
    let (outcome, x) = on_device(&mut solver, &scene, &b, few);
    let (expected, y) = on_processor(&scene, &b, few);
    assert_eq!(outcome.iterations, expected.iterations);
    assert!((outcome.residual - expected.residual).abs() <= 1e-3 * expected.residual);
    assert!(apart(&scene, &x, &y) <= 1e-4);

    let mut x = Vector::default();
    x.fit(scene.level.leaves(), scene.level.super_count());
    let (stop, mut calls) = (Stop { tolerance: 1e-12, max_iterations: 50 }, 0);
    let mut break_off = |_, _| {
        calls += 1;
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let outcome = solver.solve(&hierarchy(&scene), &[], stop, &Given(&b), &mut x, &mut break_off);
    let outcome = outcome.expect("the emulation does not fail");
    assert!(outcome.cancelled && calls == 3 && outcome.iterations == 4, "{outcome:?}");
    assert!(apart(&scene, &x, &on_processor(&scene, &b, stop).1) <= 0.1);
}

#[test]
fn measuring_passes_leaves_no_trace() {
    let scene = tank(2, 0.7, &[4.0], 0.0);
    let (b, stop) = (right_side(&scene, 1), Stop { tolerance: 1e-8, max_iterations: 100 });
    let mut solver = emulated(false, 4);
    let before = on_device(&mut solver, &scene, &b, stop);
    let passes = solver.measure(&hierarchy(&scene), &Given(&b), 2).expect("the emulation does not fail");
    assert!(passes.iter().all(|p| p.seconds > 0.0) && passes.iter().filter(|p| p.bytes > 0.0).count() == 5);
    let after = on_device(&mut solver, &scene, &b, stop);
    assert_eq!((before.0, bits(&before.1)), (after.0, bits(&after.1)));
}

/// The proof of the emulation, for whoever has a GPU: `cargo test -p meniscus-kernels -- --ignored gpu`.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_gpu_gives_the_bits_of_the_emulation() {
    let mut gpu = DeviceConjugateGradients::new(crate::cuda::Cuda::open().expect("a GPU"));
    let mut scenes: Vec<Scene> = (0..20).map(noisy).collect();
    scenes.push(tank(3, 0.7, &[7.0, 3.0, 1.5, 0.8], 0.0));
    scenes.push(tank(2, 2.0, &[3.0], 1e-3));
    for (i, scene) in scenes.iter().enumerate() {
        let (b, stop) = (right_side(scene, i as u64), Stop { tolerance: 1e-10, max_iterations: 1000 });
        let (expected, x) = on_device(&mut emulated(false, 4), scene, &b, stop);
        let (outcome, y) = on_device(&mut gpu, scene, &b, stop);
        assert_eq!(outcome, expected);
        assert_eq!(bits(&x), bits(&y));
    }
}
