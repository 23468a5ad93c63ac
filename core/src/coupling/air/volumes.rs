//! Closed volumes: liquid and air without a way to the outside. The prescribed flux into each must be zero in sum.

use super::regions::Regions;
use crate::union_find::DisjointSets;

/// Connected liquid components and constrained air regions, bounded by solids alone. Their pressures are
/// determined up to one constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClosedVolume {
    /// Liquid components, ascending.
    pub(crate) liquids: Vec<usize>,
    /// Air regions, ascending.
    pub(crate) air: Vec<usize>,
}

impl ClosedVolume {
    /// The region of largest volume (the first of equals). Its row is left out, because its constraint follows from all
    /// the others; no small bubble, whose pressure someone may watch, is the one without a row.
    pub(crate) fn largest(&self, regions: &Regions) -> Option<usize> {
        let larger = |best: Option<usize>, &r: &usize| match best {
            Some(b) if regions.air[b].volume >= regions.air[r].volume => best,
            _ => Some(r),
        };
        self.air.iter().fold(None, larger)
    }
}

/// Groups liquid components with the `constrained` air regions that they touch, and keeps the groups without contact to
/// a region of given pressure [Goldade and Batty 2017, §4.2]. Air that touches no liquid is a volume by itself where it has
/// a row.
pub(crate) fn closed_volumes(regions: &Regions, constrained: &[bool], rowed: &[bool]) -> Vec<ClosedVolume> {
    let liquids = regions.liquid_cells.len();
    let mut sets = DisjointSets::new(liquids + regions.air.len());
    let touching =
        || regions.air.iter().enumerate().flat_map(|(r, a)| a.liquids.iter().map(move |&k| (r, k)));
    for (r, k) in touching().filter(|&(r, _)| constrained[r]) {
        sets.union(liquids + r, k as usize);
    }
    let mut given = vec![false; liquids];
    for (_, k) in touching().filter(|&(r, _)| !constrained[r]) {
        given[sets.find(k as usize)] = true;
    }
    let mut group = vec![usize::MAX; liquids];
    let mut volumes: Vec<ClosedVolume> = Vec::new();
    for k in 0..liquids {
        let root = sets.find(k);
        if given[root] {
            continue;
        }
        if root == k {
            group[k] = volumes.len();
            volumes.push(ClosedVolume::default());
        }
        volumes[group[root]].liquids.push(k);
    }
    for r in (0..regions.air.len()).filter(|&r| constrained[r] && !regions.air[r].liquids.is_empty()) {
        let root = sets.find(liquids + r);
        if !given[root] {
            volumes[group[root]].air.push(r);
        }
    }
    let alone = |&r: &usize| rowed[r] && regions.air[r].liquids.is_empty();
    volumes
        .extend((0..rowed.len()).filter(alone).map(|r| ClosedVolume { air: vec![r], ..Default::default() }));
    volumes
}

/// Smallest volume, in voxels, that a region counts with when something is shared out among regions: one of cells that the
/// smoothed surface has closed still takes part.
pub(crate) const SMALLEST_SHARE: f64 = 1e-3;
