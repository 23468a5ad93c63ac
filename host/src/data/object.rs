//! Objects: the simulated things, each a set of named ports with data.

use super::{Array, Geometry, Grid, Owner, Primitives, Table};
use glam::{DMat3, DQuat, DVec3, Vec3};
use std::collections::BTreeMap;

/// The data of one port.
#[derive(Clone, Debug)]
pub enum Data {
    /// A sparse grid.
    Grid(Grid),
    /// Points, polylines or triangles.
    Geometry(Geometry),
    /// Named arrays.
    Table(Table),
}

impl Data {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Data::Grid(g) => g.bytes(),
            Data::Geometry(g) => g.bytes(),
            Data::Table(t) => t.bytes(),
        }
    }

    /// `grid`, `geometry` or `table`.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Grid(_) => "grid",
            Data::Geometry(_) => "geometry",
            Data::Table(_) => "table",
        }
    }
}

/// How long a port's data lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Part of the simulated state: written into checkpoints.
    State,
    /// Scratch of one substep.
    Substep,
}

/// What a grid means to other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GridClass {
    /// Nothing in particular.
    #[default]
    Plain,
    /// A signed distance.
    LevelSet,
    /// A density.
    Fog,
}

/// How pictures draw a level set, or all level sets and the mesh so drawn at each of some points. A mesh without such points is
/// a surface where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawn {
    /// Like water.
    Liquid,
    /// Like glass or clay.
    Solid,
    /// Points, each as a white ball of its `pscale`.
    Dots,
}

/// What data is to output nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// Of a grid.
    pub class: GridClass,
    /// Of a level set, or of points; `None`: not at all.
    pub drawn: Option<Drawn>,
}

/// One named port of an object.
#[derive(Clone, Debug)]
pub struct Port {
    /// What it holds.
    pub data: Data,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// What it is to output nodes; known in scenes alone.
    pub shown: Shown,
}

/// A simulated object: a liquid, a collider, a body.
#[derive(Clone, Debug)]
pub struct Object {
    /// Name of the node that made it.
    pub name: String,
    /// Type of that node, such as `meniscus.liquid_object`.
    pub kind: String,
    /// Its data by port name.
    pub ports: BTreeMap<String, Port>,
    /// Time by which its velocities are ahead of its positions, s: half a substep, once it has taken one.
    pub lead: f64,
}

impl Object {
    /// An object without data.
    pub fn new(name: &str, kind: &str) -> Self {
        Self { name: name.to_owned(), kind: kind.to_owned(), ports: BTreeMap::new(), lead: 0.0 }
    }

    /// The grid of that port.
    pub fn grid(&self, port: &str) -> Option<&Grid> {
        if let Data::Grid(g) = &self.ports.get(port)?.data { Some(g) } else { None }
    }

    /// The geometry of that port.
    pub fn geometry(&self, port: &str) -> Option<&Geometry> {
        if let Data::Geometry(g) = &self.ports.get(port)?.data { Some(g) } else { None }
    }

    /// The table of that port.
    pub fn table(&self, port: &str) -> Option<&Table> {
        if let Data::Table(t) = &self.ports.get(port)?.data { Some(t) } else { None }
    }

    /// Puts data on a port.
    pub fn set(&mut self, port: &str, lifetime: Lifetime, data: Data) {
        self.show(port, lifetime, Shown::default(), data);
    }

    /// Puts data on a port, and says what it is to output nodes.
    pub fn show(&mut self, port: &str, lifetime: Lifetime, shown: Shown, data: Data) {
        self.ports.insert(port.to_owned(), Port { data, lifetime, shown });
    }

    /// The level sets that pictures show, by port name.
    pub fn drawn(&self) -> impl Iterator<Item = (&str, &Grid, Drawn)> {
        self.ports.iter().filter_map(|(name, port)| match (&port.data, port.shown.drawn) {
            (Data::Grid(grid), Some(drawn)) => Some((name.as_str(), grid, drawn)),
            _ => None,
        })
    }

    /// The geometry that is drawn so: points are places, a mesh is what stands at each of them.
    pub fn drawn_geometry(&self, drawn: Drawn) -> impl Iterator<Item = &Geometry> {
        self.ports.values().filter_map(move |port| match &port.data {
            Data::Geometry(g) if port.shown.drawn == Some(drawn) => Some(g),
            _ => None,
        })
    }

    /// Where pictures show the level sets that are drawn so, one place for each point of the geometry that says so; `None` where
    /// none does, and they are shown where they lie.
    pub fn places(&self, drawn: Drawn) -> Option<Vec<Place>> {
        let points = self.drawn_geometry(drawn).find(|g| g.primitives == Primitives::Points)?;
        let turns = match points.attribute(Owner::Point, "orient").map(|a| (a.components, &*a.values)) {
            Some((4, Array::F32(v))) => v.as_chunks::<4>().0,
            _ => &[],
        };
        let ids = points.attribute(Owner::Point, "id").map(|a| &a.values);
        let origin = DVec3::from(points.origin);
        let place = |(n, p): (usize, &[f32; 3])| {
            let turn = turns.get(n).map_or(DQuat::IDENTITY, |q| DQuat::from_array(q.map(f64::from)));
            let at = origin + Vec3::from(*p).as_dvec3();
            let [x, y, z] = DMat3::from_quat(turn.normalize()).to_cols_array_2d();
            Place {
                id: ids.and_then(|ids| ids.get(n)).map_or(n as i64, |id| id as i64),
                map: [
                    x[0], x[1], x[2], 0.0, y[0], y[1], y[2], 0.0, z[0], z[1], z[2], 0.0, at.x, at.y, at.z,
                    1.0,
                ],
            }
        };
        Some(points.positions().iter().enumerate().map(place).collect())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.ports.values().map(|p| p.data.bytes()).sum()
    }
}

/// Where pictures show a level set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// `id` of the point, which it keeps while others come and go; its number where points have none.
    pub id: i64,
    /// Row-major map from where the level set lies.
    pub map: [f64; 16],
}

/// The objects an output node sees, in graph order.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The objects.
    pub objects: Vec<Object>,
}

impl Scene {
    /// The object of that name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.objects.iter().find(|o| o.name == name)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.objects.iter().map(Object::bytes).sum()
    }
}
