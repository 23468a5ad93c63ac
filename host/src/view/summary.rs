//! What is known of a cook at this moment, from its folder.

use super::cooks::{Cook, LARGEST};
use super::folder::Folder;
use crate::engine::{frame_of_checkpoint, holder, listed_files, noted_failure, whole_frame_of_checkpoint};
use crate::output::{FRAME, frame_of};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the end of the statistics in which the last line is looked for.
const TAIL: u64 = 1 << 20;

/// What a cook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was cooked yet.
    Waiting,
    Cooking,
    Finished,
    /// It ended before its last frame, and left no reason.
    Stopped,
    Failed,
    /// Its folder is not there any more.
    Gone,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Cooking => "cooking",
            State::Finished => "finished",
            State::Stopped => "stopped",
            State::Failed => "failed",
            State::Gone => "gone",
        }
    }
}

/// What a folder's cook does, in a word, and why where that is known.
pub fn state_of(folder: &Path) -> (&'static str, Option<String>) {
    let cook = Cook::new(Folder::new(folder.into()), None, None);
    let record = cook.record();
    let files = record.as_ref().map(|r| files(&cook, r)).unwrap_or_default();
    let who = holder(folder);
    let state = state(&cook, record.as_ref(), who.as_deref(), last_frame(&cook), &files);
    (state.word(), message(&cook, state))
}

