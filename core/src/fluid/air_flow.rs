//! The extended velocity carries volume: air beside the liquid is made incompressible.
//!
//! Constant extrapolation has a divergence of its own. Where the surface moves into the air it then squeezes or
//! stretches the liquid that follows, by an amount of first order in the step: the rising bubble gained a third of its
//! volume a second so at two voxels a step. As in [Sussman 2003], a projection of the air's faces, those of the liquid
//! held, takes it away.

use super::extrapolation::Extended;
use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::{FaceGrid, leaf};
use crate::solid::SolidFields;
use rayon::prelude::*;

/// Remaining divergence, relative, at which the projection stops, and its most iterations.
const TOLERANCE: f64 = 1e-2;
const MOST_ITERATIONS: usize = 40;
/// No air cell.
const NONE: u32 = u32::MAX;
/// Cells that one task sums up.
const CHUNK: usize = 4096;

/// An air cell.
struct Cell {
    /// Its slot, which is that of its lower faces, and its upper neighbours', which are those of its upper faces.
    slot: usize,
    upper: [usize; 3],
    /// By axis, lower face first: the air cell behind it.
    beside: [u32; 6],
    /// In the same order: how open a face is that may change; 0 for one that may not.
    open: [f32; 6],
}

impl Cell {
    /// The slot of face `k`, by axis, lower first.
    fn face(&self, k: usize) -> usize {
        if k % 2 == 1 { self.upper[k / 2] } else { self.slot }
    }
}

/// Makes the faces that were extended by `layers` incompressible with the rest.
///
/// Σ_f α_f (q − q_f) + q/layers² = −∇·u, u_f ← u_f − ∇q, q = 0 beyond the layers: the air yields over as many voxels as
/// there are layers. So what is caught in a closing gap is not shot out of it, and a bubble that is to grow does so
/// throughout.
pub(super) fn carry_volume(
    velocity: &mut FaceGrid<f32>,
    extended: &Extended,
    solid: &SolidFields,
    layers: usize,
) {
    let open = solid.open.on(&velocity.topology);
    let walls = solid.velocity.on(&velocity.topology);
    let cells = cells(extended, &open);
    let outflow = |cell: &Cell| -> f64 {
        let through = |k: usize| {
            let (a, f, sign) = (k / 2, cell.face(k), if k % 2 == 1 { 1.0 } else { -1.0 });
            let (alpha, u, w) = (open.values[a][f], velocity.values[a][f], walls.values[a][f]);
            sign * f64::from(alpha * u + (1.0 - alpha) * w)
        };
        (0..6).map(through).sum()
    };
    let right: Vec<f64> = cells.par_iter().with_min_len(CHUNK).map(|cell| -outflow(cell)).collect();
    let q = solve(&cells, right, 1.0 / (layers * layers) as f64);
    let of = |n: u32| if n == NONE { 0.0 } else { q[n as usize] };
    velocity.values.par_iter_mut().enumerate().for_each(|(a, values)| {
        for (cell, q) in cells.iter().zip(&q) {
            // Of two cells the upper one changes the face between them.
            if cell.open[2 * a] > 0.0 {
                values[cell.slot] -= (q - of(cell.beside[2 * a])) as f32;
            }
            if cell.open[2 * a + 1] > 0.0 && cell.beside[2 * a + 1] == NONE {
                values[cell.upper[a]] += *q as f32;
            }
        }
    });
}

