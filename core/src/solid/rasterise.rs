//! Rasterises solids onto a fluid's lattice: level set, open face fractions, velocity.

mod motion;
mod nodes;
mod owners;

use super::occupancy::{Nearby, Occupancy, Placed};
use super::{Collider, DomainLimits, Solids};
use crate::grid::{Coord, FaceGrid, Grid, Topology, Transform, leaf};
use motion::{LeafOwners, solid_velocity};
use nodes::NodeBlock;
pub(crate) use owners::{NARROW, is_shared, owners_of_cell};
use owners::{close_gaps, owners, owners_of_leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Solids on a fluid's lattice.
#[derive(Clone, Debug)]
pub struct SolidFields {
    /// Level set of the union of all solids and closed sides at the cells' lower nodes, metres, within three
    /// voxels of the surface and ±3 voxels beyond.
    pub nodes: Grid<f32>,
    /// α: the fraction of each face that is open to fluid; 1 outside every leaf.
    pub open: FaceGrid<f32>,
    /// Velocity of the nearest solid across each face, m/s; 0 beyond every band.
    pub velocity: FaceGrid<f32>,
    /// The fraction of each cell's volume that is open to fluid; 1 outside every leaf.
    pub volume: Grid<f32>,
    /// The same, but in cells that a body shares with other solids the fraction that the first body there leaves to fluid and others,
    /// below 0 in closed ones where it lies in a wall. `None` where no collider is a body.
    pub left_by_first: Option<Grid<f32>>,
    /// The solid that a face belongs to, whose velocity it has: number of the collider, counted from 1; 0 for closed
    /// sides and beyond every band. `None` where no collider is a body.
    pub owner: Option<FaceGrid<u32>>,
}

/// Rasterises colliders and the domain's closed sides onto the leaves of a topology.
pub fn rasterise(
    colliders: &[Collider],
    domain: &DomainLimits,
    topology: &Arc<Topology>,
    transform: &Transform,
) -> SolidFields {
    Arc::unwrap_or_clone(Rasteriser::default().rasterise(colliders, domain, topology, transform))
}

impl SolidFields {
    /// Fields without any solid.
    pub fn open(topology: &Arc<Topology>, transform: &Transform) -> Self {
        let far = (super::occupancy::BAND * transform.voxel_size()) as f32;
        Self {
            nodes: Grid::new(topology.clone(), far),
            open: FaceGrid::new(topology.clone(), 1.0),
            velocity: FaceGrid::new(topology.clone(), 0.0),
            volume: Grid::new(topology.clone(), 1.0),
            left_by_first: None,
            owner: None,
        }
    }

    fn leaves_mut(&mut self) -> impl IndexedParallelIterator<Item = LeafFields<'_>> {
        let [ox, oy, oz] = &mut self.open.values;
        let [vx, vy, vz] = &mut self.velocity.values;
        let chunks = |v| <[f32]>::par_chunks_mut(v, leaf::SIZE);
        let open = (chunks(ox), chunks(oy), chunks(oz));
        let velocity = (chunks(vx), chunks(vy), chunks(vz));
        let cells = (chunks(&mut self.nodes.values), chunks(&mut self.volume.values));
        (cells.into_par_iter(), open.into_par_iter(), velocity.into_par_iter()).into_par_iter().map(
            |((nodes, volume), (ox, oy, oz), (vx, vy, vz))| LeafFields {
                nodes,
                open: [ox, oy, oz],
                velocity: [vx, vy, vz],
                volume,
            },
        )
    }
}

/// One leaf of [`SolidFields`], `[512]` each.
struct LeafFields<'a> {
    nodes: &'a mut [f32],
    open: [&'a mut [f32]; 3],
    velocity: [&'a mut [f32]; 3],
    volume: &'a mut [f32],
}

impl LeafFields<'_> {
    /// Copies leaf `l` of the last call into one that is open throughout: α = 1, velocity 0.
    fn copy(&mut self, from: &SolidFields, l: usize, known: &LeafSummary) {
        if known.is_open {
            return;
        }
        let range = l * leaf::SIZE..(l + 1) * leaf::SIZE;
        self.nodes.copy_from_slice(&from.nodes.values[range.clone()]);
        self.volume.copy_from_slice(&from.volume.values[range.clone()]);
        for axis in 0..3 {
            self.open[axis].copy_from_slice(&from.open.values[axis][range.clone()]);
            if known.moves {
                self.velocity[axis].copy_from_slice(&from.velocity.values[axis][range.clone()]);
            }
        }
    }

    /// Returns who owns the faces, where a body touches the leaf.
    fn compute(
        &mut self,
        placed: &Placed,
        near: &mut Nearby,
        (origin, known): (Coord, &mut LeafSummary),
    ) -> Option<Box<LeafOwners>> {
        let block = match near.occupancy() {
            Occupancy::Open => {
                known.is_open = true;
                return None;
            }
            Occupancy::Solid => {
                self.open.iter_mut().for_each(|o| o.fill(0.0));
                self.nodes.fill(near.constant());
                self.volume.fill(0.0);
                NodeBlock::constant(near.constant())
            }
            Occupancy::Cut => {
                let block = NodeBlock::new(near, origin);
                block.write(self.nodes);
                block.open_fractions(&mut self.open, near, origin);
                block.open_volumes(self.volume, near, origin);
                block
            }
        };
        let moving = |&n: &usize| !placed.solids.colliders[n].motion().is_still();
        let is_body = |&n: &usize| placed.solids.colliders[n].is_body();
        let mut owners = near.touching.iter().any(is_body).then(|| Box::new([[0; leaf::SIZE]; 3]));
        known.moves = owners.is_some() || near.touching.iter().any(moving);
        if known.moves {
            solid_velocity(&mut self.velocity, owners.as_deref_mut(), placed, near, &block, origin);
        }
        owners
    }
}

