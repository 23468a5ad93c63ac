//! A coupling from a plugin in C, with two solves and a transport between them, through the program.

use super::resume::interrupted;
use meniscus_tests::{assert_same_files, c, meniscus, shot::Shot};
use serde_json::{Value, json};

/// Enough frames that a kill after a tenth of them comes in the middle.
const FRAMES: u32 = 300;

/// A pile whose loads are solved for twice a substep; a force asks for substeps that cut the frames.
fn piles() -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 10, "frames": [1, FRAMES],
        "substeps": { "min": 1, "max": 4, "cfl": 1 },
        "nodes": [
            { "name": "pile", "type": "test.pile" },
            { "name": "pace", "type": "test.suggests_dt", "params": { "dt": 0.04 } },
            { "name": "mover", "type": "test.pile_solver", "inputs": ["pile", "pace"] },
            { "name": "both", "type": "test.two_solves", "inputs": ["mover"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["both"] }
        ]
    })
}

fn shot() -> Shot {
    let shot = Shot::new(&piles());
    c::plugin("tests/abi/c_coupling.c", &[], &shot.plugins());
    c::plugin("tests/abi/c_faults.c", &[], &shot.plugins());
    shot
}

#[test]
fn two_solves_with_a_transport_between_survive_a_kill() {
    let (whole, cut) = (shot(), shot());
    whole.cook(&[]);
    let last = cut.out().join(format!("points/points.{FRAMES:04}.geo"));
    let reached = cut.out().join(format!("points/points.{:04}.geo", FRAMES / 10));
    interrupted(cut.command(&[]), &reached, |child| child.kill().expect("the child can be killed"));
    assert!(!last.exists(), "the cook was not interrupted");
    cut.cook(&["--resume"]);
    assert_same_files(&whole.out().join("points"), &cut.out().join("points"), &[]);

    // What the coupling keeps from substep to substep is in the checkpoint: its trail of solves, and their sums.
    let saved =
        |shot: &Shot| std::fs::read(shot.out().join(format!("checkpoints/checkpoint.{FRAMES:04}.mns")));
    let (a, b) = (saved(&whole).expect("a checkpoint"), saved(&cut).expect("a checkpoint"));
    assert!(a == b, "the last checkpoints differ");
    let steps = |shot: &Shot| -> Vec<Value> {
        let told = ["frame", "substep", "dt", "objects"];
        shot.stats().iter().map(|s| told.iter().map(|key| s[key].clone()).collect()).collect()
    };
    assert_eq!(steps(&whole), steps(&cut));

    let stats = whole.stats();
    assert!(stats.len() > 2 * FRAMES as usize, "{} substeps do not cut the frames", stats.len());
    for record in &stats {
        let solves = record["solves"].as_array().expect("a substep has solves");
        assert_eq!(solves.len(), 2, "{record}");
        for stage in ["mover.predict", "both.solve", "mover.transport", "mover.correct"] {
            assert!(record["stages"][stage].is_number(), "{stage} did not run: {record}");
        }
    }
}

/// Gravity says how strong it is only to objects that keep a table for it, but moves all.
#[test]
fn gravity_leaves_nothing_with_a_medium_that_does_not_ask() {
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 10, "frames": [1, 2],
        "nodes": [
            { "name": "cube", "type": "box" },
            { "name": "water", "type": "liquid_object", "inputs": ["cube"], "params": { "particle_separation": 0.25 } },
            { "name": "thing", "type": "test.hard" },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"] },
            { "name": "metal", "type": "test.hard_solver", "inputs": ["thing", "gravity"] },
        ]
    }));
    c::plugin("host/tests/c_plugins/shares.c", &[], &shot.plugins());
    shot.cook(&[]);
    let saved = shot.out().join("checkpoints/checkpoint.0002.mns");
    let told = meniscus(&["inspect"]).arg(saved).output().expect("meniscus runs").stdout;
    let told = String::from_utf8(told).expect("text");
    let (water, thing) = told.split_once("\nthing: ").unwrap_or_else(|| panic!("no thing in {told}"));
    assert!(water.contains("forces"), "{told}");
    assert!(thing.contains("dots") && !thing.contains("forces"), "{told}");
    assert!(thing.contains("dv"), "gravity does not move it: {told}");
}
