//! Reads points and triangles back from `.geo` caches.

use serde_json::Value;
use std::path::Path;

/// The value after `key` in one of the format's flat key/value arrays.
fn after<'a>(list: &'a Value, key: &str) -> Option<&'a Value> {
    let list = list.as_array()?;
    let at = list.iter().position(|v| v.as_str() == Some(key))?;
    list.get(at + 1)
}

fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// What the file says of a point attribute.
fn values(file: &Path, name: &str) -> Value {
    let geo = read(file);
    let attributes =
        after(&geo, "attributes").and_then(|a| after(a, "pointattributes")).expect("point attributes");
    let p = attributes
        .as_array()
        .and_then(|list| list.iter().find(|a| after(&a[0], "name").and_then(Value::as_str) == Some(name)))
        .unwrap_or_else(|| panic!("{} has no attribute {name}", file.display()));
    after(&p[1], "values").cloned().expect("an attribute has values")
}

/// A whole number of every point.
pub fn whole_numbers(file: &Path, name: &str) -> Vec<i64> {
    let values = values(file, name);
    let list = after(&values, "arrays").and_then(|a| a[0].as_array()).expect("arrays");
    list.iter().map(|n| n.as_i64().expect("a whole number")).collect()
}

/// Numbers of the points of every triangle, as Houdini winds them.
pub fn triangles(file: &Path) -> Vec<[usize; 3]> {
    let geo = read(file);
    let indices =
        after(&geo, "topology").and_then(|t| after(t, "pointref")).and_then(|p| after(p, "indices"));
    let indices = indices.and_then(Value::as_array).expect("indices");
    let number = |v: &Value| v.as_u64().expect("a number") as usize;
    indices.as_chunks::<3>().0.iter().map(|t| t.each_ref().map(number)).collect()
}

/// `P` of every point, metres.
pub fn positions(file: &Path) -> Vec<[f64; 3]> {
    vectors(file, "P")
}

/// A vector of every point.
pub fn vectors(file: &Path, name: &str) -> Vec<[f64; 3]> {
    let values = values(file, name);
    let tuples = after(&values, "tuples").and_then(Value::as_array).expect("tuples");
    tuples.iter().map(|t| std::array::from_fn(|c| t[c].as_f64().expect("a number"))).collect()
}

/// A number of every point.
pub fn numbers(file: &Path, name: &str) -> Vec<f64> {
    let values = values(file, name);
    let list = after(&values, "arrays").and_then(|a| a[0].as_array()).expect("arrays");
    list.iter().map(|n| n.as_f64().expect("a number")).collect()
}
