//! Writes `cook.json`, the record of a cook, and `stats.jsonl`.

use super::listed::Listed;
use super::state::Clock;
use super::stats::SubstepStats;
use crate::files::{explained, read_file, write_atomically};
use crate::graph::Network;
use crate::loader::Plugins;
use crate::process::KeptOpen;
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

    /// The same of a cook that changes another one, whose folder is given and whose `cook.json` had those bytes.
    pub fn changes(mut self, parent: &Path, record: &[u8]) -> Self {
        let hash = blake3::hash(record).to_hex().to_string();
        self.0["parent"] = json!({ "folder": parent.display().to_string(), "cook_hash": hash });
        self
    }

    /// The same of a cook that has the frames up to this one from that other cook. `is_same` tells whether a cook of this graph
    /// from its first frame, which is `begin`, makes the same.
    pub fn forks(mut self, frame: i32, is_same: bool, begin: i32) -> Self {
        self.0["parent"]["fork_frame"] = json!(frame);
        self.0["parent"]["reproducible"] = json!(is_same);
        if !is_same {
            self.0["parent"]["note"] = json!(format!("not reproducible from frame {begin}"));
        }
        self
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

pub(super) const STATS: &str = "stats.jsonl";

/// The error with the file it concerns.
fn named(file: &str, e: &std::io::Error) -> std::io::Error {
    std::io::Error::new(e.kind(), format!("cannot write {file}: {e}"))
}

/// The growing `stats.jsonl`.
pub(super) struct StatsFile {
    path: PathBuf,
    _held: KeptOpen,
    file: File,
    /// Hash of the last line.
    last: String,
}

impl StatsFile {
    pub(super) fn create(out: &Path) -> std::io::Result<Self> {
        write_atomically(&out.join(STATS), b"").map_err(|e| named(STATS, &e))?;
        Self::open(out, String::new())
    }

    /// Keeps the lines up to the moment of the clock, of a shot that begins at this frame; later ones are cooked again.
    /// `tell` gets a message about lines that were changed or are missing.
    pub(super) fn resume(
        out: &Path,
        begin: i32,
        clock: &Clock,
        tell: impl Fn(&str),
    ) -> std::io::Result<Self> {
        let path = out.join(STATS);
        let text = read_file(&path, u64::MAX).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if let Some(sentence) = damage(&text) {
            tell(&format!("{} {sentence}", path.display()));
        }
        let kept: Vec<&str> =
            text.lines().filter(|line| moment(line).is_some_and(|m| is_done(m, clock))).collect();
        let reached = kept.last().and_then(|line| moment(line));
        if !is_all(reached, begin, clock) {
            tell(&format!("{} lacks lines at its end: statistics of some substeps are gone", path.display()));
        }
        let last = kept.last().and_then(|line| hash_in(line)).unwrap_or_default().to_owned();
        let kept: String = kept.into_iter().flat_map(|l| [l, "\n"]).collect();
        write_atomically(&path, kept.as_bytes()).map_err(|e| named(STATS, &e))?;
        Self::open(out, last)
    }

    fn open(out: &Path, last: String) -> std::io::Result<Self> {
        let path = out.join(STATS);
        let file =
            OpenOptions::new().append(true).open(&path).map_err(|e| named(STATS, &explained(e, &path)))?;
        Ok(Self { path, _held: KeptOpen::of(&file), file, last })
    }

    pub(super) fn append(&mut self, stats: &SubstepStats) -> std::io::Result<()> {
        let line = sealed(&serde_json::to_string(stats)?, &self.last);
        hash_in(&line).unwrap_or_default().clone_into(&mut self.last);
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|e| named(STATS, &explained(e, &self.path)))
    }
}

/// Frame and substep of a line.
fn moment(line: &str) -> Option<(i64, u64)> {
    let json: Json = serde_json::from_str(line).ok()?;
    Some((json["frame"].as_i64()?, json["substep"].as_u64()?))
}

/// Whether a substep was done at the moment of the clock, where substep 0 means that its frame is done.
fn is_done((frame, substep): (i64, u64), clock: &Clock) -> bool {
    let now = i64::from(clock.frame);
    frame < now || frame == now && (clock.substep == 0 || substep < u64::from(clock.substep))
}

/// Whether the last line is that of the substep before the clock's moment, as far as the clock tells.
fn is_all(reached: Option<(i64, u64)>, begin: i32, clock: &Clock) -> bool {
    match clock.substep {
        0 if clock.frame == begin => true,
        0 => reached.is_some_and(|(frame, _)| frame == i64::from(clock.frame)),
        done => reached == Some((i64::from(clock.frame), u64::from(done) - 1)),
    }
}

/// The text before a line's hash, which is its last field.
const HASH: &str = ",\"hash\":\"";
/// Digits of a line's hash.
const DIGITS: usize = 16;

fn hash_of(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex()[..DIGITS].to_owned()
}

/// The text before the hash of the line before, which comes before a line's own.
const AFTER: &str = ",\"after\":\"";

/// A line, a JSON object, with the hash of the line before it and a hash of what it says as its last fields.
fn sealed(line: &str, after: &str) -> String {
    let open = format!("{}{AFTER}{after}\"", line.strip_suffix('}').unwrap_or(line));
    format!("{open}{HASH}{}\"}}", hash_of(&open))
}

/// What a line says, and the hash that it says it has.
fn parted(line: &str) -> Option<(&str, &str)> {
    let (said, rest) = line.rsplit_once(HASH)?;
    Some((said, rest.strip_suffix("\"}").unwrap_or(rest)))
}

fn hash_in(line: &str) -> Option<&str> {
    parted(line).map(|(_, hash)| hash)
}

