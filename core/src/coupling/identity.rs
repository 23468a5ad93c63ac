//! Who is who among the bubbles of two substeps: ids and rest volumes through motion, merges and splits.

use super::regions::Regions;
use crate::grid::{Coord, Grid, leaf};
use glam::IVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The id of all air that reaches the outside; enclosed bubbles count from 1.
pub const OUTSIDE: i32 = 0;

/// Farthest, in voxels along an axis, that a bubble too small to overlap itself is looked for.
const REACH: i32 = 3;

/// What one substep's bubbles leave to the next. State: it travels with the liquid's data.
#[derive(Clone, Debug)]
pub struct BubbleMemory {
    /// Per cell the id of its air; [`LABEL_SOLID`](super::regions::LABEL_SOLID) in a solid, −2 − k in the connected
    /// liquid component k.
    pub cells: Grid<i32>,
    /// The enclosed bubbles, by ascending id.
    pub bubbles: Vec<Remembered>,
    /// The id the next new bubble gets.
    pub next_id: i32,
}

/// A bubble of the substep before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remembered {
    /// Its id, from 1.
    pub id: i32,
    /// The volume it should have, m³.
    pub rest_volume: f64,
}

/// Who a region of air is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity {
    /// Its id; [`OUTSIDE`] when exterior.
    pub id: i32,
    /// The volume it should have, m³; infinite when exterior.
    pub rest_volume: f64,
    /// No air was here before: a gap that moving particles have left, no bubble.
    pub void: bool,
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

/// Recognises the regions by the air that was in their cells a substep ago.
///
/// A bubble's rest volume goes to its descendants in proportion to the air of it that they hold, so that merges
/// add and splits divide. Air that gets enclosed starts with what it holds; a bubble that opens to the outside
/// gives its volume up. Of several heirs the one with the largest share keeps the id. Without a memory every
/// region is new and starts with what it holds. `voxel` is the volume of a voxel, m³.
pub fn identify(regions: &Regions, memory: Option<&BubbleMemory>, voxel: f64) -> Identities {
    let Some(memory) = memory else { return everything_new(regions) };
    let mut shares = overlaps(regions, memory);
    find_the_lost(regions, memory, &mut shares);
    let rest = rest_volumes(regions, memory, &shares, voxel);
    let (ids, next_id) = heirs(regions, memory, &shares);
    let identity = |r: usize| match regions.air[r].exterior {
        true => Identity { id: OUTSIDE, rest_volume: f64::INFINITY, void: false },
        false => {
            let void = shares.range((r, i32::MIN)..=(r, i32::MAX)).next().is_none();
            Identity { id: ids[r], rest_volume: rest[r], void }
        }
    };
    Identities { regions: (0..regions.air.len()).map(identity).collect(), next_id }
}

fn everything_new(regions: &Regions) -> Identities {
    let mut next_id = OUTSIDE + 1;
    let identity = |air: &super::regions::Region| {
        if air.exterior {
            return Identity { id: OUTSIDE, rest_volume: f64::INFINITY, void: false };
        }
        next_id += 1;
        Identity { id: next_id - 1, rest_volume: air.volume, void: false }
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
        for (&r, &id) in now.iter().zip(before).filter(|(r, id)| **r >= 0 && **id >= OUTSIDE) {
            *found.entry((r as usize, id)).or_default() += 1.0;
        }
        found
    };
    let leaves: Vec<Shares> = topology.origins().par_iter().enumerate().map(of_leaf).collect();
    let mut all = Shares::new();
    for (key, cells) in leaves.into_iter().flatten() {
        *all.entry(key).or_default() += cells;
    }
    all
}

/// Bubbles of a few cells can move past themselves in one substep: those that nothing overlaps are looked for among
/// the regions that overlap nothing, around where they were.
fn find_the_lost(regions: &Regions, memory: &BubbleMemory, shares: &mut Shares) {
    let met: std::collections::BTreeSet<i32> = shares.keys().map(|k| k.1).collect();
    let mut orphan: Vec<bool> = regions.air.iter().map(|a| !a.exterior).collect();
    shares.keys().for_each(|k| orphan[k.0] = false);
    let lost: Vec<i32> = memory.bubbles.iter().map(|b| b.id).filter(|id| !met.contains(id)).collect();
    if lost.is_empty() || !orphan.contains(&true) {
        return;
    }
    for (slot, &id) in memory.cells.values.iter().enumerate() {
        if id <= OUTSIDE || lost.binary_search(&id).is_err() {
            continue;
        }
        let at = memory.cells.topology.coord(slot);
        for x in -REACH..=REACH {
            for y in -REACH..=REACH {
                for z in -REACH..=REACH {
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

/// The volume each region should have, m³.
///
/// Of a region's volume, the part of its cells that were an ancestor's counts as that ancestor's air; air that reached
/// the outside counts whole cells.
fn rest_volumes(regions: &Regions, memory: &BubbleMemory, shares: &Shares, voxel: f64) -> Vec<f64> {
    let mut cells_of = vec![0.0; regions.air.len()];
    shares.iter().for_each(|(&(r, _), cells)| cells_of[r] += cells);
    let air = |r: usize, cells: f64| match regions.air[r].exterior {
        true => cells * voxel,
        // A region that the smoothed surface has closed still takes part.
        false => regions.air[r].volume.max(1e-3 * voxel) * cells / cells_of[r],
    };
    let mut left_of = BTreeMap::<i32, f64>::new();
    for (&(r, id), &cells) in shares {
        *left_of.entry(id).or_default() += air(r, cells);
    }
    let mut rest = vec![0.0; regions.air.len()];
    for (&(r, id), &cells) in shares.iter().filter(|(k, _)| !regions.air[k.0].exterior) {
        rest[r] += match memory.bubbles.binary_search_by_key(&id, |b| b.id) {
            Ok(n) => memory.bubbles[n].rest_volume * air(r, cells) / left_of[&id],
            // From outside: what it holds.
            Err(_) => regions.air[r].volume * cells / cells_of[r],
        };
    }
    rest
}

/// The ids of the regions: every ancestor's id goes to the region with the largest share of it that has no id of a larger
/// share; the rest are new.
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
        let enclosed = self.regions.iter().filter(|i| i.id > OUTSIDE);
        let mut bubbles: Vec<Remembered> =
            enclosed.map(|i| Remembered { id: i.id, rest_volume: i.rest_volume }).collect();
        bubbles.sort_by_key(|b| b.id);
        BubbleMemory { cells, bubbles, next_id: self.next_id }
    }
}
