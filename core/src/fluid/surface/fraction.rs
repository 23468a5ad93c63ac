//! The fraction of liquid in the space around a cell's centre.

mod kernel;
mod weights;

pub(crate) use kernel::spread_cells;

use crate::fluid::particles::Particles;
use crate::fluid::particles::cells::Cells;
use crate::grid::block;
use crate::grid::morphology::words_of;
use crate::grid::{Grid, Topology, Transform, leaf};
use kernel::{Spread, spread_block};
use rayon::prelude::*;
use weights::Weights;

/// Smallest open fraction of a kernel from which a fraction of liquid is computed at all: in channels narrower than the
/// kernel.
pub(crate) const LEAST_OPEN: f32 = 0.25;
/// Smallest open fraction used where a neighbour has a better one: about that of a cell centred on a flat wall. Inside
/// a solid, the few particles that a kernel still reaches would open pockets of air by chance.
const TRUSTED: f32 = 0.45;

/// Fraction of liquid around cell centres: of the space not in solids, weighted by a quadratic B-spline.
pub(crate) struct Fraction<'a> {
    /// `[leaf][512]`, 0..1.
    pub value: Vec<f32>,
    /// False inside solids, where no fraction can be computed or a cell beside it has a better one.
    pub known: Vec<bool>,
    /// Open fraction of the cells and of the kernels around their centres, where there are solids.
    open: Option<Open<'a>>,
}

struct Open<'a> {
    cells: &'a [f32],
    kernels: Vec<f32>,
    /// Per leaf, whether it and the shell around it are open throughout.
    throughout: Vec<bool>,
}

impl<'a> Open<'a> {
    fn new(topology: &Topology, cells: &'a [f32]) -> Self {
        let mut kernels = vec![0.0; cells.len()];
        let spread = |(l, kernels): (usize, &mut [f32])| {
            let mut block = [0.0; block::SIZE];
            block::load(&mut block, cells, &topology.neighbours()[l], 1.0);
            spread_block(&block, kernels) && block[0] == 1.0
        };
        let throughout = kernels.par_chunks_mut(leaf::SIZE).enumerate().with_min_len(8).map(spread).collect();
        Self { cells, kernels, throughout }
    }
}

impl Fraction<'_> {
    /// The cells of leaf `l` that have any space that is not solid.
    pub fn with_room(&self, l: usize) -> [u64; 8] {
        let of_open = |open: &Open| {
            let cells = open.cells.as_chunks::<{ leaf::SIZE }>().0;
            if open.throughout[l] { [u64::MAX; 8] } else { words_of(&cells[l], |open| open > 0.0) }
        };
        self.open.as_ref().map_or([u64::MAX; 8], of_open)
    }

    /// How open the kernels are around the cells' centres, `[leaf][512]`, where there are solids.
    pub fn openness(&self) -> Option<&[f32]> {
        self.open.as_ref().map(|open| &open.kernels[..])
    }

    /// The same fraction in leaf `l`, `[512]`, from cells that hold `liquid` as a share of their space instead of from
    /// particles.
    pub fn of_cells(&self, topology: &Topology, liquid: &[f32], l: usize) -> [f32; leaf::SIZE] {
        let mut value = [0.0; leaf::SIZE];
        let neighbours = &topology.neighbours()[l];
        let mut wet = [0.0; block::SIZE];
        block::load(&mut wet, liquid, neighbours, 0.0);
        let Some(open) = self.open.as_ref().filter(|open| !open.throughout[l]) else {
            spread_block(&wet, &mut value);
            return value;
        };
        let mut cells = [0.0; block::SIZE];
        block::load(&mut cells, open.cells, neighbours, 0.0);
        wet.iter_mut().zip(&cells).for_each(|(wet, open)| *wet *= open);
        spread_block(&wet, &mut value);
        let kernels = &open.kernels[l * leaf::SIZE..][..leaf::SIZE];
        value.iter_mut().zip(kernels).for_each(|(value, &kernel)| *value /= kernel.max(LEAST_OPEN));
        value
    }
}

/// The fraction of liquid around every cell centre. `open` is the open fraction of the cells, `air` the cells of the
/// air's particles, if the air is sampled.
pub(crate) fn of_liquid<'a>(
    particles: &Particles,
    cells: &Cells,
    air: Option<&Cells>,
    transform: &Transform,
    open: Option<&'a Grid<f32>>,
    per_voxel: f32,
) -> Fraction<'a> {
    let topology = &cells.topology;
    let weights = Weights::new(cells, air, open.map(|open| &*open.values), per_voxel);
    let spread = Spread::new(particles, cells, transform, &weights);
    let open = open.map(|open| Open::new(topology, &open.values));
    let mut value = vec![0.0f32; topology.len() * leaf::SIZE];
    let mut known = vec![true; value.len()];
    let leaves = value.par_chunks_mut(leaf::SIZE).zip(known.par_chunks_mut(leaf::SIZE));
    leaves.enumerate().with_min_len(8).for_each(|(l, (value, known))| {
        spread.add_to(value, l);
        if let Some(open) = open.as_ref().filter(|open| !open.throughout[l]) {
            legible(known, topology, &open.kernels, l);
            let kernels = &open.kernels[l * leaf::SIZE..][..leaf::SIZE];
            for ((value, &known), &reach) in value.iter_mut().zip(&*known).zip(kernels) {
                *value = if known { *value / reach } else { 0.0 };
            }
        }
    });
    Fraction { value, known, open }
}

/// Where a fraction is valid in leaf `l`: where the kernel is open enough, and in channels, where it is open a little
/// and no cell beside it has a better one.
fn legible(legible: &mut [bool], topology: &Topology, kernels: &[f32], l: usize) {
    let own = &kernels[l * leaf::SIZE..][..leaf::SIZE];
    legible.iter_mut().zip(own).for_each(|(legible, &open)| *legible = open >= TRUSTED);
    let in_channel = |open: f32| (LEAST_OPEN..TRUSTED).contains(&open);
    if !own.iter().any(|&open| in_channel(open)) {
        return;
    }
    let mut block = [0.0; block::SIZE];
    block::load(&mut block, kernels, &topology.neighbours()[l], 0.0);
    let best = block::around(&block, |[a, b, c]| a.max(b).max(c));
    for ((legible, &open), &best) in legible.iter_mut().zip(own).zip(best.as_flattened()) {
        *legible |= in_channel(open) & (best < TRUSTED);
    }
}
