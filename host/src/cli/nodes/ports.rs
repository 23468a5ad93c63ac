//! The data that nodes exchange, for plugin authors: of one node, and of all (`docs/ports.md`).

use crate::data::{Drawn, GridClass, Lifetime};
use crate::node::{Carries, Merge, NodeType, PortOwner, PortSpec, Stage};
use crate::text::{SENTENCE, one_line};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

// Writing into a String cannot fail, so the results of writeln! below are dropped.

/// The ports of a node, as text.
pub(super) fn as_text(text: &mut String, t: &NodeType) {
    let Some(contract) = t.contract.as_ref().filter(|c| !c.ports.is_empty()) else { return };
    let _ = writeln!(text, "\nPorts (the data it exchanges, for those who write plugins):");
    for p in &contract.ports {
        let uses = uses(p).join(", ");
        let _ = writeln!(text, "  {} of {}: {}; {uses}", p.called(), owner(p.owner, t), traits(p).join("; "));
        if !p.help.is_empty() {
            let _ = writeln!(text, "      {}", one_line(&p.help, 2 * SENTENCE));
        }
    }
}

/// The ports of a node as rows of a table: name, owner, data, stages, help.
pub(super) fn rows(t: &NodeType) -> impl Iterator<Item = [String; 5]> + '_ {
    t.contract.iter().flat_map(|c| &c.ports).map(|p| {
        [
            format!("`{}`", p.called()),
            owner(p.owner, t),
            traits(p).join("; "),
            uses(p).join(", "),
            p.help.clone(),
        ]
    })
}

/// The ports of a node, as JSON.
pub(super) fn as_json(t: &NodeType) -> Vec<Json> {
    let port = |p: &PortSpec| {
        let (element, components, sampling) = match p.carries {
            Carries::Grid { element, components, sampling } => {
                (Some(element.name()), Some(components), Some(sampling.place()))
            }
            Carries::Geometry | Carries::Table => (None, None, None),
        };
        let access: serde_json::Map<String, Json> =
            stages(p).map(|(stage, does)| (stage.name().into(), json!(does))).collect();
        json!({
            "name": p.name, "help": p.help, "unit": p.unit, "carries": p.carries.name(),
            "element": element, "components": components, "sampling": sampling,
            "class": class(p), "drawn": drawn(p), "result": p.is_result, "movable": p.is_movable,
            "report": p.report.as_ref().map(|r| json!({ "key": r.key, "entries": r.entries.iter().map(|e| json!([e.key, e.name])).collect::<Vec<_>>() })),
            "owner": owner_name(p.owner), "role": role(p.owner, t), "lifetime": lifetime(p),
            "merge": merge(p.merge), "required": p.required, "access": access,
        })
    };
    t.contract.iter().flat_map(|c| &c.ports).map(port).collect()
}

/// One page of all ports, by name: what the data is, which nodes write it and which read it.
pub(super) fn page(types: &[Arc<NodeType>]) -> String {
    let mut text = String::from(
        "# Ports\n\nThe data that the nodes of these plugins exchange, by name. `meniscus nodes --ports` prints this page.\n\
         Your plugin finds the same data under the same name. *Kept*: part of the state, saved in checkpoints. *Of one substep*: \
         deleted when the substep ends. *Needed*: a stage that reads it does not run without it.\n",
    );
    // Ports with the same name and description are listed once.
    let mut all: BTreeMap<(&str, Vec<String>, &str), Vec<String>> = BTreeMap::new();
    for t in types {
        for p in t.contract.iter().flat_map(|c| &c.ports) {
            let mut uses = uses(p);
            uses.extend(p.required.then(|| NEEDED.to_owned()));
            let user = format!("| `{}` | {} | {} |", t.short_name(), owner(p.owner, t), uses.join(", "));
            let of_data = traits(p).into_iter().filter(|trait_| trait_ != NEEDED).collect();
            all.entry((p.called(), of_data, &p.help)).or_default().push(user);
        }
    }
    for ((name, traits, help), users) in all {
        let _ = writeln!(text, "\n## {name}\n\n{}.", traits.join("; "));
        if !help.is_empty() {
            let _ = writeln!(text, "\n{help}");
        }
        let _ = writeln!(text, "\n| node | of | stages |\n|---|---|---|\n{}", users.join("\n"));
    }
    text
}

