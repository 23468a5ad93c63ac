//! The layer of one frame: what changes from frame to frame, each value at the time of its frame.

use super::super::OutputError;
use super::super::framing::Bounds;
use super::super::surface;
use super::identifier;
use super::layer::{Layer, Prim, Property, UpAxis, units};
use super::parts::{Content, Kind, Present, Shared};
use super::value::{Value, token};
use crate::data::{Array, Geometry, Owner};
use glam::{DVec3, Vec3};

/// The attributes of a kind of part that have values at frames.
pub fn attributes(kind: Kind) -> Vec<Property> {
    let points = [("point3f[]", "points"), ("vector3f[]", "velocities"), ("float3[]", "extent")];
    let faces = [("int[]", "faceVertexCounts"), ("int[]", "faceVertexIndices")];
    let particles = [("float[]", "widths"), ("int64[]", "ids")];
    let place = [("double3", "xformOp:translate"), ("quatf", "xformOp:orient")];
    let named: Vec<(&'static str, &str)> = match kind {
        Kind::Liquid | Kind::Mesh => points.into_iter().chain(faces).collect(),
        Kind::Points => points.into_iter().chain(particles).collect(),
        Kind::Body => place.to_vec(),
        Kind::Volume => vec![points[2]],
        Kind::Still => Vec::new(),
    };
    let mut all: Vec<Property> =
        named.into_iter().map(|(kind, name)| Property::attribute(kind, name)).collect();
    let normals = || Property::attribute("normal3f[]", "normals");
    match kind {
        Kind::Liquid => all.push(normals().per_point()),
        Kind::Mesh => all.push(normals().per_corner()),
        Kind::Points | Kind::Body | Kind::Volume | Kind::Still => {}
    }
    all
}

/// The layer of a frame.
pub fn layer(root: &str, number: i32, parts: &[Present], threads: u32) -> Result<Layer, OutputError> {
    let mut objects: Vec<&str> = parts.iter().map(|p| p.key.0.as_str()).collect();
    objects.dedup();
    let mut prims = Vec::new();
    for object in objects {
        let own = parts.iter().filter(|p| p.key.0 == object);
        let children: Vec<Prim> = own.map(|p| prim(p, number, threads)).collect::<Result<_, _>>()?;
        prims.push(Prim::over(&identifier(object)).holds_all(children));
    }
    Ok(Layer { fields: units(UpAxis::Y), root: Prim::over(root).holds_all(prims) })
}

/// The samples of a part.
fn prim(part: &Present, number: i32, threads: u32) -> Result<Prim, OutputError> {
    let mut values = match &part.content {
        Content::Surface(object, grid, velocity) => {
            let mesh = surface::polygons(object, grid, threads)?;
            let mut values = vec![("normals", vectors(&surface::normals(&mesh.points, &mesh.quads)))];
            values.extend(velocity.map(|v| ("velocities", vectors(&surface::sampled(v, &mesh.points)))));
            let corners = mesh.quads.iter().map(|_| 4).collect();
            values.extend(faces(corners, mesh.quads.as_flattened()));
            values.extend(placed(&mesh.points, 0.0));
            values
        }
        Content::Mesh(geometry) => {
            let mut values = polygons(geometry, &part.key)?;
            let (points, triangles) = (geometry.positions(), geometry.triangles());
            let normals = match part.kind {
                Kind::Liquid => surface::normals(points, triangles),
                _ => surface::creased(points, triangles),
            };
            values.push(("normals", vectors(&normals)));
            values
        }
        Content::Points(geometry, width) => points(geometry, *width, &part.key)?,
        Content::Place(at, turn) => {
            let place = Value::Double3(at.to_array());
            vec![("xformOp:translate", place), ("xformOp:orient", Value::Quaternion(*turn))]
        }
        Content::Space(bounds) => vec![("extent", extent(Some(*bounds), 0.0))],
        Content::Nothing => Vec::new(),
    };
    values.push(("visibility", token("inherited")));
    let mut declared = attributes(part.kind);
    declared.push(Property::attribute("token", "visibility"));
    let sampled = declared.into_iter().filter_map(|property| {
        let at = values.iter().position(|(name, _)| *name == property.name)?;
        Some(property.at(vec![(f64::from(number), values.swap_remove(at).1)]))
    });
    Ok(Prim::over(&identifier(&part.key.1)).has_all(sampled))
}

