//! The description of a node type.

use super::{Contract, NodeKind, Value};
use meniscus_abi::Means;

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// On or off.
    Toggle,
    /// `components` integers.
    Integer,
    /// `components` numbers.
    Number,
    /// A text.
    Text,
    /// The name of a file to read, relative to the graph.
    File,
    /// One of [`ParamSpec::menu`].
    Menu,
    /// A list of texts.
    Texts,
}

/// Ends of a numeric range. Hard ends are refused beyond; soft ends bound a slider.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Range {
    /// Smallest value allowed.
    pub hard_min: Option<f64>,
    /// Largest value allowed.
    pub hard_max: Option<f64>,
    /// Low end of a slider.
    pub soft_min: Option<f64>,
    /// High end of a slider.
    pub soft_max: Option<f64>,
}

/// One parameter of a node type.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// Name in graph files.
    pub name: String,
    /// Label in a panel; Houdini's where Houdini has the thing.
    pub label: String,
    /// Folder (tab) of the panel it stands in.
    pub folder: String,
    /// Unit, such as `m` or `kg/m^3`; empty when it has none.
    pub unit: String,
    /// One sentence for people.
    pub help: String,
    /// Type.
    pub kind: ParamKind,
    /// Numbers per value, for integers and numbers.
    pub components: usize,
    /// Value when a graph says nothing.
    pub default: Value,
    /// Ends of the range.
    pub range: Range,
    /// Tokens and labels of a menu.
    pub menu: Vec<(String, String)>,
    /// When a panel greys it out, in Houdini's notation.
    pub disable_when: String,
    /// Houdini's parameter of this meaning; empty when there is none.
    pub houdini_name: String,
    /// False when it is fixed for the shot, so that no keyframes are taken.
    pub animatable: bool,
    /// What it means to the host, whatever its name.
    pub means: Means,
    /// A text with names of nodes, `*` for any part of one; those of a plugin's parameters are not known.
    pub names_nodes: bool,
}

impl ParamSpec {
    /// Whether keyframes may change it.
    pub fn takes_keys(&self) -> bool {
        self.animatable && matches!(self.kind, ParamKind::Number | ParamKind::Integer | ParamKind::Toggle)
    }

    fn new(name: &str, label: &str, kind: ParamKind, default: Value, help: &str) -> Self {
        let components = match &default {
            Value::Integers(v) => v.len(),
            Value::Numbers(v) => v.len(),
            _ => 1,
        };
        Self {
            name: name.into(),
            label: label.into(),
            folder: String::new(),
            unit: String::new(),
            help: help.into(),
            kind,
            components,
            default,
            range: Range::default(),
            menu: Vec::new(),
            disable_when: String::new(),
            houdini_name: String::new(),
            animatable: true,
            means: Means::NOTHING,
            names_nodes: false,
        }
    }

    /// A toggle.
    pub fn toggle(name: &str, label: &str, default: bool, help: &str) -> Self {
        Self::new(name, label, ParamKind::Toggle, Value::Toggle(default), help)
    }

    /// One integer.
    pub fn integer(name: &str, label: &str, default: i64, help: &str) -> Self {
        Self::new(name, label, ParamKind::Integer, Value::Integers(vec![default]), help)
    }

    /// One number or a vector, with its unit.
    pub fn number(name: &str, label: &str, default: &[f64], unit: &str, help: &str) -> Self {
        let spec = Self::new(name, label, ParamKind::Number, Value::Numbers(default.to_vec()), help);
        Self { unit: unit.into(), ..spec }
    }

    /// A text.
    pub fn text(name: &str, label: &str, default: &str, help: &str) -> Self {
        Self::new(name, label, ParamKind::Text, Value::Text(default.into()), help)
    }

    /// A text with names of nodes.
    pub fn names(name: &str, label: &str, default: &str, help: &str) -> Self {
        Self { names_nodes: true, ..Self::text(name, label, default, help) }
    }

    /// A file to read.
    pub fn file(name: &str, label: &str, help: &str) -> Self {
        Self::new(name, label, ParamKind::File, Value::Text(String::new()), help)
    }

    /// A list of texts.
    pub fn texts(name: &str, label: &str, default: &[&str], help: &str) -> Self {
        let default = default.iter().map(|&t| t.into()).collect();
        Self::new(name, label, ParamKind::Texts, Value::Texts(default), help)
    }

    /// A choice among (token, label) pairs; the first is the default.
    pub fn menu(name: &str, label: &str, items: &[(&str, &str)], help: &str) -> Self {
        let default = items.first().map_or("", |i| i.0);
        let spec = Self::new(name, label, ParamKind::Menu, Value::Text(default.into()), help);
        Self { menu: items.iter().map(|&(t, l)| (t.into(), l.into())).collect(), ..spec }
    }

    /// Refuses values outside `min..=max`.
    pub fn within(mut self, min: Option<f64>, max: Option<f64>) -> Self {
        self.range.hard_min = min;
        self.range.hard_max = max;
        self
    }
}

/// The description of a node type.
#[derive(Clone, Debug)]
pub struct NodeType {
    /// Full name, `namespace.name`; a graph may leave out `meniscus.`.
    pub id: String,
    /// Version of its meaning.
    pub version: u32,
    /// Label in a panel.
    pub label: String,
    /// What it is for.
    pub kind: NodeKind,
    /// One sentence for people.
    pub help: String,
    /// Most inputs it takes; `None` for any number.
    pub max_inputs: Option<usize>,
    /// Fewest inputs it needs.
    pub min_inputs: usize,
    /// Parameters in panel order.
    pub params: Vec<ParamSpec>,
    /// Houdini's node of this meaning; empty when there is none.
    pub houdini_name: String,
    /// Keys of references.bib, separated by blanks.
    pub cites: String,
    /// Name of the plugin it comes from; empty for the host's own.
    pub plugin: String,
    /// What the node promises, when it comes from a plugin.
    pub contract: Option<Contract>,
}

impl NodeType {
    /// A node type of the host itself, version 1.
    pub fn host(id: &str, label: &str, kind: NodeKind, inputs: (usize, Option<usize>), help: &str) -> Self {
        Self {
            id: id.into(),
            version: 1,
            label: label.into(),
            kind,
            help: help.into(),
            min_inputs: inputs.0,
            max_inputs: inputs.1,
            params: Vec::new(),
            houdini_name: String::new(),
            cites: String::new(),
            plugin: String::new(),
            contract: None,
        }
    }

    /// The same type with these parameters.
    pub fn with(mut self, params: Vec<ParamSpec>) -> Self {
        self.params = params;
        self
    }

    /// Name as graphs usually write it: without `meniscus.`.
    pub fn short_name(&self) -> &str {
        self.id.strip_prefix("meniscus.").unwrap_or(&self.id)
    }

    /// Kinds of node it takes as inputs.
    pub fn accepts(&self) -> &[NodeKind] {
        use NodeKind::{Coupling, Geometry, Object, Output, Solver};
        match (&self.contract, self.kind) {
            (Some(contract), _) => &contract.accepts,
            (None, Output) => &[Geometry, Object, Solver, Coupling],
            (None, _) => &[Geometry],
        }
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&ParamSpec> {
        self.params.iter().find(|p| p.name == name)
    }
}
