//! What only a ratio tells, measured in one run, by turns, so that what else the machine does falls on both sides:
//! the constraint's cost, and the cost of an eight times larger domain.
//! `cargo bench -p meniscus-core --bench ratios [cells]`.

mod scenes;

use meniscus_core::coupling::air::identity::identify;
use meniscus_core::coupling::air::regions::Regions;
use meniscus_core::coupling::{Error, LiquidFields, Projection, constraint_bubbles, free_surface};
use meniscus_core::grid::FaceGrid;
use meniscus_core::pressure::{MultigridSolver, Params, PressureSolver, Progress};
use meniscus_core::solid::Side;
use scenes::cooler::Cooler;
use scenes::splash::Splash;
use std::ops::ControlFlow;
use std::time::Instant;

/// Turns, of which medians are taken.
const TURNS: usize = 15;

type Project = fn(
    &LiquidFields,
    &mut FaceGrid<f32>,
    f64,
    &mut dyn PressureSolver,
    &Params,
    Progress,
) -> Result<Projection, Error>;

/// The seconds of one projection.
#[derive(Clone, Copy)]
struct Turn {
    whole: f64,
    setup: f64,
    solve: f64,
    iterations: usize,
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn turn(project: Project, fields: &LiquidFields, vel: &FaceGrid<f32>, dt: f64, tolerance: f64) -> Turn {
    let mut vel = vel.clone();
    let mut solver = MultigridSolver::default();
    let params = Params { tolerance, ..Params::default() };
    let start = Instant::now();
    let done = project(fields, &mut vel, dt, &mut solver, &params, &mut |_| ControlFlow::Continue(()));
    let (whole, info) = (start.elapsed().as_secs_f64(), done.expect("a pressure").info);
    Turn { whole, setup: info.setup_seconds, solve: info.solve_seconds, iterations: info.iterations }
}

/// Free surface against constraint bubbles: same state, same tolerance.
fn constraint(name: &str, fields: &LiquidFields, vel: &FaceGrid<f32>, dt: f64) {
    let regions = Regions::find(fields);
    let (cells, air) = (regions.liquid_cells.iter().sum::<usize>(), &regions.air);
    let enclosed = air.iter().filter(|a| !a.exterior).count();
    println!("{name}: {cells} liquid cells, {enclosed} enclosed regions of air");
    let search = || {
        let start = Instant::now();
        let regions = Regions::find(fields);
        identify(&regions, fields.previous_bubbles, fields.voxel_size().powi(3));
        start.elapsed().as_secs_f64()
    };
    for tolerance in [1e-5, 1e-8] {
        let (mut pairs, mut searches): (Vec<[Turn; 2]>, Vec<f64>) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let both = [free_surface::project as Project, constraint_bubbles::project];
            pairs.push(both.map(|p| turn(p, fields, vel, dt, tolerance)));
            searches.push(search());
        }
        for (way, called) in ["free surface", "constraint bubbles"].into_iter().enumerate() {
            let of = |f: fn(&Turn) -> f64| 1e3 * median(pairs.iter().map(|pair| f(&pair[way])));
            println!(
                "  {tolerance:.0e} {called:20} whole {:7.1} ms, set-up {:6.1} ms, solve {:6.1} ms, {} iterations",
                of(|t| t.whole),
                of(|t| t.setup),
                of(|t| t.solve),
                pairs[0][way].iterations
            );
        }
        let ratio = |f: fn(&Turn) -> f64| median(pairs.iter().map(|[free, kept]| f(kept) / f(free)));
        println!(
            "  {tolerance:.0e} ratio: whole {:.3}, set-up and solve {:.3}, iterations {:.3}, per iteration {:.3}",
            ratio(|t| t.whole),
            ratio(|t| t.setup + t.solve),
            ratio(|t| t.iterations as f64),
            ratio(|t| t.solve / t.iterations as f64)
        );
        // The free surface reports its air, too, but could do without.
        let bare = median(pairs.iter().zip(&searches).map(|([free, kept], s)| kept.whole / (free.whole - s)));
        println!(
            "  {tolerance:.0e} regions and identities {:.1} ms; taken off the free surface alone: whole {bare:.3}",
            1e3 * median(searches.into_iter())
        );
    }
}

/// The same splash in a domain of twice the side.
fn domain(n: i32) {
    for side in [Side::Open, Side::Kill, Side::Closed] {
        let mut both = [1.0, 2.0].map(|room| Splash::new(n, room, side));
        let mut seconds = Vec::new();
        for _ in 0..TURNS {
            let timed = both.each_mut().map(|splash| {
                let start = Instant::now();
                splash.substep();
                start.elapsed().as_secs_f64()
            });
            seconds.push(timed);
        }
        let of = |room: usize| 1e3 * median(seconds.iter().map(|s| s[room]));
        println!(
            "{n}³ domain, sides {side:?}: a substep {:.1} ms; in one eight times as large {:.1} ms; ratio {:.3}",
            of(0),
            of(1),
            median(seconds.iter().map(|s| s[1] / s[0]))
        );
    }
}

fn main() {
    let sizes: Vec<i32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    for n in if sizes.is_empty() { vec![32, 64] } else { sizes } {
        let mut splash = Splash::in_motion(n);
        let dt = splash.dt();
        splash.predict(dt);
        constraint(&format!("splash, {n}³"), &splash.fields(), &splash.liquid.velocity, dt);
        // The cooler's neck needs the finer voxels.
        let (cooler, dt) = (Cooler::new(2 * n), 0.005);
        constraint(&format!("cooler, {}³", 2 * n), &cooler.fields(), &cooler.falling(dt), dt);
        domain(n);
    }
}
