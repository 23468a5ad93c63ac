//! Byte-identical caches for any `--threads`.

use super::splash;
use meniscus_tests::{assert_same_files, cook, shot::Shot};
use serde_json::{Value, json};

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let graph = splash(4);
    let one = cook(&graph, &["--threads", "1"]);
    let two = cook(&graph, &["--threads", "2"]);
    assert_same_files(&one.out.join("cache"), &two.out.join("cache"), &[]);
    assert_same_files(&one.out.join("points"), &two.out.join("points"), &[]);
}

/// Every node of ours that the splash has is looked at in every call; the air is solved too.
#[test]
fn our_own_nodes_change_nothing_that_they_may_only_read() {
    let mut graph = splash(4);
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    let solver = nodes.iter().position(|n| n["type"] == "flip_solver").expect("a solver");
    nodes[solver]["params"]["air_particles"] = json!(true);
    nodes[solver]["params"]["surface_tension"] = json!(0.5);
    for name in ["pour", "drain"] {
        nodes[solver]["inputs"].as_array_mut().expect("inputs").push(json!(name));
    }
    nodes.insert(solver, json!({ "name": "drain", "type": "liquid_sink", "inputs": ["block"] }));
    nodes.insert(solver, json!({ "name": "pour", "type": "liquid_source", "inputs": ["swing"] }));
    let (plain, looked_at) = (cook(&graph, &[]), cook(&graph, &["--paranoid"]));
    for folder in ["cache", "points"] {
        assert_same_files(&plain.out.join(folder), &looked_at.out.join(folder), &[]);
    }
}

/// Cooks a graph on two threads, and on one with a stop after the third frame: the files are the same. Returns the first.
fn assert_same_however_cooked(graph: &Value) -> Shot {
    let (whole, cut) = (Shot::new(graph), Shot::new(graph));
    whole.cook(&["--threads", "2"]);
    cut.cook(&["--frames", "1-3", "--threads", "1"]);
    cut.cook(&["--resume", "--threads", "1"]);
    for folder in ["points", "cache"] {
        assert_same_files(&whole.out().join(folder), &cut.out().join(folder), &[]);
    }
    whole
}

/// Viscosity, surface tension and the identities of bubbles cross from substep to substep as data.
#[test]
fn honey_with_bubbles_is_the_same_on_one_thread_and_on_two_and_when_resumed() {
    let mut graph = splash(5);
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    for node in nodes {
        match node["type"].as_str() {
            Some("liquid_object") => node["params"]["viscosity"] = json!(2.0),
            Some("flip_solver") => node["params"]["surface_tension"] = json!(0.5),
            Some("vdb_cache") => node["params"]["grids"] = json!(["surface", "vel", "pressure", "region"]),
            _ => {}
        }
    }
    assert_same_however_cooked(&graph);
}

/// Which particles stand for several crosses from substep to substep as data.
#[test]
fn a_thinned_liquid_is_the_same_on_one_thread_and_on_two_and_when_resumed() {
    let mut graph = splash(5);
    for node in graph["nodes"].as_array_mut().expect("nodes") {
        if node["type"] == "flip_solver" {
            node["params"]["particle_band"] = json!(3.0);
        }
    }
    let whole = assert_same_however_cooked(&graph);
    let particles = |shot: &Shot| {
        shot.stats()
            .iter()
            .map(|r| r["objects"]["water"]["particles"].as_f64())
            .min_by(|a, b| a.partial_cmp(b).expect("numbers"))
    };
    let full = Shot::new(&splash(5));
    full.cook(&[]);
    assert!(particles(&whole) < particles(&full), "nothing was thinned");
}

/// The air's particles cross from substep to substep as data, and change what is solved.
#[test]
fn sampled_air_is_the_same_on_one_thread_and_on_two_and_when_resumed() {
    let mut graph = splash(5);
    for node in graph["nodes"].as_array_mut().expect("nodes") {
        match node["type"].as_str() {
            Some("flip_solver") => node["params"]["air_particles"] = json!(true),
            Some("geometry_cache") => {
                node["params"] = json!({ "geometry": ["particles", "air_particles"] });
            }
            _ => {}
        }
    }
    let whole = assert_same_however_cooked(&graph);
    let without = cook(&splash(5), &[]);
    let last = "cache/cache.0005.vdb";
    let read = |out: &std::path::Path| std::fs::read(out.join(last)).expect("the cook writes its last frame");
    assert_ne!(read(&whole.out()), read(&without.out), "the air's particles say nothing");
}

/// Which walls have parted crosses from substep to substep as data, and changes what is solved.
#[test]
fn liquid_that_parts_from_walls_is_the_same_on_one_thread_and_on_two_and_when_resumed() {
    let separating = |on: bool| {
        let mut graph = splash(6);
        for node in graph["nodes"].as_array_mut().expect("nodes") {
            match node["name"].as_str() {
                Some("flip") => node["params"]["wall_separation"] = json!(on),
                // Under the lid, and beside a ball that has come up into it.
                Some("block") => node["params"]["center"] = json!([-0.08, 0.3, 0.0]),
                _ => {}
            }
        }
        graph
    };
    let parts = assert_same_however_cooked(&separating(true));
    let held = cook(&separating(false), &[]);
    let last = "cache/cache.0006.vdb";
    let read = |out: &std::path::Path| std::fs::read(out.join(last)).expect("the cook writes its last frame");
    assert_ne!(read(&parts.out()), read(&held.out), "nothing has parted");
}
