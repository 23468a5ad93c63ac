//! What the passes over the finest level reach of what the memory gives: the operator, a half sweep of the smoother, and the
//! triad, by turns, on one thread. Bytes are each array of a pass once (docs/pressure.md, "What an iteration moves"). On Linux
//! the time is the one spent on the processor, so that what else a machine runs disturbs less.
//!
//! ```text
//! cargo bench -p meniscus-kernels --bench passes [-- leaves a side, 16; turns, 7]
//! ```

use meniscus_kernels::checkerboard;
use meniscus_kernels::conjugate_gradients::{Scratch, Vector, apply};
use meniscus_kernels::multigrid::{Contacts, Level, Work, neighbours, relax_colour};
use std::time::Instant;

/// Passes between two looks at the clock, which moves in ticks of a few milliseconds.
const REPEATS: usize = 16;

/// A closed box of n³ leaves, all coefficients 1 or all different.
fn level(n: i32, uniform: bool) -> Level {
    let side = || (0..n).map(|c| 8 * c);
    let origins: Vec<[i32; 3]> =
        side().flat_map(|x| side().flat_map(move |y| side().map(move |z| [x, y, z]))).collect();
    let leaves = origins.len();
    let mut level = Level { neighbours: neighbours(&origins), origins, ..Level::default() };
    for (axis, field) in level.faces.iter_mut().enumerate() {
        checkerboard::reset(field, leaves);
        for (colour, halves) in field.iter_mut().enumerate() {
            for (l, half) in halves[..leaves].iter_mut().enumerate() {
                for (i, w) in half.as_flattened_mut().iter_mut().enumerate() {
                    let varied = 1.0 + ((l * 7 + i * 13 + axis * 5 + colour) % 97) as f32 / 97.0;
                    *w = if uniform { 1.0 } else { varied };
                }
            }
        }
    }
    level.contacts = Contacts::new(&vec![Vec::new(); leaves], 0);
    level.finish();
    level
}

/// Time this thread has spent on a processor, in seconds, or since `start`.
fn now(start: Instant) -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = spent.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok());
    spent.map_or(start.elapsed().as_secs_f64(), |ns| 1e-9 * ns as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The triad a = b + s c [McCalpin 1995] on vectors far beyond any cache.
struct Triad([Vec<f64>; 3]);

impl Triad {
    const LENGTH: usize = 8 << 20;

    fn run(&mut self) {
        let [a, b, c] = &mut self.0;
        a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = *b + 3.0 * *c);
    }
}

/// One row: bytes/s of a pass that moves so many bytes, and its share of the triad measured between its runs.
fn row(name: &str, turns: usize, bytes: f64, triad: &mut Triad, mut pass: impl FnMut()) {
    let start = Instant::now();
    pass();
    let rates: Vec<[f64; 2]> = (0..turns)
        .map(|_| {
            let t = now(start);
            (0..REPEATS).for_each(|_| pass());
            let u = now(start);
            (0..REPEATS / 4).for_each(|_| triad.run());
            let bytes = [REPEATS as f64 * bytes, (REPEATS / 4 * 24 * Triad::LENGTH) as f64];
            [bytes[0] / (u - t), bytes[1] / (now(start) - u)]
        })
        .collect();
    let rate = median(rates.iter().map(|r| r[0]).collect());
    let share = median(rates.iter().map(|r| r[0] / r[1]).collect());
    println!("| {name} | {:.1} GB/s | {:.0} % |", 1e-9 * rate, 100.0 * share);
}

fn main() {
    let numbers: Vec<i32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let n = numbers.first().copied().unwrap_or(16);
    let turns = numbers.get(1).map_or(7, |&turns| turns as usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    println!("| pass | rate | of the triad |\n|---|---|---|");
    let mut triad = Triad(std::array::from_fn(|i| vec![i as f64; Triad::LENGTH]));
    for (kind, uniform, faces, diagonal) in
        [("uniform", true, 0.0, 0.0), ("all coefficients", false, 12.0, 4.0)]
    {
        let level = level(n, uniform);
        let cells = (level.leaves() * 512) as f64;
        let (mut x, mut y) = (Vector::<f32>::default(), Vector::<f32>::default());
        let (mut scratch, mut work) = (Scratch::default(), Work::default());
        x.fit(level.leaves(), 0);
        y.fit(level.leaves(), 0);
        scratch.fit(&level, &[]);
        work.fit(&level);
        pool.install(|| {
            row(&format!("operator, {kind}"), turns, cells * (8.0 + faces), &mut triad, || {
                apply(&level, &[], &x, &mut y, &mut scratch);
            });
            let bytes = cells * (6.0 + faces + diagonal / 2.0);
            row(&format!("half sweep, {kind}"), turns, bytes, &mut triad, || {
                relax_colour(&level, &mut work, 1, false);
            });
        });
    }
}
