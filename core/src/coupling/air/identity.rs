//! Recognises each bubble from one substep to the next: ids and rest volumes through motion, merges and splits.

use super::regions::{LABEL_SOLID, Regions};
use super::volumes::SMALLEST_SHARE;
use crate::coupling::memory::{AirBook, BubbleMemory, OUTSIDE, Remembered};
use crate::grid::{Coord, leaf};
use crate::tuned::Tuned;
use glam::IVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Largest distance, in voxels along an axis, at which a bubble that no longer overlaps its old cells is looked for: the
/// two that liquid crosses in a substep at the default `substeps.cfl`, and one by which the bubble changes its shape.
const REACH: Tuned<i32> = Tuned::new("identity::REACH", 3);

/// Largest volume, voxels, of a piece that takes no air along when it breaks off a bubble: two voxels across, less than
/// the grid can resolve.
const LARGEST_CRUMB: Tuned<f64> = Tuned::new("identity::LARGEST_CRUMB", 8.0);
/// Smallest ratio between the rest of the bubble and such a piece.
const WHOLE_OF_CRUMB: Tuned<f64> = Tuned::new("identity::WHOLE_OF_CRUMB", 8.0);

/// The identity of a region of air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity {
    /// Its id; [`OUTSIDE`] when exterior.
    pub id: i32,
    /// The volume it should keep; infinite when exterior.
    pub book: AirBook,
    /// No air was here in the substep before: the region is a gap between particles, not a bubble.
    pub void: bool,
}

impl Identity {
    /// All air that reaches the outside.
    const EXTERIOR: Self = Self {
        id: OUTSIDE,
        book: AirBook { rest: f64::INFINITY, drift: 0.0, gas: 0.0, last: 0.0 },
        void: false,
    };
}

/// The identities of a substep's air regions.
#[derive(Clone, Debug, PartialEq)]
pub struct Identities {
    /// Per air region.
    pub regions: Vec<Identity>,
    /// The id the next new bubble gets.
    pub next_id: i32,
}

/// How many cells of each ancestor's air (by id) each region holds: `(region, id) → cells`.
type Shares = BTreeMap<(usize, i32), f64>;

/// Recognises the regions by the air that was in their cells in the substep before.
///
/// A bubble's rest volume goes to its descendants in proportion to the air of it that they hold, so that merges add and
/// splits divide. Newly enclosed air starts with the volume it has. A bubble that opens to the outside gives its rest
/// volume up. A crumb that breaks off a bubble takes nothing along: it is a void, and closes. Where a bubble has
/// vanished from the grid, its rest volume goes to the air nearest to where it was, outside or not. Of several heirs
/// the one with the largest share keeps the id. Without a memory every region is new and starts with the volume it
/// has, but for corners that walls cut off.
/// `voxel` is the volume of a voxel, m³.
pub fn identify(regions: &Regions, memory: Option<&BubbleMemory>, voxel: f64) -> Identities {
    let Some(memory) = memory else { return everything_new(regions, voxel) };
    let mut shares = overlaps(regions, memory);
    find_the_lost(regions, memory, &mut shares);
    leave_out_crumbs(regions, &mut shares, voxel);
    let mut books = books(regions, memory, &shares, voxel);
    hand_on_the_gone(regions, memory, &shares, &mut books);
    let (ids, next_id) = heirs(regions, memory, &shares);
    let identity = |r: usize| match regions.air[r].exterior {
        true => Identity::EXTERIOR,
        false => Identity { id: ids[r], book: books[r], void: books[r].rest <= 0.0 },
    };
    Identities { regions: (0..regions.air.len()).map(identity).collect(), next_id }
}

/// The particles of a shot's first substep do not reach every corner that a wall cuts off. A pocket that lies wholly in such
/// cells, and is too small for the grid to resolve, is a void. Any other air is a bubble, be it a single cell.
fn everything_new(regions: &Regions, voxel: f64) -> Identities {
    let mut next_id = OUTSIDE + 1;
    let identity = |air: &super::regions::Region| {
        if air.exterior {
            return Identity::EXTERIOR;
        }
        next_id += 1;
        let void = !air.uncut && air.volume < LARGEST_CRUMB.get() * voxel;
        Identity { id: next_id - 1, book: AirBook::new(if void { 0.0 } else { air.volume }), void }
    };
    Identities { regions: regions.air.iter().map(identity).collect(), next_id }
}

