//! Houdini's geometry JSON (`.geo`): one flat array of keys and values, attributes with type information. `info` ends with a
//! hash of the file (BLAKE3, its own digits taken as noughts), which Houdini passes over.

use super::{creator, seal};
use crate::data::{Array, Attribute, Geometry, Meaning, Owner, Primitives};
use std::io::Write;

/// The Houdini version whose form of the file this is.
const FILE_VERSION: &str = "20.5.0";

/// What the file says about itself.
pub struct Header {
    /// Frames per second.
    pub fps: f64,
    /// The shot's own frame number.
    pub frame: i32,
}

/// The bytes of a `.geo` file with the attributes whose names `keep` accepts.
pub fn to_bytes(
    geometry: &Geometry,
    header: &Header,
    keep: impl Fn(&str) -> bool,
) -> Result<Vec<u8>, String> {
    if let Some(defect) = geometry.defect() {
        return Err(defect);
    }
    let chosen: Vec<&Attribute> = geometry.attributes.iter().filter(|a| keep(&a.name)).collect();
    for a in &chosen {
        if let Some(i) = a.values.first_non_finite() {
            let element = i / a.components.max(1);
            return Err(format!("attribute `{}` of element {element} is not a finite number", a.name));
        }
    }
    let values: usize = chosen.iter().map(|a| a.values.len()).sum();
    let mut writer = Writer { out: Vec::with_capacity(2048 + 14 * values) };
    writer.head(geometry, header);
    writer.topology(geometry);
    writer.attributes(geometry, &chosen);
    writer.primitives(geometry);
    writer.out.extend_from_slice(b"\n]\n");
    seal::seal(&mut writer.out);
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
}

/// Appends formatted text; writing into memory cannot fail.
macro_rules! put {
    ($self:ident, $($text:tt)*) => { let _ = write!($self.out, $($text)*); };
}

impl Writer {
    fn head(&mut self, geometry: &Geometry, header: &Header) {
        put!(self, "[\n\"fileversion\",\"{FILE_VERSION}\",\n\"hasindex\",false,\n");
        put!(self, "\"pointcount\",{},\n", geometry.points);
        put!(self, "\"vertexcount\",{},\n", geometry.count(Owner::Vertex));
        put!(self, "\"primitivecount\",{},\n", geometry.count(Owner::Primitive));
        put!(
            self,
            "\"info\",{{\"software\":\"{}\",\"fps\":{:?},\"frame\":{}",
            creator(),
            header.fps,
            header.frame
        );
        if let Some((lo, hi)) = geometry.bounds() {
            let bounds: Vec<String> = (0..3)
                .flat_map(|c| [lo[c], hi[c]].map(|v| f64::from(v) + geometry.origin[c]))
                .map(number)
                .collect();
            put!(self, ",\"bounds\":[{}]", bounds.join(","));
        }
        put!(self, ",");
        seal::place(&mut self.out);
        put!(self, "}},\n");
    }

    fn topology(&mut self, geometry: &Geometry) {
        let vertices: &[u32] = match &geometry.primitives {
            Primitives::Points => &[],
            Primitives::Polylines { vertices, .. } | Primitives::Triangles { vertices } => vertices,
        };
        put!(self, "\"topology\",[\"pointref\",[\"indices\",[");
        self.list(vertices.len(), |w, i| {
            put!(w, "{}", vertices[at(geometry, Owner::Vertex, i)]);
        });
        put!(self, "]]],\n");
    }

    fn attributes(&mut self, geometry: &Geometry, chosen: &[&Attribute]) {
        put!(self, "\"attributes\",[");
        let mut first = true;
        for (owner, key) in [
            (Owner::Vertex, "vertexattributes"),
            (Owner::Point, "pointattributes"),
            (Owner::Primitive, "primitiveattributes"),
            (Owner::Detail, "globalattributes"),
        ] {
            let mut own: Vec<&&Attribute> = chosen.iter().filter(|a| a.owner == owner).collect();
            // Houdini expects P before every other point attribute.
            own.sort_by_key(|a| a.name != "P");
            if own.is_empty() {
                continue;
            }
            put!(self, "{}\n\"{key}\",[", if first { "" } else { "," });
            first = false;
            for (i, attribute) in own.iter().enumerate() {
                put!(self, "{}\n", if i == 0 { "" } else { "," });
                self.attribute(geometry, attribute);
            }
            put!(self, "\n]");
        }
        put!(self, "\n],\n");
    }

