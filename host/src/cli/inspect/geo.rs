//! The report on a `.geo` file.

use super::super::units;
use super::{LARGEST, Report, grouped, name_of, number};
use crate::output::geo_read::{Attribute, GeoFile, read};
use crate::output::{CREATOR, seal};
use serde_json::Value as Json;
use std::path::Path;

/// Points farther away than this, m, suggest a wrong unit.
const FAR: f64 = 1e4;

pub(super) fn inspect(path: &Path) -> Result<Report, String> {
    let shown = path.display();
    let bytes = crate::files::read_headed(path, LARGEST, HEAD, |head, _| of_geo(head));
    let bytes = bytes.map_err(|e| format!("cannot read {shown}: {e}"))?;
    let holds = seal::holds(&bytes);
    if holds == Some(false) {
        return Err(format!("{shown} is damaged: it is not what its content hash says"));
    }
    let file = read(&bytes, &[]).map_err(|e| format!("{shown} is not a complete .geo file: {e}"))?;
    if holds.is_none() && file.info["software"].as_str().is_some_and(|s| s.starts_with(CREATOR)) {
        return Err(format!(
            "{shown} says that it is of {CREATOR}, but has no content hash as those have: it is damaged"
        ));
    }
    let mut report = Report::default();
    report.line(format!(
        "{}: Houdini geometry, {} points, {} vertices, {} primitives, {} on disk",
        name_of(path),
        grouped(file.points),
        grouped(file.vertices),
        grouped(file.primitives),
        units::bytes(bytes.len() as f64)
    ));
    if let Json::Object(info) = &file.info {
        let told: Vec<String> = info
            .iter()
            .filter(|(k, _)| *k != "content_hash")
            .map(|(k, v)| format!("{k} {}", plain(v)))
            .collect();
        report.line(format!("  {}", told.join(", ")));
    }
    for a in &file.attributes {
        attribute(&file, a, &mut report);
    }
    conventions(&file, &mut report);
    Ok(report)
}

/// Bytes that tell what a file is.
const HEAD: usize = 64;

/// Whether a file begins as `.geo` files do; the error is half a sentence.
fn of_geo(head: &[u8]) -> Result<(), String> {
    if head.starts_with(b"PGEOMETRY") {
        return Err(
            "it is in Houdini's classic form of .geo, which is no longer read; save it as JSON".into()
        );
    }
    match head.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[' | b'{') => Ok(()),
        _ => Err("it is not a complete .geo file: it does not begin as JSON does".into()),
    }
}

fn plain(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Number(n) => n.as_f64().map_or_else(|| n.to_string(), number),
        Json::Array(list) => format!("[{}]", list.iter().map(plain).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn attribute(file: &GeoFile, a: &Attribute, report: &mut Report) {
    let range = match a.values.count {
        Some(n) if n > 0 => format!(", {} to {}", vector(&a.values.low), vector(&a.values.high)),
        _ => String::new(),
    };
    report.line(format!("  {} {}: {} x {}{range}", a.owner, a.name, a.size, a.storage));
    let expected = match a.owner {
        "point" => file.points,
        "vertex" => file.vertices,
        "primitive" => file.primitives,
        _ => 1,
    };
    if let Some(n) = a.values.count.filter(|&n| n != expected) {
        report.warn(format!("attribute {}: {} values, expected {}", a.name, grouped(n), grouped(expected)));
    }
}

fn vector(v: &[f64]) -> String {
    let numbers: Vec<String> = v.iter().map(|&x| number(x)).collect();
    if numbers.len() == 1 { numbers.concat() } else { format!("[{}]", numbers.join(", ")) }
}

fn conventions(file: &GeoFile, report: &mut Report) {
    match file.attributes.iter().find(|a| a.owner == "point" && a.name == "P") {
        None => report.warn("there is no point attribute P"),
        Some(p) if p.values.low.iter().chain(&p.values.high).any(|x| x.abs() > FAR) => {
            report.warn(format!("points lie beyond {FAR} m; is the file in metres?"));
        }
        Some(_) => {}
    }
    if file.info["fps"].is_null() {
        report.warn("the file does not say its fps");
    }
}
