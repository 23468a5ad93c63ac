//! The volume enclosed by a level set, with sub-voxel accuracy.

use crate::grid::halo::is_constant;
use crate::grid::{Grid, halo, leaf};
use rayon::prelude::*;

/// Voxels around a leaf that are needed for the second differences of its voxels and of their neighbours.
pub const HALO: usize = 2;
const STRIDES: [usize; 3] = halo::strides(HALO);
/// A z-row of a leaf.
type Row = [f32; leaf::DIM];

/// Fraction of every voxel where the distance `phi` (m, at cell centres) is negative; `h` is the voxel size, metres.
///
/// H(φ̄/h) with H(t) = ½ − t between 0 and 1, where φ̄ = φ + h²∇²φ/24 is the mean of φ over the voxel. Summed over
/// voxels it is exact for planes, because H is the fraction of a voxel below a plane across an axis. With φ alone a
/// sphere of radius R would be too large by h²/(4R²) of its volume, because H spreads the surface over a shell one
/// voxel thick; the term ∇²φ = 2/R corrects this.
pub fn fractions_inside(phi: &Grid<f32>, h: f32) -> Grid<f32> {
    let whole = |p: f32| f32::from(p < 0.0);
    let mut inside = Grid::new(phi.topology.clone(), whole(phi.background));
    let leaves = inside.values.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8);
    leaves.for_each_init(Vec::new, |block, (l, inside)| {
        let own = &phi.values[l * leaf::SIZE..][..leaf::SIZE];
        if own.as_chunks::<16>().0.iter().all(|own| own.iter().fold(true, |far, p| far & (p.abs() >= h))) {
            inside.iter_mut().zip(own).for_each(|(i, &p)| *i = whole(p));
            return;
        }
        halo::gather::<HALO, _>(&phi.topology, &phi.values, l, phi.background, block);
        for (n, inside) in inside.as_chunks_mut().0.iter_mut().enumerate() {
            let [x, y, _] = leaf::local(n * leaf::DIM);
            let at = halo::index(HALO, [x, y, 0]);
            let row = |at: usize| block[at..].first_chunk().expect("a row inside the block");
            let along = |step: usize| [at - 2 * step, at - step, at, at + step, at + 2 * step].map(row);
            *inside = fractions_in_row(STRIDES.map(along), h);
        }
    });
    inside
}

/// The same of the voxel at a place in a block that was gathered with [`HALO`] voxels around it.
#[inline(always)]
pub fn fraction_inside(block: &[f32], at: usize, h: f32) -> f32 {
    let along = |step: usize| [at - 2 * step, at - step, at, at + step, at + 2 * step].map(|at| block[at]);
    fraction(block[at], STRIDES.map(along), h)
}

/// The same for a row of voxels, from the five rows along each axis of which it is the middle one. There are no
/// branches, so the loop over the row is vectorised.
#[inline(never)]
fn fractions_in_row(axes: [[&Row; 5]; 3], h: f32) -> Row {
    let mut fractions = [0.0; leaf::DIM];
    for n in 0..leaf::DIM {
        fractions[n] = fraction(axes[0][2][n], axes.map(|axis| axis.map(|row| row[n])), h);
    }
    fractions
}

/// Of φ and the five values along each axis of which it is the middle one.
#[inline(always)]
fn fraction(phi: f32, axes: [[f32; 5]; 3], h: f32) -> f32 {
    let [x, y, z] = axes.map(bend);
    (0.5 - (phi + (x + y + z) / 24.0) / h).clamp(0.0, 1.0)
}

/// Second difference in the middle of five values, limited to those on either side of it, and 0 where these differ in
/// sign: a kink between two surfaces is the curvature of neither.
#[inline(always)]
fn bend([a, b, c, d, e]: [f32; 5]) -> f32 {
    let (below, own, above) = (a + c - 2.0 * b, b + d - 2.0 * c, c + e - 2.0 * d);
    let (least, most) = (below.min(own).min(above), below.max(own).max(above));
    if least > 0.0 { least } else { most.min(0.0) }
}