/// Cells that each region shares with each id of the substep before.
fn overlaps(regions: &Regions, memory: &BubbleMemory) -> Shares {
    let topology = &regions.cells.topology;
    let of_leaf = |(l, &origin): (usize, &Coord)| {
        let mut found = Shares::new();
        let Some(before) = memory.cells.topology.leaf_of(origin) else { return found };
        let now = &regions.cells.values[l * leaf::SIZE..][..leaf::SIZE];
        let before = &memory.cells.values[before * leaf::SIZE..][..leaf::SIZE];
        let one = |labels: &[i32]| labels.iter().fold(true, |one, &label| one & (label == labels[0]));
        if now[0] < 0 && one(now) {
            return found;
        }
        // Neighbouring cells mostly hold the same air, so runs of them are counted at once.
        let (mut last, mut cells) = ((LABEL_SOLID, LABEL_SOLID), 0.0);
        let mut count = |(r, id): (i32, i32), cells: f64| {
            if r >= 0 && id >= OUTSIDE {
                *found.entry((r as usize, id)).or_default() += cells;
            }
        };
        for pair in now.iter().copied().zip(before.iter().copied()) {
            if pair != last {
                count(last, cells);
                (last, cells) = (pair, 0.0);
            }
            cells += 1.0;
        }
        count(last, cells);
        found
    };
    let leaves: Vec<Shares> = topology.origins().par_iter().enumerate().map(of_leaf).collect();
    let mut all = Shares::new();
    for (key, cells) in leaves.into_iter().flatten() {
        *all.entry(key).or_default() += cells;
    }
    all
}

/// The bubbles of the substep before that no region overlaps, by ascending id.
fn lost(memory: &BubbleMemory, shares: &Shares) -> Vec<i32> {
    let met: std::collections::BTreeSet<i32> = shares.keys().map(|k| k.1).collect();
    memory.bubbles.iter().map(|b| b.id).filter(|id| !met.contains(id)).collect()
}

/// Bubbles of a few cells can move out of all their old cells in one substep. Those that nothing overlaps are looked
/// for near where they were, among the regions that overlap nothing.
fn find_the_lost(regions: &Regions, memory: &BubbleMemory, shares: &mut Shares) {
    let mut orphan: Vec<bool> = regions.air.iter().map(|a| !a.exterior).collect();
    shares.keys().for_each(|k| orphan[k.0] = false);
    let lost = lost(memory, shares);
    if lost.is_empty() || !orphan.contains(&true) {
        return;
    }
    for (slot, &id) in memory.cells.values.iter().enumerate() {
        if id <= OUTSIDE || lost.binary_search(&id).is_err() {
            continue;
        }
        let at = memory.cells.topology.coord(slot);
        for x in -REACH.get()..=REACH.get() {
            for y in -REACH.get()..=REACH.get() {
                for z in -REACH.get()..=REACH.get() {
                    let Some(s) = regions.cells.topology.slot_of(at + IVec3::new(x, y, z)) else { continue };
                    let r = regions.cells.values[s];
                    if r >= 0 && orphan[r as usize] {
                        *shares.entry((r as usize, id)).or_default() += 1.0;
                    }
                }
            }
        }
    }
}

/// Removes the shares of small pieces of bubbles where most of the bubble lives on.
///
/// Particles cut single cells of air off a bubble and leave them as pockets in the liquid, most often beside walls. If
/// these pockets kept air of their own, they would be bubbles that the grid cannot resolve: they would drift off, and a
/// diving bell would lose its air crumb by crumb.
fn leave_out_crumbs(regions: &Regions, shares: &mut Shares, voxel: f64) {
    let mut largest = BTreeMap::<i32, f64>::new();
    for &(r, id) in shares.keys().filter(|k| k.1 > OUTSIDE && !regions.air[k.0].exterior) {
        let most = largest.entry(id).or_default();
        *most = most.max(regions.air[r].volume);
    }
    shares.retain(|&(r, id), _| {
        let (volume, most) = (regions.air[r].volume, largest.get(&id).copied().unwrap_or_default());
        regions.air[r].exterior
            || volume >= LARGEST_CRUMB.get() * voxel
            || volume * WHOLE_OF_CRUMB.get() > most
    });
}

/// The volume that each region should keep.
///
/// The part of a region's cells that were an ancestor's counts as that ancestor's air. A bubble loses to the outside no
/// more than the volume that it lost since the substep before, and a region gains from the outside no more than it has
/// grown. So a film of liquid that moves by one cell lets no air through.
fn books(regions: &Regions, memory: &BubbleMemory, shares: &Shares, voxel: f64) -> Vec<AirBook> {
    let mut cells_of = vec![0.0; regions.air.len()];
    shares.iter().for_each(|(&(r, _), cells)| cells_of[r] += cells);
    let least = SMALLEST_SHARE * voxel;
    let air = |r: usize, cells: f64| regions.air[r].volume.max(least) * cells / cells_of[r];
    let remembered = |id: i32| memory.bubbles.binary_search_by_key(&id, |b| b.id).map(|n| &memory.bubbles[n]);
    let (mut held, mut outside) = (BTreeMap::<i32, f64>::new(), BTreeMap::<i32, f64>::new());
    for (&(r, id), &cells) in shares {
        match regions.air[r].exterior {
            true => *outside.entry(id).or_default() += cells * voxel,
            false => *held.entry(id).or_default() += air(r, cells),
        }
    }
    let escaped = |id: i32, volume: f64| match (outside.get(&id), held.get(&id)) {
        (Some(most), Some(held)) => (volume - held).clamp(0.0, *most),
        _ => 0.0,
    };
    let mut books = vec![AirBook::default(); regions.air.len()];
    let mut inherited = vec![0.0; regions.air.len()];
    let enclosed = || shares.iter().filter(|(k, _)| !regions.air[k.0].exterior);
    for (&(r, id), &cells) in enclosed() {
        if let Ok(before) = remembered(id) {
            let share = air(r, cells) / (held[&id] + escaped(id, before.volume));
            books[r].take(&before.book, share);
            inherited[r] += share * before.volume;
        }
    }
    for (&(r, _), &cells) in enclosed().filter(|(k, _)| remembered(k.1).is_err()) {
        let volume = regions.air[r].volume;
        let entered = (volume * cells / cells_of[r]).min((volume - inherited[r]).max(0.0));
        books[r].rest += entered;
        books[r].gas += entered;
    }
    books
}

