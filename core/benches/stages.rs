//! Every stage of a substep, on the same splash: `cargo bench -p meniscus-core --bench stages [filter]`.
//!
//! Throughputs count particles or the cells of the leaves, and the bytes that a stage cannot avoid moving (each array
//! read or written once); `triad` is what the memory gives at most.

mod scenes;

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use meniscus_core::coupling::air::regions::Regions;
use meniscus_core::coupling::{constraint_bubbles, free_surface};
use meniscus_core::fluid::faces::extrapolation::{Walls, extrapolate};
use meniscus_core::fluid::particles::cells::{self, Cells};
use meniscus_core::fluid::population::reseeding::{Interior, Reseeding, reseed};
use meniscus_core::fluid::surface::{SurfaceParams, surface};
use meniscus_core::fluid::transport::advection::{Way, advect};
use meniscus_core::fluid::transport::transfer::{
    Transfer, VelocityTransfer, faces_to_particles, particles_to_faces,
};
use meniscus_core::grid::leaf;
use meniscus_core::levelset::redistance;
use meniscus_core::pressure::{MultigridSolver, Params, PressureSolver};
use meniscus_core::solid::{Rasteriser, Solids};
use rayon::prelude::*;
use scenes::splash::Splash;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

type Group<'a> = BenchmarkGroup<'a, criterion::measurement::WallTime>;

/// Bytes of a particle's position; of its velocity and affine part; of everything it has.
const POSITION: usize = 12;
const MOTION: usize = 48;
const PARTICLE: usize = POSITION + MOTION + 16;
/// Bytes of a value per cell; of a velocity per cell.
const VALUE: usize = 4;
const VELOCITY: usize = 12;

/// a = b + s c over three arrays of 64 MiB: what the memory gives [McCalpin 1995].
fn triad(c: &mut Criterion) {
    const LENGTH: usize = 16 << 20;
    const BLOCK: usize = 1 << 14;
    let (mut a, b, s) = (vec![0f32; LENGTH], vec![1f32; LENGTH], 3.0);
    let c_values = vec![2f32; LENGTH];
    let mut group = c.benchmark_group("memory");
    group.throughput(Throughput::Bytes(3 * 4 * LENGTH as u64));
    group.bench_function("triad", |bench| {
        bench.iter(|| {
            let rest = b.par_chunks(BLOCK).zip(c_values.par_chunks(BLOCK));
            a.par_chunks_mut(BLOCK).zip(rest).for_each(|(a, (b, c))| {
                a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + s * c);
            });
        });
    });
}

fn stages(c: &mut Criterion) {
    for n in [32, 64] {
        let mut splash = Splash::in_motion(n);
        let dt = splash.dt();
        let mut group = c.benchmark_group(format!("{n}"));
        particles(&mut group, &splash, dt);
        splash.predict(dt);
        let cells = Cells::of_sorted(
            &splash.liquid.particles,
            &splash.liquid.transform,
            &splash.liquid.transferred.topology,
        );
        let cells = cells.expect("predict leaves the particles sorted");
        exchange(&mut group, &splash, &cells);
        fields(&mut group, &splash, &cells);
        solve(&mut group, &splash, dt);
    }
}

fn per_particle(group: &mut Group, splash: &Splash, bytes: usize) {
    let elements = splash.liquid.particles.len() as u64;
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: elements * bytes as u64 });
}

fn per_cell(group: &mut Group, leaves: usize, bytes: usize) {
    let elements = (leaves * leaf::SIZE) as u64;
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: elements * bytes as u64 });
}

/// What moves particles.
fn particles(group: &mut Group, splash: &Splash, dt: f64) {
    let (liquid, params) = (&splash.liquid, &splash.params);
    let solids = Solids { colliders: &splash.colliders, domain: &splash.domain };
    let way = Way { born_from: liquid.born_from, ..Way::through(&liquid.velocity, liquid.transform, dt) };
    let step = |p: &mut _| advect(p, &way, &solids, &params.advection);
    let mut moved = liquid.particles.clone();
    step(&mut moved);
    let topology = Arc::new(cells::covering(&moved, &liquid.transform, 5));

    per_particle(group, splash, 2 * POSITION + MOTION);
    group.bench_function("advect", |b| {
        b.iter_batched_ref(|| liquid.particles.clone(), step, BatchSize::LargeInput)
    });
    per_particle(group, splash, POSITION);
    group.bench_function("leaves", |b| b.iter(|| cells::covering(&moved, &liquid.transform, 5)));
    per_particle(group, splash, 2 * PARTICLE);
    group.bench_function("sort", |b| {
        let sort = |p: &mut _| cells::sort(p, &liquid.transform, &topology);
        b.iter_batched_ref(|| moved.clone(), sort, BatchSize::LargeInput)
    });
}

