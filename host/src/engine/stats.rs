//! Statistics of a substep: one line of `stats.jsonl`. SI units; keys that do not apply are omitted.

use super::asked::Asked;
use super::call::{Contributions, Measured, Solve, Timing};
use super::measure::Measure;
use super::state::{Holder, Slot, State};
use crate::data::{Data, Element, Geometry, Object, Owner};
use crate::graph::Network;
use crate::node::{Report, Reported, STATS_KEYS, Stage};
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One object during a substep.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ObjectStats {
    /// Type of its node.
    pub kind: String,
    /// Measures that nodes report for it: `volume` (m³), `mass` (kg), `particles`, `momentum` (kg m/s),
    /// `kinetic_energy`, `potential_energy` (J) …
    #[serde(flatten)]
    pub measures: BTreeMap<String, Measure>,
}

/// A point of geometry that its nodes report (a bubble, a body): keys and values in the order of the report.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Entry(#[serde(serialize_with = "as_map")] pub Vec<(String, Json)>);

impl Entry {
    /// A number of the entry.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.0.iter().find(|(k, _)| k == key)?.1.as_f64()
    }
}

/// One substep.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SubstepStats {
    /// The shot's frame number.
    pub frame: i32,
    /// 0 at the start of each frame.
    pub substep: u32,
    /// At its start, s; frame 1 is 0.
    pub time: f64,
    /// s
    pub dt: f64,
    /// The node that asks for its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Asked>,
    /// Voxels that the fastest particle crosses in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfl: Option<f64>,
    /// Wall time of each stage, s, in the order they ran.
    #[serde(serialize_with = "as_map")]
    pub stages: Vec<(String, f64)>,
    /// Linear solves.
    pub solves: Vec<Solve>,
    /// 1/s
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_divergence: Option<f64>,
    /// Other measures of the whole.
    #[serde(flatten)]
    pub measures: BTreeMap<String, Measure>,
    /// By name.
    pub objects: BTreeMap<String, ObjectStats>,
    /// Points that nodes report, such as `bubbles` and `bodies`, by key.
    #[serde(flatten)]
    pub lists: BTreeMap<String, Vec<Entry>>,
    /// Resident memory of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Wall time of the whole substep, s.
    #[serde(skip)]
    pub seconds: f64,
}

