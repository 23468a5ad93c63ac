//! Connected regions of air and of liquid [Goldade and Batty 2017, §4.2].
//!
//! Air is flooded through open faces (6-connected, α > 0, `chinks` excepted) over the active leaves and over the
//! inactive tiles between and around them, so that nested regions are found however sparse the leaves are. A region
//! that reaches an open or kill side of the domain, or unbounded space, is *exterior*. Memory grows with the number of
//! leaves: the inactive space takes only a few boxes per leaf.
//!
//! The open fractions must have every leaf inside the domain that a solid's surface passes through; otherwise air leaks
//! through walls that no leaf describes.

mod chinks;
mod gaps;
mod leaf_components;
pub(crate) mod links;
mod measure;
mod near;
pub(crate) mod sets;
mod skin;

use crate::coupling::fields::{AirLimits, LiquidFields};
use crate::grid::block::{self, Block};
use crate::grid::morphology::{VoxelMask, shift, words_of};
use crate::grid::{Coord, Grid, Topology, leaf};
use crate::union_find::DisjointSets;
use chinks::{Passages, is_chink};
use gaps::Gaps;
use glam::{DVec3, IVec3};
use leaf_components::{Chink, Faces, Kind, LeafComponents, SOLID};
use rayon::prelude::*;
use sets::{ALL, NONE, OpenFaces, Words};
use std::sync::Arc;

/// Label of a cell without any open face.
pub const LABEL_SOLID: i32 = -1;

/// A connected region of air.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Volume, m³, including the partial cells that liquid or solids cut; infinite when exterior.
    pub volume: f64,
    /// Centre of volume in world space, m (of its active cells when exterior).
    pub centroid: DVec3,
    /// Faces that separate it from liquid.
    pub liquid_faces: usize,
    /// Area of the liquid surface that bounds it, m².
    pub liquid_area: f64,
    /// Numbers of the connected liquid components it touches, ascending.
    pub liquids: Vec<u32>,
    /// It reaches an open or kill side of the domain, or unbounded space.
    pub exterior: bool,
    /// It holds a cell that no solid cuts.
    pub uncut: bool,
}

/// The connected regions of a substep.
#[derive(Debug)]
pub struct Regions {
    /// Per cell: r ≥ 0 in air region r, [`LABEL_SOLID`] in a solid, −2 − k in liquid component k.
    pub cells: Grid<i32>,
    /// The air regions, in the order of their first cells.
    pub air: Vec<Region>,
    /// Cells of each connected liquid component, in the order of their first cells.
    pub liquid_cells: Vec<usize>,
    /// The cells of liquid and the cells of air, as bit sets.
    liquid: VoxelMask,
    air_cells: VoxelMask,
    /// Which faces are open.
    open: OpenFaces,
    /// Per leaf, whether all of it is far below the surface.
    deep: Vec<bool>,
    /// Per leaf, its cells near the surface.
    skin: Vec<Vec<skin::SkinCell>>,
    gaps: Gaps,
    gap_regions: Vec<i32>,
    /// Liquid cells whose walls had parted, by slot, and the region of the air behind the wall; below 0 where there is
    /// none.
    parted: Vec<(usize, i32)>,
}

/// Label of liquid component k.
#[inline(always)]
const fn liquid_label(k: i32) -> i32 {
    -2 - k
}

/// Number of the liquid component with a label.
#[inline(always)]
pub(crate) const fn component_of(label: i32) -> usize {
    (-2 - label) as usize
}

/// The leaf displaced by one along `axis` (`side` −1 or 1): its slot in a neighbour table.
const fn face_slot(axis: usize, side: i32) -> usize {
    leaf::FACE_SLOTS[2 * axis + if side < 0 { 0 } else { 1 }]
}

/// The leaves that hold liquid or open fractions.
fn leaves(fields: &LiquidFields) -> Arc<Topology> {
    let (surface, open) = (&fields.surface.topology, &fields.open.topology);
    let covered = Arc::ptr_eq(surface, open) || surface.origins().iter().all(|&o| open.leaf_of(o).is_some());
    if covered { open.clone() } else { Arc::new(open.union(surface)) }
}