/// What particles and faces give each other.
fn exchange(group: &mut Group, splash: &Splash, cells: &Cells) {
    let liquid = &splash.liquid;
    let apic = Transfer { cells, transform: liquid.transform, method: VelocityTransfer::Apic };
    let h = splash.liquid.transform.voxel_size() as f32;
    let faces = VELOCITY * cells.topology.len() * leaf::SIZE / liquid.particles.len();
    per_particle(group, splash, POSITION + MOTION + faces);
    group.bench_function("particles to faces", |b| b.iter(|| particles_to_faces(&liquid.particles, &apic)));
    group.bench_function("faces to particles", |b| {
        let back = |p: &mut _| {
            let (new, old) = (&liquid.velocity, &liquid.transferred);
            faces_to_particles(p, &apic, new, old)
        };
        b.iter_batched_ref(|| liquid.particles.clone(), back, BatchSize::LargeInput)
    });
    per_particle(group, splash, 2 * PARTICLE);
    group.bench_function("reseed", |b| {
        let phi = liquid.surface.on(&cells.topology);
        let (solid, open) = (Some(&liquid.solid.nodes), Some(&liquid.solid.open));
        let (transform, velocity, limits) = (&liquid.transform, &liquid.velocity, Reseeding::default());
        let interior = Interior { cells, transform, surface: &phi, velocity, solid, open, deep: None };
        let fill = |p: &mut _| {
            let mut next = liquid.next_id;
            reseed(p, &interior, &limits, &mut next)
        };
        b.iter_batched_ref(|| liquid.particles.clone(), fill, BatchSize::LargeInput)
    });
    per_particle(group, splash, POSITION);
    group.bench_function("level set", |b| {
        let how = SurfaceParams::default();
        b.iter(|| surface(&liquid.particles, cells, None, &liquid.transform, Some(&liquid.solid), None, &how))
    });
    let phi =
        surface(&liquid.particles, cells, None, &liquid.transform, None, None, &SurfaceParams::default());
    per_cell(group, phi.topology.len(), 2 * VALUE);
    group.bench_function("redistance", |b| b.iter(|| redistance(&phi, h, splash.params.band)));
}

/// What fills grids.
fn fields(group: &mut Group, splash: &Splash, cells: &Cells) {
    let liquid = &splash.liquid;
    let h = liquid.transform.voxel_size() as f32;
    let leaves = liquid.solid.open.topology.len();
    per_cell(group, leaves, 2 * VELOCITY + 2 * VALUE);
    group.bench_function("solids that moved", |b| {
        let topology = &liquid.solid.open.topology;
        b.iter_batched_ref(
            Rasteriser::default,
            |r| r.rasterise(&splash.colliders, &splash.domain, topology, &liquid.transform).nodes.values[0],
            BatchSize::LargeInput,
        )
    });
    per_cell(group, cells.topology.len(), 2 * VELOCITY + VALUE);
    group.bench_function("extrapolate", |b| {
        let phi = liquid.surface.on(&cells.topology);
        let before = Some(&liquid.transferred);
        let extend = |u: &mut _| {
            let walls = Walls::held(&liquid.solid, h);
            extrapolate(u, cells, &phi, &walls, None, splash.params.layers(), before)
        };
        b.iter_batched_ref(|| liquid.velocity.clone(), extend, BatchSize::LargeInput)
    });
}

/// The projection: the regions by themselves, then all of it, each way.
fn solve(group: &mut Group, splash: &Splash, dt: f64) {
    let fields = splash.fields();
    let leaves = fields.open.topology.len();
    per_cell(group, leaves, VELOCITY + 2 * VALUE);
    group.bench_function("regions", |b| b.iter(|| Regions::find(&fields)));
    let params = Params::default();
    let go_on = || |_| ControlFlow::Continue(());
    let fresh = || (splash.liquid.velocity.clone(), MultigridSolver::default());
    // As many bytes as the whole projection must read and write, not as the solver's iterations move.
    per_cell(group, leaves, 4 * VELOCITY + 3 * VALUE);
    group.bench_function("solve free surface", |b| {
        let project = |(vel, solver): &mut (_, MultigridSolver)| {
            let solver: &mut dyn PressureSolver = solver;
            free_surface::project(&fields, vel, dt, solver, &params, &mut go_on())
        };
        b.iter_batched_ref(fresh, project, BatchSize::LargeInput)
    });
    group.bench_function("solve constraint bubbles", |b| {
        let project = |(vel, solver): &mut (_, MultigridSolver)| {
            let solver: &mut dyn PressureSolver = solver;
            constraint_bubbles::project(&fields, vel, dt, solver, &params, &mut go_on())
        };
        b.iter_batched_ref(fresh, project, BatchSize::LargeInput)
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = triad, stages
}
criterion_main!(benches);
