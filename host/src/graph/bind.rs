//! Checks a graph against the node types, reads its parameters and orders its nodes.

use super::animated::Animated;
use super::convert::convert;
use super::problem::{Problem, Problems};
use super::read::{Graph, Node};
use super::settings::Settings;
use super::suggest::{hint, nearest};
use crate::node::{NodeKind, NodeType, Params, Value};
use meniscus_abi::Means;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Namespace a graph may leave out.
const NAMESPACE: &str = "meniscus.";

/// Every node type of the host and of the plugins.
#[derive(Clone, Debug, Default)]
pub struct Types {
    types: Vec<Arc<NodeType>>,
    refused: Vec<String>,
}

impl Types {
    /// Adds a type; false when that name and version is there already (the first found stays).
    pub fn add(&mut self, node_type: Arc<NodeType>) -> bool {
        let taken = self.types.iter().any(|t| t.id == node_type.id && t.version == node_type.version);
        if !taken {
            self.types.push(node_type);
            self.types.sort_by(|a, b| (a.kind, &a.id, a.version).cmp(&(b.kind, &b.id, b.version)));
        }
        !taken
    }

    /// Notes a plugin that could not be opened, in one sentence: a type that is missed may be in it.
    pub fn refuse(&mut self, sentence: String) {
        self.refused.push(sentence);
    }

    /// All types, by kind, name and version.
    pub fn all(&self) -> &[Arc<NodeType>] {
        &self.types
    }

    /// The types of objects of each medium.
    fn media(&self) -> BTreeMap<String, Vec<String>> {
        let mut media: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for found in self.types.iter().filter(|t| t.kind == NodeKind::Object) {
            let Some(contract) = &found.contract else { continue };
            let names = media.entry(contract.medium.clone()).or_default();
            if !names.iter().any(|name| name == found.short_name()) {
                names.push(found.short_name().to_owned());
            }
        }
        media
    }

    /// The type of that name (with or without `meniscus.`): the version asked for, else the newest.
    pub fn find<'a>(&'a self, name: &'a str, version: Option<u32>) -> Option<&'a Arc<NodeType>> {
        self.versions(name).filter(|t| version.is_none_or(|v| t.version == v)).max_by_key(|t| t.version)
    }

    fn versions<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Arc<NodeType>> {
        self.types.iter().filter(move |t| t.id == name || t.id.strip_prefix(NAMESPACE) == Some(name))
    }

    /// Node types that may have been meant by an unknown name.
    fn instead_of(&self, name: &str) -> String {
        if self.refused.is_empty() || nearest(name, self.short_names()).is_some() {
            return hint(name, self.short_names());
        }
        format!("; perhaps it is in a plugin that was refused: {}", self.refused.join("; "))
    }

    fn short_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|t| t.short_name())
    }
}

/// A node bound to its type.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Unique name.
    pub name: String,
    /// Its type.
    pub node_type: Arc<NodeType>,
    /// Numbers of the nodes wired in, in wire order; all smaller than the node's own number.
    pub inputs: Vec<usize>,
    /// Passes its input through.
    pub bypass: bool,
    /// Every parameter of the type, defaults filled in.
    pub params: BTreeMap<String, Animated>,
}

impl Bound {
    /// The parameters at a frame number (fractions lie between frames).
    pub fn params_at(&self, frame: f64) -> Params {
        Params { values: self.params.iter().map(|(k, v)| (k.clone(), v.at(frame))).collect() }
    }

    /// The parameter that means a thing to the host.
    pub fn meaning(&self, means: Means) -> Option<&Animated> {
        let spec = self.node_type.params.iter().find(|p| p.means == means)?;
        self.params.get(&spec.name)
    }

    /// The first number of the parameter that means a thing to the host, at a frame; of a menu its entry.
    pub fn meant(&self, means: Means, frame: f64) -> Option<f64> {
        match self.meaning(means)?.at(frame) {
            Value::Toggle(on) => Some(f64::from(on)),
            Value::Integers(v) => v.first().map(|&n| n as f64),
            Value::Numbers(v) => v.first().copied(),
            Value::Text(token) => {
                let spec = self.node_type.params.iter().find(|p| p.means == means)?;
                spec.menu.iter().position(|m| m.0 == token).map(|entry| entry as f64)
            }
            Value::Texts(_) => None,
        }
    }

