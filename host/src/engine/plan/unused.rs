//! What a graph gives to a node for nothing: parameters that have no effect beside others, frames outside of the shot, and names that
//! no node has.

use crate::engine::span::span;
use crate::graph::{Animated, Bound, Network, hint};
use crate::node::{ParamSpec, Value, holds_by};
use crate::output::Pattern;

/// The nodes, each with a sentence about it.
pub(super) fn unused(network: &Network) -> Vec<(usize, String)> {
    let shot = network.settings.frames;
    let nodes = network.nodes.iter().enumerate().filter(|(_, node)| !node.bypass);
    nodes
        .flat_map(|(i, node)| {
            let said = without_effect(node).chain(never(node, shot)).chain(misnamed(network, node));
            said.map(move |said| (i, said))
        })
        .collect()
}

/// Parameters that say something and have no effect, by the node's own word.
fn without_effect(node: &Bound) -> impl Iterator<Item = String> {
    let constant = |name: &str| match node.params.get(name)? {
        Animated::Constant(value) => Some(value.clone()),
        Animated::Keys { .. } => None,
    };
    node.node_type.params.iter().filter_map(move |spec| {
        let says = constant(&spec.name).is_none_or(|value| value != spec.default);
        let by = holds_by(&spec.disable_when, constant).filter(|_| says)?;
        let by: Vec<String> =
            by.iter().filter_map(|name| Some(format!("`{name}` is {}", shown(&constant(name)?)))).collect();
        Some(format!("`{}` has no effect, since {}", spec.name, by.join(" and ")))
    })
}

/// Names in a node's parameters that no node has.
fn misnamed(network: &Network, node: &Bound) -> Vec<String> {
    let known: Vec<&str> = network.nodes.iter().map(|n| n.name.as_str()).collect();
    let names = |spec: &ParamSpec| match node.params.get(&spec.name) {
        Some(Animated::Constant(Value::Text(text))) => {
            let strangers = Pattern::new(text).strangers(&known);
            strangers.into_iter().map(|name| (spec.name.clone(), name.to_owned())).collect()
        }
        _ => Vec::new(),
    };
    let found = node.node_type.params.iter().filter(|spec| spec.names_nodes).flat_map(names);
    let sentence = |(param, name): (String, String)| {
        format!("`{param}` names `{name}`, and no node is called so{}", hint(&name, known.iter().copied()))
    };
    found.map(sentence).collect()
}

/// A value in a sentence.
fn shown(value: &Value) -> String {
    match value {
        Value::Toggle(on) => if *on { "on" } else { "off" }.into(),
        Value::Text(text) if text.is_empty() => "empty".into(),
        Value::Text(text) => text.clone(),
        other => crate::graph::to_json_value(other).to_string(),
    }
}

/// A node whose frames hold none of the shot's.
fn never(node: &Bound, shot: (i32, i32)) -> Option<String> {
    let (first, last) = span(node, shot);
    match (first > shot.1, last < first) {
        (true, _) => {
            Some(format!("it begins in frame {first}, and the shot ends with {}: it takes no part", shot.1))
        }
        (_, true) => Some(format!("it ends with frame {last}, before frame {first}: it takes no part")),
        _ => None,
    }
}
