//! The device solve's table, for a machine with an NVIDIA GPU: solve time, iterations, and the bandwidth of the finest
//! level's passes as a share of a copy within the device's memory, measured in the same run.
//!
//! ```text
//! cargo bench -p meniscus-kernels --bench cuda -- [cells a side …]
//! cargo bench -p meniscus-kernels --bench cuda -- emulation 32     that the table works; its times mean nothing
//! ```
//!
//! Default: 64, 128 and 256 cells. The scene is a half-full box, θ drawn at random in every cell of the surface.

use meniscus_kernels::checkerboard::{self, Half, place};
use meniscus_kernels::conjugate_gradients::{ConjugateGradients, RightSide, Stop, Vector};
use meniscus_kernels::cuda::{Cuda, Device, DeviceConjugateGradients, Emulation, Failure};
use meniscus_kernels::leaf;
use meniscus_kernels::multigrid::{Contact, Contacts, Cycle, Level, Multigrid, ZERO, neighbours};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

/// Relative residuals to solve to.
const TOLERANCES: [f64; 2] = [1e-5, 1e-8];
/// Solves of which the fastest counts.
const TURNS: usize = 5;

/// Uniform in [0, 1), by number (SplitMix64).
fn noise(n: u64) -> f64 {
    let x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// A box of n cells a side, walls all around, liquid in its lower half (y), known zeros above.
fn half_full(n: i32) -> Level {
    let leaves = n / leaf::DIM as i32;
    let count = [leaves, leaves / 2, leaves];
    let all = (0..count.iter().product()).map(|i: i32| {
        [i / (count[1] * count[2]), i / count[2] % count[1], i % count[2]].map(|c| c * leaf::DIM as i32)
    });
    let origins: Vec<[i32; 3]> = all.collect();
    let mut level = Level { neighbours: neighbours(&origins), origins, ..Level::default() };
    for (axis, field) in level.faces.iter_mut().enumerate() {
        checkerboard::reset(field, level.origins.len());
        for (l, origin) in level.origins.iter().enumerate() {
            for n in 0..leaf::SIZE {
                let (colour, row, lane) = place(n);
                let at_wall = origin[axis] + leaf::local(n)[axis] == 0;
                field[colour][l][row][lane] = if at_wall { 0.0 } else { 1.0 };
            }
        }
    }
    let lists: Vec<Vec<Contact>> = level.origins.iter().map(|o| surface(*o, n)).collect();
    level.contacts = Contacts::new(&lists, 0);
    level.finish();
    level
}

/// The contacts of a leaf with the air above the liquid: 1 / θ.
fn surface(origin: [i32; 3], n: i32) -> Vec<Contact> {
    let mut list = Vec::new();
    for offset in (0..leaf::SIZE).filter(|&k| origin[1] + leaf::local(k)[1] == n / 2 - 1) {
        let [x, _, z] = leaf::local(offset);
        let column = (origin[0] + x) * n + origin[2] + z;
        let (colour, row, lane) = place(offset);
        let theta = 0.01 + 0.99 * noise(u64::from(column.unsigned_abs()));
        let lane = (row * 4 + lane) as u8;
        list.push(Contact { colour: colour as u8, lane, target: ZERO, weight: (1.0 / theta) as f32 });
    }
    list.sort_by_key(|c| (c.colour, c.target, c.lane));
    list
}

/// Noise in every cell.
struct Noise;

impl RightSide for Noise {
    fn cells(&self, l: usize, halves: [&mut Half<f64>; 2]) {
        for (colour, half) in halves.into_iter().enumerate() {
            for (i, v) in half.as_flattened_mut().iter_mut().enumerate() {
                *v = 2.0 * noise((l * 512 + colour * 256 + i) as u64) - 1.0;
            }
        }
    }

    fn super_cell(&self, _: usize) -> f64 {
        0.0
    }
}

fn print_solves<D: Device>(
    solver: &mut DeviceConjugateGradients<D>,
    multigrid: &mut Multigrid,
    turns: usize,
) -> Result<(), Failure> {
    for tolerance in TOLERANCES {
        let stop = Stop { tolerance, max_iterations: 100 };
        let (mut best, mut iterations, mut residual) = (f64::INFINITY, 0, 0.0);
        for _ in 0..turns {
            let mut x = Vector::default();
            x.fit(multigrid.levels[0].leaves(), 0);
            let go = &mut |_, _| ControlFlow::Continue(());
            let outcome = solver.solve(multigrid, &[], stop, &Noise, &mut x, go)?;
            best = best.min(solver.iterating_seconds());
            (iterations, residual) = (outcome.iterations, outcome.residual);
        }
        let mut processor = ConjugateGradients::default();
        processor.fit(&multigrid.levels[0], &[]);
        let start = Instant::now();
        let outcome = processor.solve(multigrid, &[], stop, &Noise, &mut |_, _| ControlFlow::Continue(()));
        println!(
            "  to {tolerance:.0e}: {:8.3} ms, {iterations} iterations, residual {residual:.1e}; processor {:8.1} ms, {} iterations",
            best * 1e3,
            start.elapsed().as_secs_f64() * 1e3,
            outcome.iterations
        );
    }
    Ok(())
}

fn table<D: Device>(
    solver: &mut DeviceConjugateGradients<D>,
    sizes: &[i32],
    turns: usize,
    copy: Option<f64>,
) -> Result<(), Failure> {
    println!("device: {}", solver.describe());
    if let Some(copy) = copy {
        println!("copy within its memory: {:.0} GB/s", copy / 1e9);
    }
    for &n in sizes {
        let mut multigrid = Multigrid::default();
        multigrid.build(half_full(n), Vec::new(), Cycle::default());
        println!("{n}³ half full, {} cells", multigrid.levels[0].unknown_cells);
        print_solves(solver, &mut multigrid, turns)?;
        for pass in solver.measure(&multigrid, &Noise, 10 * turns)? {
            let rate = pass.bytes / pass.seconds;
            let share = copy.map(|copy| format!(", {:3.0} % of the copy", 100.0 * rate / copy));
            let rate = format!("{:6.0} GB/s{}", rate / 1e9, share.unwrap_or_default());
            let rate = if pass.bytes > 0.0 { rate } else { String::new() };
            println!("  {:12} {:8.1} µs {rate}", pass.name, pass.seconds * 1e6);
        }
    }
    Ok(())
}

fn on_gpu(sizes: &[i32]) -> Result<(), Failure> {
    let mut cuda = Cuda::open()?;
    let copy = cuda.copy_bandwidth(1 << 30, 20)?;
    table(&mut DeviceConjugateGradients::new(cuda), sizes, TURNS, Some(copy))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<i32> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    sizes.retain(|n| *n >= 16 && n % 16 == 0);
    if sizes.is_empty() {
        sizes = vec![64, 128, 256];
    }
    let done = if arguments.iter().any(|a| a == "emulation") {
        table(&mut DeviceConjugateGradients::new(Emulation::default()), &sizes, 1, None)
    } else {
        on_gpu(&sizes)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("nothing measured: {why}");
            ExitCode::FAILURE
        }
    }
}
