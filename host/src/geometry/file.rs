//! The file node: meshes and mesh sequences.

use super::{obj, ply};
use crate::data::{Array, Geometry, Owner};
use crate::node::{NodeKind, NodeType, ParamSpec};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest mesh file read, bytes.
const MAX_BYTES: u64 = 4 << 30;
/// Meshes of a sequence kept in memory; a moment between two frames needs two.
const KEPT: usize = 4;

pub(super) fn node_type() -> NodeType {
    NodeType::host(
        "meniscus.file",
        "File",
        NodeKind::Geometry,
        (0, Some(0)),
        "A mesh from a file, or a sequence of meshes with $F (frame number) or $F4 (four digits) in its name.",
    )
    .with(vec![ParamSpec::file("file", "Geometry File", "An .obj or .ply file, in metres, relative to the graph file. Further values at the vertices of a .ply become point attributes: colours as Cd, normals as N, texture coordinates as uv, others by their names.")])
}

/// The path for a frame: `$F` becomes the frame number, `$F4` the number with at least four digits.
pub fn frame_path(pattern: &str, frame: i64) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once("$F") {
        out.push_str(before);
        let width = after.chars().next().and_then(|c| c.to_digit(10)).filter(|d| *d > 0);
        rest = &after[usize::from(width.is_some())..];
        let sign = if frame < 0 { "-" } else { "" };
        out.push_str(&format!("{sign}{:0w$}", frame.unsigned_abs(), w = width.unwrap_or(1) as usize));
    }
    out + rest
}

/// Reads a mesh file by its extension.
pub fn read_mesh(path: &Path) -> Result<Geometry, String> {
    read_and_hash(path).map(|(geometry, _)| geometry)
}

/// A mesh file and the hash of its bytes.
fn read_and_hash(path: &Path) -> Result<(Geometry, String), String> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let format = match extension.as_str() {
        "obj" => MeshFormat::Obj,
        "ply" => MeshFormat::Ply,
        _ => return Err(format!("{}: expected an .obj or .ply file", path.display())),
    };
    let because = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let bytes = crate::files::read_file(path, MAX_BYTES).map_err(|e| because(&e))?;
    let geometry = parse_mesh(&bytes, format).map_err(|e| because(&e))?;
    Ok((geometry, blake3::hash(&bytes).to_hex().to_string()))
}

/// Formats of meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY, ascii or binary.
    Ply,
}

/// The mesh in a file's bytes, or one sentence that says what is wrong with them.
pub fn parse_mesh(bytes: &[u8], format: MeshFormat) -> Result<Geometry, String> {
    match format {
        MeshFormat::Obj => obj::read(bytes),
        MeshFormat::Ply => ply::read(bytes),
    }
}

/// Meshes read lately.
#[derive(Debug, Default)]
pub(super) struct Reader {
    kept: VecDeque<(PathBuf, Arc<Geometry>)>,
    /// Hash of every file read, by its name as the graph gives it.
    hashes: BTreeMap<String, String>,
}

impl Reader {
    /// The geometry at a frame (fractions lie between the frames of a sequence).
    pub(super) fn read(
        &mut self,
        folder: &Path,
        pattern: &str,
        frame: f64,
        fps: f64,
    ) -> Result<Arc<Geometry>, String> {
        if pattern.is_empty() {
            return Err("expected the name of an .obj or .ply file, found nothing".into());
        }
        let low = frame.floor();
        let a = self.load(folder, frame_path(pattern, low as i64))?;
        let t = frame - low;
        if t == 0.0 || !pattern.contains("$F") {
            return Ok(a);
        }
        let b = self.load(folder, frame_path(pattern, low as i64 + 1))?;
        Ok(Arc::new(between(&a, &b, t, fps)))
    }

    /// Hash of every file read so far, by its name as the graph gives it.
    pub(super) fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }

    fn load(&mut self, folder: &Path, name: String) -> Result<Arc<Geometry>, String> {
        let path = folder.join(&name);
        if let Some((_, g)) = self.kept.iter().find(|k| k.0 == path) {
            return Ok(g.clone());
        }
        let (g, hash) = read_and_hash(&path)?;
        let g = Arc::new(g);
        self.hashes.entry(name).or_insert(hash);
        self.kept.push_back((path, g.clone()));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        Ok(g)
    }
}

/// The mesh at `t` of the way from one frame to the next: point by point when the meshes match, else the
/// earlier mesh carried on by its own `v` when it has one.
fn between(a: &Geometry, b: &Geometry, t: f64, fps: f64) -> Geometry {
    let mut out = a.clone();
    let target =
        if a.points == b.points && a.primitives == b.primitives { Some(b.positions()) } else { None };
    let moved = |i: usize, p: &[f32; 3]| -> [f32; 3] {
        std::array::from_fn(|c| match (target, a.point_vectors("v")) {
            (Some(q), _) => p[c] + (q[i][c] - p[c]) * t as f32,
            (None, Some(v)) => p[c] + v[i][c] * (t / fps) as f32,
            (None, None) => p[c],
        })
    };
    let positions = a.positions().iter().enumerate().flat_map(|(i, p)| moved(i, p)).collect();
    out.set(Owner::Point, "P", 3, Array::F32(positions));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_numbers_enter_paths() {
        assert_eq!(frame_path("a/b.$F4.obj", 7), "a/b.0007.obj");
        assert_eq!(frame_path("b.$F.obj", 1001), "b.1001.obj");
        assert_eq!(frame_path("$F2/$F", -3), "-03/-3");
        assert_eq!(frame_path("plain.obj", 1), "plain.obj");
    }

    #[test]
    fn moments_between_frames_are_interpolated() {
        let dir = tempfile::tempdir().unwrap();
        for (frame, y) in [(1, 0.0), (2, 1.0)] {
            let text = format!("v 0 {y} 0\nv 1 {y} 0\nv 0 {y} 1\nf 1 2 3\n");
            std::fs::write(dir.path().join(format!("m.{frame}.obj")), text).unwrap();
        }
        let mut reader = Reader::default();
        let g = reader.read(dir.path(), "m.$F.obj", 1.25, 24.0).unwrap();
        assert_eq!(g.positions()[0], [0.0, 0.25, 0.0]);
        let e = reader.read(dir.path(), "m.$F.obj", 2.5, 24.0).unwrap_err();
        assert!(e.contains("m.3.obj"), "{e}");
    }

    #[test]
    fn files_of_other_kinds_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_mesh(&dir.path().join("x.fbx")).unwrap_err().contains("expected an .obj or .ply"));
        std::fs::create_dir(dir.path().join("d.obj")).unwrap();
        assert!(read_mesh(&dir.path().join("d.obj")).unwrap_err().contains("no file"));
    }
}
