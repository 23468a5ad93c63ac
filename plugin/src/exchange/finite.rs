//! Checks that values are finite while they are copied: in the cache the check costs nothing.

use super::kept::Kept;
use meniscus_abi::guest::Scalar;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values that may be infinite or not a number.
pub trait Finite: Scalar {
    /// Neither.
    fn is_finite(self) -> bool;
    /// A background, which the ABI carries as a double.
    fn from_background(value: f64) -> Self;
    /// The values of a port that were read ahead, `[component]`, where they are of this type.
    fn read_ahead(_kept: &mut Kept, _port: u32) -> Option<Vec<Vec<Self>>> {
        None
    }
}

macro_rules! whole_numbers {
    ($($ty:ty)*) => {$(
        impl Finite for $ty {
            fn is_finite(self) -> bool {
                true
            }

            fn from_background(value: f64) -> Self {
                value as $ty
            }
        }
    )*};
}
whole_numbers! { i32 i64 }

impl Finite for f32 {
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }

    fn from_background(value: f64) -> Self {
        value as f32
    }

    fn read_ahead(kept: &mut Kept, port: u32) -> Option<Vec<Vec<Self>>> {
        kept.take(port)
    }
}

/// Values that one task copies: some microseconds of work that fit into the nearest cache.
const BATCH: usize = 4096;

/// True where no value is infinite or not a number.
pub fn all_finite<T: Finite>(values: &[T]) -> bool {
    // Without an early exit, so that the loop is vectorised.
    values.iter().fold(true, |sound, v| sound & v.is_finite())
}

/// Copies values of `N` components into places of the same number. False where one is not finite.
pub fn copy_values<V: Sync, T: Finite, const N: usize>(
    to: &mut [[T; N]],
    from: &[V],
    components: impl Fn(&V) -> [T; N] + Sync + Send,
) -> bool {
    let batches = to.par_chunks_mut(BATCH).zip(from.par_chunks(BATCH));
    let copy = |(to, from): (&mut [[T; N]], &[V])| {
        to.iter_mut().zip(from).for_each(|(to, value)| *to = components(value));
        all_finite(to.as_flattened())
    };
    batches.map(copy).reduce(|| true, |a, b| a & b)
}

/// Copies numbers into places of the same number. False where one is not finite.
pub fn copy_numbers<T: Finite>(to: &mut [T], from: &[T]) -> bool {
    let batches = to.par_chunks_mut(BATCH).zip(from.par_chunks(BATCH));
    let copy = |(to, from): (&mut [T], &[T])| {
        to.copy_from_slice(from);
        all_finite(to)
    };
    batches.map(copy).reduce(|| true, |a, b| a & b)
}

/// A copy of numbers; None where one is not finite.
pub fn copy_of<T: Finite>(from: &[T]) -> Option<Vec<T>> {
    let mut copy = Vec::with_capacity(from.len());
    let sound = from.chunks(BATCH).fold(true, |sound, batch| {
        copy.extend_from_slice(batch);
        sound & all_finite(batch)
    });
    sound.then_some(copy)
}

/// Values of `N` components made anew, and whether all are finite.
pub fn read_values<V: Send, T: Finite, const N: usize>(
    from: &[[T; N]],
    value: impl Fn([T; N]) -> V + Sync + Send,
) -> (Vec<V>, bool) {
    let sound = AtomicBool::new(true);
    let read = |&components: &[T; N]| {
        if !all_finite(&components) {
            sound.store(false, Ordering::Relaxed);
        }
        value(components)
    };
    let read = from.par_iter().with_min_len(BATCH).map(read).collect();
    (read, sound.into_inner())
}
