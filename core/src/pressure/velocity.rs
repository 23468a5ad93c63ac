//! What a solved pressure does to the velocity.

use super::system::{FIXED, PressureSystem, SOLID, Unknowns};
use crate::grid::rows::{Row, Rows};
use crate::grid::{FaceGrid, leaf};
use rayon::prelude::*;

/// Pressure of every cell of a system, Pa: p, λ or 0.
pub(crate) fn pressures(system: &PressureSystem, x: &Unknowns) -> Vec<f64> {
    let value = |(&label, &p): (&i32, &f64)| match label {
        FIXED | SOLID => 0.0,
        b if b >= 0 => x.supers[b as usize],
        _ => p,
    };
    system.label.par_iter().zip(&x.cells).map(value).collect()
}

/// u = u* + dt M⁻¹ (Dᵀ p + Bᵀ λ) [Goldade and Batty 2017, Eq. 7], which on a face of coefficient c is
/// u* + c (p_low − p_high) / (α h²); a closed face takes the solid's velocity. `open` is α, `h` the edge of a voxel, m.
pub(crate) fn update_velocity(
    open: &FaceGrid<f32>,
    solid: &FaceGrid<f32>,
    h: f64,
    system: &PressureSystem,
    pressures: &[f64],
    jumps: Option<&[Vec<f64>; 3]>,
    vel: &mut FaceGrid<f32>,
) {
    let topology = vel.topology.clone();
    let [x, y, z] = &mut vel.values;
    let axes =
        x.par_chunks_mut(leaf::SIZE).zip(y.par_chunks_mut(leaf::SIZE)).zip(z.par_chunks_mut(leaf::SIZE));
    axes.zip(topology.origins()).for_each(|(((x, y), z), &origin)| {
        let (open, solid) = (Rows::faces(open, origin), Rows::faces(solid, origin));
        let solved = system
            .topology
            .leaf_of(origin)
            .map(|l| (l * leaf::SIZE, Rows::around(pressures, 0.0, &system.topology.neighbours()[l])));
        for (axis, u) in [x, y, z].into_iter().enumerate() {
            for (n, u) in u.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
                let alpha = open[axis].row(n);
                if let Some((start, p)) = &solved {
                    let first = start + n * leaf::DIM;
                    let Some(c) = system.face[axis][first..].first_chunk::<{ leaf::DIM }>() else { return };
                    if c.iter().fold(false, |any, &c| any | (c > 0.0)) {
                        let jump =
                            jumps.and_then(|j| j[axis][first..].first_chunk()).unwrap_or(&[0.0; leaf::DIM]);
                        let (p, below) = (p.row(n), p.row_behind(n, 2 * axis));
                        let solved: Row<f32> = std::array::from_fn(|z| {
                            let flow = f64::from(c[z]) * (below[z] - p[z]) - jump[z];
                            (f64::from(u[z]) + flow / (f64::from(alpha[z]) * h * h)) as f32
                        });
                        *u = std::array::from_fn(|z| if c[z] > 0.0 { solved[z] } else { u[z] });
                    }
                }
                if alpha.iter().fold(false, |any, &alpha| any | (alpha <= 0.0)) {
                    let solid = solid[axis].row(n);
                    *u = std::array::from_fn(|z| if alpha[z] <= 0.0 { solid[z] } else { u[z] });
                }
            }
        }
    });
}
