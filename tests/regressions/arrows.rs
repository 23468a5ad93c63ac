//! Dependencies point one way: plugin → core → kernels; the host sees the ABI only (DESIGN: folders).

use meniscus_tests::root;
use std::process::Command;

/// The workspace crates that `package` depends on, itself included.
fn dependencies(package: &str) -> Vec<String> {
    let out = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--all-features", "-p", package])
        .output()
        .expect("cargo tree runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.starts_with("meniscus") || *name == "openvdb-sys")
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_plugin_stands_on_core_and_core_on_kernels() {
    assert_eq!(dependencies("meniscus-kernels"), ["meniscus-kernels"]);
    assert_eq!(dependencies("meniscus-core"), ["meniscus-core", "meniscus-kernels"]);
    assert_eq!(
        dependencies("meniscus-plugin"),
        ["meniscus-abi", "meniscus-core", "meniscus-kernels", "meniscus-plugin"]
    );
}

#[test]
fn the_host_sees_the_abi_and_openvdb_only() {
    assert_eq!(dependencies("meniscus"), ["meniscus", "meniscus-abi", "openvdb-sys"]);
}
