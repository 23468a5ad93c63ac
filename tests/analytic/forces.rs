//! Forces act from the first moment on: on the length of substeps, and on what falls.

use crate::{GRAVITY, number};
use meniscus_tests::{cook, points};
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

/// However long its substeps, and wherever in the shot it begins: no step is late by g dt²/2, as one would be that moves a
/// liquid with the velocity it had before gravity acted.
#[test]
fn what_falls_freely_is_where_it_should_be() {
    for (substeps, begins) in [(1, 1), (3, 1), (1, 3)] {
        let graph = json!({
            "format": "meniscus.graph/1", "fps": 24, "frames": [1, 6],
            "substeps": { "min": substeps, "max": substeps, "cfl": 5.0 },
            "nodes": [
                { "name": "fill", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } },
                { "name": "water", "type": "liquid_object", "inputs": ["fill"],
                  "params": { "particle_separation": 0.02, "start_frame": begins } },
                { "name": "gravity", "type": "gravity" },
                { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"] },
                { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
            ]
        });
        let cooked = cook(&graph, &[]);
        let height = |frame: u32| {
            let all = points::positions(&cooked.out.join(format!("points/points.{frame:04}.geo")));
            all.iter().map(|x| x[1]).sum::<f64>() / all.len() as f64
        };
        for frame in begins + 1..=6 {
            let time = f64::from(frame - begins) / 24.0;
            let late = height(frame) - height(begins) + 0.5 * GRAVITY * time * time;
            // The first step of one substep a frame is g dt²/2 = 8.5 mm.
            let sentence =
                format!("{substeps} substeps, from frame {begins}: {late} m late in frame {frame}");
            assert!(late.abs() < 2e-4, "{sentence}");
        }
    }
}
