//! The points or triangles of a `.geo` file.

use super::LARGEST;
use super::packed::Packed;
use crate::output::geo_read::{GeoFile, read};
use crate::output::seal;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Position, velocity, radius, in Houdini's words.
const KEPT: [&str; 3] = ["P", "v", "pscale"];

/// The shape of a file; of more points than `points` some are left out; more triangles than `triangles` are refused. The
/// error is one sentence.
pub fn shapes(path: &Path, triangles: usize, points: usize) -> Result<Vec<u8>, String> {
    let bytes = crate::files::read_file(path, LARGEST).map_err(|e| format!("it cannot be read: {e}"))?;
    if seal::holds(&bytes) == Some(false) {
        return Err("it is damaged: it is not what its content hash says".into());
    }
    let file = read(&bytes, &KEPT).map_err(|e| format!("it is not a complete .geo file: {e}"))?;
    drop(bytes);
    let positions = numbers(&file, "P", 3).ok_or("it has no point attribute P of three numbers")?;
    let is_mesh = !file.indices.is_empty() && is_triangles(&file.kinds);
    let shape = if is_mesh { mesh(&file, positions, triangles)? } else { cloud(&file, positions, points) };
    Ok(shape.bytes())
}

/// The numbers of a point attribute, if it has so many components.
fn numbers<'a>(file: &'a GeoFile, name: &str, size: u64) -> Option<&'a [f32]> {
    let attribute = file.attribute("point", name).filter(|a| a.size == size)?;
    let all = size.checked_mul(file.points)?;
    attribute.values.kept.as_deref().filter(|kept| kept.len() as u64 == all)
}

/// Whether all primitives are triangles: `[[["type","Polygon_run"],["startvertex",0,…,"nvertices_rle",[3,n]]]]`.
fn is_triangles(primitives: &Json) -> bool {
    let run = |p: &Json| {
        let rest = p[1].as_array()?;
        let at = rest.iter().position(|k| k == "nvertices_rle")?;
        let runs = rest.get(at + 1)?.as_array()?;
        Some(p[0][1] == "Polygon_run" && runs.iter().step_by(2).all(|n| n.as_u64() == Some(3)))
    };
    primitives.as_array().is_some_and(|all| all.iter().all(|p| run(p) == Some(true)))
}

fn mesh(file: &GeoFile, positions: &[f32], most: usize) -> Result<Packed, String> {
    let indices = &file.indices;
    if !indices.len().is_multiple_of(3) || indices.iter().any(|&i| u64::from(i) >= file.points) {
        return Err("its triangles name points that it does not have".into());
    }
    if indices.len() / 3 > most {
        return Err(format!("it has {} triangles, and at most {most} are shown", indices.len() / 3));
    }
    let mut packed = Packed::default();
    // Houdini's polygons go round clockwise seen from outside; pictures want them the other way.
    let turned: Vec<u32> = indices.chunks_exact(3).flat_map(|t| [t[0], t[2], t[1]]).collect();
    let (p, t) = (packed.floats(positions), packed.indices(&turned));
    packed.shape(json!({ "kind": "triangles", "positions": p, "triangles": t }));
    Ok(packed)
}

fn cloud(file: &GeoFile, positions: &[f32], most: usize) -> Packed {
    let total = positions.len() / 3;
    let step = total.div_ceil(most.max(1)).max(1);
    let every = |values: &[f32], size: usize| -> Vec<f32> {
        values.chunks_exact(size).step_by(step).flatten().copied().collect()
    };
    let mut packed = Packed::default();
    let p = packed.floats(&every(positions, 3));
    let mut shape = json!({ "kind": "points", "positions": p, "total": total, "step": step });
    if let Some(v) = numbers(file, "v", 3) {
        let speed: Vec<f32> =
            every(v, 3).chunks_exact(3).map(|v| v.iter().map(|c| c * c).sum::<f32>().sqrt()).collect();
        shape["speed"] = packed.floats(&speed);
    }
    if let Some(radius) = numbers(file, "pscale", 1) {
        shape["radius"] = packed.floats(&every(radius, 1));
    }
    packed.shape(shape);
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(bytes: &[u8]) -> Json {
        let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[12..12 + length]).unwrap()
    }

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.geo");
        std::fs::write(&path, text).unwrap();
        (dir, path)
    }

    const P: &str =
        r#"[["name","P"],["size",3,"values",["size",3,"tuples",[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]]]]"#;

    #[test]
    fn points_are_thinned_and_meshes_are_whole() {
        let speed =
            r#"[["name","v"],["size",3,"values",["size",3,"tuples",[[0,3,4],[0,0,0],[1,0,0],[0,0,0]]]]]"#;
        let (_dir, path) = file(&format!(
            r#"["fileversion","20","pointcount",4,"attributes",["pointattributes",[{P},{speed}]],"primitives",[]]"#
        ));
        let bytes = shapes(&path, 9, 2).unwrap();
        let shape = &description(&bytes)["shapes"][0];
        assert_eq!(
            [&shape["kind"], &shape["total"], &shape["step"]],
            [&json!("points"), &json!(4), &json!(2)]
        );
        assert_eq!([&shape["positions"]["count"], &shape["speed"]["count"]], [&json!(6), &json!(2)]);
        assert_eq!(bytes[bytes.len() - 8..bytes.len() - 4], 5f32.to_le_bytes());

        let of = |indices: &str, rle: &str| {
            let (_dir, path) = file(&format!(
                r#"["fileversion","20","pointcount",4,"primitivecount",2,"topology",["pointref",["indices",[{indices}]]],
                "attributes",["pointattributes",[{P}]],"primitives",[[["type","Polygon_run"],["nvertices_rle",[{rle}]]]]]"#
            ));
            shapes(&path, 2, 9).map(|bytes| description(&bytes)["shapes"][0]["kind"].clone())
        };
        assert_eq!(of("0,1,2,1,2,3", "3,2"), Ok(json!("triangles")));
        assert_eq!(of("0,1,2,3", "4,1"), Ok(json!("points")));
        assert!(of("0,1,9", "3,1").unwrap_err().contains("does not have"));
        assert!(of("0,1,2,0,1,2,0,1,2", "3,3").unwrap_err().contains("at most 2"));
    }

    #[test]
    fn what_is_no_geometry_is_refused() {
        for text in ["", "[]", "{}", r#"["fileversion","20","pointcount",1]"#, "PGEOMETRY"] {
            let (_dir, path) = file(text);
            assert!(shapes(&path, 9, 9).is_err(), "{text}");
        }
    }
}
