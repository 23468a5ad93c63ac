//! Transfers between a level and the next coarser one, by 2×2×2 aggregation. Restriction sums residuals, prolongation
//! copies.

use super::aggregation::{Aggregation, Parent};
use super::level::{GRAIN, Level};
use super::plane::{Pair, pair};
use super::rows::{Rows, lanes};
use super::settle;
use super::sheets;
use super::smoother::{add_contacts, gather_inflow, super_inflow};
use super::work::Work;
use crate::checkerboard::{Half, Row, place};
use crate::leaf;
use rayon::prelude::*;

/// Colour, row and first lane of the coarse cells that the fine rows (2X, 2Y), …, (2X+1, 2Y+1) of an octant
/// aggregate to: fine lanes 0..4 of either colour all belong to coarse z = 4·oz + 0..4.
#[inline(always)]
pub fn coarse_row(octant: usize, x: usize, y: usize) -> (usize, usize, usize) {
    let (cx, cy) = ((octant >> 2) * 4 + x, (octant >> 1 & 1) * 4 + y);
    ((cx + cy) & 1, cx * 8 + cy, (octant & 1) * 2)
}

/// Writes four values of consecutive coarse z into the two coarse halves.
#[inline(always)]
pub fn put_coarse(halves: [&mut Half<f32>; 2], (first, row, lane): (usize, usize, usize), v: Row<f32>) {
    let [red, black] = halves;
    let (even, odd) = if first == 0 { (red, black) } else { (black, red) };
    (even[row][lane], even[row][lane + 1]) = (v[0], v[2]);
    (odd[row][lane], odd[row][lane + 1]) = (v[1], v[3]);
}

/// Reads what [`put_coarse`] wrote.
#[inline(always)]
fn get_coarse(halves: [&Half<f32>; 2], (first, row, lane): (usize, usize, usize)) -> Row<f32> {
    let (even, odd) = (halves[first], halves[1 - first]);
    [even[row][lane], odd[row][lane], even[row][lane + 1], odd[row][lane + 1]]
}

/// out = b + Σ w v − d x.
struct Residual<'a> {
    b: &'a Half<f32>,
    x: &'a Half<f32>,
    out: Half<f32>,
}

impl Rows<f32> for Residual<'_> {
    #[inline(always)]
    fn rows(&mut self, r: usize, w: [Pair<f32>; 6], d: Pair<f32>, v: [Pair<f32>; 6]) {
        let (mut t, x) = (pair(self.b, r), pair(self.x, r));
        for f in 0..6 {
            for k in 0..8 {
                t[k] += w[f][k] * v[f][k];
            }
        }
        *lanes(&mut self.out, r) = std::array::from_fn(|k| t[k] - d[k] * x[k]);
    }
}

/// The red residual of a leaf: b + Σ w v + Σ c λ − d x. (Black rows are solved exactly by the last sweep.)
fn red_residual(level: &Level, work: &Work, leaf: usize) -> Half<f32> {
    let mut kernel = Residual { b: &work.b[0][leaf], x: &work.x[0][leaf], out: [[0.0; 4]; 64] };
    level.for_rows(leaf, 0, &work.x[1], &mut kernel);
    let mut out = kernel.out;
    add_contacts(level, leaf, 0, &work.x_super, |r, k, inflow| out[r][k] += inflow);
    out
}

/// Coarse right side = sums of the fine residual, after [`super::smoother::smooth_down`].
pub fn restrict(fine: &Level, work: &mut Work, map: &Aggregation, coarse: &mut Work) {
    let leaves = map.children.len();
    let residual = &*work;
    let [red, black] = &mut coarse.b;
    let halves = red[..leaves].par_iter_mut().zip(&mut black[..leaves]).with_min_len(GRAIN / 4);
    halves.zip(&map.children).for_each(|((red, black), children)| {
        *red = [[0.0; 4]; 64];
        *black = [[0.0; 4]; 64];
        for (octant, &child) in children.iter().enumerate().filter(|&(_, &c)| (c as usize) < fine.leaves()) {
            let res = red_residual(fine, residual, child as usize);
            for x in 0..4 {
                for y in 0..4 {
                    let r = 16 * x + 2 * y;
                    let sum = std::array::from_fn(|k| {
                        (res[r][k] + res[r + 1][k]) + (res[r + 8][k] + res[r + 9][k])
                    });
                    put_coarse([red, black], coarse_row(octant, x, y), sum);
                }
            }
        }
    });
    restrict_supers(fine, work, map, coarse);
    if !fine.blocks.is_empty() {
        settle::restrict(fine, work, map, coarse);
    }
    sheets::restrict(fine, work, map, coarse);
}

fn restrict_supers(fine: &Level, work: &mut Work, map: &Aggregation, coarse: &mut Work) {
    if map.supers.is_empty() {
        return;
    }
    gather_inflow(fine, work);
    coarse.b_super.fill(0.0);
    for (b, parent) in map.supers.iter().enumerate() {
        let out = fine.supers.diagonal[b] * work.x_super[b];
        let residual = work.b_super[b] + super_inflow(fine, b, &work.inflow, &work.x_super) - out;
        match *parent {
            Parent::Super(p) => coarse.b_super[p as usize] += residual,
            Parent::Cell(l, n) => {
                let (colour, r, k) = place(n as usize);
                coarse.b[colour][l as usize][r][k] += residual as f32;
            }
        }
    }
}

/// Adds the coarse correction to the red cells and the super-cells. The black cells need none, because
/// [`super::smoother::smooth_up`] solves them anew.
pub fn prolong(fine: &Level, work: &mut Work, map: &Aggregation, coarse: &Work) {
    let parents = map.parents.par_iter().with_min_len(GRAIN);
    work.x[0][..fine.leaves()].par_iter_mut().zip(parents).for_each(|(x, parent)| {
        let (l, octant) = (parent.0 as usize, parent.1 as usize);
        let halves = [&coarse.x[0][l], &coarse.x[1][l]];
        for cx in 0..4 {
            for cy in 0..4 {
                let v = get_coarse(halves, coarse_row(octant, cx, cy));
                let r = 16 * cx + 2 * cy;
                for row in [r, r + 1, r + 8, r + 9] {
                    for k in 0..4 {
                        x[row][k] += v[k];
                    }
                }
            }
        }
    });
    for (x, parent) in work.x_super.iter_mut().zip(&map.supers) {
        *x += match *parent {
            Parent::Super(p) => coarse.x_super[p as usize],
            Parent::Cell(l, n) => {
                let (colour, r, k) = place(n as usize);
                coarse.x[colour][l as usize][r][k] as f64
            }
        };
    }
    if !fine.blocks.is_empty() {
        settle::measure(fine, work);
    }
    sheets::measure(fine, work);
}

/// Octant of a fine leaf in its coarse leaf.
pub fn octant(origin: [i32; 3]) -> usize {
    let bit = |c: i32| (c >> leaf::LOG2_DIM & 1) as usize;
    bit(origin[0]) << 2 | bit(origin[1]) << 1 | bit(origin[2])
}
