//! The same graph gives the same bytes: whatever the threads, and after a kill and `--resume`.

mod attributes;
mod coupling;
mod painted;
mod resume;
mod threads;

use serde_json::{Value, json};

/// A block of water that falls on a ball in a closed box, with a moving lid: small, but every stage works.
fn splash(frames: u32) -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": 1, "max": 4, "cfl": 2.0 },
        "nodes": [
            { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.3], "center": [-0.08, 0.15, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["block"], "params": { "particle_separation": 0.01 } },
            { "name": "ball", "type": "sphere", "params": { "radius": 0.06, "center": [0.07, 0.06, 0.0] } },
            { "name": "swing", "type": "transform", "inputs": ["ball"],
              "params": { "translate": { "keys": [[1, [0.0, 0.0, 0.0]], [12, [0.05, 0.1, 0.0]]] } } },
            { "name": "obstacle", "type": "static_object", "inputs": ["swing"], "params": { "division_size": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "obstacle", "gravity"],
              "params": { "wall_separation": true,
                          "limit_center": [0.0, 0.2, 0.0], "limit_size": [0.4, 0.4, 0.32],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "air", "type": "constraint_bubbles", "inputs": ["flip"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["air"], "params": { "grids": ["surface", "vel"] } },
            { "name": "points", "type": "geometry_cache", "inputs": ["air"] }
        ]
    })
}
