//! Liquid and a free body, nothing else: the momentum of both, in few substeps and in many.

use crate::number;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

const DENSITY: f64 = 500.0;
/// Edge of the cube that is the body, m: four voxels.
const EDGE: f64 = 0.2;

/// A ball of water and a cube, no gravity, no walls, in at least `steps` substeps a frame.
fn meet(water: Value, speed: f64, cube: Value, frames: u32, steps: u32) -> Vec<Value> {
    let mut limits = json!({ "limit_size": [8, 8, 8] });
    for side in ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"] {
        limits[format!("side_{side}")] = json!("kill");
    }
    let mut body = json!({ "density": DENSITY, "division_size": 0.05 });
    body["velocity"] = cube["velocity"].clone();
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": steps, "max": 256, "cfl": 2.0 },
        "nodes": [
            { "name": "ball", "type": "sphere", "params": water },
            { "name": "water", "type": "liquid_object", "inputs": ["ball"],
              "params": { "particle_separation": 0.025, "velocity": [speed, 0, 0] } },
            { "name": "cube", "type": "box", "params": { "size": [EDGE, EDGE, EDGE], "rotate": cube["rotate"] } },
            { "name": "body", "type": "rigid_object", "inputs": ["cube"], "params": body },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["body"], "params": limits },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "body"], "params": limits },
            { "name": "float", "type": "floating_bodies", "inputs": ["rigid", "flip"] }
        ]
    }));
    shot.cook(&[]);
    shot.stats()
}

/// Momentum along x of both, N s, after every substep.
fn momentum(stats: &[Value]) -> Vec<f64> {
    let mass = DENSITY * EDGE.powi(3);
    let both = |r: &Value| number(r, "/objects/water/momentum/0") + mass * number(r, "/bodies/0/v/0");
    stats.iter().map(both).collect()
}

/// A drop four voxels across hits a cube that flies freely, and becomes a sheet of a voxel. A particle stands for its share of the mass
/// of a face only to first order, so some goes astray: a quarter where a long step ends in the cube. Short steps, of which the drop
/// takes dozens to come to rest before the cube, hardly add to it: when solids took what lands on them, 96 a frame lost all, and 64 a
/// third at a turned cube when particles took over the speed of the liquid beside them.
#[test]
fn a_drop_gives_a_body_what_it_loses() {
    for (turn, steps, most) in [(0, 4, 0.3), (0, 16, 0.1), (0, 96, 0.12), (30, 64, 0.15)] {
        let water = json!({ "radius": 0.1, "center": [-0.45, 0, 0] });
        let cube = json!({ "velocity": [0, 0, 0], "rotate": [0, turn, 0] });
        let stats = meet(water, 10.0, cube, 4, steps);
        let sums = momentum(&stats);
        let (first, last) = (sums[0], *sums.last().expect("substeps"));
        let body = number(&stats[stats.len() - 1], "/bodies/0/v/0");
        println!(
            "turned by {turn} degrees, {steps} substeps: {first:.2} -> {last:.2} N s, the body flies at {body:.2} m/s"
        );
        assert!((last / first - 1.0).abs() < most, "{steps} substeps: {first} -> {last} N s");
        assert!(body > 1.5, "{steps} substeps: the body flies at {body} m/s");
    }
}

/// A cube that moves inside a ball of water at rest takes water along. The sum is half too large from the first substep on, as the
/// particles at the cube stand for more than the faces there; many short steps change a tenth of it.
#[test]
fn a_body_in_a_drop_gives_what_the_water_gains() {
    let start = DENSITY * EDGE.powi(3);
    let [few, many] = [2, 64].map(|steps| {
        let cube = json!({ "velocity": [1, 0, 0], "rotate": [0, 0, 0] });
        let sums = momentum(&meet(json!({ "radius": 0.3 }), 0.0, cube, 6, steps));
        let last = *sums.last().expect("substeps");
        println!("{steps} substeps: {:.3} N s after the first, {last:.3} at the end, of {start}", sums[0]);
        assert!(sums.iter().all(|p| *p > 1.2 * start && *p < 1.7 * start), "{steps} substeps: {sums:?}");
        last
    });
    assert!((many - few).abs() < 0.25 * start, "{few} N s with few substeps, {many} with many, of {start}");
}
