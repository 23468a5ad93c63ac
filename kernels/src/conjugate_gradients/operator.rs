//! The matrix-free operator with the attached low-rank terms, on vectors of f32 and f64.

use super::vector::{Real, Vector, dot_half, dot_supers, sum_over_leaves};
use crate::checkerboard::Half;
use crate::low_rank::LowRank;
use crate::memory;
use crate::multigrid::{GRAIN, Level, Pair, Rows, ZERO, lanes, pair};
use rayon::prelude::*;

/// A cell: (leaf, colour, row, lane).
type Place = (u32, u8, u8, u8);

/// The entries of all columns in cells, cell by cell: an application reads each cell once.
#[derive(Clone, Debug, Default)]
struct Entries {
    /// `[leaf]` and one more: first cell of each leaf.
    leaves: Vec<u32>,
    /// The cells, by leaf.
    cells: Vec<Place>,
    /// `[cell]` and one more: first entry of each cell.
    starts: Vec<u32>,
    /// (number of the column, entry).
    list: Vec<(u32, f64)>,
}

impl Entries {
    fn new(leaves: usize, low_rank: &[LowRank]) -> Self {
        let columns = low_rank.iter().flat_map(|t| &t.columns).enumerate();
        let named = columns.flat_map(|(n, column)| {
            column.cells.iter().map(move |&(l, c, r, k, w)| ((l, c, r, k), n as u32, w))
        });
        let mut all: Vec<_> = named.collect();
        all.sort_by_key(|e| (e.0, e.1));
        let mut out = Self::default();
        for run in all.chunk_by(|a, b| a.0 == b.0) {
            out.cells.push(run[0].0);
            out.starts.push(out.list.len() as u32);
            for same in run.chunk_by(|a, b| a.1 == b.1) {
                out.list.push((same[0].1, same.iter().map(|e| e.2).sum()));
            }
        }
        out.starts.push(out.list.len() as u32);
        let first = |l: usize| out.cells.partition_point(|cell| (cell.0 as usize) < l) as u32;
        out.leaves = (0..=leaves).map(first).collect();
        out
    }

    fn bytes(&self) -> usize {
        let numbers = memory::of(&self.leaves) + memory::of(&self.starts);
        numbers + memory::of(&self.cells) + memory::of(&self.list)
    }

    /// The entries of some cells.
    fn of(&self, cells: std::ops::Range<usize>) -> impl Iterator<Item = (&Place, &[(u32, f64)])> {
        let ends = self.starts[cells.start..=cells.end].windows(2);
        self.cells[cells].iter().zip(ends.map(|w| &self.list[w[0] as usize..w[1] as usize]))
    }
}

/// Scratch of [`apply`], sized once per solve.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// One entry a leaf.
    pub partials: Vec<f64>,
    /// One entry a leaf: Σ (Σ_f w_f x_i)² of the last [`apply`].
    pub magnitudes: Vec<f64>,
    /// One entry a contact group.
    pub flow: Vec<f64>,
    /// One entry a column of every low-rank term: W Cᵀ x.
    pub columns: Vec<f64>,
    /// The same: Cᵀ x.
    moved: Vec<f64>,
    /// The columns' entries in cells.
    entries: Entries,
}

impl Scratch {
    /// Sizes the scratch.
    pub fn fit(&mut self, level: &Level, low_rank: &[LowRank]) {
        let columns = low_rank.iter().map(|t| t.columns.len()).sum();
        let leaves = level.leaves();
        let sizes = [leaves, leaves, level.contacts.groups.len(), columns, columns];
        let vectors =
            [&mut self.partials, &mut self.magnitudes, &mut self.flow, &mut self.columns, &mut self.moved];
        for (v, n) in vectors.into_iter().zip(sizes) {
            v.clear();
            v.resize(n, 0.0);
        }
        self.entries = Entries::new(leaves, low_rank);
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let vectors =
            [&self.partials, &self.magnitudes, &self.flow, &self.columns, &self.moved].map(memory::of);
        vectors.iter().sum::<usize>() + self.entries.bytes()
    }
}

