//! Where physics or memory ends: numbers that nothing can be simulated with are refused, and nothing takes for ever.

use super::{says, tank, tank_with};
use meniscus_tests::meniscus;
use meniscus_tests::shot::{Shot, one_sentence};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FILL: usize = 0;
const WATER: usize = 1;
const GRAVITY: usize = 2;
const FLIP: usize = 3;

fn edited(edit: impl Fn(&mut Value)) -> Value {
    let mut graph = tank();
    edit(&mut graph);
    graph
}

fn with(node: usize, params: Value) -> Value {
    edited(|g| {
        let given = params.as_object().expect("parameters").clone();
        for (name, value) in given {
            g["nodes"][node]["params"][name] = value;
        }
    })
}

/// A closed mesh in Wavefront's form, or what is not quite one.
fn tetrahedron(faces: &str) -> String {
    format!("v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.2\n{faces}")
}

/// [`tank`] with a mesh from a file as the liquid's shape, a solid, a source or a sink.
fn made_of(file: &str, use_: &str) -> Value {
    let mesh = |name: &str| json!({ "name": name, "type": "file", "params": { "file": file } });
    match use_ {
        "liquid" => edited(|g| g["nodes"][FILL] = mesh("fill")),
        kind => {
            let mut graph = tank_with(json!({ "name": "it", "type": kind, "inputs": ["mesh"] }));
            graph["nodes"].as_array_mut().expect("nodes").insert(0, mesh("mesh"));
            graph
        }
    }
}

/// `check` says what a cook would stop at, and says the same.
#[test]
fn check_is_as_strict_as_the_first_moment_of_a_cook() {
    let look = json!({ "camera": "given", "position": [1, 2, 3], "look_at": [1, 2, 3] });
    let preview =
        |params: &Value| json!({ "name": "look", "type": "preview", "inputs": ["flip"], "params": params });
    let two = edited(|g| {
        let oil =
            json!({ "name": "oil", "type": "liquid_object", "params": { "particle_separation": 0.017 } });
        g["nodes"][FLIP]["inputs"] = json!(["water", "oil", "gravity"]);
        let nodes = g["nodes"].as_array_mut().expect("nodes");
        nodes.insert(FLIP, oil);
        nodes.push(json!({ "name": "air", "type": "constraint_bubbles", "inputs": ["flip"] }));
    });
    let cases = [
        (with(WATER, json!({ "particle_separation": 1e-320 })), vec!["node `water`", "1e-320"]),
        (with(WATER, json!({ "particle_separation": 1e9 })), vec!["node `water`", "not 1e9"]),
        (with(WATER, json!({ "particle_separation": 1e-7 })), vec!["node `water`", "would fill"]),
        (with(WATER, json!({ "particle_separation": 5.0 })), vec!["node `water`", "holds no particle"]),
        (with(FILL, json!({ "size": [1e-5, 1e-5, 1e-5] })), vec!["node `water`", "holds no particle"]),
        (with(WATER, json!({ "velocity": [0, -1e30, 0] })), vec!["node `water`", "velocity", "1e30"]),
        (with(WATER, json!({ "velocity": [1e6, 0, 0] })), vec!["node `water`", "velocity"]),
        (with(FLIP, json!({ "min_particles": 1e9 })), vec!["node `flip`", "min_particles", "64"]),
        (
            with(FLIP, json!({ "min_particles": 20, "max_particles": 8 })),
            vec!["node `flip`", "min_particles, 20, is more than max_particles, 8"],
        ),
        (
            edited(|g| g["substeps"]["cfl"] = json!(8)),
            vec!["node `flip`", "substeps.cfl is 8", "5 is the most"],
        ),
        (
            tank_with(
                json!({ "name": "tap", "type": "liquid_source", "inputs": ["fill"], "params": { "velocity": [0, 1e7, 0] } }),
            ),
            vec!["node `tap`", "velocity"],
        ),
        (
            edited(|g| g["nodes"].as_array_mut().expect("nodes").push(preview(&look))),
            vec!["node `look`", "look_at"],
        ),
        (
            edited(|g| {
                g["nodes"].as_array_mut().expect("nodes").push(preview(&json!({ "objects": "watr" })))
            }),
            vec!["node `look`", "objects", "there are water"],
        ),
        (
            edited(|g| {
                let nodes = g["nodes"].as_array_mut().expect("nodes");
                nodes[FLIP]["params"]["end_frame"] = json!(1);
                nodes.push(json!({ "name": "air", "type": "constraint_bubbles", "inputs": ["flip"] }));
            }),
            vec!["node `flip`", "lets it rest while `air` goes on solving `water`"],
        ),
        (two, vec!["node `air`", "`oil` and `water` cannot share a solve", "voxels measure 0.034"]),
    ];
    let meshes = [
        ("open.obj", tetrahedron("f 1 3 2\nf 1 2 4\nf 2 3 4\n"), "not watertight"),
        ("inverted.obj", tetrahedron("f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n"), "inside out"),
        ("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n".to_owned(), "encloses no volume"),
    ];
    let uses = ["liquid", "static_object", "liquid_source", "liquid_sink"];
    let of_meshes = meshes.iter().flat_map(|(file, _, word)| {
        uses.map(|use_| {
            (made_of(file, use_), vec![if use_ == "liquid" { "node `water`" } else { "node `it`" }, word])
        })
    });
    let shot = Shot::new(&tank());
    for (file, text, _) in &meshes {
        shot.file(file, text.as_bytes());
    }
    for (graph, words) in cases.into_iter().chain(of_meshes) {
        shot.graph(graph.to_string().as_bytes());
        let check = meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output().expect("it starts");
        let said = one_sentence(&check);
        says(&said, &words);
        let refused = shot.refused(&[]);
        says(&refused, &words);
        assert!(said.ends_with(&refused) || refused.ends_with(&said), "{said}\n{refused}");
    }
}

