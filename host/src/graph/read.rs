//! Reads nodes and settings from a graph's JSON.

use super::json::{Json, shorten};
use super::overrides::Override;
use super::problem::{Problem, Problems};
use super::settings::Settings;
use super::suggest::hint;

/// Format this host reads.
const FORMAT: &str = "meniscus.graph/1";
/// Words that `--set` reads as settings of the shot, so no node may have them as its name.
const RESERVED: [&str; 4] = ["fps", "frames", "substeps", "quality"];

/// A node as the file gives it, its type not yet looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name; also names its folder of files.
    pub name: String,
    /// Type as written.
    pub type_name: String,
    /// Version pinned.
    pub version: Option<u32>,
    /// Names of the nodes wired in, in wire order.
    pub inputs: Vec<String>,
    /// Passes its input through.
    pub bypass: bool,
    /// Parameters as written.
    pub params: Vec<(String, Json)>,
}

/// A graph as the file gives it, with quality and overrides applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Settings of the shot.
    pub settings: Settings,
    /// Names of the qualities on offer; the first is the default.
    pub qualities: Vec<String>,
    /// Nodes in file order.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// Reads a graph file's text and applies overrides: file, then quality, then the others in order.
    pub fn read(text: &str, overrides: &[Override]) -> Result<Self, Problems> {
        let json = Json::parse(text).map_err(Problem::graph)?;
        let pairs = json
            .object()
            .ok_or_else(|| Problem::graph(format!("expected an object {{…}}, found {}", json.describe())))?;
        check_format(pairs)?;
        let mut problems = Problems::default();
        let mut graph = Graph { settings: Settings::default(), qualities: Vec::new(), nodes: Vec::new() };
        let mut quality = None;
        for (key, value) in pairs {
            match key.as_str() {
                "format" | "comment" => {}
                "nodes" => graph.nodes = read_nodes(value, &mut problems),
                "quality" => quality = Some(value),
                "variables" => read_variables(value, &mut graph.settings, &mut problems),
                _ if graph.settings.apply(key, value, &mut problems) => {}
                _ => problems.0.push(Problem::graph(unknown_key(key))),
            }
        }
        if !pairs.iter().any(|(k, _)| k == "nodes") {
            problems.0.push(Problem::graph("expected a list of \"nodes\", found none"));
        }
        graph.choose_quality(quality, overrides, &mut problems);
        for o in overrides.iter().filter(|o| o.key != "quality") {
            graph.apply(o, &mut problems);
        }
        problems.unless_any(graph)
    }

    fn choose_quality(&mut self, quality: Option<&Json>, overrides: &[Override], problems: &mut Problems) {
        let wanted = overrides.iter().rev().find(|o| o.key == "quality").map(|o| &o.value);
        let levels = quality.map(|q| read_levels(q, problems)).unwrap_or_default();
        self.qualities = levels.iter().map(|(name, _)| (*name).to_owned()).collect();
        let level = match wanted {
            None => levels.first(),
            Some(w) => {
                let found = levels.iter().find(|(name, _)| Some(*name) == w.text());
                if found.is_none() {
                    let names = hint(w.text().unwrap_or(""), levels.iter().map(|l| l.0));
                    let none =
                        if levels.is_empty() { "; this graph offers no choice of quality" } else { &names };
                    problems.0.push(Problem::graph(format!(
                        "`quality`: there is no quality for {}{none}",
                        w.describe()
                    )));
                }
                found
            }
        };
        let Some((name, pairs)) = level else { return };
        self.settings.quality = Some((*name).to_owned());
        for (key, value) in *pairs {
            if !self.settings.apply(key, value, problems) {
                self.settings.set_variable(key, value, problems);
            }
        }
    }

    fn apply(&mut self, o: &Override, problems: &mut Problems) {
        if self.settings.apply(&o.key, &o.value, problems) {
            return;
        }
        let Some((node_name, param)) = o.key.split_once('.') else {
            if self.settings.variables.contains_key(&o.key) {
                return self.settings.set_variable(&o.key, &o.value, problems);
            }
            let known = self.settings.variables.keys().map(String::as_str).chain(RESERVED);
            let hint = hint(&o.key, known);
            return problems.0.push(Problem::graph(format!(
                "--set {}: there is no such variable or setting{hint}",
                o.key
            )));
        };
        let names: Vec<String> = self.nodes.iter().map(|n| n.name.clone()).collect();
        let Some(node) = self.nodes.iter_mut().find(|n| n.name == node_name) else {
            let hint = hint(node_name, names.iter().map(String::as_str));
            return problems
                .0
                .push(Problem::graph(format!("--set {}: there is no node `{node_name}`{hint}", o.key)));
        };
        match (param, &o.value) {
            ("bypass", Json::Bool(b)) => node.bypass = *b,
            ("bypass", v) => problems.0.push(Problem::param(
                node_name,
                "bypass",
                format!("expected true or false, found {}", v.describe()),
            )),
            _ => match node.params.iter_mut().find(|(k, _)| k == param) {
                Some((_, v)) => *v = o.value.clone(),
                None => node.params.push((param.to_owned(), o.value.clone())),
            },
        }
    }
}

