//! What the passes over the finest level reach of what the memory gives: the operator, a half sweep of the smoother, and the
//! triad, by turns. Bytes are each array of a pass once (docs/pressure.md, "What an iteration moves").
//!
//! ```text
//! cargo bench -p meniscus-kernels --bench passes [-- leaves a side, 16; turns, 9]
//! ```

#[path = "../../core/benches/engine/triad.rs"]
mod triad;

use meniscus_kernels::checkerboard;
use meniscus_kernels::conjugate_gradients::{Scratch, Vector, apply};
use meniscus_kernels::multigrid::{Contacts, Level, Work, neighbours, relax_colour};
use std::time::Instant;

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

fn seconds(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One row: bytes/s of a pass that moves so many bytes a cell, and its share of the triad measured between its runs.
fn row(name: &str, threads: usize, turns: usize, bytes: f64, mut pass: impl FnMut()) {
    pass();
    let pairs: Vec<[f64; 2]> =
        (0..turns).map(|_| [bytes / seconds(&mut pass), triad::bytes_per_second(1)]).collect();
    let rate = median(pairs.iter().map(|p| p[0]).collect());
    let share = median(pairs.iter().map(|p| p[0] / p[1]).collect());
    println!("| {name} | {threads} | {:.1} GB/s | {:.0} % |", 1e-9 * rate, 100.0 * share);
}

fn main() {
    let numbers: Vec<i32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let n = numbers.first().copied().unwrap_or(16);
    let turns = numbers.get(1).map_or(9, |&turns| turns as usize);
    println!("| pass | threads | rate | of the triad |\n|---|---|---|---|");
    for (kind, uniform, faces) in [("uniform", true, 0.0), ("all coefficients", false, 12.0)] {
        let level = level(n, uniform);
        let cells = (level.leaves() * 512) as f64;
        let diagonal = if uniform { 0.0 } else { 4.0 };
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let (mut x, mut y) = (Vector::<f32>::default(), Vector::<f32>::default());
                let (mut scratch, mut work) = (Scratch::default(), Work::default());
                x.fit(level.leaves(), 0);
                y.fit(level.leaves(), 0);
                scratch.fit(&level, &[]);
                work.fit(&level);
                row(&format!("operator, {kind}"), threads, turns, cells * (8.0 + faces), || {
                    apply(&level, &[], &x, &mut y, &mut scratch);
                });
                row(
                    &format!("half sweep, {kind}"),
                    threads,
                    turns,
                    cells * (6.0 + faces + diagonal / 2.0),
                    || {
                        relax_colour(&level, &mut work, 1);
                    },
                );
            });
        }
    }
}