/// What is too large to be tried is looked at all the same.
#[test]
fn check_looks_at_meshes_of_liquids_too_large_to_be_made() {
    let shot = Shot::new(&edited(|g| {
        g["nodes"][FILL] = json!({ "name": "fill", "type": "file", "params": { "file": "open.obj" } });
        g["nodes"][WATER]["params"]["particle_separation"] = json!(0.0005);
    }));
    shot.file("open.obj", tetrahedron("f 1 3 2\nf 1 2 4\nf 2 3 4\n").as_bytes());
    let check = || meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output().expect("it starts");
    says(&one_sentence(&check()), &["node `water`", "not watertight"]);
    shot.file("open.obj", tetrahedron("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n").as_bytes());
    let output = check();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn check_warns_of_walls_thinner_than_two_voxels() {
    for (thickness, warned) in [(0.05, true), (0.09, false)] {
        let mut graph = tank_with(json!({ "name": "lid", "type": "static_object", "inputs": ["plate"] }));
        let plate = json!({ "size": [0.2, thickness, 0.2], "center": [0.0, 0.25, 0.0] });
        graph["nodes"]
            .as_array_mut()
            .expect("nodes")
            .insert(0, json!({ "name": "plate", "type": "box", "params": plate }));
        let shot = Shot::new(&graph);
        let output = meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output().expect("it starts");
        assert!(output.status.success());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = said.contains("node `lid`: its walls are 0.05 m thin, and `water` has voxels of 0.04 m");
        assert_eq!(told, warned, "{said}");
    }
}

/// What only the first substep can know ends there with a sentence.
#[test]
fn liquid_that_flies_out_of_sight_is_refused() {
    for (graph, words) in [
        (with(GRAVITY, json!({ "force": [0, -1e30, 0] })), ["node `flip`", "m/s", "10000 are the most"]),
        (
            with(WATER, json!({ "velocity": [1e5, 0, 0] })),
            ["node `flip`", " moves at ", "raise substeps.max"],
        ),
        (edited(|g| g["fps"] = json!(0.001)), ["node `flip`", "a substep of ", "raise substeps.max"]),
    ] {
        let shot = Shot::new(&graph);
        says(&one_sentence(&shot.command(&[]).output().expect("meniscus starts")), &words);
    }
}

/// Thrown at a wall at ten and more voxels a substep, liquid comes to lie in layers upon each other, which no solve brings
/// apart. What it says to change is what helps.
#[test]
fn a_closed_tank_that_would_lose_its_liquid_is_refused() {
    let thrown = |speed: f64, side: &str, substeps: u32| {
        let mut graph = with(WATER, json!({ "velocity": [0, speed, 0] }));
        graph["substeps"] = json!({ "min": 1, "max": substeps, "cfl": 2.0 });
        let flip = graph["nodes"].as_array_mut().expect("nodes").iter_mut().find(|n| n["name"] == "flip");
        let params = &mut flip.expect("a solver")["params"];
        for name in ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"] {
            params[format!("side_{name}")] = json!(side);
        }
        Shot::new(&graph)
    };
    for speed in [300.0, 3000.0] {
        let shot = thrown(speed, "closed", 2);
        let told = one_sentence(&shot.command(&[]).output().expect("meniscus starts"));
        says(
            &told,
            &["node `flip`", "of the liquid's volume is gone in one substep", "m/s", "raise substeps.max"],
        );
    }
    // Where it may leave, it does; and where substeps are as short as asked for, it stays.
    thrown(300.0, "open", 2).cook(&[]);
    let kept = thrown(100.0, "closed", 100);
    kept.cook(&[]);
    let last = &kept.stats().pop().expect("a substep")["objects"]["water"];
    let (volume, rest) =
        (last["volume"].as_f64().unwrap_or(0.0), last["rest_volume"].as_f64().unwrap_or(1.0));
    assert!((volume / rest - 1.0).abs() < 0.05, "{volume} of {rest}");
}

/// A spring as large as a house: two hundred million places for particles to look at in every substep. Two signals end
/// it.
#[test]
fn a_substep_that_takes_for_ever_hears_signals() {
    let spring = json!({ "name": "spring", "type": "liquid_source", "inputs": ["house"], "params": { "drive": false } });
    let mut graph = tank_with(spring);
    let house = json!({ "name": "house", "type": "box", "params": { "size": [12, 12, 12] } });
    graph["nodes"].as_array_mut().expect("nodes").insert(0, house);
    let shot = Shot::new(&graph);
    let mut cook = shot
        .command(&["--openjd", "--threads", "1", "--force"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let id = cook.id().to_string();
    let interrupt = || {
        let sent = Command::new("kill").args(["-INT", &id]).status().expect("kill is there");
        assert!(sent.success());
    };
    let mut told = BufReader::new(cook.stdout.take().expect("a pipe")).lines();
    assert!(told.any(|line| line.is_ok_and(|line| line.contains("openjd_progress"))), "no first frame");
    interrupt();
    let mut said = BufReader::new(cook.stderr.take().expect("a pipe")).lines();
    assert!(said.any(|line| line.is_ok_and(|line| line.contains("stopping after this substep"))));
    // Signals that come as close together as one process can send them are one.
    std::thread::sleep(Duration::from_millis(300));
    interrupt();
    // Long enough for any machine, and nothing against what the substep would take.
    let end = Instant::now() + Duration::from_secs(60);
    let code = loop {
        if let Some(status) = cook.try_wait().expect("it can be waited for") {
            break status.code();
        }
        if Instant::now() > end {
            cook.kill().expect("it can be killed");
            panic!("it did not hear the signals");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(code, Some(130));
}
