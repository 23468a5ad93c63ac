//! Plugins that are none, are of another ABI, or go wrong while they run.

use super::{says, tank, tank_with};
use meniscus_tests::{binary, c, shot::Shot};
use serde_json::{Value, json};
use std::process::Command;

const FAULTS: &str = "tests/abi/c_faults.c";

#[test]
fn a_force_that_goes_wrong_is_named_and_the_frames_before_it_stay() {
    for (kind, words) in [
        ("test.fails", vec!["predict of `water` failed", "not to its liking"]),
        ("test.fails_silently", vec!["predict of `water` failed", "without a reason"]),
        ("test.fails_and_says_ok", vec!["predict of `water` failed", "it returns ok all the same"]),
        (
            "test.fails_without_words",
            vec!["predict of `water` failed", "without a reason: status unsupported (plugin `test faults`"],
        ),
        ("test.says_it_was_cancelled", vec!["told to stop, and nobody told it"]),
        ("test.reports_nan", vec!["its solve `wild` reports NaN"]),
        ("test.places_flat", vec!["`surface`", "its transform gives voxels no volume"]),
        ("test.fails_late", vec!["predict of `water` failed", "after it had written"]),
        ("test.writes_nan", vec!["`dv` is NaN"]),
        ("test.create_fails", vec!["this machine has no such thing"]),
        ("test.crashes", vec!["crashed in predict", "segmentation fault"]),
        ("test.aborts", vec!["crashed in predict", "abort"]),
        ("test.crashes_in_a_thread", vec!["crashed in predict", "segmentation fault"]),
        ("test.exits", vec!["ended the program in predict", "exit code 0"]),
        ("test.exits_at_once", vec!["ended the program in predict", "exit code 0"]),
        ("test.exits_in_a_thread", vec!["ended the program in predict", "exit code 0"]),
        ("test.exits_in_suggest_dt", vec!["ended the program in suggest_dt", "exit code 0"]),
        ("test.is_killed", vec!["the system ended the program", "in predict", "memory ran out"]),
    ] {
        let shot = Shot::new(&tank_with(json!({ "name": "bad", "type": kind })));
        c::plugin(FAULTS, &[], &shot.plugins());
        let sentence = shot.refused(&[]);
        says(&sentence, &["node `bad`"]);
        says(&sentence, &words);
        // What takes the process with it is told by the process that looks on.
        if ["crash", "abort", "exit", "kill"].iter().any(|word| kind.contains(word)) {
            says(&sentence, &["frame 2", "plugin `test faults`", "libc_faults.so", "--resume"]);
        }
        // The first frame came before the force had its say; where it cannot even be made, nothing is begun.
        let written = shot.written();
        for file in ["cache/cache.0001.vdb", "points/points.0001.geo", "checkpoints/checkpoint.0001.mns"] {
            let there = written.iter().any(|(name, bytes)| name.ends_with(file) && !bytes.is_empty());
            assert_eq!(there, kind != "test.create_fails", "{kind}: {file}");
        }
    }
}

#[test]
fn a_node_that_suggests_no_time_at_all_is_named() {
    let shot = Shot::new(&tank_with(json!({ "name": "bad", "type": "test.wishes", "params": { "dt": 0 } })));
    c::plugin(FAULTS, &[], &shot.plugins());
    says(&shot.refused(&[]), &["node `bad`", "cannot choose a substep", "0 s, which must be above 0"]);
}

#[test]
fn a_node_that_ends_the_program_before_or_after_the_frames_has_not_cooked() {
    for (kind, words, saved) in [
        ("test.exits_in_create", ["ended the program while it was made", "nothing is saved yet"], false),
        ("test.exits_in_destroy", ["ended the program while it was destroyed", "--resume"], true),
        ("test.crashes_in_destroy", ["crashed while it was destroyed", "--resume"], true),
    ] {
        let shot = Shot::new(&tank_with(json!({ "name": "bad", "type": kind })));
        c::plugin(FAULTS, &[], &shot.plugins());
        let sentence = shot.refused(&[]);
        says(&sentence, &["node `bad`", "plugin `test faults`", "libc_faults.so"]);
        says(&sentence, &words);
        assert_eq!(shot.out().join("checkpoints/checkpoint.0003.mns").exists(), saved, "{kind}");
    }
}

