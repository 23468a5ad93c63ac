//! The set of active leaves and their neighbour table.

use super::{Coord, leaf};
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// A sorted set of active leaves with its neighbour table; shared by every channel that lives on it.
///
/// Memory and time grow with the number of active leaves, not with their bounding box.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    origins: Vec<Coord>,
    neighbours: Vec<[u32; leaf::NEIGHBOURS]>,
    index: FxHashMap<Coord, u32>,
}

/// Topologies are equal when they have the same leaves.
impl PartialEq for Topology {
    fn eq(&self, other: &Self) -> bool {
        self.origins() == other.origins()
    }
}
impl Eq for Topology {}

impl Topology {
    /// The topology of the given leaf origins (multiples of 8; order and repeats do not matter).
    pub fn new(mut origins: Vec<Coord>) -> Self {
        debug_assert!(origins.iter().all(|o| (*o & 7) == IVec3::ZERO));
        origins.sort_unstable_by_key(|o| o.to_array());
        origins.dedup();
        let index: FxHashMap<Coord, u32> = origins.iter().enumerate().map(|(i, &o)| (o, i as u32)).collect();
        let neighbours = origins
            .par_iter()
            .map(|&o| {
                std::array::from_fn(|s| {
                    let d = IVec3::from_array(leaf::displacement(s));
                    index.get(&(o + d * leaf::DIM as i32)).copied().unwrap_or(leaf::ABSENT)
                })
            })
            .collect();
        Self { origins, neighbours, index }
    }

    /// The leaves that hold any of the given voxels.
    pub fn covering(voxels: impl IntoIterator<Item = Coord>) -> Self {
        let mut origins: Vec<Coord> = Vec::new();
        for v in voxels {
            let o = v & !7;
            if origins.last() != Some(&o) {
                origins.push(o);
            }
        }
        Self::new(origins)
    }

    /// The leaves reached from this topology's leaves within `rings` leaf rings (3×3×3 neighbourhoods).
    pub fn dilated(&self, rings: usize) -> Self {
        let mut set = self.clone();
        for _ in 0..rings {
            let mut grown = Vec::with_capacity(set.origins.len() * 2);
            for (o, n) in set.origins.iter().zip(&set.neighbours) {
                grown.push(*o);
                for s in 0..leaf::NEIGHBOURS {
                    if n[s] == leaf::ABSENT {
                        let d = IVec3::from_array(leaf::displacement(s));
                        grown.push(*o + d * leaf::DIM as i32);
                    }
                }
            }
            set = Self::new(grown);
        }
        set
    }

    /// Every leaf of either topology.
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.origins.iter().chain(&other.origins).copied().collect())
    }

    /// Number of active leaves.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// True when no leaf is active.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Leaf origins, sorted by (x, y, z).
    pub fn origins(&self) -> &[Coord] {
        &self.origins
    }

    /// Per leaf, the leaf numbers of its 3×3×3 neighbourhood ([`leaf::slot`]); [`leaf::ABSENT`] where none.
    pub fn neighbours(&self) -> &[[u32; leaf::NEIGHBOURS]] {
        &self.neighbours
    }

    /// Number of the leaf that holds a voxel.
    #[inline]
    pub fn leaf_of(&self, ijk: Coord) -> Option<usize> {
        self.index.get(&(ijk & !7)).map(|&l| l as usize)
    }

    /// The 3×3×3 leaves around any leaf origin, active there or not: a row of the neighbour table.
    pub fn surroundings(&self, origin: Coord) -> [u32; leaf::NEIGHBOURS] {
        match self.leaf_of(origin) {
            Some(l) => self.neighbours[l],
            None => std::array::from_fn(|s| {
                let d = IVec3::from_array(leaf::displacement(s));
                self.leaf_of(origin + d * leaf::DIM as i32).map_or(leaf::ABSENT, |l| l as u32)
            }),
        }
    }

    /// Position of a voxel in a channel slice: `leaf * 512 + offset`.
    #[inline]
    pub fn slot_of(&self, ijk: Coord) -> Option<usize> {
        self.leaf_of(ijk).map(|l| l * leaf::SIZE + leaf::offset(ijk.x, ijk.y, ijk.z))
    }

    /// Position in a channel slice of the voxel at leaf-local coordinates (each in −8..16) around leaf `l`,
    /// or `None` when that leaf is absent. O(1), no hashing: the way kernels reach over a leaf's border.
    #[inline(always)]
    pub fn reach(&self, l: usize, local: [i32; 3]) -> Option<usize> {
        let (s, n) = leaf::reach(local[0], local[1], local[2]);
        match self.neighbours[l][s] {
            leaf::ABSENT => None,
            m => Some(m as usize * leaf::SIZE + n),
        }
    }

    /// Coordinate of the voxel at position `slot` of a channel slice: the inverse of [`Self::slot_of`].
    #[inline]
    pub fn coord(&self, slot: usize) -> Coord {
        self.origins[slot / leaf::SIZE] + IVec3::from_array(leaf::local(slot % leaf::SIZE))
    }

    /// Index-space bounds of the active leaves: (lowest, highest) voxel, both included.
    pub fn bounds(&self) -> Option<(Coord, Coord)> {
        let first = *self.origins.first()?;
        let (lo, hi) = self.origins.iter().fold((first, first), |(lo, hi), &o| (lo.min(o), hi.max(o)));
        Some((lo, hi + IVec3::splat(leaf::DIM as i32 - 1)))
    }
}
