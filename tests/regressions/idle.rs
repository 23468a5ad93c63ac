//! What a graph holds for nothing is told of, by `check` and when a cook begins: objects, parameters, frames, attributes.

use meniscus_tests::shot::Shot;
use meniscus_tests::{meniscus, root};
use serde_json::{Value, json};

/// A crate that falls, and beside it what `nodes` and `inputs` of its solver add.
fn shot_of(nodes: Value, inputs: &[&str]) -> Value {
    let mut all = vec![
        json!({ "name": "cube", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0, 1, 0] } }),
        json!({ "name": "crate", "type": "rigid_object", "inputs": ["cube"], "params": { "division_size": 0.05 } }),
        json!({ "name": "gravity", "type": "gravity" }),
    ];
    all.extend(nodes.as_array().expect("nodes").iter().cloned());
    let inputs: Vec<&str> = ["crate", "gravity"].iter().chain(inputs).copied().collect();
    all.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": inputs }));
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2], "nodes": all })
}

/// What `check` advises, and what a cook warns of.
fn said(graph: &Value) -> [String; 2] {
    said_of(&Shot::new(graph))
}

fn said_of(shot: &Shot) -> [String; 2] {
    let checked =
        meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output().expect("meniscus starts");
    let cooked = shot.command(&[]).output().expect("meniscus starts");
    assert!(checked.status.success() && cooked.status.success(), "{checked:?} {cooked:?}");
    [&checked.stdout, &cooked.stderr].map(|text| String::from_utf8_lossy(text).into_owned())
}

#[test]
fn what_no_solver_moves_or_takes_is_told_of() {
    let body = json!([
        { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [1, 1, 0] } },
        { "name": "lost", "type": "rigid_object", "inputs": ["block"], "params": { "division_size": 0.05 } }
    ]);
    let water = json!([
        { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [1, 1, 0] } },
        { "name": "lost", "type": "liquid_object", "inputs": ["block"], "params": { "particle_separation": 0.05 } }
    ]);
    let joint = json!([
        { "name": "lost", "type": "rigid_joint", "params": { "body_a": "crate", "pivot": [0, 1, 0] } }
    ]);
    let wall = json!([
        { "name": "block", "type": "box", "params": { "size": [1, 1, 1], "center": [3, 1, 0] } },
        { "name": "lost", "type": "static_object", "inputs": ["block"], "params": { "division_size": 0.1 } }
    ]);
    for (nodes, inputs, words) in [
        (&body, &[][..], &["no solver moves it", "medium `rigid`"][..]),
        (&water, &[], &["no solver moves it", "medium `liquid`"]),
        (&water, &["lost"], &["no solver moves it", "`rigid`, which takes nothing from it"]),
        (&joint, &[], &["wired into nothing"]),
        (&wall, &[], &["wired into nothing"]),
    ] {
        let [checked, cooked] = said(&shot_of(nodes.clone(), inputs));
        for word in words {
            assert!(checked.contains(word), "{checked} lacks {word}");
            assert!(cooked.contains(word), "{cooked} lacks {word}");
        }
        assert!(checked.contains("advice: node `lost`: "), "{checked}");
        assert!(cooked.contains("warning: lost: "), "{cooked}");
    }
    for (nodes, inputs) in [(&body, "lost"), (&joint, "lost"), (&wall, "lost")] {
        let [checked, cooked] = said(&shot_of(nodes.clone(), &[inputs]));
        assert!(!checked.contains("`lost`:") && !cooked.contains("warning: lost"), "{checked} {cooked}");
    }
}

