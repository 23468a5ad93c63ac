//! What of a frame goes into a shot: parts, each a prim of its own.

use super::super::framing::Bounds;
use super::super::pattern::Pattern;
use super::super::surface;
use super::super::{Frame, Offered, Shot};
use crate::data::{Array, Drawn, Geometry, Grid, Object, Owner, Primitives};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;

/// Width of points of which nothing is known, m.
const POINT_WIDTH: f64 = 0.01;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Polygons of a liquid: of its level set, or as a node made them.
    Liquid,
    /// A mesh that may change at every frame.
    Mesh,
    /// Points.
    Points,
    /// A mesh that moves rigidly.
    Body,
    /// A mesh that never changes.
    Still,
    /// Grids in the files of a VDB cache.
    Volume,
}

impl Kind {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Liquid, "liquid"),
        (Self::Mesh, "polygons"),
        (Self::Points, "points"),
        (Self::Body, "body"),
        (Self::Still, "still"),
        (Self::Volume, "volume"),
    ];
}

/// Object and name of a part.
pub type Key = (String, String);

/// The parts that a shot has or had, by object and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts(pub BTreeMap<Key, Kind>);

impl Parts {
    /// One text for each: kind, object and name.
    pub fn to_texts(&self) -> Vec<String> {
        let word = |kind| Kind::ALL.iter().find(|(k, _)| *k == kind).map_or("", |(_, word)| word);
        self.0.iter().map(|((object, name), kind)| format!("{} {object} {name}", word(*kind))).collect()
    }

    /// Reads these texts; what is none is left out.
    pub fn from_texts(texts: &[String]) -> Self {
        let part = |text: &String| {
            let mut words = text.split(' ');
            let word = words.next()?;
            let kind = Kind::ALL.iter().find(|(_, w)| *w == word)?.0;
            Some(((words.next()?.to_owned(), words.next()?.to_owned()), kind))
        };
        Self(texts.iter().filter_map(part).collect())
    }

    /// The parts of an object.
    pub fn of<'a>(&'a self, object: &'a str) -> impl Iterator<Item = (&'a str, Kind)> {
        self.0.iter().filter(move |((o, _), _)| o == object).map(|((_, name), kind)| (name.as_str(), *kind))
    }

    /// The objects that have parts.
    pub fn objects(&self) -> Vec<&str> {
        let mut objects: Vec<&str> = self.0.keys().map(|(object, _)| object.as_str()).collect();
        objects.dedup();
        objects
    }
}

/// What there is of a part at a frame.
pub enum Content<'a> {
    /// A level set of an object, and the velocity of what it encloses.
    Surface(&'a Object, &'a Grid, Option<&'a Grid>),
    /// A mesh where it is.
    Mesh(&'a Geometry),
    /// Points, and how wide those are that do not say so, m.
    Points(&'a Geometry, f64),
    /// Where the rest frame of a body is (m), and how it is turned (x y z w).
    Place(DVec3, [f32; 4]),
    /// What never changes.
    Nothing,
    /// Space that grids take up, m.
    Space(Bounds),
}

/// A part at a frame.
pub struct Present<'a> {
    /// Object and name.
    pub key: Key,
    /// What it is.
    pub kind: Kind,
    /// What there is of it.
    pub content: Content<'a>,
}

/// A mesh that several bodies or all frames share, in its rest frame.
pub struct Shared<'a> {
    /// The object.
    pub object: &'a str,
    /// The mesh.
    pub mesh: &'a Geometry,
    /// The number of the object among those in the shot, if the mesh is that of bodies.
    pub bodies: Option<usize>,
}

/// The objects that are chosen and what is said of them.
fn chosen<'a>(frame: &Frame<'a>) -> impl Iterator<Item = (&'a Object, Option<&'a Offered>)> {
    let pattern = Pattern::new(frame.params.text("objects"));
    let (scene, offer) = (frame.scene, frame.offer);
    let objects = scene.objects.iter().filter(move |o| pattern.matches(&o.name)).collect::<Vec<_>>();
    objects.into_iter().map(|o| (o, offer.objects.iter().find(|offered| offered.object == o.name)))
}

