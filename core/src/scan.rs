//! Questions to all values of a long array: whole batches at once, so that the compiler uses vector instructions, and in
//! parallel.

use rayon::prelude::*;

/// Values that are asked without looking at the answers in between.
const BATCH: usize = 1024;
/// Batches of one task.
const TASK: usize = 4;

/// The value that all share, if they share one.
pub fn shared<T: Copy + PartialEq + Sync>(values: &[T]) -> Option<T> {
    let first = *values.first()?;
    let alike = |batch: &[T]| batch.iter().fold(true, |alike, v| alike & (*v == first));
    values.par_chunks(BATCH).with_min_len(TASK).all(alike).then_some(first)
}

/// The index of the first value of which something is true.
pub fn first<T: Sync>(values: &[T], is: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    let batches = values.par_chunks(BATCH).with_min_len(TASK).enumerate();
    batches.find_map_first(|(n, batch)| {
        let any = batch.iter().fold(false, |any, v| any | is(v));
        let at = if any { batch.iter().position(&is) } else { None };
        at.map(|at| n * BATCH + at)
    })
}

/// Whether the values are 0, 1, 2 and so on.
pub fn is_counting(values: &[u32]) -> bool {
    let counts = |(n, batch): (usize, &[u32])| {
        let expected = (n * BATCH) as u32..;
        batch.iter().zip(expected).fold(true, |counts, (&v, n)| counts & (v == n))
    };
    values.par_chunks(BATCH).enumerate().with_min_len(TASK).all(counts)
}

/// The number of values of which something is true.
pub fn count<T: Sync>(values: &[T], is: impl Fn(&T) -> bool + Sync) -> usize {
    let of_batch = |batch: &[T]| batch.iter().map(|v| u32::from(is(v))).sum::<u32>() as usize;
    values.par_chunks(BATCH).with_min_len(TASK).map(of_batch).sum()
}

/// The greatest of some numbers made from the values, and 0. NaN is left out.
pub fn greatest<T: Sync>(values: &[T], number: impl Fn(&T) -> f32 + Sync) -> f32 {
    /// Independent maxima, one for each place of a vector.
    const LANES: usize = 8;
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let of_batch = |batch: &[T]| {
        let (eights, rest) = batch.as_chunks::<LANES>();
        let mut most = [0.0; LANES];
        for eight in eights {
            (0..LANES).for_each(|n| most[n] = larger(most[n], number(&eight[n])));
        }
        rest.iter().map(&number).chain(most).fold(0.0, larger)
    };
    values.par_chunks(BATCH).with_min_len(TASK).map(of_batch).reduce(|| 0.0, larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_a_plain_loop() {
        let values: Vec<f32> = (0..10_007).map(|n| ((n * 7919) % 10_007) as f32).collect();
        assert_eq!(shared(&values), None);
        assert_eq!(shared(&[2.5; 5000]), Some(2.5));
        assert_eq!(shared::<f32>(&[]), None);
        assert_eq!(first(&values, |&v| v > 10_000.0), values.iter().position(|&v| v > 10_000.0));
        assert_eq!(first(&values, |&v| v < 0.0), None);
        let counted: Vec<u32> = (0..10_007).collect();
        assert!(is_counting(&counted) && is_counting(&[]) && !is_counting(&counted[1..]));
        assert_eq!(count(&values, |&v| v < 100.0), 100);
        assert_eq!(greatest(&values, |&v| v), 10_006.0);
        assert_eq!(greatest(&[f32::NAN, 3.0, f32::NAN], |&v| v), 3.0);
        assert_eq!(greatest(&[f32::INFINITY, 3.0], |&v| v), f32::INFINITY);
        assert_eq!(greatest::<f32>(&[], |&v| v), 0.0);
    }
}