fn as_map<S: Serializer, V: serde::Serialize>(
    pairs: &[(String, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (k, v) in pairs {
        map.serialize_entry(k, v)?;
    }
    map.end()
}

/// Statistics collected while a substep runs.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// What nodes contributed to ports that several share.
    pub(super) contributions: Contributions,
    /// Longest next substep asked for, s.
    pub(super) wish: Option<f64>,
    stages: Vec<(String, f64)>,
    solves: Vec<Solve>,
    whole: BTreeMap<String, Vec<f64>>,
    objects: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
}

impl Gathering {
    /// Adds the time of a stage.
    pub(super) fn took(&mut self, node: &str, stage: Stage, seconds: f64) {
        let name = format!("{node}.{}", stage.name());
        match self.stages.iter_mut().find(|s| s.0 == name) {
            Some(s) => s.1 += seconds,
            None => self.stages.push((name, seconds)),
        }
    }

    /// Takes the messages and measures of a call.
    pub(super) fn noted(&mut self, measures: Vec<Measured>, solves: Vec<Solve>, wish: Option<f64>) {
        self.solves.extend(solves);
        if let Some(w) = wish {
            self.wish = Some(self.wish.map_or(w, |x| x.min(w)));
        }
        let is_sound = |m: &Measured| !m.key.is_empty() && m.values.iter().all(|x| x.is_finite());
        for Measured { object, key, values } in measures.into_iter().filter(is_sound) {
            match (key.as_str(), object) {
                ("cfl" | "max_divergence", _) => {
                    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let slot = self.whole.entry(key).or_insert_with(|| vec![largest]);
                    slot.iter_mut().for_each(|x| *x = x.max(largest));
                }
                (_, Some(object)) => drop(self.objects.entry(object).or_default().insert(key, values)),
                (_, None) => drop(self.whole.insert(key, values)),
            }
        }
    }

    /// The line of the substep.
    pub(super) fn finish(
        &self,
        network: &Network,
        reports: &BTreeMap<Slot, Report>,
        state: &State,
        timing: &Timing,
        step: Option<Asked>,
        seconds: f64,
    ) -> SubstepStats {
        let lists = lists(network, reports, state);
        let one = |key: &str| self.whole.get(key).and_then(|v| v.first()).copied();
        let taken = |key: &str| STATS_KEYS.contains(&key) || lists.contains_key(key);
        let rest = self.whole.iter().filter(|(k, _)| !taken(k));
        let objects = state.holders.iter().filter(|(h, _)| matches!(h, Holder::Object(_))).map(|(_, o)| o);
        SubstepStats {
            frame: timing.frame,
            substep: timing.substep,
            time: timing.time,
            dt: timing.dt,
            step,
            cfl: one("cfl"),
            stages: self.stages.clone(),
            solves: self.solves.clone(),
            max_divergence: one("max_divergence"),
            measures: rest.map(|(k, v)| (k.clone(), Measure::new(k, v))).collect(),
            objects: objects.map(|o| (o.name.clone(), self.object(network, o))).collect(),
            lists,
            memory_bytes: resident_bytes(),
            seconds,
        }
    }

    fn object(&self, network: &Network, object: &Object) -> ObjectStats {
        let short = network.node(&object.name).map(|n| n.node_type.short_name().to_owned());
        let measured = self.objects.get(&object.name).into_iter().flatten();
        ObjectStats {
            kind: short.unwrap_or_else(|| object.kind.clone()),
            measures: measured.map(|(k, v)| (k.clone(), Measure::new(k, v))).collect(),
        }
    }
}

/// The points that nodes report, by key.
fn lists(network: &Network, reports: &BTreeMap<Slot, Report>, state: &State) -> BTreeMap<String, Vec<Entry>> {
    let mut lists: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for (slot, report) in reports {
        let (Holder::Object(i) | Holder::Node(i)) = slot.holder;
        let object = network.nodes[i].name.as_str();
        if let Some(Data::Geometry(g)) = state.get(slot) {
            let entries = (0..g.points).map(|i| entry(g, report, object, i));
            lists.entry(report.key.clone()).or_default().extend(entries);
        }
    }
    lists
}

/// What is reported of a point; what it has not, or what is not finite, is left out.
fn entry(g: &Geometry, report: &Report, object: &str, i: usize) -> Entry {
    let value = |reported: &Reported| {
        let name = reported.name.as_str();
        if name == Reported::OBJECT {
            return Some(Json::from(object));
        }
        let a = g.attribute(Owner::Point, name)?;
        let moved = |c: usize| if name == "P" { g.origin.get(c).copied().unwrap_or(0.0) } else { 0.0 };
        let number =
            |c: usize| Some(a.values.get(i * a.components + c)? + moved(c)).filter(|x| x.is_finite());
        let one = |c: usize| match a.values.element() {
            _ if reported.is_truth => number(c).map(|x| Json::from(x != 0.0)),
            Element::F32 | Element::F64 => number(c).map(Json::from),
            _ => number(c).map(|x| Json::from(x as i64)),
        };
        match a.components {
            1 => one(0),
            n => (0..n).map(one).collect::<Option<Vec<Json>>>().map(Json::from),
        }
    };
    let pairs = report.entries.iter().filter_map(|r| Some((r.key.clone(), value(r)?)));
    Entry(pairs.collect())
}

/// Resident memory of this process, where the system tells.
pub(super) fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: a question to the system without arguments in memory.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(page).ok().map(|p| p * pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_do_not_apply_are_left_out() {
        let line =
            serde_json::to_string(&SubstepStats { frame: 3, dt: 0.5, ..SubstepStats::default() }).unwrap();
        assert_eq!(
            line,
            r#"{"frame":3,"substep":0,"time":0.0,"dt":0.5,"stages":{},"solves":[],"objects":{}}"#
        );
    }

    #[test]
    fn measures_land_where_they_belong() {
        let mut g = Gathering::default();
        let measured = |object: Option<&str>, key: &str, value: f64| Measured {
            object: object.map(Into::into),
            key: key.into(),
            values: vec![value],
        };
        let of_water = [("cfl", 1.5), ("volume", 2.0), ("mass", f64::NAN)];
        g.noted(of_water.map(|(key, value)| measured(Some("water"), key, value)).into(), vec![], None);
        g.noted(vec![measured(None, "cfl", 1.0)], vec![], Some(0.1));
        assert_eq!(g.whole["cfl"], [1.5]);
        assert_eq!(g.objects["water"].len(), 1);
        assert_eq!(g.wish, Some(0.1));
    }
}