impl Regions {
    /// Finds the regions of air and liquid.
    pub fn find(fields: &LiquidFields) -> Self {
        let topology = leaves(fields);
        let limits = AirLimits::new(&fields.domain, &fields.transform);
        let open = OpenFaces::new(fields.open, &topology);
        let components = label_leaves(fields, &topology, &open);
        let mut first: Vec<u32> = vec![0];
        first.extend(components.iter().scan(0, |sum, c| {
            *sum += c.kinds.len() as u32;
            Some(*sum)
        }));
        let gaps = Gaps::new(topology.origins(), &limits);
        let in_leaves = first[topology.len()];
        let first_parted = in_leaves as usize + gaps.boxes.len();
        let parted = links::gaps(fields, &topology, &components, first_parted);
        let mut sets = DisjointSets::new(first_parted + parted.len());
        let contacts = border_contacts(fields, &topology, &components, &first, &gaps);
        contacts.joined.iter().for_each(|&(a, b)| sets.union(a as usize, b as usize));
        gaps.adjacent(|a, b| sets.union((in_leaves + a) as usize, (in_leaves + b) as usize));
        let before = chinks::Before { fields, topology: &topology, components: &components, first: &first };
        chinks::join(&mut sets, &before, contacts.chinks);
        links::join(&parted, fields, &topology, &components, &first, &mut sets);

        // A set that holds a leaf component has one as its representative. A set that lies only in gaps (the inside of
        // solids, rooms without a leaf) gets no number.
        let kinds = || components.iter().flat_map(|c| &c.kinds);
        let mut label = vec![LABEL_SOLID; in_leaves as usize + gaps.boxes.len()];
        let (mut regions, mut liquids) = (0, 0);
        for (i, kind) in kinds().enumerate() {
            let root = sets.find(i);
            if root == i {
                let count = if *kind == Kind::Air { &mut regions } else { &mut liquids };
                label[i] = if *kind == Kind::Air { *count } else { liquid_label(*count) };
                *count += 1;
            } else {
                label[i] = label[root];
            }
        }
        let gap_regions: Vec<i32> =
            (0..gaps.boxes.len()).map(|g| label[sets.find(in_leaves as usize + g)]).collect();
        let parted = links::regions(&parted, &label, &mut sets);
        let mut cells = Grid::new(topology, LABEL_SOLID);
        cells.values.par_chunks_mut(leaf::SIZE).zip(&components).zip(&first).for_each(
            |((out, c), &first)| {
                if c.kinds.is_empty() {
                    return;
                }
                for (v, &k) in out.iter_mut().zip(c.of_cell.iter()) {
                    *v = if k == SOLID { LABEL_SOLID } else { label[first as usize + k as usize] };
                }
            },
        );
        let deep = measure::deep_leaves(&cells, fields);
        let topology = cells.topology.clone();
        let mut found = Self {
            liquid: VoxelMask::of_values(topology.clone(), &cells.values, |label| label < LABEL_SOLID),
            air_cells: VoxelMask::of_values(topology, &cells.values, |label| label > LABEL_SOLID),
            open,
            cells,
            air: Vec::new(),
            liquid_cells: vec![0; liquids as usize],
            deep,
            skin: Vec::new(),
            gaps,
            gap_regions,
            parted,
        };
        let measured = measure::measure(&found, regions as usize, fields);
        (found.air, found.liquid_cells, found.skin) = (measured.air, measured.liquid_cells, measured.skin);
        found
    }

    /// Number of boxes that stand for all inactive space.
    #[cfg(test)]
    pub(crate) fn gap_boxes(&self) -> usize {
        self.gaps.boxes.len()
    }

    /// Label of the inactive tile with this origin: an air region or [`LABEL_SOLID`].
    pub(crate) fn at_tile(&self, origin: Coord) -> i32 {
        self.gaps.locate(origin).map_or(LABEL_SOLID, |g| self.gap_regions[g as usize])
    }

