//! Set-up and solve of the peers' two scenes, free surface and bubbles: `cargo bench -p meniscus-core`.
//!
//! Arguments: box sizes (default 64 128). Prints scene, N, threads, tolerance, set-up s, solve s, iterations,
//! true residual; the median of several runs.

#[path = "../tests/pressure/scene.rs"]
mod scene;

use meniscus_core::pressure::{Device, Info, Params, PressureSystem, Unknowns, solver};
use scene::Scene;
use std::ops::ControlFlow;

const RUNS: usize = 5;

fn measure(system: &PressureSystem, rhs: &Unknowns, tolerance: f64) -> Info {
    let mut engine = solver(Device::Cpu);
    let params = Params { tolerance, ..Params::default() };
    let mut infos: Vec<Info> = (0..RUNS)
        .map(|_| {
            let mut x = Unknowns::zeros(system);
            engine.solve(system, rhs, &mut x, &params, &mut |_| ControlFlow::Continue(())).expect("solve")
        })
        .collect();
    infos.sort_by(|a, b| (a.setup_seconds + a.solve_seconds).total_cmp(&(b.setup_seconds + b.solve_seconds)));
    infos[RUNS / 2]
}

fn main() {
    let sizes: Vec<i32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![64, 128] } else { sizes };
    println!("scene          N threads  tolerance  set-up s  solve s  iterations  residual  unknowns");
    for n in sizes {
        let (wave, cooler) = (Scene::wave(n), Scene::cooler(n));
        for (name, scene, constrained) in
            [("wave", &wave, false), ("cooler", &cooler, false), ("cooler+bubbles", &cooler, true)]
        {
            let (system, rhs) = scene.assemble(constrained);
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                for tolerance in [1e-5, 1e-8] {
                    let i = pool.install(|| measure(&system, &rhs, tolerance));
                    println!(
                        "{name:14} {n:3} {threads:7}  {tolerance:9.0e}  {:8.4}  {:7.4}  {:10}  {:8.1e}  {:8}",
                        i.setup_seconds, i.solve_seconds, i.iterations, i.residual, i.unknowns
                    );
                }
            }
        }
    }
}
