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
