//! Vectors over cells and super-cells, and their deterministic sums: per-leaf partial sums, added in leaf order in f64,
//! so that the number of threads does not change a bit.

use crate::checkerboard::{Field, Half};
use crate::multigrid::GRAIN;
use rayon::prelude::*;
use std::ops::{AddAssign, Mul, Sub};

/// What a vector stores of its cells: f32 or f64.
pub trait Real:
    Copy + Default + Send + Sync + From<f32> + Into<f64> + Sub<Output = Self> + Mul<Output = Self> + AddAssign
{
    /// Rounds to what is stored.
    fn round(v: f64) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn round(v: f64) -> Self {
        v as f32
    }
}

impl Real for f64 {
    #[inline(always)]
    fn round(v: f64) -> Self {
        v
    }
}

/// A vector over the unknowns of a level.
#[derive(Clone, Debug, Default)]
pub struct Vector<T = f64> {
    /// The cells.
    pub cells: Field<T>,
    /// The super-cells.
    pub supers: Vec<f64>,
}

impl<T: Real> Vector<T> {
    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        crate::memory::of_field(&self.cells) + crate::memory::of(&self.supers)
    }

    /// A zero vector; keeps the old allocation.
    pub fn fit(&mut self, leaves: usize, supers: usize) {
        crate::checkerboard::reset(&mut self.cells, leaves);
        self.supers.clear();
        self.supers.resize(supers, 0.0);
    }
}

/// Σ a b of two halves: four running sums, one a lane.
#[inline(always)]
pub fn dot_half<A: Real, B: Real>(a: &Half<A>, b: &Half<B>) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += a[k].into() * b[k].into();
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Σ a b over super-cells.
pub fn dot_supers(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Σ a b over the cells; `partials` has one entry a leaf.
pub fn dot_cells<A: Real, B: Real>(a: &Field<A>, b: &Field<B>, partials: &mut [f64]) -> f64 {
    partials.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(l, sum)| {
        *sum = dot_half(&a[0][l], &b[0][l]) + dot_half(&a[1][l], &b[1][l]);
    });
    partials.iter().sum()
}

/// Calls `f(leaf, red, black)` for the halves of every leaf and sums the results in leaf order.
pub fn sum_over_leaves<T: Send>(
    field: &mut Field<T>,
    partials: &mut [f64],
    f: impl Fn(usize, &mut Half<T>, &mut Half<T>) -> f64 + Sync,
) -> f64 {
    let [red, black] = field;
    let leaves = partials.len();
    let halves = red[..leaves].par_iter_mut().zip(&mut black[..leaves]).zip(&mut *partials);
    halves.with_min_len(GRAIN).enumerate().for_each(|(l, ((red, black), sum))| *sum = f(l, red, black));
    partials.iter().sum()
}
