//! Solids that are moved push water out of their way, and nothing of it is lost.

use crate::number;
use meniscus_tests::{points::positions, shot::Shot};
use serde_json::{Value, json};

/// Edge of the tank's square floor, metres.
const SIDE: f64 = 0.3;

/// A closed tank with water of this depth and a solid in it: `nodes` end in a geometry node called `shape`.
fn tank(depth: f64, frames: u32, nodes: &[Value]) -> Value {
    let mut all = nodes.to_vec();
    let rest = json!([
        { "name": "solid", "type": "static_object", "inputs": ["shape"], "params": { "division_size": 0.015 } },
        { "name": "fill", "type": "box", "params": { "size": [SIDE, depth, SIDE], "center": [0.0, 0.5 * depth, 0.0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.0075 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "flip", "type": "flip_solver", "inputs": ["water", "solid", "gravity"],
          "params": { "limit_center": [0.0, 0.2, 0.0], "limit_size": [SIDE, 0.4, SIDE],
                      "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                      "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
        { "name": "points", "type": "geometry_cache", "inputs": ["flip"], "params": { "attributes": "id" } }
    ]);
    all.extend(rest.as_array().expect("nodes").iter().cloned());
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
            "substeps": { "min": 2, "max": 4, "cfl": 1.5 }, "nodes": all })
}

fn points(shot: &Shot, frame: u32) -> Vec<[f64; 3]> {
    positions(&shot.out().join(format!("points/points.{frame:04}.geo")))
}

/// A paddle as wide as the tank, keyed to and fro through the water.
#[test]
fn a_paddle_keeps_the_water_and_stays_empty() {
    let (depth, frames, at) = (0.1, 17, |frame: u32| 0.08 * (f64::from(frame) - 9.0).abs() / 8.0 - 0.04);
    let nodes = [
        json!({ "name": "board", "type": "box", "params": { "size": [0.06, 0.16, 2.0 * SIDE], "center": [0.0, 0.12, 0.0] } }),
        json!({ "name": "shape", "type": "transform", "inputs": ["board"],
                "params": { "translate": { "keys": [[1, [at(1), 0, 0]], [9, [at(9), 0, 0]], [17, [at(17), 0, 0]]] } } }),
    ];
    let shot = Shot::new(&tank(depth, frames, &nodes));
    shot.cook(&[]);
    let stats = shot.stats();
    let rest = number(&stats[0], "/objects/water/rest_volume");
    for record in &stats {
        let (volume, time) = (number(record, "/objects/water/volume"), number(record, "/time"));
        assert!((volume / rest - 1.0).abs() < 0.01, "{volume:.6} m³ of {rest:.6} at {time:.3} s");
    }
    // In the first frame the solver has not met the paddle yet: water filled into it is there still.
    for frame in 2..=frames {
        let centre = at(frame);
        let deepest = points(&shot, frame)
            .iter()
            .map(|p| (0.03 - (p[0] - centre).abs()).min(p[1] - 0.04).min(0.2 - p[1]))
            .fold(f64::NEG_INFINITY, f64::max);
        // The collision field rounds edges by a fraction of its voxel of 15 mm.
        assert!(deepest < 0.004, "a particle is {deepest:.4} m inside the paddle in frame {frame}");
    }
}
