//! Times one projection of a two-bulb cooler: `cargo bench -p meniscus-core --bench coupling [cells]`.

use glam::{DVec3, IVec3};
use meniscus_core::coupling::regions::Regions;
use meniscus_core::coupling::{Density, LiquidFields, constraint_bubbles, free_surface};
use meniscus_core::grid::{FaceGrid, Grid, Topology, Transform};
use meniscus_core::levelset::fractions::face_open;
use meniscus_core::pressure::{MultigridSolver, Params};
use meniscus_core::solid::{DomainLimits, Side};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// The glass: negative outside two balls of radius 0.23 joined by a neck of radius 0.06.
fn glass(p: DVec3) -> f64 {
    let ball = |y: f64| 0.23 - p.distance(DVec3::new(0.5, y, 0.5));
    let neck = (0.06 - DVec3::new(p.x - 0.5, 0.0, p.z - 0.5).length()).min(0.25 - (p.y - 0.5).abs());
    ball(0.26).max(ball(0.74)).max(neck)
}

/// Water in the upper ball, a drop and a bubble on their ways.
fn water(p: DVec3) -> f64 {
    let pool = (0.55 - p.y).max(p.y - 0.8).max(0.05 - p.distance(DVec3::new(0.45, 0.65, 0.5)));
    pool.min(p.distance(DVec3::new(0.5, 0.4, 0.52)) - 0.04).min(p.y - 0.12)
}

fn main() {
    let sizes: Vec<i32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    for n in if sizes.is_empty() { vec![64, 128] } else { sizes } {
        time(n);
    }
}

fn time(n: i32) {
    let h = 1.0 / f64::from(n);
    let transform = Transform::uniform(h, DVec3::ZERO);
    let side = n / 8;
    let tile = |i: i32| IVec3::new(i / (side * side), i / side % side, i % side) * 8;
    let wet = |o: &IVec3| glass(transform.to_world(o.as_dvec3() + 3.5)) > -8.0 * h;
    let topology = Arc::new(Topology::new((0..side * side * side).map(tile).filter(wet).collect()));
    let surface =
        Grid::from_fn(topology.clone(), 3.0 * h as f32, |c| water(transform.to_world(c.as_dvec3())) as f32);
    let open = FaceGrid::from_fn(topology.clone(), 1.0, |axis, c| {
        face_open([(0., 0.), (1., 0.), (0., 1.), (1., 1.)].map(|(i, j)| {
            let mut p = c.as_dvec3() - DVec3::splat(0.5);
            (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (p[(axis + 1) % 3] + i, p[(axis + 2) % 3] + j);
            glass(transform.to_world(p)) as f32
        }))
    });
    let vel_solid = FaceGrid::new(topology.clone(), 0.0);
    let fields = LiquidFields {
        transform,
        domain: DomainLimits::uniform(DVec3::ZERO, DVec3::ONE, Side::Closed),
        surface: &surface,
        open: &open,
        vel_solid: &vel_solid,
        swelling: None,
        density: Density::Uniform(1000.0),
        source: None,
        tension: None,
        previous_pressure: None,
        previous_bubbles: None,
        volume_gain: 0.0,
    };
    println!("{n}³ domain: {} leaves", topology.len());
    let dt = 0.005;
    let falling =
        FaceGrid::from_fn(topology.clone(), 0.0, |axis, _| if axis == 1 { -9.81 * dt as f32 } else { 0.0 });
    let mut solver = MultigridSolver::default();
    for round in 0..3 {
        let start = Instant::now();
        let regions = Regions::find(&fields);
        let found = start.elapsed().as_secs_f64();
        if round == 0 {
            println!(
                "  {} liquid cells, {} regions of air",
                regions.liquid_cells.iter().sum::<usize>(),
                regions.air.len()
            );
        }
        let mut run_on = |_| ControlFlow::Continue(());
        for (name, project) in [
            ("free surface", free_surface::project as Project),
            ("constraint bubbles", constraint_bubbles::project),
        ] {
            let mut vel = falling.clone();
            let start = Instant::now();
            match project(&fields, &mut vel, dt, &mut solver, &Params::default(), &mut run_on) {
                Ok(p) => {
                    let (setup, solve) = (p.info.setup_seconds, p.info.solve_seconds);
                    let all = start.elapsed().as_secs_f64();
                    println!(
                        "  {name}: {:.1} ms besides the solver (regions {:.1}), setup {:.1}, {} iterations {:.1} ms; divergence {:.1e} 1/s",
                        1e3 * (all - setup - solve),
                        1e3 * found,
                        1e3 * setup,
                        p.info.iterations,
                        1e3 * solve,
                        p.max_divergence
                    );
                }
                Err(e) => println!("  {name}: {e}"),
            }
        }
    }
}

type Project = fn(
    &LiquidFields,
    &mut FaceGrid<f32>,
    f64,
    &mut dyn meniscus_core::pressure::PressureSolver,
    &Params,
    meniscus_core::pressure::Progress,
) -> Result<meniscus_core::coupling::Projection, meniscus_core::coupling::Error>;