/// A liquid that has nothing to begin with, and that nothing pours in.
#[test]
fn liquid_that_stays_empty_is_told_of() {
    let graph = |with_source: bool| {
        let mut nodes = vec![
            json!({ "name": "water", "type": "liquid_object", "params": { "particle_separation": 0.05 } }),
            json!({ "name": "nozzle", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } }),
        ];
        let mut inputs = vec!["water"];
        if with_source {
            nodes.push(json!({ "name": "tap", "type": "liquid_source", "inputs": ["nozzle"] }));
            inputs.push("tap");
        }
        nodes.push(json!({ "name": "flip", "type": "flip_solver", "inputs": inputs }));
        json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2], "nodes": nodes })
    };
    let words =
        "water`: it begins empty, and nothing fills it: wire geometry into it, or a source into `flip`";
    let [checked, cooked] = said(&graph(false));
    assert!(checked.contains(words) && cooked.contains("water: it begins empty"), "{checked} {cooked}");
    let [checked, cooked] = said(&graph(true));
    assert!(!checked.contains("begins empty") && !cooked.contains("begins empty"), "{checked} {cooked}");
}

/// A solver whose only object is bypassed.
#[test]
fn a_solver_without_objects_is_told_of() {
    let nodes = json!([
        { "name": "drop", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } },
        { "name": "water", "type": "liquid_object", "inputs": ["drop"], "bypass": true },
        { "name": "flip", "type": "flip_solver", "inputs": ["water"] },
    ]);
    let graph = json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2], "nodes": nodes });
    let [checked, cooked] = said(&graph);
    let words = "it solves nothing: wire an object of medium `liquid` into it, or end its bypass";
    assert!(checked.contains(&format!("node `flip`: {words}")), "{checked}");
    assert!(cooked.contains(&format!("flip: {words}")), "{cooked}");
    assert!(!checked.contains("steps without") && !checked.contains("-0 B"), "{checked}");
}

#[test]
fn nothing_of_our_examples_is_there_for_nothing() {
    let mut graphs = Vec::new();
    let mut folders = vec![root().join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is read").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    graphs.extend(Some(path).filter(|p| p.to_string_lossy().ends_with(".meniscus.json")))
                }
            }
        }
    }
    assert!(graphs.len() > 10, "{graphs:?}");
    for graph in graphs {
        let checked = meniscus(&["check"]).arg(&graph).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&checked.stdout);
        let idle = [
            "no solver moves it",
            "wired into nothing",
            "takes nothing from it",
            "has no effect",
            "takes no part",
            "does nothing",
            "goes its own way",
            "meets it: wire it into",
        ];
        assert!(!idle.iter().any(|words| said.contains(words)), "{}: {said}", graph.display());
    }
}

/// Whether both commands say something of `lost`, once, where it is `told`.
fn tells([checked, cooked]: [String; 2], words: &str, told: bool) {
    for (said, at) in [(&checked, "advice: node `lost`: "), (&cooked, "warning: lost: ")] {
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with(at)).collect();
        assert_eq!(lines.len(), usize::from(told), "{words}: {said}");
        assert!(lines.iter().all(|line| line.contains(words)), "{words}: {said}");
    }
}

#[test]
fn parameters_without_effect_are_told_of() {
    for (params, words, told) in [
        (
            json!({ "joint_type": "ball", "motor": "speed" }),
            "`motor` has no effect, since `joint_type` is ball",
            true,
        ),
        (
            json!({ "joint_type": "spring", "motor": "target" }),
            "`motor` has no effect, since `joint_type` is spring",
            true,
        ),
        (
            json!({ "joint_type": "fixed", "limited": true }),
            "`limited` has no effect, since `joint_type` is fixed",
            true,
        ),
        (
            json!({ "joint_type": "revolute", "motor_speed": 3 }),
            "`motor_speed` has no effect, since `motor` is none",
            true,
        ),
        (
            json!({ "joint_type": "revolute", "limit_high": { "keys": [[1, 10], [2, 20]] } }),
            "`limit_high` has no effect, since `limited` is off",
            true,
        ),
        (json!({ "joint_type": "ball", "motor": "none" }), "", false),
        (json!({ "joint_type": "revolute", "motor": "speed", "motor_speed": 3, "limited": true }), "", false),
    ] {
        let mut params = params;
        (params["body_a"], params["pivot"]) = (json!("crate"), json!([0, 1, 0]));
        let joint = json!([{ "name": "lost", "type": "rigid_joint", "params": params }]);
        tells(said(&shot_of(joint, &["lost"])), words, told);
    }
}

