//! The weight of each particle: how much of a cell it fills.

use super::LEAST_OPEN;
use crate::fluid::particles::cells::Cells;
use crate::grid::block;
use crate::grid::morphology::offsets;
use crate::grid::{Coord, Topology, leaf};
use rayon::prelude::*;

/// Replaces the number of particles of a solid cell that holds none.
const SOLID: f32 = -1.0;
/// Replaces the number of particles of a cell that is full though it holds few.
const FULL: f32 = -2.0;
/// Replaces the number of particles of a full cell whose particles do not tell where its liquid is.
const GAP: f32 = 1e-3;
/// Open fraction of a cell below which chance decides whether it holds a particle: it has room for less than half of the nominal
/// number, and beside edges of solids, which the lattice sees rounded, for still less.
const SLIVER: f32 = 0.5;

/// Per cell, the weight of each of its particles, in cells. For an empty cell, and for one whose particles were
/// thinned, its open volume, if it is full all the same.
///
/// A cell whose 26 neighbours are wet (or solid) and hold at least half the nominal number of particles of their room is full: gaps
/// between particles inside the liquid are not air, and the number of particles in it does not matter. Elsewhere a
/// particle counts with the volume of a particle in the full cells beside it, so that neither chance nor reseeding
/// moves the surface. In spray, away from full cells, it counts with its seeded volume. A cell that holds a particle of
/// the air is not full. A full cell that a wall cuts counts with its open part: if it counted as a whole cell, the few
/// particles in a sliver beside a wall would raise the surface there by a fifth of a voxel. That part is [spread evenly](Self::is_even)
/// over the cell, as the room is that it fills: the particles behind a thin plate lie at the far sides of their cells, and
/// by their places a fifth of the liquid at the plate's rim would be missing, which is air.
pub(crate) struct Weights<'a> {
    topology: &'a Topology,
    per_voxel: f32,
    /// Open fraction of the cells, where there are solids.
    open: Option<&'a [f32]>,
    /// Particles per cell, or [`SOLID`], or [`FULL`].
    content: Vec<f32>,
    /// Of the cells that are full, or [`GAP`]; 0 elsewhere.
    full: Vec<f32>,
    /// Per leaf, whether anything counts in it.
    pub any: Vec<bool>,
}

impl<'a> Weights<'a> {
    pub fn new(cells: &'a Cells, air: Option<&Cells>, open: Option<&'a [f32]>, per_voxel: f32) -> Self {
        let topology = &*cells.topology;
        let mut content = content(cells, open);
        if let Some(open) = open {
            slivers(&content, open, topology).into_iter().for_each(|slot| content[slot] = SOLID);
        }
        let is_wet = |l: usize| !cells.leaf_range(l).is_empty();
        let mut full = vec![0.0f32; content.len()];
        let fill = |(l, full): (usize, &mut [f32])| -> bool {
            if !topology.neighbours()[l].iter().any(|&m| m != leaf::ABSENT && is_wet(m as usize)) {
                return false;
            }
            let own = &content[l * leaf::SIZE..][..leaf::SIZE];
            // An empty cell beside another one is not full.
            if !is_wet(l) && !own.contains(&SOLID) {
                return false;
            }
            let (mut block, mut rooms) = ([0.0; block::SIZE], [1.0; block::SIZE]);
            block::load(&mut block, &content, &topology.neighbours()[l], 0.0);
            if let Some(open) = open {
                block::load(&mut rooms, open, &topology.neighbours()[l], 1.0);
                if !is_wet(l) && rooms.iter().all(|&room| room == 0.0) {
                    return false;
                }
            }
            let is_full = full_cells(&block, rooms, per_voxel);
            for ((full, &own), is_full) in full.iter_mut().zip(own).zip(is_full.as_flattened()) {
                *full = if *is_full { own.max(GAP) } else { 0.0 };
            }
            if let Some(air) = air {
                let first = l * leaf::SIZE;
                full.iter_mut()
                    .enumerate()
                    .filter(|(n, _)| air.count(first + n) > 0)
                    .for_each(|(_, full)| *full = 0.0);
            }
            is_wet(l) || full.iter().any(|&full| full > 0.0)
        };
        let any = full.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).map(fill).collect();
        Self { topology, per_voxel, open, content, full, any }
    }

    /// Those of the cells of a leaf, `[512]`.
    pub fn in_leaf(&self, l: usize) -> [f32; leaf::SIZE] {
        let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
        let (full, content) = (&self.full[own.clone()], &self.content[own.clone()]);
        let mut weights = [0.0; leaf::SIZE];
        if full.iter().zip(content).any(|(&full, &count)| full == 0.0 && count > 0.0) {
            let mut block = [0.0; block::SIZE];
            block::load(&mut block, &self.full, &self.topology.neighbours()[l], 0.0);
            let nearby = self.of_particles_nearby(&block, l);
            weights = *nearby.as_flattened().first_chunk().unwrap_or(&weights);
        }
        let room = |n: usize| self.open.map_or(1.0, |open| open[own.start + n]);
        for (n, ((weight, &full), &count)) in weights.iter_mut().zip(full).zip(content).enumerate() {
            let of_full = if full == GAP || room(n) < 1.0 { room(n) } else { 1.0 / full };
            let elsewhere = if count > 0.0 { *weight } else { 0.0 };
            *weight = if full > 0.0 { of_full } else { elsewhere };
        }
        weights
    }

    /// Whether the weight of a cell is that of all of its liquid, spread evenly.
    #[inline]
    pub fn is_even(&self, slot: usize) -> bool {
        self.full[slot] > 0.0 && self.open.is_some_and(|open| open[slot] < 1.0)
    }

    /// The share of a full cell that one particle has, from the full cells around each and the seeded share.
    fn of_particles_nearby(&self, full: &[f32; block::SIZE], l: usize) -> block::Rows<f32> {
        let sum = |[a, b, c]: [f32; 3]| a + b + c;
        let counts = full.map(|count| if count >= 1.0 { count } else { 0.0 });
        let mut rooms = [1.0; block::SIZE];
        if let Some(open) = self.open {
            block::load(&mut rooms, open, &self.topology.neighbours()[l], 1.0);
        }
        rooms.iter_mut().zip(full).for_each(|(room, &count)| *room = if count >= 1.0 { *room } else { 0.0 });
        let (mut nearby, cells) = (block::around(&counts, sum), block::around(&rooms, sum));
        for (weight, &cells) in nearby.as_flattened_mut().iter_mut().zip(cells.as_flattened()) {
            *weight = 1.0 / ((self.per_voxel + *weight) / (1.0 + cells));
        }
        nearby
    }
}

