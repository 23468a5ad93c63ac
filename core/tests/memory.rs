//! Memory follows the liquid: empty space costs nothing.

#[path = "../benches/scenes/mod.rs"]
mod scenes;

use meniscus_core::grid::{FaceGrid, Grid};
use meniscus_core::solid::Side;
use scenes::splash::Splash;

fn of_grid<T>(grid: &Grid<T>) -> usize {
    grid.values.len() * size_of::<T>()
}

fn of_faces<T>(faces: &FaceGrid<T>) -> usize {
    faces.values.iter().map(Vec::len).sum::<usize>() * size_of::<T>()
}

/// Leaves of the grid that has most, and bytes of all the arrays that a splash holds between two substeps and that a
/// substep fills.
fn cost(splash: &Splash) -> (usize, usize) {
    let (liquid, solid) = (&splash.liquid, &splash.liquid.solid);
    let grids = [
        of_grid(&liquid.surface),
        of_faces(&liquid.velocity),
        of_faces(&liquid.transferred),
        of_grid(&liquid.divergence),
        of_grid(&solid.nodes),
        of_grid(&solid.volume),
        of_faces(&solid.open),
        of_faces(&solid.velocity),
        splash.pressure.as_ref().map_or(0, of_grid),
        splash.air.as_ref().map_or(0, |air| of_grid(&air.cells)),
    ];
    // Position, velocity, affine part, id, density, viscosity.
    let particles = liquid.particles.len() * (5 * 12 + 8 + 4 + 4);
    let topologies = [&liquid.surface.topology, &liquid.velocity.topology, &solid.open.topology];
    let leaves = topologies.iter().map(|t| t.len()).max().unwrap_or(0);
    (leaves, grids.iter().sum::<usize>() + particles)
}

/// Peak resident set of this process, MiB; only to be looked at.
fn peak_resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib / 1024.0)
}

/// The same splash in a domain of 1, 8 and 512 times the volume, whatever its sides do.
#[test]
fn a_splash_costs_the_same_in_a_larger_domain() {
    for side in [Side::Open, Side::Kill, Side::Closed] {
        let [small, large, huge] = [1.0, 2.0, 8.0].map(|room| {
            let mut splash = Splash::new(32, room, side);
            for _ in 0..5 {
                splash.substep();
            }
            let (leaves, bytes) = cost(&splash);
            println!(
                "{side:?}, {room}³ m³: {leaves} leaves, {:.2} MiB of arrays, {:.0} MiB resident at most so far",
                bytes as f64 / f64::from(1 << 20),
                peak_resident()
            );
            (leaves as f64, bytes as f64)
        });
        for other in [large, huge] {
            assert!(
                other.0 < 1.2 * small.0 && other.1 < 1.2 * small.1,
                "{side:?}: {small:?}, then {other:?}"
            );
        }
    }
}
