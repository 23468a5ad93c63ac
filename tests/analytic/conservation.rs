//! Mass and momentum through births and deaths of particles.

use crate::{GRAVITY, number};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// How a liquid's particles are kept.
#[derive(Clone, Copy, Debug)]
struct Kind {
    grid_scale: f64,
    particle_band: f64,
    method: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { grid_scale: 2.0, particle_band: 0.0, method: "apic" },
    Kind { grid_scale: 2.0, particle_band: 2.0, method: "apic" },
    Kind { grid_scale: 3.0, particle_band: 0.0, method: "apic" },
    Kind { grid_scale: 2.0, particle_band: 0.0, method: "flip" },
];

fn water(kind: Kind) -> Value {
    json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
            "params": { "particle_separation": 0.01, "grid_scale": kind.grid_scale } })
}

fn solver(kind: Kind, inputs: &[&str]) -> Value {
    json!({ "name": "flip", "type": "flip_solver", "inputs": inputs,
            "params": { "particle_band": kind.particle_band, "velocity_transfer": kind.method } })
}

fn graph(frames: u32, nodes: Value) -> Value {
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
            "substeps": { "min": 2, "max": 6, "cfl": 1.5 }, "nodes": nodes })
}

fn momentum(record: &Value) -> [f64; 3] {
    [0, 1, 2].map(|a| number(record, &format!("/objects/water/momentum/{a}")))
}

/// A closed can, shaken and turned: nothing leaks, so nothing may come to be.
#[test]
fn a_shaken_can_keeps_its_mass() {
    for kind in KINDS {
        let moved = json!({ "keys": [[1, [0.0, 0.0, 0.0]], [4, [0.08, 0.04, 0.0]], [7, [-0.06, -0.04, 0.03]], [10, [0.06, 0.02, -0.03]], [13, [-0.06, 0.0, 0.0]]] });
        let turned = json!({ "keys": [[1, [0.0, 0.0, 0.0]], [13, [50.0, 40.0, 90.0]]] });
        let nodes = json!([
            { "name": "m", "type": "tube", "params": { "radius_bottom": 0.16, "radius_top": 0.16, "height": 0.32, "thickness": 0.04, "floor": true, "lid": true } },
            { "name": "mv", "type": "transform", "inputs": ["m"], "params": { "translate": moved, "rotate": turned } },
            { "name": "can", "type": "static_object", "inputs": ["mv"], "params": { "division_size": 0.02 } },
            { "name": "fill", "type": "tube", "params": { "radius_bottom": 0.11, "radius_top": 0.11, "height": 0.15, "center": [0, -0.035, 0] } },
            water(kind),
            { "name": "gravity", "type": "gravity" },
            solver(kind, &["water", "can", "gravity"])
        ]);
        let shot = Shot::new(&graph(13, nodes));
        shot.cook(&[]);
        let records = shot.stats();
        let mass = |record| number(record, "/objects/water/mass");
        let first = mass(&records[0]);
        let changed = |count: &f64| *count != number(&records[0], "/objects/water/particles");
        let counts: Vec<f64> = records.iter().map(|r| number(r, "/objects/water/particles")).collect();
        assert!(counts.iter().any(changed), "{kind:?}: no particle was born or died");
        for record in &records {
            assert!(
                (mass(record) / first - 1.0).abs() < 1e-6,
                "{kind:?}: {first} kg became {}",
                mass(record)
            );
        }
    }
}

/// A cube of water in free flight: its momentum is what gravity gave it.
#[test]
fn a_flying_cube_has_the_momentum_that_gravity_gave_it() {
    for kind in KINDS {
        let nodes = json!([
            { "name": "fill", "type": "box", "params": { "size": [0.16, 0.16, 0.16] } },
            water(kind),
            { "name": "gravity", "type": "gravity" },
            solver(kind, &["water", "gravity"])
        ]);
        let shot = Shot::new(&graph(13, nodes));
        shot.cook(&[]);
        let records = shot.stats();
        let (first, last) = (&records[0], &records[records.len() - 1]);
        let mass = number(last, "/objects/water/mass");
        assert!((mass / number(first, "/objects/water/mass") - 1.0).abs() < 1e-6, "{kind:?}");
        let end = |record| number(record, "/time") + number(record, "/dt");
        let given = mass * GRAVITY * (end(last) - end(first));
        let ([x, y, z], [x0, y0, z0]) = (momentum(last), momentum(first));
        let off = ((x - x0).powi(2) + (y - y0 + given).powi(2) + (z - z0).powi(2)).sqrt() / given;
        // No particle is born here; what a cube of five voxels (grid_scale 3) gets is from the pressure at its surface.
        assert!(off < 2e-4, "{kind:?}: {off:.2e} of the momentum went astray");
    }
}
