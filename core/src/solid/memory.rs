//! Caches the solids' fields on the leaves that a liquid and its air need, for as long as nothing moves.

use super::occupancy::{Surfaces, reach_of};
use crate::grid::{Coord, Topology, Transform};
use crate::solid::{Collider, DomainLimits, Rasteriser, SolidFields, Solids};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Caches of a liquid's solver: dropping them between two substeps does not change a bit of the result.
#[derive(Clone, Debug, Default)]
pub struct SolidMemory {
    rasteriser: Rasteriser,
    cut: Option<CutLeaves>,
}

/// What is known of the leaves that the colliders' surfaces may run through.
#[derive(Clone, Debug)]
struct CutLeaves {
    colliders: Vec<Collider>,
    domain: DomainLimits,
    transform: Transform,
    candidates: Vec<Coord>,
    /// Whether a surface does run through those that were asked for.
    known: FxHashMap<Coord, bool>,
}

impl SolidMemory {
    /// The solids' fields on the leaves of `liquid` and on those that the colliders' surfaces run through.
    pub fn fields(
        &mut self,
        solids: &Solids,
        transform: &Transform,
        liquid: &Arc<Topology>,
    ) -> Arc<SolidFields> {
        let last = self.cut.take();
        let cut = self.cut.insert(CutLeaves::after(last, solids, transform));
        let beyond = cut.outside(liquid);
        let topology = if beyond.is_empty() { liquid.clone() } else { Arc::new(liquid.union(&beyond)) };
        self.rasteriser.rasterise(solids.colliders, solids.domain, &topology, transform)
    }
}

impl CutLeaves {
    /// What the last call found, as far as it holds for these solids.
    fn after(last: Option<Self>, solids: &Solids, transform: &Transform) -> Self {
        let &Solids { colliders, domain } = solids;
        let last = last.filter(|last| {
            last.domain == *domain && last.transform == *transform && last.colliders.len() == colliders.len()
        });
        let changed = |last: &Self| {
            let pairs = last.colliders.iter().zip(colliders).filter(|(a, b)| !a.same_as(b));
            let poses = pairs.flat_map(|(a, b)| [reach_of(a, transform), reach_of(b, transform)]);
            poses.flatten().collect::<Vec<(Coord, Coord)>>()
        };
        let changed = last.as_ref().map(changed);
        match (last, changed) {
            (Some(last), Some(changed)) if changed.is_empty() => last,
            (last, changed) => {
                let (mut known, changed) =
                    (last.map(|l| l.known).unwrap_or_default(), changed.unwrap_or_default());
                known.retain(|o, _| {
                    !changed.iter().any(|(low, high)| o.cmpge(*low).all() && o.cmple(*high).all())
                });
                let no_sides = DomainLimits::unbounded();
                let candidates = Surfaces::new(colliders, &no_sides, transform).candidates(domain);
                Self {
                    colliders: colliders.to_vec(),
                    domain: *domain,
                    transform: *transform,
                    candidates,
                    known,
                }
            }
        }
    }

    /// The cut leaves that a topology lacks; only those are asked for.
    fn outside(&mut self, liquid: &Topology) -> Topology {
        let no_sides = DomainLimits::unbounded();
        let surfaces = Surfaces::new(&self.colliders, &no_sides, &self.transform);
        let missing: Vec<Coord> =
            self.candidates.iter().copied().filter(|&o| liquid.leaf_of(o).is_none()).collect();
        let asked = missing.par_iter().filter(|o| !self.known.contains_key(o));
        let found: Vec<(Coord, bool)> = asked.map(|&o| (o, surfaces.cut(o))).collect();
        self.known.extend(found);
        Topology::new(missing.into_iter().filter(|o| self.known.get(o) == Some(&true)).collect())
    }
}
