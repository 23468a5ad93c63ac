//! The length of a substep follows the forces that are wired, from the first one on.

use crate::number;
use meniscus_tests::cook;
use serde_json::{Value, json};

/// A cube of liquid at rest under an acceleration of so many m/s², for three frames.
fn falls(force: f64) -> Vec<Value> {
    let graph = json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 4],
        "substeps": { "min": 1, "max": 100, "cfl": 1.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.01 } },
            { "name": "gravity", "type": "gravity", "params": { "force": [0.0, force, 0.0] } },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"] }
        ]
    });
    cook(&graph, &[]).stats()
}

#[test]
fn a_strong_force_shortens_the_first_substep_and_none_leaves_it_whole() {
    let first = |force: f64| number(&falls(force)[0], "/dt");
    // From rest, at one voxel of 0.02 m a substep: √(h/g).
    for force in [-100.0, -40.0, 40.0] {
        let longest = (0.02f64 / f64::abs(force)).sqrt();
        let dt = first(force);
        assert!(dt <= longest * 1.0001 && dt > 0.4 * longest, "{force} m/s²: {dt} s, not {longest}");
    }
    let free = falls(0.0);
    assert_eq!(free.len(), 3, "nothing moves, and a frame is one substep");
}
