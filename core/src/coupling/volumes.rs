//! Closed volumes: liquid and air that no outside reaches, and whose prescribed flux must therefore vanish.

use super::flux::Flux;
use super::regions::Regions;

/// Connected liquid components and constrained air regions, bounded by solids alone. Their pressures are
/// determined up to one constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClosedVolume {
    /// Liquid components, ascending.
    pub(super) liquids: Vec<usize>,
    /// Air regions, ascending.
    pub(super) air: Vec<usize>,
}

impl ClosedVolume {
    /// The region of largest volume (the first of equals): the one whose constraint follows from all the
    /// others, so that no small, watched bubble is the free one.
    pub(super) fn largest(&self, regions: &Regions) -> Option<usize> {
        let larger = |best: Option<usize>, &r: &usize| match best {
            Some(b) if regions.air[b].volume >= regions.air[r].volume => best,
            _ => Some(r),
        };
        self.air.iter().fold(None, larger)
    }
}

/// Groups liquid components and the `constrained` air regions that touch each other; keeps the groups
/// without contact to a region of given pressure [Goldade and Batty 2017, §4.2].
pub(super) fn closed_volumes(regions: &Regions, constrained: &[bool]) -> Vec<ClosedVolume> {
    let liquids = regions.liquid_cells.len();
    let mut sets = super::regions::DisjointSets::new(liquids + regions.air.len());
    let touching =
        || regions.air.iter().enumerate().flat_map(|(r, a)| a.liquids.iter().map(move |&k| (r, k)));
    for (r, k) in touching().filter(|&(r, _)| constrained[r]) {
        sets.union((liquids + r) as u32, k);
    }
    let mut given = vec![false; liquids];
    for (_, k) in touching().filter(|&(r, _)| !constrained[r]) {
        given[sets.find(k) as usize] = true;
    }
    let mut group = vec![usize::MAX; liquids];
    let mut volumes: Vec<ClosedVolume> = Vec::new();
    for k in 0..liquids {
        let root = sets.find(k as u32) as usize;
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
        let root = sets.find((liquids + r) as u32) as usize;
        if !given[root] {
            volumes[group[root]].air.push(r);
        }
    }
    volumes
}

/// Net outflow that constraints must leave, because no velocity field could do otherwise, m³/s.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leftover {
    /// Per air region.
    pub(super) air: Vec<f64>,
    /// Per cell of each liquid component.
    pub(super) per_cell: Vec<f64>,
}

/// Smallest volume, in voxels, that a region counts with when a closed volume's surplus is shared out: a
/// region of cells that the smoothed surface has closed still takes part.
const SMALLEST_SHARE: f64 = 1e-3;

/// Shares the total outflow prescribed to each closed volume (by its walls and sources) among its air in
/// proportion to volume, so that the air yields to what the liquid wants; among its cells when it has none.
pub(super) fn compatible(regions: &Regions, volumes: &[ClosedVolume], flux: &Flux, h: f64) -> Leftover {
    let mut left =
        Leftover { air: vec![0.0; regions.air.len()], per_cell: vec![0.0; regions.liquid_cells.len()] };
    for v in volumes {
        let liquid: f64 = v.liquids.iter().map(|&k| flux.liquid[k]).sum();
        let total = liquid + v.air.iter().map(|&r| flux.air[r]).sum::<f64>();
        let share = |r: usize| regions.air[r].volume.max(SMALLEST_SHARE * h * h * h);
        let all: f64 = v.air.iter().map(|&r| share(r)).sum();
        for &r in &v.air {
            left.air[r] = total * share(r) / all;
        }
        if v.air.is_empty() {
            let cells: usize = v.liquids.iter().map(|&k| regions.liquid_cells[k]).sum();
            for &k in &v.liquids {
                left.per_cell[k] = total / cells as f64;
            }
        }
    }
    left
}
