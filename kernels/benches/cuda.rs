//! The device's table, for a machine with an NVIDIA GPU: solve time, iterations, and the bandwidth of the finest level's
//! passes and of the particles' as a share of a copy within the device's memory, measured in the same run.
//!
//! ```text
//! cargo bench -p meniscus-kernels --bench cuda -- [cells a side …]
//! cargo bench -p meniscus-kernels --bench cuda -- emulation 32     that the table works; its times mean nothing
//! ```
//!
//! Default: 64, 128 and 256 cells. The scene is a half-full box, θ drawn at random in every cell of the surface; eight
//! particles in every cell of the liquid.

use glam::{IVec3, Vec3};
use meniscus_kernels::checkerboard::{self, Half, place};
use meniscus_kernels::conjugate_gradients::{ConjugateGradients, RightSide, Stop, Vector};
use meniscus_kernels::cuda::{
    CellList, Cuda, Device, DeviceConjugateGradients, DeviceParticles, Emulation, Failure, Field, Frame,
    LeafTable, ParticleArrays, Pass, SolidTable, Stamp, Stamped, Way,
};
use meniscus_kernels::leaf;
use meniscus_kernels::multigrid::{Bodies, Contact, Contacts, Cycle, Level, Multigrid, ZERO, neighbours};
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

/// Eight particles in every cell of the lower half of a box, walls all around it, in a whirl.
struct Pool {
    origins: Vec<IVec3>,
    neighbours: Vec<[u32; leaf::NEIGHBOURS]>,
    start: Vec<u32>,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    faces: [Vec<f32>; 3],
    edge: f64,
}

impl Pool {
    /// n cells a side, a unit each; leaves a layer above the liquid.
    fn new(n: i32) -> Self {
        let leaves = n / leaf::DIM as i32;
        let count = IVec3::new(leaves, leaves / 2 + 1, leaves);
        let number = |l: IVec3| ((l.x * count.y + l.y) * count.z + l.z) as u32;
        let within = |l: IVec3| l.cmpge(IVec3::ZERO).all() && l.cmplt(count).all();
        let all = (0..count.element_product())
            .map(|i| IVec3::new(i / (count.y * count.z), i / count.z % count.y, i % count.z));
        let slots = || (0..leaf::NEIGHBOURS as i32).map(|s| IVec3::new(s / 9 - 1, s / 3 % 3 - 1, s % 3 - 1));
        let around = |l: IVec3| {
            let number = |d: IVec3| if within(l + d) { number(l + d) } else { leaf::ABSENT };
            let mut row = [leaf::ABSENT; leaf::NEIGHBOURS];
            row.iter_mut().zip(slots()).for_each(|(slot, d)| *slot = number(d));
            row
        };
        let mut pool = Self {
            origins: all.clone().map(|l| l * leaf::DIM as i32).collect(),
            neighbours: all.map(around).collect(),
            start: vec![0],
            position: Vec::new(),
            velocity: Vec::new(),
            faces: Default::default(),
            edge: f64::from(n),
        };
        let whirl = |x: Vec3| Vec3::new(x.y, -x.x, 0.1 * x.z) / n as f32;
        for &origin in &pool.origins {
            for offset in 0..leaf::SIZE {
                let cell = origin + IVec3::from_array(leaf::local(offset));
                let particles = if cell.y < n / 2 { 8 } else { 0 };
                for _ in 0..particles {
                    let seed = 3 * pool.position.len() as u64;
                    let at =
                        Vec3::from_array([0, 1, 2].map(|axis| 0.998 * noise(seed + axis) as f32 - 0.499));
                    pool.position.push(cell.as_vec3() + at);
                    pool.velocity.push(whirl(cell.as_vec3() + at));
                }
                pool.start.push(pool.position.len() as u32);
                let u = whirl(cell.as_vec3()).to_array();
                pool.faces.iter_mut().zip(u).for_each(|(values, u)| values.push(u));
            }
        }
        pool
    }

    fn measure<D: Device>(&self, device: D, times: usize) -> Result<Vec<Pass>, Failure> {
        let stamp = Stamp::of(1);
        let leaves = LeafTable { stamp, origins: &self.origins, neighbours: &self.neighbours };
        let cells = CellList { leaves, start: Stamped::new(stamp, &self.start) };
        let vectors = |values| Stamped::new(stamp, values);
        let particles = ParticleArrays {
            position: vectors(&self.position),
            velocity: vectors(&self.velocity),
            affine: Some([vectors(&self.velocity); 3]),
            density: None,
        };
        let values = self.faces.each_ref().map(|values| Stamped::new(stamp, values.as_slice()));
        let velocity = Field { values, background: 0.0 };
        let way = Way { leaves, velocity, newborn: None, origin: [0.0; 3], step: 1.0 };
        let (low, high) = (-0.5, self.edge - 0.5);
        let walls = SolidTable {
            shapes: &[],
            side: [low, high, low, high, low, high],
            closed: [true; 6],
            kills: [false; 6],
            moving: false,
            separation: 0.05,
            swept: 0.0,
        };
        let frame = Frame { base: [0; 3], offset: [0.0; 3], per_metre: 1.0, h: 1.0 };
        DeviceParticles::new(device).measure(&cells, &particles, frame, (&way, &walls), times)
    }
}

fn print_passes(passes: &[Pass], copy: Option<f64>) {
    for pass in passes {
        let rate = pass.bytes / pass.seconds;
        let share = copy.map(|copy| format!(", {:3.0} % of the copy", 100.0 * rate / copy));
        let rate = format!("{:6.0} GB/s{}", rate / 1e9, share.unwrap_or_default());
        let rate = if pass.bytes > 0.0 { rate } else { String::new() };
        println!("  {:14} {:8.1} µs {rate}", pass.name, pass.seconds * 1e6);
    }
}

fn table<D: Device>(
    open: impl Fn() -> Result<D, Failure>,
    sizes: &[i32],
    turns: usize,
    copy: Option<f64>,
) -> Result<(), Failure> {
    let mut solver = DeviceConjugateGradients::new(open()?);
    println!("device: {}", solver.describe());
    if let Some(copy) = copy {
        println!("copy within its memory: {:.0} GB/s", copy / 1e9);
    }
    for &n in sizes {
        let mut multigrid = Multigrid::default();
        multigrid.build(half_full(n), Vec::new(), Bodies::default(), Cycle::default());
        println!("{n}³ half full, {} cells", multigrid.levels[0].unknown_cells);
        print_solves(&mut solver, &mut multigrid, turns)?;
        print_passes(&solver.measure(&multigrid, &Noise, 10 * turns)?, copy);
        let pool = Pool::new(n);
        println!("  {} particles", pool.position.len());
        print_passes(&pool.measure(open()?, 10 * turns)?, copy);
    }
    Ok(())
}

fn on_gpu(sizes: &[i32]) -> Result<(), Failure> {
    let copy = Cuda::open()?.copy_bandwidth(1 << 30, 20)?;
    table(Cuda::open, sizes, TURNS, Some(copy))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<i32> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    sizes.retain(|n| *n >= 16 && n % 16 == 0);
    if sizes.is_empty() {
        sizes = vec![64, 128, 256];
    }
    let done = if arguments.iter().any(|a| a == "emulation") {
        table(|| Ok(Emulation::default()), &sizes, 1, None)
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
