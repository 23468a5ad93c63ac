//! A liquid of more particles a voxel, or fewer, is as much liquid.

use crate::number;
use meniscus_tests::cook;
use serde_json::json;

#[test]
fn a_tank_keeps_its_mass_and_its_volume_at_every_grid_scale() {
    let (side, depth, voxel) = (0.24, 0.12, 0.02);
    for scale in [2.0, 2.5, 3.0, 4.0] {
        let graph = json!({
            "format": "meniscus.graph/1", "fps": 24, "frames": [1, 13],
            "substeps": { "min": 1, "max": 8, "cfl": 2.0 },
            "nodes": [
                { "name": "fill", "type": "box",
                  "params": { "size": [side, depth, side], "center": [0.0, 0.5 * depth, 0.0] } },
                { "name": "water", "type": "liquid_object", "inputs": ["fill"],
                  "params": { "particle_separation": voxel / scale, "grid_scale": scale } },
                { "name": "gravity", "type": "gravity" },
                { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
                  "params": { "limit_center": [0.0, 0.2, 0.0], "limit_size": [side, 0.4, side],
                              "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                              "side_neg_z": "closed", "side_pos_z": "closed" } }
            ]
        });
        let stats = cook(&graph, &[]).stats();
        let rest = side * side * depth;
        for record in &stats {
            let of = |what: &str| number(record, &format!("/objects/water/{what}"));
            let frame = &record["frame"];
            let mass = of("mass") / (1000.0 * rest) - 1.0;
            assert!(mass.abs() < 0.01, "grid_scale {scale}: mass {mass:+.4} in frame {frame}");
            for (what, most) in [("volume", 0.01), ("found_volume", 0.01)] {
                let change = of(what) / rest - 1.0;
                assert!(change.abs() < most, "grid_scale {scale}: {what} {change:+.4} in frame {frame}");
            }
            let left = of("volume") - of("rest_volume");
            assert!((of("unfitted_volume") - left).abs() < 1e-12, "{record}");
        }
    }
}
