//! The loop over a half-leaf's rows that the operator, the smoother and the residual share. It handles two rows at a
//! time, so that eight SIMD lanes are used. It is also compiled for AVX2, which is chosen at run time where the build does not assume it. Both versions do
//! the same multiplications and additions in the same order (none are fused), so they give the same bits.

use super::level::Level;
use super::plane::{Pair, PlaneValues, PlaneWeights, pair, planes};
use crate::checkerboard::Half;
use crate::leaf::DIM;

/// The operation on two rows.
pub trait Rows<T> {
    /// Rows r and r + 1: coefficients towards −x +x −y +y −z +z, the diagonal, and the values of the six neighbours.
    fn rows(&mut self, r: usize, weights: [Pair<f32>; 6], diagonal: Pair<f32>, values: [Pair<T>; 6]);
}

/// Eight lanes of a half-leaf, to write.
#[inline(always)]
pub fn lanes<T>(half: &mut Half<T>, r: usize) -> &mut Pair<T> {
    half[r..r + 2].as_flattened_mut().first_chunk_mut().expect("two rows of four")
}

impl Level {
    /// Calls `kernel` for the rows of a half-leaf, given the other colour's values. For uniform half-leaves (most of a
    /// deep liquid) no coefficients are read: the same bits with a fraction of the memory traffic.
    pub fn for_rows<T: Copy>(
        &self,
        leaf: usize,
        colour: usize,
        other: &[Half<T>],
        kernel: &mut impl Rows<T>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { for_rows_avx2(self, leaf, colour, other, kernel) };
        }
        for_rows_of(self, leaf, colour, other, kernel);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn for_rows_avx2<T: Copy, K: Rows<T>>(
    level: &Level,
    leaf: usize,
    colour: usize,
    other: &[Half<T>],
    kernel: &mut K,
) {
    for_rows_of(level, leaf, colour, other, kernel);
}

#[inline(always)]
fn for_rows_of<T: Copy, K: Rows<T>>(
    level: &Level,
    leaf: usize,
    colour: usize,
    other: &[Half<T>],
    kernel: &mut K,
) {
    for x in (0..DIM).step_by(2) {
        if colour == 0 {
            plane::<T, K, 0>(level, leaf, colour, other, x, kernel);
            plane::<T, K, 1>(level, leaf, colour, other, x + 1, kernel);
        } else {
            plane::<T, K, 1>(level, leaf, colour, other, x, kernel);
            plane::<T, K, 0>(level, leaf, colour, other, x + 1, kernel);
        }
    }
}

/// The rows of one x, whose row y = 0 has the given phase.
#[inline(always)]
fn plane<T: Copy, K: Rows<T>, const PHASE: usize>(
    level: &Level,
    leaf: usize,
    colour: usize,
    other: &[Half<T>],
    x: usize,
    kernel: &mut K,
) {
    let neighbours = level.neighbours[leaf].map(|n| &other[n as usize]);
    let values = PlaneValues::new(&other[leaf], neighbours, x);
    let [weight, diagonal] = level.uniform[colour][leaf];
    if weight > 0.0 {
        for y in (0..DIM).step_by(2) {
            kernel.rows(x * DIM + y, [[weight; 8]; 6], [diagonal; 8], values.pair::<PHASE>(y));
        }
    } else {
        let d = &planes(&level.diagonal[colour][leaf])[x];
        let weights = PlaneWeights::new(level, leaf, colour, x);
        for y in (0..DIM).step_by(2) {
            kernel.rows(x * DIM + y, weights.pair::<PHASE>(y), pair(d, y), values.pair::<PHASE>(y));
        }
    }
}
