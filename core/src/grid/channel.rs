//! Scalar and staggered fields on a topology.

use super::{Coord, Topology, leaf};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// One value per voxel of a topology, `[leaf][512]`, and a background everywhere else.
#[derive(Clone, Debug)]
pub struct Grid<T> {
    /// The leaves this channel lives on.
    pub topology: Arc<Topology>,
    /// `[leaf][512]`.
    pub values: Vec<T>,
    /// The value outside every leaf.
    pub background: T,
}

impl<T: Copy + Send + Sync> Grid<T> {
    /// A grid filled with its background.
    pub fn new(topology: Arc<Topology>, background: T) -> Self {
        let values = vec![background; topology.len() * leaf::SIZE];
        Self { topology, values, background }
    }

    /// A grid whose voxels are computed from their coordinates, leaf by leaf in parallel.
    pub fn from_fn(topology: Arc<Topology>, background: T, f: impl Fn(Coord) -> T + Sync) -> Self {
        let mut grid = Self::new(topology, background);
        let topology = grid.topology.clone();
        grid.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
            for (n, v) in values.iter_mut().enumerate() {
                *v = f(topology.coord(l * leaf::SIZE + n));
            }
        });
        grid
    }

    /// The value at a voxel, or the background.
    #[inline]
    pub fn get(&self, ijk: Coord) -> T {
        self.topology.slot_of(ijk).map_or(self.background, |s| self.values[s])
    }

    /// The value at leaf-local coordinates (each in −8..16) around leaf `l`, or the background.
    #[inline(always)]
    pub fn reach(&self, l: usize, local: [i32; 3]) -> T {
        self.topology.reach(l, local).map_or(self.background, |s| self.values[s])
    }

    /// Writes a voxel; false (and nothing written) when its leaf is not active.
    pub fn set(&mut self, ijk: Coord, value: T) -> bool {
        match self.topology.slot_of(ijk) {
            Some(s) => {
                self.values[s] = value;
                true
            }
            None => false,
        }
    }

    /// [`Self::on`], to read: without a copy where it is the topology of this field.
    pub fn seen_on(&self, topology: &Arc<Topology>) -> Cow<'_, Self> {
        if *topology == self.topology { Cow::Borrowed(self) } else { Cow::Owned(self.on(topology)) }
    }

    /// The same field on another topology: shared leaves copied, the rest background.
    pub fn on(&self, topology: &Arc<Topology>) -> Self {
        if Arc::ptr_eq(topology, &self.topology) {
            return self.clone();
        }
        let mut out = Self::new(topology.clone(), self.background);
        out.values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(values, &o)| {
            if let Some(l) = self.topology.leaf_of(o) {
                values.copy_from_slice(&self.values[l * leaf::SIZE..][..leaf::SIZE]);
            }
        });
        out
    }
}

/// A staggered vector field: component c of voxel ijk sits on the cell's LOWER face across axis c.
#[derive(Clone, Debug)]
pub struct FaceGrid<T> {
    /// The leaves this field lives on.
    pub topology: Arc<Topology>,
    /// Per axis, `[leaf][512]`.
    pub values: [Vec<T>; 3],
    /// The value outside every leaf.
    pub background: T,
}

impl<T: Copy + Send + Sync> FaceGrid<T> {
    /// A field filled with its background.
    pub fn new(topology: Arc<Topology>, background: T) -> Self {
        let n = topology.len() * leaf::SIZE;
        Self { topology, values: std::array::from_fn(|_| vec![background; n]), background }
    }

    /// A field computed from (axis, voxel), leaf by leaf in parallel.
    pub fn from_fn(topology: Arc<Topology>, background: T, f: impl Fn(usize, Coord) -> T + Sync) -> Self {
        let mut grid = Self::new(topology, background);
        let topology = grid.topology.clone();
        for (axis, values) in grid.values.iter_mut().enumerate() {
            values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
                for (n, v) in values.iter_mut().enumerate() {
                    *v = f(axis, topology.coord(l * leaf::SIZE + n));
                }
            });
        }
        grid
    }

    /// The value on the lower `axis` face of a voxel, or the background.
    #[inline]
    pub fn get(&self, axis: usize, ijk: Coord) -> T {
        self.topology.slot_of(ijk).map_or(self.background, |s| self.values[axis][s])
    }

    /// The value on the lower `axis` face at leaf-local coordinates (each in −8..16) around leaf `l`.
    #[inline(always)]
    pub fn reach(&self, axis: usize, l: usize, local: [i32; 3]) -> T {
        self.topology.reach(l, local).map_or(self.background, |s| self.values[axis][s])
    }

    /// Writes a face; false (and nothing written) when its leaf is not active.
    pub fn set(&mut self, axis: usize, ijk: Coord, value: T) -> bool {
        match self.topology.slot_of(ijk) {
            Some(s) => {
                self.values[axis][s] = value;
                true
            }
            None => false,
        }
    }

    /// The same field on another topology: shared leaves copied, the rest background.
    pub fn on(&self, topology: &Arc<Topology>) -> Self {
        if Arc::ptr_eq(topology, &self.topology) {
            return self.clone();
        }
        let mut out = Self::new(topology.clone(), self.background);
        for (dst, src) in out.values.iter_mut().zip(&self.values) {
            dst.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(values, &o)| {
                if let Some(l) = self.topology.leaf_of(o) {
                    values.copy_from_slice(&src[l * leaf::SIZE..][..leaf::SIZE]);
                }
            });
        }
        out
    }
}