fn check_format(pairs: &[(String, Json)]) -> Result<(), Problem> {
    match pairs.iter().find(|(k, _)| k == "format").map(|(_, v)| v) {
        Some(Json::Text(t)) if t == FORMAT => Ok(()),
        Some(Json::Text(t)) if t.starts_with("meniscus.graph/") => Err(Problem::graph(format!(
            "the graph is of format `{}`, this host reads `{FORMAT}`: a newer Meniscus is needed",
            shorten(t)
        ))),
        Some(v) => Err(Problem::graph(format!("`format`: expected \"{FORMAT}\", found {}", v.describe()))),
        None => Err(Problem::graph(format!(
            "this is no Meniscus graph: the key \"format\": \"{FORMAT}\" is missing"
        ))),
    }
}

fn unknown_key(key: &str) -> String {
    let known = ["format", "comment", "fps", "frames", "substeps", "quality", "variables", "nodes"];
    format!("unknown key `{}`{}", shorten(key), hint(key, known))
}

fn read_variables(value: &Json, settings: &mut Settings, problems: &mut Problems) {
    match value.object() {
        Some(pairs) => pairs.iter().for_each(|(k, v)| settings.set_variable(k, v, problems)),
        None => problems.0.push(Problem::graph(format!(
            "`variables`: expected an object of numbers, found {}",
            value.describe()
        ))),
    }
}

type Level<'a> = (&'a str, &'a [(String, Json)]);

/// The quality levels, the default first: the one that `"default"` names, else the first.
fn read_levels<'a>(value: &'a Json, problems: &mut Problems) -> Vec<Level<'a>> {
    let Some(pairs) = value.object() else {
        let found = value.describe();
        problems
            .0
            .push(Problem::graph(format!("`quality`: expected an object of quality levels, found {found}")));
        return Vec::new();
    };
    let mut levels: Vec<Level> = Vec::new();
    for (name, level) in pairs.iter().filter(|(k, _)| k != "default") {
        match level.object() {
            Some(settings) => levels.push((name, settings)),
            None => problems.0.push(Problem::graph(format!(
                "quality `{}`: expected an object of variables and settings, found {}",
                shorten(name),
                level.describe()
            ))),
        }
    }
    if let Some((_, default)) = pairs.iter().find(|(k, _)| k == "default") {
        match levels.iter().position(|l| Some(l.0) == default.text()) {
            Some(i) => levels[..=i].rotate_right(1),
            None => {
                let hint = hint(default.text().unwrap_or(""), levels.iter().map(|l| l.0));
                let found = default.describe();
                problems.0.push(Problem::graph(format!(
                    "quality `default`: expected the name of a quality, found {found}{hint}"
                )));
            }
        }
    }
    levels
}

