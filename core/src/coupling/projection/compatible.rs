//! Makes prescribed fluxes compatible. Walls and sources can push more into a closed volume than it has room for; the
//! excess is shared out among the air in it or, without air, among its liquid, by volume.

use super::flux::Flux;
use super::gauge::Gauge;
use crate::coupling::air::regions::{LABEL_SOLID, Regions, component_of};
use crate::coupling::air::volumes::{ClosedVolume, SMALLEST_SHARE};
use crate::coupling::fields::LiquidFields;
use crate::grid::rows::Rows;
use crate::grid::{Coord, Topology, leaf};
use crate::levelset::open_volume;
use rayon::prelude::*;

/// Net outflow that the constraints must allow, because no velocity field can remove it, m³/s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leftover {
    /// Per air region.
    pub(crate) air: Vec<f64>,
    /// Of each liquid component, per share of a cell that is not solid: a sliver must not take as much through its narrow
    /// faces as a whole cell.
    pub(crate) per_room: Vec<f64>,
    /// Share of each cell of the system that is not solid, `[leaf][512]`; empty where no liquid takes anything.
    room: Vec<f32>,
    /// Its sum over each liquid component.
    room_of: Vec<f64>,
}

impl Leftover {
    /// What the liquid cell of component `k` in a slot of the system takes, m³/s.
    pub(crate) fn of_cell(&self, k: usize, slot: usize) -> f64 {
        self.per_room[k] * self.room.get(slot).map_or(0.0, |&room| f64::from(room))
    }

    /// What the liquid of a closed volume takes, m³/s.
    pub(crate) fn of_liquid(&self, volume: &ClosedVolume) -> f64 {
        let of = |&k: &usize| self.per_room[k] * self.room_of.get(k).copied().unwrap_or(0.0);
        volume.liquids.iter().map(of).sum()
    }

    /// Whether no liquid takes anything.
    pub(crate) fn is_none(&self) -> bool {
        self.room.is_empty()
    }
}

/// Share of a cell that counts where there is none.
const LEAST_ROOM: f32 = 1e-20;

/// The share of each liquid cell of a system that is not solid, and its sum over each component.
fn rooms(fields: &LiquidFields, regions: &Regions, topology: &Topology) -> (Vec<f32>, Vec<f64>) {
    let mut room = vec![0.0; topology.len() * leaf::SIZE];
    let of_leaf = |(room, &origin): (&mut [f32], &Coord)| {
        let mut sums: Vec<(usize, f64)> = Vec::new();
        let Some(labels) = regions.of_leaf(origin) else { return sums };
        let open = Rows::faces(fields.left_by_solids(), origin);
        for n in (0..leaf::SIZE).filter(|&n| labels[n] < LABEL_SOLID) {
            let alpha = |a: usize| [open[a].at(n), open[a].at_behind(n, 2 * a + 1)];
            // Even cells of no volume can take something, if there are no others.
            room[n] = open_volume(std::array::from_fn(alpha)).max(LEAST_ROOM);
            let k = component_of(labels[n]);
            match sums.iter_mut().rev().find(|(other, _)| *other == k) {
                Some((_, sum)) => *sum += f64::from(room[n]),
                None => sums.push((k, f64::from(room[n]))),
            }
        }
        sums
    };
    let leaves = room.par_chunks_mut(leaf::SIZE).zip(topology.origins());
    let sums: Vec<Vec<(usize, f64)>> = leaves.map(of_leaf).collect();
    let mut total = vec![0.0; regions.liquid_cells.len()];
    sums.into_iter().flatten().for_each(|(k, sum)| total[k] += sum);
    (room, total)
}

/// Shares the total outflow prescribed to each closed volume (by its walls and sources) among its air regions in
/// proportion to their volumes, so that the liquid keeps its divergence; among its liquid cells when it has no air. Bodies
/// that join volumes carry from one to the other what they can.
pub(crate) fn compatible(
    fields: &LiquidFields,
    regions: &Regions,
    topology: &Topology,
    volumes: &[ClosedVolume],
    gauge: &Gauge,
    flux: &Flux,
) -> Leftover {
    let h = fields.voxel_size();
    let per_room = vec![0.0; regions.liquid_cells.len()];
    let mut left =
        Leftover { air: vec![0.0; regions.air.len()], per_room, room: Vec::new(), room_of: Vec::new() };
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
        if v.air.is_empty() && total != 0.0 {
            if left.is_none() {
                (left.room, left.room_of) = rooms(fields, regions, topology);
            }
            let room: f64 = v.liquids.iter().map(|&k| left.room_of[k]).sum();
            for &k in &v.liquids {
                left.per_room[k] = total / room;
            }
        }
    }
    left
}