    /// The vector that means a thing to the host, at a frame.
    pub fn meant_vector(&self, means: Means, frame: f64) -> Option<[f64; 3]> {
        match self.meaning(means)?.at(frame) {
            Value::Numbers(v) => v.try_into().ok(),
            _ => None,
        }
    }

    /// True when a parameter changes over time.
    pub fn is_animated(&self) -> bool {
        self.params.values().any(Animated::is_animated)
    }
}

/// A checked graph: nodes ordered so that inputs come first.
#[derive(Clone, Debug)]
pub struct Network {
    /// Settings of the shot.
    pub settings: Settings,
    /// Nodes in wire order: every node stands after its inputs.
    pub nodes: Vec<Bound>,
    /// The types of objects that there are of each medium.
    pub media: BTreeMap<String, Vec<String>>,
}

impl Network {
    /// Checks a graph against the types.
    pub fn bind(graph: &Graph, types: &Types) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let order = wire_order(&graph.nodes, &mut problems);
        let mut place = vec![usize::MAX; graph.nodes.len()];
        order.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        let mut named = BTreeMap::new();
        for (i, node) in graph.nodes.iter().enumerate() {
            named.entry(node.name.as_str()).or_insert(place[i]);
        }
        let mut nodes = Vec::with_capacity(order.len());
        for node in order.iter().map(|&i| &graph.nodes[i]) {
            let inputs = node.inputs.iter().filter_map(|name| named.get(name.as_str()).copied()).collect();
            if let Some(node_type) = find_type(node, types, &mut problems) {
                let params = bind_params(node, &node_type, &graph.settings, &mut problems);
                nodes.push(Bound { name: node.name.clone(), node_type, inputs, bypass: node.bypass, params });
            }
        }
        if problems.0.is_empty() {
            nodes.iter().for_each(|n| check_inputs(n, &nodes, &mut problems));
        }
        problems.unless_any(Network { settings: graph.settings.clone(), nodes, media: types.media() })
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&Bound> {
        self.nodes.iter().find(|n| n.name == name)
    }
}

fn find_type(node: &Node, types: &Types, problems: &mut Problems) -> Option<Arc<NodeType>> {
    if let Some(found) = types.find(&node.type_name, node.version) {
        return Some(found.clone());
    }
    let versions: Vec<String> = types.versions(&node.type_name).map(|t| t.version.to_string()).collect();
    let shown = super::json::shorten(&node.type_name);
    problems.0.push(Problem::node(
        &node.name,
        match (node.version, versions.is_empty()) {
            (Some(v), false) => {
                format!("type `{shown}` has no version {v}; there is version {}", versions.join(", "))
            }
            _ => format!("there is no node type `{shown}`{}", types.instead_of(&node.type_name)),
        },
    ));
    None
}

fn bind_params(
    node: &Node,
    node_type: &NodeType,
    settings: &Settings,
    problems: &mut Problems,
) -> BTreeMap<String, Animated> {
    let default = |p: &crate::node::ParamSpec| (p.name.clone(), Animated::Constant(p.default.clone()));
    let mut params: BTreeMap<String, Animated> = node_type.params.iter().map(default).collect();
    for (name, json) in &node.params {
        let Some(spec) = node_type.param(name) else {
            let hint = hint(name, node_type.params.iter().map(|p| p.name.as_str()));
            let type_name = node_type.short_name();
            let shown = super::json::shorten(name);
            problems.0.push(Problem::param(
                &node.name,
                &shown,
                format!("`{type_name}` has no such parameter{hint}"),
            ));
            continue;
        };
        match convert(spec, json, &settings.variables) {
            Ok(v) => drop(params.insert(name.clone(), v)),
            Err(e) => problems.0.push(Problem::param(&node.name, name, e)),
        }
    }
    params
}

