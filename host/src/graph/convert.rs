//! Converts a parameter's JSON to its value, by the parameter's description.

use super::animated::{Animated, Ease};
use super::expression::evaluate;
use super::json::Json;
use super::suggest::hint;
use crate::node::{ParamKind, ParamSpec, Value};
use crate::text::number as written;
use std::collections::BTreeMap;

type Variables = BTreeMap<String, f64>;

/// Numbers beyond this are refused as mistakes; the physics squares and cubes them.
const HUGE: f64 = 1e30;

/// Reads a parameter; the error is one sentence without the names of node and parameter.
pub(super) fn convert(spec: &ParamSpec, json: &Json, variables: &Variables) -> Result<Animated, String> {
    let constant = |v| Ok(Animated::Constant(v));
    match (spec.kind, json) {
        (ParamKind::Number | ParamKind::Integer | ParamKind::Toggle, Json::Object(pairs)) => {
            match spec.takes_keys() {
                true => keyframes(spec, pairs, variables),
                false => Err("is fixed for the shot: it takes no keyframes".into()),
            }
        }
        (ParamKind::Number, _) => constant(Value::Numbers(components(spec, json, variables)?)),
        (ParamKind::Integer, _) => {
            let numbers = components(spec, json, variables)?;
            constant(Value::Integers(numbers.iter().map(|&x| x as i64).collect()))
        }
        (ParamKind::Toggle, Json::Bool(b)) => constant(Value::Toggle(*b)),
        (ParamKind::Text | ParamKind::File, Json::Text(t)) if !t.contains('\0') => {
            constant(Value::Text(t.clone()))
        }
        (ParamKind::Menu, Json::Text(t)) if spec.menu.iter().any(|m| m.0 == *t) => {
            constant(Value::Text(t.clone()))
        }
        (ParamKind::Menu, Json::Text(t)) => {
            let tokens = || spec.menu.iter().map(|m| m.0.as_str());
            let list = tokens().collect::<Vec<_>>().join(", ");
            let near = super::suggest::nearest(t, tokens())
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            Err(format!("expected one of {list}, found \"{}\"{near}", super::json::shorten(t)))
        }
        (ParamKind::Texts, Json::List(l)) if l.iter().all(|t| t.text().is_some()) => {
            constant(Value::Texts(l.iter().filter_map(|t| t.text().map(str::to_owned)).collect()))
        }
        _ => Err(format!("expected {}, found {}", expected(spec), json.describe())),
    }
}

/// A parameter as [`super::to_json`] gives it, if it is one.
pub fn from_json(spec: &ParamSpec, json: &serde_json::Value) -> Option<Animated> {
    convert(spec, &Json::parse(&json.to_string()).ok()?, &Variables::new()).ok()
}

/// What a parameter expects, in words.
fn expected(spec: &ParamSpec) -> String {
    let unit = if spec.unit.is_empty() { String::new() } else { format!(" in {}", spec.unit) };
    let whole = if spec.kind == ParamKind::Integer { "whole " } else { "" };
    match spec.kind {
        ParamKind::Toggle => "true or false".into(),
        ParamKind::Number | ParamKind::Integer if spec.components == 1 => format!("a {whole}number{unit}"),
        ParamKind::Number | ParamKind::Integer => {
            format!("a list of {} {whole}numbers{unit}", spec.components)
        }
        ParamKind::Text => "a text".into(),
        ParamKind::File => "a file name".into(),
        ParamKind::Menu => "one of a menu".into(),
        ParamKind::Texts => "a list of texts".into(),
    }
}

/// The numbers of a parameter or a key: one number or expression, or a list of them.
fn components(spec: &ParamSpec, json: &Json, variables: &Variables) -> Result<Vec<f64>, String> {
    let wrong = || format!("expected {}, found {}", expected(spec), json.describe());
    match json {
        Json::List(items) if items.len() == spec.components && spec.components > 1 => {
            items.iter().map(|i| number(spec, i, variables)).collect()
        }
        Json::Bool(on) if spec.kind == ParamKind::Toggle => Ok(vec![f64::from(u8::from(*on))]),
        _ if spec.kind == ParamKind::Toggle => Err(wrong()),
        Json::Number(_) | Json::Text(_) if spec.components == 1 => Ok(vec![number(spec, json, variables)?]),
        _ => Err(wrong()),
    }
}

