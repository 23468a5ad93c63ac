//! The engine on the emulated device: what the processor gives, or an honest way back to the processor.

use crate::random_systems::{difference, energy, random_system};
use crate::scene::Scene;
use crate::shoal::membrane;
use crate::worn::Worn;
use crate::{Random, dot, relative_residual, solve};
use meniscus_core::pressure::{DeviceSolver, Error, Info, Params, PressureSolver, PressureSystem, Unknowns};
use meniscus_kernels::cuda::{Device, Emulation, Failure};
use std::ops::ControlFlow;

fn emulation() -> Result<Emulation, Failure> {
    Ok(Emulation::default())
}

fn run<D: Device>(
    solver: &mut DeviceSolver<D>,
    system: &PressureSystem,
    rhs: &Unknowns,
    params: Params,
) -> Result<(Info, Unknowns), Error> {
    let mut x = Unknowns::zeros(system);
    let info = solver.solve(system, rhs, &mut x, &params, &mut |_| ControlFlow::Continue(()))?;
    Ok((info, x))
}

fn same_bits(a: &Unknowns, b: &Unknowns) -> bool {
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    same(&a.cells, &b.cells) && same(&a.supers, &b.supers)
}

#[test]
fn random_systems_of_every_kind_have_the_processors_solution() {
    let mut solver = DeviceSolver::new(emulation, true);
    let params = Params { tolerance: 1e-9, max_iterations: 3000 };
    for seed in 0..120 {
        let mut random = Random(seed);
        let system = random_system(&mut random);
        let rhs = random.unknowns(&system);
        let (expected, x) = solve(&system, &rhs, params);
        let (info, y) = run(&mut solver, &system, &rhs, params).expect("the emulation does not fail");
        assert!(info.converged && info.device == "cuda", "{info:?}");
        assert_eq!((info.unknowns, info.null_space), (expected.unknowns, expected.null_space));
        assert_eq!(info.incompatible, expected.incompatible);
        // In exact arithmetic as many iterations as unknowns suffice: where nearly as many are needed, rounding decides how
        // many.
        let few = expected.iterations <= 16 && 2 * expected.iterations < expected.unknowns;
        // A body much stiffer than the faces beside it enlarges what f32 rounds in the cycle.
        let few = few && system.attached.is_empty();
        let slack = if few { 1 } else { expected.iterations / 2 };
        assert!(info.iterations.abs_diff(expected.iterations) <= slack, "{seed}: {info:?} {expected:?}");
        let scale = energy(&system, &x);
        assert!(energy(&system, &difference(&x, &y)) <= 1e-8 * scale + 1e-25, "{seed}: {info:?}");
    }
}

#[test]
fn waves_coolers_and_tanks_take_as_many_iterations_to_the_same_pressure() {
    let mut solver = DeviceSolver::new(emulation, true);
    let scenes = [
        Scene::wave(32).assemble(false),
        Scene::cooler(32).assemble(false),
        Scene::cooler(32).assemble(true),
        Scene::tank(32, 3).assemble(true),
        membrane(32, 30, 0.01, 0.03),
    ];
    for (i, (system, rhs)) in scenes.iter().enumerate() {
        for tolerance in [1e-5, 1e-8] {
            let params = Params { tolerance, max_iterations: 100 };
            let (expected, x) = solve(system, rhs, params);
            let (info, y) = run(&mut solver, system, rhs, params).expect("the emulation does not fail");
            assert!(
                info.converged && info.iterations.abs_diff(expected.iterations) <= 1,
                "{info:?} {expected:?}"
            );
            assert!((relative_residual(system, rhs, &y) - info.residual).abs() <= 1e-12, "{i}: {info:?}");
            let apart = difference(&x, &y);
            assert!(dot(&apart, &apart).sqrt() <= 1e2 * tolerance * dot(&x, &x).sqrt(), "{i}");
        }
    }
}

#[test]
fn the_bits_depend_neither_on_threads_nor_on_what_was_solved_before() {
    let (system, rhs) = Scene::cooler(24).assemble(true);
    let mut used = DeviceSolver::new(emulation, true);
    let (_, first) = run(&mut used, &system, &rhs, Params::default()).expect("the emulation does not fail");
    let (other, other_rhs) = Scene::wave(16).assemble(false);
    run(&mut used, &other, &other_rhs, Params::default()).expect("the emulation does not fail");
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        for solver in [&mut used, &mut DeviceSolver::new(emulation, true)] {
            let again = pool.install(|| run(solver, &system, &rhs, Params::default()));
            assert!(same_bits(&first, &again.expect("the emulation does not fail").1), "{threads} threads");
        }
    }
}

#[test]
fn without_a_device_or_with_too_small_a_one_the_processor_solves_and_says_so_once() {
    let absent = || Err::<Worn, _>(Failure("no such device".into()));
    let small = || Ok(Worn { bytes: 1 << 16, ..Worn::default() });
    let (system, rhs) = Scene::wave(16).assemble(false);
    let (_, expected) = solve(&system, &rhs, Params::default());
    for (open, why) in [(absent as fn() -> _, "no such device"), (small, "out of memory")] {
        let mut solver = DeviceSolver::new(open, false);
        for notice in [Some(format!("pressure is solved on the processor: {why}")), None] {
            let (info, x) = run(&mut solver, &system, &rhs, Params::default()).expect("a way back");
            assert!(info.converged && info.device == "cpu" && same_bits(&x, &expected));
            assert_eq!(solver.notice(), notice);
        }
        let refused = run(&mut DeviceSolver::new(open, true), &system, &rhs, Params::default());
        assert_eq!(refused.err(), Some(Error::Device(why.into())));
    }
}
