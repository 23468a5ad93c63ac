//! The host knows no port, parameter or medium of ours by name: what it acts on, descriptors declare (DESIGN: ports).

use meniscus_tests::{meniscus, root};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// Every name that a plugin's nodes give to ports and parameters, without those that a node of the host also has.
fn names_of_plugins() -> BTreeSet<String> {
    let out = meniscus(&["nodes", "--json"]).output().expect("the binary runs");
    let nodes: Json = serde_json::from_slice(&out.stdout).expect("JSON");
    let list = nodes.as_array().or_else(|| nodes["nodes"].as_array()).expect("a list of nodes").clone();
    let (mut ours, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for node in &list {
        let is_host = node["plugin"].as_str().is_none_or(str::is_empty);
        let named =
            ["params", "ports"].into_iter().flat_map(|key| node[key].as_array().into_iter().flatten());
        let names = named.filter_map(|entry| entry["name"].as_str().map(str::to_owned));
        if is_host { hosts.extend(names) } else { ours.extend(names) }
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

#[test]
fn the_host_knows_none_of_our_names() {
    /// Words of the host's own that a port of ours happens to be called as well: a key of stats.jsonl, a kind of node, an
    /// attribute, a way to be drawn, whose data a port names.
    const OWN: [&str; 4] = ["particles", "force", "liquid", "owner"];
    let names = names_of_plugins();
    let mut found = Vec::new();
    for path in files(&root().join("host/src")) {
        // It reads files of any program, by the names that programs give to velocities.
        if path.ends_with("cli/inspect/vdb.rs") || path.ends_with("output/test_scene.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let literals = code.split('"').skip(1).step_by(2);
        let ours = literals.filter(|l| names.contains(*l) && !OWN.contains(l));
        found.extend(ours.map(|l| format!("{}: \"{l}\"", path.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
