//! Reads and writes grids and staggered fields at ports.

use super::Exchange;
use super::finite::{Finite, all_finite, copy_numbers, copy_of};
use glam::IVec3;
use meniscus_abi::Sampling;
use meniscus_abi::guest::{Call, Failure, GridMut, GridShape, GridView};
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
        let ahead = match item {
            0 => {
                self.kept.meet(port, view.value_id());
                T::read_ahead(&mut self.kept, port).and_then(|mut values| values.pop())
            }
            _ => None,
        };
        let values = match ahead {
            Some(values) => values,
            None => self.component(call, port, &view, 0)?,
        };
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
        let ahead = match item {
            0 => {
                self.kept.meet(port, view.value_id());
                self.kept.take(port).and_then(|values| <[Vec<f32>; 3]>::try_from(values).ok())
            }
            _ => None,
        };
        let values = match ahead {
            Some(values) => values,
            None => {
                let mut values = [const { Vec::new() }; 3];
                for (c, values) in values.iter_mut().enumerate() {
                    *values = self.component(call, port, &view, c)?;
                }
                values
            }
        };
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

    /// Reads the fields at some ports at once, for [`Self::grid`] and [`Self::faces`] to return: waking the threads
    /// takes as long as copying a small field. Fields that a stage of this instance kept are not read again.
    pub fn read_ahead(&mut self, call: &Call, ports: &[u32]) {
        let Self { pool, kept, finite, .. } = self;
        let mut copies = Vec::new();
        for &port in ports {
            let Some(view) = call.grid(port, 0) else { continue };
            let components = view.components() as usize;
            let channels: Option<Vec<&[f32]>> = (0..components).map(|c| view.values(c)).collect();
            if !kept.lend(port, view.value_id())
                && let Some(channels) = channels
            {
                copies.push((port, view.value_id(), channels));
            }
        }
        if copies.is_empty() {
            return;
        }
        let copy = |(port, stamp, channels): (u32, u64, Vec<&[f32]>)| {
            let copied: Option<Vec<Vec<f32>>> = channels.into_par_iter().map(copy_of).collect();
            (port, stamp, copied)
        };
        let copied: Vec<_> = pool.install(|| copies.into_par_iter().map(copy).collect());
        for (port, stamp, values) in copied {
            // Whoever asks for this field finds the bad value again and reports it.
            if let Some(values) = values {
                remember_finite(finite, stamp);
                kept.read(port, values);
            }
        }
    }

    /// Searches for a value that is not finite, unless the same bytes were checked before.
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
                if last {
                    remember_finite(&mut self.finite, value_id);
                }
                Ok(())
            }
        }
    }

    /// The first slot whose value is not finite.
    fn first_bad<T: Finite>(&self, values: &[T]) -> Option<usize> {
        /// Number of values up to which a search by one thread is faster than waking others.
        const FEW: usize = 1 << 19;
        match values.len() {
            ..=FEW => values.chunks(leaf::SIZE).enumerate().find_map(first_bad_of_leaf),
            _ => self.install(|| values.par_chunks(leaf::SIZE).enumerate().find_map_first(first_bad_of_leaf)),
        }
    }

    /// Makes the staggered field at a port this one.
    pub fn write_faces(
        &mut self,
        call: &mut Call,
        port: u32,
        faces: &FaceGrid<f32>,
        transform: &Transform,
    ) -> Result<(), Failure> {
        self.write_fields(call, transform, &[Field::faces(port, faces)])
    }

    /// Writes the fields at some ports all at once: waking the threads takes as long as copying a small field.
    pub fn write_fields<T: Finite>(
        &mut self,
        call: &mut Call,
        transform: &Transform,
        fields: &[Field<T>],
    ) -> Result<(), Failure> {
        /// Number of values up to which a copy by one thread is faster than waking others.
        const FEW: usize = 1 << 19;
        let Self { topologies, pool, kept, finite, .. } = self;
        let leaves = |field: &Field<T>| field.topology.origins().iter().map(|o| o.to_array()).collect();
        let origins: Vec<Vec<[i32; 3]>> = fields.iter().map(leaves).collect();
        let ports: Vec<(u32, u32)> = fields.iter().map(|field| (field.port, field.item)).collect();
        let mut made = call.shape_grids(&ports, |n, made| {
            // Fields that share their leaves share their stamp.
            if let Some(last) = made.last() {
                topologies.meet(last.topology_id(), fields[n - 1].topology);
            }
            let field = &fields[n];
            GridShape {
                element: T::ELEMENT,
                components: field.values.len() as u32,
                sampling: field.sampling,
                topology_id: topologies.stamp_of(field.topology),
                origins: &origins[n],
                tiles: &[],
                tile_values: &[],
                background: field.background,
                index_to_world: transform.to_row_major(),
            }
        })?;
        if let (Some(last), Some(field)) = (made.last(), fields.last()) {
            topologies.meet(last.topology_id(), field.topology);
        }
        let mut pairs = Vec::new();
        for (field, grid) in fields.iter().zip(&mut made) {
            let places = places(field, grid);
            pairs.extend(places.ok_or_else(|| {
                Failure::host(field.port, "the host shaped another grid than was asked for")
            })?);
        }
        let count: usize = pairs.iter().map(|(_, from)| from.len()).sum();
        let sound = match count {
            ..=FEW => pairs.into_iter().fold(true, |sound, (to, from)| {
                to.copy_from_slice(from);
                sound & all_finite(from)
            }),
            _ => pool.install(|| {
                let copied = pairs.into_par_iter().map(|(to, from)| copy_numbers(to, from));
                copied.reduce(|| true, |a, b| a & b)
            }),
        };
        if !sound {
            return self.check_fields(call, fields);
        }
        for (field, grid) in fields.iter().zip(&made) {
            if field.item == 0 {
                kept.meet(field.port, grid.value_id());
            }
            remember_finite(finite, grid.value_id());
        }
        Ok(())
    }

    /// The message about fields that are not finite.
    fn check_fields<T: Finite>(&self, call: &Call, fields: &[Field<T>]) -> Result<(), Failure> {
        let all = fields.iter().flat_map(|field| field.values.iter().map(|values| (field.port, *values)));
        let bad = all.filter_map(|(port, values)| Some((port, self.first_bad(values)?))).next();
        bad.map_or(Ok(()), |(port, slot)| Err(not_finite(call, port, slot)))
    }
}

