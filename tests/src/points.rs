//! Reads point positions back from `.geo` caches.

use serde_json::Value;
use std::path::Path;

/// The value after `key` in one of the format's flat key/value arrays.
fn after<'a>(list: &'a Value, key: &str) -> Option<&'a Value> {
    let list = list.as_array()?;
    let at = list.iter().position(|v| v.as_str() == Some(key))?;
    list.get(at + 1)
}

/// `P` of every point, metres.
pub fn positions(file: &Path) -> Vec<[f64; 3]> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let geo: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let attributes =
        after(&geo, "attributes").and_then(|a| after(a, "pointattributes")).expect("point attributes");
    let p = attributes
        .as_array()
        .and_then(|list| list.iter().find(|a| after(&a[0], "name").and_then(Value::as_str) == Some("P")))
        .expect("an attribute P");
    let tuples =
        after(&p[1], "values").and_then(|v| after(v, "tuples")).and_then(Value::as_array).expect("tuples");
    tuples.iter().map(|t| std::array::from_fn(|c| t[c].as_f64().expect("a number"))).collect()
}
