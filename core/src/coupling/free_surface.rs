//! Free surface: all air has pressure 0.

use super::fields::LiquidFields;
use super::projection::{self, Engine, Error, Projection};
use crate::grid::FaceGrid;
use crate::pressure::{Params, PressureSolver, Progress};

/// Makes `vel` (m/s, after forces over a step of `dt` seconds) free of divergence in the liquid, with
/// pressure 0 in all air: submerged bubbles collapse [Goldade and Batty 2017, Eq. 4].
///
/// Closed faces get the solid's velocity. In a pocket filled completely with liquid the pressure is undetermined up to
/// a constant, which the solver removes. On an error nothing is changed.
pub fn project(
    fields: &LiquidFields,
    vel: &mut FaceGrid<f32>,
    dt: f64,
    solver: &mut dyn PressureSolver,
    params: &Params,
    progress: Progress,
) -> Result<Projection, Error> {
    projection::project(fields, |r| vec![false; r.air.len()], vel, dt, Engine { solver, params, progress })
}
