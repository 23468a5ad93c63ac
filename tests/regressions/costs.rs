//! `check` learns from what was cooked before what a shot takes on this machine.

use meniscus_tests::meniscus;
use serde_json::{Value, json};
use std::path::Path;

/// A ball of water that falls onto the floor of a box, in some frames.
fn shot(frames: u32) -> String {
    let limits = json!({ "limit_center": [0, 0.5, 0], "limit_size": [1, 1, 1], "side_neg_y": "closed" });
    let graph = json!({
        "format": "meniscus.graph/1", "frames": [1, frames], "fps": 24,
        "nodes": [
            { "name": "ball", "type": "sphere", "params": { "radius": 0.15, "center": [0, 0.5, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["ball"], "params": { "particle_separation": 0.025 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"], "params": limits }
        ]
    });
    graph.to_string()
}

/// What a command says that succeeds, with a cache folder of its own.
fn said(cache: &Path, args: &[&str]) -> String {
    let output = meniscus(args).env("XDG_CACHE_HOME", cache).output().expect("meniscus starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The line about the time.
fn time(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("time: roughly")).expect("a time")
}

#[test]
fn check_learns_from_cooks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (graph, out, cache) = (at("shot.meniscus.json"), at("out"), folder.path().join("cache"));
    std::fs::write(&graph, shot(7)).expect("the graph is written");
    let before = said(&cache, &["check", &graph]);
    assert!(time(&before).contains("a first guess"), "{before}");
    said(&cache, &["cook", &graph, "--out", &out, "--quiet"]);
    let after = said(&cache, &["check", &graph]);
    assert!(time(&after).contains("as this shot took when it was cooked here"), "{after}");
    let finer = said(&cache, &["check", &graph, "--set", "water.particle_separation=0.02"]);
    assert!(time(&finer).contains("going by shots of the same nodes"), "{finer}");
    let other = at("other.meniscus.json");
    let nodes = json!({ "name": "mesh", "type": "mesh_cache", "inputs": ["flip"] });
    let mut with_mesh: Value = serde_json::from_str(&shot(7)).expect("a graph");
    with_mesh["nodes"].as_array_mut().expect("its nodes").push(nodes);
    std::fs::write(&other, with_mesh.to_string()).expect("the graph is written");
    let other = said(&cache, &["check", &other]);
    assert!(time(&other).contains("going by shots of other nodes"), "{other}");
    // A table that is none does no harm, and is replaced.
    let table = cache.join("meniscus/costs.json");
    for rubbish in [&b"[1, 2"[..], b"{}", br#"{"version":99,"cooks":[]}"#, &[0xff; 300]] {
        std::fs::write(&table, rubbish).expect("the table is there");
        assert!(time(&said(&cache, &["check", &graph])).contains("a first guess"));
    }
    said(&cache, &["cook", &graph, "--out", &out, "--quiet", "--replace"]);
    assert!(time(&said(&cache, &["check", &graph])).contains("as this shot took"));
    // A folder that cannot be made is no failure.
    let nowhere = folder.path().join("shot.meniscus.json");
    said(&nowhere, &["cook", &graph, "--out", &out, "--quiet", "--replace"]);
}

/// How many substeps a frame takes is foreseen from how far liquid falls, and how fast sources drive it.
#[test]
fn check_foresees_substeps_from_falls_and_sources() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let graph = folder.path().join("shot.meniscus.json");
    std::fs::write(&graph, shot(7)).expect("the graph is written");
    let graph = graph.to_string_lossy().into_owned();
    let substeps = |sets: &[&str]| -> f64 {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let args: Vec<&str> = ["check", &graph].into_iter().chain(sets).collect();
        let text = said(folder.path(), &args);
        let words = time(&text).split_once('(').and_then(|(_, each)| each.split_once(" substeps"));
        words.expect("substeps a frame").0.parse().expect("a number")
    };
    // From 0.65 m down a ball reaches 3.6 m/s, 3 voxels of 5 cm in 1/24 s.
    let low = substeps(&["substeps.cfl=0.5"]);
    assert!(low > 2.0 && low < 6.0, "{low}");
    let high = substeps(&["substeps.cfl=0.5", "ball.center=[0,0.8,0]"]);
    assert!((high / low - (0.95f64 / 0.65).sqrt()).abs() < 0.02, "{high} of {low}");
    let half = substeps(&["substeps.cfl=0.25", "substeps.max=20"]);
    assert!((half / low - 2.0).abs() < 0.02, "{half} of {low}");
    assert_eq!(substeps(&["substeps.cfl=0.5", "gravity.bypass=true"]), 1.0);
    // It counts how fast it begins: 9.81 · 2 · 0.65 is 3.571².
    let thrown = substeps(&["substeps.cfl=0.5", "water.velocity=[3.571,0,0]"]);
    assert!((thrown / low - 2.0f64.sqrt()).abs() < 0.02, "{thrown} of {low}");
}

/// A body that falls onto liquid throws it up, so its height and speed count, too.
#[test]
fn check_foresees_substeps_from_bodies() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shot.meniscus.json").to_string_lossy().into_owned();
    let expected = |height: f64, velocity: f64| -> f64 {
        let mut graph: Value = serde_json::from_str(&shot(7)).expect("a graph");
        let nodes = graph["nodes"].as_array_mut().expect("its nodes");
        let flip = nodes.last_mut().expect("the solver");
        flip["inputs"].as_array_mut().expect("its inputs").push(json!("stone"));
        let block = json!({ "size": [0.2, 0.2, 0.2], "center": [0, height, 0] });
        let stone = json!({ "velocity": [0, -velocity, 0], "division_size": 0.05 });
        nodes.insert(
            0,
            json!({ "name": "stone", "type": "rigid_object", "inputs": ["block"], "params": stone }),
        );
        nodes.insert(0, json!({ "name": "block", "type": "box", "params": block }));
        nodes.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": ["stone", "gravity"] }));
        nodes.push(json!({ "name": "float", "type": "floating_bodies", "inputs": ["flip", "rigid"] }));
        std::fs::write(&path, graph.to_string()).expect("the graph is written");
        let text = said(folder.path(), &["check", &path, "--set", "substeps.cfl=0.5"]);
        let words = time(&text).split_once('(').and_then(|(_, each)| each.split_once(" substeps"));
        words.expect("substeps a frame").0.parse().expect("a number")
    };
    let (low, high) = (expected(0.4, 0.0), expected(1.1, 0.0));
    assert!((high / low - (1.2f64 / 0.65).sqrt()).abs() < 0.02, "{high} of {low}");
    let thrown = expected(0.4, 3.571);
    assert!((thrown / low - 2.0f64.sqrt()).abs() < 0.02, "{thrown} of {low}");
}

/// Bodies without liquid take time, too; what nothing moves takes none.
#[test]
fn check_foresees_what_bodies_take() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shot.meniscus.json").to_string_lossy().into_owned();
    let mut graph = json!({
        "format": "meniscus.graph/1", "frames": [1, 1001], "fps": 24,
        "nodes": [
            { "name": "block", "type": "box", "params": { "center": [0, 1, 0] } },
            { "name": "stone", "type": "rigid_object", "inputs": ["block"] },
            { "name": "gravity", "type": "gravity" },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["stone", "gravity"] }
        ]
    });
    std::fs::write(&path, graph.to_string()).expect("the graph is written");
    assert!(time(&said(folder.path(), &["check", &path])).contains("a first guess"));
    graph["nodes"].as_array_mut().expect("its nodes").truncate(2);
    std::fs::write(&path, graph.to_string()).expect("the graph is written");
    let idle = said(folder.path(), &["check", &path]);
    assert!(!idle.contains("time: roughly"), "{idle}");
}