/// Gives the rest volume of bubbles that have vanished from the grid to the air nearest to where they were.
fn hand_on_the_gone(regions: &Regions, memory: &BubbleMemory, shares: &Shares, books: &mut [AirBook]) {
    let gone = lost(memory, shares);
    if gone.is_empty() {
        return;
    }
    let mut first = BTreeMap::<i32, Coord>::new();
    for (slot, id) in memory.cells.values.iter().enumerate().filter(|(_, id)| **id > OUTSIDE) {
        if gone.binary_search(id).is_ok() {
            first.entry(*id).or_insert_with(|| memory.cells.topology.coord(slot));
        }
    }
    for bubble in memory.bubbles.iter().filter(|b| gone.binary_search(&b.id).is_ok()) {
        let heir = first.get(&bubble.id).and_then(|&at| nearest_air(regions, at));
        if let Some(r) = heir.filter(|&r| !regions.air[r].exterior) {
            books[r].take(&bubble.book, 1.0);
        }
    }
}

/// The region of the air cell nearest to a cell, the first of equals.
fn nearest_air(regions: &Regions, at: Coord) -> Option<usize> {
    let topology = &regions.cells.topology;
    let square = |d: IVec3| d.as_i64vec3().length_squared();
    let away = |o: Coord| square((o - at).max(at - o - (leaf::DIM as i32 - 1)).max(IVec3::ZERO));
    let mut leaves: Vec<(i64, usize)> =
        topology.origins().iter().enumerate().map(|(l, &o)| (away(o), l)).collect();
    leaves.sort_unstable();
    let mut best: Option<(i64, i32)> = None;
    for (least, l) in leaves {
        if best.is_some_and(|(d, _)| d <= least) {
            break;
        }
        for (n, &r) in regions.cells.values[l * leaf::SIZE..][..leaf::SIZE].iter().enumerate() {
            let d = square(topology.coord(l * leaf::SIZE + n) - at);
            if r >= 0 && best.is_none_or(|(nearest, _)| d < nearest) {
                best = Some((d, r));
            }
        }
    }
    best.map(|(_, r)| r as usize)
}

/// The ids of the regions. Every ancestor's id goes to the region with the largest share of it that has not already got
/// an id of a larger share; the other regions are new.
fn heirs(regions: &Regions, memory: &BubbleMemory, shares: &Shares) -> (Vec<i32>, i32) {
    let mut claims: Vec<(f64, usize, i32)> = shares
        .iter()
        .filter(|((r, id), _)| *id > OUTSIDE && !regions.air[*r].exterior)
        .map(|(&(r, id), &cells)| (cells, r, id))
        .collect();
    claims.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut ids: Vec<Option<i32>> = vec![None; regions.air.len()];
    let mut taken = std::collections::BTreeSet::new();
    for (_, r, id) in claims {
        if ids[r].is_none() && taken.insert(id) {
            ids[r] = Some(id);
        }
    }
    let mut next_id = memory.next_id.max(OUTSIDE + 1);
    let mut fresh = || {
        next_id += 1;
        next_id - 1
    };
    let ids = ids
        .into_iter()
        .zip(&regions.air)
        .map(|(id, air)| if air.exterior { OUTSIDE } else { id.unwrap_or_else(&mut fresh) })
        .collect();
    (ids, next_id)
}

impl Identities {
    /// What the next substep needs to recognise these regions.
    pub fn memory(&self, regions: Regions) -> BubbleMemory {
        let mut cells = regions.cells;
        cells.values.par_iter_mut().with_min_len(4096).filter(|label| **label >= 0).for_each(|label| {
            *label = self.regions[*label as usize].id;
        });
        let enclosed = self.regions.iter().zip(&regions.air).filter(|(i, _)| i.id > OUTSIDE);
        let remember = |(i, air): (&Identity, &super::regions::Region)| Remembered {
            id: i.id,
            volume: air.volume,
            book: i.book,
        };
        let mut bubbles: Vec<Remembered> = enclosed.map(remember).collect();
        bubbles.sort_by_key(|b| b.id);
        BubbleMemory { cells, bubbles, next_id: self.next_id }
    }
}
