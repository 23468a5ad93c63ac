//! The pressure engine's table: set-up, solve, iterations, true residual, memory and bandwidth on the scenes that
//! every peer's solver is measured on, and what bubbles cost.
//!
//! ```text
//! cargo bench -p meniscus-core --bench engine -- [cells a side …] [turns=5] [threads=1,2] [bubbles=1,3,30,300] [write=FOLDER]
//! cargo bench -p meniscus-core --bench engine -- [cells a side …] [turns=5] bodies=1,10,100 [membrane=100]
//! ```
//!
//! Default: 64 and 128 cells. `write` puts the systems into a folder as Matrix Market files, for other solvers.
//! `peers.sh` beside this file runs other solvers on the same scenes.

mod clock;
mod matrix_market;
#[path = "../../tests/pressure/scene.rs"]
mod scene;
#[path = "../../tests/pressure/shoal.rs"]
mod shoal;
mod triad;

use clock::own_seconds;
use meniscus_core::grid::leaf;
use meniscus_core::pressure::{Info, MultigridSolver, Params, PressureSolver, PressureSystem, Unknowns};
use scene::Scene;
use shoal::Shoal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Bytes of the finest level that one iteration cannot avoid moving, per cell of its leaves, every array of a
/// pass once, coefficients not counted (docs/pressure.md, "What an iteration moves"): a lower bound.
const BYTES_PER_CELL: f64 = 110.0;

/// Relative residuals to solve to.
const TOLERANCES: [f64; 2] = [1e-5, 1e-8];

/// What the command line asks for.
struct Options {
    sizes: Vec<i32>,
    turns: usize,
    threads: Vec<usize>,
    bubbles: Vec<usize>,
    write: Option<PathBuf>,
    bodies: Vec<usize>,
    membrane: u32,
}