/// What is drawn takes its time.
#[test]
fn check_foresees_what_pictures_take() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shot.meniscus.json").to_string_lossy().into_owned();
    let mut graph: Value = serde_json::from_str(&shot(1001)).expect("a graph");
    let nodes = graph["nodes"].as_array_mut().expect("its nodes");
    nodes.push(json!({ "name": "picture", "type": "preview", "inputs": ["flip"] }));
    std::fs::write(&path, graph.to_string()).expect("the graph is written");
    // Rounded to whole seconds, of a thousand frames.
    let seconds = |sets: &[&str]| -> f64 {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let text = said(folder.path(), &["check", &path].into_iter().chain(sets).collect::<Vec<_>>());
        let words: Vec<&str> = time(&text).split_whitespace().collect();
        let unit = if words[3] == "min" { 60.0 } else { 1.0 };
        words[2].parse::<f64>().expect("a number") * unit
    };
    let sized = |size: &str| seconds(&[&format!("picture.resolution={size}")]);
    let (none, small, large) = (seconds(&["picture.bypass=true"]), sized("[800,600]"), sized("[1600,1200]"));
    assert!(none > 0.0, "{none} s");
    let ratio = (large - none) / (small - none);
    assert!((ratio - 4.0).abs() < 0.4, "{none}, {small}, {large} s");
}

