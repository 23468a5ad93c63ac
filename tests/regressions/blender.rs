//! The parts of the Blender add-on that need no Blender: a graph of a shot, a cook that is stopped and goes on.

use meniscus_tests::{binary, root};
use std::process::Command;

#[test]
fn the_add_on_cooks_what_it_writes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut python = Command::new("python3");
    python.arg("-B").arg(root().join("tests/blender/alone.py")).arg(binary()).arg(folder.path());
    let output = python.env_remove("MENISCUS_PLUGIN_PATH").output().expect("Python is there");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}{}", said[0], said[1]);
}
