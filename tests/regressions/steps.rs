//! `stats.jsonl` says which node asks for the length of a substep, for which object, and why.

use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// Two drops, one thrown sideways, in still space; each with a solver of its own.
fn drops(fast: f64) -> Value {
    let drop = |name: &str, x: f64, speed: f64| {
        let solver = format!("{name}_flip");
        [
            json!({ "name": format!("{name}_ball"), "type": "sphere", "params": { "radius": 0.1, "center": [x, 0, 0] } }),
            json!({ "name": name, "type": "liquid_object", "inputs": [format!("{name}_ball")],
                    "params": { "particle_separation": 0.02, "velocity": [0, 0, speed] } }),
            json!({ "name": solver, "type": "flip_solver", "inputs": [name] }),
        ]
    };
    let nodes: Vec<Value> = [drop("slow", -1.0, 0.5), drop("fast", 1.0, fast)].concat();
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3],
            "substeps": { "min": 1, "max": 16, "cfl": 1.0 }, "nodes": nodes })
}

#[test]
fn the_fastest_liquid_asks_for_the_length_of_a_substep() {
    for speed in [2.0, 6.0] {
        let shot = Shot::new(&drops(speed));
        shot.cook(&[]);
        for line in shot.stats() {
            let step = &line["step"];
            assert_eq!((&step["node"], &step["object"]), (&json!("fast_flip"), &json!("fast")), "{line}");
            let number = |value: &Value| value.as_f64().expect("a number");
            assert!((number(&step["speed"]) - speed).abs() < 0.1 * speed, "{step}");
            // At most one voxel at that speed, and not much less.
            let way = number(&step["longest"]) * speed / 0.04;
            assert!((0.8..1.01).contains(&way), "{way} voxels: {step}");
            let flown = speed * number(&line["time"]);
            assert!((number(&step["place"][0]) - 1.0).abs() < 0.15, "{step}");
            assert!(
                (number(&step["place"][2]) - flown).abs() < 0.15 + 0.05 * speed,
                "{step} after {flown} m"
            );
        }
        let inspect = meniscus_tests::meniscus(&["inspect"]).arg(shot.out().join("stats.jsonl")).output();
        let said = String::from_utf8_lossy(&inspect.expect("meniscus starts").stdout).into_owned();
        assert!(said.contains("length asked for by fast_flip for fast: "), "{said}");
    }
}