/// Volume (m³) inside: the fractions of [`fractions_inside`], of `open`, the open fraction of each cell on the same
/// leaves, where there are solids. `h` is the voxel size, metres.
pub fn volume(inside: &Grid<f32>, open: Option<&Grid<f32>>, h: f64) -> f64 {
    let leaf = |l: usize| -> f64 {
        let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
        let inside = &inside.values[own.clone()];
        if inside[0] == 0.0 && is_constant(inside) {
            return 0.0;
        }
        match open {
            None => inside.iter().map(|&i| f64::from(i)).sum(),
            Some(open) => inside.iter().zip(&open.values[own]).map(|(&i, &o)| f64::from(i * o)).sum(),
        }
    };
    let leaves: Vec<f64> = (0..inside.topology.len()).into_par_iter().with_min_len(16).map(leaf).collect();
    leaves.iter().sum::<f64>() * h * h * h
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use glam::DVec3;
    use std::f64::consts::PI;
    use std::sync::Arc;

    /// 32³ cells of edge 1.
    fn room() -> Arc<Topology> {
        let origin = |n: i32| Coord::new(n / 16, n / 4 % 4, n % 4) * 8;
        Arc::new(Topology::new((0..64).map(origin).collect()))
    }

    /// Mean over some places of what is measured of what there is, for distances from a point.
    fn ratio(exact: f64, distance: impl Fn(DVec3) -> f64 + Sync) -> f64 {
        let measured = |n: u32| {
            let centre = DVec3::splat(15.0) + DVec3::new(0.13, 0.41, 0.77) * f64::from(n);
            let phi = Grid::from_fn(room(), 3.0, |x| distance(x.as_dvec3() - centre) as f32);
            volume(&fractions_inside(&phi, 1.0), None, 1.0)
        };
        (0..5).map(measured).sum::<f64>() / 5.0 / exact
    }

    #[test]
    fn balls_and_holes_have_their_volume() {
        for r in [2.0, 3.0, 4.0, 6.0, 8.0] {
            let exact = 4.0 / 3.0 * PI * r * r * r;
            let ball = ratio(exact, |x| x.length() - r) - 1.0;
            let room = 32f64.powi(3);
            let hole = (room - ratio(1.0, |x| r - x.length())) / exact - 1.0;
            // Of φ alone 1/(4R²) is left; so little of it that a finer grid takes away with third order.
            let bound = 0.4 / r.powi(3) + 2e-4;
            assert!(ball.abs() < bound && hole.abs() < bound, "R = {r}: {ball} {hole}");
        }
    }

    #[test]
    fn a_sheet_has_its_volume_down_to_a_voxel() {
        for tilt in [0.0, 0.3, 1.0] {
            let normal = DVec3::new(1.0, tilt, 0.5 * tilt).normalize();
            for thickness in [1.0, 1.5, 2.0, 3.0] {
                let exact = 144.0 * thickness / normal.x;
                let open = Grid::from_fn(room(), 0.0, |x| {
                    f32::from((10..22).contains(&x.y) && (10..22).contains(&x.z))
                });
                let mut sum = 0.0;
                for n in 0..8 {
                    let middle = DVec3::new(15.0 + 0.125 * f64::from(n), 15.5, 15.5);
                    let distance = |x: Coord| normal.dot(x.as_dvec3() - middle).abs() - 0.5 * thickness;
                    let phi = Grid::from_fn(room(), 3.0, |x| distance(x) as f32);
                    sum += volume(&fractions_inside(&phi, 1.0), Some(&open), 1.0) / 8.0;
                }
                assert!((sum / exact - 1.0).abs() < 0.02, "{thickness} at {tilt}: {sum} of {exact}");
            }
        }
    }

    #[test]
    fn a_filled_corner_of_a_box_is_measured_in_full() {
        let topology = Arc::new(Topology::new(vec![Coord::ZERO]).dilated(1));
        let phi = Grid::from_fn(topology.clone(), 1.0, |c| c.y as f32 - 4.2);
        // Solid below y = 0 and beyond x, z = 0 and 6 (the lower node of cell c lies at c − ½).
        let open = Grid::from_fn(topology, 0.0, |c| f32::from(c.min_element() >= 0 && c.x < 6 && c.z < 6));
        let measured = volume(&fractions_inside(&phi, 1.0), Some(&open), 1.0);
        assert!((measured - 36.0 * 4.7).abs() < 0.01, "{measured}");
    }
}
