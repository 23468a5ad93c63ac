//! What a built plugin exports: one symbol.

use meniscus_tests::c;
use std::path::Path;
use std::process::Command;

/// Names of the dynamic symbols a library defines.
fn exported(library: &Path) -> Vec<String> {
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|l| l.split_whitespace().last()).map(str::to_owned).collect()
}

#[test]
fn our_plugin_exports_one_symbol() {
    assert_eq!(exported(c::our_plugin()), ["mns_plugin"]);
}

#[test]
fn c_plugins_export_one_symbol() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for source in crate::C_PLUGINS {
        assert_eq!(exported(&c::plugin(source, &[], folder.path())), ["mns_plugin"]);
    }
}
