//! The first frame that caches hold is the state from which the first substep starts.
//!
//! It used to be what the liquid object alone knows: particles stood inside solids, and the surface ran through them.

use meniscus_tests::points::positions;
use meniscus_tests::shot::Shot;
use serde_json::json;

#[test]
fn no_liquid_stands_in_a_solid_in_the_first_frame() {
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2],
        "substeps": { "min": 1, "max": 2, "cfl": 2.0 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.5, 0.2, 0.4], "center": [0.0, 0.1, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.02 } },
            { "name": "post", "type": "box", "params": { "size": [0.16, 0.5, 0.16], "center": [0.0, 0.2, 0.0] } },
            { "name": "pillar", "type": "static_object", "inputs": ["post"], "params": { "division_size": 0.02 } },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "pillar"],
              "params": { "limit_center": [0.0, 0.25, 0.0], "limit_size": [0.4, 0.5, 0.4],
                          "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
                          "side_neg_z": "closed", "side_pos_z": "closed" } },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] }
        ]
    }));
    shot.cook(&[]);
    let points = |frame: u32| positions(&shot.out().join(format!("points/points.{frame:04}.geo")));
    let (first, second) = (points(1), points(2));
    for [x, y, z] in &first {
        // Level sets of 2 cm voxels round off the edges.
        let in_pillar = x.abs() < 0.07 && z.abs() < 0.07;
        let beyond_a_side = x.abs() > 0.2 || *y < 0.0 || z.abs() > 0.2;
        assert!(!in_pillar && !beyond_a_side, "a particle stands at {x:.3} {y:.3} {z:.3}");
    }
    // Nothing pulls: what there is stays.
    assert!(
        (second.len() as f64 / first.len() as f64 - 1.0).abs() < 0.02,
        "{} {}",
        first.len(),
        second.len()
    );
    // The volume to be kept is that between the solids, from the first substep on.
    let (books, space) =
        (&shot.stats()[0]["objects"]["water"]["rest_volume"], 0.2 * (0.4 * 0.4 - 0.16 * 0.16));
    let rest = books.as_f64().expect("a number");
    assert!((rest / space - 1.0).abs() < 0.02, "{rest} of {space} cubic metres");
}

/// It used to fall behind by half a substep where its solver had other liquids that had moved.
#[test]
fn a_liquid_that_begins_later_falls_as_it_does_with_a_solver_of_its_own() {
    let falls = |solvers: serde_json::Value| {
        let mut nodes = json!([
            { "name": "a", "type": "box", "params": { "size": [0.4, 0.4, 0.4], "center": [0.0, 0.5, 0.0] } },
            { "name": "b", "type": "box", "params": { "size": [0.4, 0.4, 0.4], "center": [2.0, 0.5, 0.0] } },
            { "name": "early", "type": "liquid_object", "inputs": ["a"], "params": { "particle_separation": 0.1 } },
            { "name": "late", "type": "liquid_object", "inputs": ["b"],
              "params": { "particle_separation": 0.1, "start_frame": 3 } },
            { "name": "gravity", "type": "gravity" }
        ]);
        nodes.as_array_mut().expect("a list").extend(solvers.as_array().expect("a list").iter().cloned());
        let shot = Shot::new(&json!({
            "format": "meniscus.graph/1", "fps": 24, "frames": [1, 5],
            "substeps": { "min": 2, "max": 2, "cfl": 4.0 }, "nodes": nodes
        }));
        shot.cook(&[]);
        let stats = shot.stats();
        let late = &stats.last().expect("there are substeps")["objects"]["late"];
        assert!(late["momentum"][1].as_f64().expect("it falls") < -1.0, "{late}");
        late.clone()
    };
    let together =
        falls(json!([{ "name": "flip", "type": "flip_solver", "inputs": ["early", "late", "gravity"] }]));
    let apart = falls(json!([
        { "name": "one", "type": "flip_solver", "inputs": ["early", "gravity"] },
        { "name": "two", "type": "flip_solver", "inputs": ["late", "gravity"] }
    ]));
    assert_eq!(together, apart);
}
