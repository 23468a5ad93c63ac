//! The operator in f64, matrix-free, with the attached low-rank terms.

use super::vector::{Vector, dot_half, dot_supers, sum_over_leaves};
use crate::checkerboard::Half;
use crate::multigrid::{GRAIN, Level, ZERO};
use rayon::prelude::*;

/// A low-rank term C W Cᵀ: sparse columns C, dense symmetric W.
#[derive(Clone, Debug, Default)]
pub struct LowRank {
    /// The columns of C.
    pub columns: Vec<LowRankColumn>,
    /// W, row-major.
    pub weight: Vec<f64>,
}

/// One column of a [`LowRank`] term.
#[derive(Clone, Debug, Default)]
pub struct LowRankColumn {
    /// (leaf, colour, row, lane, entry).
    pub cells: Vec<(u32, u8, u8, u8, f64)>,
    /// (super-cell, entry).
    pub supers: Vec<(u32, f64)>,
}

impl LowRankColumn {
    fn dot(&self, x: &Vector) -> f64 {
        let cells = self
            .cells
            .iter()
            .map(|&(l, c, r, k, w)| w * x.cells[c as usize][l as usize][r as usize][k as usize]);
        let supers = self.supers.iter().map(|&(b, w)| w * x.supers[b as usize]);
        cells.sum::<f64>() + supers.sum::<f64>()
    }

    fn add_to(&self, y: &mut Vector, scale: f64) {
        for &(l, c, r, k, w) in &self.cells {
            y.cells[c as usize][l as usize][r as usize][k as usize] += w * scale;
        }
        for &(b, w) in &self.supers {
            y.supers[b as usize] += w * scale;
        }
    }
}

/// Scratch of [`apply`], sized once a solve.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// One entry a leaf.
    pub partials: Vec<f64>,
    /// One entry a contact group.
    pub flow: Vec<f64>,
    /// One entry a column of every low-rank term.
    pub columns: Vec<f64>,
}

impl Scratch {
    /// Sizes the scratch.
    pub fn fit(&mut self, level: &Level, low_rank: &[LowRank]) {
        let sizes =
            [level.leaves(), level.contacts.groups.len(), low_rank.iter().map(|t| t.columns.len()).sum()];
        for (v, n) in [&mut self.partials, &mut self.flow, &mut self.columns].into_iter().zip(sizes) {
            v.clear();
            v.resize(n, 0.0);
        }
    }
}

/// y = A x; returns xᵀ A x.
pub fn apply(level: &Level, low_rank: &[LowRank], x: &Vector, y: &mut Vector, scratch: &mut Scratch) -> f64 {
    let Scratch { partials, flow, columns } = scratch;
    let cells = sum_over_leaves(&mut y.cells, partials, |l, red, black| {
        apply_half(level, l, 0, x, red);
        apply_half(level, l, 1, x, black);
        dot_half(&x.cells[0][l], red) + dot_half(&x.cells[1][l], black)
    });
    apply_supers(level, x, &mut y.supers, flow);
    cells + dot_supers(&x.supers, &y.supers) + apply_low_rank(low_rank, x, y, columns)
}

/// y_i = Σ w (x_i − x_j) + Σ c (x_i − λ).
#[inline(always)]
fn apply_half(level: &Level, l: usize, colour: usize, x: &Vector, y: &mut Half<f64>) {
    let own = &x.cells[colour][l];
    level.for_rows(l, colour, &x.cells[1 - colour], |r, w, v| {
        for k in 0..4 {
            let mut t = 0.0;
            for f in 0..6 {
                t += w[f][k] as f64 * (own[r][k] - v[f][k]);
            }
            y[r][k] = t;
        }
    });
    for group in level.contacts.groups_of(l, colour) {
        let target = if group.target == ZERO { 0.0 } else { x.supers[group.target as usize] };
        for c in level.contacts.of(group) {
            let (r, k) = c.at();
            y[r][k] += c.weight as f64 * (own[r][k] - target);
        }
    }
}

/// y_b = Σ c (λ_b − x_i) + Σ w (λ_b − λ_o) + (compliance + fixed) λ_b.
fn apply_supers(level: &Level, x: &Vector, y: &mut [f64], flow: &mut [f64]) {
    let groups = level.contacts.groups.par_iter().with_min_len(GRAIN * 8);
    flow.par_iter_mut().zip(groups).filter(|(_, g)| g.target != ZERO).for_each(|(sum, group)| {
        let pressure = x.supers[group.target as usize];
        let contacts = level.contacts.of(group).iter().map(|c| {
            let (r, k) = c.at();
            c.weight as f64 * (pressure - x.cells[c.colour as usize][group.leaf as usize][r][k])
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
}

/// y += Σ C W Cᵀ x; returns xᵀ of that.
fn apply_low_rank(terms: &[LowRank], x: &Vector, y: &mut Vector, columns: &mut [f64]) -> f64 {
    let mut energy = 0.0;
    let mut rest = columns;
    for term in terms {
        let (moved, tail) = rest.split_at_mut(term.columns.len());
        rest = tail;
        moved.iter_mut().zip(&term.columns).for_each(|(m, c)| *m = c.dot(x));
        for (i, column) in term.columns.iter().enumerate() {
            let row = &term.weight[i * moved.len()..][..moved.len()];
            let scale = dot_supers(row, moved);
            energy += scale * moved[i];
            column.add_to(y, scale);
        }
    }
    energy
}
