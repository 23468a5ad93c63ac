//! Joins air along walls from which liquid has parted, through gaps that are too thin for the level set.

use super::LABEL_SOLID;
use super::leaf_components::{Kind, LeafComponents, SOLID};
use crate::coupling::fields::LiquidFields;
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use crate::union_find::DisjointSets;
use glam::IVec3;
use std::collections::BTreeMap;

/// The open faces around a cell; cells inside a leaf are found without a hash look-up.
pub(crate) struct OpenFaces<'a> {
    open: &'a FaceGrid<f32>,
    origin: Coord,
    leaf: Option<usize>,
}

impl<'a> OpenFaces<'a> {
    /// Those around the cells of one leaf.
    pub(crate) fn around(open: &'a FaceGrid<f32>, origin: Coord) -> Self {
        Self { open, origin, leaf: open.topology.leaf_of(origin) }
    }

    /// The cells behind the open faces of a cell, by axis, lower first.
    pub(crate) fn behind(&self, cell: Coord) -> impl Iterator<Item = Coord> + use<'_, 'a> {
        let next = move |k: usize| {
            let step = IVec3::AXES[k / 2];
            let (face, behind) = if k % 2 == 1 { (cell + step, cell + step) } else { (cell, cell - step) };
            let alpha = match self.leaf {
                Some(l) => self.open.reach(k / 2, l, (face - self.origin).to_array()),
                None => self.open.get(k / 2, face),
            };
            (alpha > 0.0).then_some(behind)
        };
        (0..6).filter_map(next)
    }

    /// The cells beside a cell of the leaf that are reached through open faces: through its own faces, and around their
    /// edges through one neighbour more.
    ///
    /// A cell with one open face sees what the cell behind that face sees. Rounding makes such cells where a wall lies
    /// in a face.
    pub(crate) fn beside(&self, cell: Coord) -> Vec<Coord> {
        let mut found = Vec::with_capacity(32);
        found.extend(self.behind(cell));
        let own = match found[..] {
            [only] => {
                found.extend(self.behind(only));
                only
            }
            _ => cell,
        };
        for i in 0..found.len() {
            let first = found[i];
            let along = (first - own).abs().to_array();
            found.extend(self.behind(first).filter(|&c| (c - first).abs().to_array() != along));
        }
        found.retain(|&c| c != cell);
        found
    }
}

/// A liquid cell whose wall had parted, and its index among the components.
pub(crate) struct Gap {
    pub(crate) cell: Coord,
    pub(crate) slot: usize,
    node: usize,
}

/// The gaps of the substep before that liquid still covers, by slot; numbered from `first` on.
pub(crate) fn gaps(
    fields: &LiquidFields,
    topology: &Topology,
    components: &[LeafComponents],
    first: usize,
) -> Vec<Gap> {
    let Some(previous) = fields.parting.and_then(|parting| parting.previous) else { return Vec::new() };
    let parted = previous.values.iter().enumerate().filter(|(_, speed)| **speed > 0.0);
    let mut slots: Vec<usize> = parted
        .filter_map(|(s, _)| topology.slot_of(previous.topology.coord(s)))
        .filter(|&slot| kind_at(components, slot) == Some(Kind::Liquid))
        .collect();
    slots.sort_unstable();
    slots.iter().zip(first..).map(|(&slot, node)| Gap { cell: topology.coord(slot), slot, node }).collect()
}

fn kind_at(components: &[LeafComponents], slot: usize) -> Option<Kind> {
    let of_leaf = &components[slot / leaf::SIZE];
    match of_leaf.of_cell.get(slot % leaf::SIZE) {
        Some(&SOLID) | None => None,
        Some(&k) => of_leaf.kinds.get(usize::from(k)).copied(),
    }
}

/// Joins gaps to each other, to the air that they opened from, and to new pockets of air.
///
/// A gap between two pockets of air that were apart belongs to one of them and does not join them: otherwise a bubble
/// would escape along a wall that a film of liquid has just left.
pub(crate) fn join(
    gaps: &[Gap],
    fields: &LiquidFields,
    topology: &Topology,
    components: &[LeafComponents],
    first: &[u32],
    sets: &mut DisjointSets,
) {
    let number = |slot: usize| {
        let k = components[slot / leaf::SIZE].of_cell[slot % leaf::SIZE];
        (first[slot / leaf::SIZE] + u32::from(k)) as usize
    };
    // (gap, component of air, its id before).
    let mut contacts: Vec<(usize, usize, i32)> = Vec::new();
    let mut faces = OpenFaces::around(fields.open, Coord::ZERO);
    for gap in gaps {
        let origin = gap.cell & !(leaf::DIM as i32 - 1);
        if origin != faces.origin {
            faces = OpenFaces::around(fields.open, origin);
        }
        for cell in faces.beside(gap.cell) {
            let Some(slot) = topology.slot_of(cell) else { continue };
            if let Ok(other) = gaps.binary_search_by_key(&slot, |gap| gap.slot) {
                sets.union(gap.node, gaps[other].node);
            } else if kind_at(components, slot) == Some(Kind::Air) {
                let before = fields.previous_bubbles.map_or(LABEL_SOLID, |air| air.cells.get(cell));
                contacts.push((gap.node, number(slot), before));
            }
        }
    }
    // For each chain of gaps, the air it belongs to.
    let mut owner: BTreeMap<usize, i32> = BTreeMap::new();
    for &(gap, _, before) in contacts.iter().filter(|(_, _, before)| *before >= 0) {
        let owner = owner.entry(sets.find(gap)).or_insert(before);
        *owner = (*owner).min(before);
    }
    let chains: Vec<usize> = contacts.iter().map(|&(gap, ..)| sets.find(gap)).collect();
    for (chain, &(gap, air, before)) in chains.into_iter().zip(&contacts) {
        if before < 0 || owner.get(&chain) == Some(&before) {
            sets.union(gap, air);
        }
    }
}

/// Region of each gap, with its slot; below 0 where no air reaches it.
pub(crate) fn regions(gaps: &[Gap], label: &[i32], sets: &mut DisjointSets) -> Vec<(usize, i32)> {
    // A chain of gaps that reaches no air keeps its own number, beyond all labels.
    let mut region = |gap: &Gap| match label.get(sets.find(gap.node)) {
        Some(&region) if region >= 0 => (gap.slot, region),
        _ => (gap.slot, LABEL_SOLID),
    };
    gaps.iter().map(&mut region).collect()
}
