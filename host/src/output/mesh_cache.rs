//! `mesh_cache`: the surfaces of liquids as polygons, one `.ply` or `.obj` file a frame.

use super::{FRAME, Frame, Offer, Output, OutputError, Shot, go_on, save, surface};
use crate::data::{Drawn, Object};
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use openvdb_sys::Polygons;
use std::path::PathBuf;

/// The node at work.
pub struct MeshCache {
    shot: Shot,
}

/// Its description.
pub fn node_type() -> NodeType {
    let help = "Writes the surfaces of liquids as meshes, one file per frame, for programs that read neither USD nor OpenVDB. Polygons have four corners; their number changes from frame to frame. They go on two voxels into walls, so that no gap shows there.";
    NodeType::host("meniscus.mesh_cache", "Mesh Cache", NodeKind::Output, (1, None), help).with(vec![
        ParamSpec::menu(
            "format",
            "Format",
            &[("ply", "PLY"), ("obj", "OBJ")],
            "PLY: binary, small, with normals (nx ny nz) and the liquid's velocity in m/s (vx vy vz) for motion blur. OBJ: text, several times as large, with normals and without velocities.",
        ),
    ])
}

impl MeshCache {
    /// A node for a shot.
    pub fn new(shot: Shot) -> Self {
        Self { shot }
    }
}

impl Output for MeshCache {
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let format = frame.params.text("format");
        let mut written = Vec::new();
        for object in &frame.scene.objects {
            let Some((_, grid, _)) = object.drawn().find(|(.., how)| *how == Drawn::Liquid) else { continue };
            go_on(&self.shot.halt)?;
            let mesh = surface::polygons(object, grid, self.shot.threads)?;
            let bytes = match format {
                "obj" => obj(&mesh),
                _ => ply(&mesh, velocities(frame, object, &mesh)),
            };
            let path = frame.file(&stem(frame.node, &object.name, frame.offer), format);
            save(&path, &bytes)?;
            written.push(path);
        }
        Ok(written)
    }

    fn files(&self, node: &str, params: &Params, offer: &Offer) -> Vec<String> {
        let name = |object: &str| format!("{}.{FRAME}.{}", stem(node, object, offer), params.text("format"));
        liquids(offer).map(name).collect()
    }
}

/// The objects that are liquids at some time: those with a grid that is drawn so.
fn liquids(offer: &Offer) -> impl Iterator<Item = &str> {
    let is_liquid = |o: &&super::Offered| o.about.values().any(|a| a.shown.drawn == Some(Drawn::Liquid));
    offer.objects.iter().filter(is_liquid).map(|o| o.object.as_str())
}

/// Name of an object's files: that of the node, and the object's behind it where there are several liquids.
fn stem(node: &str, object: &str, offer: &Offer) -> String {
    if liquids(offer).count() > 1 { format!("{node}_{object}") } else { node.to_owned() }
}

/// Refuses a shot without liquids.
pub(super) fn check(offer: &Offer) -> Result<(), OutputError> {
    match liquids(offer).next() {
        Some(_) => Ok(()),
        None => {
            Err(OutputError::new("nothing upstream has a liquid's surface; wire in the solver of a liquid"))
        }
    }
}

/// The liquid's velocity at the points, m/s.
fn velocities(frame: &Frame, object: &Object, mesh: &Polygons) -> Option<Vec<[f32; 3]>> {
    let offered = frame.offer.objects.iter().find(|o| o.object == object.name);
    surface::velocity(object, offered).map(|grid| surface::sampled(grid, &mesh.points))
}

