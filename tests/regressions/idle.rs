//! Objects that a graph holds for nothing are told of, by `check` and when a cook begins.

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
    let shot = Shot::new(graph);
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
        let idle = ["no solver moves it", "wired into nothing", "takes nothing from it"];
        assert!(!idle.iter().any(|words| said.contains(words)), "{}: {said}", graph.display());
    }
}
