//! Errors in a graph, one sentence each.

use crate::text::one_line;
use std::fmt;

/// Longest line of a problem, letters: a long path and a sentence around it.
const LONGEST: usize = 5000;

/// One thing wrong, with the node and the parameter it concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Node, when one is concerned.
    pub node: Option<String>,
    /// Parameter, when one is concerned.
    pub param: Option<String>,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Problem {
    /// A problem of the graph as a whole.
    pub fn graph(message: impl Into<String>) -> Self {
        Self { node: None, param: None, message: message.into() }
    }

    /// A problem of a node.
    pub fn node(node: &str, message: impl Into<String>) -> Self {
        Self { node: Some(node.into()), param: None, message: message.into() }
    }

    /// A problem of a parameter.
    pub fn param(node: &str, param: &str, message: impl Into<String>) -> Self {
        Self { node: Some(node.into()), param: Some(param.into()), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut text = String::new();
        if let Some(node) = &self.node {
            text += &format!("node `{node}`");
            if let Some(param) = &self.param {
                text += &format!(", parameter `{param}`");
            }
            text += ": ";
        }
        // File names and their contents come from outside, so they are cleaned.
        f.write_str(&one_line(&(text + &self.message), LONGEST))
    }
}

/// Everything found wrong with a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// `Ok(value)` when nothing was found wrong.
    pub fn unless_any<T>(self, value: T) -> Result<T, Problems> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Problems {
    fn from(p: Problem) -> Self {
        Problems(vec![p])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, p) in self.0.iter().enumerate() {
            write!(f, "{}{p}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
