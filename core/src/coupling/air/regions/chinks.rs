//! Chinks: openings between two pockets of air that are too narrow for the grid to resolve.
//!
//! Around the rim of a diving bell, cells are mostly solid, and one or two particles decide whether the rest of such a
//! cell is air. A path through these cells would let all the air of the bell escape. Air is therefore flooded through
//! wide passages only. Air behind a chink joins the pocket to which its widest chink leads; a chink between two pockets
//! keeps them apart. Air joins a pocket only if it was that pocket's air in the substep before. The lowest cells of a
//! bell's wall touch both its air and the water around, and a gap of a cell or two that moving particles leave in that
//! water would otherwise draw the bell's air out through the wall.

use super::leaf_components::{Chink, LeafComponents};
use super::sets::{ALL, NONE, Words};
use crate::coupling::fields::LiquidFields;
use crate::coupling::memory::{BubbleMemory, OUTSIDE};
use crate::grid::morphology::{offsets, shift};
use crate::grid::{Coord, Topology, leaf};
use crate::levelset::open_volume;
use crate::tuned::Tuned;
use crate::union_find::DisjointSets;
use glam::IVec3;
use std::collections::BTreeMap;

/// Smallest area of air in a face, of a voxel's face, that joins two pockets of air. A slot one voxel wide has this
/// area wherever it lies on the grid; no slot narrower than half a voxel has it.
const LEAST_PASSAGE: Tuned<f32> = Tuned::new("chinks::LEAST_PASSAGE", 0.5);
/// Fewest cells of a pocket of its own: two voxels across, the least that the grid resolves. Fewer cells join what is beside
/// them, if that air was in them before.
const LEAST_POCKET: Tuned<usize> = Tuned::new("chinks::LEAST_POCKET", 8);
/// Smallest open volume, voxels, of a pocket that has air of its own. A smaller one joins what is beside it.
const LEAST_ROOM: Tuned<f32> = Tuned::new("chinks::LEAST_ROOM", 0.5);

/// The fields that say how wide the passages between a leaf's cells are.
pub(crate) struct Passages<'a> {
    /// φ, m, and α in this leaf, where they are stored.
    phi: Option<&'a [f32]>,
    open: Option<[&'a [f32]; 3]>,
    /// φ and α in other leaves.
    beyond: [f32; 2],
    h: f32,
}

impl<'a> Passages<'a> {
    /// The fields of one leaf.
    pub(crate) fn of(fields: &LiquidFields<'a>, origin: Coord) -> Self {
        let (surface, open) = (fields.surface, fields.open);
        let own = |l: usize| l * leaf::SIZE..(l + 1) * leaf::SIZE;
        Self {
            phi: surface.topology.leaf_of(origin).map(|l| &surface.values[own(l)]),
            open: open.topology.leaf_of(origin).map(|l| open.values.each_ref().map(|v| &v[own(l)])),
            beyond: [surface.background, open.background],
            h: fields.voxel_size() as f32,
        }
    }

    /// Area of a cell's lower face across an axis that is open to air, of a voxel's face, where the cell and the one
    /// below it (with a φ, m) are air: α times the part of the face outside the liquid.
    pub(crate) fn width(&self, axis: usize, n: usize, phi_below: f32) -> f32 {
        let outside = 0.5 + 0.5 * (self.phi(n) + phi_below) / self.h;
        self.alpha(axis, n) * outside.min(1.0)
    }

    /// φ of a cell, m.
    pub(crate) fn phi(&self, n: usize) -> f32 {
        self.phi.map_or(self.beyond[0], |phi| phi[n])
    }

    /// α of a cell's lower face across an axis.
    pub(crate) fn alpha(&self, axis: usize, n: usize) -> f32 {
        self.open.map_or(self.beyond[1], |open| open[axis][n])
    }

    /// The chinks between cells of air inside the leaf: the axes and cells whose lower faces they are, with their
    /// widths. `cut` holds the partly open faces, per axis.
    pub(crate) fn chinks(&self, liquid: &Words, cut: &[Words; 3]) -> Vec<(usize, usize, f32)> {
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
pub(crate) fn is_chink(width: f32) -> bool {
    width < LEAST_PASSAGE.get()
}

/// What is known of a set of air cells that passages join.
#[derive(Clone, Copy, Debug, Default)]
struct Pocket {
    cells: usize,
    /// Open volume in it, voxels; not counted in large ones.
    room: f32,
    /// The id of the air that was in most of its open volume a substep ago; [`NEW`] where there was none. For a large
    /// one, the id of what lies beside its widest chink. `None` where that is not known.
    was: Option<i32>,
}

/// Marks a pocket that held no air before.
const NEW: i32 = OUTSIDE - 1;

impl Pocket {
    /// Whether it is too small to be a pocket of its own.
    fn is_small(&self) -> bool {
        self.cells < LEAST_POCKET.get()
    }

    /// Whether it is less than a cell, the rest left by a wall, so that its neighbours decide whose air it is.
    fn is_sliver(&self) -> bool {
        self.is_small() && self.room < LEAST_ROOM.get()
    }

    /// Whether both hold the air of one bubble, or new air beside the outside. A gap that opens on the far side of a
    /// wall is not part of the bubble; otherwise the bubble would grow through the wall.
    fn is_of_one_air(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (self.was, other.was) else { return true };
        a == b || (a.min(b), a.max(b)) == (NEW, OUTSIDE)
    }
}

/// The components of all leaves, and the air that was in their cells before.
pub(crate) struct Before<'a> {
    pub(crate) fields: &'a LiquidFields<'a>,
    pub(crate) topology: &'a Topology,
    pub(crate) components: &'a [LeafComponents],
    /// Number of the first component of each leaf, and how many there are.
    pub(crate) first: &'a [u32],
}

impl Before<'_> {
    /// How much of a component's open volume, voxels, held which air a substep ago.
    fn rooms(&self, component: u32, memory: &BubbleMemory) -> BTreeMap<i32, f32> {
        let mut rooms = BTreeMap::new();
        let l = self.first.partition_point(|&first| first <= component) - 1;
        let Some(own) = self.components.get(l) else { return rooms };
        let k = (component - self.first[l]) as u16;
        for (n, _) in own.of_cell.iter().enumerate().filter(|(_, of_cell)| **of_cell == k) {
            let cell = self.topology.coord(l * leaf::SIZE + n);
            let was = memory.cells.get(cell).max(NEW);
            *rooms.entry(was).or_default() += self.room(cell);
        }
        rooms
    }

