//! Grids.

use super::Exchange;
use glam::IVec3;
use meniscus_abi::Sampling;
use meniscus_abi::guest::{Call, Failure, GridShape, GridView, Scalar};
use meniscus_core::grid::{FaceGrid, Grid, Topology, Transform, leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Leaf sets by their stamps.
#[derive(Debug, Default)]
pub struct Topologies {
    /// Latest first.
    known: Vec<(u64, Arc<Topology>)>,
}

/// Leaf sets that are kept: of a liquid, its solids and its colliders.
const KEPT: usize = 16;

impl Topologies {
    fn meet(&mut self, id: u64, topology: &Arc<Topology>) {
        if id != 0 {
            self.known.retain(|(k, _)| *k != id);
            self.known.insert(0, (id, topology.clone()));
            self.known.truncate(KEPT);
        }
    }

    fn stamped(&self, id: u64) -> Option<&Arc<Topology>> {
        self.known.iter().find(|(k, _)| *k == id && id != 0).map(|(_, t)| t)
    }

    /// The stamp of a leaf set, 0 where it has none yet.
    fn stamp_of(&self, topology: &Arc<Topology>) -> u64 {
        self.known.iter().find(|(_, t)| Arc::ptr_eq(t, topology)).map_or(0, |(k, _)| *k)
    }
}

/// Values that may be infinite or not a number.
pub trait Finite: Scalar {
    /// Neither.
    fn is_finite(self) -> bool;
    /// A background, which the ABI carries as a double.
    fn from_background(value: f64) -> Self;
}

impl Finite for f32 {
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }

    fn from_background(value: f64) -> Self {
        value as f32
    }
}

impl Finite for i32 {
    fn is_finite(self) -> bool {
        true
    }

    fn from_background(value: f64) -> Self {
        value as i32
    }
}

impl Exchange {
    /// A grid of one component, with its transform; None where the item has none.
    pub fn grid<T: Finite>(
        &mut self,
        call: &Call,
        port: u32,
        item: u32,
    ) -> Result<Option<(Grid<T>, Transform)>, Failure> {
        let Some(view) = call.grid(port, item) else { return Ok(None) };
        let topology = self.topology(call, port, &view)?;
        let values = self.component(call, port, &view, 0)?;
        let transform = Transform::from_row_major(view.index_to_world());
        let background = T::from_background(view.background(0));
        Ok(Some((Grid { topology, values, background }, transform)))
    }

    /// A staggered field with its transform; None where the item has none.
    pub fn faces(
        &mut self,
        call: &Call,
        port: u32,
        item: u32,
    ) -> Result<Option<(FaceGrid<f32>, Transform)>, Failure> {
        let Some(view) = call.grid(port, item) else { return Ok(None) };
        if view.sampling() != Sampling::FACE {
            return Err(Failure::input(port, format!("`{}` is not sampled on faces", name(call, port))));
        }
        let topology = self.topology(call, port, &view)?;
        let mut values = [const { Vec::new() }; 3];
        for (c, values) in values.iter_mut().enumerate() {
            *values = self.component(call, port, &view, c)?;
        }
        let background = view.background(0) as f32;
        Ok(Some((
            FaceGrid { topology, values, background },
            Transform::from_row_major(view.index_to_world()),
        )))
    }

    /// The leaves of a view; built once per stamp.
    pub(super) fn topology(
        &mut self,
        call: &Call,
        port: u32,
        view: &GridView,
    ) -> Result<Arc<Topology>, Failure> {
        let id = view.topology_id();
        if let Some(known) = self.topologies.stamped(id).cloned() {
            self.topologies.meet(id, &known);
            return Ok(known);
        }
        let origins = view.origins().ok_or_else(|| incomplete(call, port))?;
        let coords: Vec<IVec3> = origins.iter().map(|&o| IVec3::from_array(o)).collect();
        if coords.iter().any(|o| (*o & 7) != IVec3::ZERO) {
            return Err(Failure::host(port, format!("`{}` has leaves off the lattice", name(call, port))));
        }
        if !coords.is_sorted_by(|a, b| a.to_array() < b.to_array()) {
            return Err(Failure::host(port, format!("the leaves of `{}` are not sorted", name(call, port))));
        }
        let topology = Arc::new(self.install(|| Topology::new(coords)));
        self.topologies.meet(id, &topology);
        Ok(topology)
    }

