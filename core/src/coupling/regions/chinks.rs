//! Chinks: openings between two pockets of air that are too narrow for the grid to say that there is one.
//!
//! Around the rim of a bell, cells are mostly solid, and whether the rest of one is air is for a particle or two to say.
//! A path through such cells would let all the air of the bell go. Air is therefore flooded through passages; what lies
//! behind chinks joins the pocket to which its widest chink leads, and a chink between two pockets parts them.

use super::sets::{ALL, NONE, Words};
use super::{DisjointSets, LeafComponents};
use crate::coupling::fields::LiquidFields;
use crate::grid::morphology::{offsets, shift};
use crate::grid::{Coord, leaf};

/// Least area of air in a face, of a voxel's face, through which two pockets of air are one. A slot as wide as a voxel has
/// it wherever it lies, and no slot of less than half a voxel.
const LEAST_PASSAGE: f32 = 0.5;
/// Fewest cells of a pocket of its own; fewer belong to what is beside them.
const LEAST_POCKET: usize = 8;

/// What says how wide the passages between a leaf's cells are.
pub(super) struct Passages<'a> {
    /// φ, m, and α, where they are stored.
    phi: Option<&'a [f32]>,
    open: Option<[&'a [f32]; 3]>,
    /// φ and α elsewhere.
    beyond: [f32; 2],
    h: f32,
}

impl<'a> Passages<'a> {
    /// Those of a leaf.
    pub(super) fn of(fields: &LiquidFields<'a>, origin: Coord) -> Self {
        let (surface, open) = (fields.surface, fields.open);
        let own = |l: usize| l * leaf::SIZE..(l + 1) * leaf::SIZE;
        Self {
            phi: surface.topology.leaf_of(origin).map(|l| &surface.values[own(l)]),
            open: open.topology.leaf_of(origin).map(|l| open.values.each_ref().map(|v| &v[own(l)])),
            beyond: [surface.background, open.background],
            h: fields.voxel_size() as f32,
        }
    }

    /// Of the lower face of a cell across an axis the part that is open to air, of a voxel's face, the cell and the one
    /// below it (with a φ, m) being air's: α times the part of it outside the liquid.
    pub(super) fn width(&self, axis: usize, n: usize, phi_below: f32) -> f32 {
        let outside = 0.5 + 0.5 * (self.phi(n) + phi_below) / self.h;
        self.alpha(axis, n) * outside.min(1.0)
    }

    /// φ of a cell, m.
    pub(super) fn phi(&self, n: usize) -> f32 {
        self.phi.map_or(self.beyond[0], |phi| phi[n])
    }

    /// α of a cell's lower face across an axis.
    pub(super) fn alpha(&self, axis: usize, n: usize) -> f32 {
        self.open.map_or(self.beyond[1], |open| open[axis][n])
    }

    /// The chinks between cells of air inside the leaf: the axes and cells whose lower faces they are, with their widths;
    /// `cut` are per axis the faces that are partly open.
    pub(super) fn chinks(&self, liquid: &Words, cut: &[Words; 3]) -> Vec<(usize, usize, f32)> {
        let mut chinks = Vec::new();
        for (axis, cut) in cut.iter().enumerate() {
            // A cell of the lowest layer has none below it in the leaf.
            let (below, inside) = (shift(liquid, &NONE, axis, -1), shift(&ALL, &NONE, axis, -1));
            let of_air: Words = std::array::from_fn(|x| cut[x] & inside[x] & !liquid[x] & !below[x]);
            let width = |n: usize| (axis, n, self.width(axis, n, self.phi(n - leaf::STRIDE[axis])));
            chinks.extend(offsets(&of_air).map(width).filter(|&(.., width)| is_chink(width)));
        }
        chinks
    }
}

/// Whether a passage is a chink.
pub(super) fn is_chink(width: f32) -> bool {
    width < LEAST_PASSAGE
}

/// A chink between two components of air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chink<T> {
    /// What it lies between.
    pub(super) between: (T, T),
    /// How much of a voxel's face is open to air.
    pub(super) width: f32,
}

/// Joins what only chinks lead to, the widest first; `sets` are the components joined by passages, gap boxes after those
/// of the leaves. Two pockets stay apart.
pub(super) fn join(sets: &mut DisjointSets, components: &[LeafComponents], mut chinks: Vec<Chink<u32>>) {
    if chinks.is_empty() {
        return;
    }
    // How many cells passages have joined in each set, by its representative.
    let mut cells = vec![0; sets.len()];
    let of_components = components.iter().flat_map(|c| &c.cells);
    for (i, of_component) in of_components.enumerate() {
        cells[sets.find(i as u32) as usize] += of_component;
    }
    let in_leaves = components.iter().map(|c| c.cells.len()).sum::<usize>();
    (in_leaves..sets.len()).for_each(|gap| cells[sets.find(gap as u32) as usize] += leaf::SIZE);
    chinks.sort_unstable_by(|a, b| b.width.total_cmp(&a.width).then(a.between.cmp(&b.between)));
    for Chink { between: (a, b), .. } in chinks {
        let (a, b) = (sets.find(a), sets.find(b));
        let [of_a, of_b] = [a, b].map(|root| cells[root as usize]);
        if a != b && of_a.min(of_b) < LEAST_POCKET {
            sets.union(a, b);
            cells[a.min(b) as usize] = of_a.max(of_b);
        }
    }
}
