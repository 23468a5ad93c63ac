//! The Houdini assets of `hda/houdini`, without Houdini: `tests/houdini` in Python, with the real program and a stand-in for `hou`.

use meniscus_tests::{binary, root};
use std::process::{Command, Output};

fn python(tests: &str) -> Output {
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "discover", "-s"]).arg(root().join("tests/houdini"));
    command.args(["-p", tests]).env("MENISCUS", binary()).env_remove("MENISCUS_PLUGIN_PATH");
    command.output().expect("Python is there")
}

fn passes(tests: &str) {
    let output = python(tests);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("Ran 0 tests"), "{said}");
}

/// `python3 hda/houdini/generate.py --meniscus PROGRAM` makes them anew.
#[test]
fn assets_follow_the_grammar_and_the_descriptors() {
    passes("test_assets.py");
}

#[test]
fn geometry_reaches_meniscus_in_metres_and_in_motion() {
    passes("test_geometry.py");
}

#[test]
fn a_scene_is_cooked_stopped_resumed_and_loaded() {
    passes("test_shot.py");
}

#[test]
fn a_top_node_cooks_a_wedge() {
    passes("test_wedge.py");
}

#[test]
fn the_adapter_for_the_hdk_runs_a_plugin() {
    passes("test_adapter.py");
}
