//! Builds the liquid's level set from its particles.
//!
//! Every particle stands for a fixed volume, spread over a quadratic B-spline. The sum is the fraction of space that is
//! liquid, smoothed by a known kernel. Across a flat surface this fraction is a known function of the distance, so its
//! inverse turns the fraction into a distance. The surface of a flat pool, at any tilt, then lies exactly where the
//! particles end. Liquid and air are treated alike: nothing is inflated, and a thin film of air does not close sooner
//! than a thin film of water. Inside solids the level set is continued from beside them, so that liquid wets walls
//! without a gap [Batty et al. 2007, §4]: in a cell that a wall cuts, from the side of the wall on which its space is.

pub(crate) mod fraction;
pub mod gravity_waves;
mod mirror;
mod restoration;
mod sides;
pub mod tension;
pub mod volume;

use super::particles::Particles;
use super::particles::cells::Cells;
use crate::grid::block;
use crate::grid::halo::is_constant;
use crate::grid::layers::{Sources, carry_on_from};
use crate::grid::morphology::VoxelMask;
use crate::grid::{Grid, Transform, leaf};
use crate::solid::{SolidFields, Solids};
use fraction::Fraction;
use mirror::mirror;
use rayon::prelude::*;
use restoration::restore;

/// The settings of the level set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceParams {
    /// Particles per voxel of a filled region.
    pub per_voxel: f32,
    /// Width of the band, in voxels, in which the level set is a distance.
    pub band: f32,
    /// Layers of cells by which the level set is continued into solids: two serve the faces and nodes of every cell
    /// that is partly open.
    pub into_solids: usize,
}

impl Default for SurfaceParams {
    fn default() -> Self {
        Self { per_voxel: 8.0, band: 3.0, into_solids: 2 }
    }
}

/// Half-width of the smoothing kernel, voxels. The level set is computed within this distance of the surface.
const SUPPORT: f32 = 1.5;

/// Signed distance, in voxels and clamped to ±[`SUPPORT`], of a point where the smoothed fraction of a flat liquid is
/// `fraction`: the inverse of F(t) = ∫_t^∞ B₂, B₂ the quadratic B-spline.
pub(super) fn distance_of(fraction: f32) -> f32 {
    let below = |f: f32| if f < 1.0 / 6.0 { SUPPORT - (6.0 * f).cbrt() } else { middle(f) };
    if fraction <= 0.0 {
        SUPPORT
    } else if fraction >= 1.0 {
        -SUPPORT
    } else if fraction <= 0.5 {
        below(fraction)
    } else {
        -below(1.0 - fraction)
    }
}

/// Solves ½ − ¾t + t³/3 = f for t in 0..½ by Newton's method (the function is nearly linear there).
fn middle(f: f32) -> f32 {
    let mut t = (0.5 - f) / 0.75;
    for _ in 0..3 {
        let residual = 0.5 - 0.75 * t + t * t * t / 3.0 - f;
        t -= residual / (t * t - 0.75);
    }
    t
}

/// The liquid's level set, m, on the leaves of `cells`; negative inside.
///
/// `solid` are the solids on the lattice, if there are any. `air` are the cells of the air's particles, if the air is
/// sampled. `walls` are the solids in which the level set is mirrored, if it has surface tension.
pub fn surface(
    particles: &Particles,
    cells: &Cells,
    air: Option<&Cells>,
    transform: &Transform,
    solid: Option<&SolidFields>,
    walls: Option<&Solids>,
    params: &SurfaceParams,
) -> Grid<f32> {
    let open = solid.map(|solid| solid.volume.seen_on(&cells.topology));
    let fraction = fraction::of_liquid(particles, cells, air, transform, open.as_deref(), params.per_voxel);
    let mut distance = Grid::new(cells.topology.clone(), SUPPORT);
    let leaves = distance.values.par_chunks_mut(leaf::SIZE).zip(fraction.value.par_chunks(leaf::SIZE));
    leaves.with_min_len(8).for_each(|(distance, fraction)| {
        distance.iter_mut().zip(fraction).for_each(|(d, &f)| *d = distance_of(f));
    });
    continue_into_solids(&mut distance, &fraction, transform, (solid, walls), params.into_solids);
    fair(&mut distance);
    restore(&mut distance, &fraction, SUPPORT);
    let h = transform.voxel_size() as f32;
    distance.values.par_iter_mut().with_min_len(4096).for_each(|d| *d *= h);
    distance.background = params.band * h;
    distance
}

/// Smooths bumps the size of a voxel without shrinking curved surfaces.
///
/// A step smoothed by a kernel of variance s² loses s²κ/2 of its distance where its mean curvature is κ = ∇²φ;
/// so does one step of diffusion over s²/2. One step forward and one twice as long back [Taubin 1995] leave the
/// long waves where the particles are and damp the short ones.
fn fair(distance: &mut Grid<f32>) {
    /// Variance of the quadratic B-spline, voxels².
    const VARIANCE: f32 = 0.25;
    let smooth = diffused(distance, 0.5 * VARIANCE);
    *distance = diffused(&smooth, -VARIANCE);
}

/// One explicit step φ + amount ∇²φ (voxels²).
fn diffused(field: &Grid<f32>, amount: f32) -> Grid<f32> {
    let mut out = Grid::new(field.topology.clone(), field.background);
    out.values.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).for_each(|(l, out)| {
        let mut block = [0.0; block::SIZE];
        block::load(&mut block, &field.values, &field.topology.neighbours()[l], field.background);
        if is_constant(&block) {
            out.fill(block[0]);
            return;
        }
        for (n, out) in out.as_chunks_mut::<{ leaf::DIM }>().0.iter_mut().enumerate() {
            let row = |x, y, z| block::row(&block, n, [x, y, z]);
            let own = row(0, 0, 0);
            let [left, right, front, back] = [row(-1, 0, 0), row(1, 0, 0), row(0, -1, 0), row(0, 1, 0)];
            let (below, above) = (row(0, 0, -1), row(0, 0, 1));
            for z in 0..leaf::DIM {
                let around = left[z] + right[z] + front[z] + back[z] + below[z] + above[z];
                out[z] = own[z] + amount * (around - 6.0 * own[z]);
            }
        }
    });
    out
}

/// Gives cells far inside solids their mirror image in `walls` or, layer by layer, what lies beside them along the wall's normal;
/// a cell with some space of its own takes it from the cells that are joined to it.
fn continue_into_solids(
    distance: &mut Grid<f32>,
    fraction: &Fraction,
    transform: &Transform,
    (solid, walls): (Option<&SolidFields>, Option<&Solids>),
    layers: usize,
) {
    let mut known = VoxelMask::of_values(distance.topology.clone(), &fraction.known, |known| known);
    if let Some(solids) = walls {
        mirror(distance, &mut known, transform, solids, layers as f64 * transform.voxel_size());
    }
    let limited = solid.map(|solid| sides::of(&solid.open, &known));
    let limited = limited.as_deref().unwrap_or(&[]);
    carry_on_from(distance, known, layers, Sources { limited, openness: fraction.openness() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_inverts_the_smoothed_step() {
        let step = |t: f32| match t.abs() {
            a if a <= 0.5 => 0.5 - 0.75 * t + t * t * t / 3.0,
            a if t > 0.0 => (SUPPORT - a).powi(3) / 6.0,
            a => 1.0 - (SUPPORT - a).powi(3) / 6.0,
        };
        for n in -29..30 {
            let t = n as f32 / 20.0;
            assert!((distance_of(step(t)) - t).abs() < 2e-3, "{t}: {}", distance_of(step(t)));
        }
    }
}