fn number(spec: &ParamSpec, json: &Json, variables: &Variables) -> Result<f64, String> {
    let x = match json {
        Json::Number(x) => *x,
        // What is computed is rounded where whole numbers are wanted: the height of a picture two thirds as high as wide.
        Json::Text(t) if is_expression(t) && spec.kind == ParamKind::Integer => {
            evaluate(t, variables)?.round()
        }
        Json::Text(t) if is_expression(t) => evaluate(t, variables)?,
        _ => return Err(format!("expected {}, found {}", expected(spec), json.describe())),
    };
    if spec.kind == ParamKind::Integer && (x.fract() != 0.0 || x.abs() > 9.007_199_254_740_992e15) {
        return Err(format!("expected a whole number, found {}", written(x)));
    }
    let unit = if spec.unit.is_empty() { String::new() } else { format!(" {}", spec.unit) };
    match (spec.range.hard_min, spec.range.hard_max) {
        (Some(min), _) if x < min => {
            let (x, min) = (written(x), written(min));
            Err(format!("{x}{unit} is below the smallest value allowed, {min}{unit}"))
        }
        (_, Some(max)) if x > max => {
            let (x, max) = (written(x), written(max));
            Err(format!("{x}{unit} is above the largest value allowed, {max}{unit}"))
        }
        _ if x.abs() > HUGE => Err(format!("{}{unit} is too large to be meant", written(x))),
        _ => Ok(x),
    }
}

/// Whether a text is an expression to evaluate: it names a variable, or consists of an expression's characters.
fn is_expression(text: &str) -> bool {
    let of_one = |c: char| c.is_ascii_digit() || "+-*/().eE ".contains(c);
    text.contains('$') || (text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(of_one))
}

/// `{"keys": [[frame, value], …], "ease": "linear"}`
fn keyframes(spec: &ParamSpec, pairs: &[(String, Json)], variables: &Variables) -> Result<Animated, String> {
    let mut keys = Vec::new();
    let mut ease = Ease::Linear;
    for (key, value) in pairs {
        match key.as_str() {
            "keys" => keys = read_keys(spec, value, variables)?,
            "ease" => {
                let name = value.text().unwrap_or("");
                let names = Ease::NAMES.iter().map(|n| n.0);
                ease = Ease::NAMES.iter().find(|n| n.0 == name).map(|n| n.1).ok_or_else(|| {
                    format!("`ease`: expected a way to ease, found {}{}", value.describe(), hint(name, names))
                })?;
            }
            _ => return Err(format!("keyframes have no key `{key}`{}", hint(key, ["keys", "ease"]))),
        }
    }
    if keys.is_empty() {
        return Err("keyframes need at least one key: {\"keys\": [[frame, value], …]}".into());
    }
    Ok(Animated::Keys { keys, ease, kind: spec.kind })
}

fn read_keys(spec: &ParamSpec, value: &Json, variables: &Variables) -> Result<Vec<(f64, Vec<f64>)>, String> {
    let list = value
        .list()
        .ok_or_else(|| format!("`keys`: expected a list [[frame, value], …], found {}", value.describe()))?;
    let mut keys: Vec<(f64, Vec<f64>)> = Vec::with_capacity(list.len());
    for (i, item) in list.iter().enumerate() {
        let place = |e: String| format!("key number {}: {e}", i + 1);
        let Some([frame, v]) = item.list() else {
            return Err(place(format!("expected [frame, value], found {}", item.describe())));
        };
        let frame = frame
            .number()
            .filter(|f| f.abs() <= 1e7)
            .ok_or_else(|| place(format!("expected a frame number, found {}", frame.describe())))?;
        if keys.last().is_some_and(|k| k.0 >= frame) {
            let frame = written(frame);
            return Err(place(format!("frame {frame} does not come after the key before it")));
        }
        keys.push((frame, components(spec, v, variables).map_err(place)?));
    }
    Ok(keys)
}
