//! A toy in plain C stands in for the rigid solver: solids, liquid and coupling are nodes of their own, which know each other
//! by ports alone.

use crate::basin::{Basin, cuboid};
use crate::number;
use meniscus_tests::{c, shot::Shot};
use serde_json::{Value, json};

/// The toy moves a rigid object up and down. Wired into the coupling, it floats as a body that the rigid solver holds in a
/// slide does; without the coupling it falls.
#[test]
fn a_toy_solver_s_body_floats_as_ours_does() {
    let center = [0.003, 0.16, -0.002];
    let slide = json!({ "name": "slide", "type": "rigid_joint",
                        "params": { "joint_type": "prismatic", "body_a": "body_0", "pivot": center, "axis": [0, 1, 0] } });
    let ours = Basin {
        low: [-0.16, 0.0, -0.16],
        high: [0.16, 0.3, 0.16],
        level: 0.14,
        h: 0.02,
        bodies: vec![(cuboid([0.13, 0.08, 0.13], center, 0.0), json!({ "density": 400 }))],
        joints: vec![slide],
        walled: true,
        coupling: "floating_bodies",
        frames: 14,
        steps: 1,
    };
    let mut theirs = Basin { joints: Vec::new(), ..ours.clone() }.graph();
    for node in theirs["nodes"].as_array_mut().expect("nodes") {
        if node["name"] == "rigid" {
            *node = json!({ "name": "rigid", "type": "test.toy_rigid", "inputs": node["inputs"] });
        }
    }
    for (fault, word) in [("INVERTED", "positive"), ("HEAVY", "`mass` of `body_0` holds 1e200")] {
        let refused = Shot::new(&theirs);
        c::plugin("tests/abi/toy_rigid.c", &[fault], &refused.plugins());
        let told = refused.refused_midway();
        let words = ["body_0", word, "(in `dynamics` from node `rigid`, plugin `toy_rigid`)"];
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    }
    let cooked = |defines: &[&str]| {
        let shot = Shot::new(&theirs);
        c::plugin("tests/abi/toy_rigid.c", defines, &shot.plugins());
        shot.cook(&[]);
        shot.stats()
    };
    let ours = ours.cooked();
    let height = |r: &Value| number(r, "/bodies/0/position/1");
    let swing = ours.iter().map(|r| (height(r) - center[1]).abs()).fold(0.0, f64::max);
    for theirs in [cooked(&[]), cooked(&["EARLY"])] {
        assert_eq!(ours.len(), theirs.len());
        let apart = ours.iter().zip(&theirs).map(|(a, b)| (height(a) - height(b)).abs()).fold(0.0, f64::max);
        println!("they are {apart} m apart at most, and heave by {swing} m");
        // Their bodies round differently, and water makes more of it: a two-thousandth of a voxel.
        assert!(swing > 0.005 && apart < 1e-5, "{apart} m apart, after a heave of {swing} m");
    }
}

/// A ball of lead that the toy moves beside one of wood that the rigid solver has, which rises at 1 m/s. Both stay above the water.
fn two_balls([own, other]: [u32; 2]) -> Shot {
    let ball = |x: f64| json!({ "radius": 0.08, "center": [x, 0.6, 0.0] });
    let limits = json!({ "limit_center": [0, 0.5, 0], "limit_size": [0.6, 1, 0.6], "side_neg_y": "closed" });
    Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3], "substeps": { "min": 2, "max": 2 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.6, 0.2, 0.6], "center": [0, 0.1, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.05 } },
            { "name": "left", "type": "sphere", "params": ball(-0.15) },
            { "name": "lead", "type": "rigid_object", "inputs": ["left"], "params": { "density": own } },
            { "name": "right", "type": "sphere", "params": ball(0.15) },
            { "name": "wood", "type": "rigid_object", "inputs": ["right"],
              "params": { "density": other, "velocity": [0, 1, 0] } },
            { "name": "toy", "type": "test.toy_rigid", "inputs": ["lead"] },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["wood"] },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "lead", "wood"], "params": limits },
            { "name": "float", "type": "floating_bodies", "inputs": ["toy", "rigid", "flip"] }
        ]
    }))
}

/// A row of the toy ties its ball to one of the rigid solver, which rises as fast as the toy's rests. Both solvers give their body the
/// row's impulse: from then on the two share their momentum, and their speed.
#[test]
fn a_row_of_one_solver_moves_the_body_of_another() {
    for [own, other] in [[1000, 1000], [500, 2000]] {
        let shot = two_balls([own, other]);
        c::plugin("tests/abi/toy_rigid.c", &["TIED"], &shot.plugins());
        shot.cook(&[]);
        let shared = f64::from(other) / f64::from(own + other);
        for record in shot.stats() {
            for body in ["/bodies/0/v/1", "/bodies/1/v/1"] {
                let speed = number(&record, body);
                assert!((speed - shared).abs() < 1e-6, "{own} and {other} kg/m³: {speed} m/s, not {shared}");
            }
        }
    }
}

/// A solver without a body of its own that writes a row: the body of another solver keeps to it.
#[test]
fn a_row_of_a_solver_without_bodies_moves_the_body_of_another() {
    let shot = two_balls([1000, 500]);
    c::plugin("tests/abi/toy_rigid.c", &["LIFTS"], &shot.plugins());
    shot.cook(&[]);
    for record in shot.stats() {
        let bodies = record.pointer("/bodies").and_then(Value::as_array).expect("bodies");
        let wood = bodies.iter().find(|body| body["name"] == "wood").expect("wood");
        let speed = number(wood, "/v/1");
        assert!((speed - 0.3).abs() < 1e-6, "{speed} m/s, not 0.3");
    }
}
