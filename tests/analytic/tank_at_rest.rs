//! A full tank at rest stays at rest, and keeps its level.

use crate::{GRAVITY, number};
use meniscus_tests::cook;
use serde_json::json;

#[test]
fn a_tank_settles_and_keeps_its_level() {
    let (depth, side) = (0.2, 0.3);
    let graph = json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 49],
        "substeps": { "min": 1, "max": 8, "cfl": 2.0 },
        "nodes": [
            { "name": "fill", "type": "box",
              "params": { "size": [side, depth, side], "center": [0.0, 0.5 * depth, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.01 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
              "params": { "limit_center": [0.0, 0.2, 0.0], "limit_size": [side, 0.4, side],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
        ]
    });
    let cooked = cook(&graph, &[]);
    let stats = cooked.stats();
    let last = stats.last().expect("a cook has substeps");
    let mass = number(last, "/objects/water/mass");
    let speed = (2.0 * number(last, "/objects/water/kinetic_energy") / mass).sqrt();
    let limit = 0.01 * (GRAVITY * depth).sqrt();
    assert!(speed < limit, "after 2 s the rms speed is {speed:.5} m/s, not below {limit:.5}");

    for record in &stats {
        let volume = number(record, "/objects/water/volume");
        let level = volume / (side * side);
        assert!(
            (level / depth - 1.0).abs() < 0.01,
            "the level is {level:.4} m at {}",
            number(record, "/time")
        );
    }
    let points = meniscus_tests::points::positions(&cooked.out.join("points/points.0049.geo"));
    let mean = points.iter().map(|p| p[1]).sum::<f64>() / points.len() as f64;
    assert!((mean / (0.5 * depth) - 1.0).abs() < 0.02, "the particles' mean height is {mean:.4} m");
}
