//! Reads Stanford PLY files, ascii and binary: positions, velocities, faces, and other values at vertices.

use super::FAR;
use super::obj::fan;
use super::ply_attributes::{Column, columns};
use super::ply_header::{self as header, Element, Format, Property, Scalar};
use crate::data::{Array, Geometry, Owner};

/// Reads the vertices (`x y z`; velocities `vx vy vz` if there; every other number as a point attribute) and faces of a
/// PLY file. Polygons become triangle fans; everything else is ignored.
pub(super) fn read(bytes: &[u8]) -> Result<Geometry, String> {
    let header = header::read(bytes)?;
    let mut body = Body { rest: bytes.get(header.body..).unwrap_or(&[]), format: header.format };
    let (mut points, mut velocities, mut carried, mut faces) = (Vec::new(), None, Vec::new(), Vec::new());
    for element in &header.elements {
        body.check_room(element)?;
        match element.name.as_str() {
            "vertex" => (points, velocities, carried) = vertices(&mut body, element)?,
            "face" => faces = polygons(&mut body, element)?,
            _ => skip(&mut body, element)?,
        }
    }
    if points.is_empty() {
        return Err("it holds no vertices".into());
    }
    let mut triangles = Vec::new();
    for (i, corners) in faces.iter().enumerate() {
        fan(corners, points.len(), &mut triangles).map_err(|e| format!("face {}: {e}", i + 1))?;
    }
    let mut g = if triangles.is_empty() {
        Geometry::from_points(&points)
    } else {
        Geometry::from_triangles(&points, &triangles)
    };
    if let Some(v) = velocities {
        g.set(Owner::Point, "v", 3, Array::F32(v));
    }
    carried.into_iter().for_each(|column: Column| column.put(&mut g));
    Ok(g)
}

type Vertices = (Vec<[f32; 3]>, Option<Vec<f32>>, Vec<Column>);

fn vertices(body: &mut Body, element: &Element) -> Result<Vertices, String> {
    let at = |name: &str| element.properties.iter().position(|p| p.name == name && p.length.is_none());
    let (Some(x), Some(y), Some(z)) = (at("x"), at("y"), at("z")) else {
        return Err("its vertices have no properties x, y, z".into());
    };
    let moving = at("vx").zip(at("vy")).zip(at("vz"));
    // Beside `u`, `v` is a place on a texture.
    let part = ["vx", "vy", "vz", "v"].into_iter().find(|name| at(name).is_some());
    if let Some(part) = part.filter(|p| moving.is_none() && !(*p == "v" && at("u").is_some())) {
        return Err(format!(
            "its vertices have `{part}` alone: a velocity is three properties, vx, vy and vz"
        ));
    }
    let (mut points, mut velocities) = (Vec::new(), Vec::new());
    let mut carried = columns(&element.properties);
    let mut row = vec![0.0; element.properties.len()];
    for i in 0..element.count {
        for (slot, property) in row.iter_mut().zip(&element.properties) {
            *slot = body.property(property, &mut |_| ()).map_err(|e| format!("vertex {}: {e}", i + 1))?;
        }
        let p = [row[x] as f32, row[y] as f32, row[z] as f32];
        if let Some(c) = p.iter().find(|c| !c.is_finite() || c.abs() > FAR) {
            return Err(format!(
                "vertex {}: a coordinate is {c}: it must be finite and within {FAR:e} m",
                i + 1
            ));
        }
        points.push(p);
        if let Some(((vx, vy), vz)) = moving {
            let v = [row[vx] as f32, row[vy] as f32, row[vz] as f32];
            if v.iter().any(|c| !c.is_finite()) {
                return Err(format!("vertex {}: its velocity is not finite", i + 1));
            }
            velocities.extend(v);
        }
        for column in &mut carried {
            column.take(&row).map_err(|e| format!("vertex {}: {e}", i + 1))?;
        }
    }
    Ok((points, moving.map(|_| velocities), carried))
}

fn polygons(body: &mut Body, element: &Element) -> Result<Vec<Vec<i64>>, String> {
    let is_corners =
        |p: &Property| p.length.is_some() && (p.name == "vertex_indices" || p.name == "vertex_index");
    if element.count > 0 && !element.properties.iter().any(is_corners) {
        return Err("its faces have no list vertex_indices".into());
    }
    let mut faces = Vec::new();
    for i in 0..element.count {
        let mut corners = Vec::new();
        for property in &element.properties {
            let keep = is_corners(property);
            let mut take = |x: f64| {
                if keep {
                    corners.push(x as i64)
                }
            };
            body.property(property, &mut take).map_err(|e| format!("face {}: {e}", i + 1))?;
        }
        faces.push(corners);
    }
    Ok(faces)
}

fn skip(body: &mut Body, element: &Element) -> Result<(), String> {
    if element.properties.is_empty() {
        return Ok(());
    }
    for _ in 0..element.count {
        for property in &element.properties {
            body.property(property, &mut |_| ())
                .map_err(|e| format!("element `{}`: {e}", shorten(&element.name)))?;
        }
    }
    Ok(())
}

fn shorten(name: &str) -> String {
    name.chars().take(40).collect()
}

struct Body<'a> {
    rest: &'a [u8],
    format: Format,
}