/// Node numbers with every node after its inputs; file order otherwise. Cycles and missing inputs are named.
fn wire_order(nodes: &[Node], problems: &mut Problems) -> Vec<usize> {
    let index: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(i, n)| (n.name.as_str(), i)).collect();
    let mut inputs: Vec<Vec<usize>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut wired = Vec::new();
        for name in &node.inputs {
            match index.get(name.as_str()) {
                Some(&i) => wired.push(i),
                None => {
                    let shown = super::json::shorten(name);
                    let hint = hint(name, index.keys().copied().filter(|n| *n != node.name));
                    problems.0.push(Problem::node(
                        &node.name,
                        format!("input `{shown}` is no node of this graph{hint}"),
                    ));
                }
            }
        }
        inputs.push(wired);
    }
    let mut placed = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut waiting: Vec<usize> = inputs.iter().map(Vec::len).collect();
    inputs.iter().enumerate().for_each(|(i, wired)| wired.iter().for_each(|&j| users[j].push(i)));
    let mut ready: std::collections::BTreeSet<usize> =
        (0..nodes.len()).filter(|&i| waiting[i] == 0).collect();
    while let Some(i) = ready.pop_first() {
        placed[i] = true;
        order.push(i);
        for &user in &users[i] {
            waiting[user] -= 1;
            if waiting[user] == 0 {
                ready.insert(user);
            }
        }
    }
    if order.len() < nodes.len() {
        problems.0.push(Problem::graph(format!(
            "nodes feed each other in a circle: {}",
            circle(nodes, &inputs, &placed)
        )));
    }
    order
}

/// One circle among the nodes that could not be placed, as `a → b → a` in the direction of flow.
fn circle(nodes: &[Node], inputs: &[Vec<usize>], placed: &[bool]) -> String {
    let Some(mut at) = placed.iter().position(|p| !p) else { return String::new() };
    let mut path = vec![at];
    while let Some(&next) = inputs[at].iter().find(|&&j| !placed[j]) {
        if let Some(start) = path.iter().position(|&p| p == next) {
            path.drain(..start);
            path.push(next);
            break;
        }
        path.push(next);
        at = next;
    }
    path.iter().rev().map(|&i| nodes[i].name.as_str()).collect::<Vec<_>>().join(" → ")
}

/// What to wire in rather than a node of a kind that is not accepted: what it is itself made from.
fn instead(input: &Bound, nodes: &[Bound], accepted: &[NodeKind]) -> String {
    let mut open = input.inputs.clone();
    let mut found = std::collections::BTreeSet::new();
    while let Some(i) = open.pop() {
        match accepted.contains(&nodes[i].node_type.kind) {
            true => drop(found.insert(i)),
            false => open.extend(&nodes[i].inputs),
        }
    }
    let names: Vec<String> = found.into_iter().map(|i| format!("`{}`", nodes[i].name)).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("; it comes from {}: wire these in", names.join(", "))
    }
}

fn check_inputs(node: &Bound, nodes: &[Bound], problems: &mut Problems) {
    let accepted = node.node_type.accepts();
    for input in node.inputs.iter().map(|&i| &nodes[i]) {
        let kind = input.node_type.kind;
        if !accepted.contains(&kind) {
            let wanted = accepted.iter().map(|k| k.name()).collect::<Vec<_>>().join(" or ");
            let (own, name) = (node.node_type.kind.with_article(), &input.name);
            let found = kind.with_article();
            let instead = instead(input, nodes, accepted);
            let message = format!("input `{name}` is {found} node; {own} node takes {wanted} nodes{instead}");
            problems.0.push(Problem::node(&node.name, message));
        }
    }
    let (count, least, most) = (node.inputs.len(), node.node_type.min_inputs, node.node_type.max_inputs);
    let inputs = |n: usize| format!("{n} input{}", if n == 1 { "" } else { "s" });
    if count < least {
        let message = format!("needs at least {}, found {count}", inputs(least));
        problems.0.push(Problem::node(&node.name, message));
    }
    if let Some(most) = most.filter(|&m| count > m) {
        let message = format!("takes at most {}, found {count}", inputs(most));
        problems.0.push(Problem::node(&node.name, message));
    }
    let mut seen = std::collections::BTreeSet::new();
    if let Some(&twice) = node.inputs.iter().find(|i| !seen.insert(**i)) {
        problems
            .0
            .push(Problem::node(&node.name, format!("input `{}` is wired in twice", nodes[twice].name)));
    }
}
