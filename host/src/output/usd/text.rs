//! Layers as text (`.usda`).

use super::layer::{Field, Layer, Prim, Property};
use super::value::Value;
use std::fmt::{Display, Write};

/// Appends formatted text; writing into memory cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {{
        let _ = write!($out, $($text)*);
    }};
}

/// The bytes of a layer.
pub fn bytes(layer: &Layer) -> Vec<u8> {
    let mut out = String::from("#usda 1.0\n(\n");
    put!(out, "    defaultPrim = \"{}\"\n", layer.root.name);
    layer.fields.iter().for_each(|f| field(f, 1, &mut out));
    out.push_str(")\n\n");
    prim(&layer.root, 0, &mut out);
    out.into_bytes()
}

/// The texts that a dictionary of a layer has under a key; `None` where there are none.
pub fn texts_of(layer: &str, key: &str) -> Option<Vec<String>> {
    let start = format!("string[] {key} = ");
    let line = layer.lines().find_map(|line| line.trim_start().strip_prefix(&start))?;
    Some(line.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

fn indent(depth: usize, out: &mut String) {
    put!(out, "{:1$}", "", 4 * depth);
}

fn field((key, value): &Field, depth: usize, out: &mut String) {
    indent(depth, out);
    let prepended = matches!(value, Value::Reference(_) | Value::Schemas(_));
    put!(out, "{}{key} = ", if prepended { "prepend " } else { "" });
    write_value(value, depth, out);
    out.push('\n');
}

fn prim(prim: &Prim, depth: usize, out: &mut String) {
    indent(depth, out);
    match prim.type_name {
        Some(name) => put!(out, "def {name} \"{}\"", prim.name),
        None => put!(out, "over \"{}\"", prim.name),
    }
    if !prim.fields.is_empty() {
        out.push_str(" (\n");
        prim.fields.iter().for_each(|f| field(f, depth + 1, out));
        indent(depth, out);
        out.push(')');
    }
    out.push('\n');
    indent(depth, out);
    out.push_str("{\n");
    prim.properties.iter().for_each(|p| property(p, depth + 1, out));
    for child in &prim.children {
        self::prim(child, depth + 1, out);
    }
    indent(depth, out);
    out.push_str("}\n");
}

fn property(property: &Property, depth: usize, out: &mut String) {
    let Property { name, target, .. } = property;
    let Some(kind) = property.type_name else {
        indent(depth, out);
        put!(out, "rel {name} = <{}>\n", target.as_deref().unwrap_or_default());
        return;
    };
    let is_declared = property.samples.is_empty() && target.is_none();
    if is_declared || property.value.is_some() {
        indent(depth, out);
        put!(out, "{}{kind} {name}", if property.is_uniform { "uniform " } else { "" });
        if let Some(value) = &property.value {
            out.push_str(" = ");
            write_value(value, depth, out);
        }
        match property.interpolation {
            Some(each) => put!(out, " (interpolation = \"{each}\")\n"),
            None => out.push('\n'),
        }
    }
    if !property.samples.is_empty() {
        indent(depth, out);
        put!(out, "{kind} {name}.timeSamples = {{\n");
        for (time, value) in &property.samples {
            indent(depth + 1, out);
            put!(out, "{time}: ");
            write_value(value, depth, out);
            out.push_str(",\n");
        }
        indent(depth, out);
        out.push_str("}\n");
    }
    if let Some(source) = target {
        indent(depth, out);
        put!(out, "{kind} {name}.connect = <{source}>\n");
    }
}

fn write_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Truth(v) => put!(out, "{v}"),
        Value::Int(v) => put!(out, "{v}"),
        Value::Float(v) => put!(out, "{v}"),
        Value::Double(v) => put!(out, "{v}"),
        Value::Token(t) | Value::Text(t) => out.push_str(&quoted(t)),
        Value::Asset(path) | Value::Reference(path) => put!(out, "@{path}@"),
        Value::Float2(v) => out.push_str(&tuple(v)),
        Value::Float3(v) => out.push_str(&tuple(v)),
        Value::Double3(v) => out.push_str(&tuple(v)),
        Value::Quaternion([x, y, z, w]) => out.push_str(&tuple(&[w, x, y, z])),
        Value::Matrix(m) => {
            let rows: Vec<String> = m.chunks_exact(4).map(tuple).collect();
            put!(out, "({})", rows.join(", "));
        }
        Value::Ints(v) => list(v.iter(), out),
        Value::Longs(v) => list(v.iter(), out),
        Value::Floats(v) => list(v.iter(), out),
        Value::Vectors(v) => list(v.iter().map(|v| tuple(v)), out),
        Value::Pairs(v) => list(v.iter().map(|v| tuple(v)), out),
        Value::Tokens(v) | Value::Texts(v) => list(v.iter().map(|t| quoted(t)), out),
        Value::Schemas(v) => list(v.iter().map(|t| quoted(t)), out),
        Value::Assets(v) => list(v.iter().map(|path| format!("@{path}@")), out),
        Value::Dictionary(entries) => {
            out.push_str("{\n");
            for (key, value) in entries {
                indent(depth + 1, out);
                put!(out, "{} {key} = ", value.type_name());
                write_value(value, depth + 1, out);
                out.push('\n');
            }
            indent(depth, out);
            out.push('}');
        }
    };
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn tuple<T: Display>(numbers: &[T]) -> String {
    let numbers: Vec<String> = numbers.iter().map(T::to_string).collect();
    format!("({})", numbers.join(", "))
}

fn list<T: Display>(items: impl Iterator<Item = T>, out: &mut String) {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    put!(out, "[{}]", items.join(", "));
}
