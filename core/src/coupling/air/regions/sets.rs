//! The labelled cells and the open faces as bit sets, one bit a voxel, so that kernels handle a whole leaf at once.

use super::Regions;
use crate::grid::morphology::{VoxelMask, shift, words_of};
use crate::grid::rows;
use crate::grid::{Coord, FaceGrid, Topology, leaf};
use glam::IVec3;
use std::sync::Arc;

/// A bit for each voxel of a leaf.
pub(crate) type Words = [u64; leaf::DIM];
/// Every voxel of a leaf, and none.
pub(crate) const ALL: Words = [u64::MAX; leaf::DIM];
pub(crate) const NONE: Words = [0; leaf::DIM];

/// Which lower faces of cells are open, per axis.
#[derive(Debug)]
pub(crate) struct OpenFaces {
    /// Those with α > 0.
    pub(crate) passable: [VoxelMask; 3],
    /// Those with α ≥ 1.
    pub(crate) whole: [VoxelMask; 3],
    /// Per leaf, whether the open fractions are stored on it.
    pub(crate) known: Vec<bool>,
    /// Whether faces beyond all leaves are fully open.
    beyond: [bool; 2],
}

impl OpenFaces {
    /// The sets of open fractions stored on some of the leaves; all leaves of the fractions must be among them.
    pub(crate) fn new(open: &FaceGrid<f32>, topology: &Arc<Topology>) -> Self {
        let same = Arc::ptr_eq(topology, &open.topology);
        let leaf_of = |l: usize| if same { Some(l) } else { open.topology.leaf_of(topology.origins()[l]) };
        let leaves: Vec<Option<usize>> = (0..topology.len()).map(leaf_of).collect();
        let (is_passable, is_whole) = (|alpha: f32| alpha > 0.0, |alpha: f32| alpha >= 1.0);
        Self {
            passable: std::array::from_fn(|axis| faces(open, axis, topology, &leaves, is_passable)),
            whole: std::array::from_fn(|axis| faces(open, axis, topology, &leaves, is_whole)),
            known: leaves.iter().map(Option::is_some).collect(),
            beyond: [is_passable(open.background), is_whole(open.background)],
        }
    }
}

/// The lower `axis` faces whose open fraction fulfils a condition; `leaves` are the fractions' own.
fn faces(
    open: &FaceGrid<f32>,
    axis: usize,
    topology: &Arc<Topology>,
    leaves: &[Option<usize>],
    inside: impl Fn(f32) -> bool + Copy + Sync + Send,
) -> VoxelMask {
    let values = open.values[axis].as_chunks::<{ leaf::SIZE }>().0;
    let elsewhere = if inside(open.background) { ALL } else { NONE };
    let words = |l: usize| leaves[l].map_or(elsewhere, |l| words_of(&values[l], inside));
    VoxelMask::from_words(topology.clone(), words)
}

/// A leaf, active or not, and those beyond its faces.
pub(crate) struct Around<'a> {
    regions: &'a Regions,
    /// The leaves beyond the faces, by axis, lower first, and the leaf itself; [`leaf::ABSENT`] for inactive tiles.
    leaves: [u32; 7],
    /// Labels of those that are inactive.
    tiles: [i32; 7],
}

/// Place of the leaf itself in [`Around::leaves`].
const OWN: usize = 6;

impl Regions {
    /// The sets around a leaf.
    pub(crate) fn around(&self, origin: Coord) -> Around<'_> {
        let slots: [usize; 7] =
            std::array::from_fn(|k| leaf::FACE_SLOTS.get(k).copied().unwrap_or(leaf::SELF_SLOT));
        let around = self.cells.topology.surroundings(origin);
        let leaves = slots.map(|slot| around[slot]);
        let tile = |slot: usize| match around[slot] {
            leaf::ABSENT => {
                let d = IVec3::from_array(leaf::displacement(slot));
                self.at_tile(origin + d * leaf::DIM as i32)
            }
            _ => super::LABEL_SOLID,
        };
        Around { regions: self, leaves, tiles: slots.map(tile) }
    }
}

impl Around<'_> {
    fn words(&self, k: usize, set: &VoxelMask, of_tile: bool) -> Words {
        match self.leaves[k] {
            leaf::ABSENT if of_tile => ALL,
            leaf::ABSENT => NONE,
            l => *set.words(l as usize),
        }
    }

    /// The leaf's words of a set, or of what it is beyond the faces `k`, by axis, lower first.
    fn seen(&self, k: Option<usize>, set: &VoxelMask, of_tile: impl Fn(i32) -> bool) -> Words {
        let own = self.words(OWN, set, of_tile(self.tiles[OWN]));
        let Some(k) = k else { return own };
        let next = self.words(k, set, of_tile(self.tiles[k]));
        shift(&own, &next, k / 2, if k % 2 == 1 { 1 } else { -1 })
    }

    /// The leaf's cells of liquid.
    pub(crate) fn liquid(&self) -> Words {
        self.seen(None, &self.regions.liquid, |_| false)
    }

    /// The cells with liquid behind their face `k`, by axis, lower first.
    pub(crate) fn liquid_behind(&self, k: usize) -> Words {
        self.seen(Some(k), &self.regions.liquid, |_| false)
    }

    /// The leaf's cells of air.
    pub(crate) fn air(&self) -> Words {
        self.seen(None, &self.regions.air_cells, |label| label >= 0)
    }

    /// The cells with air behind their face `k`.
    pub(crate) fn air_behind(&self, k: usize) -> Words {
        self.seen(Some(k), &self.regions.air_cells, |label| label >= 0)
    }

    /// The cells whose face `k` has α > 0.
    pub(crate) fn passable(&self, k: usize) -> Words {
        let OpenFaces { passable, beyond, .. } = &self.regions.open;
        self.seen((k % 2 == 1).then_some(k), &passable[k / 2], |_| beyond[0])
    }

    /// The cells whose face `k` has α ≥ 1.
    pub(crate) fn whole(&self, k: usize) -> Words {
        let OpenFaces { whole, beyond, .. } = &self.regions.open;
        self.seen((k % 2 == 1).then_some(k), &whole[k / 2], |_| beyond[1])
    }

    /// The cells with an open face, and those with one that is cut: neither open nor closed.
    pub(crate) fn open_and_cut(&self) -> (Words, Words) {
        let (mut open, mut cut) = (NONE, NONE);
        for k in 0..6 {
            let (passable, whole) = (self.passable(k), self.whole(k));
            for x in 0..leaf::DIM {
                open[x] |= passable[x];
                cut[x] |= passable[x] & !whole[x];
            }
        }
        (open, cut)
    }

    /// Label of the leaf's cell `n`.
    pub(crate) fn label(&self, n: usize) -> i32 {
        self.label_of(OWN, n)
    }

    /// Label of the cell behind face `k` of the leaf's cell `n`.
    pub(crate) fn label_behind(&self, n: usize, k: usize) -> i32 {
        match rows::behind(n, k) {
            Ok(n) => self.label_of(OWN, n),
            Err(n) => self.label_of(k, n),
        }
    }

    fn label_of(&self, k: usize, n: usize) -> i32 {
        match self.leaves[k] {
            leaf::ABSENT => self.tiles[k],
            l => self.regions.cells.values[l as usize * leaf::SIZE + n],
        }
    }
}

/// Whether a set holds voxel `n`.
#[inline(always)]
pub(crate) fn has(set: &Words, n: usize) -> bool {
    set[n / 64] >> (n % 64) & 1 == 1
}
