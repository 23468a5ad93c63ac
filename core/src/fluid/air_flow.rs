//! The extended velocity carries volume: air beside the liquid is made incompressible.
//!
//! Constant extrapolation has a divergence of its own. Where the surface moves into the air it then squeezes or
//! stretches the liquid that follows, by an amount of first order in the step: the rising bubble gained a third of its
//! volume a second so at two voxels a step. As in [Sussman 2003], a projection of the air's faces, those of the liquid
//! held, takes it away.

use super::extrapolation::Extended;
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

/// An air cell: its six faces (slots, by axis, lower first), what lies behind them and how open those are that may
/// change (0: a face that may not).
struct Cell {
    faces: [usize; 6],
    beside: [u32; 6],
    open: [f32; 6],
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
        let through = |(k, &f): (usize, &usize)| {
            let (a, sign) = (k / 2, if k % 2 == 0 { -1.0 } else { 1.0 });
            let (alpha, u, w) = (open.values[a][f], velocity.values[a][f], walls.values[a][f]);
            sign * f64::from(alpha * u + (1.0 - alpha) * w)
        };
        cell.faces.iter().enumerate().map(through).sum()
    };
    let right: Vec<f64> = cells.par_iter().with_min_len(CHUNK).map(|cell| -outflow(cell)).collect();
    let q = solve(&cells, right, 1.0 / (layers * layers) as f64);
    let of = |n: u32| if n == NONE { 0.0 } else { q[n as usize] };
    for (n, cell) in cells.iter().enumerate() {
        for k in (0..6).filter(|&k| cell.open[k] > 0.0) {
            // Of two cells the upper one changes the face between them.
            if k % 2 == 0 {
                velocity.values[k / 2][cell.faces[k]] -= (q[n] - of(cell.beside[k])) as f32;
            } else if cell.beside[k] == NONE {
                velocity.values[k / 2][cell.faces[k]] += q[n] as f32;
            }
        }
    }
}

/// The cells of the air whose faces all have a velocity, some of them extended, in slot order.
fn cells(extended: &Extended, open: &FaceGrid<f32>) -> Vec<Cell> {
    let topology = &open.topology;
    let reach = |slot: usize, axis: usize, step: i32| {
        let mut at = leaf::local(slot % leaf::SIZE);
        at[axis] += step;
        topology.reach(slot / leaf::SIZE, at)
    };
    let faces = |slot: usize| -> Option<[usize; 6]> {
        let (mut faces, mut any) = ([0; 6], false);
        for (k, face) in faces.iter_mut().enumerate() {
            let a = k / 2;
            *face = reach(slot, a, k as i32 % 2)?;
            if !extended.known[a].has(*face) && open.values[a][*face] > 0.0 {
                return None;
            }
            any |= extended.fresh[a].has(*face);
        }
        any.then_some(faces)
    };
    let slots = (0..topology.len() * leaf::SIZE).into_par_iter().with_min_len(CHUNK);
    let found: Vec<(usize, [usize; 6])> =
        slots.filter(|&s| !extended.liquid.has(s)).filter_map(|s| Some((s, faces(s)?))).collect();
    let mut number = vec![NONE; topology.len() * leaf::SIZE];
    for (n, (slot, _)) in found.iter().enumerate() {
        number[*slot] = n as u32;
    }
    let cell = |&(slot, faces): &(usize, [usize; 6])| Cell {
        faces,
        beside: std::array::from_fn(|k| {
            reach(slot, k / 2, 2 * (k as i32 % 2) - 1).map_or(NONE, |s| number[s])
        }),
        open: std::array::from_fn(|k| match extended.fresh[k / 2].has(faces[k]) {
            true => open.values[k / 2][faces[k]],
            false => 0.0,
        }),
    };
    found.par_iter().with_min_len(CHUNK).map(cell).collect()
}

/// (A + `give`) q = `right` by conjugate gradients with the diagonal as preconditioner.
fn solve(cells: &[Cell], right: Vec<f64>, give: f64) -> Vec<f64> {
    let inverse: Vec<f64> =
        cells.iter().map(|c| 1.0 / (give + f64::from(c.open.iter().sum::<f32>()))).collect();
    let apply = |x: &[f64], n: usize| {
        let cell = &cells[n];
        let of = |k: usize| if cell.beside[k] == NONE { 0.0 } else { x[cell.beside[k] as usize] };
        give * x[n] + (0..6).map(|k| f64::from(cell.open[k]) * (x[n] - of(k))).sum::<f64>()
    };
    let mut x = vec![0.0; cells.len()];
    let mut r = right;
    let mut z: Vec<f64> = r.iter().zip(&inverse).map(|(r, d)| r * d).collect();
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let goal = TOLERANCE * TOLERANCE * dot(&r, &r);
    for _ in 0..MOST_ITERATIONS {
        if dot(&r, &r) <= goal {
            break;
        }
        let q: Vec<f64> =
            (0..cells.len()).into_par_iter().with_min_len(CHUNK).map(|n| apply(&p, n)).collect();
        let step = rz / dot(&p, &q);
        for n in 0..cells.len() {
            x[n] += step * p[n];
            r[n] -= step * q[n];
            z[n] = r[n] * inverse[n];
        }
        let next = dot(&r, &z);
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rz * *p);
        rz = next;
    }
    x
}

/// Σ a b, summed in the same order by any number of threads.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let part = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let parts: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(part).collect();
    parts.iter().sum()
}