/// Whether a line is unchanged; `None` if it has no hash.
fn holds(line: &str) -> Option<bool> {
    parted(line).map(|(said, hash)| hash == hash_of(said))
}

/// The hash that a line says the line before it has.
fn after_in(line: &str) -> Option<&str> {
    parted(line)?.0.rsplit_once(AFTER)?.1.strip_suffix('"')
}

/// The faults in the lines of a file, for a message after its name. The last line may be incomplete, if a process was
/// killed. Files from before lines had hashes, or those of the lines before them, are accepted as they are.
pub(crate) fn damage(text: &str) -> Option<String> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let any = text.lines().any(|line| holds(line).is_some());
    let (mut damaged, mut jumps, mut before) = (Vec::new(), Vec::new(), Some(""));
    for (n, line) in (1..).zip(whole.lines()) {
        let sound = holds(line) == Some(true);
        if any && !sound {
            damaged.push(n);
        }
        // What a damaged line says of itself is not known.
        if sound && before.zip(after_in(line)).is_some_and(|(before, after)| before != after) {
            jumps.push(n);
        }
        before = if sound { hash_in(line) } else { None };
    }
    let damaged = listed("is not as it was written in line", &damaged);
    let jumps = listed("lacks what was written before line", &jumps);
    let all: Vec<String> = damaged.into_iter().chain(jumps).collect();
    (!all.is_empty()).then(|| all.join(", and "))
}

/// A few words with the numbers of lines behind them, where there are any.
fn listed(words: &str, lines: &[usize]) -> Option<String> {
    /// Most lines that a message names.
    const NAMED: usize = 3;
    let names: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    let more = if lines.len() > NAMED { " and more" } else { "" };
    let plural = if lines.len() == 1 { "" } else { "s" };
    (!lines.is_empty()).then(|| format!("{words}{plural} {}{more}", names.join(", ")))
}

/// The graph that the cook in a folder was made from, by its record: where the record says, or else beside the folder, where cooks go
/// unless told otherwise. The record says it as it was given to a command that ran elsewhere.
pub(crate) fn graph_file(record: &Json, folder: &Path) -> Option<PathBuf> {
    let named = PathBuf::from(record["graph_file"].as_str()?);
    let beside = || Some(folder.parent()?.join(named.file_name()?)).filter(|path| path.is_file());
    if named.is_absolute() || named.is_file() { Some(named) } else { beside().or(Some(named)) }
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
            let clock = Clock { substep, ..Clock::at_frame(frame) };
            drop(StatsFile::resume(dir.path(), 1, &clock, |_| ()).unwrap());
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
        drop(
            StatsFile::resume(dir.path(), 1, &Clock::at_frame(4), |why| *told.borrow_mut() = why.into())
                .unwrap(),
        );
        assert!(told.borrow().ends_with("is not as it was written in line 1"), "{}", told.borrow());
    }
    #[test]
    fn lines_that_are_missing_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = StatsFile::create(dir.path()).unwrap();
        for (frame, substep) in [(2, 0), (2, 1), (3, 0), (3, 1), (4, 0)] {
            file.append(&SubstepStats { frame, substep, ..SubstepStats::default() }).unwrap();
        }
        let path = dir.path().join("stats.jsonl");
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_eq!(damage(&whole), None);
        let lines: Vec<&str> = whole.lines().collect();
        let without = |gone: &[usize]| {
            let left = lines.iter().enumerate().filter(|(n, _)| !gone.contains(n));
            left.flat_map(|(_, line)| [*line, "\n"]).collect::<String>()
        };
        for gone in [&[0][..], &[1], &[3], &[1, 2], &[0, 1, 2]] {
            let told = damage(&without(gone)).unwrap_or_default();
            assert_eq!(told, format!("lacks what was written before line {}", gone[0] + 1));
        }
        let swapped = format!("{}\n{}\n{}\n", lines[0], lines[2], lines[1]);
        assert_eq!(damage(&swapped).as_deref(), Some("lacks what was written before lines 2, 3"));
        // Whole lines at the end: only the clock knows of them.
        let told = |text: &str, clock: Clock| {
            std::fs::write(&path, text).unwrap();
            let told = std::cell::RefCell::new(String::new());
            drop(StatsFile::resume(dir.path(), 1, &clock, |why| *told.borrow_mut() = why.into()).unwrap());
            told.into_inner()
        };
        let within = Clock { substep: 2, ..Clock::at_frame(3) };
        assert_eq!([told(&whole, Clock::at_frame(4)), told(&whole, within)], ["", ""]);
        assert_eq!(told("", Clock::at_frame(1)), "");
        for (gone, clock) in [(&[4][..], Clock::at_frame(4)), (&[3, 4], within), (&[0, 1, 2, 3, 4], within)] {
            assert!(told(&without(gone), clock).contains("lacks lines at its end"), "{gone:?}");
        }
    }

    /// A cook that went on writes lines that follow those of the one before.
    #[test]
    fn lines_go_on_where_a_cook_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let line = |frame| SubstepStats { frame, ..SubstepStats::default() };
        let mut file = StatsFile::create(dir.path()).unwrap();
        (2..5).for_each(|n| file.append(&line(n)).unwrap());
        let mut file = StatsFile::resume(dir.path(), 1, &Clock::at_frame(3), |why| panic!("{why}")).unwrap();
        (4..6).for_each(|n| file.append(&line(n)).unwrap());
        let whole = std::fs::read_to_string(dir.path().join("stats.jsonl")).unwrap();
        assert_eq!((damage(&whole), whole.lines().count()), (None, 4));
    }
}
