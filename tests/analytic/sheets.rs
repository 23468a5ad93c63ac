//! A plugin in plain C contributes a sheet with a sparse mass to the bubbles' solve: it moves as the piston that weighs as
//! much, and what is no mass or no sheet is refused.

use crate::number;
use meniscus_tests::{c, shot::Shot};
use serde_json::{Value, json};

/// Water under and over a shaft's stopper, between two sealed chambers of air.
fn chambers(stopper: Value, solver: &str, frames: u32) -> Shot {
    let closed = |side: &str| (format!("side_{side}"), json!("closed"));
    let mut sides: serde_json::Map<String, Value> =
        ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"].into_iter().map(closed).collect();
    sides.insert("limit_center".into(), json!([0, 0.2, 0]));
    sides.insert("limit_size".into(), json!([0.08, 0.4, 0.04]));
    let water = |name: &str, height: f64, y: f64| json!({ "name": name, "type": "box", "params": { "size": [0.08, height, 0.04], "center": [0, y, 0] } });
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": 1, "max": 8, "cfl": 1.0 },
        "nodes": [
            water("low", 0.08, 0.04), water("high", 0.06, 0.28),
            { "name": "fill", "type": "merge", "inputs": ["low", "high"] },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.005 } },
            { "name": "gravity", "type": "gravity" },
            stopper,
            { "name": "slide", "type": solver, "inputs": ["stopper", "gravity"] },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "stopper", "gravity"], "params": sides },
            { "name": "air", "type": "constraint_bubbles", "inputs": ["slide", "flip"], "params": { "tolerance": 1e-8 } },
            { "name": "points", "type": "geometry_cache", "inputs": ["air"] }
        ]
    }));
    c::plugin("examples/c_coupling/piston.c", &[], &shot.plugins());
    c::plugin("tests/abi/sheet.c", &[], &shot.plugins());
    shot
}

fn sheet(params: Value) -> Shot {
    let node = json!({ "name": "stopper", "type": "test.sheet", "params": params });
    chambers(node, "test.sheet_solver", 5)
}

/// Height and velocity of each body of a substep.
fn places(record: &Value) -> Vec<[f64; 2]> {
    let bodies = record["bodies"].as_array().expect("bodies");
    bodies.iter().map(|b| [number(b, "/position/1"), number(b, "/v/1")]).collect()
}

#[test]
fn a_sheet_between_two_sealed_chambers_moves_as_the_piston_that_weighs_as_much() {
    let piston = json!({ "name": "stopper", "type": "example.piston", "params": {
        "size": [0.2, 0.05, 0.2], "center": [0, 0.225, 0], "axis": "y", "mass": 20.0, "division_size": 0.01 } });
    let pistons = chambers(piston, "example.piston_solver", 5);
    pistons.cook(&[]);
    let pistons = pistons.stats();
    let fastest = pistons.iter().map(|r| places(r)[0][1].abs()).fold(0.0, f64::max);
    assert!(fastest > 1e-4, "the piston moves at {fastest} m/s");
    for spring in [0.0, 1e6] {
        let shot = sheet(json!({ "height": 0.225, "mass": 20.0, "spring": spring }));
        shot.cook(&[]);
        let sheets = shot.stats();
        assert_eq!(sheets.len(), pistons.len());
        for (piston, sheet) in pistons.iter().zip(&sheets) {
            let [y, v] = places(piston)[0];
            let points = places(sheet);
            assert!(!points.is_empty());
            for [height, speed] in points {
                assert!(
                    (height - y).abs() < 1e-7 && (speed - v).abs() < 1e-3 * fastest,
                    "{speed} m/s, not {v}"
                );
            }
        }
        let pressures = |stats: &[Value]| -> Vec<f64> {
            let bubbles = stats[stats.len() - 1]["bubbles"].as_array().expect("bubbles").clone();
            let mut by_height: Vec<(f64, f64)> =
                bubbles.iter().map(|b| (number(b, "/centroid/1"), number(b, "/pressure"))).collect();
            by_height.sort_by(|a, b| a.0.total_cmp(&b.0));
            by_height.iter().map(|(_, p)| p - by_height[0].1).collect()
        };
        let (of_piston, of_sheet) = (pressures(&pistons), pressures(&sheets));
        assert_eq!(of_piston.len(), 2);
        for (a, b) in of_piston.iter().zip(&of_sheet) {
            assert!((a - b).abs() <= 1e-3 * of_piston[1].abs(), "{b} Pa, not {a}");
        }
    }
}

#[test]
fn a_sheet_whose_table_is_wrong_is_refused_by_one_sentence() {
    let sentences = [
        "the sparse mass of `stopper`: the entries of row 3 above and below the diagonal differ",
        "entry 5 of the sparse mass of `stopper` lies in row 96 and column 5, but there are 96 degrees of freedom",
        "the sparse mass of `stopper`: the diagonal entry of degree of freedom 7 is not positive",
        "the mass of `stopper` is not positive definite: see degree of freedom",
        "`stopper` has 96 degrees of freedom, three of each of its points, so that `points` has 96 numbers, not 93",
        "`stopper` has a triangle of the points",
        "`stopper` has a dense `mass` beside a sparse one",
        "`stopper` has a `basis` beside `points`",
        "`mass_rows`, `mass_columns` and `mass_values` of `stopper` have",
    ];
    for (n, sentence) in sentences.iter().enumerate() {
        let shot = sheet(json!({ "height": 0.225, "mass": 20.0, "fault": n + 1 }));
        let told = shot.refused_midway();
        assert!(told.contains(sentence), "fault {}: {told}", n + 1);
    }
}
