//! Dependencies point one way: plugin → core → kernels; the host sees the ABI only (ARCHITECTURE).

use meniscus_tests::root;
use std::path::{Path, PathBuf};
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

/// The rooms of core, the lowest first; each may use those listed before it. A room is a folder or a file of `core/src`.
const ROOMS: [&str; 40] = [
    "tuned",
    "number",
    "scan",
    "union_find",
    "interrupt",
    "grid",
    "mesh",
    "levelset",
    "solid",
    "device",
    "pressure",
    "control",
    "viscosity",
    "coupling/memory",
    "coupling/mass",
    "coupling/bodies",
    "coupling/optional",
    "coupling/fields",
    "coupling/air",
    "coupling/shut",
    "coupling/projection",
    "coupling/felt",
    "coupling/several",
    "coupling/free_surface",
    "coupling/rigid_fluid",
    "coupling/constraint_bubbles",
    "coupling/viscous",
    "fluid/step",
    "fluid/particles",
    "fluid/faces",
    "fluid/surface",
    "fluid/material",
    "fluid/liquid",
    "fluid/transport",
    "fluid/whitewater",
    "fluid/render_surface",
    "fluid/population",
    "fluid/spreading",
    "fluid/params",
    "fluid/flip",
];

/// The files of a folder and of those in it, but for tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("an entry").path());
    let mut files = Vec::new();
    for path in entries {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        match path.is_dir() {
            true if name != "tests" => files.extend(sources(&path)),
            false if name.ends_with(".rs") && name != "tests.rs" => files.push(path),
            _ => {}
        }
    }
    files
}

/// The paths, from the crate's root, that a source names; `own` is its module.
fn named(text: &str, own: &[String]) -> Vec<Vec<String>> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut paths = Vec::new();
    for path in code.join("\n").split(|c: char| !is_of_path(c)) {
        let parts: Vec<String> = path.split("::").map(str::to_owned).collect();
        let up = parts.iter().take_while(|p| *p == "super").count();
        let rest = |n: usize| parts[n..].iter().filter(|p| !p.is_empty()).cloned();
        match parts[0].as_str() {
            "crate" if parts.len() > 1 => {
                assert!(!parts[1].is_empty(), "{own:?} names rooms in braces: one line each");
                paths.push(rest(1).collect());
            }
            "super" if up < parts.len() => {
                paths.push(own[..own.len() - up].iter().cloned().chain(rest(up)).collect())
            }
            _ => {}
        }
    }
    paths
}

#[test]
fn rooms_of_core_use_those_below_alone() {
    let root = root().join("core/src");
    let room = |path: &[String]| {
        let joined = path.join("/");
        ROOMS.iter().position(|room| joined == *room || joined.starts_with(&format!("{room}/")))
    };
    let (mut seen, mut arrows) = (vec![false; ROOMS.len()], 0);
    for file in sources(&root) {
        let relative = file.strip_prefix(&root).expect("it lies there").with_extension("");
        let mut own: Vec<String> = relative.iter().map(|p| p.to_string_lossy().into_owned()).collect();
        if own.last().is_some_and(|last| last == "mod" || last == "lib") {
            own.pop();
        }
        // The pages that say what rooms there are.
        if own.is_empty() || own == ["coupling"] || own == ["fluid"] {
            continue;
        }
        let here = room(&own).unwrap_or_else(|| panic!("{} is in no room", file.display()));
        seen[here] = true;
        for path in named(&std::fs::read_to_string(&file).expect("it can be read"), &own) {
            // What a page passes on.
            let there = room(&path).or(match path.first().map(String::as_str) {
                Some("coupling") => ROOMS.iter().position(|room| *room == "coupling/constraint_bubbles"),
                Some("fluid") => ROOMS.iter().position(|room| *room == "fluid/particles"),
                _ => None,
            });
            arrows += usize::from(there.is_some_and(|there| there < here));
            assert!(
                there.is_none_or(|there| there <= here),
                "core/src/{}: `{}` stands above `{}`",
                relative.display(),
                path.join("::"),
                ROOMS[here]
            );
        }
    }
    assert!(seen.iter().all(|s| *s), "a room is gone");
    assert!(arrows > 300, "{arrows} arrows were found");
}
