//! `mesh_cache`: the surfaces of liquids as polygons, one `.ply` or `.obj` file a frame: level sets, and meshes that a node has made.

use super::{FRAME, Frame, Offer, Output, OutputError, Shot, go_on, save, surface};
use crate::data::{Drawn, Object};
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use std::path::PathBuf;

/// The node at work.
pub struct MeshCache {
    shot: Shot,
}

/// Its description.
pub fn node_type() -> NodeType {
    let help = "Writes the surfaces of liquids as meshes, one file per frame, for programs that read neither USD nor OpenVDB. A liquid's level set becomes polygons of four corners, which go on two voxels into walls, so that no gap shows there; a mesh of a liquid that a node has made is written as it is, and where one is wired in, it takes the place of level sets. The number of polygons changes from frame to frame; a frame without liquid has a file without polygons.";
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

    /// The file of an object's level set or mesh, where it has one now.
    fn mesh(&self, frame: &Frame, object: &Object, is_obj: bool) -> Result<Option<Vec<u8>>, OutputError> {
        if let Some((_, grid, _)) = object.drawn().find(|(.., how)| *how == Drawn::Liquid) {
            let made = surface::polygons(object, grid, self.shot.threads)?;
            let normals = surface::normals(&made.points, &made.quads);
            let velocities = if is_obj { None } else { velocities(frame, object, &made.points) };
            let mesh = Mesh { points: made.points, normals, faces: &made.quads };
            return Ok(Some(encoded(&mesh, velocities.as_deref(), is_obj)));
        }
        let made = object.drawn_geometry(Drawn::Liquid).find(|g| !g.triangles().is_empty());
        let Some(made) = made else { return Ok(None) };
        let refuse =
            |why| OutputError::new(format!("the mesh of `{}` cannot be written: {why}", object.name));
        let points = made.in_world().map_err(refuse)?;
        let normals = surface::normals(&points, made.triangles());
        let mesh = Mesh { points, normals, faces: made.triangles() };
        Ok(Some(encoded(&mesh, made.point_vectors("v"), is_obj)))
    }
}

