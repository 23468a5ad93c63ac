//! Bodies in air that is trapped: they change the volume of no bubble, so they fall as in a vacuum.

use crate::{GRAVITY, number};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// A body of `mesh` in the air of a closed tank, 8 voxels of 2 cm wide and `height` m high, with water on its floor.
fn fallen(mesh: Value, density: f64, height: f64) -> Vec<Value> {
    let mut limits = json!({ "limit_center": [0, 0.5 * height, 0], "limit_size": [0.16, height, 0.16] });
    for side in ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"] {
        limits[format!("side_{side}")] = json!("closed");
    }
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2], "substeps": { "min": 4, "max": 8, "cfl": 1.0 },
        "nodes": [
            { "name": "gravity", "type": "gravity" },
            { "name": "fill", "type": "box", "params": { "size": [0.16, 0.04, 0.16], "center": [0, 0.02, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.01 } },
            mesh,
            { "name": "body", "type": "rigid_object", "inputs": ["mesh"],
              "params": { "density": density, "division_size": 0.01 } },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["body", "gravity"], "params": limits },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "body", "gravity"], "params": limits },
            { "name": "air", "type": "constraint_bubbles", "inputs": ["rigid", "flip"] }
        ]
    }));
    shot.cook(&[]);
    shot.stats()
}

/// What a body gives to a bubble and takes from it again is nothing but rounding, wherever it is and however it is cut by the lattice.
#[test]
fn bodies_in_trapped_air_fall_freely() {
    let place = |n: u32| {
        [0.013 * f64::from(n % 3) - 0.014, 0.135 + 0.004 * f64::from(n), 0.009 * f64::from(n % 4) - 0.012]
    };
    let cuboid = |edge: f64, n: u32, turn: f64| json!({ "name": "mesh", "type": "box", "params": { "size": [edge, edge, edge], "center": place(n), "rotate": [turn, 0, 0.5 * turn] } });
    let ball = |n: u32| json!({ "name": "mesh", "type": "sphere", "params": { "radius": 0.035, "center": place(n) } });
    let mut meshes: Vec<Value> = (0..4).map(|n| cuboid(0.06, n, 0.0)).collect();
    meshes.extend((0..3).map(|n| cuboid(0.045, n, 27.0)));
    meshes.extend((0..3).map(ball));
    for (n, mesh) in meshes.into_iter().enumerate() {
        let density = [2000.0, 300.0][n % 2];
        falls_freely(&fallen(mesh, density, 0.2), &n.to_string());
    }
}

/// Air gets into the slot under a lid, however narrow it is, and wherever the lid lies among the leaves of the grid: 0.16 and 0.32 m are
/// one and two of them.
#[test]
fn bodies_fall_from_a_lid() {
    for height in [0.16, 0.2, 0.32] {
        for gap in [0.002, 0.013, 0.0199, 0.025] {
            let center = [0.013, height - 0.03 - gap, 0.004];
            let mesh = json!({ "name": "mesh", "type": "box", "params": { "size": [0.06, 0.06, 0.06], "center": center } });
            falls_freely(&fallen(mesh, 463.0, height), &format!("{gap} m under a lid at {height} m"));
        }
    }
}

fn falls_freely(stats: &[Value], what: &str) {
    let time: f64 = stats.iter().map(|record| number(record, "/dt")).sum();
    let last = stats.last().expect("substeps");
    let speed = number(last, "/bodies/0/v/1");
    assert!((speed + GRAVITY * time).abs() < 1e-3 * GRAVITY * time, "{what}: {speed} m/s after {time} s");
    let sideways = number(last, "/bodies/0/v/0").hypot(number(last, "/bodies/0/v/2"));
    assert!(sideways < 1e-4, "{what}: {sideways} m/s sideways");
}
