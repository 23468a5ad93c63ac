//! `meniscus nodes`: lists the node types, or one in full.

mod ports;
mod reference;

use super::args::NodesArgs;
use super::{BAD_USAGE, fail, say, tell};
use crate::graph::nearest;
use crate::loader::Plugins;
use crate::node::{NodeType, ParamKind, ParamSpec, Range};
use crate::text::{SENTENCE, number as plain, one_line};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::sync::Arc;

pub(super) fn run(args: &NodesArgs) -> u8 {
    let plugins = Plugins::load();
    for warning in plugins.warnings() {
        tell(&format!("warning: {warning}"));
    }
    let types = plugins.types();
    if args.ports {
        return say(&ports::page(types.all()));
    }
    if args.reference {
        return say(&reference::page(types.all(), args.pictures.as_deref()));
    }
    let Some(name) = &args.type_name else {
        if args.json {
            let all: Vec<Json> = types.all().iter().map(|t| as_json(t)).collect();
            return say(&format!("{}\n", pretty(&Json::Array(all))));
        }
        return say(&list(types.all()));
    };
    match types.find(name, None) {
        Some(t) if args.json => say(&format!("{}\n", pretty(&as_json(t)))),
        Some(t) => say(&in_full(t)),
        None => {
            let near = nearest(name, types.all().iter().map(|t| t.short_name()));
            let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            fail(BAD_USAGE, &format!("there is no node type `{}`{hint}", one_line(name, 60)))
        }
    }
}

fn pretty(json: &Json) -> String {
    serde_json::to_string_pretty(json).unwrap_or_default()
}

// Writing into a String cannot fail, so the results of writeln! below are dropped.

fn list(types: &[Arc<NodeType>]) -> String {
    /// Letters that the column of names has room for.
    const COLUMN: usize = 40;
    let mut text = String::new();
    let width = types.iter().map(|t| t.short_name().len()).max().unwrap_or(0).min(COLUMN);
    let mut kind = None;
    for t in types {
        if kind != Some(t.kind) {
            let _ = writeln!(text, "{}{}:", if kind.is_some() { "\n" } else { "" }, t.kind.name());
            kind = Some(t.kind);
        }
        let from = if t.plugin.is_empty() { String::new() } else { format!("  [{}]", t.plugin) };
        let first = one_line(t.help.split_inclusive(". ").next().unwrap_or("").trim(), SENTENCE);
        let _ = writeln!(text, "  {:width$}  {first}{from}", t.short_name());
    }
    let _ = writeln!(text, "\n`meniscus nodes TYPE` shows one in full.");
    text
}

fn in_full(t: &NodeType) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}  version {}  ({}, {})", t.id, t.version, t.label, t.kind.name());
    let _ = writeln!(text, "{}", one_line(&t.help, 4 * SENTENCE));
    if !t.houdini_name.is_empty() {
        let _ = writeln!(text, "In Houdini: {}", t.houdini_name);
    }
    if !t.cites.is_empty() {
        let _ = writeln!(text, "Papers: {}", t.cites.split_whitespace().collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(text, "Inputs: {}", inputs(t));
    if !t.params.is_empty() {
        let _ = writeln!(text, "\nParameters:");
    }
    let (mut folder, mut help) = ("", "");
    for p in &t.params {
        if p.folder != folder {
            folder = &p.folder;
            let _ = writeln!(text, " {folder}");
        }
        let value = crate::graph::to_json_value(&p.default);
        let _ = writeln!(text, "  {} = {value}{}", p.name, traits(p));
        // The sides of a box differ only in their labels, so the help is printed once.
        let told = std::mem::replace(&mut help, &p.help) == p.help && !help.is_empty();
        let _ = writeln!(text, "      {}. {}", p.label, if told { "As above." } else { help });
    }
    ports::as_text(&mut text, t);
    text
}

/// How many inputs it takes, and of which kinds.
fn inputs(t: &NodeType) -> String {
    let kinds: Vec<&str> = t.accepts().iter().map(|k| k.name()).collect();
    match (t.min_inputs, t.max_inputs) {
        (_, Some(0)) => "none".into(),
        (a, Some(b)) if a == b => format!("{a} ({})", kinds.join(", ")),
        (a, Some(b)) => format!("{a} to {b} ({})", kinds.join(", ")),
        (a, None) => format!("{a} or more ({})", kinds.join(", ")),
    }
}

/// Unit, range, menu and Houdini's name of a parameter.
fn traits(p: &ParamSpec) -> String {
    let mut parts = Vec::new();
    if !p.unit.is_empty() {
        parts.push(p.unit.clone());
    }
    parts.extend(range(&p.range));
    if !p.menu.is_empty() {
        parts.push(format!("one of {}", p.menu.iter().map(|m| m.0.as_str()).collect::<Vec<_>>().join(", ")));
    }
    if !p.animatable {
        parts.push("fixed for the shot".into());
    }
    if !p.houdini_name.is_empty() {
        parts.push(format!("Houdini: {}", p.houdini_name));
    }
    if parts.is_empty() { String::new() } else { format!("  [{}]", parts.join("; ")) }
}

fn range(r: &Range) -> Option<String> {
    let soft = match (r.soft_min, r.soft_max) {
        (Some(a), Some(b)) if a != b => Some(format!("usually {} to {}", plain(a), plain(b))),
        _ => None,
    };
    let hard = match (r.hard_min, r.hard_max) {
        (Some(a), Some(b)) => return Some(format!("{} to {}", plain(a), plain(b))),
        (Some(a), None) => Some(format!("{} at least", plain(a))),
        (None, Some(b)) => Some(format!("{} at most", plain(b))),
        (None, None) => None,
    };
    let all: Vec<String> = [hard, soft].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn as_json(t: &NodeType) -> Json {
    let params: Vec<Json> = t
        .params
        .iter()
        .map(|p| {
            json!({
                "name": p.name, "label": p.label, "folder": p.folder, "unit": p.unit, "help": p.help,
                "kind": kind(p), "components": p.components, "default": crate::graph::to_json_value(&p.default),
                "hard_min": p.range.hard_min, "hard_max": p.range.hard_max,
                "soft_min": p.range.soft_min, "soft_max": p.range.soft_max,
                "menu": p.menu.iter().map(|m| json!({ "token": m.0, "label": m.1 })).collect::<Vec<_>>(),
                "disable_when": p.disable_when, "houdini_name": p.houdini_name, "animatable": p.animatable,
            })
        })
        .collect();
    json!({
        "id": t.id, "version": t.version, "label": t.label, "kind": t.kind.name(), "help": t.help,
        "plugin": t.plugin, "houdini_name": t.houdini_name, "cites": t.cites.split_whitespace().collect::<Vec<_>>(),
        "min_inputs": t.min_inputs, "max_inputs": t.max_inputs,
        "accepts": t.accepts().iter().map(|k| k.name()).collect::<Vec<_>>(),
        "medium": t.contract.as_ref().map(|c| c.medium.clone()),
        "params": params, "ports": ports::as_json(t),
    })
}

fn kind(p: &ParamSpec) -> &'static str {
    match p.kind {
        ParamKind::Toggle => "toggle",
        ParamKind::Integer => "integer",
        ParamKind::Number => "number",
        ParamKind::Text => "text",
        ParamKind::File => "file",
        ParamKind::Menu => "menu",
        ParamKind::Texts => "texts",
    }
}