/// The parts that are there at a frame.
pub fn present<'a>(frame: &Frame<'a>, shot: &Shot, known: &Parts) -> Vec<Present<'a>> {
    let mut found = Vec::new();
    let pattern = Pattern::new(frame.params.text("objects"));
    let wanted = frame.offer.wanted(frame.params.texts("geometry"), |o| &o.geometry);
    let is_written = |o: &Offered| {
        let is_mesh = |name: &&String| wanted.contains(&name.as_str()) && o.is_liquid(name);
        pattern.matches(&o.object) && o.geometry.iter().any(|name| is_mesh(&name))
    };
    for (object, offered) in chosen(frame) {
        let mut add = |name: &str, kind, content| {
            found.push(Present { key: (object.name.clone(), name.to_owned()), kind, content });
        };
        let is_meshed = frame.offer.is_meshed(&object.name, is_written);
        if frame.params.toggle("surfaces") && !is_meshed && object.places(Drawn::Liquid).is_none() {
            for (name, grid, _) in object.drawn().filter(|(_, _, drawn)| *drawn == Drawn::Liquid) {
                add(name, Kind::Liquid, Content::Surface(object, grid, surface::velocity(object, offered)));
            }
        }
        bodies(object).into_iter().flatten().for_each(|(name, content)| add(&name, Kind::Body, content));
        for (name, geometry) in geometry(frame, object) {
            let is_still = shot.still.contains(&object.name);
            let before = known.0.get(&(object.name.clone(), name.to_owned())).copied();
            let is_liquid = is_surface(object, name, geometry);
            match kind_of(geometry, is_still, is_liquid).or(before) {
                Some(Kind::Points) => {
                    add(name, Kind::Points, Content::Points(geometry, width(frame, offered)));
                }
                Some(Kind::Still) => add(name, Kind::Still, Content::Nothing),
                Some(kind @ (Kind::Liquid | Kind::Mesh)) => add(name, kind, Content::Mesh(geometry)),
                _ => {}
            }
        }
        for cache in caches(frame, shot, &object.name) {
            let grids = shot.volumes.iter().filter(|v| v.cache == cache && v.object == object.name);
            let bounds = grids.filter_map(|v| leaves_of(object.grid(&v.grid)?)).reduce(Bounds::union);
            if let Some(bounds) = bounds {
                add(&volume_name(cache), Kind::Volume, Content::Space(bounds));
            }
        }
    }
    found
}

/// Name of the part that the grids of a cache make.
pub fn volume_name(cache: &str) -> String {
    format!("{cache}_volume")
}

/// The VDB caches with grids of an object that the shot points at.
pub fn caches<'a>(frame: &Frame, shot: &'a Shot, object: &str) -> Vec<&'a str> {
    let pattern = Pattern::new(frame.params.text("volumes"));
    let of_object = shot.volumes.iter().filter(|v| v.object == object && pattern.matches(&v.cache));
    let mut caches: Vec<&str> = of_object.map(|v| v.cache.as_str()).collect();
    caches.dedup();
    caches
}

/// The meshes at rest that a frame's parts share.
pub fn shared<'a>(frame: &Frame<'a>, shot: &Shot) -> Vec<Shared<'a>> {
    let mut found = Vec::new();
    for (number, (object, _)) in chosen(frame).enumerate() {
        let still = shot.still.contains(&object.name);
        let bodies = bodies(object).map(|_| number);
        let mesh = match bodies {
            Some(_) => rest_mesh(object),
            None => geometry(frame, object)
                .into_iter()
                .map(|(_, g)| g)
                .find(|g| kind_of(g, still, false) == Some(Kind::Still)),
        };
        found.extend(mesh.map(|mesh| Shared { object: &object.name, mesh, bodies }));
    }
    found
}

/// What a geometry is to be; `None` for one without points, and for polylines.
fn kind_of(geometry: &Geometry, is_still: bool, is_liquid: bool) -> Option<Kind> {
    match geometry.primitives {
        _ if geometry.points == 0 => None,
        Primitives::Points => Some(Kind::Points),
        Primitives::Polylines { .. } => None,
        Primitives::Triangles { .. } if is_liquid => Some(Kind::Liquid),
        Primitives::Triangles { .. } => Some(if is_still { Kind::Still } else { Kind::Mesh }),
    }
}