impl Body<'_> {
    /// Refuses a count that the rest of the file cannot hold, before anything is read.
    fn check_room(&self, element: &Element) -> Result<(), String> {
        let least: usize = match self.format {
            Format::Ascii => element.properties.len(),
            _ => element.properties.iter().map(|p| p.length.unwrap_or(p.scalar).size()).sum(),
        };
        if element.count.saturating_mul(least) > self.rest.len() {
            return Err(format!(
                "it is cut short: {} elements `{}` need at least {} bytes, {} are left",
                element.count,
                shorten(&element.name),
                element.count.saturating_mul(least),
                self.rest.len()
            ));
        }
        Ok(())
    }

    /// Reads a property: the number, or 0 after handing every item of a list to `item`.
    fn property(&mut self, property: &Property, item: &mut dyn FnMut(f64)) -> Result<f64, String> {
        let Some(length) = property.length else { return self.scalar(property.scalar) };
        let n = self.scalar(length)?;
        let least = if self.format == Format::Ascii { 1 } else { property.scalar.size() };
        if !(n >= 0.0 && n.fract() == 0.0 && n * least as f64 <= self.rest.len() as f64) {
            return Err(format!("a list of length {n} does not fit into the rest of the file"));
        }
        for _ in 0..n as usize {
            item(self.scalar(property.scalar)?);
        }
        Ok(0.0)
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<f64, String> {
        if self.format == Format::Ascii {
            return self.word();
        }
        let (bytes, rest) = self.rest.split_at_checked(scalar.size()).ok_or("the file ends here")?;
        self.rest = rest;
        let mut le = [0u8; 8];
        le[..bytes.len()].copy_from_slice(bytes);
        if self.format == Format::BigEndian {
            le[..bytes.len()].reverse();
        }
        let [a, b, c, d, ..] = le;
        Ok(match scalar {
            Scalar::I8 => f64::from(a as i8),
            Scalar::U8 => f64::from(a),
            Scalar::I16 => f64::from(i16::from_le_bytes([a, b])),
            Scalar::U16 => f64::from(u16::from_le_bytes([a, b])),
            Scalar::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Scalar::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Scalar::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Scalar::F64 => f64::from_le_bytes(le),
        })
    }

    fn word(&mut self) -> Result<f64, String> {
        let rest = self.rest.trim_ascii_start();
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        if word.is_empty() {
            return Err("the file ends here".into());
        }
        let text = String::from_utf8_lossy(word);
        text.parse().map_err(|_| format!("`{}` is not a number", shorten(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n\
        element face 1\nproperty list uchar int vertex_indices\nend_header\n";

    fn binary(big: bool) -> Vec<u8> {
        let name = if big { "big" } else { "little" };
        let mut out = format!("ply\nformat binary_{name}_endian 1.0\n{HEADER}").into_bytes();
        let mut put = |b: [u8; 4]| out.extend(if big { b } else { [b[3], b[2], b[1], b[0]] });
        let _ = &mut put;
        for p in [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]] {
            for c in p {
                out.extend(if big { c.to_be_bytes() } else { c.to_le_bytes() });
            }
            out.push(200);
        }
        out.push(4);
        for i in 0i32..4 {
            out.extend(if big { i.to_be_bytes() } else { i.to_le_bytes() });
        }
        out
    }

    #[test]
    fn ascii_and_both_binary_orders_agree() {
        let ascii = format!(
            "ply\nformat ascii 1.0\ncomment x\n{HEADER}0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\n4 0 1 2 3\n"
        );
        for bytes in [ascii.into_bytes(), binary(false), binary(true)] {
            let g = read(&bytes).unwrap();
            assert_eq!(g.triangles(), &[[0, 1, 2], [0, 2, 3]]);
            assert_eq!(g.positions()[2], [1.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn truncation_anywhere_gives_a_sentence() {
        let whole = binary(false);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let with = |body: &str| format!("ply\nformat ascii 1.0\n{body}");
        for (text, expected) in [
            ("plx\n".to_owned(), "not `ply`"),
            (
                with(
                    "element vertex 99999999999\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
                ),
                "cut short",
            ),
            (with("element vertex 1\nproperty float x\nend_header\n0\n"), "no properties x, y, z"),
            (with("property float x\nend_header\n"), "before any element"),
            (with("element vertex 1\nproperty quad x\nend_header\n"), "no PLY number type"),
            (
                with(
                    "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 nan 0\n",
                ),
                "must be finite",
            ),
            (with(&format!("{HEADER}0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\n3 0 1 9\n")), "names vertex 10"),
            (with(&format!("{HEADER}0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\n200 0 1 9\n")), "does not fit"),
            (with("element thing 4000000000\nend_header\n"), "no vertices"),
        ] {
            let e = read(text.as_bytes()).unwrap_err();
            assert!(e.contains(expected), "{text:?}: {e}");
        }
    }

    #[test]
    fn velocities_are_kept() {
        let g = read(b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
            property float vx\nproperty float vy\nproperty float vz\nend_header\n1 2 3 4 5 6\n")
        .unwrap();
        assert_eq!(g.point_vectors("v"), Some(&[[4.0, 5.0, 6.0]][..]));
    }
}
