//! Reads Wavefront OBJ files: positions and faces.

use super::FAR;
use crate::data::Geometry;

/// Reads the positions and faces of an OBJ file. Polygons become triangle fans; everything else is ignored.
pub(super) fn read(bytes: &[u8]) -> Result<Geometry, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut points: Vec<[f32; 3]> = Vec::new();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let mut faces: Vec<(usize, Vec<i64>)> = Vec::new();
    for (number, line) in logical_lines(&text) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => points.push(position(words).map_err(|e| format!("line {number}: {e}"))?),
            Some("f") => {
                let corners = words.map(|w| corner(w, points.len())).collect::<Result<Vec<_>, _>>();
                faces.push((number, corners.map_err(|e| format!("line {number}: {e}"))?));
            }
            _ => {}
        }
    }
    if points.is_empty() {
        return Err("no vertices (`v x y z` lines) in it: is this an OBJ file?".into());
    }
    for (number, corners) in faces {
        fan(&corners, points.len(), &mut triangles).map_err(|e| format!("line {number}: {e}"))?;
    }
    Ok(if triangles.is_empty() {
        Geometry::from_points(&points)
    } else {
        Geometry::from_triangles(&points, &triangles)
    })
}

/// Lines with their numbers; a `\` at the end of a line joins it to the next.
fn logical_lines(text: &str) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, str>)> {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        let (i, first) = lines.next()?;
        let mut joined = std::borrow::Cow::Borrowed(first);
        while joined.ends_with('\\') {
            joined.to_mut().pop();
            let Some((_, next)) = lines.next() else { break };
            joined.to_mut().push_str(next);
        }
        Some((i + 1, joined))
    })
}

fn position<'a>(words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], String> {
    let mut p = [0.0; 3];
    let mut count = 0;
    for (slot, word) in p.iter_mut().zip(words) {
        *slot = word.parse::<f32>().map_err(|_| format!("`{}` is not a number", shorten(word)))?;
        if !slot.is_finite() || slot.abs() > FAR {
            return Err(format!("a coordinate is {word}: it must be finite and within {FAR:e} m"));
        }
        count += 1;
    }
    if count == 3 { Ok(p) } else { Err(format!("a vertex needs three coordinates, found {count}")) }
}

/// The vertex number, from 0, of a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn`; may lie beyond the end
/// (a vertex may follow its face), negative ones count back from the last vertex so far.
fn corner(word: &str, so_far: usize) -> Result<i64, String> {
    let index = word.split('/').next().unwrap_or("");
    let i: i64 = index.parse().map_err(|_| format!("`{}` is not a vertex number", shorten(word)))?;
    match i {
        0 => Err("vertex numbers start at 1, found 0".into()),
        1.. => Ok(i - 1),
        _ if i.unsigned_abs() <= so_far as u64 => Ok(so_far as i64 + i),
        _ => Err(format!("vertex number {i} reaches back beyond the first of {so_far} vertices")),
    }
}

/// Adds a polygon as a fan from its first corner; triangles that name a vertex twice are left out.
pub(super) fn fan(corners: &[i64], points: usize, triangles: &mut Vec<[u32; 3]>) -> Result<(), String> {
    if corners.len() < 3 {
        return Err(format!("a face needs at least three corners, found {}", corners.len()));
    }
    let last = points.min(u32::MAX as usize) as i64;
    if let Some(c) = corners.iter().find(|c| !(0..last).contains(*c)) {
        return Err(format!("a face names vertex {}, but there are {points}", c.saturating_add(1)));
    }
    for pair in corners[1..].windows(2) {
        let t = [corners[0] as u32, pair[0] as u32, pair[1] as u32];
        if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
            triangles.push(t);
        }
    }
    Ok(())
}

fn shorten(word: &str) -> String {
    word.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_slashes_negative_numbers_and_continuations() {
        let g = read(b"# a quad\nv 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0\nvn 0 0 1\nf 1/1/1 2//1 3/2 \\\n 4\nf -4 -3 -2\n").unwrap();
        assert_eq!(g.triangles(), &[[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
        assert_eq!(g.points, 4);
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, expected) in [
            ("v 0 0\n", "line 1: a vertex needs three"),
            ("v 0 0 zero\n", "line 1: `zero` is not a number"),
            ("v 0 0 nan\n", "must be finite"),
            ("v 0 0 1e30\n", "must be finite and within"),
            ("v 0 0 0\nf 1 1\n", "line 2: a face needs at least three"),
            ("v 0 0 0\nf 1 2 3\n", "line 2: a face names vertex 2, but there are 1"),
            ("v 0 0 0\nf 0 1 1\n", "start at 1"),
            ("v 0 0 0\nf -2 1 1\n", "reaches back"),
            ("v 0 0 0\nf a b c\n", "not a vertex number"),
            ("v 0 0 0\nf 1 1 99999999999999999999\n", "not a vertex number"),
            ("", "is this an OBJ file"),
        ] {
            let e = read(text.as_bytes()).unwrap_err();
            assert!(e.contains(expected), "{text:?}: {e}");
        }
    }
}