/// y = A x; returns xᵀ A x. Stores the size of its rounding errors, up to a factor, in [`Scratch::magnitudes`].
pub fn apply<T: Real>(
    level: &Level,
    low_rank: &[LowRank],
    x: &Vector<T>,
    y: &mut Vector<T>,
    scratch: &mut Scratch,
) -> f64 {
    weigh_columns(low_rank, x, scratch);
    let Scratch { partials, magnitudes, flow, columns, entries, .. } = scratch;
    let leaves = partials.len();
    let [red, black] = &mut y.cells;
    let halves = red[..leaves].par_iter_mut().zip(&mut black[..leaves]);
    let sums = partials.par_iter_mut().zip(magnitudes);
    halves.zip(sums).with_min_len(GRAIN).enumerate().for_each(|(l, ((red, black), (sum, magnitude)))| {
        *magnitude = apply_leaf(level, entries, columns, l, x, [red, black]);
        *sum = dot_half(&x.cells[0][l], red) + dot_half(&x.cells[1][l], black);
    });
    apply_supers(level, low_rank, columns, x, &mut y.supers, flow);
    partials.iter().sum::<f64>() + dot_supers(&x.supers, &y.supers)
}

/// The rows of A x of one leaf's cells; returns Σ (Σ_f w_f x_i)².
#[inline(always)]
fn apply_leaf<T: Real>(
    level: &Level,
    entries: &Entries,
    columns: &[f64],
    l: usize,
    x: &Vector<T>,
    [red, black]: [&mut Half<T>; 2],
) -> f64 {
    let magnitude = apply_half(level, l, 0, x, red) + apply_half(level, l, 1, x, black);
    // What light bodies push a cell by cancels: the sum is f64.
    for (&(_, colour, r, k), list) in entries.of(entries.leaves[l] as usize..entries.leaves[l + 1] as usize) {
        let half = if colour == 0 { &mut *red } else { &mut *black };
        let pushed: f64 = list.iter().map(|&(n, w)| w * columns[n as usize]).sum();
        half[r as usize][k as usize] += T::round(pushed);
    }
    magnitude
}

/// y = Σ w (x − v).
struct Apply<'a, T> {
    x: &'a Half<T>,
    y: &'a mut Half<T>,
    /// Σ (x Σ w)² of each lane.
    magnitude: Pair<f32>,
}

impl<T: Real> Rows<T> for Apply<'_, T> {
    #[inline(always)]
    fn rows(&mut self, r: usize, w: [Pair<f32>; 6], _: Pair<f32>, v: [Pair<T>; 6]) {
        let (x, mut t, mut sum) = (pair(self.x, r), [T::default(); 8], [0.0; 8]);
        for f in 0..6 {
            for k in 0..8 {
                t[k] += T::from(w[f][k]) * (x[k] - v[f][k]);
                sum[k] += w[f][k];
            }
        }
        *lanes(self.y, r) = t;
        for k in 0..8 {
            let size = x[k].into() as f32 * sum[k];
            self.magnitude[k] += size * size;
        }
    }
}

/// y_i = Σ w (x_i − x_j) + Σ c (x_i − λ); returns Σ (Σ_f w_f x_i)².
#[inline(always)]
fn apply_half<T: Real>(level: &Level, l: usize, colour: usize, x: &Vector<T>, y: &mut Half<T>) -> f64 {
    let own = &x.cells[colour][l];
    let mut kernel = Apply { x: own, y, magnitude: [0.0; 8] };
    level.for_rows(l, colour, &x.cells[1 - colour], &mut kernel);
    let magnitude = kernel.magnitude.iter().map(|&m| m as f64).sum();
    for group in level.contacts.groups_of(l, colour) {
        let target = if group.target == ZERO { 0.0 } else { x.supers[group.target as usize] };
        for c in level.contacts.of(group) {
            let (r, k) = c.at();
            y[r][k] += T::round(c.weight as f64 * (own[r][k].into() - target));
        }
    }
    magnitude
}

