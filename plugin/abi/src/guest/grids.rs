//! Grids, to read and to write.

use super::Scalar;
use crate::{Element, Grid, LEAF_SIZE, Sampling, Tile};
use std::marker::PhantomData;

/// A grid to read.
#[derive(Clone, Copy, Debug)]
pub struct GridView<'a> {
    grid: Grid,
    bytes: PhantomData<&'a [u8]>,
}

/// A slice, or none where a count is there but no memory.
///
/// # Safety
/// `from` is null or leads to `count` values that live for `'a` and that nobody writes.
pub(super) unsafe fn slice<'a, T>(from: *const T, count: u64) -> Option<&'a [T]> {
    match usize::try_from(count) {
        Ok(0) => Some(&[]),
        Ok(n) if !from.is_null() && from.is_aligned() => {
            // SAFETY: non-null, aligned, and `n` values are there (contract).
            Some(unsafe { std::slice::from_raw_parts(from, n) })
        }
        _ => None,
    }
}

impl<'a> GridView<'a> {
    /// # Safety
    /// What `grid` points to lives for `'a` and nobody writes it meanwhile.
    pub(super) unsafe fn new(grid: Grid) -> Self {
        Self { grid, bytes: PhantomData }
    }

    /// Element type.
    pub fn element(&self) -> Element {
        self.grid.element
    }

    /// Components per voxel.
    pub fn components(&self) -> u32 {
        self.grid.components
    }

    /// Where values sit.
    pub fn sampling(&self) -> Sampling {
        self.grid.sampling
    }

    /// Equal stamp, same leaves; 0: not stamped.
    pub fn topology_id(&self) -> u64 {
        self.grid.topology_id
    }

    /// Equal stamp, same bytes; 0: not stamped.
    pub fn value_id(&self) -> u64 {
        self.grid.value_id
    }

    /// Row-major, acting on row vectors.
    pub fn index_to_world(&self) -> &[f64; 16] {
        &self.grid.index_to_world
    }

    /// Outside leaves and tiles.
    pub fn background(&self, component: usize) -> f64 {
        self.grid.background.get(component).copied().unwrap_or(0.0)
    }

    /// `[leaf]`, sorted.
    pub fn origins(&self) -> Option<&'a [[i32; 3]]> {
        // SAFETY: the bytes live for 'a and are not written (construction).
        unsafe { slice(self.grid.origins.cast(), self.grid.leaf_count) }
    }

    /// Constant cubes.
    pub fn tiles(&self) -> Option<&'a [Tile]> {
        // SAFETY: as above.
        unsafe { slice(self.grid.tiles, self.grid.tile_count) }
    }

    /// `[tile][component]`
    pub fn tile_values(&self) -> Option<&'a [f64]> {
        let count = self.grid.tile_count.checked_mul(u64::from(self.grid.components))?;
        // SAFETY: as above.
        unsafe { slice(self.grid.tile_values, count) }
    }

    /// `[leaf][512]` of one component; None where the type is another.
    pub fn values<T: Scalar>(&self, component: usize) -> Option<&'a [T]> {
        let fits = T::ELEMENT == self.grid.element && (component as u64) < u64::from(self.grid.components);
        let count = self.grid.leaf_count.checked_mul(LEAF_SIZE as u64)?;
        if !fits {
            return None;
        }
        // SAFETY: as above; the element type was compared.
        unsafe { slice(self.grid.values.get(component)?.cast(), count) }
    }
}

/// A grid to write.
#[derive(Debug)]
pub struct GridMut<'a> {
    grid: Grid,
    bytes: PhantomData<&'a mut [u8]>,
}

impl GridMut<'_> {
    /// # Safety
    /// What `grid` points to lives for `'a` and nobody else touches its values meanwhile.
    pub(super) unsafe fn new(grid: Grid) -> Self {
        Self { grid, bytes: PhantomData }
    }

    /// Its leaves' stamp, for further grids on the same leaves.
    pub fn topology_id(&self) -> u64 {
        self.grid.topology_id
    }

    /// The stamp of what is written.
    pub fn value_id(&self) -> u64 {
        self.grid.value_id
    }

    /// `[leaf][512]` of one component; None where the type is another.
    pub fn values<T: Scalar>(&mut self, component: usize) -> Option<&mut [T]> {
        let fits = T::ELEMENT == self.grid.element && (component as u64) < u64::from(self.grid.components);
        let count = usize::try_from(self.grid.leaf_count).ok()?.checked_mul(LEAF_SIZE)?;
        let to = self.grid.writable.get(component)?.cast::<T>();
        if !fits {
            return None;
        }
        if count == 0 {
            return Some(&mut []);
        }
        if to.is_null() || !to.is_aligned() {
            return None;
        }
        // SAFETY: non-null, aligned, ours alone for 'a (construction), of that type and count.
        Some(unsafe { std::slice::from_raw_parts_mut(to, count) })
    }

    /// `[component][leaf][512]`; None where the type is another, or the host has given two components one memory.
    pub fn all_values<T: Scalar>(&mut self) -> Option<Vec<&mut [T]>> {
        let components = self.grid.components as usize;
        let addresses = self.grid.writable.get(..components)?;
        // Without leaves nothing lies anywhere, and addresses say nothing.
        if self.grid.leaf_count > 0 && (1..components).any(|c| addresses[..c].contains(&addresses[c])) {
            return None;
        }
        let slice = |c| {
            let values: &mut [T] = self.values(c)?;
            // SAFETY: borrowed from `self` for as long as the list is; no other slice of the list is of this component,
            // and components lie in memory of their own (compared).
            Some(unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr(), values.len()) })
        };
        (0..components).map(slice).collect()
    }
}
