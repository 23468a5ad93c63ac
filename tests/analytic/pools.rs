//! A coupling in plain C in place of ours: what stands at the ports is enough to solve our liquid with our bodies.

use crate::number;
use meniscus_tests::{c, shot::Shot};
use serde_json::json;

/// A box floats as deep as its weight asks for [Archimedes], and the pool around it comes to rest. The toy counts a body by the
/// planes of its cut faces alone, which is off by up to a quarter of a voxel.
#[test]
fn a_coupling_in_c_lets_our_bodies_float_in_our_liquid() {
    let (voxel, pool, depth, wide, high, density) = (0.02, 0.32, 0.16, 0.12, 0.1, 450.0);
    let (under, above) = (density / 1000.0 * high, 0.008);
    let limits = json!({
        "limit_center": [0, 0.3, 0], "limit_size": [pool, 0.6, pool], "side_neg_x": "closed", "side_pos_x": "closed",
        "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 30],
        "substeps": { "min": 1, "max": 8, "cfl": 1.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [pool, depth, pool], "center": [0, 0.5 * depth, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"],
              "params": { "particle_separation": 0.5 * voxel } },
            { "name": "mesh", "type": "box",
              "params": { "size": [wide, high, wide], "center": [0, depth - under + 0.5 * high + above, -0.009] } },
            { "name": "body", "type": "rigid_object", "inputs": ["mesh"],
              "params": { "density": density, "division_size": 0.5 * voxel } },
            { "name": "gravity", "type": "gravity" },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["body", "gravity"], "params": limits },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "body", "gravity"], "params": limits },
            { "name": "both", "type": "test.pools", "inputs": ["rigid", "flip"] }
        ]
    }));
    c::plugin("tests/abi/pools.c", &[], &shot.plugins());
    shot.cook(&[]);
    let stats = shot.stats();
    let late: Vec<f64> = stats
        .iter()
        .filter(|r| number(r, "/time") > 0.6)
        .map(|r| number(r, "/bodies/0/position/1"))
        .collect();
    let middle = late.iter().sum::<f64>() / late.len() as f64;
    // The water that the body pushed away at the start was never there.
    let level = depth + above * wide * wide / (pool * pool);
    let error = (level - (middle - 0.5 * high) - under) / voxel;
    let last = stats.last().expect("a cook has substeps");
    let speed =
        (2.0 * number(last, "/objects/water/kinetic_energy") / number(last, "/objects/water/mass")).sqrt();
    println!("{error:+.3} voxels too deep, the water moves at {speed:.4} m/s");
    assert!(error.abs() < 0.25, "it floats {error} voxels too deep");
    assert!(speed < 0.02, "the pool moves at {speed} m/s");
    assert!(stats.iter().all(|r| number(r, "/solves/0/iterations") < 500.0));
}

/// Two arms of a tank, one under a lid: the water stands 6 cm lower there, and the kept air holds it. `constraint_bubbles` hands
/// its air to the toy as rows, and keeps the books.
#[test]
fn a_coupling_in_c_keeps_the_air_that_constraint_bubbles_hands_it() {
    let (voxel, width, low, high) = (0.02, 0.16, 0.14, 0.2);
    let cook = |nodes: &[serde_json::Value]| {
        let mut all = vec![
            json!({ "name": "lid", "type": "box", "params": { "size": [0.2, 0.1, 0.4], "center": [-0.1, 0.27, 0] } }),
            json!({ "name": "divider", "type": "box", "params": { "size": [0.04, 0.24, 0.4], "center": [0, 0.2, 0] } }),
            json!({ "name": "roof", "type": "static_object", "inputs": ["lid"], "params": { "division_size": 0.5 * voxel } }),
            json!({ "name": "wall", "type": "static_object", "inputs": ["divider"], "params": { "division_size": 0.5 * voxel } }),
            json!({ "name": "left", "type": "box", "params": { "size": [0.16, low, width], "center": [-0.08, 0.5 * low, 0] } }),
            json!({ "name": "right", "type": "box", "params": { "size": [0.158, high, width], "center": [0.081, 0.5 * high, 0] } }),
            json!({ "name": "fills", "type": "merge", "inputs": ["left", "right"] }),
            json!({ "name": "water", "type": "liquid_object", "inputs": ["fills"], "params": { "particle_separation": 0.5 * voxel } }),
            json!({ "name": "gravity", "type": "gravity" }),
            json!({ "name": "flip", "type": "flip_solver", "inputs": ["water", "roof", "wall", "gravity"], "params": {
                "limit_center": [0, 0.3, 0], "limit_size": [0.32, 0.6, width], "side_neg_x": "closed", "side_pos_x": "closed",
                "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } }),
        ];
        all.extend(nodes.iter().cloned());
        let shot = Shot::new(&json!({
            "format": "meniscus.graph/1", "fps": 24, "frames": [1, 24], "substeps": { "min": 1, "max": 8, "cfl": 1.0 },
            "nodes": all
        }));
        c::plugin("tests/abi/pools.c", &[], &shot.plugins());
        shot
    };
    let inner = json!({ "name": "air", "type": "constraint_bubbles", "inputs": ["flip"] });
    let nodes = [inner.clone(), json!({ "name": "toy", "type": "test.pools", "inputs": ["air"] })];
    let shot = cook(&nodes);
    shot.cook(&[]);
    let stats = shot.stats();
    let bubble = |r: &serde_json::Value, key: &str| number(r, &format!("/bubbles/0/{key}"));
    let first = bubble(&stats[0], "volume");
    assert!(first > 0.5 * 0.14 * (0.22 - low) * width, "{first}");
    for record in &stats {
        let (volume, rest) = (bubble(record, "found_volume"), bubble(record, "rest_volume"));
        assert!((rest / first - 1.0).abs() < 0.03, "it should have {rest} m3, {first} at the start");
        assert!((volume / rest - 1.0).abs() < 0.06, "it has {volume} m3 of {rest}");
    }
    let speed = |r: &serde_json::Value| {
        (2.0 * number(r, "/objects/water/kinetic_energy") / number(r, "/objects/water/mass")).sqrt()
    };
    let calm = speed(stats.last().expect("a cook has substeps"));
    assert!(calm < 0.05, "the water moves at {calm} m/s");
    // The books of the air are the same to the last bit on one thread, without caches, and from a checkpoint.
    let books = |shot: &Shot| -> Vec<_> {
        shot.stats().iter().map(|r| [r["bubbles"].clone(), r["objects"].clone()]).collect()
    };
    for steps in [&[&["--threads", "1", "--drop-caches"][..]][..], &[&["--frames", "1-9"][..], &["--resume"]]]
    {
        let again = cook(&nodes);
        steps.iter().for_each(|how| again.cook(how));
        assert_eq!(books(&again), books(&shot));
    }
    // The toy alone takes the air for open: the levels meet.
    let open = cook(&[json!({ "name": "toy", "type": "test.pools", "inputs": ["flip"] })]);
    open.cook(&[]);
    let fastest = open.stats().iter().map(speed).fold(0.0, f64::max);
    assert!(fastest > 0.15, "without rows nothing holds the water: {fastest} m/s");
    // A coupling of ours reads no rows: it says so, and drops none in silence.
    let lost = cook(&[inner, json!({ "name": "outer", "type": "constraint_bubbles", "inputs": ["air"] })]);
    let said = lost.refused(&[]);
    assert!(said.contains("air_rows"), "{said}");
}