/// A short summary for a list of cooks.
pub fn short(number: usize, cook: &Cook) -> Json {
    let folder = cook.folder.path();
    json!({ "id": number, "name": name(folder), "folder": folder.display().to_string(), "begun_here": cook.job.is_some() })
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

/// Everything.
pub fn whole(number: usize, cook: &Cook) -> Json {
    let record = cook.record();
    let graph = graph(cook, record.as_ref());
    let files = record.as_ref().map(|r| files(cook, r)).unwrap_or_default();
    let last = last_frame(cook);
    let frames = frames(record.as_ref(), graph.as_ref());
    let who = holder(cook.folder.path());
    let state = state(cook, record.as_ref(), who.as_deref(), last, &files);
    let mut json = short(number, cook);
    json["state"] = json!(state.word());
    json["cooked_by"] = json!(who.filter(|_| state == State::Cooking));
    json["message"] = json!(message(cook, state));
    json["said"] = json!(cook.job.as_ref().map(|job| job.said()));
    json["frames"] = json!(frames);
    json["last_frame"] = json!(last);
    json["checkpoint"] = json!(checkpoint(cook));
    json["forks"] = json!(forks(cook));
    json["nodes"] = nodes(graph.as_ref(), record.as_ref());
    json["files"] = files.iter().map(Files::to_json).collect();
    for key in [
        "meniscus",
        "graph_file",
        "graph_hash",
        "set",
        "quality",
        "fps",
        "substeps",
        "variables",
        "plugins",
        "parent",
    ] {
        json[key] = record.as_ref().map_or(Json::Null, |r| r[key].clone());
    }
    if json["fps"].is_null() {
        json["fps"] = graph.as_ref().map_or(Json::Null, |g| g["fps"].clone());
    }
    json
}

/// The graph as it was cooked; the file itself before anything was.
fn graph(cook: &Cook, record: Option<&Json>) -> Option<Json> {
    if let Some(record) = record {
        return Some(record["graph"].clone()).filter(|g| !g.is_null());
    }
    let bytes = crate::files::read_file(cook.graph.as_ref()?, LARGEST).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// First and last frame.
fn frames(record: Option<&Json>, graph: Option<&Json>) -> Option<[i64; 2]> {
    let of = |json: &Json| Some([json["frames"][0].as_i64()?, json["frames"][1].as_i64()?]);
    record.and_then(of).or_else(|| graph.and_then(of))
}

/// The nodes in the graph's order, with the values that parameters have where they are known.
fn nodes(graph: Option<&Json>, record: Option<&Json>) -> Json {
    let known = record.and_then(|r| r["nodes"].as_object());
    let of_graph = graph.and_then(|g| g["nodes"].as_array()).into_iter().flatten();
    let node = |node: &Json| {
        let known = node["name"].as_str().and_then(|name| known?.get(name));
        let of = |key: &str| known.map_or(&node[key], |k| &k[key]).clone();
        json!({
            "name": node["name"], "inputs": node["inputs"], "type": of("type"), "version": of("version"),
            "bypass": of("bypass"), "params": of("params"), "given": node["params"],
        })
    };
    of_graph.map(node).collect()
}

/// The files of one name.
struct Files {
    node: String,
    pattern: String,
    /// Frames to be written; none for a single file.
    wanted: Option<(i32, i32)>,
    /// Frames that are there, as ranges; the single file as an empty one.
    there: Vec<(i32, i32)>,
}

impl Files {
    fn to_json(&self) -> Json {
        let kind = self.pattern.rsplit_once('.').map_or("", |(_, end)| end);
        json!({
            "node": self.node, "pattern": self.pattern, "kind": kind, "wanted": self.wanted, "frames": self.there,
        })
    }

    fn has(&self, frame: i32) -> bool {
        self.there.iter().any(|(a, b)| (*a..=*b).contains(&frame))
    }
}

/// The files that the record lists, and which of them are there.
fn files(cook: &Cook, record: &Json) -> Vec<Files> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let listed = listed_files(record);
    let of = |(node, pattern, wanted): (String, String, (i32, i32))| {
        let names = names.entry(node.clone()).or_insert_with(|| cook.folder.names(&node));
        let is_sequence = pattern.contains(FRAME);
        let there = match is_sequence {
            true => ranges(names.iter().filter_map(|name| frame_of(&pattern, name)).collect()),
            false => names.iter().filter(|name| **name == pattern).map(|_| (0, 0)).collect(),
        };
        Files { node, pattern, wanted: is_sequence.then_some(wanted), there }
    };
    listed.into_iter().map(of).collect()
}

/// Numbers as ranges.
fn ranges(mut numbers: Vec<i32>) -> Vec<(i32, i32)> {
    numbers.sort_unstable();
    let mut ranges: Vec<(i32, i32)> = Vec::new();
    for n in numbers {
        match ranges.last_mut() {
            Some((_, end)) if n.saturating_sub(*end) <= 1 => *end = n,
            _ => ranges.push((n, n)),
        }
    }
    ranges
}

/// The frame of the last whole line of the statistics.
fn last_frame(cook: &Cook) -> Option<i64> {
    let mut file = cook.folder.open(&["stats.jsonl"]).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().rposition(|&b| b == b'\n')?;
    let begin = bytes[..end].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    serde_json::from_slice::<Json>(&bytes[begin..end]).ok()?["frame"].as_i64()
}

/// The frames after which a changed cook may go on.
fn forks(cook: &Cook) -> Vec<i32> {
    let names = cook.folder.names("checkpoints");
    let mut frames: Vec<i32> =
        names.iter().filter_map(|name| whole_frame_of_checkpoint(Path::new(name))).collect();
    frames.sort_unstable();
    frames
}

/// The frame of the latest checkpoint.
fn checkpoint(cook: &Cook) -> Option<i32> {
    let names = cook.folder.names("checkpoints");
    names.iter().filter_map(|name| frame_of_checkpoint(Path::new(name))).max()
}

fn state(cook: &Cook, record: Option<&Json>, who: Option<&str>, last: Option<i64>, files: &[Files]) -> State {
    if cook.runs() || who.is_some() {
        return State::Cooking;
    }
    let failed = cook
        .job
        .as_ref()
        .and_then(|job| job.ended())
        .is_some_and(|end| end.code() == Some(1) || end.code() == Some(2));
    if failed || noted_failure(cook.folder.path()).is_some() {
        return State::Failed;
    }
    let Some(record) = record else {
        return if cook.graph.is_some() || cook.folder.path().is_dir() {
            State::Waiting
        } else {
            State::Gone
        };
    };
    let sequences = || files.iter().filter_map(|f| Some((f, f.wanted?.1)));
    let wanted = sequences().map(|(_, end)| i64::from(end)).max().or_else(|| record["frames"][1].as_i64());
    let reached = last.is_some_and(|last| wanted.is_some_and(|wanted| last >= wanted));
    let written = sequences().next().is_none() || sequences().any(|(f, end)| f.has(end));
    // A shot of one frame has no substep.
    let is_short = record["frames"][0] == record["frames"][1];
    if written && (reached || is_short) { State::Finished } else { State::Stopped }
}

/// Why it is as it is, where that is known.
fn message(cook: &Cook, state: State) -> Option<String> {
    let said = || {
        let said = cook.job.as_ref()?.said();
        said.iter().rev().find_map(|line| line.strip_prefix("error: ").map(str::to_owned))
    };
    match state {
        State::Failed => said().or_else(|| noted_failure(cook.folder.path())),
        State::Gone => Some("the folder is not there any more".into()),
        State::Stopped => Some(match checkpoint(cook) {
            Some(frame) => format!("it ended before its last frame; `--resume` goes on after frame {frame}"),
            None => "it ended before its last frame".into(),
        }),
        State::Waiting | State::Cooking | State::Finished => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cook(folder: &Path, graph: Option<&Path>) -> Cook {
        Cook::new(Folder::new(folder.into()), graph.map(Into::into), None)
    }

    fn word(cook: &Cook) -> String {
        whole(0, cook)["state"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_folder_tells_what_became_of_its_cook() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        assert_eq!(word(&cook(&out, None)), "gone");
        assert_eq!(word(&cook(&out, Some(Path::new("g.json")))), "waiting");
        std::fs::create_dir_all(out.join("cache")).unwrap();
        let record = json!({ "frames": [1, 3], "fps": 24.0, "written": [{ "file": "cache/cache.$F4.vdb", "frames": [1, 3] }],
            "graph": { "nodes": [{ "name": "a", "type": "t", "inputs": [] }] },
            "nodes": { "a": { "type": "meniscus.t", "params": { "p": 1 } } } });
        std::fs::write(out.join("cook.json"), record.to_string()).unwrap();
        std::fs::write(out.join("cache/cache.0001.vdb"), b"").unwrap();
        std::fs::write(out.join("stats.jsonl"), "{\"frame\":2}\n{\"fra").unwrap();
        let shown = whole(0, &cook(&out, None));
        assert_eq!([&shown["state"], &shown["last_frame"]], [&json!("stopped"), &json!(2)]);
        assert_eq!(shown["files"][0]["frames"], json!([[1, 1]]));
        assert_eq!(
            [&shown["nodes"][0]["type"], &shown["nodes"][0]["params"]["p"]],
            [&json!("meniscus.t"), &json!(1)]
        );
        std::fs::write(out.join("stats.jsonl"), "{\"frame\":2}\n{\"frame\":3}\n").unwrap();
        assert_eq!(word(&cook(&out, None)), "stopped", "its last file is missing");
        std::fs::write(out.join("cache/cache.0003.vdb"), b"").unwrap();
        assert_eq!(word(&cook(&out, None)), "finished");
        std::fs::write(out.join("failed.txt"), "node `a`: no\n").unwrap();
        let shown = whole(0, &cook(&out, None));
        assert_eq!([&shown["state"], &shown["message"]], [&json!("failed"), &json!("node `a`: no")]);
        let lock = std::fs::File::create(out.join("cook.lock")).unwrap();
        lock.try_lock().unwrap();
        assert_eq!(word(&cook(&out, None)), "cooking");
        drop(lock);
        std::fs::remove_dir_all(&out).unwrap();
        assert_eq!(word(&cook(&out, None)), "gone");
    }

    #[test]
    fn frames_are_told_as_ranges() {
        assert_eq!(ranges(vec![3, 1, 2, 7, 9, 8, -2]), [(-2, -2), (1, 3), (7, 9)]);
        assert!(ranges(vec![]).is_empty());
    }
}
