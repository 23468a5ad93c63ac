//! Writes `cook.json`, the record of a cook, and `stats.jsonl`.

use super::listed::Listed;
use super::stats::SubstepStats;
use crate::files::{explained, read_file, write_atomically};
use crate::graph::Network;
use crate::loader::Plugins;
use crate::process::Held;
use serde_json::{Map, Value as Json, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The graph, plugins and options of a cook: enough to repeat it.
#[derive(Clone, Debug)]
pub struct Record(Json);

impl Record {
    /// The record of a cook of `graph` (the file's text) with the overrides as given on the command line.
    pub fn new(graph: &str, path: &Path, overrides: &[String], network: &Network, plugins: &Plugins) -> Self {
        let settings = &network.settings;
        let plugins: Vec<Json> = plugins
            .loaded
            .iter()
            .map(|p| json!({ "name": p.name, "version": p.version, "abi": format!("{}.{}", p.abi.0, p.abi.1) }))
            .collect();
        let nodes: Map<String, Json> = network
            .nodes
            .iter()
            .map(|n| {
                let params: Map<String, Json> =
                    n.params.iter().map(|(k, v)| (k.clone(), crate::graph::to_json(v))).collect();
                let t = &n.node_type;
                (
                    n.name.clone(),
                    json!({ "type": t.id, "version": t.version, "bypass": n.bypass, "params": params }),
                )
            })
            .collect();
        Record(json!({
            "meniscus": env!("CARGO_PKG_VERSION"),
            "graph_file": path.display().to_string(),
            "graph_hash": blake3::hash(graph.as_bytes()).to_hex().to_string(),
            "set": overrides,
            "quality": settings.quality,
            "fps": settings.fps,
            "frames": [settings.frames.0, settings.frames.1],
            "substeps": { "min": settings.substeps.min, "max": settings.substeps.max, "cfl": settings.substeps.cfl },
            "variables": settings.variables,
            "plugins": plugins,
            "nodes": nodes,
            "graph": serde_json::from_str::<Json>(graph).unwrap_or(Json::Null),
        }))
    }

    /// Writes the record with the list of files that were written or will be.
    pub(super) fn write(&self, out: &Path, written: &[Listed]) -> std::io::Result<()> {
        let mut json = self.0.clone();
        json["written"] = written.iter().map(Listed::to_json).collect();
        let mut text = serde_json::to_string_pretty(&json)?;
        text.push('\n');
        write_atomically(&out.join("cook.json"), text.as_bytes()).map_err(|e| named("cook.json", &e))
    }
}

const STATS: &str = "stats.jsonl";

/// The error with the file it concerns.
fn named(file: &str, e: &std::io::Error) -> std::io::Error {
    std::io::Error::new(e.kind(), format!("cannot write {file}: {e}"))
}

/// The growing `stats.jsonl`.
pub(super) struct StatsFile {
    path: PathBuf,
    _held: Held,
    file: File,
}

impl StatsFile {
    pub(super) fn create(out: &Path) -> std::io::Result<Self> {
        write_atomically(&out.join(STATS), b"").map_err(|e| named(STATS, &e))?;
        Self::open(out)
    }

    /// Keeps the lines up to the moment when the clock stood at (frame, substep); later ones are cooked again. `tell`
    /// gets a message about lines that were changed.
    pub(super) fn resume(out: &Path, frame: i32, substep: u32, tell: impl Fn(&str)) -> std::io::Result<Self> {
        let path = out.join(STATS);
        let text = read_file(&path, u64::MAX).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if let Some(sentence) = damage(&text) {
            tell(&format!("{} {sentence}", path.display()));
        }
        let done = |line: &&str| {
            let Ok(json) = serde_json::from_str::<Json>(line) else { return false };
            let (Some(f), Some(s)) = (json["frame"].as_i64(), json["substep"].as_u64()) else { return false };
            // Substep 0 of the clock means that its frame is done.
            f < i64::from(frame) || f == i64::from(frame) && (substep == 0 || s < u64::from(substep))
        };
        let kept: String = text.lines().filter(done).flat_map(|l| [l, "\n"]).collect();
        write_atomically(&path, kept.as_bytes()).map_err(|e| named(STATS, &e))?;
        Self::open(out)
    }

    fn open(out: &Path) -> std::io::Result<Self> {
        let path = out.join(STATS);
        let file = OpenOptions::new().append(true).open(&path).map_err(|e| named(STATS, &e))?;
        Ok(Self { path, _held: Held::of(&file), file })
    }

    pub(super) fn append(&mut self, stats: &SubstepStats) -> std::io::Result<()> {
        let mut line = sealed(&serde_json::to_string(stats)?);
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(|e| named(STATS, &explained(e, &self.path)))
    }
}

/// The text before a line's hash, which is its last field.
const HASH: &str = ",\"hash\":\"";
/// Digits of a line's hash.
const DIGITS: usize = 16;

fn hash_of(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex()[..DIGITS].to_owned()
}

/// A line, a JSON object, with a hash of what it says as its last field.
fn sealed(line: &str) -> String {
    let open = line.strip_suffix('}').unwrap_or(line);
    format!("{open}{HASH}{}\"}}", hash_of(open))
}

/// Whether a line is unchanged; `None` if it has no hash.
fn holds(line: &str) -> Option<bool> {
    let (said, rest) = line.rsplit_once(HASH)?;
    Some(rest.strip_suffix("\"}") == Some(&hash_of(said)))
}

/// The faults in the lines of a file, for a message after its name. The last line may be incomplete, if a process was
/// killed. Files from before lines had hashes are accepted as they are.
pub(crate) fn damage(text: &str) -> Option<String> {
    /// Most lines that a message names.
    const NAMED: usize = 3;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let any = text.lines().any(|line| holds(line).is_some());
    let is_damaged = |line: &str| holds(line) != Some(true);
    let damaged: Vec<usize> =
        whole.lines().enumerate().filter(|(_, line)| any && is_damaged(line)).map(|(n, _)| n + 1).collect();
    let names: Vec<String> = damaged.iter().take(NAMED).map(usize::to_string).collect();
    let more = if damaged.len() > NAMED { " and more" } else { "" };
    let what = if damaged.len() == 1 { "line" } else { "lines" };
    (!damaged.is_empty()).then(|| format!("is not as it was written in {what} {}{more}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resuming_keeps_what_was_done() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = StatsFile::create(dir.path()).unwrap();
        for (frame, substep) in [(2, 0), (2, 1), (3, 0), (3, 1)] {
            file.append(&SubstepStats { frame, substep, ..SubstepStats::default() }).unwrap();
        }
        file.file.write_all(b"{\"frame\": 4, \"subst").unwrap();
        let lines = |frame, substep| {
            drop(StatsFile::resume(dir.path(), frame, substep, |_| ()).unwrap());
            std::fs::read_to_string(dir.path().join("stats.jsonl")).unwrap().lines().count()
        };
        assert_eq!([lines(3, 0), lines(3, 1), lines(2, 0), lines(1, 0)], [4, 3, 2, 0]);
    }

    #[test]
    fn a_line_that_changed_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = StatsFile::create(dir.path()).unwrap();
        for frame in 2..5 {
            file.append(&SubstepStats { frame, dt: 0.125, ..SubstepStats::default() }).unwrap();
        }
        let path = dir.path().join("stats.jsonl");
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_eq!(damage(&whole), None);
        assert_eq!(damage(&format!("{whole}{{\"frame\": 5, \"su")), None, "a line that was not ended");
        let second = whole.lines().next().unwrap().len() + 1;
        for at in second..second + whole.lines().nth(1).unwrap().len() {
            for bit in 0..7 {
                let mut bytes = whole.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let told = damage(&String::from_utf8(bytes).unwrap()).unwrap_or_default();
                assert!(told.contains("line 2") || told.contains("lines 2"), "byte {at}, bit {bit}: {told}");
            }
        }
        let told = std::cell::RefCell::new(String::new());
        std::fs::write(&path, whole.replacen("0.125", "0.175", 1)).unwrap();
        drop(StatsFile::resume(dir.path(), 4, 0, |why| *told.borrow_mut() = why.into()).unwrap());
        assert!(told.borrow().ends_with("is not as it was written in line 1"), "{}", told.borrow());
    }
}
