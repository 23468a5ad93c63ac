//! Forces on a medium that has no points: what they give goes to its grids.

use meniscus_tests::{c, shot::Shot};
use serde_json::{Value, json};

fn shot(force: [f64; 3], defines: &[&str]) -> Shot {
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 6], "substeps": { "min": 2, "max": 2 },
        "nodes": [
            { "name": "air", "type": "test.air" },
            { "name": "wind", "type": "gravity", "params": { "force": force } },
            { "name": "pull", "type": "gravity", "params": { "force": [0, -2, 0] } },
            { "name": "solver", "type": "test.air_solver", "inputs": ["air", "wind", "pull"] },
        ]
    }));
    c::plugin("tests/abi/c_air.c", defines, &shot.plugins());
    shot
}

/// After n substeps of dt from rest a velocity is a (n + 1/2) dt: it is half a substep ahead. Every value of both grids has it.
#[test]
fn gravity_moves_what_has_its_velocity_on_grids() {
    let force = [1.5, -9.0, 0.25];
    let shot = shot(force, &[]);
    shot.cook(&[]);
    let records = shot.stats();
    assert_eq!(records.len(), 10, "two substeps a frame after the first");
    for (n, record) in records.iter().enumerate() {
        let time = (n as f64 + 1.5) / 48.0;
        for key in ["faces", "middles"] {
            let ends = record.pointer(&format!("/objects/air/{key}")).and_then(Value::as_array).expect(key);
            for (c, end) in ends.iter().enumerate() {
                let expected = (force[c / 2] + [0.0, -2.0, 0.0][c / 2]) * time;
                let found = end.as_f64().expect("a number");
                assert!((found - expected).abs() < 1e-5, "{key} {c} of {n}: {found} m/s, not {expected}");
            }
        }
    }
}

#[test]
fn only_grids_of_three_f32_take_forces() {
    let shot = shot([0.0; 3], &["WRONG_ELEMENT"]);
    let told = shot.command(&[]).output().expect("meniscus starts");
    assert!(!told.status.success());
    let told = String::from_utf8_lossy(&told.stderr);
    assert!(told.contains("they move geometry and grids of three f32"), "{told}");
}