    /// Label of a cell, active or not.
    pub(crate) fn label_at(&self, cell: Coord) -> i32 {
        match self.cells.topology.slot_of(cell) {
            Some(slot) => self.cells.values[slot],
            None => self.at_tile(cell & !(leaf::DIM as i32 - 1)),
        }
    }

    /// Region of the air behind the wall of a liquid cell that had parted from it; below 0 if there is none.
    pub(crate) fn gap_at(&self, cell: Coord) -> i32 {
        if self.parted.is_empty() {
            return LABEL_SOLID;
        }
        self.cells.topology.slot_of(cell).map_or(LABEL_SOLID, |slot| self.gap_of(slot))
    }

    /// The same, of an active cell.
    fn gap_of(&self, slot: usize) -> i32 {
        let found = self.parted.binary_search_by_key(&slot, |&(slot, _)| slot);
        found.map_or(LABEL_SOLID, |n| self.parted[n].1)
    }

    /// The cells of liquid in an active leaf.
    pub(crate) fn liquid_of(&self, l: usize) -> &sets::Words {
        self.liquid.words(l)
    }

    /// Labels of the cells of a leaf, if it is active.
    pub(crate) fn of_leaf(&self, origin: Coord) -> Option<&[i32; leaf::SIZE]> {
        let l = self.cells.topology.leaf_of(origin)?;
        self.cells.values[l * leaf::SIZE..].first_chunk()
    }

    /// The region of air that a cell belongs to, if any.
    pub(crate) fn air_at(&self, cell: Coord) -> Option<usize> {
        let origin = cell & !IVec3::splat(leaf::DIM as i32 - 1);
        let label = match self.of_leaf(origin) {
            Some(labels) => {
                let [x, y, z] = (cell - origin).to_array();
                labels[leaf::offset(x, y, z)]
            }
            None => self.gap_regions[self.gaps.locate(origin)? as usize],
        };
        usize::try_from(label).ok()
    }

    /// Labels of a leaf and of the cells beyond its faces, inactive tiles included.
    pub(crate) fn block(&self, origin: Coord) -> Block<i32> {
        let topology = &self.cells.topology;
        let around = topology.surroundings(origin);
        let mut tiles = [LABEL_SOLID; leaf::NEIGHBOURS];
        let read = leaf::FACE_SLOTS.into_iter().chain([leaf::SELF_SLOT]);
        for s in read.filter(|&s| around[s] == leaf::ABSENT) {
            let d = IVec3::from_array(leaf::displacement(s));
            tiles[s] = self.at_tile(origin + d * leaf::DIM as i32);
        }
        block::around_origin(topology, &self.cells.values, origin, |s| tiles[s])
    }
}

/// The components inside each leaf.
fn label_leaves(fields: &LiquidFields, topology: &Topology, open: &OpenFaces) -> Vec<LeafComponents> {
    let phi = fields.surface.values.as_chunks::<{ leaf::SIZE }>().0;
    let elsewhere = if fields.surface.background < 0.0 { ALL } else { NONE };
    let label = |(l, &origin): (usize, &Coord)| {
        let there = fields.surface.topology.leaf_of(origin);
        let liquid = there.map_or(elsewhere, |l| words_of(&phi[l], |phi| phi < 0.0));
        let lower = open.passable.each_ref().map(|open| *open.words(l));
        let upper = std::array::from_fn(|a| {
            let next = topology.neighbours()[l][face_slot(a, 1)];
            // Upper faces whose fractions are not stored are treated as unknown.
            let stored = next != leaf::ABSENT && open.known[next as usize];
            let next = if stored { open.passable[a].words(next as usize) } else { &NONE };
            shift(&lower[a], next, a, 1)
        });
        let whole = open.whole.each_ref().map(|whole| whole.words(l));
        let cut: [Words; 3] = std::array::from_fn(|a| std::array::from_fn(|x| lower[a][x] & !whole[a][x]));
        let chinks = match cut == [NONE; 3] {
            true => Vec::new(),
            false => Passages::of(fields, origin).chinks(&liquid, &cut),
        };
        leaf_components::label(&liquid, &Faces { open: lower, above: upper, chinks })
    };
    topology.origins().par_iter().enumerate().map(label).collect()
}