const NEEDED: &str = "needed";

/// The properties of the data: shape, unit, lifetime, and how several writers' values are merged.
fn traits(p: &PortSpec) -> Vec<String> {
    let shape = p.carries.described();
    let class = class(p).map(Into::into);
    let drawn = drawn(p).map(|how| format!("drawn like {how}"));
    let result = p.is_result.then(|| "caches write it unless told otherwise".into());
    let movable = p.is_movable.then(|| "forces move it".into());
    let listed = p.report.as_ref().map(|r| format!("its points are listed as `{}` in stats.jsonl", r.key));
    let unit = (!p.unit.is_empty()).then(|| p.unit.clone());
    let merged = (p.merge != Merge::Replace).then(|| format!("several writers: {}", merge(p.merge)));
    let needed = p.required.then(|| NEEDED.into());
    let lives = Some(lifetime(p).into());
    [Some(shape), class, drawn, unit, lives, movable, result, listed, merged, needed]
        .into_iter()
        .flatten()
        .collect()
}

fn class(p: &PortSpec) -> Option<&'static str> {
    match p.shown.class {
        GridClass::Plain => None,
        GridClass::LevelSet => Some("level set"),
        GridClass::Fog => Some("fog volume"),
    }
}

fn drawn(p: &PortSpec) -> Option<&'static str> {
    p.shown.drawn.map(|drawn| match drawn {
        Drawn::Liquid => "liquid",
        Drawn::Solid => "a solid",
        Drawn::Dots => "dots",
    })
}

fn lifetime(p: &PortSpec) -> &'static str {
    match (p.owner, p.lifetime) {
        (PortOwner::Input, _) => "from geometry nodes",
        (_, Lifetime::State) => "kept",
        (_, Lifetime::Substep) => "of one substep",
    }
}

fn merge(merge: Merge) -> &'static str {
    match merge {
        Merge::Replace => "the last write wins",
        Merge::Add => "added",
        Merge::Min => "the smallest value wins",
    }
}

/// What each stage does with it.
fn stages(p: &PortSpec) -> impl Iterator<Item = (Stage, &'static str)> {
    Stage::ALL.into_iter().filter_map(|s| match (p.access(s).reads, p.access(s).writes) {
        (true, true) => Some((s, "changes")),
        (true, false) => Some((s, "reads")),
        (false, true) => Some((s, "makes")),
        (false, false) => None,
    })
}

fn uses(p: &PortSpec) -> Vec<String> {
    stages(p).map(|(stage, does)| format!("{} {does} it", stage.name())).collect()
}

fn owner(owner: PortOwner, t: &NodeType) -> String {
    match owner {
        PortOwner::Object => "the object".into(),
        PortOwner::Solved => "all objects it solves".into(),
        PortOwner::Affector => "its affectors".into(),
        PortOwner::Input => "its inputs".into(),
        PortOwner::Participant(_) => format!("the participants `{}`", role(owner, t).unwrap_or_default()),
        PortOwner::Node => "the node itself".into(),
        PortOwner::Member(None) => "all participants themselves".into(),
        PortOwner::Member(Some(_)) => {
            format!("the participants `{}` themselves", role(owner, t).unwrap_or_default())
        }
    }
}

fn owner_name(owner: PortOwner) -> &'static str {
    match owner {
        PortOwner::Object => "object",
        PortOwner::Solved => "solved",
        PortOwner::Affector => "affector",
        PortOwner::Input => "input",
        PortOwner::Participant(_) => "participant",
        PortOwner::Node => "node",
        PortOwner::Member(_) => "member",
    }
}

fn role(owner: PortOwner, t: &NodeType) -> Option<&str> {
    let (PortOwner::Participant(r) | PortOwner::Member(Some(r))) = owner else { return None };
    t.contract.as_ref()?.roles.get(r).map(|r| r.name.as_str())
}
