//! A plugin in Rust that describes its whole layout, and a host in Rust that compares it: `--features layout-check`.

use meniscus_abi::checked::check_layout;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The example that carries our plugin's description; cargo builds it with the tests.
fn described() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.ancestors().nth(2).expect("tests run from <target>/<profile>/deps");
    profile.join("examples/libdescribed.so")
}

/// A plugin in C.
fn drag() -> PathBuf {
    let abi = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libdrag.so");
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    compiler.args(["-std=c99", "-shared", "-fPIC", "-I"]).arg(abi.join("../include"));
    compiler.arg(abi.join("../../examples/c_plugin/drag.c")).arg("-o").arg(&library).arg("-lm");
    assert!(compiler.status().expect("a C compiler is installed").success());
    library
}

#[test]
fn our_layout_is_described_and_a_c_plugin_describes_none() {
    assert_eq!(check_layout(&drag()), Ok(false));
    assert_eq!(check_layout(&described()), Ok(true));
    let garbage = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libgarbage.so");
    std::fs::write(&garbage, b"not a library").expect("the file is written");
    assert!(check_layout(&garbage).is_err());
}
