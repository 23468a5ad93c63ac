//! Set-up and solve of the peers' two scenes, free surface and bubbles:
//! `cargo bench -p meniscus-core --bench pressure [filter]`.

#[path = "../tests/pressure/scene.rs"]
mod scene;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use meniscus_core::pressure::{Device, Params, Unknowns, solver};
use scene::Scene;
use std::ops::ControlFlow;
use std::time::Duration;

fn pressure(c: &mut Criterion) {
    for n in [64, 128] {
        let (wave, cooler) = (Scene::wave(n), Scene::cooler(n));
        for (name, scene, constrained) in
            [("wave", &wave, false), ("cooler", &cooler, false), ("cooler with bubbles", &cooler, true)]
        {
            let (system, rhs) = scene.assemble(constrained);
            let mut engine = solver(Device::Cpu);
            let mut solve = |tolerance: f64, x: &mut Unknowns| {
                let params = Params { tolerance, ..Params::default() };
                engine
                    .solve(&system, &rhs, x, &params, &mut |_| ControlFlow::Continue(()))
                    .expect("a pressure")
            };
            let mut group = c.benchmark_group(format!("{n} {name}"));
            for tolerance in [1e-5, 1e-8] {
                let info = solve(tolerance, &mut Unknowns::zeros(&system));
                println!("{n} {name}, {tolerance:.0e}: {} iterations", info.iterations);
                group.throughput(Throughput::Elements(info.unknowns as u64));
                group.bench_function(BenchmarkId::from_parameter(format!("{tolerance:.0e}")), |b| {
                    let start = || Unknowns::zeros(&system);
                    b.iter_batched_ref(start, |x| solve(tolerance, x), BatchSize::LargeInput);
                });
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = pressure
}
criterion_main!(benches);