    fn attribute(&mut self, geometry: &Geometry, a: &Attribute) {
        let storage = storage(&a.values);
        put!(self, "[[\"scope\",\"public\",\"type\",\"numeric\",\"name\",{},\"options\",{{", quoted(&a.name));
        if let Some(info) = type_info(a.meaning) {
            put!(self, "\"type\":{{\"type\":\"string\",\"value\":\"{info}\"}}");
        }
        let size = a.components;
        put!(self, "}}],\n[\"size\",{size},\"storage\",\"{storage}\",");
        put!(self, "\"values\",[\"size\",{size},\"storage\",\"{storage}\",");
        // P is stored relative to the geometry's origin; files hold world positions.
        let origin = if a.name == "P" && a.owner == Owner::Point { geometry.origin } else { [0.0; 3] };
        if size == 1 {
            put!(self, "\"arrays\",[[");
            self.list(a.values.len(), |w, i| w.value(&a.values, at(geometry, a.owner, i), 0.0));
            put!(self, "]]");
        } else {
            put!(self, "\"tuples\",[");
            self.list(a.values.len() / size.max(1), |w, i| {
                let i = at(geometry, a.owner, i);
                for c in 0..size {
                    w.out.push(if c == 0 { b'[' } else { b',' });
                    w.value(&a.values, i * size + c, origin.get(c).copied().unwrap_or(0.0));
                }
                w.out.push(b']');
            });
            put!(self, "]");
        }
        put!(self, "]]]");
    }

    fn value(&mut self, values: &Array, i: usize, offset: f64) {
        match values {
            Array::F32(v) => {
                put!(self, "{:?}", if offset == 0.0 { v[i] } else { (f64::from(v[i]) + offset) as f32 });
            }
            Array::F64(v) => {
                put!(self, "{:?}", v[i] + offset);
            }
            Array::I32(v) => {
                put!(self, "{}", v[i]);
            }
            Array::I64(v) => {
                put!(self, "{}", v[i]);
            }
            Array::U8(v) => {
                put!(self, "{}", v[i]);
            }
            Array::U32(v) => {
                put!(self, "{}", v[i]);
            }
            Array::U64(v) => {
                put!(self, "{}", v[i]);
            }
        }
    }

    fn primitives(&mut self, geometry: &Geometry) {
        let count = geometry.count(Owner::Primitive);
        let (kind, runs) = match &geometry.primitives {
            Primitives::Triangles { .. } if count > 0 => ("Polygon_run", vec![(3, count)]),
            Primitives::Polylines { starts, .. } if count > 0 => {
                ("PolygonCurve_run", run_lengths(starts.windows(2).map(|w| w[1] - w[0])))
            }
            _ => {
                put!(self, "\"primitives\",[]");
                return;
            }
        };
        let runs: Vec<String> = runs.iter().map(|(vertices, n)| format!("{vertices},{n}")).collect();
        put!(self, "\"primitives\",[[[\"type\",\"{kind}\"],[\"startvertex\",0,\"nprimitives\",{count},");
        put!(self, "\"nvertices_rle\",[{}]]]]", runs.join(","));
    }

    /// Items joined by commas, a line break every so often so that text tools can cope.
    fn list(&mut self, len: usize, mut item: impl FnMut(&mut Self, usize)) {
        for i in 0..len {
            if i > 0 {
                self.out.push(b',');
                if i % 256 == 0 {
                    self.out.push(b'\n');
                }
            }
            item(self, i);
        }
    }
}

fn run_lengths(counts: impl Iterator<Item = u32>) -> Vec<(u32, usize)> {
    let mut runs: Vec<(u32, usize)> = Vec::new();
    for c in counts {
        match runs.last_mut() {
            Some((vertices, n)) if *vertices == c => *n += 1,
            _ => runs.push((c, 1)),
        }
    }
    runs
}

fn storage(values: &Array) -> &'static str {
    match values {
        Array::F32(_) => "fpreal32",
        Array::F64(_) => "fpreal64",
        Array::I32(_) | Array::U8(_) => "int32",
        Array::I64(_) | Array::U32(_) | Array::U64(_) => "int64",
    }
}

/// Where the n-th value of a file stands among ours. Houdini's polygons go round clockwise seen from outside, ours the other way:
/// the last two corners of each triangle change places.
fn at(geometry: &Geometry, owner: Owner, n: usize) -> usize {
    match &geometry.primitives {
        Primitives::Triangles { .. } if owner == Owner::Vertex => n / 3 * 3 + [0, 2, 1][n % 3],
        _ => n,
    }
}

/// Houdini's word for how an attribute transforms.
fn type_info(meaning: Meaning) -> Option<&'static str> {
    match meaning {
        Meaning::Plain => None,
        Meaning::Position => Some("point"),
        Meaning::Vector => Some("vector"),
        Meaning::Normal => Some("normal"),
        Meaning::Colour => Some("color"),
        Meaning::Quaternion => Some("quaternion"),
    }
}

fn number(v: f64) -> String {
    format!("{v:?}")
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
