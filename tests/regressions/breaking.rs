//! A column of water that breaks in a closed tank with a post: the shot of nodes that look at a liquid.

use serde_json::{Value, json};

/// The shot to frame `last`, its liquid cached in `liquid`, and `more` nodes after it.
pub fn tank(last: i32, more: &[Value]) -> Value {
    let mut nodes = json!([
        { "name": "column", "type": "box", "params": { "size": [0.6, 1.2, 0.6], "center": [-0.7, 0.6, 0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["column"], "params": { "particle_separation": 0.05 } },
        { "name": "mast", "type": "box", "params": { "size": [0.2, 0.8, 0.2], "center": [0.4, 0.4, 0] } },
        { "name": "post", "type": "static_object", "inputs": ["mast"], "params": { "division_size": 0.1 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "a_flip", "type": "flip_solver", "inputs": ["water", "post", "gravity"], "params": {
            "limit_center": [0, 1, 0], "limit_size": [2, 2, 0.6], "side_neg_x": "closed", "side_pos_x": "closed",
            "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
        { "name": "liquid", "type": "geometry_cache", "inputs": ["a_flip"] },
    ]);
    nodes.as_array_mut().expect("an array").extend_from_slice(more);
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, last], "substeps": { "min": 1, "max": 4, "cfl": 2.0 }, "nodes": nodes })
}
