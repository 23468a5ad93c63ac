//! What the memory gives: the triad a = b + s c [McCalpin 1995], 24 bytes an element, on all threads of the pool.

use rayon::prelude::*;
use std::time::Instant;

/// Elements: 3 × 128 MiB, far beyond any cache.
const LENGTH: usize = 16 << 20;
/// Elements of one task.
const BLOCK: usize = 1 << 14;

/// Median of the turns, bytes/s.
pub fn bytes_per_second(turns: usize) -> f64 {
    let (mut a, b, c, s) = (vec![0f64; LENGTH], vec![1f64; LENGTH], vec![2f64; LENGTH], 3.0);
    let mut seconds: Vec<f64> = (0..turns.max(3))
        .map(|_| {
            let start = Instant::now();
            let rest = b.par_chunks(BLOCK).zip(c.par_chunks(BLOCK));
            a.par_chunks_mut(BLOCK).zip(rest).for_each(|(a, (b, c))| {
                a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + s * c);
            });
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    24.0 * LENGTH as f64 / seconds[seconds.len() / 2]
}