/// y_b = Σ c (λ_b − x_i) + Σ w (λ_b − λ_o) + (compliance + fixed) λ_b, and the low-rank terms' share.
fn apply_supers<T: Real>(
    level: &Level,
    low_rank: &[LowRank],
    columns: &[f64],
    x: &Vector<T>,
    y: &mut [f64],
    flow: &mut [f64],
) {
    let groups = level.contacts.groups.par_iter().with_min_len(GRAIN * 8);
    flow.par_iter_mut().zip(groups).filter(|(_, g)| g.target != ZERO).for_each(|(sum, group)| {
        let pressure = x.supers[group.target as usize];
        let contacts = level.contacts.of(group).iter().map(|c| {
            let (r, k) = c.at();
            let cell: f64 = x.cells[c.colour as usize][group.leaf as usize][r][k].into();
            c.weight as f64 * (pressure - cell)
        });
        *sum = contacts.sum();
    });
    let s = &level.supers;
    for (b, y) in y.iter_mut().enumerate() {
        let pressure = x.supers[b];
        let cells: f64 = level.contacts.groups_of_super(b).iter().map(|&g| flow[g as usize]).sum();
        let supers: f64 = s.neighbours[b].iter().map(|&(o, w)| w * (pressure - x.supers[o as usize])).sum();
        *y = cells + supers + (s.compliance[b] + s.fixed[b]) * pressure;
    }
    for (column, scale) in low_rank.iter().flat_map(|t| &t.columns).zip(columns) {
        for &(b, w) in &column.supers {
            y[b as usize] += w * scale;
        }
    }
}

/// W Cᵀ x of every term.
fn weigh_columns<T: Real>(low_rank: &[LowRank], x: &Vector<T>, scratch: &mut Scratch) {
    let Scratch { columns, moved, entries, .. } = scratch;
    moved.fill(0.0);
    for (&(l, c, r, k), list) in entries.of(0..entries.cells.len()) {
        let x: f64 = x.cells[c as usize][l as usize][r as usize][k as usize].into();
        list.iter().for_each(|&(n, w)| moved[n as usize] += w * x);
    }
    for (moved, column) in moved.iter_mut().zip(low_rank.iter().flat_map(|t| &t.columns)) {
        *moved += column.supers.iter().map(|&(b, w)| w * x.supers[b as usize]).sum::<f64>();
    }
    let mut first = 0;
    for term in low_rank {
        let own = first..first + term.columns.len();
        term.weight.apply(&moved[own.clone()], &mut columns[own.clone()]);
        first = own.end;
    }
}

/// The right side in the engine's form: leaf by leaf, colours apart, compatible with the null space.
pub trait RightSide: Sync {
    /// Writes the values of a leaf.
    fn cells(&self, l: usize, halves: [&mut Half<f64>; 2]);
    /// The value of a super-cell.
    fn super_cell(&self, b: usize) -> f64;
}

/// ‖b‖₂.
pub fn norm(b: &dyn RightSide, supers: usize, partials: &mut [f64]) -> f64 {
    partials.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(l, sum)| {
        let [mut red, mut black] = [[[0.0; 4]; 64]; 2];
        b.cells(l, [&mut red, &mut black]);
        *sum = dot_half(&red, &red) + dot_half(&black, &black);
    });
    let supers: f64 = (0..supers).map(|s| b.super_cell(s).powi(2)).sum();
    (partials.iter().sum::<f64>() + supers).sqrt()
}

/// r = scale (b − A x), computed in f64 leaf by leaf, rounded to what r stores; returns ‖b − A x‖₂.
pub fn residual<T: Real>(
    level: &Level,
    low_rank: &[LowRank],
    b: &dyn RightSide,
    x: &Vector,
    scale: f64,
    cells: &mut crate::checkerboard::Field<T>,
    supers: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    weigh_columns(low_rank, x, scratch);
    let Scratch { partials, flow, columns, entries, .. } = scratch;
    let square = sum_over_leaves(cells, partials, |l, red, black| {
        let mut image = [[[0.0; 4]; 64]; 2];
        let mut rest = image;
        let [a, c] = &mut image;
        apply_leaf(level, entries, columns, l, x, [a, c]);
        let [a, c] = &mut rest;
        b.cells(l, [a, c]);
        let mut square = 0.0;
        for ((out, image), rest) in [red, black].into_iter().zip(&image).zip(&mut rest) {
            for r in 0..64 {
                for k in 0..4 {
                    rest[r][k] -= image[r][k];
                    out[r][k] = T::round(scale * rest[r][k]);
                }
            }
            square += dot_half(rest, rest);
        }
        square
    });
    apply_supers(level, low_rank, columns, x, supers, flow);
    supers.iter_mut().enumerate().for_each(|(s, r)| *r = b.super_cell(s) - *r);
    let norm = (square + dot_supers(supers, supers)).sqrt();
    supers.iter_mut().for_each(|r| *r *= scale);
    norm
}