/// Particles per cell, or [`SOLID`], or [`FULL`].
fn content(cells: &Cells, open: Option<&[f32]>) -> Vec<f32> {
    let mut content = vec![0.0f32; cells.topology.len() * leaf::SIZE];
    content.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).for_each(|(l, content)| {
        let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
        if !cells.leaf_range(l).is_empty() {
            let (first, last) = (&cells.start[own.clone()], &cells.start[own.start + 1..]);
            let counts = first.iter().zip(last).map(|(first, last)| (last - first) as i32 as f32);
            content.iter_mut().zip(counts).for_each(|(content, count)| *content = count);
        }
        if let Some(open) = open {
            for (content, &open) in content.iter_mut().zip(&open[own]) {
                *content = if (open < LEAST_OPEN) & (*content == 0.0) { SOLID } else { *content };
            }
        }
        if let Some(full) = &cells.full {
            for n in offsets(full.words(l)) {
                content[n] = if content[n] == SOLID { SOLID } else { FULL };
            }
        }
    });
    content
}

/// The empty slivers that have no other dry cell around them: no film of air is that small, and they say nothing of their neighbours.
fn slivers(content: &[f32], open: &[f32], topology: &Topology) -> Vec<usize> {
    let is_wet = |c: Coord| topology.slot_of(c).is_some_and(|slot| content[slot] != 0.0);
    let is_alone = |c: Coord| {
        let mut around = (0..27).filter(|n| *n != 13).map(|n| c + Coord::new(n / 9, n / 3 % 3, n % 3) - 1);
        around.all(is_wet)
    };
    let of_leaf = |l: usize| -> Vec<usize> {
        let own = l * leaf::SIZE..(l + 1) * leaf::SIZE;
        let empty = own.filter(|&slot| content[slot] == 0.0 && open[slot] < SLIVER);
        empty.filter(|&slot| is_alone(topology.coord(slot))).collect()
    };
    let found: Vec<Vec<usize>> = (0..topology.len()).into_par_iter().with_min_len(8).map(of_leaf).collect();
    found.concat()
}

/// Whether each cell of a leaf is full of liquid, from the [`content`] and the open fraction of those around it.
///
/// An empty sliver, too, is full beside liquid: it was counted as solid because chance decides whether it holds a particle.
fn full_cells(
    content: &[f32; block::SIZE],
    mut rooms: [f32; block::SIZE],
    per_voxel: f32,
) -> block::Rows<bool> {
    /// More than there are cells around.
    const DRY: f32 = 32.0;
    let nominal = |count: f32| if count == FULL { per_voxel } else { count.max(0.0) };
    let totals = block::around(&content.map(nominal), |[a, b, c]| a + b + c);
    // The room in cells that are not solid, and [`DRY`] for each of those that are dry.
    rooms.iter_mut().zip(content).for_each(|(room, &count)| {
        *room = if count == SOLID { 0.0 } else { *room } + if count == 0.0 { DRY } else { 0.0 };
    });
    let marks = block::around(&rooms, |[a, b, c]| a + b + c);
    let mut full = [[false; leaf::DIM]; leaf::SIZE / leaf::DIM];
    for (n, full) in full.iter_mut().enumerate() {
        let own = block::row(content, n, [0; 3]);
        for z in 0..leaf::DIM {
            let dry = (marks[n][z] / DRY).floor();
            let room = marks[n][z] - DRY * dry;
            let is_wet = (totals[n][z] > 0.0) & (totals[n][z] >= 0.5 * per_voxel * room);
            let is_wet = is_wet & (dry == f32::from(own[z] == 0.0));
            full[z] = (own[z] == FULL) | is_wet;
        }
    }
    full
}

#[cfg(test)]
mod tests;
