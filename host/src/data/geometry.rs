//! Points, polylines or triangles with typed attributes.

use super::{Array, next_stamp};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// What an attribute is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// One value per point.
    Point,
    /// One value per vertex (corner of a primitive).
    Vertex,
    /// One value per primitive.
    Primitive,
    /// One value for the whole geometry.
    Detail,
}

impl Owner {
    /// Every owner, in the order of their checkpoint codes.
    pub const ALL: [Owner; 4] = [Owner::Point, Owner::Vertex, Owner::Primitive, Owner::Detail];
}

/// How a transform acts on an attribute, and what other tools take it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// Plain numbers.
    Plain,
    /// A position, metres.
    Position,
    /// A vector, such as a velocity.
    Vector,
    /// A unit normal.
    Normal,
    /// A colour.
    Colour,
    /// A rotation as a quaternion x y z w.
    Quaternion,
}

impl Meaning {
    /// Every meaning, in the order of their checkpoint codes.
    pub const ALL: [Meaning; 6] = [
        Meaning::Plain,
        Meaning::Position,
        Meaning::Vector,
        Meaning::Normal,
        Meaning::Colour,
        Meaning::Quaternion,
    ];

    /// What the attribute names of CONVENTIONS (`P v w N up Cd orient`) stand for.
    pub fn of(name: &str) -> Self {
        match name {
            "P" | "restP" | "rest" => Meaning::Position,
            "v" | "w" | "up" | "force" => Meaning::Vector,
            "N" => Meaning::Normal,
            "Cd" => Meaning::Colour,
            "orient" => Meaning::Quaternion,
            _ => Meaning::Plain,
        }
    }
}

/// One attribute: `count × components` values.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Name: `P`, `v`, `id`, …
    pub name: String,
    /// What it is attached to.
    pub owner: Owner,
    /// Numbers per element: 3 for a vector.
    pub components: usize,
    /// How a transform acts on it.
    pub meaning: Meaning,
    /// The values, tightly packed `[element][component]`.
    pub values: Arc<Array>,
    /// Equal stamp, same values.
    pub value_id: u64,
}

/// The primitives of a geometry: one kind only.
#[derive(Clone, Debug, PartialEq)]
pub enum Primitives {
    /// Points alone.
    Points,
    /// Open polylines: polyline i joins the points `vertices[starts[i]..starts[i + 1]]`.
    Polylines {
        /// Primitives + 1 offsets into `vertices`, from 0.
        starts: Arc<Vec<u32>>,
        /// Point numbers.
        vertices: Arc<Vec<u32>>,
    },
    /// Triangles, counter-clockwise seen from outside; three point numbers each.
    Triangles {
        /// Point numbers, `[triangle][3]`.
        vertices: Arc<Vec<u32>>,
    },
}

/// Typed attributes on points, vertices, primitives or the whole, and one kind of primitive.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Number of points.
    pub points: usize,
    /// The primitives.
    pub primitives: Primitives,
    /// Origin that `P` is relative to, metres.
    pub origin: [f64; 3],
    /// Attributes in the order they were made; names are unique per owner.
    pub attributes: Vec<Attribute>,
    /// Equal stamp, same point count and primitives.
    pub topology_id: u64,
}

impl Default for Geometry {
    fn default() -> Self {
        Self {
            points: 0,
            primitives: Primitives::Points,
            origin: [0.0; 3],
            attributes: Vec::new(),
            topology_id: next_stamp(),
        }
    }
}

impl Geometry {
    /// Points alone, at the given positions in metres.
    pub fn from_points(positions: &[[f32; 3]]) -> Self {
        let mut g = Self { points: positions.len(), ..Self::default() };
        g.set(Owner::Point, "P", 3, Array::F32(positions.as_flattened().to_vec()));
        g
    }

    /// A triangle mesh; positions in metres, counter-clockwise seen from outside.
    pub fn from_triangles(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        let vertices = Arc::new(triangles.as_flattened().to_vec());
        Self { primitives: Primitives::Triangles { vertices }, ..Self::from_points(positions) }
    }

    /// Sets or replaces an attribute, with the meaning its name usually has.
    pub fn set(&mut self, owner: Owner, name: &str, components: usize, values: Array) {
        let attribute = Attribute {
            name: name.to_owned(),
            owner,
            components,
            meaning: Meaning::of(name),
            values: Arc::new(values),
            value_id: next_stamp(),
        };
        match self.attributes.iter_mut().find(|a| a.owner == owner && a.name == name) {
            Some(old) => *old = attribute,
            None => self.attributes.push(attribute),
        }
    }

