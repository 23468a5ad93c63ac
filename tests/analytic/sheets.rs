//! A plugin in plain C contributes a sheet with a sparse mass to the bubbles' solve: it moves as the piston that weighs as
//! much, and what is no mass or no sheet is refused.

use crate::number;
use meniscus_tests::{c, shot::Shot};
use serde_json::{Value, json};

/// A stopper bounces in a shaft, on a cell of compressible air with water at its bottom.
fn shaft(stopper: Value, solver: &str) -> Shot {
    let closed = |side: &str| (format!("side_{side}"), json!("closed"));
    let mut sides: serde_json::Map<String, Value> =
        ["neg_x", "pos_x", "neg_y", "neg_z", "pos_z"].into_iter().map(closed).collect();
    sides.insert("side_pos_y".into(), json!("open"));
    sides.insert("limit_center".into(), json!([0, 0.2, 0]));
    sides.insert("limit_size".into(), json!([0.08, 0.4, 0.04]));
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 5],
        "substeps": { "min": 4, "max": 8, "cfl": 1.0 },
        "nodes": [
            { "name": "low", "type": "box", "params": { "size": [0.08, 0.08, 0.04], "center": [0, 0.04, 0] } },
            { "name": "fill", "type": "merge", "inputs": ["low"] },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.005 } },
            { "name": "gravity", "type": "gravity" },
            stopper,
            { "name": "slide", "type": solver, "inputs": ["stopper", "gravity"] },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "stopper", "gravity"], "params": sides },
            { "name": "air", "type": "constraint_bubbles", "inputs": ["slide", "flip"],
              "params": { "tolerance": 1e-8, "compressible": true } },
            { "name": "points", "type": "geometry_cache", "inputs": ["air"] }
        ]
    }));
    c::plugin("examples/c_coupling/piston.c", &[], &shot.plugins());
    c::plugin("tests/abi/sheet.c", &[], &shot.plugins());
    shot
}

/// A sheet of `mass` kg.
fn sheet(mass: f64, spring: f64, fault: usize) -> Shot {
    let params = json!({ "height": 0.2, "mass": mass, "spring": spring, "fault": fault });
    shaft(json!({ "name": "stopper", "type": "test.sheet", "params": params }), "test.sheet_solver")
}

/// Height and velocity of each body of a substep.
fn places(record: &Value) -> Vec<[f64; 2]> {
    let bodies = record["bodies"].as_array().expect("bodies");
    bodies.iter().map(|b| [number(b, "/position/1"), number(b, "/v/1")]).collect()
}

#[test]
fn a_sheet_on_a_cell_of_air_bounces_as_the_piston_that_weighs_as_much() {
    let piston = json!({ "name": "stopper", "type": "example.piston", "params": {
        "size": [0.2, 0.05, 0.2], "center": [0, 0.2, 0], "axis": "y", "mass": 2.0, "division_size": 0.01 } });
    let pistons = shaft(piston, "example.piston_solver");
    pistons.cook(&[]);
    let pistons = pistons.stats();
    let fastest = pistons.iter().map(|r| places(r)[0][1].abs()).fold(0.0, f64::max);
    assert!(fastest > 0.1, "the piston moves at {fastest} m/s");
    for spring in [0.0, 1e6] {
        let shot = sheet(2.0, spring, 0);
        shot.cook(&[]);
        let sheets = shot.stats();
        assert_eq!(sheets.len(), pistons.len());
        for (piston, sheet) in pistons.iter().zip(&sheets) {
            let [y, v] = places(piston)[0];
            let points = places(sheet);
            assert_eq!(points.len(), 32);
            for [height, speed] in points {
                assert!(
                    (height - y).abs() < 1e-6 && (speed - v).abs() < 1e-4 * fastest,
                    "{speed} m/s, not {v}"
                );
            }
            let [own, other] = [piston, sheet].map(|record| number(record, "/bubbles/0/pressure"));
            assert!((own - other).abs() <= 1e-4 * own.abs().max(1.0), "{other} Pa, not {own}");
        }
    }
    // Another mass, another bounce.
    let heavy = sheet(4.0, 0.0, 0);
    heavy.cook(&[]);
    let off = |(piston, sheet): (&Value, &Value)| (places(sheet)[0][1] - places(piston)[0][1]).abs();
    assert!(pistons.iter().zip(&heavy.stats()).map(off).fold(0.0, f64::max) > 0.05 * fastest);
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
        let told = sheet(2.0, 0.0, n + 1).refused_midway();
        assert!(told.contains(sentence), "fault {}: {told}", n + 1);
    }
}