/// The cells of the air whose faces all have a velocity, some of them extended, in slot order.
fn cells(extended: &Extended, open: &FaceGrid<f32>) -> Vec<Cell> {
    let topology = &open.topology;
    let of_air = VoxelMask::from_words(topology.clone(), |l| {
        let mut all: [u64; 8] = extended.liquid.words(l).map(|word| !word);
        let mut any = [0; 8];
        for a in 0..3 {
            let (known, fresh) = (&extended.known[a], &extended.fresh[a]);
            let above = (known.shifted(l, a, 1, false), fresh.shifted(l, a, 1, false));
            for x in 0..8 {
                all[x] &= known.words(l)[x] & above.0[x];
                any[x] |= fresh.words(l)[x] | above.1[x];
            }
        }
        std::array::from_fn(|x| all[x] & any[x])
    });
    let mut number = vec![NONE; topology.len() * leaf::SIZE];
    let slots = (0..topology.len()).flat_map(|l| offsets(of_air.words(l)).map(move |n| l * leaf::SIZE + n));
    for (n, slot) in slots.enumerate() {
        number[slot] = n as u32;
    }
    let cell = |slot: usize| {
        let reach = |axis: usize, step: i32| {
            let mut at = leaf::local(slot % leaf::SIZE);
            at[axis] += step;
            topology.reach(slot / leaf::SIZE, at)
        };
        // A missing leaf has no face with a velocity, so none is above a cell of these.
        let upper = std::array::from_fn(|a| reach(a, 1).unwrap_or(slot));
        let mut cell = Cell { slot, upper, beside: [NONE; 6], open: [0.0; 6] };
        for k in 0..6 {
            let (a, face) = (k / 2, cell.face(k));
            let behind = if k % 2 == 1 { Some(face) } else { reach(a, -1) };
            cell.beside[k] = behind.map_or(NONE, |s| number[s]);
            cell.open[k] = if extended.fresh[a].has(face) { open.values[a][face] } else { 0.0 };
        }
        cell
    };
    let of_leaf = |l: usize| offsets(of_air.words(l)).map(move |n| cell(l * leaf::SIZE + n));
    (0..topology.len()).into_par_iter().flat_map_iter(of_leaf).collect()
}

/// (A + `give`) q = `right` by conjugate gradients with the diagonal as preconditioner.
fn solve(cells: &[Cell], right: Vec<f64>, give: f64) -> Vec<f64> {
    let inverse: Vec<f64> =
        cells.iter().map(|c| 1.0 / (give + f64::from(c.open.iter().sum::<f32>()))).collect();
    let mut x = vec![0.0; cells.len()];
    let mut r = right;
    let mut z: Vec<f64> = r.iter().zip(&inverse).map(|(r, d)| r * d).collect();
    let mut p = z.clone();
    let mut q = vec![0.0; cells.len()];
    let (mut rr, mut rz) = (dot(&r, &r), dot(&r, &z));
    let goal = TOLERANCE * TOLERANCE * rr;
    for _ in 0..MOST_ITERATIONS {
        if rr <= goal {
            break;
        }
        let step = rz / apply(cells, give, &p, &mut q);
        let of_chunk = |((x, p), ((r, q), (z, inverse))): Descent| {
            for n in 0..x.len() {
                x[n] += step * p[n];
                r[n] -= step * q[n];
                z[n] = r[n] * inverse[n];
            }
            (sum_of_products(r, r), sum_of_products(r, z))
        };
        let ways = x.par_chunks_mut(CHUNK).zip(p.par_chunks(CHUNK));
        let residuals = r.par_chunks_mut(CHUNK).zip(q.par_chunks(CHUNK));
        let conditioned = z.par_chunks_mut(CHUNK).zip(inverse.par_chunks(CHUNK));
        let parts: Vec<(f64, f64)> = ways.zip(residuals.zip(conditioned)).map(of_chunk).collect();
        let next = parts.iter().map(|part| part.1).sum::<f64>();
        rr = parts.iter().map(|part| part.0).sum();
        p.par_iter_mut().zip(&z).with_min_len(CHUNK).for_each(|(p, z)| *p = z + next / rz * *p);
        rz = next;
    }
    x
}

/// One chunk of ((x, p), ((r, q), (z, 1/diagonal))).
type Descent<'a> = ((&'a mut [f64], &'a [f64]), ((&'a mut [f64], &'a [f64]), (&'a mut [f64], &'a [f64])));

/// `to` ← (A + `give`) p; returns p · `to`.
fn apply(cells: &[Cell], give: f64, p: &[f64], to: &mut [f64]) -> f64 {
    let of_cell = |n: usize| {
        let cell = &cells[n];
        let of = |k: usize| if cell.beside[k] == NONE { 0.0 } else { p[cell.beside[k] as usize] };
        give * p[n] + (0..6).map(|k| f64::from(cell.open[k]) * (p[n] - of(k))).sum::<f64>()
    };
    let of_chunk = |(c, to): (usize, &mut [f64])| {
        to.iter_mut().enumerate().for_each(|(n, to)| *to = of_cell(c * CHUNK + n));
        sum_of_products(&p[c * CHUNK..][..to.len()], to)
    };
    let parts: Vec<f64> = to.par_chunks_mut(CHUNK).enumerate().map(of_chunk).collect();
    parts.iter().sum()
}

/// Σ a b, summed in the same order by any number of threads.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let parts = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(|(a, b)| sum_of_products(a, b));
    parts.collect::<Vec<f64>>().iter().sum()
}

fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
