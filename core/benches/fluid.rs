//! Times the stages of a FLIP substep on a cube of liquid: `cargo bench -p meniscus-core --bench fluid [particles]`.

use glam::{DVec3, Vec3};
use meniscus_core::fluid::advection::{AdvectionParams, advect};
use meniscus_core::fluid::cells;
use meniscus_core::fluid::extrapolation::extrapolate;
use meniscus_core::fluid::reseeding::{Reseeding, reseed};
use meniscus_core::fluid::seeding::{Material, Seeding};
use meniscus_core::fluid::surface::{SurfaceParams, surface};
use meniscus_core::fluid::transfer::{VelocityTransfer, faces_to_particles, particles_to_faces};
use meniscus_core::fluid::volume::of_surface;
use meniscus_core::fluid::{Particles, crowding};
use meniscus_core::grid::{Grid, Transform};
use meniscus_core::levelset::redistance;
use meniscus_core::solid::{DomainLimits, Side, Solids, rasterise};
use std::sync::Arc;
use std::time::Instant;

/// Edge length of a voxel, metres.
const H: f64 = 0.1;
const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };

/// The best of five runs.
fn timed<T>(label: &str, mut stage: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut last = stage();
    for _ in 0..5 {
        let start = Instant::now();
        last = stage();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("  {label:<28} {:8.2} ms", best * 1e3);
    last
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    for n in if sizes.is_empty() { vec![100_000, 1_000_000] } else { sizes } {
        time(n);
    }
}

fn time(n: usize) {
    let transform = Transform::uniform(H, DVec3::ZERO);
    let side = DVec3::splat((n as f64 / 8.0).cbrt() * H);
    let mut particles = Particles::new(DVec3::ZERO);
    let (everywhere, turning) = (|_: DVec3| true, |x: DVec3| Vec3::new(-x.y as f32, x.x as f32, 0.1));
    let seeding = Seeding::for_voxel(H as f32);
    seeding.fill(&mut particles, &transform, (DVec3::ZERO, side), everywhere, turning, WATER, &mut 0);
    println!("{} particles, {} threads", particles.len(), rayon::current_num_threads());

    let topology = timed("leaves", || Arc::new(cells::covering(&particles, &transform, 4)));
    let (cells, _) = timed("sort", || cells::sort(&mut particles, &transform, &topology));
    let apic = VelocityTransfer::Apic;
    let carried = timed("particles to faces", || particles_to_faces(&particles, &cells, &transform, apic));
    timed("faces to particles", || {
        faces_to_particles(&mut particles, &cells, &transform, &carried.value, &carried.value, apic)
    });
    let how = SurfaceParams::default();
    let phi = timed("surface", || surface(&particles, &cells, &transform, None, &how));
    timed("redistance", || redistance(&phi, H as f32, 3.0));
    let domain = DomainLimits::uniform(DVec3::ZERO, side, Side::Closed);
    let walls = timed("solid fields", || rasterise(&[], &domain, &cells.topology, &transform));
    timed("volume", || of_surface(&phi, &walls.volume, H));
    timed("crowding", || {
        let mut source = Grid::new(phi.topology.clone(), 0.0);
        crowding::spread_out(&mut source, &cells, &phi, &walls.volume, H as f32, 8.0, 24.0, 0.01);
    });
    let mut extended = carried.value.clone();
    timed("extrapolate", || extrapolate(&mut extended, &cells, &phi, &walls, H as f32, 4));
    timed("reseed", || {
        let (mut p, limits) = (particles.clone(), Reseeding::default());
        reseed(&mut p, &cells, &transform, &phi, &extended, None, &limits, &mut (n as i64))
    });
    let solids = Solids { colliders: &[], domain: &domain };
    timed("advect", || {
        let mut p = particles.clone();
        advect(&mut p, &transform, &carried.value, &solids, 1e-3, i64::MAX, &AdvectionParams::default())
    });
}
