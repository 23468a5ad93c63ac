//! Makes prescribed fluxes compatible. Walls and sources can push more into a closed volume than it has room for; the
//! excess is shared out among the air in it or, without air, among its liquid cells.

use super::flux::Flux;
use super::gauge::Gauge;
use crate::coupling::air::regions::Regions;
use crate::coupling::air::volumes::{ClosedVolume, SMALLEST_SHARE};

/// Net outflow that the constraints must allow, because no velocity field can remove it, m³/s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leftover {
    /// Per air region.
    pub(crate) air: Vec<f64>,
    /// Per cell of each liquid component.
    pub(crate) per_cell: Vec<f64>,
}

/// Shares the total outflow prescribed to each closed volume (by its walls and sources) among its air regions in
/// proportion to their volumes, so that the liquid keeps its divergence; among its liquid cells when it has no air. Bodies
/// that join volumes carry from one to the other what they can.
pub(crate) fn compatible(
    regions: &Regions,
    volumes: &[ClosedVolume],
    gauge: &Gauge,
    flux: &Flux,
    h: f64,
) -> Leftover {
    let mut left =
        Leftover { air: vec![0.0; regions.air.len()], per_cell: vec![0.0; regions.liquid_cells.len()] };
    let prescribed = |v: &ClosedVolume| {
        let liquid: f64 = v.liquids.iter().map(|&k| flux.liquid[k]).sum();
        liquid + v.air.iter().map(|&r| flux.air[r]).sum::<f64>()
    };
    for (v, total) in volumes.iter().zip(gauge.left(volumes.iter().map(prescribed).collect())) {
        let share = |r: usize| regions.air[r].volume.max(SMALLEST_SHARE * h * h * h);
        let all: f64 = v.air.iter().map(|&r| share(r)).sum();
        for &r in &v.air {
            left.air[r] = total * share(r) / all;
        }
        if v.air.is_empty() {
            let cells: usize = v.liquids.iter().map(|&k| regions.liquid_cells[k]).sum();
            for &k in &v.liquids {
                left.per_cell[k] = total / cells as f64;
            }
        }
    }
    left
}