/// The layer of a mesh that several bodies or all frames share: its root holds the mesh.
pub fn rest(shared: &Shared) -> Result<Layer, OutputError> {
    let key = (shared.object.to_owned(), String::from("geometry"));
    let mut values = polygons(shared.mesh, &key)?;
    let normals = surface::creased(shared.mesh.positions(), shared.mesh.triangles());
    values.push(("normals", vectors(&normals)));
    let own = attributes(Kind::Mesh).into_iter().filter_map(|property| {
        let at = values.iter().position(|(name, _)| *name == property.name && *name != "velocities")?;
        Some(property.is(values.swap_remove(at).1))
    });
    let mesh = Prim::def("Mesh", super::REST).has(Property::polygonal()).has_all(own);
    Ok(Layer { fields: units(UpAxis::Y), root: Prim::def("Xform", &identifier(shared.object)).holds(mesh) })
}

type Values = Vec<(&'static str, Value)>;

fn polygons(geometry: &Geometry, key: &(String, String)) -> Result<Values, OutputError> {
    let positions = world(geometry, key)?;
    let corners = geometry.triangles().iter().map(|_| 3).collect();
    let mut values = faces(corners, geometry.triangles().as_flattened());
    values.extend(placed(&positions, 0.0));
    values.extend(geometry.point_vectors("v").map(|v| ("velocities", vectors(v))));
    Ok(values)
}

fn points(geometry: &Geometry, width: f64, key: &(String, String)) -> Result<Values, OutputError> {
    let positions = world(geometry, key)?;
    let own = |name: &str| geometry.attribute(Owner::Point, name).filter(|a| a.components == 1);
    let widths: Vec<f32> = match own("pscale") {
        Some(radius) => {
            (0..geometry.points).map(|n| 2.0 * radius.values.get(n).unwrap_or(0.0) as f32).collect()
        }
        None => vec![width as f32; geometry.points],
    };
    let widest = widths.iter().copied().fold(0.0, f32::max);
    let mut values = placed(&positions, widest);
    values.push(("widths", Value::Floats(widths)));
    values.extend(geometry.point_vectors("v").map(|v| ("velocities", vectors(v))));
    let ids = own("id").map(|a| match &*a.values {
        Array::I64(ids) => ids.clone(),
        other => (0..other.len()).map(|n| other.get(n).unwrap_or(0.0) as i64).collect(),
    });
    values.extend(ids.map(|ids| ("ids", Value::Longs(ids))));
    Ok(values)
}

/// Positions in the world, m.
fn world(geometry: &Geometry, (object, name): &(String, String)) -> Result<Vec<[f32; 3]>, OutputError> {
    let refuse = |why| OutputError::new(format!("`{name}` of `{object}` cannot be written: {why}"));
    geometry.in_world().map_err(refuse)
}

/// Points and the box around them.
fn placed(points: &[[f32; 3]], width: f32) -> Values {
    let bounds = Bounds::around(points.iter().map(|p| Vec3::from(*p).as_dvec3()));
    vec![("points", vectors(points)), ("extent", extent(bounds, width))]
}

/// The corners of a box, wider by half a width on each side; of nothing, the origin.
fn extent(bounds: Option<Bounds>, width: f32) -> Value {
    let half = DVec3::splat(0.5 * f64::from(width));
    let ends = bounds.map_or([DVec3::ZERO; 2], |b| [b.min - half, b.max + half]);
    vectors(&ends.map(|end| end.as_vec3().to_array()))
}

fn faces(counts: Vec<i32>, corners: &[u32]) -> Values {
    let corners = corners.iter().map(|&n| n as i32).collect();
    vec![("faceVertexCounts", Value::Ints(counts)), ("faceVertexIndices", Value::Ints(corners))]
}

fn vectors(values: &[[f32; 3]]) -> Value {
    Value::Vectors(values.to_vec())
}