fn read_nodes(value: &Json, problems: &mut Problems) -> Vec<Node> {
    let Some(items) = value.list() else {
        problems.0.push(Problem::graph(format!("`nodes`: expected a list, found {}", value.describe())));
        return Vec::new();
    };
    let mut seen = std::collections::HashSet::new();
    let mut nodes = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let Some(node) = read_node(i, item, problems) else { continue };
        if !seen.insert(node.name.clone()) {
            problems.0.push(Problem::node(&node.name, "two nodes have this name; names must differ"));
        }
        nodes.push(node);
    }
    nodes
}

fn read_node(index: usize, item: &Json, problems: &mut Problems) -> Option<Node> {
    let place = format!("node number {}", index + 1);
    let Some(pairs) = item.object() else {
        problems
            .0
            .push(Problem::graph(format!("{place}: expected an object {{…}}, found {}", item.describe())));
        return None;
    };
    let Some(name) = pairs.iter().find(|(k, _)| k == "name").and_then(|(_, v)| v.text()) else {
        problems.0.push(Problem::graph(format!("{place}: expected a \"name\", a text")));
        return None;
    };
    if let Some(why) = bad_name(name) {
        problems.0.push(Problem::graph(format!("{place}: the name \"{}\" {why}", shorten(name))));
        return None;
    }
    let mut node = Node {
        name: name.to_owned(),
        type_name: String::new(),
        version: None,
        inputs: Vec::new(),
        bypass: false,
        params: Vec::new(),
    };
    let (mut complaints, mut unknown) = (Vec::new(), Vec::new());
    let mut wrong = |key: &str, expected: &str, v: &Json| {
        complaints.push(format!("`{key}`: expected {expected}, found {}", v.describe()));
    };
    for (key, value) in pairs {
        match (key.as_str(), value) {
            ("name" | "comment", _) => {}
            ("type", Json::Text(t)) => node.type_name = t.clone(),
            ("type", v) => wrong(key, "the name of a node type", v),
            ("version", v) => match v.integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0) {
                Some(n) => node.version = Some(n),
                None => wrong(key, "a whole number from 1", v),
            },
            ("bypass", Json::Bool(b)) => node.bypass = *b,
            ("bypass", v) => wrong(key, "true or false", v),
            ("inputs", Json::List(l)) if l.iter().all(|i| i.text().is_some()) => {
                node.inputs = l.iter().filter_map(|i| i.text().map(str::to_owned)).collect();
            }
            ("inputs", v) => wrong(key, "a list of node names", v),
            ("params", Json::Object(p)) => node.params = p.clone(),
            ("params", v) => wrong(key, "an object {\"parameter\": value}", v),
            _ => unknown.push(key.as_str()),
        }
    }
    let known = ["name", "type", "version", "inputs", "params", "bypass", "comment"];
    complaints.extend(unknown.iter().map(|k| format!("unknown key `{}`{}", shorten(k), hint(k, known))));
    problems.0.extend(complaints.into_iter().map(|c| Problem::node(name, c)));
    if !pairs.iter().any(|(k, _)| k == "type") {
        problems.0.push(Problem::node(name, "expected a \"type\", the name of a node type"));
        return None;
    }
    Some(node)
}

/// What is wrong with a node name: it names files and folders, so it keeps to a small alphabet.
fn bad_name(name: &str) -> Option<&'static str> {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match name {
        "" => Some("is empty"),
        _ if name.len() > 100 => Some("is longer than 100 letters"),
        _ if !letters || name.starts_with('-') => {
            Some("may hold only letters, digits, _ and - (it names files)")
        }
        _ if RESERVED.contains(&name) || ["checkpoints", "variables"].contains(&name) => {
            Some("is a reserved word")
        }
        _ => None,
    }
}
