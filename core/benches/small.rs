//! What a substep of small shots costs, from a thousand particles on, with one thread and with more, by turns:
//! `cargo bench -p meniscus-core --bench small [particles …]`.

mod scenes;

use rayon::ThreadPoolBuilder;
use scenes::small::{Into, Parts, Small};

/// Simulated time, s: the water falls for a fifth of a second, then splashes.
const UNTIL: f64 = 0.5;
/// From when on it is measured, s.
const FROM: f64 = 0.2;

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn whole(parts: &Parts) -> f64 {
    parts.predict + parts.solve + parts.correct
}

fn measure(particles: usize, into: Into, threads: &[usize]) {
    let pool = |&n: &usize| ThreadPoolBuilder::new().num_threads(n).build().expect("a pool of threads");
    let pools: Vec<_> = threads.iter().map(pool).collect();
    let mut shots: Vec<Small> = pools.iter().map(|p| p.install(|| Small::new(particles, into))).collect();
    let mut parts: Vec<Vec<Parts>> = vec![Vec::new(); pools.len()];
    while shots[0].time < UNTIL {
        for ((pool, shot), parts) in pools.iter().zip(&mut shots).zip(&mut parts) {
            let taken = pool.install(|| shot.substep());
            if shot.time > FROM {
                parts.push(taken);
            }
        }
    }
    let liquid = &shots[0].liquid;
    let (count, leaves) = (liquid.particles.len(), liquid.velocity.topology.len());
    for (n, parts) in threads.iter().zip(&parts) {
        let of = |f: fn(&Parts) -> f64| 1e3 * median(parts.iter().map(f));
        println!(
            "{into:?} {count} particles, {leaves} leaves, {n} threads, {} substeps: {:.2} ms = predict {:.2} + solve {:.2} + correct {:.2}",
            parts.len(),
            of(whole),
            of(|p| p.predict),
            of(|p| p.solve),
            of(|p| p.correct)
        );
    }
    if let [one, .., more] = parts.as_slice() {
        let ratio = median(one.iter().zip(more).map(|(one, more)| whole(one) / whole(more)));
        println!("{into:?} {count} particles: {ratio:.2} times the speed of one thread");
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if most > 1 { vec![1, most] } else { vec![1] };
    for particles in if sizes.is_empty() { vec![1_000, 10_000, 100_000] } else { sizes } {
        for into in [Into::Box, Into::Cup, Into::TurningCup] {
            measure(particles, into, &threads);
        }
    }
}