/// The geometry of an object that was asked for. Bodies go as bodies: their meshes where they are go only by name.
fn geometry<'a>(frame: &Frame<'a>, object: &'a Object) -> Vec<(&'a str, &'a Geometry)> {
    let given = frame.params.texts("geometry");
    let wanted = frame.offer.wanted(given, |o| &o.geometry);
    let has_bodies = given.is_empty() && rest_mesh(object).is_some();
    let is_wanted = |name: &str, geometry: &Geometry| {
        wanted.contains(&name) && (!has_bodies || geometry.triangles().is_empty())
    };
    let is_place = |drawn: Option<Drawn>| drawn.is_some_and(|how| how != Drawn::Dots);
    let all = object.ports.iter().filter_map(|(name, port)| {
        let geometry = object.geometry(name)?;
        let goes = !is_place(port.shown.drawn) || is_surface(object, name, geometry);
        goes.then_some((name.as_str(), geometry))
    });
    all.filter(|(name, geometry)| is_wanted(name, geometry)).collect()
}

/// Whether a geometry is the surface of a liquid, where it is.
fn is_surface(object: &Object, name: &str, geometry: &Geometry) -> bool {
    let drawn = object.ports.get(name).and_then(|port| port.shown.drawn);
    drawn == Some(Drawn::Liquid)
        && matches!(geometry.primitives, Primitives::Triangles { .. })
        && object.places(Drawn::Liquid).is_none()
}

/// The mesh of an object's bodies.
fn rest_mesh(object: &Object) -> Option<&Geometry> {
    object.drawn_geometry(Drawn::Solid).find(|g| matches!(g.primitives, Primitives::Triangles { .. }))
}

/// Names and places of an object's bodies; `None` where it has none with a mesh.
fn bodies(object: &Object) -> Option<Vec<(String, Content<'_>)>> {
    rest_mesh(object)?;
    let points = object.drawn_geometry(Drawn::Solid).find(|g| g.primitives == Primitives::Points)?;
    let turns = match points.attribute(Owner::Point, "orient").map(|a| (a.components, &*a.values)) {
        Some((4, Array::F32(v))) => v.as_chunks::<4>().0,
        _ => &[],
    };
    let ids = points.attribute(Owner::Point, "id").map(|a| &a.values);
    let origin = DVec3::from(points.origin);
    let body = |(n, p): (usize, &[f32; 3])| {
        let id = ids.and_then(|ids| ids.get(n)).map_or(n as i64, |id| id as i64);
        let turn = turns.get(n).copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
        (format!("body_{id}"), Content::Place(origin + Vec3::from(*p).as_dvec3(), turn))
    };
    Some(points.positions().iter().enumerate().map(body).collect())
}

/// How wide points are that do not say so, m.
fn width(frame: &Frame, offered: Option<&Offered>) -> f64 {
    let given = frame.params.number("point_width");
    let apart = || offered.and_then(|o| o.separation);
    if given > 0.0 { given } else { apart().unwrap_or(POINT_WIDTH) }
}

/// The space that a grid's leaves take up, m.
fn leaves_of(grid: &Grid) -> Option<Bounds> {
    Bounds::of_leaves(&grid.origins, &grid.transform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_through_texts() {
        let key = |object: &str, name: &str| (object.to_owned(), name.to_owned());
        let parts = Parts(BTreeMap::from([
            (key("water", "surface"), Kind::Liquid),
            (key("ice", "body_12"), Kind::Body),
            (key("water", "cache_volume"), Kind::Volume),
        ]));
        let mut texts = parts.to_texts();
        assert_eq!(Parts::from_texts(&texts), parts);
        assert_eq!(parts.objects(), ["ice", "water"]);
        texts.extend(["moon a b".to_owned(), "body a".to_owned(), String::new()]);
        assert_eq!(Parts::from_texts(&texts), parts);
    }
}