/// A binary PLY file.
fn ply(mesh: &Polygons, velocities: Option<Vec<[f32; 3]>>) -> Vec<u8> {
    let mut names = vec!["x", "y", "z", "nx", "ny", "nz"];
    names.extend(velocities.iter().flat_map(|_| ["vx", "vy", "vz"]));
    let properties: String = names.iter().map(|name| format!("property float {name}\n")).collect();
    let (points, faces) = (mesh.points.len(), mesh.quads.len());
    let mut out = format!(
        "ply\nformat binary_little_endian 1.0\ncomment {}, metres, Y up\nelement vertex {points}\n{properties}\
         element face {faces}\nproperty list uchar uint vertex_indices\nend_header\n",
        super::creator()
    )
    .into_bytes();
    for (n, (point, normal)) in mesh.points.iter().zip(surface::normals(mesh)).enumerate() {
        let velocity = velocities.as_ref().map(|v| v[n]);
        let numbers = point.iter().chain(&normal).chain(velocity.iter().flatten());
        numbers.for_each(|number| out.extend(number.to_le_bytes()));
    }
    for quad in &mesh.quads {
        out.push(4);
        quad.iter().for_each(|corner| out.extend(corner.to_le_bytes()));
    }
    out
}

/// A Wavefront OBJ file.
fn obj(mesh: &Polygons) -> Vec<u8> {
    let mut out = format!("# {}, metres, Y up\n", super::creator());
    let mut vectors = |key: &str, all: &[[f32; 3]]| {
        all.iter().for_each(|[x, y, z]| out.push_str(&format!("{key} {x} {y} {z}\n")));
    };
    vectors("v", &mesh.points);
    vectors("vn", &surface::normals(mesh));
    for quad in &mesh.quads {
        let [a, b, c, d] = quad.map(|n| n + 1);
        out.push_str(&format!("f {a}//{a} {b}//{b} {c}//{c} {d}//{d}\n"));
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::test_scene::{H, RADIUS, defaults, offer, scene, spin};
    use super::*;
    use crate::geometry::{MeshFormat, parse_mesh};
    use crate::node::Value;
    use std::sync::Arc;

    fn write(format: &str, threads: u32) -> Vec<u8> {
        let (folder, scene) = (tempfile::tempdir().unwrap(), scene());
        let mut params = defaults(&node_type());
        params.values.insert("format".into(), Value::Text(format.into()));
        let frame = Frame {
            number: 3,
            fps: 24.0,
            node: "mesh",
            scene: &scene,
            offer: &offer(&scene),
            params: &params,
            folder: folder.path(),
        };
        let shot = Shot {
            frames: (1, 9),
            fps: 24.0,
            threads,
            params: params.clone(),
            halt: Arc::default(),
            extents: Vec::new(),
            still: Vec::new(),
            volumes: Vec::new(),
        };
        let mut node = MeshCache::new(shot);
        let files = node.write(&frame).unwrap();
        assert_eq!(files, [folder.path().join(format!("mesh.0003.{format}"))]);
        assert_eq!(node.files("mesh", &params, frame.offer), [format!("mesh.{FRAME}.{format}")]);
        std::fs::read(&files[0]).unwrap()
    }

    #[test]
    fn what_is_written_is_the_ball_that_our_own_readers_find() {
        assert!(write("ply", 1) == write("ply", 5));
        for format in ["ply", "obj"] {
            let bytes = write(format, 2);
            let kind = if format == "ply" { MeshFormat::Ply } else { MeshFormat::Obj };
            let mesh = parse_mesh(&bytes, kind).unwrap();
            let p = mesh.positions();
            let volume: f64 = mesh
                .triangles()
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(|n| glam::Vec3::from(p[n as usize]).as_dvec3());
                    a.dot(b.cross(c)) / 6.0
                })
                .sum();
            let wanted = 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
            assert!((volume / wanted - 1.0).abs() < 0.05, "{format}: {volume} of {wanted}, outwards");
            assert!(p.iter().all(|p| (f64::from(glam::Vec3::from(*p).length()) - RADIUS).abs() < 0.1 * H));
        }
        let mesh = parse_mesh(&write("ply", 1), MeshFormat::Ply).unwrap();
        for (p, v) in mesh.positions().iter().zip(mesh.point_vectors("v").unwrap()) {
            let wanted = spin(p.map(f64::from));
            assert!((0..3).all(|c| (f64::from(v[c]) - wanted[c]).abs() < 1e-5));
        }
    }

    #[test]
    fn a_shot_without_a_liquid_is_refused() {
        let mut offer = offer(&scene());
        assert_eq!(check(&offer), Ok(()));
        offer.objects.clear();
        assert!(check(&offer).unwrap_err().sentence.contains("solver of a liquid"));
    }
}
