//! Shots of one voxel's thickness: what acts in a thicker slab between walls that slip acts there, too.

use crate::number;
use meniscus_tests::{Cooked, cook, points};
use serde_json::{Value, json};

/// Particles' distance, m; voxels are twice as wide.
const SEPARATION: f64 = 0.02;

/// A column that breaks between two walls, `voxels` apart; its viscosity, Pa·s.
fn breaking(voxels: u32, viscosity: f64, params: &Value) -> Cooked {
    let thick = 2.0 * SEPARATION * f64::from(voxels);
    let mut graph = json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 9],
        "substeps": { "min": 2, "max": 8, "cfl": 2.0 },
        "nodes": [
            { "name": "column", "type": "box",
              "params": { "size": [0.4, 0.6, thick], "center": [0.2, 0.3, 0.5 * thick] } },
            { "name": "water", "type": "liquid_object", "inputs": ["column"],
              "params": { "particle_separation": SEPARATION, "viscosity": viscosity } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
              "params": { "limit_center": [0.5, 0.5, 0.5 * thick], "limit_size": [1, 1, thick], "wall_slip": true,
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_pos_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"],
              "params": { "geometry": ["particles", "air_particles"] } }
        ]
    });
    for (name, value) in params.as_object().into_iter().flatten() {
        graph["nodes"][3]["params"][name] = value.clone();
    }
    cook(&graph, &[])
}

/// Kinetic energy of the last substep over the mass, m²/s².
fn energy(cooked: &Cooked) -> f64 {
    let last = cooked.stats().pop().expect("a substep");
    number(&last, "/objects/water/kinetic_energy") / number(&last, "/objects/water/mass")
}

#[test]
fn viscosity_acts_in_a_slab_one_voxel_thick() {
    let none = json!({});
    let [thin, thick] = [1, 3].map(|voxels| energy(&breaking(voxels, 300.0, &none)));
    let free = energy(&breaking(1, 0.0, &none));
    assert!(thin < 0.5 * free, "{thin} as if it were not viscous, {free}");
    assert!((thin / thick - 1.0).abs() < 0.15, "{thin} in one voxel, {thick} in three");
}

#[test]
fn air_particles_fill_the_air_in_a_slab_one_voxel_thick() {
    let count = |voxels: u32| {
        let cooked = breaking(voxels, 0.0, &json!({ "air_particles": true }));
        let air = cooked.out.join("points/points_air_particles.0009.geo");
        points::positions(&air).len() as f64 / f64::from(voxels)
    };
    let (thin, thick) = (count(1), count(3));
    assert!(thin > 0.5 * thick && thin < 1.5 * thick, "{thin} a voxel in one, {thick} in three");
}
