//! Parameter values of one node at one moment.

use std::collections::BTreeMap;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// On or off.
    Toggle(bool),
    /// Integers: one, or the components of a vector.
    Integers(Vec<i64>),
    /// Numbers: one, or the components of a vector.
    Numbers(Vec<f64>),
    /// A text, a file name, or the token of a menu.
    Text(String),
    /// Several texts, such as the names of grids.
    Texts(Vec<String>),
}

/// Every parameter of a node with its value at one time; defaults are filled in before a node sees it.
///
/// The readers return the type's zero for an unknown name. The host fills in every declared parameter, so an unknown
/// name is a mistake of the node (debug builds stop at it).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    /// Values by parameter name.
    pub values: BTreeMap<String, Value>,
}

impl Params {
    fn get(&self, name: &str) -> Option<&Value> {
        let value = self.values.get(name);
        debug_assert!(value.is_some(), "parameter `{name}` was never declared");
        value
    }

    /// On or off.
    pub fn toggle(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Toggle(true)))
    }

    /// One integer.
    pub fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Value::Integers(v)) => v.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// One number.
    pub fn number(&self, name: &str) -> f64 {
        self.numbers(name).first().copied().unwrap_or(0.0)
    }

    /// A vector of three numbers.
    pub fn vector(&self, name: &str) -> [f64; 3] {
        let v = self.numbers(name);
        std::array::from_fn(|c| v.get(c).copied().unwrap_or(0.0))
    }

    /// All components of a numeric parameter.
    pub fn numbers(&self, name: &str) -> &[f64] {
        if let Some(Value::Numbers(v)) = self.get(name) { v } else { &[] }
    }

    /// A text.
    pub fn text(&self, name: &str) -> &str {
        if let Some(Value::Text(t)) = self.get(name) { t } else { "" }
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> &[String] {
        if let Some(Value::Texts(t)) = self.get(name) { t } else { &[] }
    }
}
