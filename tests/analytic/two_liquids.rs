//! Two liquids in one solve: each keeps its air, the order of wires says nothing, and what cannot be joined is refused.

use crate::number;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};
use std::fmt::Write;

/// A block as an OBJ file.
fn slab(block: [[f64; 3]; 2]) -> String {
    let mut text = String::new();
    add_block(&mut text, 0, block, true);
    text
}

/// A block with a hole of another block in it, as an OBJ file.
fn hollow(block: [[f64; 3]; 2], hole: [[f64; 3]; 2]) -> String {
    let mut text = slab(block);
    add_block(&mut text, 8, hole, false);
    text
}

/// Adds a block after so many points, seen from outside or from inside.
fn add_block(text: &mut String, points: usize, [low, high]: [[f64; 3]; 2], is_outside: bool) {
    const FACES: [[usize; 4]; 6] =
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    for corner in 0..8 {
        let at = |axis: usize| if corner >> (2 - axis) & 1 == 0 { low[axis] } else { high[axis] };
        writeln!(text, "v {} {} {}", at(0), at(1), at(2)).expect("a string takes it");
    }
    for mut face in FACES {
        if !is_outside {
            face.reverse();
        }
        let corners = face.map(|corner| (points + corner + 1).to_string());
        writeln!(text, "f {}", corners.join(" ")).expect("a string takes it");
    }
}

/// Two blocks side by side in a tank, a bubble in each: water left, oil right.
fn tank(wires: [&str; 2], params: [Value; 2]) -> Shot {
    let [left, right] = params;
    let limits = |more: &Value| {
        let mut all = json!({
            "limit_center": [0, 0.3, 0], "limit_size": [0.6, 0.6, 0.3], "side_neg_x": "closed",
            "side_pos_x": "closed", "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
        let more = more.get("solver").and_then(Value::as_object).cloned().unwrap_or_default();
        all.as_object_mut().expect("an object").extend(more);
        all
    };
    let separation = |more: &Value| more.get("separation").and_then(Value::as_f64).unwrap_or(0.01);
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 5],
        "substeps": { "min": 1, "max": 4, "cfl": 2.0 },
        "nodes": [
            { "name": "a", "type": "file", "params": { "file": "a.obj" } },
            { "name": "b", "type": "file", "params": { "file": "b.obj" } },
            { "name": "water", "type": "liquid_object", "inputs": ["a"],
              "params": { "particle_separation": separation(&left) } },
            { "name": "oil", "type": "liquid_object", "inputs": ["b"],
              "params": { "particle_separation": separation(&right), "density": 800 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip_water", "type": "flip_solver", "inputs": ["water", "gravity"], "params": limits(&left) },
            { "name": "flip_oil", "type": "flip_solver", "inputs": ["oil", "gravity"], "params": limits(&right) },
            { "name": "bubbles", "type": "constraint_bubbles", "inputs": wires },
            { "name": "cache", "type": "vdb_cache", "inputs": ["bubbles"] }
        ]
    }));
    let a = hollow([[-0.3, 0.0, -0.15], [0.0, 0.3, 0.15]], [[-0.2, 0.06, -0.06], [-0.09, 0.16, 0.06]]);
    let b = hollow([[0.0, 0.0, -0.15], [0.3, 0.3, 0.15]], [[0.08, 0.06, -0.06], [0.2, 0.16, 0.06]]);
    shot.file("a.obj", a.as_bytes());
    shot.file("b.obj", b.as_bytes());
    shot
}

const WIRES: [&str; 2] = ["flip_water", "flip_oil"];

fn same() -> [Value; 2] {
    [json!({}), json!({})]
}

#[test]
fn each_keeps_its_air_whichever_is_wired_first() {
    let caches = [WIRES, ["flip_oil", "flip_water"]].map(|wires| {
        let shot = tank(wires, same());
        shot.cook(&[]);
        for record in shot.stats() {
            let (voids, bubbles): (Vec<&Value>, Vec<&Value>) = {
                let all = record["bubbles"].as_array().expect("bubbles");
                all.iter().partition(|b| number(b, "/rest_volume") == 0.0)
            };
            // Gaps between particles, which no air has entered, are of the size of a voxel.
            assert!(voids.iter().all(|b| number(b, "/found_volume") < 1.5 * 0.02f64.powi(3)), "{voids:?}");
            let ids: Vec<i64> = bubbles.iter().filter_map(|b| b["id"].as_i64()).collect();
            assert_eq!(ids, [1, 2], "at {}", number(&record, "/time"));
            for (bubble, held) in bubbles.iter().zip([0.11 * 0.1 * 0.12, 0.12 * 0.1 * 0.12]) {
                let [rest, volume, found] =
                    ["/rest_volume", "/volume", "/found_volume"].map(|key| number(bubble, key));
                // Half a voxel of surface is not known in the first frame.
                assert!((rest / held - 1.0).abs() < 0.04, "{rest} m³ were closed in, not {held} m³");
                assert!((volume / rest - 1.0).abs() < 0.01, "{volume} m³, not {rest} m³");
                assert!((found / rest - 1.0).abs() < 0.05, "particles leave {found} m³, not {rest} m³");
            }
            for liquid in ["water", "oil"] {
                let of = |key: &str| number(&record, &format!("/objects/{liquid}/{key}"));
                assert!((of("found_volume") / of("rest_volume") - 1.0).abs() < 0.01, "{liquid}: {record}");
            }
        }
        std::fs::read(shot.out().join("cache/cache.0005.vdb")).expect("a cache")
    });
    assert!(caches[0] == caches[1], "the order of the wires changes what is written");
}