/// Drops that nothing catches make a shot slow, for as long as the box goes on below it.
#[test]
fn check_tells_where_liquid_may_fall_far_below_the_shot() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shot.meniscus.json").to_string_lossy().into_owned();
    let told_of = |sets: &[&str], trays: &[Value]| -> bool {
        let mut graph: Value = serde_json::from_str(&shot(7)).expect("a graph");
        let nodes = graph["nodes"].as_array_mut().expect("its nodes");
        for (tray, name) in trays.iter().zip(["tray", "other"]) {
            let flip = nodes.last_mut().expect("the solver")["inputs"].as_array_mut().expect("its inputs");
            flip.insert(1, json!(name));
            let plate = format!("{name}_plate");
            nodes.insert(0, json!({ "name": name, "type": "static_object", "inputs": [&plate] }));
            nodes.insert(0, json!({ "name": plate, "type": "box", "params": tray }));
        }
        std::fs::write(&path, graph.to_string()).expect("the graph is written");
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let text = said(folder.path(), &["check", &path].into_iter().chain(sets).collect::<Vec<_>>());
        text.lines().any(|line| line.contains("node `flip`") && line.contains("below everything else"))
    };
    let told = |sets: &[&str], tray: Value| told_of(sets, &[tray]);
    assert!(!told_of(&[], &[]), "a floor half a metre below");
    assert!(told_of(&["flip.side_neg_y=open"], &[]));
    assert!(!told_of(&["flip.side_neg_y=open", "gravity.bypass=true"], &[]));
    assert!(!told_of(&["flip.side_neg_y=kill"], &[]), "a side that deletes half a metre below");
    assert!(told_of(&["flip.side_neg_y=kill", "flip.limit_size=[1, 9, 1]"], &[]));
    // A plate that is wide enough, one that is not, and one that moves away or is there for a while only.
    let open = ["flip.side_neg_y=open"];
    assert!(!told(&open, json!({ "size": [1, 0.2, 1] })));
    assert!(told(&open, json!({ "size": [1, 0.2, 0.2] })));
    assert!(told(
        &open,
        json!({ "size": [1, 0.2, 1], "center": { "keys": [[1, [0, 0, 0]], [7, [2, 0, 0]]] } })
    ));
}

/// What meshes of a liquid take on the disk is told before.
#[test]
fn check_foresees_the_size_of_meshes() {
    for format in ["ply", "obj"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let mut graph: Value = serde_json::from_str(&shot(10)).expect("a graph");
        let mesh = json!({ "name": "mesh", "type": "mesh_cache", "inputs": ["flip"], "params": { "format": format } });
        graph["nodes"].as_array_mut().expect("its nodes").push(mesh);
        std::fs::write(at("shot.meniscus.json"), graph.to_string()).expect("the graph is written");
        let text = said(folder.path(), &["check", &at("shot.meniscus.json")]);
        let told = text.lines().find_map(|line| line.strip_prefix("disk: about ")).expect("it is told");
        let (number, unit) = told.split_once(' ').expect("a number and a unit");
        assert!(unit.starts_with("kB a frame"), "{told}");
        let told = 1e3 * number.parse::<f64>().expect("a number");
        said(folder.path(), &["cook", &at("shot.meniscus.json"), "--out", &at("out"), "--quiet"]);
        let files = std::fs::read_dir(at("out/mesh")).expect("meshes").map(|file| file.expect("a file"));
        let files = files.filter(|file| file.path().extension().is_some_and(|e| e == format));
        let sizes: Vec<u64> = files.map(|file| file.metadata().expect("its size").len()).collect();
        let written = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        assert!((0.5..2.0).contains(&(told / written)), "{format}: {told} told, {written} written");
    }
}