/// [`rasterise`] with a cache: leaves that no changed collider touches are copied from the last call, so that solids at
/// rest cost nothing. The result is the same, bit for bit, with or without the cache.
#[derive(Clone, Debug, Default)]
pub struct Rasteriser {
    last: Option<Last>,
}

#[derive(Clone, Debug)]
struct Last {
    colliders: Vec<Collider>,
    domain: DomainLimits,
    transform: Transform,
    leaves: Vec<LeafSummary>,
    /// With all gaps open.
    fields: Arc<SolidFields>,
    /// With those beside bodies closed that are too narrow; `None` where there is no body.
    closed: Option<Arc<SolidFields>>,
}

/// What is known of a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct LeafSummary {
    /// The colliders that touch it or stand beside it.
    seen: Set,
    /// Whether no solid is in it.
    is_open: bool,
    /// Whether solids have a velocity in it.
    moves: bool,
}

/// A set of colliders: bit n for the colliders n, n + 64, …
type Set = u64;

fn set_of(colliders: impl IntoIterator<Item = usize>) -> Set {
    colliders.into_iter().fold(0, |set, n| set | 1 << (n % 64))
}

impl Last {
    /// The colliders that differ from the last call's; `None` when its fields cannot be reused.
    fn changed(&self, colliders: &[Collider], domain: &DomainLimits, transform: &Transform) -> Option<Set> {
        let alike = self.colliders.len() == colliders.len()
            && self.domain == *domain
            && self.transform == *transform
            && self
                .colliders
                .iter()
                .zip(colliders)
                .all(|(a, b)| a.sdf().grid.background == b.sdf().grid.background);
        let pairs = self.colliders.iter().zip(colliders).enumerate();
        alike.then(|| set_of(pairs.filter(|(_, (a, b))| !a.same_as(b)).map(|(n, _)| n)))
    }
}

impl Rasteriser {
    /// See [`rasterise`].
    pub fn rasterise(
        &mut self,
        colliders: &[Collider],
        domain: &DomainLimits,
        topology: &Arc<Topology>,
        transform: &Transform,
    ) -> Arc<SolidFields> {
        let last = self.last.take();
        let changed = last.as_ref().and_then(|l| l.changed(colliders, domain, transform));
        let last = match (last, changed) {
            (Some(last), Some(0)) if last.fields.nodes.topology == *topology => last,
            (last, changed) => {
                let reusable = last.as_ref().zip(changed);
                let (fields, leaves) = compute(colliders, domain, topology, transform, reusable);
                let closed = fields.owner.is_some().then(|| {
                    let mut closed = fields.clone();
                    close_gaps(&Placed::new(Solids { colliders, domain }, transform), &mut closed);
                    Arc::new(closed)
                });
                Last {
                    colliders: colliders.to_vec(),
                    domain: *domain,
                    transform: *transform,
                    leaves,
                    fields: Arc::new(fields),
                    closed,
                }
            }
        };
        let last = self.last.insert(last);
        last.closed.as_ref().unwrap_or(&last.fields).clone()
    }
}

/// Who owns the faces of a leaf of the last call.
fn known_owners(last: &Last, l: usize) -> Option<Box<LeafOwners>> {
    last.fields.owner.as_ref().and_then(|owner| owners_of_leaf(owner, l))
}

fn compute(
    colliders: &[Collider],
    domain: &DomainLimits,
    topology: &Arc<Topology>,
    transform: &Transform,
    reusable: Option<(&Last, Set)>,
) -> (SolidFields, Vec<LeafSummary>) {
    let placed = Placed::new(Solids { colliders, domain }, transform);
    let mut fields = SolidFields::open(topology, transform);
    let leaves: Vec<(LeafSummary, Option<Box<LeafOwners>>)> = fields
        .leaves_mut()
        .zip(topology.origins())
        .map(|(mut leaf, &origin)| {
            let before = reusable.and_then(|(last, changed)| {
                let l = last.fields.nodes.topology.leaf_of(origin)?;
                (last.leaves[l].seen & changed == 0).then_some((last, changed, l))
            });
            let mut copy = |(last, l): (&Last, usize), seen: Set| {
                let known = LeafSummary { seen, ..last.leaves[l] };
                leaf.copy(&last.fields, l, &known);
                (known, known_owners(last, l))
            };
            if let Some((last, 0, l)) = before {
                return copy((last, l), last.leaves[l].seen);
            }
            let mut near = placed.nearby(origin);
            let seen = set_of(near.touching.iter().chain(&near.beside).copied());
            match before {
                Some((last, changed, l)) if seen & changed == 0 => copy((last, l), seen),
                _ => {
                    let mut known = LeafSummary { seen, ..LeafSummary::default() };
                    let owners = leaf.compute(&placed, &mut near, (origin, &mut known));
                    (known, owners)
                }
            }
        })
        .collect();
    let (known, leaves) = leaves.into_iter().unzip();
    fields.owner = colliders.iter().any(Collider::is_body).then(|| owners(leaves, topology));
    (fields, known)
}

#[cfg(test)]
mod tests;
