//! A U-tube with closed arms: trapped air holds the levels apart [Goldade and Batty 2017, Fig. 4].

use crate::kept_volume::liquid_keeps_its_volume;
use meniscus_tests::{cook, points::positions};
use serde_json::{Value, json};

const LEFT: f64 = 0.28;
const RIGHT: f64 = 0.14;

/// Two arms under one closed lid, joined below a divider; the left one starts fuller.
fn graph(bypass: bool) -> Value {
    let slab = |x0: f64, x1: f64, top: f64| json!({ "size": [x1 - x0, top, 0.08], "center": [0.5 * (x0 + x1), 0.5 * top, 0.0] });
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 48],
        "substeps": { "min": 1, "max": 6, "cfl": 2.0 },
        "nodes": [
            // A tenth of a millimetre apart, so that the merged mesh has no coinciding faces.
            { "name": "left", "type": "box", "params": slab(-0.2, -0.0401, LEFT) },
            { "name": "right", "type": "box", "params": slab(0.0401, 0.2, RIGHT) },
            { "name": "below", "type": "box", "params": slab(-0.04, 0.04, 0.0799) },
            { "name": "fill", "type": "merge", "inputs": ["left", "right", "below"] },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.01 } },
            { "name": "wall", "type": "box", "params": { "size": [0.08, 0.4, 0.2], "center": [0.0, 0.28, 0.0] } },
            { "name": "divider", "type": "static_object", "inputs": ["wall"], "params": { "division_size": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "divider", "gravity"],
              "params": { "limit_center": [0.0, 0.2, 0.0], "limit_size": [0.4, 0.4, 0.08],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "air", "type": "constraint_bubbles", "inputs": ["flip"], "bypass": bypass },
            { "name": "points", "type": "geometry_cache", "inputs": ["air"] }
        ]
    })
}

/// Height of the water in both arms after two seconds, from the share of the particles each holds, metres.
fn levels(bypass: bool) -> (f64, f64) {
    let cooked = cook(&graph(bypass), &[]);
    liquid_keeps_its_volume(&cooked.stats());
    let count = |frame: u32, left: bool| {
        let points = positions(&cooked.out.join(format!("points/points.{frame:04}.geo")));
        points.iter().filter(|p| if left { p[0] < -0.04 } else { p[0] > 0.04 }).count() as f64
    };
    (LEFT * count(48, true) / count(1, true), RIGHT * count(48, false) / count(1, false))
}

#[test]
fn closed_arms_keep_their_levels_apart() {
    let (left, right) = levels(false);
    assert!((left - LEFT).abs() < 0.1 * (LEFT - RIGHT), "the fuller arm went from {LEFT} to {left:.3} m");
    assert!(
        (right - RIGHT).abs() < 0.1 * (LEFT - RIGHT),
        "the emptier arm went from {RIGHT} to {right:.3} m"
    );
}

#[test]
fn without_the_constraint_they_equalise() {
    let (left, right) = levels(true);
    assert!(
        (left - right).abs() < 0.35 * (LEFT - RIGHT),
        "levels {left:.3} and {right:.3} m are still apart"
    );
}
