//! Who asks for the length of a substep.

use super::call::Measured;
use super::measure::Measure;
use std::collections::BTreeMap;

/// The longest next substep that nodes accept.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// s; infinite where no node asks for any.
    pub(super) dt: f64,
    /// The node that asks for it; `None` where a call of the last substep did.
    pub(super) asked: Option<Asked>,
}

/// A node that asks for the length of a substep.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Asked {
    /// The longest substep that it accepts, s. Limits of substeps per frame may make the substep longer or shorter.
    pub longest: f64,
    /// Its name.
    pub node: String,
    /// The object that it asks for, where it is called once an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// What it says of the cause: `speed` (m/s), `place` (m) …
    #[serde(flatten)]
    pub measures: BTreeMap<String, Measure>,
}

impl Wish {
    pub(super) fn new(dt: Option<f64>) -> Self {
        Self { dt: dt.unwrap_or(f64::INFINITY), asked: None }
    }

    /// Takes the wish of a node and what it says of the cause.
    pub(super) fn and(&mut self, dt: f64, node: &str, object: Option<&str>, said: Vec<Measured>) {
        if dt < self.dt {
            let sound = said.into_iter().filter(|m| m.values.iter().all(|x| x.is_finite()));
            let measures = sound.map(|m| (m.key.clone(), Measure::new(&m.key, &m.values))).collect();
            let object = object.map(str::to_owned);
            self.dt = dt;
            self.asked = Some(Asked { longest: dt, node: node.into(), object, measures });
        }
    }
}
