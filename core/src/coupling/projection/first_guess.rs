//! The initial guess of the pressure solver.

use super::assemble::AirUnknowns;
use crate::coupling::air::regions::{LABEL_SOLID, Regions, component_of};
use crate::coupling::air::volumes::ClosedVolume;
use crate::coupling::fields::LiquidFields;
use crate::grid::{Grid, leaf};
use crate::pressure::{CELL, PressureSystem, Unknowns};
use rayon::prelude::*;

/// The previous pressure where there is one. A bubble starts from the mean of that pressure over its cells. In a closed
/// volume the guess is shifted so that the bubble whose pressure is 0 now starts at 0.
pub(crate) fn first_guess<'c>(
    fields: &LiquidFields,
    regions: &Regions,
    system: &PressureSystem,
    air: &AirUnknowns,
    gauged: impl Iterator<Item = &'c ClosedVolume>,
) -> Unknowns {
    let closed: Vec<&ClosedVolume> = gauged.collect();
    let mut x = Unknowns::zeros(system);
    let Some(previous) = fields.cells.pressure else { return x };
    let has_unknowns = air.iter().any(Option::is_some) || closed.iter().any(|volume| !volume.air.is_empty());
    let mean = if has_unknowns { mean_of_air(previous, regions) } else { vec![0.0; regions.air.len()] };
    let mut air_level = vec![0.0; regions.air.len()];
    let mut liquid_level = vec![0.0; regions.liquid_cells.len()];
    for volume in closed {
        let Some(zero) = volume.largest(regions) else { continue };
        volume.air.iter().for_each(|&r| air_level[r] = mean[zero]);
        volume.liquids.iter().for_each(|&k| liquid_level[k] = mean[zero]);
    }
    for (r, b) in air.iter().enumerate() {
        if let Some(b) = b {
            x.supers[*b as usize] = mean[r] - air_level[r];
        }
    }
    let one_level = liquid_level.iter().all(|&level| level == 0.0);
    x.cells.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, x)| {
        let origin = system.topology.origins()[l];
        let (Some(from), Some(at)) =
            (previous.topology.leaf_of(origin), regions.cells.topology.leaf_of(origin))
        else {
            return;
        };
        if one_level {
            let cells = previous.values[from * leaf::SIZE..].iter().zip(&system.label[l * leaf::SIZE..]);
            for (x, (&p, &label)) in x.iter_mut().zip(cells) {
                *x = if label == CELL { f64::from(p) } else { 0.0 };
            }
            return;
        }
        for n in (0..leaf::SIZE).filter(|&n| system.label[l * leaf::SIZE + n] == CELL) {
            let component = component_of(regions.cells.values[at * leaf::SIZE + n]);
            x[n] = f64::from(previous.values[from * leaf::SIZE + n]) - liquid_level[component];
        }
    });
    x
}

/// Mean of a pressure over the active cells of each air region, Pa.
fn mean_of_air(pressure: &Grid<f32>, regions: &Regions) -> Vec<f64> {
    let of_leaf = |(l, origin): (usize, &crate::grid::Coord)| {
        let mut sums: Vec<(usize, f64, usize)> = Vec::new();
        let Some(from) = pressure.topology.leaf_of(*origin) else { return sums };
        for n in 0..leaf::SIZE {
            let label = regions.cells.values[l * leaf::SIZE + n];
            if label <= LABEL_SOLID {
                continue;
            }
            let p = f64::from(pressure.values[from * leaf::SIZE + n]);
            match sums.iter_mut().rev().find(|(r, ..)| *r == label as usize) {
                Some((_, sum, count)) => (*sum, *count) = (*sum + p, *count + 1),
                None => sums.push((label as usize, p, 1)),
            }
        }
        sums
    };
    let leaves: Vec<_> = regions.cells.topology.origins().par_iter().enumerate().map(of_leaf).collect();
    let mut total = vec![(0.0, 0usize); regions.air.len()];
    for (r, sum, count) in leaves.into_iter().flatten() {
        total[r] = (total[r].0 + sum, total[r].1 + count);
    }
    total.into_iter().map(|(sum, count)| sum / count.max(1) as f64).collect()
}
