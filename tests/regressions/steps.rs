//! `stats.jsonl` says which node asks for the length of a substep, for which object, and why.

use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// Two drops, one thrown sideways, in still space; each with a solver of its own, and along a rod if there is one.
fn drops(fast: f64, rod: bool) -> Value {
    let drop = |name: &str, x: f64, speed: f64| {
        let solver = format!("{name}_flip");
        let met = if rod { json!([name, "rods"]) } else { json!([name]) };
        [
            json!({ "name": format!("{name}_ball"), "type": "sphere", "params": { "radius": 0.1, "center": [x, 0, 0] } }),
            json!({ "name": name, "type": "liquid_object", "inputs": [format!("{name}_ball")],
                    "params": { "particle_separation": 0.02, "velocity": [0, 0, speed] } }),
            json!({ "name": solver, "type": "flip_solver", "inputs": met }),
        ]
    };
    let rods = |name: &str, x: f64| json!({ "name": name, "type": "box", "params": { "size": [0.1, 0.1, 4], "center": [x, 0.2, 0] } });
    let rods = vec![
        rods("left", -1.0),
        rods("right", 1.0),
        json!({ "name": "both", "type": "merge", "inputs": ["left", "right"] }),
        json!({ "name": "rods", "type": "static_object", "inputs": ["both"], "params": { "division_size": 0.04 } }),
    ];
    let rods = if rod { rods } else { Vec::new() };
    let nodes: Vec<Value> = [rods, drop("slow", -1.0, 0.5).into(), drop("fast", 1.0, fast).into()].concat();
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3],
            "substeps": { "min": 1, "max": 16, "cfl": 1.0 }, "nodes": nodes })
}

#[test]
fn the_fastest_liquid_asks_for_the_length_of_a_substep() {
    for speed in [2.0, 6.0] {
        let shot = Shot::new(&drops(speed, true));
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

#[test]
fn drops_in_free_flight_ask_for_none() {
    let shot = Shot::new(&drops(30.0, false));
    shot.cook(&[]);
    let stats = shot.stats();
    // Until something has acted on them, nobody knows that they fly freely. Then their own motion asks for far more than
    // a frame, in which they fly thirty voxels.
    for line in &stats[1..] {
        assert!(line["step"]["longest"].as_f64().is_none_or(|longest| longest > 0.2), "{line}");
    }
    assert_eq!(stats.last().expect("substeps")["dt"].as_f64(), Some(1.0 / 24.0));
}

#[test]
fn what_sets_a_step_besides_speed_is_said_and_so_is_liquid_that_leaves_for_good() {
    let graph = json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 12],
        "substeps": { "min": 1, "max": 16, "cfl": 2.0 }, "nodes": [
        { "name": "ball", "type": "sphere", "params": { "radius": 0.1, "center": [0, -0.8, 0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["ball"], "params": { "particle_separation": 0.02 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"],
          "params": { "limit_size": [2, 2, 2], "side_neg_y": "open" } } ] });
    let shot = Shot::new(&graph);
    let output = shot.command(&[]).output().expect("meniscus starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("moves on for good"), "{said}");
    assert!(said.contains("let side_neg_y kill it"), "{said}");
    for line in &shot.stats()[3..] {
        assert_eq!(line["step"]["acceleration"].as_f64().map(|g| (g * 100.0).round()), Some(981.0), "{line}");
        assert!(line["step"]["place"].is_null(), "{line}");
    }
}
