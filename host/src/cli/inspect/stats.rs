//! The report on `stats.jsonl`.

use super::super::units;
use super::{LARGEST, Report, name_of, number};
use crate::engine::{frame_of_checkpoint, latest_checkpoint};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Share of its volume whose gain or loss by a liquid gives a warning.
const DRIFT: f64 = 0.01;

/// Sums over the lines of a file.
#[derive(Default)]
struct Sums {
    substeps: usize,
    frames: Option<(i64, i64)>,
    dt: Span,
    /// Substeps whose length a node asked for, by its name and object; and the longest that it accepted.
    asked: BTreeMap<String, (usize, Span)>,
    cfl: Span,
    iterations: Span,
    residual: Span,
    divergence: Span,
    solves: usize,
    total_iterations: f64,
    stages: BTreeMap<String, f64>,
    /// By object, at the first line and at the last, m³.
    volumes: BTreeMap<String, (f64, f64)>,
    rest_volumes: BTreeMap<String, (f64, f64)>,
    lists: BTreeMap<String, Span>,
    memory: Span,
}

/// Smallest and largest of some numbers.
#[derive(Default)]
struct Span(Option<(f64, f64)>);

impl Span {
    fn see(&mut self, x: Option<f64>) {
        if let Some(x) = x {
            self.0 = Some(self.0.map_or((x, x), |(a, b)| (a.min(x), b.max(x))));
        }
    }

    fn text(&self, unit: &str) -> Option<String> {
        self.0.map(|(a, b)| {
            let (low, high) = (number(a), number(b));
            if low == high { format!("{low}{unit}") } else { format!("{low} to {high}{unit}") }
        })
    }
}

pub(super) fn inspect(path: &Path) -> Result<Report, String> {
    let sums = read(path)?;
    let mut report = sums.report(&name_of(path));
    if let Some(warning) = sums.behind(path) {
        report.warn(warning);
    }
    Ok(report)
}

/// The figures by which cooks are compared: substeps, seconds in stages, mean iterations, bytes of memory, and each object's
/// volume (m³) at the end, its change, and how far it is from what it should be, shares.
pub(in crate::cli) fn figures(path: &Path) -> Result<Json, String> {
    let sums = read(path)?;
    let volume = |(name, (from, to)): (&String, &(f64, f64))| {
        // Taps and sinks change what it should be, too.
        let should = sums.rest_volumes.get(name).map_or(*from, |(_, rest)| *rest);
        let (volume_change, volume_error) = (change(*from, *to), change(should, *to));
        (name.clone(), json!({ "volume": to, "volume_change": volume_change, "volume_error": volume_error }))
    };
    Ok(json!({
        "substeps": sums.substeps,
        "seconds": sums.stages.values().sum::<f64>(),
        "iterations": (sums.solves > 0).then(|| sums.total_iterations / sums.solves as f64),
        "memory_bytes": sums.memory.0.map(|(_, most)| most),
        "objects": sums.volumes.iter().map(volume).collect::<Map<String, Json>>(),
    }))
}

/// How much a volume has changed, a share of what it was.
fn change(from: f64, to: f64) -> f64 {
    if from > 0.0 { to / from - 1.0 } else { 0.0 }
}

fn read(path: &Path) -> Result<Sums, String> {
    let shown = path.display();
    let cannot = |e: &dyn std::fmt::Display| format!("cannot read {shown}: {e}");
    let look = |head: &[u8], _| match head {
        [] | [b'{', ..] => Ok(()),
        _ => Err("this is no list of JSON objects".into()),
    };
    let bytes = crate::files::read_headed(path, LARGEST, 1, look).map_err(|e| cannot(&e))?;
    let text = String::from_utf8(bytes).map_err(|e| cannot(&e))?;
    if let Some(damage) = crate::engine::damage_of_stats(&text) {
        return Err(format!("{shown} {damage}"));
    }
    let mut sums = Sums::default();
    for (i, line) in text.lines().enumerate() {
        let json = match serde_json::from_str(line) {
            Ok(Json::Object(json)) if json.contains_key("frame") && json.contains_key("dt") => json,
            Ok(_) => return Err(format!("{shown}, line {}: this is not a line about a substep", i + 1)),
            Err(e) => return Err(format!("{shown}, line {}: this is no whole JSON object ({e})", i + 1)),
        };
        sums.add(&json);
    }
    Ok(sums)
}

impl Sums {
    /// A warning where the checkpoints beside the file are of later frames than its last line.
    fn behind(&self, path: &Path) -> Option<String> {
        let folder = path.with_file_name("checkpoints");
        let frame = i64::from(frame_of_checkpoint(&latest_checkpoint(&folder)?)?);
        // The first frame has no substeps, and a shot may consist of it.
        let (_, last) = self.frames.filter(|f| f.1 < frame)?;
        Some(format!(
            "{} ends at frame {last}, and there is a checkpoint of frame {frame}: lines at its end are missing",
            name_of(path)
        ))
    }

