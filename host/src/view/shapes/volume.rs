//! The level sets of a `.vdb` file as meshes.

use super::packed::Packed;
use super::surface::{Field, mesh};
use openvdb_sys::{Class, Data, Element, Info};
use serde_json::json;
use std::path::Path;

/// The surfaces of a file, with at most about so many triangles together; the error is one sentence.
pub fn shapes(path: &Path, most: usize) -> Result<Vec<u8>, String> {
    let file = openvdb_sys::open(path).map_err(|e| e.to_string())?;
    let grids = file.grids().map_err(|e| e.to_string())?;
    let is_surface = |g: &Info| g.class == Class::LevelSet && g.element == Element::Float;
    let count = grids.iter().filter(|g| is_surface(g)).count();
    let mut packed = Packed::default();
    for (at, info) in grids.iter().enumerate().filter(|(_, g)| is_surface(g)) {
        let leaves = file.leaves(at).map_err(|e| e.to_string())?;
        let Data::Float(values) = &leaves.data else { continue };
        let tiles: Vec<([i32; 3], i32, f32)> =
            leaves.tiles.iter().map(|t| (t.origin, t.width, t.value[0] as f32)).collect();
        let background = info.background[0] as f32;
        let field = Field { origins: &leaves.origins, values, tiles: &tiles, background };
        let mesh = mesh(&field, most / count);
        let positions: Vec<f32> = mesh.positions.iter().flat_map(|p| world(&info.transform, *p)).collect();
        let mut triangles = mesh.triangles.concat();
        if mirrors(&info.transform) {
            triangles.chunks_exact_mut(3).for_each(|t| t.swap(1, 2));
        }
        let (p, t) = (packed.floats(&positions), packed.indices(&triangles));
        packed.shape(json!({
            "kind": "triangles", "name": info.name, "positions": p, "triangles": t, "step": mesh.step,
            "voxel": info.voxel_size()[0],
        }));
    }
    Ok(packed.bytes())
}

/// A position in metres.
fn world(m: &[f64; 16], p: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|c| (m[12 + c] + (0..3).map(|r| f64::from(p[r]) * m[4 * r + c]).sum::<f64>()) as f32)
}

/// Whether a transform turns a left hand into a right one.
fn mirrors(m: &[f64; 16]) -> bool {
    let row = |r: usize| glam::DVec3::new(m[4 * r], m[4 * r + 1], m[4 * r + 2]);
    row(0).cross(row(1)).dot(row(2)) < 0.0
}