/// A closed tank whose only air stands between the two: `stats.jsonl` lists it once, so that volumes can be summed.
#[test]
fn a_bubble_that_both_border_is_listed_once() {
    for wires in [WIRES, ["flip_oil", "flip_water"]] {
        let closed = json!({ "solver": {
            "limit_center": [0, 0.15, 0], "limit_size": [0.6, 0.3, 0.3], "side_pos_y": "closed" } });
        let shot = tank(wires, [closed.clone(), closed]);
        let block = |low: f64, high: f64| slab([[low, 0.0, -0.15], [high, 0.3, 0.15]]);
        shot.file("a.obj", block(-0.3, -0.05).as_bytes());
        shot.file("b.obj", block(0.05, 0.3).as_bytes());
        shot.cook(&["--frames", "1-2"]);
        for record in shot.stats() {
            let all = record["bubbles"].as_array().expect("bubbles");
            let rests: Vec<f64> =
                all.iter().map(|b| number(b, "/rest_volume")).filter(|v| *v > 0.0).collect();
            assert_eq!(rests.len(), 1, "{wires:?}: {all:?}");
            assert!((rests[0] / (0.1 * 0.3 * 0.3) - 1.0).abs() < 0.04, "{wires:?}: {rests:?}");
        }
    }
}

/// Viscosity acts in a solve of two liquids of different densities as well.
#[test]
fn a_viscous_liquid_shares_a_solve_with_another() {
    let shot = tank(WIRES, same());
    shot.cook(&["--set", "oil.viscosity=3", "--frames", "1-2"]);
    for record in shot.stats() {
        let solved = record["solves"].as_array().expect("solves").iter().any(|s| s["name"] == "viscosity");
        assert!(solved, "no viscous solve: {record}");
        for liquid in ["water", "oil"] {
            let of = |key: &str| number(&record, &format!("/objects/{liquid}/{key}"));
            assert!((of("found_volume") / of("rest_volume") - 1.0).abs() < 0.01, "{liquid}: {record}");
        }
    }
}

#[test]
fn liquids_that_cannot_share_a_solve_are_refused() {
    let sentence = |params: [Value; 2]| {
        let shot = tank(WIRES, params);
        let mut command = meniscus_tests::meniscus(&["check"]);
        let output = command.arg(shot.path("shot.meniscus.json")).env("HOME", shot.path("home")).output();
        let output = output.expect("check runs");
        assert!(!output.status.success(), "check calls it sound");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let finer = sentence([json!({ "separation": 0.0125 }), json!({})]);
    assert!(finer.contains("voxels measure 0.02 and 0.025 m"), "{finer}");
    let smaller = sentence([json!({ "solver": { "limit_size": [0.6, 0.5, 0.3] } }), json!({})]);
    assert!(smaller.contains("boxes differ"), "{smaller}");
}

#[test]
fn liquids_that_start_in_one_place_are_told_of() {
    for (shift, told) in [(0.15, true), (0.3, false)] {
        let shot = tank(WIRES, [json!({}), json!({})]);
        let b =
            hollow([[shift - 0.3, 0.0, -0.15], [shift, 0.3, 0.15]], [[0.1, 0.06, -0.06], [0.11, 0.16, 0.06]]);
        let a = hollow([[-0.3, 0.0, -0.15], [0.0, 0.3, 0.15]], [[-0.27, 0.06, -0.06], [-0.26, 0.16, 0.06]]);
        shot.file("a.obj", a.as_bytes());
        shot.file("b.obj", b.as_bytes());
        let output = shot.command(&[]).output().expect("cook runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains("is in the place of another liquid"), told, "{shift}: {said}");
    }
}