    /// Fraction of a cell's volume that no solid fills.
    fn room(&self, cell: Coord) -> f32 {
        let alpha = |axis: usize, at: Coord| self.fields.open.get(axis, at);
        open_volume(std::array::from_fn(|a| [alpha(a, cell), alpha(a, cell + IVec3::AXES[a])]))
    }
}

/// The id with the largest volume; of equals, the lowest.
fn most(rooms: &BTreeMap<i32, f32>) -> Option<i32> {
    let larger = |best: Option<(i32, f32)>, (&id, &room): (&i32, &f32)| match best {
        Some((_, most)) if most >= room => best,
        _ => Some((id, room)),
    };
    rooms.iter().fold(None, larger).map(|(id, _)| id)
}

/// Joins the pockets that only chinks connect, the widest chink first. `sets` are the components joined by passages;
/// gap boxes are numbered after those of the leaves. Two pockets stay apart, and a small one stays apart from air that
/// was not in it before.
pub(crate) fn join(sets: &mut DisjointSets, before: &Before, mut chinks: Vec<Chink<u32>>) {
    if chinks.is_empty() {
        return;
    }
    let components = before.components;
    // What passages have joined in each set, by its representative.
    let mut pockets = vec![Pocket::default(); sets.len()];
    for (i, of_component) in components.iter().flat_map(|c| &c.cells).enumerate() {
        pockets[sets.find(i)].cells += of_component;
    }
    let in_leaves = components.iter().map(|c| c.cells.len()).sum::<usize>();
    (in_leaves..sets.len()).for_each(|gap| pockets[sets.find(gap)].cells += leaf::SIZE);
    chinks.sort_unstable_by(|a, b| b.width.total_cmp(&a.width).then(a.between.cmp(&b.between)));
    if let Some(memory) = before.fields.previous_bubbles {
        remember(&mut pockets, sets, before, memory, &chinks);
    }
    for Chink { between: (a, b), .. } in chinks {
        let [a, b] = [a, b].map(|component| sets.find(component as usize));
        let [of_a, of_b] = [a, b].map(|root| pockets[root]);
        let is_one = of_a.is_sliver() || of_b.is_sliver() || of_a.is_of_one_air(&of_b);
        if a != b && (of_a.is_small() || of_b.is_small()) && is_one {
            sets.union(a, b);
            let first_is_larger = (of_a.cells, of_a.room) >= (of_b.cells, of_b.room);
            pockets[a.min(b)] = if first_is_larger { of_a } else { of_b };
        }
    }
}

/// Finds which air was in the pockets beside each chink, the widest chink first.
fn remember(
    pockets: &mut [Pocket],
    sets: &mut DisjointSets,
    before: &Before,
    memory: &BubbleMemory,
    chinks: &[Chink<u32>],
) {
    let in_leaves = before.components.iter().map(|c| c.cells.len()).sum::<usize>() as u32;
    let mut small = BTreeMap::<usize, BTreeMap<i32, f32>>::new();
    for component in chinks.iter().flat_map(|chink| [chink.between.0, chink.between.1]) {
        let root = sets.find(component as usize);
        let pocket = &mut pockets[root];
        if pocket.is_small() {
            small.entry(root).or_default();
        } else if pocket.was.is_none() {
            // Air between the leaves was not recorded.
            let rooms = (component < in_leaves).then(|| before.rooms(component, memory));
            pocket.was = rooms.and_then(|mut rooms| {
                rooms.remove(&NEW);
                most(&rooms)
            });
        }
    }
    for component in 0..in_leaves {
        if let Some(all) = small.get_mut(&sets.find(component as usize)) {
            before
                .rooms(component, memory)
                .into_iter()
                .for_each(|(id, room)| *all.entry(id).or_default() += room);
        }
    }
    for (root, rooms) in small {
        let pocket = &mut pockets[root];
        (pocket.room, pocket.was) = (rooms.values().sum(), most(&rooms));
    }
}
