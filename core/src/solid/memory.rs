//! Caches the solids' fields on the leaves that a liquid and its air need, for as long as nothing moves.

use crate::grid::{Topology, Transform};
use crate::solid::{Collider, DomainLimits, Rasteriser, SolidFields, Solids, cut_leaves};
use std::sync::Arc;

/// Caches of a liquid's solver: dropping them between two substeps does not change a bit of the result.
#[derive(Clone, Debug, Default)]
pub struct SolidMemory {
    rasteriser: Rasteriser,
    cut: Option<CutLeaves>,
}

#[derive(Clone, Debug)]
struct CutLeaves {
    colliders: Vec<Collider>,
    domain: DomainLimits,
    transform: Transform,
    leaves: Topology,
}

impl SolidMemory {
    /// The solids' fields on the leaves of `liquid` and on those that the colliders' surfaces run through.
    pub fn fields(&mut self, solids: &Solids, transform: &Transform, liquid: &Arc<Topology>) -> &SolidFields {
        let cut = self.cut_leaves(solids, transform);
        let topology = if cut.is_empty() { liquid.clone() } else { Arc::new(liquid.union(cut)) };
        self.rasteriser.rasterise(solids.colliders, solids.domain, &topology, transform)
    }

    fn cut_leaves(&mut self, solids: &Solids, transform: &Transform) -> &Topology {
        let last = self.cut.take().filter(|last| {
            last.domain == *solids.domain
                && last.transform == *transform
                && last.colliders.len() == solids.colliders.len()
                && last.colliders.iter().zip(solids.colliders).all(|(a, b)| a.same_as(b))
        });
        let cut = last.unwrap_or_else(|| CutLeaves {
            colliders: solids.colliders.to_vec(),
            domain: *solids.domain,
            transform: *transform,
            leaves: cut_leaves(solids.colliders, solids.domain, transform),
        });
        &self.cut.insert(cut).leaves
    }
}
