//! Parameters back as JSON, for `cook.json` and `nodes --json`.

use super::animated::{Animated, Ease};
use crate::node::{ParamKind, Value};
use serde_json::{Value as Json, json};

/// A parameter as a graph file would give it, expressions evaluated.
pub fn to_json(parameter: &Animated) -> Json {
    match parameter {
        Animated::Constant(v) => value(v),
        Animated::Keys { keys, ease, kind } => {
            let at_key = |v: &[f64]| match kind {
                ParamKind::Toggle => json!(v != [0.0]),
                _ => one_or_list(v),
            };
            let keys: Vec<Json> = keys.iter().map(|(frame, v)| json!([frame, at_key(v)])).collect();
            let name = Ease::NAMES.iter().find(|n| n.1 == *ease).map_or("linear", |n| n.0);
            json!({ "keys": keys, "ease": name })
        }
    }
}

fn one_or_list<T: serde::Serialize>(v: &[T]) -> Json {
    match v {
        [x] => json!(x),
        many => json!(many),
    }
}

/// A constant value as a graph file would give it.
pub fn value(v: &Value) -> Json {
    match v {
        Value::Toggle(b) => json!(b),
        Value::Integers(v) => one_or_list(v),
        Value::Numbers(v) => one_or_list(v),
        Value::Text(t) => json!(t),
        Value::Texts(t) => json!(t),
    }
}
