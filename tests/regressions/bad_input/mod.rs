//! Bad input ends in one clear sentence that names the node, a code that is not zero, and nothing lost (CONTRIBUTING:
//! contracts).

mod checkpoints;
mod disks;
mod folders;
mod graphs;
mod intruders;
mod limits;
mod meshes;
mod plugins;
mod processes;
mod scans;
mod terminal;
mod want;

use serde_json::{Value, json};

/// A block of water in a closed box for three frames, some eight voxels wide: the least that writes everything.
fn tank() -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3],
        "substeps": { "min": 1, "max": 2, "cfl": 2.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.2, 0.1, 0.2], "center": [0.0, 0.05, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
              "params": { "limit_center": [0.0, 0.15, 0.0], "limit_size": [0.2, 0.3, 0.2],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
        ]
    })
}

/// [`tank`] with this force wired into the solver.
fn tank_with(force: Value) -> Value {
    let mut graph = tank();
    let name = force["name"].clone();
    let nodes = graph["nodes"].as_array_mut().expect("a graph has nodes");
    nodes[3]["inputs"].as_array_mut().expect("a solver has inputs").push(name);
    nodes.insert(3, force);
    graph
}

/// Fails unless the sentence holds every one of these words.
fn says(sentence: &str, words: &[&str]) {
    for word in words {
        assert!(sentence.contains(word), "`{word}` is missing in: {sentence}");
    }
}
