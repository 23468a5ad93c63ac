//! Surface tension: the pressure jump at the surface, and the longest stable step for capillary waves.

use crate::grid::Grid;
use crate::levelset::curvature;
use rayon::prelude::*;

/// Smallest width of the surface's band of distances, voxels, that a curvature can be computed in.
pub const LEAST_BAND: f32 = 5.0;

/// Layers of cells by which the surface continues into solids at a right angle, so that its curvature is right at
/// walls.
pub const LEAST_INTO_SOLIDS: usize = 7;

/// σκ, Pa, at the cells around a surface (m): what the pressure jumps by there, for a surface tension of
/// `sigma` N/m [Hong and Kim 2005].
pub fn jump(surface: &Grid<f32>, sigma: f64, h: f32) -> Grid<f32> {
    let mut jump = curvature(surface, h);
    jump.values.par_iter_mut().with_min_len(4096).for_each(|kappa| *kappa *= sigma as f32);
    jump
}

/// Longest step for surface tension, in √(ρh³/σ). With a longer step a waving column gains energy.
///
/// A wave of wave number k moves at ω² = σk³/ρ, and an explicit pressure jump needs ω dt < 2. The curvature's filter
/// leaves no wave with ω²ρh³/σ > 1 (at kh = 1.3), which would allow twice the unit; the bound of
/// [Brackbill et al. 1992] for unfiltered waves is 3.5 times shorter. But velocity is transferred between particles and
/// faces in every substep, and noise of the size of voxels grows from the transfer's errors. Measured on columns of 8
/// voxels' radius, over four periods: at 1 their energy grows fivefold, at 0.8 by a tenth a period, at 0.56 not at all.
/// A column at rest still ripples at 0.56, by 0.065 of a voxel after four seconds, because particles and faces pass
/// their noise on.
const LONGEST: f64 = 0.4;

/// The longest step, s, of a liquid of `density` kg/m³ on voxels of `h` metres: 0.4 √(ρh³/σ).
pub fn longest_step(sigma: f64, density: f64, h: f64) -> f64 {
    LONGEST * (density * h.powi(3) / sigma).sqrt()
}

/// The greatest surface tension, N/m, for which a step of `dt` seconds is short enough.
pub fn greatest(density: f64, h: f64, dt: f64) -> f64 {
    density * h.powi(3) * (LONGEST / dt).powi(2)
}
