//! Views of the host's data in the C ABI's structs.

use super::arena::Arena;
use super::convert::{element_code, meaning_code, owner_code, sampling_code};
use crate::data::{Array, Attribute, Column, Geometry, Grid, Primitives, Table};
use meniscus_abi::{self as abi, Growable};
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// Which addresses a view contains.
pub(super) trait Pointers {
    /// Addresses to read and to write.
    fn of(array: &mut Arc<Array>) -> (*const c_void, *mut c_void);
}

/// To read only.
pub(super) struct Reading;
/// To write in place; an array that others share is copied first.
pub(super) struct Writing;

impl Pointers for Reading {
    fn of(array: &mut Arc<Array>) -> (*const c_void, *mut c_void) {
        (array.as_ptr().cast(), std::ptr::null_mut())
    }
}

impl Pointers for Writing {
    fn of(array: &mut Arc<Array>) -> (*const c_void, *mut c_void) {
        let address = Arc::make_mut(array).as_mut_ptr();
        (address.cast_const().cast(), address.cast())
    }
}

/// A view of a grid. The arrays belong to `g`, which must outlive the call.
pub(super) fn grid<P: Pointers>(g: &mut Grid, arena: &mut Arena) -> *const abi::Grid {
    let components = g.components();
    let tiles: Vec<abi::Tile> =
        g.tiles.iter().map(|t| abi::Tile { origin: t.origin, edge: t.edge as i32 }).collect();
    let values: Vec<f64> = g.tiles.iter().flat_map(|t| t.value[..components].to_vec()).collect();
    let mut view = abi::Grid {
        element: element_code(g.element),
        components: components as u32,
        sampling: sampling_code(g.sampling),
        topology_id: g.topology_id,
        value_id: g.value_id,
        leaf_count: g.origins.len() as u64,
        origins: g.origins.as_flattened().as_ptr(),
        tile_count: tiles.len() as u64,
        tiles: arena.keep_list(tiles),
        tile_values: arena.keep_list(values),
        background: g.background,
        index_to_world: g.transform,
        ..abi::Grid::blank()
    };
    for (c, channel) in g.channels.iter_mut().enumerate() {
        (view.values[c], view.writable[c]) = P::of(channel);
    }
    // The leaves are read through the view, so they stay even if the port is shaped anew.
    arena.keep(g.origins.clone());
    arena.keep(view)
}

/// A view of an attribute with `count` elements.
pub(super) fn attribute<P: Pointers>(a: &mut Attribute, count: usize, arena: &mut Arena) -> abi::Attribute {
    let element = a.values.element();
    let (values, writable) = P::of(&mut a.values);
    abi::Attribute {
        on: owner_code(a.owner),
        name: name(&a.name, arena),
        element: element_code(element),
        components: a.components as u32,
        meaning: meaning_code(a.meaning),
        value_id: a.value_id,
        count: count as u64,
        stride: (a.components * element.size()) as u64,
        values,
        writable,
        ..abi::Attribute::blank()
    }
}

/// A view of geometry. The arrays belong to `g`, which must outlive the call.
pub(super) fn geometry<P: Pointers>(
    g: &mut Geometry,
    arena: &mut Arena,
    write: bool,
) -> *const abi::Geometry {
    let mut view = abi::Geometry {
        topology_id: g.topology_id,
        point_count: g.points as u64,
        vertex_count: g.count(crate::data::Owner::Vertex) as u64,
        primitive_count: g.count(crate::data::Owner::Primitive) as u64,
        origin: g.origin,
        attribute_count: g.attributes.len() as u32,
        ..abi::Geometry::blank()
    };
    let share = |list: &mut Arc<Vec<u32>>| {
        let writable = if write { Arc::make_mut(list).as_mut_ptr() } else { std::ptr::null_mut() };
        (list.as_ptr(), writable)
    };
    match &mut g.primitives {
        Primitives::Points => {
            view.primitive = abi::Primitive::POINTS;
            view.primitive_count = g.points as u64;
        }
        Primitives::Polylines { starts, vertices } => {
            view.primitive = abi::Primitive::POLYLINES;
            (view.vertices, view.writable_vertices) = share(vertices);
            (view.starts, view.writable_starts) = share(starts);
        }
        Primitives::Triangles { vertices } => {
            view.primitive = abi::Primitive::TRIANGLES;
            (view.vertices, view.writable_vertices) = share(vertices);
        }
    }
    let counts: Vec<usize> = g.attributes.iter().map(|a| g.count(a.owner)).collect();
    let attributes: Vec<abi::Attribute> =
        g.attributes.iter_mut().zip(counts).map(|(a, n)| attribute::<P>(a, n, arena)).collect();
    view.attributes = arena.keep_list(attributes);
    arena.keep(view)
}

/// A view of a column.
pub(super) fn array<P: Pointers>(c: &mut Column, arena: &mut Arena) -> abi::Array {
    let element = c.values.element();
    let count = c.values.len() / c.components.max(1);
    let (values, writable) = P::of(&mut c.values);
    abi::Array {
        element: element_code(element),
        name: name(&c.name, arena),
        components: c.components as u32,
        count: count as u64,
        value_id: c.value_id,
        values,
        writable,
        ..abi::Array::blank()
    }
}

/// A view of a table. The arrays belong to `t`, which must outlive the call.
pub(super) fn table<P: Pointers>(t: &mut Table, arena: &mut Arena) -> *const abi::Table {
    let arrays: Vec<abi::Array> = t.columns.iter_mut().map(|c| array::<P>(c, arena)).collect();
    let view = abi::Table {
        array_count: arrays.len() as u32,
        arrays: arena.keep_list(arrays),
        ..abi::Table::blank()
    };
    arena.keep(view)
}

fn name(text: &str, arena: &mut Arena) -> *const std::ffi::c_char {
    let text = CString::new(text).unwrap_or_default();
    let address = text.as_ptr();
    // A CString's letters stay where they are when the string itself moves.
    arena.keep(text);
    address
}
