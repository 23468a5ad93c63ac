//! Milliseconds per stage; run with `cargo test --release -p meniscus-core -- --ignored timing --nocapture`.

use super::*;
use crate::fluid::advection::{AdvectionParams, advect};
use crate::fluid::extrapolation::extrapolate;
use crate::fluid::reseeding::{Reseeding, reseed};
use crate::fluid::surface::{SurfaceParams, surface};
use crate::fluid::transfer::{VelocityTransfer, faces_to_particles, particles_to_faces};
use crate::fluid::volume::of_surface;
use crate::levelset::redistance;
use crate::solid::{DomainLimits, Side, Solids, rasterise};
use std::time::Instant;

fn timed<T>(label: &str, mut stage: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..5 {
        let start = Instant::now();
        result = Some(stage());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("  {label:<28} {:8.2} ms", best * 1e3);
    result.unwrap()
}

#[test]
#[ignore = "a measurement, not a check"]
fn timing() {
    for n in [100_000usize, 1_000_000] {
        let side = (n as f32 / 8.0).cbrt() * H as f32;
        println!("{n} particles, {} threads", rayon::current_num_threads());
        let (mut particles, _) = cloud(n, Vec3::ZERO, Vec3::splat(side), |x| Vec3::new(-x.y, x.x, 0.1));
        let topology = timed("leaves", || Arc::new(cells::covering(&particles, &transform(), 4)));
        let (cells, _) = timed("sort", || cells::sort(&mut particles, &transform(), &topology));
        let apic = VelocityTransfer::Apic;
        let carried =
            timed("particles to faces", || particles_to_faces(&particles, &cells, &transform(), apic));
        timed("faces to particles", || {
            faces_to_particles(&mut particles, &cells, &transform(), &carried.value, &carried.value, apic)
        });
        let phi =
            timed("surface", || surface(&particles, &cells, &transform(), None, &SurfaceParams::default()));
        let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::splat(side as f64), Side::Closed);
        let solids = Solids { colliders: &[], domain: &domain };
        timed("redistance", || redistance(&phi, H as f32, 3.0));
        let walls = timed("solid fields", || rasterise(&[], &domain, &cells.topology, &transform()));
        timed("volume", || of_surface(&phi, &walls.volume, H));
        let mut extended = carried.value.clone();
        timed("extrapolate", || extrapolate(&mut extended, &cells, &phi, &walls, H as f32, 4));
        let limits = Reseeding::default();
        timed("reseed", || {
            let mut p = particles.clone();
            reseed(&mut p, &cells, &transform(), &phi, &extended, None, &limits, &mut (n as i64))
        });
        timed("advect", || {
            let params = AdvectionParams::default();
            advect(&mut particles, &transform(), &carried.value, &solids, 1e-3, i64::MAX, &params)
        });
    }
}
