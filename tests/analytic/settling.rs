//! A sphere that settles in a tank of oil, against the experiment [ten Cate et al. 2002].

use crate::number;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// Diameter of the sphere, m, and its density, kg/m³.
const SPHERE: (f64, f64) = (0.015, 1120.0);
/// Width of the square tank, m.
const WIDE: f64 = 0.1;

/// One of the experiment's liquids.
struct Oil {
    /// kg/m³.
    density: f64,
    /// Pa s.
    viscosity: f64,
    /// Greatest speed of the sphere, m/s: its speed in unbounded oil times the measured share of it.
    fastest: f64,
}

/// Re 1.5, 4.1, 11.6 and 31.9.
const OILS: [Oil; 4] = [
    Oil { density: 970.0, viscosity: 0.373, fastest: 0.947 * 0.038 },
    Oil { density: 965.0, viscosity: 0.212, fastest: 0.953 * 0.060 },
    Oil { density: 962.0, viscosity: 0.113, fastest: 0.959 * 0.091 },
    Oil { density: 960.0, viscosity: 0.058, fastest: 0.955 * 0.128 },
];

/// The fastest that the sphere gets in `frames` frames of at least `steps` substeps, at some voxels a diameter, over what was
/// measured. It starts with 25 mm of oil above it, as there, in a tank that is `deep` m deep.
fn fastest(oil: &Oil, across: f64, deep: f64, frames: u32, steps: u32) -> f64 {
    let h = SPHERE.0 / across;
    let limits = json!({
        "limit_center": [0, 0.5 * (deep + 0.02), 0], "limit_size": [WIDE, deep + 0.02, WIDE], "side_neg_x": "closed",
        "side_pos_x": "closed", "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
        "substeps": { "min": steps, "max": 16, "cfl": 1.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [WIDE, deep, WIDE], "center": [0, 0.5 * deep, 0] } },
            { "name": "oil", "type": "liquid_object", "inputs": ["fill"],
              "params": { "particle_separation": 0.5 * h, "density": oil.density, "viscosity": oil.viscosity } },
            { "name": "mesh", "type": "sphere",
              "params": { "radius": 0.5 * SPHERE.0, "center": [0.0003, deep - 0.025 - 0.5 * SPHERE.0, -0.0002] } },
            { "name": "sphere", "type": "rigid_object", "inputs": ["mesh"],
              "params": { "density": SPHERE.1, "division_size": 0.5 * h } },
            { "name": "gravity", "type": "gravity" },
            { "name": "rigid", "type": "rigid_solver", "inputs": ["sphere", "gravity"], "params": limits },
            { "name": "flip", "type": "flip_solver", "inputs": ["oil", "sphere", "gravity"], "params": limits },
            { "name": "both", "type": "floating_bodies", "inputs": ["rigid", "flip"] }
        ]
    }));
    shot.cook(&[]);
    let speed = |r: &Value| -number(r, "/bodies/0/v/1");
    shot.stats().iter().map(speed).fold(0.0, f64::max) / oil.fastest
}
