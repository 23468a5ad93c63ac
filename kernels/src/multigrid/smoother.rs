//! The smoother: red-black Gauss-Seidel in f32, with super-cells as a third colour λ. It sweeps λ, red, black on the
//! way down and black, red, λ on the way up, so that the pair of sweeps is symmetric. A bubble borders cells of both
//! colours, so it fits in neither.

use super::level::{GRAIN, Group, Level, ZERO};
use super::plane::{Pair, pair};
use super::rows::{Rows, lanes};
use super::settle;
use super::sheets;
use super::work::Work;
use crate::checkerboard::Half;
use rayon::prelude::*;

/// x = (b + Σ w v) / d.
struct Relax<'a> {
    b: &'a Half<f32>,
    x: &'a mut Half<f32>,
}

impl Rows<f32> for Relax<'_> {
    #[inline(always)]
    fn rows(&mut self, r: usize, w: [Pair<f32>; 6], d: Pair<f32>, v: [Pair<f32>; 6]) {
        let mut t = pair(self.b, r);
        for f in 0..6 {
            for k in 0..8 {
                t[k] += w[f][k] * v[f][k];
            }
        }
        *lanes(self.x, r) = std::array::from_fn(|k| t[k] / d[k]);
    }
}

/// Solves the rows of one colour for given values of the other: x = (b + Σ w v + Σ c λ) / d. `between`: red, between two sweeps
/// over black.
pub fn relax_colour(level: &Level, work: &mut Work, colour: usize, between: bool) {
    let Work { x, b, x_super, .. } = work;
    let [red, black] = x;
    let (own, other) = if colour == 0 { (red, &*black) } else { (black, &*red) };
    let (b, d) = (&b[colour], &level.diagonal[colour]);
    own[..level.leaves()].par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(leaf, x)| {
        level.for_rows(leaf, colour, other, &mut Relax { b: &b[leaf], x });
        add_contacts(level, leaf, colour, x_super, |r, k, inflow| x[r][k] += inflow / d[leaf][r][k]);
    });
    if !level.blocks.is_empty() {
        settle::settle_cells(level, work, colour, between);
    }
    sheets::settle_cells(level, work, colour);
}

/// The first red sweep from a zero guess: x = (b + Σ c λ) / d.
fn start_red(level: &Level, work: &mut Work) {
    let Work { x, b, x_super, .. } = work;
    let (b, d) = (&b[0], &level.diagonal[0]);
    x[0][..level.leaves()].par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(leaf, x)| {
        let (b, d) = (&b[leaf], &d[leaf]);
        for r in 0..64 {
            for k in 0..4 {
                x[r][k] = b[r][k] / d[r][k];
            }
        }
        add_contacts(level, leaf, 0, x_super, |r, k, inflow| x[r][k] += inflow / d[r][k]);
    });
    if !level.blocks.is_empty() {
        settle::settle_cells(level, work, 0, false);
    }
    sheets::settle_cells(level, work, 0);
}

/// Calls `f(row, lane, c λ)` for the contacts of a half-leaf with super-cells.
#[inline(always)]
pub fn add_contacts(
    level: &Level,
    leaf: usize,
    colour: usize,
    x_super: &[f64],
    mut f: impl FnMut(usize, usize, f32),
) {
    for group in level.contacts.groups_of(leaf, colour).iter().filter(|g| g.target != ZERO) {
        let pressure = x_super[group.target as usize] as f32;
        for c in level.contacts.of(group) {
            let (r, k) = c.at();
            f(r, k, c.weight * pressure);
        }
    }
}

/// Σ c x over the contacts of a group.
fn inflow_of(level: &Level, group: &Group, x: &[Vec<Half<f32>>; 2]) -> f64 {
    let contacts = level.contacts.of(group).iter();
    contacts
        .map(|c| c.weight as f64 * x[c.colour as usize][group.leaf as usize][c.at().0][c.at().1] as f64)
        .sum()
}

/// Fills [`Work::inflow`] from the cells.
pub fn gather_inflow(level: &Level, work: &mut Work) {
    let Work { x, inflow, .. } = work;
    let groups = level.contacts.groups.par_iter().with_min_len(GRAIN * 8);
    inflow.par_iter_mut().zip(groups).for_each(|(sum, group)| {
        *sum = if group.target == ZERO { 0.0 } else { inflow_of(level, group, x) };
    });
}

/// The flow into super-cell b when its own pressure is 0.
#[inline]
pub fn super_inflow(level: &Level, b: usize, inflow: &[f64], x_super: &[f64]) -> f64 {
    let cells: f64 = level.contacts.groups_of_super(b).iter().map(|&g| inflow[g as usize]).sum();
    let supers: f64 = level.supers.neighbours[b].iter().map(|&(o, w)| w * x_super[o as usize]).sum();
    cells + supers
}

/// Solves the super-cells' rows one after the other, ascending or descending.
fn relax_supers(level: &Level, work: &mut Work, descending: bool) {
    let count = level.super_count();
    for i in 0..count {
        let b = if descending { count - 1 - i } else { i };
        let t = work.b_super[b] + super_inflow(level, b, &work.inflow, &work.x_super);
        work.x_super[b] = t / level.supers.diagonal[b];
    }
    if count > 0 && !level.blocks.is_empty() {
        settle::settle_supers(level, work);
    }
    if count > 0 {
        sheets::settle_supers(level, work);
    }
}

/// `sweeps` of λ, red, black. Leaves the black rows solved exactly.
pub fn smooth_down(level: &Level, work: &mut Work, sweeps: usize, from_zero: bool) {
    for sweep in 0..sweeps {
        if from_zero && sweep == 0 {
            work.x_super.fill(0.0);
            work.inflow.fill(0.0);
            settle::rest(work);
            sheets::rest(work);
            relax_supers(level, work, false);
            start_red(level, work);
        } else {
            if level.super_count() > 0 {
                gather_inflow(level, work);
                relax_supers(level, work, false);
            }
            relax_colour(level, work, 0, sweep > 0);
        }
        relax_colour(level, work, 1, false);
    }
}

/// `sweeps` of black, red, λ: the adjoint of [`smooth_down`]. Does not read the black values.
pub fn smooth_up(level: &Level, work: &mut Work, sweeps: usize) {
    for sweep in 0..sweeps {
        relax_colour(level, work, 1, false);
        relax_colour(level, work, 0, sweep + 1 < sweeps);
        if level.super_count() > 0 {
            gather_inflow(level, work);
            relax_supers(level, work, true);
        }
    }
}
