//! Cooks that leave another one at a frame.

use meniscus_tests::meniscus;
use meniscus_tests::shot::{Shot, one_sentence};
use meniscus_tests::{assert_same_files, files};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A block of water falls beside a box that comes along; the wind is a parameter that keyframes may change.
fn falling(wind: Value) -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 6], "substeps": { "min": 1, "max": 2, "cfl": 2.0 },
        "nodes": [
            { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0.0, 0.3, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["block"], "params": { "particle_separation": 0.04 } },
            { "name": "cube", "type": "box", "params": { "size": [0.1, 0.1, 0.1], "center": [0.4, 0.3, 0.0] } },
            { "name": "stone", "type": "rigid_object", "inputs": ["cube"], "params": { "division_size": 0.05 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "wind", "type": "gravity", "params": { "force": wind } },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["stone", "gravity", "wind"] },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity", "wind"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] },
            { "name": "shot", "type": "usd_shot", "inputs": ["flip", "rigid"] },
            { "name": "look", "type": "preview", "inputs": ["flip", "rigid"], "params": { "resolution": [64, 48] } },
        ],
    })
}

const CALM: [f64; 3] = [0.5, 0.0, 0.0];

/// A finished cook in calm wind that kept the checkpoints of the frames 1, 3, 5 and 6.
fn parent() -> Shot {
    let shot = Shot::new(&falling(json!(CALM)));
    shot.cook(&["--keep-checkpoints", "2"]);
    shot
}

fn fork(shot: &Shot, name: &str, graph: &Value, extra: &[&str]) -> (PathBuf, Output) {
    let file = shot.file(&format!("{name}.meniscus.json"), graph.to_string().as_bytes());
    let out = shot.path(name);
    let mut command = meniscus(&["cook", "--quiet"]);
    command.arg(file).arg("--out").arg(&out).arg("--parent").arg(shot.out()).args(extra);
    (out, command.output().expect("meniscus starts"))
}

fn forked(shot: &Shot, name: &str, graph: &Value, extra: &[&str]) -> (PathBuf, Value) {
    let (out, output) = fork(shot, name, graph, extra);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record = std::fs::read(out.join("cook.json")).expect("a record");
    (out, serde_json::from_slice(&record).expect("JSON"))
}

/// What does not tell seconds and the moment of the cook.
const SKIPPED: [&str; 4] = ["cook.json", "stats.jsonl", "checkpoints", "cook.lock"];

#[test]
fn keys_after_the_fork_make_what_a_cook_from_the_first_frame_makes() {
    let shot = parent();
    let before = files(&shot.out(), &[]);
    let keyed = falling(json!({ "keys": [[4, CALM], [5, [9.0, 0.0, 0.0]]] }));
    let (out, record) = forked(&shot, "keyed", &keyed, &["--fork", "4"]);
    assert_eq!(record["parent"]["folder"], json!(shot.out()));
    assert_eq!(
        (&record["parent"]["fork_frame"], &record["parent"]["reproducible"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(record["parent"]["note"], Value::Null);
    let whole = Shot::new(&keyed);
    whole.cook(&[]);
    assert_same_files(&whole.out(), &out, &SKIPPED);
    assert_eq!(files(&shot.out(), &[]), before, "the other cook stays as it is");
    let lines =
        |out: &Path| std::fs::read_to_string(out.join("stats.jsonl")).expect("statistics").lines().count();
    assert_eq!(lines(&out), lines(&whole.out()));
}

#[test]
fn a_value_that_differs_from_the_fork_on_is_marked() {
    let shot = parent();
    let before = files(&shot.out(), &[]);
    let storm = falling(json!([9.0, 0.0, 0.0]));
    let (out, record) = forked(&shot, "storm", &storm, &["--fork", "5"]);
    let wanted = json!({ "fork_frame": 5, "reproducible": false, "note": "not reproducible from frame 1" });
    wanted
        .as_object()
        .expect("facts")
        .iter()
        .for_each(|(key, fact)| assert_eq!(record["parent"][key], *fact));
    let same = |frame: i32| {
        let name = format!("points/points.{frame:04}.geo");
        std::fs::read(out.join(&name)).expect("a frame")
            == std::fs::read(shot.out().join(&name)).expect("a frame")
    };
    assert_eq!((1..=6).map(same).collect::<Vec<_>>(), [true, true, true, true, true, false]);
    assert_eq!(files(&shot.out(), &[]), before, "the other cook stays as it is");
    // It is a cook like any other: it goes on, and others leave it.
    let (_, output) = fork(&shot, "storm", &storm, &["--fork", "5", "--resume"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = shot.path("storm.meniscus.json");
    let mut command = meniscus(&["cook", "--quiet", "--fork", "5", "--parent"]);
    command.arg(&out).arg(file).arg("--out").arg(shot.path("again"));
    assert!(command.status().expect("meniscus starts").success());
    assert_same_files(&out, &shot.path("again"), &SKIPPED);
    let record: Value =
        serde_json::from_slice(&std::fs::read(shot.path("again/cook.json")).expect("a record"))
            .expect("JSON");
    assert_eq!(record["parent"]["reproducible"], json!(false), "nor is what leaves it");
}

#[test]
fn what_cannot_leave_is_told_in_a_sentence() {
    let shot = parent();
    let calm = falling(json!(CALM));
    let refused = |name: &str, graph: &Value, extra: &[&str], words: &[&str]| {
        let (out, output) = fork(&shot, name, graph, extra);
        let sentence = one_sentence(&output);
        words.iter().for_each(|word| assert!(sentence.contains(word), "{word}: {sentence}"));
        assert!(!out.join("cook.json").exists(), "{sentence}");
    };
    let mut finer = calm.clone();
    finer["nodes"][1]["params"]["particle_separation"] = json!(0.03);
    refused(
        "finer",
        &finer,
        &["--fork", "5"],
        &["node `water`", "`particle_separation` was 0.04 and is 0.03"],
    );
    refused(
        "early",
        &calm,
        &["--fork", "0"],
        &["--fork", "no checkpoint of frame 0 or before", "1, 3, 5, 6"],
    );
    refused("late", &calm, &["--fork", "6"], &["nothing is left to cook", "frame 6"]);
    std::fs::create_dir(shot.path("full")).expect("a folder");
    std::fs::create_dir(shot.path("full/points")).expect("a folder");
    std::fs::write(shot.path("full/points/points.0002.geo"), b"mine").expect("a file");
    refused("full", &calm, &["--fork", "5"], &["points.0002.geo is there already"]);
    assert_eq!(files(&shot.path("full"), &["cook.lock"]).len(), 1, "nothing else is put there");
    assert_eq!(std::fs::read(shot.path("full/points/points.0002.geo")).expect("still there"), b"mine");
    let (out, _) = forked(&shot, "used", &calm, &["--fork", "5"]);
    let (_, output) = fork(&shot, "used", &calm, &["--fork", "5"]);
    let sentence = one_sentence(&output);
    assert!(sentence.contains("holds a cook already") && out.join("cook.json").exists(), "{sentence}");
}