#[test]
fn frames_and_keys_without_effect_are_told_of() {
    let moved = json!({ "keys": [[1, [2, 1, 0]], [2, [2, 2, 0]]] });
    let still = json!([2, 1, 0]);
    for (params, translate, words, told) in [
        (json!({ "start_frame": 3 }), &still, "it begins in frame 3, and the shot ends with 2", true),
        (json!({ "start_frame": 2, "end_frame": 1 }), &still, "it ends with frame 1, before frame 2", true),
        (json!({ "start_frame": 2 }), &still, "", false),
        (json!({}), &moved, "its input is animated, and `keyframed` is off", true),
        (json!({ "keyframed": true }), &moved, "", false),
    ] {
        let nodes = json!([
            { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } },
            { "name": "moved", "type": "transform", "inputs": ["block"], "params": { "translate": translate } },
            { "name": "lost", "type": "rigid_object", "inputs": ["moved"], "params": params }
        ]);
        tells(said(&shot_of(nodes, &["lost"])), words, told);
    }
}

#[test]
fn attributes_of_points_without_effect_are_told_of() {
    for (properties, values, words, told) in [
        ("int id", ["5", "5"], "`id` of its points does nothing", true),
        ("float id", ["0", "1"], "`id` of its points does nothing", true),
        ("float mass", ["1", "2"], "`mass` of its points does nothing", true),
        ("float density", ["1", "2"], "their ids count from 0", true),
        ("int id", ["0", "1"], "", false),
        ("uchar red\nproperty uchar green\nproperty uchar blue", ["1 2 3", "4 5 6"], "", false),
        ("float vx\nproperty float vy\nproperty float vz", ["1 0 0", "0 0 1"], "", false),
    ] {
        let nodes = json!([
            { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } },
            { "name": "places", "type": "file", "params": { "file": "in.ply" } },
            { "name": "lost", "type": "rigid_object", "inputs": ["block", "places"] }
        ]);
        let shot = Shot::new(&shot_of(nodes, &["lost"]));
        let text = format!(
            "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty {properties}\n\
             end_header\n2 1 0 {}\n3 1 0 {}\n",
            values[0], values[1]
        );
        shot.file("in.ply", text.as_bytes());
        tells(said_of(&shot), words, told);
    }
}

/// A pool, and a crate above it, which both solvers of the coupling have wired in or not.
fn pool(crate_in: &[&str], keyframed: bool) -> Value {
    let inputs = |name: &str, own: &[&str]| -> Vec<String> {
        let more = if crate_in.contains(&name) { &["lost"][..] } else { &[] };
        own.iter().chain(more).map(|&s| s.to_owned()).collect()
    };
    let sides = json!({ "limit_center": [0, 0.5, 0], "limit_size": [1, 1, 1], "side_neg_y": "closed", "side_neg_x": "closed",
        "side_pos_x": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 2], "nodes": [
        { "name": "block", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0, 0.7, 0] } },
        { "name": "lost", "type": "rigid_object", "inputs": ["block"], "params": { "keyframed": keyframed } },
        { "name": "stone", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0.3, 0.7, 0] } },
        { "name": "wet", "type": "rigid_object", "inputs": ["stone"] },
        { "name": "fill", "type": "box", "params": { "size": [1, 0.3, 1], "center": [0, 0.15, 0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.05 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "rigid", "type": "rigid_solver", "inputs": inputs("rigid", &["wet", "gravity"]), "params": sides },
        { "name": "flip", "type": "flip_solver", "inputs": inputs("flip", &["water", "wet", "gravity"]), "params": sides },
        { "name": "float", "type": "floating_bodies", "inputs": ["rigid", "flip"] }
    ] })
}

