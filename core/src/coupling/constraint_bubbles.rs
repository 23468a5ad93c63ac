//! Constraint bubbles: every closed region of air keeps its volume [Goldade and Batty 2017].

use super::air::regions::Regions;
use super::fields::LiquidFields;
use super::projection::{self, AirShare, Engine, Error, Projection};
use crate::grid::FaceGrid;
use crate::pressure::{Params, PressureSolver, Progress};

/// Makes `vel` (m/s, after forces over a step of `dt` seconds) free of divergence in the liquid and free of
/// net flux over the boundary of every air region without a way out:
///
/// ```text
///    dt [ D M⁻¹ Dᵀ   D M⁻¹ Bᵀ ] [p]     [ D u* + s   ]
///       [ B M⁻¹ Dᵀ   B M⁻¹ Bᵀ ] [λ] = - [ B u* + s_b ]        u = u* + dt M⁻¹ (Dᵀ p + Bᵀ λ)
/// ```
///
/// [Goldade and Batty 2017, Eq. 8]. Each bubble is one unknown λ that borders many cells. In a volume that solids
/// close, the prescribed flux is first made compatible: its bubbles take the surplus in proportion to their volumes.
/// Then the row of the largest bubble is left out, because its constraint follows from the others; its pressure is the
/// 0 from which the pressures of that volume count. Regions without liquid faces carry no row. Closed faces get the
/// solid's velocity. On an error nothing is changed.
pub fn project(
    fields: &LiquidFields,
    vel: &mut FaceGrid<f32>,
    dt: f64,
    solver: &mut dyn PressureSolver,
    params: &Params,
    progress: Progress,
) -> Result<Projection, Error> {
    projection::project(fields, keeps_volume, vel, dt, Engine { solver, params, progress })
}

/// The air's part of that system as data, for a coupling that solves it in this one's stead: the rows B u + s_b = 0, s_b with
/// the outflow that returns each bubble to its volume. Bodies are that coupling's: their gaps are air like any other.
pub fn share(fields: &LiquidFields) -> Result<AirShare, Error> {
    projection::share(fields, keeps_volume)
}

/// Air that reaches unbounded space may change its volume; all other air keeps it.
fn keeps_volume(regions: &Regions) -> Vec<bool> {
    regions.air.iter().map(|a| !a.exterior).collect()
}
