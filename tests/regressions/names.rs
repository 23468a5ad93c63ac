//! The host knows no node, port or parameter of ours by name: what it acts on and what it advises, descriptors declare
//! (ARCHITECTURE).

use meniscus_tests::{meniscus, root};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// The names of a plugin's nodes, and every name that they give to ports and parameters, without those that a node of the host
/// also has.
fn names_of_plugins() -> BTreeSet<String> {
    let out = meniscus(&["nodes", "--json"]).output().expect("the binary runs");
    let nodes: Json = serde_json::from_slice(&out.stdout).expect("JSON");
    let list = nodes.as_array().or_else(|| nodes["nodes"].as_array()).expect("a list of nodes").clone();
    let (mut ours, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for node in &list {
        let is_host = node["plugin"].as_str().is_none_or(str::is_empty);
        let named =
            ["params", "ports"].into_iter().flat_map(|key| node[key].as_array().into_iter().flatten());
        let names: Vec<String> =
            named.filter_map(|entry| entry["name"].as_str().map(str::to_owned)).collect();
        let id = node["id"].as_str().expect("a node has an id");
        let short = id.rsplit('.').next().unwrap_or(id);
        let all = names.into_iter().chain([id.to_owned(), short.to_owned()]);
        if is_host { hosts.extend(all) } else { ours.extend(all) }
    }
    assert!(ours.len() > 40, "{ours:?}");
    ours.difference(&hosts).filter(|name| !name.is_empty()).cloned().collect()
}

/// The Rust files under a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// The string literals of Rust code, as they are written.
fn literals(code: &str) -> Vec<&str> {
    let (bytes, mut found, mut at) = (code.as_bytes(), Vec::new(), 0);
    let end = |from: usize, end: &str| code[from..].find(end).map_or(code.len(), |n| from + n);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            at = end(at, "\n");
        } else if rest.starts_with(b"'\"'") || rest.starts_with(b"'\\\"'") {
            at = end(at + 2, "'") + 1;
        } else if rest.starts_with(b"r#\"") {
            let last = end(at + 3, "\"#");
            found.push(&code[at + 3..last]);
            at = last + 2;
        } else if rest[0] == b'"' {
            let mut last = at + 1;
            while last < bytes.len() && bytes[last] != b'"' {
                last += if bytes[last] == b'\\' { 2 } else { 1 };
            }
            found.push(&code[at + 1..last.min(code.len())]);
            at = last + 1;
        } else {
            at += 1;
        }
    }
    found
}

/// The names that a literal may be or hold: all of it, what it puts between backquotes, and words that no language has.
fn named(literal: &str) -> BTreeSet<&str> {
    let quoted = literal.split('`').skip(1).step_by(2).flat_map(|quoted| quoted.split(['.', '=', ' ']));
    let words = literal.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| w.contains('_'));
    quoted.chain(words).chain([literal]).collect()
}

#[test]
fn names_are_found_wherever_a_text_holds_them() {
    let code = r##"a("x_y"); // "no_name"
        b('"', "raise `force`", r#"{"water_level": 1}"#, "say \"buoyant_mass\" now")"##;
    let found: BTreeSet<&str> = literals(code).into_iter().flat_map(named).collect();
    for name in ["x_y", "force", "water_level", "buoyant_mass"] {
        assert!(found.contains(name), "{name}: {found:?}");
    }
    assert!(!found.contains("no_name") && !found.contains("raise"), "{found:?}");
}

#[test]
fn the_host_knows_none_of_our_names() {
    /// Words of the host's own that a port of ours happens to be called as well: a key of stats.jsonl, a kind of node, an
    /// attribute, a way to be drawn, whose data a port names, a key of USD's.
    const OWN: [&str; 5] = ["particles", "force", "liquid", "owner", "active"];
    let names = names_of_plugins();
    let mut found = Vec::new();
    for path in files(&root().join("host/src")) {
        // It reads files of any program, by the names that programs give to velocities.
        if path.ends_with("cli/inspect/vdb.rs") || path.ends_with("output/test_scene.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for literal in literals(code) {
            let ours = named(literal).into_iter().filter(|l| names.contains(*l) && !OWN.contains(l));
            found.extend(ours.map(|l| format!("{}: `{l}` in \"{literal}\"", path.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