impl Options {
    fn parse() -> Self {
        let mut out = Self {
            sizes: vec![],
            turns: 5,
            threads: vec![1, 2],
            bubbles: vec![1, 3, 30, 300],
            write: None,
            bodies: vec![],
            membrane: 0,
        };
        for argument in std::env::args().skip(1) {
            match argument.split_once('=') {
                Some(("turns", n)) => out.turns = n.parse().expect("turns=NUMBER"),
                Some(("threads", list)) => {
                    out.threads = list.split(',').map(|n| n.parse().expect("threads=N,N")).collect();
                }
                Some(("bubbles", list)) => {
                    out.bubbles = list.split(',').filter_map(|n| n.parse().ok()).collect();
                }
                Some(("bodies", list)) => {
                    out.bodies = list.split(',').map(|n| n.parse().expect("bodies=N,N")).collect();
                }
                Some(("membrane", n)) => out.membrane = n.parse().expect("membrane=VERTICES A SIDE"),
                Some(("write", folder)) => out.write = Some(folder.into()),
                _ => out.sizes.extend(argument.parse::<i32>()),
            }
        }
        if out.sizes.is_empty() {
            out.sizes = vec![64, 128];
        }
        out
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One solve from zero; the solver is kept, as it is from one substep to the next.
fn solve(
    solver: &mut MultigridSolver,
    system: &PressureSystem,
    rhs: &Unknowns,
    tolerance: f64,
) -> (Info, Unknowns) {
    let params = Params { tolerance, ..Params::default() };
    let mut x = Unknowns::zeros(system);
    let go_on = &mut |_| ControlFlow::Continue(());
    let info = solver.solve(system, rhs, &mut x, &params, go_on).expect("a pressure");
    (info, x)
}

/// ‖b − A x‖₂ / ‖b‖₂ by the reference operator, f64.
fn true_residual(system: &PressureSystem, rhs: &Unknowns, x: &Unknowns) -> f64 {
    let mut y = Unknowns::zeros(system);
    system.apply(x, &mut y);
    let pairs = y.cells.iter().zip(&rhs.cells).chain(y.supers.iter().zip(&rhs.supers));
    let (r, b) = pairs.fold((0.0, 0.0), |(r, b), (y, v)| (r + (v - y) * (v - y), b + v * v));
    (r / b).sqrt()
}

/// A system under its name.
struct Case {
    name: String,
    system: PressureSystem,
    rhs: Unknowns,
}

impl Case {
    fn new(name: &str, scene: &Scene, constrained: bool) -> Self {
        let (system, rhs) = scene.assemble(constrained);
        Self { name: format!("{name} {}", scene.n), system, rhs }
    }

    fn write(&self, folder: &Path) {
        let stem = folder.join(self.name.replace(' ', "_"));
        matrix_market::write(&self.system, &self.rhs, &stem).expect("files in the folder given");
    }

    /// One row of the table.
    fn measure(&self, threads: usize, tolerance: f64, turns: usize, triad: f64) {
        let mut solver = MultigridSolver::default();
        let (first, x) = solve(&mut solver, &self.system, &self.rhs, tolerance);
        let infos: Vec<Info> =
            (0..turns).map(|_| solve(&mut solver, &self.system, &self.rhs, tolerance).0).collect();
        let of = |f: fn(&Info) -> f64| median(infos.iter().map(f).collect());
        let (setup, seconds) = (of(|i| i.setup_seconds), of(|i| i.solve_seconds));
        let holds = |labels: &&[i32]| labels.contains(&meniscus_core::pressure::CELL);
        let cells = (self.system.label.chunks(leaf::SIZE).filter(holds).count() * leaf::SIZE) as f64;
        println!(
            "| {} | {threads} | {tolerance:.0e} | {setup:.4} | {seconds:.4} | {} | {:.1e} | {:.1} | {:.0} % |",
            self.name,
            first.iterations,
            true_residual(&self.system, &self.rhs, &x),
            first.bytes as f64 / cells,
            100.0 * BYTES_PER_CELL * cells * first.iterations as f64 / seconds / triad,
        );
    }
}

/// The scenes of the peers.
fn scenes(n: i32) -> Vec<Case> {
    let (wave, cooler) = (Scene::wave(n), Scene::cooler(n));
    vec![
        Case::new("wave", &wave, false),
        Case::new("cooler", &cooler, false),
        Case::new("coolerB", &cooler, true),
    ]
}

/// Constraint bubbles against the same holes under a free surface, by turns.
fn bubbles(n: i32, count: usize, tolerance: f64, turns: usize) {
    let scene = Scene::tank(n, count);
    let cases = [false, true].map(|constrained| Case::new("tank", &scene, constrained));
    let mut solvers = [MultigridSolver::default(), MultigridSolver::default()];
    let mut turn = || -> [Info; 2] {
        std::array::from_fn(|way| solve(&mut solvers[way], &cases[way].system, &cases[way].rhs, tolerance).0)
    };
    let [free, kept] = turn();
    let pairs: Vec<[Info; 2]> = (0..turns).map(|_| turn()).collect();
    let ratio = |f: fn(&Info) -> f64| median(pairs.iter().map(|[free, kept]| f(kept) / f(free)).collect());
    println!(
        "| {n} | {} | {tolerance:.0e} | {} | {} | {:.3} | {:.3} | {:.3} |",
        scene.bubbles,
        free.iterations,
        kept.iterations,
        ratio(|i| i.setup_seconds + i.solve_seconds),
        ratio(|i| i.setup_seconds),
        ratio(|i| i.solve_seconds / i.iterations as f64),
    );
}

/// A small reproducible generator (SplitMix64).
struct Random(u64);

impl Random {
    /// Uniform in [−1, 1).
    fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        2.0 * ((x >> 11) as f64 / (1u64 << 53) as f64) - 1.0
    }
}

/// Iterations, seconds before the first one ends, and seconds of each further one, by the thread's own time.
type Timed = (usize, f64, f64);

fn timed(solver: &mut MultigridSolver, (system, rhs): &(PressureSystem, Unknowns)) -> Timed {
    let mut x = Unknowns::zeros(system);
    let params = Params { tolerance: 1e-8, ..Params::default() };
    let start = own_seconds();
    let mut first = start;
    let mut last = start;
    let info = solver
        .solve(system, rhs, &mut x, &params, &mut |iteration| {
            last = own_seconds();
            first = if iteration.number == 1 { last } else { first };
            ControlFlow::Continue(())
        })
        .expect("a pressure");
    (info.iterations, first - start, (last - first) / (info.iterations - 1) as f64)
}

/// A row of the bodies' table: bodies that the pressure moves against the same ones on given paths, by turns.
fn compare_bodies(name: &str, cases: &[(PressureSystem, Unknowns); 2], turns: usize) {
    let columns = cases[1].0.attached.iter().flat_map(|a| a.columns());
    let entries: usize = columns.map(|c| c.cells.len()).sum();
    let mut solvers = [MultigridSolver::default(), MultigridSolver::default()];
    let mut turn = || -> [_; 2] { std::array::from_fn(|way| timed(&mut solvers[way], &cases[way])) };
    let [fixed, free] = turn();
    let pairs: Vec<_> = (0..turns).map(|_| turn()).collect();
    let of = |f: fn(&[Timed; 2]) -> f64| median(pairs.iter().map(f).collect());
    println!(
        "| {name} | {} | {} | {:.4} | {:.2} | {:.4} | {:.3} | {:.3} |",
        fixed.0,
        free.0,
        of(|p| p[0].1),
        of(|p| p[1].1 / p[0].1),
        of(|p| p[0].2),
        of(|p| p[1].2 / p[0].2),
        1.0 + 2.0 * entries as f64 / (7.0 * cases[0].0.cell_count() as f64),
    );
}

/// Iterations to 1e-8 and times, the thread's own, of bodies and of a membrane.
fn body_tables(options: &Options) {
    println!(
        "| cells a side, bodies, density | iterations without | with | before the first iteration ends, s | \
         ratio | an iteration, s | ratio | 1 + 2 nnz(C) / nnz(A) |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &n in &options.sizes {
        for &count in &options.bodies {
            for density in [0.01, 1.0, 100.0] {
                let shoal = Shoal::lattice(n, count, density);
                let cases = [shoal.assemble(false), shoal.assemble(true)];
                compare_bodies(&format!("{n}, {count}, {density}"), &cases, options.turns);
            }
        }
        if options.membrane > 0 {
            for mass in [0.1, 10.0] {
                let free = shoal::membrane(n, options.membrane, mass, 3.0 * mass);
                let mut fixed = free.clone();
                fixed.0.attached.clear();
                let bytes = free.0.attached[0].bytes();
                let name = format!(
                    "{n}, membrane of {}² of {mass}, {:.1} MB",
                    options.membrane,
                    bytes as f64 * 1e-6
                );
                compare_bodies(&name, &[fixed, free], options.turns);
            }
        }
    }
}

fn main() {
    let options = Options::parse();
    if !options.bodies.is_empty() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        return pool.install(|| body_tables(&options));
    }
    if let Some(folder) = &options.write {
        options.sizes.iter().flat_map(|&n| scenes(n)).for_each(|case| case.write(folder));
        return;
    }
    println!(
        "| scene | threads | tolerance | set-up s | solve s | iterations | true residual | bytes/cell | triad |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &n in &options.sizes {
        let cases = scenes(n);
        for &threads in &options.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let triad = triad::bytes_per_second(options.turns);
                for case in &cases {
                    TOLERANCES.iter().for_each(|&t| case.measure(threads, t, options.turns, triad));
                }
                println!("| triad | {threads} | | | | | | | {:.1} GB/s |", triad * 1e-9);
            });
        }
    }
    if !options.bubbles.is_empty() {
        // Inside a pool, as a solver always is: from outside every loop would wait for another thread to wake.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads[0]).build().expect("threads");
        pool.install(|| bubble_table(&options));
    }
}

fn bubble_table(options: &Options) {
    println!();
    println!(
        "| cells a side | bubbles | tolerance | iterations without | with | time's ratio | set-up's | per iteration's |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &n in &options.sizes {
        for &count in &options.bubbles {
            TOLERANCES.iter().for_each(|&t| bubbles(n, count, t, options.turns));
        }
    }
}