#[test]
fn bodies_in_a_coupling_that_no_liquid_meets_are_told_of() {
    let advice = "advice: node `lost`: nothing that `float` couples meets it: wire it into `flip` as well";
    for keyframed in [false, true] {
        for (wired, told) in [(&["rigid"][..], true), (&["rigid", "flip"], false)] {
            let shot = Shot::new(&pool(wired, keyframed));
            let checked = meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output();
            let said = String::from_utf8_lossy(&checked.expect("meniscus starts").stdout).into_owned();
            assert_eq!(said.matches(advice).count(), usize::from(told), "{said}");
            // What the coupling would solve for, it refuses, with nothing said before.
            match told && !keyframed {
                true => assert!(shot.refused_midway().contains("`lost` takes part in the solve")),
                false => shot.cook(&[]),
            }
        }
    }
}

/// What a newcomer's graph has wrong and `check` calls sound all the same: it says what will come of it.
#[test]
fn what_leads_nowhere_is_told_of_before_anything_is_cooked() {
    let tap = root().join("examples/render/tap.meniscus.json");
    let text = std::fs::read_to_string(tap).expect("the example");
    let sound: Value = serde_json::from_str(&text).expect("it is a graph");
    let checked = |graph: &Value| {
        let shot = Shot::new(graph);
        let check =
            meniscus(&["check", "--quality", "preview"]).arg(shot.path("shot.meniscus.json")).output();
        let check = check.expect("meniscus starts");
        format!("{}{}", String::from_utf8_lossy(&check.stdout), String::from_utf8_lossy(&check.stderr))
    };
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut graph = sound.clone();
        change(graph["nodes"].as_array_mut().expect("nodes"));
        checked(&graph)
    };
    let node = |nodes: &mut Vec<Value>, name: &str| {
        nodes.iter().position(|n| n["name"] == name).unwrap_or_else(|| panic!("no node {name}"))
    };
    let set = |name: &'static str, param: &'static str, value: Value| {
        with(&move |nodes| {
            let at = node(nodes, name);
            nodes[at]["params"][param] = value.clone();
        })
    };
    let wire = |name: &'static str, inputs: &'static [&'static str]| {
        with(&move |nodes| {
            let at = node(nodes, name);
            nodes[at]["inputs"] = json!(inputs);
        })
    };
    assert!(!checked(&sound).contains("advice"), "{}", checked(&sound));
    for bypassed in ["mesher", "whitewater", "tap"] {
        let said = with(&|nodes| {
            let at = node(nodes, bypassed);
            nodes[at]["bypass"] = json!(true);
        });
        assert!(!said.contains("wired into nothing") && !said.contains("no solver moves it"), "{said}");
    }
    for (said, words) in [
        (set("cup", "thickness", json!(0.004)), "liquid may pass walls"),
        (set("preview", "glass", json!("glas")), "did you mean `glass`?"),
        (set("shot", "glass", json!("cups")), "did you mean `cup`?"),
        (set("shot", "volumes", json!("^cashe")), "`volumes` names `cashe`"),
        (set("glass", "division_size", json!(0.02)), "they get holes; lower `division_size`"),
        (
            with(&|nodes| nodes.push(json!({ "name": "lost", "type": "sphere" }))),
            "`lost`: it is wired into nothing",
        ),
        (
            with(&|nodes| {
                nodes.retain(|n| !["shot", "meshes", "preview"].iter().any(|name| n["name"] == *name))
            }),
            "nothing is written but figures",
        ),
        (
            with(&|nodes| {
                nodes.push(json!({ "name": "far", "type": "box", "params": { "size": [0.1, 0.1, 0.1], "center": [9, 0, 0] } }));
                let at = node(nodes, "water");
                nodes[at]["inputs"] = json!(["far"]);
            }),
            "all of it begins beyond the box of `flip`",
        ),
        (wire("mesher", &["mesh", "air"]), "it comes from `glass`, `water`: wire these in"),
        (wire("mesher", &["water", "glass"]), "nothing to solve; add one (`mesh_object`)"),
    ] {
        assert!(said.contains(words), "{said} lacks {words}");
    }
}