impl Output for MeshCache {
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let format = frame.params.text("format");
        let mut written = Vec::new();
        for name in liquids(frame.offer) {
            go_on(&self.shot.halt)?;
            let object = frame.scene.objects.iter().find(|o| o.name == name);
            let bytes = object.map_or(Ok(None), |object| self.mesh(frame, object, format == "obj"))?;
            // A sequence has a file of each frame, also of those without liquid.
            // It has the attributes of the others, which readers take from the first.
            let bytes = bytes.unwrap_or_else(|| encoded(&Mesh::<3>::default(), Some(&[]), format == "obj"));
            let path = frame.file(&stem(frame.node, name, frame.offer), format);
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

/// The objects whose surfaces are written: those with a mesh of a liquid, and those with a level set that is drawn so and that no mesh
/// stands for.
fn liquids(offer: &Offer) -> impl Iterator<Item = &str> {
    let is_liquid = |o: &&super::Offered| {
        o.about.keys().any(|name| o.is_liquid(name)) && !offer.is_meshed(&o.object, |_| true)
    };
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

/// What goes into a file.
#[derive(Default)]
struct Mesh<'a, const CORNERS: usize> {
    /// m
    points: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    faces: &'a [[u32; CORNERS]],
}

/// The liquid's velocity at the points, m/s.
fn velocities(frame: &Frame, object: &Object, points: &[[f32; 3]]) -> Option<Vec<[f32; 3]>> {
    let offered = frame.offer.objects.iter().find(|o| o.object == object.name);
    surface::velocity(object, offered).map(|grid| surface::sampled(grid, points))
}

/// The bytes of a file; only a .ply has velocities.
fn encoded<const CORNERS: usize>(
    mesh: &Mesh<CORNERS>,
    velocities: Option<&[[f32; 3]]>,
    is_obj: bool,
) -> Vec<u8> {
    if is_obj { obj(mesh) } else { ply(mesh, velocities) }
}

/// A binary PLY file.
fn ply<const CORNERS: usize>(mesh: &Mesh<CORNERS>, velocities: Option<&[[f32; 3]]>) -> Vec<u8> {
    let mut names = vec!["x", "y", "z", "nx", "ny", "nz"];
    names.extend(velocities.iter().flat_map(|_| ["vx", "vy", "vz"]));
    let properties: String = names.iter().map(|name| format!("property float {name}\n")).collect();
    let (points, faces) = (mesh.points.len(), mesh.faces.len());
    let mut out = format!(
        "ply\nformat binary_little_endian 1.0\ncomment {}, metres, Y up\nelement vertex {points}\n{properties}\
         element face {faces}\nproperty list uchar uint vertex_indices\nend_header\n",
        super::creator()
    )
    .into_bytes();
    for (n, (point, normal)) in mesh.points.iter().zip(&mesh.normals).enumerate() {
        let velocity = velocities.map(|v| v[n]);
        let numbers = point.iter().chain(normal).chain(velocity.iter().flatten());
        numbers.for_each(|number| out.extend(number.to_le_bytes()));
    }
    for face in mesh.faces {
        out.push(CORNERS as u8);
        face.iter().for_each(|corner| out.extend(corner.to_le_bytes()));
    }
    out
}

/// A Wavefront OBJ file.
fn obj<const CORNERS: usize>(mesh: &Mesh<CORNERS>) -> Vec<u8> {
    let mut out = format!("# {}, metres, Y up\n", super::creator());
    let mut vectors = |key: &str, all: &[[f32; 3]]| {
        all.iter().for_each(|[x, y, z]| out.push_str(&format!("{key} {x} {y} {z}\n")));
    };
    vectors("v", &mesh.points);
    vectors("vn", &mesh.normals);
    for face in mesh.faces {
        let corners = face.map(|n| format!(" {0}//{0}", n + 1));
        out.push_str(&format!("f{}\n", corners.concat()));
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::test_scene::{H, RADIUS, defaults, offer, scene, spin};
    use super::*;
    use crate::data::{Array, Data, Geometry, GridClass, Lifetime, Owner, Scene, Shown};
    use crate::geometry::{MeshFormat, parse_mesh};
    use crate::node::Value;
    use std::sync::Arc;

    fn write(format: &str, threads: u32) -> Vec<u8> {
        write_of(&scene(), format, threads)
    }

    fn write_of(scene: &Scene, format: &str, threads: u32) -> Vec<u8> {
        write_offered(scene, &offer(scene), format, threads)
    }

    fn write_offered(scene: &Scene, offer: &Offer, format: &str, threads: u32) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let mut params = defaults(&node_type());
        params.values.insert("format".into(), Value::Text(format.into()));
        let frame = Frame {
            number: 3,
            fps: 24.0,
            node: "mesh",
            scene,
            offer,
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
            made_of: Vec::new(),
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
    fn a_mesh_that_a_node_made_is_written_as_it_is() {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let mut made = Geometry::from_triangles(&corners, &faces);
        made.origin = [10.0, 0.0, 0.0];
        let v: Vec<f32> = (0..12).map(|n| n as f32).collect();
        made.set(Owner::Point, "v", 3, Array::F32(v.clone()));
        let mut object = Object::new("render", "meniscus.mesh_object");
        let shown = Shown { class: GridClass::Plain, drawn: Some(Drawn::Liquid) };
        object.show("render_mesh", Lifetime::Substep, shown, Data::Geometry(made));
        let scene = Scene { objects: vec![object] };
        assert_eq!(check(&offer(&scene)), Ok(()));
        for (format, kind) in [("ply", MeshFormat::Ply), ("obj", MeshFormat::Obj)] {
            let mesh = parse_mesh(&write_of(&scene, format, 1), kind).unwrap();
            assert_eq!(mesh.triangles(), faces);
            let moved = corners.map(|[x, y, z]| [x + 10.0, y, z]);
            assert_eq!(mesh.positions(), moved);
        }
        let mesh = parse_mesh(&write_of(&scene, "ply", 1), MeshFormat::Ply).unwrap();
        assert_eq!(mesh.point_vectors("v").unwrap().as_flattened(), v);
        // A frame before there is any has a file, too: programs count a sequence's frames by its files.
        let (mut gone, offered) = (scene.clone(), offer(&scene));
        gone.objects.clear();
        let ply = String::from_utf8(write_offered(&gone, &offered, "ply", 1)).unwrap();
        assert!(
            ply.contains("property float vz\n")
                && ply.contains("element vertex 0\n")
                && ply.contains("element face 0\n"),
            "{ply}"
        );
        assert!(ply.ends_with("end_header\n"), "{ply}");
        let obj = String::from_utf8(write_offered(&gone, &offered, "obj", 1)).unwrap();
        assert!(obj.lines().all(|line| line.starts_with('#')), "{obj}");
        // It takes the place of the level set that it was made beside.
        let mut both = scene.clone();
        both.objects.extend(self::scene().objects);
        assert_eq!(liquids(&offer(&both)).collect::<Vec<_>>(), ["render"]);
        assert_eq!(write_of(&both, "ply", 1), write_of(&scene, "ply", 1));
        // Not that of a liquid that nobody makes a mesh of.
        let mut oil = self::scene().objects.remove(0);
        oil.name = "oil".into();
        both.objects.push(oil);
        let mut offer = offer(&both);
        offer.objects[0].meshes = vec!["water".into()];
        assert_eq!(liquids(&offer).collect::<Vec<_>>(), ["render", "oil"]);
        // The corner between the three sides of a cube looks away from it.
        let normal = surface::normals(&corners, &faces)[0].map(|n| n * -3.0_f32.sqrt());
        assert!(normal.iter().all(|n| (n - 1.0).abs() < 1e-6), "{normal:?}");
    }

    #[test]
    fn a_shot_without_a_liquid_is_refused() {
        let mut offer = offer(&scene());
        assert_eq!(check(&offer), Ok(()));
        offer.objects.clear();
        assert!(check(&offer).unwrap_err().sentence.contains("solver of a liquid"));
    }
}
