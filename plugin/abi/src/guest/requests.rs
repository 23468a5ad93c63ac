//! What a stage asks the host to make.

use crate::{Array, Attribute, Element, Geometry, Grid, Growable, Meaning, On, Primitive, Sampling, Tile};
use std::ffi::CString;

/// A grid to be made.
#[derive(Clone, Debug)]
pub struct GridShape<'a> {
    /// Element type.
    pub element: Element,
    /// Components per voxel.
    pub components: u32,
    /// Where values sit.
    pub sampling: Sampling,
    /// 0, or the stamp of a grid with these very leaves, which a host that still knows it shares.
    pub topology_id: u64,
    /// `[leaf]`, multiples of 8, sorted.
    pub origins: &'a [[i32; 3]],
    /// Constant cubes outside the leaves, one component each.
    pub tiles: &'a [Tile],
    /// `[tile][component]`
    pub tile_values: &'a [f64],
    /// Outside leaves and tiles, every component.
    pub background: f64,
    /// Row-major, acting on row vectors.
    pub index_to_world: [f64; 16],
}

impl GridShape<'_> {
    pub(super) fn request(&self) -> Grid {
        Grid {
            element: self.element,
            components: self.components,
            sampling: self.sampling,
            topology_id: self.topology_id,
            leaf_count: self.origins.len() as u64,
            origins: self.origins.as_ptr().cast(),
            background: [self.background; crate::COMPONENTS_MAX],
            index_to_world: self.index_to_world,
            tile_count: self.tiles.len() as u64,
            tiles: self.tiles.as_ptr(),
            tile_values: self.tile_values.as_ptr(),
            ..Grid::blank()
        }
    }
}

/// An attribute to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeShape {
    /// "P", "v", "id" ...
    pub name: CString,
    /// What it is on.
    pub on: On,
    /// Element type.
    pub element: Element,
    /// Components per value.
    pub components: u32,
    /// How it moves with its geometry.
    pub meaning: Meaning,
}

impl AttributeShape {
    /// An attribute on points.
    pub fn on_points(name: &std::ffi::CStr, element: Element, components: u32, meaning: Meaning) -> Self {
        Self { name: name.into(), on: On::POINTS, element, components, meaning }
    }

    pub(super) fn request(&self) -> Attribute {
        Attribute {
            on: self.on,
            name: self.name.as_ptr(),
            element: self.element,
            components: self.components,
            meaning: self.meaning,
            ..Attribute::blank()
        }
    }
}

/// Geometry to be made.
#[derive(Clone, Debug)]
pub struct GeometryShape {
    /// Points, polylines or triangles.
    pub primitive: Primitive,
    /// Number of points.
    pub points: usize,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of primitives.
    pub primitives: usize,
    /// `P` is relative to it, metres.
    pub origin: [f64; 3],
    /// Its attributes.
    pub attributes: Vec<AttributeShape>,
}

impl GeometryShape {
    /// Points and nothing else.
    pub fn points(points: usize, origin: [f64; 3], attributes: Vec<AttributeShape>) -> Self {
        Self { primitive: Primitive::POINTS, points, vertices: 0, primitives: 0, origin, attributes }
    }

    /// Triangles, three vertices each.
    pub fn triangles(
        points: usize,
        triangles: usize,
        origin: [f64; 3],
        attributes: Vec<AttributeShape>,
    ) -> Self {
        let primitive = Primitive::TRIANGLES;
        Self { primitive, points, vertices: 3 * triangles, primitives: triangles, origin, attributes }
    }

    /// Polylines with `vertices` vertices between them.
    pub fn polylines(
        points: usize,
        vertices: usize,
        lines: usize,
        origin: [f64; 3],
        attributes: Vec<AttributeShape>,
    ) -> Self {
        Self { primitive: Primitive::POLYLINES, points, vertices, primitives: lines, origin, attributes }
    }

    /// The request, whose attributes are `attributes`.
    pub(super) fn request(&self, attributes: &[Attribute]) -> Geometry {
        Geometry {
            primitive: self.primitive,
            point_count: self.points as u64,
            vertex_count: self.vertices as u64,
            primitive_count: self.primitives as u64,
            origin: self.origin,
            attributes: attributes.as_ptr(),
            attribute_count: attributes.len() as u32,
            ..Geometry::blank()
        }
    }
}

/// An array to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// Its name in the table.
    pub name: CString,
    /// Element type.
    pub element: Element,
    /// Components per entry.
    pub components: u32,
    /// Number of entries.
    pub count: usize,
}

impl ArrayShape {
    pub(super) fn request(&self) -> Array {
        Array {
            element: self.element,
            name: self.name.as_ptr(),
            components: self.components,
            count: self.count as u64,
            ..Array::blank()
        }
    }
}