/// Components that touch across the borders of leaves, gap boxes numbered after all leaf components.
#[derive(Default)]
struct Contacts {
    joined: Vec<(u32, u32)>,
    /// The pairs that have chinks between them, inside leaves too.
    chinks: Vec<Chink<u32>>,
}

impl Contacts {
    fn join(&mut self, pair: (u32, u32)) {
        if self.joined.last() != Some(&pair) {
            self.joined.push(pair);
        }
    }

    /// Joins a pair through a passage, or records a chink.
    fn by_air(&mut self, between: (u32, u32), width: f32) {
        match is_chink(width) {
            true => self.chinks.push(Chink { between, width }),
            false => self.join(between),
        }
    }
}

/// What touches across the borders of leaves.
fn border_contacts(
    fields: &LiquidFields,
    topology: &Topology,
    components: &[LeafComponents],
    first: &[u32],
    gaps: &Gaps,
) -> Contacts {
    let in_leaves = first[topology.len()];
    let of_leaf = |(l, &origin): (usize, &Coord)| {
        let own = &components[l];
        let passages = Passages::of(fields, origin);
        let mut contacts = Contacts::default();
        let number = |k: u16| first[l] + u32::from(k);
        contacts.chinks.extend(
            own.chinks
                .iter()
                .map(|&Chink { between: (a, b), width }| Chink { between: (number(a), number(b)), width }),
        );
        for (axis, side) in (0..3).flat_map(|axis| [(axis, -1), (axis, 1)]) {
            let other = topology.neighbours()[l][face_slot(axis, side)];
            let step = side * leaf::DIM as i32 * IVec3::AXES[axis];
            if other == leaf::ABSENT {
                let Some(g) = gaps.locate(origin + step) else { continue };
                for n in border(axis, side) {
                    let c = own.of_cell[n];
                    // Fractions of the upper faces are not stored.
                    let alpha = if side < 0 { passages.alpha(axis, n) } else { 1.0 };
                    if c != SOLID && alpha > 0.0 && own.kinds[c as usize] == Kind::Air {
                        contacts.by_air((number(c), in_leaves + g), alpha);
                    }
                }
            } else if side < 0 {
                let theirs = &components[other as usize];
                let below = Passages::of(fields, origin + step);
                for n in border(axis, side) {
                    let at = n + 7 * leaf::STRIDE[axis];
                    let (c, d) = (own.of_cell[n], theirs.of_cell[at]);
                    if c == SOLID || d == SOLID || passages.alpha(axis, n) <= 0.0 {
                        continue;
                    }
                    let pair = (number(c), first[other as usize] + u32::from(d));
                    match (own.kinds[c as usize], theirs.kinds[d as usize]) {
                        (Kind::Air, Kind::Air) => {
                            contacts.by_air(pair, passages.width(axis, n, below.phi(at)))
                        }
                        (Kind::Liquid, Kind::Liquid) => contacts.join(pair),
                        _ => {}
                    }
                }
            }
        }
        contacts
    };
    let per_leaf: Vec<_> = topology.origins().par_iter().enumerate().map(of_leaf).collect();
    let mut all = Contacts::default();
    for contacts in per_leaf {
        all.joined.extend(contacts.joined);
        all.chinks.extend(contacts.chinks);
    }
    all
}

/// Cells of a leaf's lowest or highest layer across an axis.
fn border(axis: usize, side: i32) -> impl Iterator<Item = usize> {
    let layer = if side < 0 { 0 } else { (leaf::DIM - 1) * leaf::STRIDE[axis] };
    let (a, b) = (leaf::STRIDE[(axis + 1) % 3], leaf::STRIDE[(axis + 2) % 3]);
    (0..leaf::DIM * leaf::DIM).map(move |n| layer + n / leaf::DIM * a + n % leaf::DIM * b)
}