    fn add(&mut self, line: &Map<String, Json>) {
        let number = |key: &str| line.get(key).and_then(Json::as_f64);
        self.substeps += 1;
        if let Some(frame) = line.get("frame").and_then(Json::as_i64) {
            self.frames = Some(self.frames.map_or((frame, frame), |(a, b)| (a.min(frame), b.max(frame))));
        }
        self.dt.see(number("dt"));
        if let Some(step) = line.get("step") {
            let text = |key: &str| step[key].as_str().map(str::to_owned);
            let of = text("object").map_or(String::new(), |object| format!(" for {object}"));
            let (count, longest) = self.asked.entry(text("node").unwrap_or_default() + &of).or_default();
            *count += 1;
            longest.see(step["longest"].as_f64());
        }
        self.cfl.see(number("cfl"));
        self.divergence.see(number("max_divergence"));
        self.memory.see(number("memory_bytes"));
        for (key, list) in line.iter().filter(|(key, _)| !crate::node::STATS_KEYS.contains(&key.as_str())) {
            if let Some(list) = list.as_array().filter(|list| list.iter().all(Json::is_object)) {
                self.lists.entry(key.clone()).or_default().see(Some(list.len() as f64));
            }
        }
        for solve in line.get("solves").and_then(Json::as_array).into_iter().flatten() {
            self.solves += 1;
            let iterations = solve["iterations"].as_f64();
            self.total_iterations += iterations.unwrap_or(0.0);
            self.iterations.see(iterations);
            self.residual.see(solve["residual"].as_f64());
        }
        for (stage, seconds) in line.get("stages").and_then(Json::as_object).into_iter().flatten() {
            *self.stages.entry(stage.clone()).or_default() += seconds.as_f64().unwrap_or(0.0);
        }
        for (name, object) in line.get("objects").and_then(Json::as_object).into_iter().flatten() {
            for (key, values) in [("volume", &mut self.volumes), ("rest_volume", &mut self.rest_volumes)] {
                if let Some(v) = object[key].as_f64() {
                    values.entry(name.clone()).or_insert((v, v)).1 = v;
                }
            }
        }
    }

    fn report(&self, name: &str) -> Report {
        let mut report = Report::default();
        let Some((first, last)) = self.frames else {
            report.line(format!("{name}: no substep yet"));
            return report;
        };
        report.line(format!("{name}: {} substeps of the frames {first} to {last}", self.substeps));
        let mut tell = |what: &str, text: Option<String>| {
            if let Some(text) = text {
                report.line(format!("  {what}: {text}"));
            }
        };
        tell("dt", self.dt.text(" s"));
        for (who, (count, longest)) in &self.asked {
            let at_most = longest.text(" s").map_or(String::new(), |longest| format!(", at most {longest}"));
            tell(&format!("length asked for by {who}"), Some(format!("{count} substeps{at_most}")));
        }
        tell("cfl", self.cfl.text(""));
        if self.solves > 0 {
            let mean = number(self.total_iterations / self.solves as f64);
            tell(
                "iterations of a solve",
                self.iterations.text("").map(|t| format!("{t}, {mean} on average")),
            );
        }
        tell("residual", self.residual.text(""));
        tell("largest divergence", self.divergence.text(" 1/s"));
        for (key, count) in &self.lists {
            tell(key, count.text(""));
        }
        tell("memory", self.memory.0.map(|(_, most)| format!("{} at most", units::bytes(most))));
        let seconds: f64 = self.stages.values().sum();
        tell("time in stages", Some(units::duration(seconds)));
        for (stage, s) in &self.stages {
            tell(&format!("  {stage}"), Some(format!("{s:.2} s, {:.0} %", 100.0 * s / seconds.max(1e-12))));
        }
        let mut drifted = Vec::new();
        for (object, (from, to)) in &self.volumes {
            let drift = change(*from, *to);
            let (a, b) = (units::volume(*from), units::volume(*to));
            tell(&format!("volume of {object}"), Some(format!("{a} to {b} ({:+.2} %)", 100.0 * drift)));
            // What sources and drains do, the rest volume does as well.
            let (rest_from, rest_to) = self.rest_volumes.get(object).copied().unwrap_or_default();
            let drift = drift - (rest_to - rest_from) / from.max(f64::MIN_POSITIVE);
            if drift.abs() > DRIFT * (to / from.max(f64::MIN_POSITIVE)).max(1.0) {
                let beyond =
                    if rest_from == rest_to { "" } else { " more than sources and drains account for" };
                drifted.push(format!("the volume of {object} changed by {:+.2} %{beyond}", 100.0 * drift));
            }
        }
        report.warnings.extend(drifted);
        report
    }
}