    /// The attribute of that owner and name.
    pub fn attribute(&self, owner: Owner, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.owner == owner && a.name == name)
    }

    /// A point attribute of three f32 components, such as `P` or `v`.
    pub fn point_vectors(&self, name: &str) -> Option<&[[f32; 3]]> {
        let a = self.attribute(Owner::Point, name).filter(|a| a.components == 3)?;
        a.values.as_f32().map(|v| v.as_chunks::<3>().0)
    }

    /// Positions of the points relative to [`Geometry::origin`], metres; empty when `P` is absent.
    pub fn positions(&self) -> &[[f32; 3]] {
        self.point_vectors("P").unwrap_or(&[])
    }

    /// The triangles, empty unless this is a triangle mesh.
    pub fn triangles(&self) -> &[[u32; 3]] {
        match &self.primitives {
            Primitives::Triangles { vertices } => vertices.as_chunks::<3>().0,
            _ => &[],
        }
    }

    /// Number of elements of an owner.
    pub fn count(&self, owner: Owner) -> usize {
        match (owner, &self.primitives) {
            (Owner::Point, _) => self.points,
            (Owner::Detail, _) => 1,
            (_, Primitives::Points) => 0,
            (Owner::Vertex, Primitives::Polylines { vertices, .. } | Primitives::Triangles { vertices }) => {
                vertices.len()
            }
            (Owner::Primitive, Primitives::Polylines { starts, .. }) => starts.len().saturating_sub(1),
            (Owner::Primitive, Primitives::Triangles { vertices }) => vertices.len() / 3,
        }
    }

    /// Positions of the points in the world, m, for output nodes; the error says why there are none.
    pub fn in_world(&self) -> Result<Vec<[f32; 3]>, String> {
        if let Some(defect) = self.defect() {
            return Err(defect);
        }
        if self.positions().len() != self.points {
            return Err("its points have no `P` of three f32".into());
        }
        let origin = DVec3::from(self.origin);
        let moved = |p: &[f32; 3]| (origin + Vec3::from(*p).as_dvec3()).as_vec3().to_array();
        Ok(self.positions().iter().map(moved).collect())
    }

    /// Lowest and highest corner of the points' bounding box, relative to the origin, metres; `None` without points.
    pub fn bounds(&self) -> Option<([f32; 3], [f32; 3])> {
        let first = *self.positions().first()?;
        Some(self.positions().iter().fold((first, first), |(lo, hi), p| {
            (std::array::from_fn(|c| lo[c].min(p[c])), std::array::from_fn(|c| hi[c].max(p[c])))
        }))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let topology = match &self.primitives {
            Primitives::Points => 0,
            Primitives::Polylines { starts, vertices } => 4 * (starts.len() + vertices.len()),
            Primitives::Triangles { vertices } => 4 * vertices.len(),
        };
        topology + self.attributes.iter().map(|a| a.values.bytes()).sum::<usize>()
    }

    /// What is wrong with the shape, if anything: array lengths, point numbers out of range.
    pub fn defect(&self) -> Option<String> {
        let vertices: &[u32] = match &self.primitives {
            Primitives::Points => &[],
            Primitives::Polylines { starts, vertices } => {
                let ends = (starts.first().copied(), starts.last().map(|&e| e as usize));
                if starts.windows(2).any(|w| w[0] > w[1]) || ends != (Some(0), Some(vertices.len())) {
                    return Some("polyline offsets do not cover the vertices in order".into());
                }
                vertices
            }
            Primitives::Triangles { vertices } if vertices.len() % 3 != 0 => {
                return Some(format!("{} triangle vertices are no multiple of 3", vertices.len()));
            }
            Primitives::Triangles { vertices } => vertices,
        };
        if let Some(v) = vertices.iter().find(|&&v| v as usize >= self.points) {
            return Some(format!("a primitive names point {v}, but there are {} points", self.points));
        }
        self.attributes.iter().find_map(|a| {
            let expected = self.count(a.owner).saturating_mul(a.components);
            (a.values.len() != expected).then(|| {
                format!("attribute `{}` holds {} values, expected {expected}", a.name, a.values.len())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defects_are_named() {
        let mut g = Geometry::from_triangles(&[[0.0; 3]; 3], &[[0, 1, 3]]);
        assert!(g.defect().is_some_and(|d| d.contains("point 3")));
        g = Geometry::from_triangles(&[[0.0; 3]; 3], &[[0, 1, 2]]);
        assert_eq!(g.defect(), None);
        assert_eq!(g.in_world(), Ok(vec![[0.0; 3]; 3]));
        g.set(Owner::Point, "P", 3, Array::F64(vec![0.0; 9]));
        assert!(g.in_world().unwrap_err().contains("no `P`"));
        g.set(Owner::Primitive, "mass", 1, Array::F32(vec![1.0, 2.0]));
        assert!(g.defect().is_some_and(|d| d.contains("`mass` holds 2 values, expected 1")));
    }

    #[test]
    fn setting_an_attribute_twice_replaces_it() {
        let mut g = Geometry::from_points(&[[1.0, 2.0, 3.0]]);
        let before = g.attributes[0].value_id;
        g.set(Owner::Point, "P", 3, Array::F32(vec![4.0, 5.0, 6.0]));
        assert_eq!(g.attributes.len(), 1);
        assert_ne!(g.attributes[0].value_id, before);
        assert_eq!(g.positions(), &[[4.0, 5.0, 6.0]]);
    }
}