    /// A copy of one component, found finite.
    pub(super) fn component<T: Finite>(
        &mut self,
        call: &Call,
        port: u32,
        view: &GridView,
        component: usize,
    ) -> Result<Vec<T>, Failure> {
        let values = view.values::<T>(component).ok_or_else(|| incomplete(call, port))?;
        let last = component as u32 + 1 == view.components();
        self.check_finite(call, port, values, view.value_id(), last)?;
        Ok(values.to_vec())
    }

    /// Looks for a value that is not finite, unless these bytes were looked through before.
    fn check_finite<T: Finite>(
        &mut self,
        call: &Call,
        port: u32,
        values: &[T],
        value_id: u64,
        last: bool,
    ) -> Result<(), Failure> {
        if value_id != 0 && self.finite.contains(&value_id) {
            return Ok(());
        }
        match self.first_bad(values) {
            Some(slot) => Err(not_finite(call, port, slot)),
            None => {
                if last && value_id != 0 {
                    self.finite.insert(0, value_id);
                    self.finite.truncate(64);
                }
                Ok(())
            }
        }
    }

    /// The first slot whose value is not finite.
    fn first_bad<T: Finite>(&self, values: &[T]) -> Option<usize> {
        /// Values that are looked through in less time than it takes to wake other threads.
        const FEW: usize = 1 << 19;
        match values.len() {
            ..=FEW => values.chunks(leaf::SIZE).enumerate().find_map(first_bad_of_leaf),
            _ => self.install(|| values.par_chunks(leaf::SIZE).enumerate().find_map_first(first_bad_of_leaf)),
        }
    }

    /// Makes the grid at a port this one.
    pub fn write_grid<T: Finite + Into<f64>>(
        &mut self,
        call: &mut Call,
        port: u32,
        sampling: Sampling,
        grid: &Grid<T>,
        transform: &Transform,
    ) -> Result<(), Failure> {
        self.write(call, port, sampling, &grid.topology, &[&grid.values], grid.background.into(), transform)
    }

    /// Makes the staggered field at a port this one.
    pub fn write_faces(
        &mut self,
        call: &mut Call,
        port: u32,
        faces: &FaceGrid<f32>,
        transform: &Transform,
    ) -> Result<(), Failure> {
        let [x, y, z] = &faces.values;
        let background = f64::from(faces.background);
        self.write(call, port, Sampling::FACE, &faces.topology, &[x, y, z], background, transform)
    }

    fn write<T: Finite>(
        &mut self,
        call: &mut Call,
        port: u32,
        sampling: Sampling,
        topology: &Arc<Topology>,
        components: &[&Vec<T>],
        background: f64,
        transform: &Transform,
    ) -> Result<(), Failure> {
        for values in components {
            if let Some(slot) = self.first_bad(values) {
                return Err(not_finite(call, port, slot));
            }
        }
        let origins: Vec<[i32; 3]> = topology.origins().iter().map(|o| o.to_array()).collect();
        let shape = GridShape {
            element: T::ELEMENT,
            components: components.len() as u32,
            sampling,
            topology_id: self.topologies.stamp_of(topology),
            origins: &origins,
            tiles: &[],
            tile_values: &[],
            background,
            index_to_world: transform.to_row_major(),
        };
        let mut made = call.shape_grid(port, 0, &shape)?;
        for (c, values) in components.iter().enumerate() {
            let to = made.values::<T>(c).filter(|to| to.len() == values.len());
            let to =
                to.ok_or_else(|| Failure::host(port, "the host shaped another grid than was asked for"))?;
            to.copy_from_slice(values);
        }
        let id = made.topology_id();
        self.topologies.meet(id, topology);
        Ok(())
    }
}

/// The slot of leaf `l`'s first value that is not finite.
fn first_bad_of_leaf<T: Finite>((l, leaf): (usize, &[T])) -> Option<usize> {
    // Without an early end, so that many values are compared at once.
    if leaf.iter().fold(true, |sound, v| sound & v.is_finite()) {
        return None;
    }
    leaf.iter().position(|v| !v.is_finite()).map(|n| l * leaf::SIZE + n)
}

/// The name of a port.
pub(super) fn name(call: &Call, port: u32) -> String {
    call.port_name(port).to_owned()
}

/// A view that lacks memory or is of another type than its port declares.
pub(super) fn incomplete(call: &Call, port: u32) -> Failure {
    Failure::host(port, format!("`{}` is not in host memory, or not of the declared type", name(call, port)))
}

fn not_finite(call: &Call, port: u32, slot: usize) -> Failure {
    let (l, n) = (slot / leaf::SIZE, slot % leaf::SIZE);
    let sentence = format!("`{}` holds a value that is not finite (leaf {l}, voxel {n})", name(call, port));
    Failure::not_finite(port, sentence)
}