/// A field to be written.
#[derive(Debug)]
pub struct Field<'a, T> {
    port: u32,
    item: u32,
    sampling: Sampling,
    topology: &'a Arc<Topology>,
    /// `[component][leaf][512]`
    values: Vec<&'a [T]>,
    background: f64,
}

impl<T> Field<'_, T> {
    /// The same for another item of the port than the first.
    pub fn of_item(self, item: u32) -> Self {
        Self { item, ..self }
    }
}

impl<'a, T: Finite + Into<f64>> Field<'a, T> {
    /// A grid of one component.
    pub fn grid(port: u32, sampling: Sampling, grid: &'a Grid<T>) -> Self {
        let background = grid.background.into();
        Self { port, item: 0, sampling, topology: &grid.topology, values: vec![&grid.values], background }
    }
}

impl<'a> Field<'a, f32> {
    /// A staggered field.
    pub fn faces(port: u32, faces: &'a FaceGrid<f32>) -> Self {
        let values = faces.values.iter().map(Vec::as_slice).collect();
        let background = faces.background.into();
        Self { port, item: 0, sampling: Sampling::FACE, topology: &faces.topology, values, background }
    }
}

impl<'a> Field<'a, i32> {
    /// Numbers of solids on faces.
    pub fn owners(port: u32, faces: &'a FaceGrid<i32>) -> Self {
        let values = faces.values.iter().map(Vec::as_slice).collect();
        Self { port, item: 0, sampling: Sampling::FACE, topology: &faces.topology, values, background: 0.0 }
    }
}

/// Where each component of a field belongs; None where the host shaped another grid.
fn places<'a, T: Finite>(field: &Field<'a, T>, made: &'a mut GridMut) -> Option<Vec<(&'a mut [T], &'a [T])>> {
    let to = made.all_values::<T>()?;
    let fits = |(to, from): &(&mut [T], &[T])| to.len() == from.len();
    let pairs: Vec<_> = to.into_iter().zip(field.values.iter().copied()).collect();
    (pairs.len() == field.values.len() && pairs.iter().all(fits)).then_some(pairs)
}

/// Notes that the values with this stamp were found finite.
fn remember_finite(finite: &mut Vec<u64>, value_id: u64) {
    /// Stamps that are remembered.
    const MOST: usize = 64;
    if value_id != 0 {
        finite.insert(0, value_id);
        finite.truncate(MOST);
    }
}

/// The slot of leaf `l`'s first value that is not finite.
fn first_bad_of_leaf<T: Finite>((l, leaf): (usize, &[T])) -> Option<usize> {
    if all_finite(leaf) {
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