#[test]
fn a_node_that_changes_what_it_may_only_read_is_caught_where_someone_looks() {
    for (kind, inputs, changed) in [
        ("test.changes_const", json!([]), "attribute `P` of `particles` of `water`"),
        ("test.changes_input", json!(["fill"]), "the triangles of its input `fill`"),
    ] {
        let shot = || {
            let shot = Shot::new(&tank_with(json!({ "name": "bad", "type": kind, "inputs": inputs })));
            c::plugin(FAULTS, &[], &shot.plugins());
            shot
        };
        shot().cook(&[]);
        let sentence = shot().refused(&["--paranoid"]);
        says(&sentence, &["node `bad`", "predict of `water`", changed, "only read", "libc_faults.so"]);
    }
}

#[test]
fn plugins_that_cannot_be_opened_say_why_where_they_are_missed() {
    let graph = tank_with(json!({ "name": "bad", "type": "test.fails" }));
    for (define, words) in [
        ("WRONG_MAJOR", vec!["ABI", "a newer Meniscus is needed"]),
        ("WRONG_LAYOUT", vec!["layout hash"]),
        ("TRUNCATED", vec!["bytes long"]),
        ("NO_CREATE", vec!["lacks create"]),
    ] {
        let shot = Shot::new(&tank());
        shot.cook(&[]);
        c::plugin(FAULTS, &[define], &shot.plugins());
        shot.graph(graph.to_string().as_bytes());
        let sentence = shot.refused(&[]);
        says(&sentence, &["node `bad`", "test.fails", "libc_faults"]);
        says(&sentence, &words);
    }
}

#[test]
fn files_that_are_no_plugins_are_refused() {
    let graph = tank_with(json!({ "name": "bad", "type": "test.fails" }));
    let library = c::our_plugin();
    let start = std::fs::read(library).map(|b| b[..b.len() / 50].to_vec()).expect("the plugin can be read");
    for (bytes, reason) in [
        (b"not a library".to_vec(), "no shared library"),
        (Vec::new(), "no shared library"),
        (b"\x7fELF and then nothing".to_vec(), "no Meniscus plugin"),
        (b"\x7fELF and then mns_plugin\0".to_vec(), "cannot be opened"),
        (start, "ends too early"),
    ] {
        let shot = Shot::new(&tank());
        shot.cook(&[]);
        std::fs::write(shot.plugins().join("libgarbage.so"), &bytes).expect("the file is written");
        shot.graph(graph.to_string().as_bytes());
        let sentence = shot.refused(&[]);
        says(&sentence, &["node `bad`", "libgarbage.so", reason]);
    }
}

#[test]
fn a_refused_plugin_nobody_needs_is_a_warning() {
    let shot = Shot::new(&tank());
    std::fs::write(shot.plugins().join("libgarbage.so"), b"not a library").expect("the file is written");
    let output = shot.command(&["--frames", "1-1"]).output().expect("meniscus starts");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    says(&text, &["warning: ", "libgarbage.so", "no shared library"]);
}

#[test]
fn what_lies_in_place_of_the_plugin_beside_the_program_is_told_of() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("meniscus");
    std::fs::copy(binary(), &program).expect("the program is copied");
    let plugin = c::our_plugin().file_name().expect("a file has a name").to_owned();
    std::fs::write(folder.path().join(&plugin), b"x").expect("the file is written");
    let output = Command::new(&program)
        .args(["nodes", "--json"])
        .env_remove("MENISCUS_PLUGIN_PATH")
        .env("HOME", folder.path())
        .output()
        .expect("meniscus starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    says(&text, &["warning: ", &plugin.to_string_lossy(), "no shared library"]);
    let nodes: Vec<Value> =
        serde_json::from_slice(&output.stdout).expect("standard output holds the nodes alone");
    assert!(nodes.iter().any(|n| n["id"] == "meniscus.box" || n["id"] == "box"), "{nodes:?}");
}
