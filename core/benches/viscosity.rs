//! The viscous step of a closed box half full of liquid: `cargo bench -p meniscus-core --bench viscosity [filter]`.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::{DVec3, IVec3};
use meniscus_core::grid::{FaceGrid, Grid, Topology, Transform};
use meniscus_core::levelset::fractions::face_open;
use meniscus_core::pressure::Density;
use meniscus_core::viscosity::{Params, Viscosity, ViscousLiquid, Walls, diffuse};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Density, kg/m³.
const RHO: f64 = 1000.0;
/// Length of a substep, s.
const DT: f64 = 0.01;

/// The box is the unit cube.
fn wall(p: DVec3) -> f64 {
    p.min_element().min((1.0 - p).min_element())
}

/// A smooth swirl and what is left of a splash in every wavelength.
fn flow(axis: usize, p: DVec3) -> f64 {
    let waves = |k: f64| (k * p[(axis + 1) % 3] + axis as f64).sin() * (k * p[(axis + 2) % 3]).cos();
    waves(3.0) + 0.5 * waves(11.0) + 0.3 * waves(41.0) + 0.2 * waves(150.0)
}

fn viscosity(c: &mut Criterion) {
    let n = 64;
    let h = 1.0 / f64::from(n);
    let transform = Transform::uniform(h, DVec3::ZERO);
    let leaves = -1..=(n + 7) / 8;
    let row = |x: i32, y: i32| leaves.clone().map(move |z| IVec3::new(x, y, z) * 8);
    let plane = |x: i32| leaves.clone().flat_map(move |y| row(x, y));
    let topology = Arc::new(Topology::new(leaves.clone().flat_map(plane).collect()));
    let far = 3.0 * h as f32;
    let node = |c: DVec3| wall(transform.to_world(c - 0.5)) as f32;
    let surface = Grid::from_fn(topology.clone(), far, |c| {
        (transform.to_world(c.as_dvec3()).y - 0.5).clamp(-3.0 * h, 3.0 * h) as f32
    });
    let solid = Grid::from_fn(topology.clone(), far, |c| node(c.as_dvec3()));
    let open = FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| {
        let (s, t) = (DVec3::AXES[(axis + 1) % 3], DVec3::AXES[(axis + 2) % 3]);
        let c = c.as_dvec3();
        face_open([node(c), node(c + s), node(c + t), node(c + s + t)])
    });
    let velocity = FaceGrid::from_fn(topology.clone(), 0.0, |axis, c| {
        flow(axis, transform.to_world(c.as_dvec3() - 0.5 * DVec3::AXES[axis])) as f32
    });
    let mut group = c.benchmark_group(format!("{n} viscosity"));
    for stiffness in [1.0, 10.0, 100.0, 1e4, 1e6] {
        let liquid = ViscousLiquid {
            transform,
            surface: &surface,
            solid: &solid,
            open: &open,
            vel_solid: &FaceGrid::new(topology.clone(), 0.0),
            density: Density::Uniform(RHO),
            face_density: None,
            viscosity: Viscosity::Uniform(stiffness * RHO * h * h / DT),
            walls: Walls::NoSlip,
        };
        let step = |u: &mut FaceGrid<f32>| {
            diffuse(&liquid, u, DT, &Params::default(), &mut |_| ControlFlow::Continue(()))
        };
        let info = step(&mut velocity.clone()).expect("a velocity");
        println!("ν dt/h² = {stiffness}: {} iterations to {:.1e}", info.iterations, info.residual);
        group.throughput(Throughput::Elements(info.unknowns as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("{stiffness:.0e}")), |b| {
            b.iter_batched_ref(|| velocity.clone(), step, BatchSize::LargeInput);
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = viscosity
}
criterion_main!(benches);
