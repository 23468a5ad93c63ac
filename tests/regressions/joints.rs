//! Joints through the whole program: the same bytes however a shot is cooked, what breaks, what drives, and what is refused.

use meniscus_tests::assert_same_files;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// A chain of four links that hangs from the world by its last one, a lid on a hinge with a motor, and a weight on a joint that
/// breaks where it holds less than 117.7 N.
fn shot_of(last: i32, breaks: f64, wired: &[&str], more: Value) -> Value {
    let mut nodes = json!([
        { "name": "bar", "type": "box", "params": { "size": [0.24, 0.06, 0.06] } },
        { "name": "bars", "type": "points",
          "params": { "count": [4, 1, 1], "spacing": [0.25, 1, 1], "center": [-0.5, 2, 0] } },
        { "name": "links", "type": "rigid_object", "inputs": ["bar", "bars"],
          "params": { "density": 2000, "division_size": 0.05 } },
        { "name": "plate", "type": "box", "params": { "size": [0.6, 0.05, 0.4], "center": [1.3, 2, 0] } },
        { "name": "lid", "type": "rigid_object", "inputs": ["plate"], "params": { "division_size": 0.05 } },
        { "name": "cube", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [2.5, 2, 0] } },
        { "name": "weight", "type": "rigid_object", "inputs": ["cube"],
          "params": { "mass": 12, "division_size": 0.05 } },
        { "name": "hook", "type": "rigid_joint",
          "params": { "joint_type": "ball", "body_a": "links:3", "pivot": [0, 2, 0] } },
        { "name": "chain", "type": "rigid_joint", "params": { "joint_type": "ball", "body_a": "links", "chain": true } },
        { "name": "hinge", "type": "rigid_joint",
          "params": { "joint_type": "revolute", "body_a": "lid", "pivot": [1, 2, 0], "axis": [0, 0, 1], "motor": "target",
                      "motor_strength": 500, "motor_target": { "keys": [[1, 0], [9, -80]] } } },
        { "name": "wire", "type": "rigid_joint",
          "params": { "joint_type": "fixed", "body_b": "weight", "pivot": [2.5, 2.1, 0], "breaking_force": breaks } },
        { "name": "gravity", "type": "gravity" }
    ]);
    let nodes = nodes.as_array_mut().expect("nodes");
    let mut inputs = vec!["links", "lid", "weight", "gravity"];
    inputs.extend(wired);
    if let Value::Array(more) = more {
        nodes.extend(more);
    }
    nodes.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": inputs,
        "params": { "limit_center": [0, 2, 0], "limit_size": [8, 4, 8], "side_neg_y": "closed" } }));
    nodes.push(json!({ "name": "meshes", "type": "geometry_cache", "inputs": ["rigid"] }));
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, last],
            "substeps": { "min": 4, "max": 8, "cfl": 1.0 }, "nodes": nodes })
}

const ALL: [&str; 4] = ["hook", "chain", "hinge", "wire"];

fn place(stats: &Value, name: &str, n: usize) -> [f64; 3] {
    let bodies = stats["bodies"].as_array().expect("bodies are listed");
    let body = bodies.iter().filter(|b| b["name"] == name).nth(n).expect("the body is listed");
    std::array::from_fn(|c| body["position"][c].as_f64().expect("a number"))
}

#[test]
fn joints_hold_drive_and_break_and_give_the_same_bytes_however_they_are_cooked() {
    let first = Shot::new(&shot_of(9, 117.0, &ALL, json!(null)));
    first.cook(&["--threads", "1"]);
    let stats = first.stats();
    let last = stats.last().expect("substeps");
    // The chain: its upper link stays at the hook, its lower one has swung down.
    let ([x, y, _], [_, lowest, _]) = (place(last, "links", 3), place(last, "links", 0));
    assert!((x.hypot(y - 2.0) - 0.125).abs() < 1e-3 && lowest < 1.6, "{last}");
    // The lid: 80 degrees down about its hinge, a substep behind its keys at most.
    let [x, y, _] = place(last, "lid", 0);
    let turned = (y - 2.0).atan2(x - 1.0).to_degrees();
    assert!((-81.0..-76.0).contains(&turned), "{turned}");
    // 12 kg weigh 117.7 N.
    assert!(place(last, "weight", 0)[1] < 1.7, "{last}");
    for how in [&["--threads", "2"][..], &["--drop-caches"], &["--paranoid"]] {
        let again = Shot::new(&shot_of(9, 117.0, &ALL, json!(null)));
        again.cook(how);
        assert_same_files(&first.path("out/meshes"), &again.path("out/meshes"), &[]);
    }
    let resumed = Shot::new(&shot_of(5, 117.0, &ALL, json!(null)));
    resumed.cook(&[]);
    resumed.graph(shot_of(9, 117.0, &ALL, json!(null)).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    assert_same_files(&first.path("out/meshes"), &resumed.path("out/meshes"), &[]);
    // A wire that bears more holds.
    let held = Shot::new(&shot_of(5, 118.5, &ALL, json!(null)));
    held.cook(&[]);
    assert!((place(held.stats().last().expect("substeps"), "weight", 0)[1] - 2.0).abs() < 1e-6);
}

/// What hung on a body that has ended falls freely: as long as before, and no faster.
#[test]
fn a_joint_to_a_body_that_ends_holds_nothing() {
    for kind in ["fixed", "ball", "revolute"] {
        let more = json!([
            { "name": "rail", "type": "box", "params": { "size": [0.3, 0.1, 0.3], "center": [2.5, 3, 0] } },
            { "name": "ends", "type": "rigid_object", "inputs": ["rail"],
              "params": { "mass": 5, "division_size": 0.05, "keyframed": true, "end_frame": 4 } },
            { "name": "odd", "type": "rigid_joint",
              "params": { "joint_type": kind, "body_a": "ends", "body_b": "weight", "pivot": [2.5, 2.5, 0] } }
        ]);
        let shot = Shot::new(&shot_of(8, 0.0, &["ends", "odd"], more));
        shot.cook(&[]);
        let stats = shot.stats();
        let [x, y, z] = place(stats.last().expect("substeps"), "weight", 0);
        let fallen = |frames: f64| 0.5 * 9.81 * (frames / 24.0f64).powi(2);
        assert!((x - 2.5).abs() < 1e-6 && z.abs() < 1e-6, "{kind}: at {x}, {y}, {z}");
        assert!((fallen(2.0)..fallen(5.0)).contains(&(2.0 - y)), "{kind}: at {y} m");
    }
}

#[test]
fn joints_that_cannot_be_are_refused_with_one_sentence() {
    let joint = |params: Value| {
        json!([
            { "name": "later", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0, 3.5, 0] } },
            { "name": "late", "type": "rigid_object", "inputs": ["later"], "params": { "start_frame": 2 } },
            { "name": "odd", "type": "rigid_joint", "params": params }
        ])
    };
    for (params, words) in [
        (json!({ "body_a": "door" }), &["odd", "door", "`lid`"][..]),
        (json!({ "body_a": "late" }), &["odd", "`late`", "have begun", "`lid`", "let the joint begin later"]),
        (json!({ "body_a": "links:9" }), &["odd", "links", "ids 0 to 3"]),
        (json!({ "body_a": "lid", "pivot": [1e17, 0, 0] }), &["odd", "pivot: 1e17, 0, 0 m", "1e9 m"]),
        (
            json!({ "body_a": "lid", "joint_type": "spring", "stiffness": 1, "rest_length": 1e12 }),
            &["odd", "rest_length: 1e12 m", "1e9 m"],
        ),
        (json!({ "body_a": "links" }), &["odd", "4 bodies", "links:0"]),
        (json!({ "body_a": "links:two" }), &["odd", "`links:two`", "number", "links:0"]),
        (json!({ "body_a": "lid", "limited": true, "limit_high": -5 }), &["odd", "limit_high", "below 0"]),
        (json!({ "body_a": "lid", "body_b": "lid" }), &["odd", "`lid`", "itself"]),
        (json!({}), &["odd", "no body"]),
        (json!({ "body_a": "lid", "chain": true }), &["odd", "chain", "one body"]),
        (json!({ "body_a": "lid", "axis": [0, 0, 0] }), &["odd", "axis"]),
        (
            json!({ "body_a": "lid", "joint_type": "revolute", "limited": true, "limit_low": 20, "limit_high": 10 }),
            &["odd", "limit_low", "limit_high"],
        ),
    ] {
        let shot = Shot::new(&shot_of(3, 0.0, &["late", "odd"], joint(params)));
        let sentence = shot.refused(&[]);
        assert!(words.iter().all(|w| sentence.contains(w)), "{sentence} lacks one of {words:?}");
    }
}

/// Joints may close a loop: two rods of equal length and a bar between their ends are a parallelogram, whose bar does not turn.
#[test]
fn joints_may_close_a_loop() {
    let body = |name: &str, size: [f64; 3], center: [f64; 3]| {
        let mesh = format!("{name}_mesh");
        [
            json!({ "name": mesh, "type": "box", "params": { "size": size, "center": center } }),
            json!({ "name": name, "type": "rigid_object", "inputs": [mesh], "params": { "division_size": 0.05 } }),
        ]
    };
    let hinge = |name: &str, b: &str, x: f64, y: f64| {
        let a = if x > 0.0 { "right" } else { "left" };
        json!({ "name": name, "type": "rigid_joint",
                "params": { "joint_type": "revolute", "body_a": a, "body_b": b, "pivot": [x, y, 0], "axis": [0, 0, 1] } })
    };
    let mut nodes = [
        body("left", [0.04, 0.4, 0.04], [0.0, 1.8, 0.0]),
        body("right", [0.04, 0.4, 0.04], [0.5, 1.8, 0.0]),
        body("bar", [0.5, 0.04, 0.04], [0.25, 1.6, 0.0]),
    ]
    .concat();
    nodes.extend([hinge("a", "", 0.0, 2.0), hinge("b", "", 0.5, 2.0)]);
    nodes.extend([hinge("c", "bar", 0.0, 1.6), hinge("d", "bar", 0.5, 1.6)]);
    nodes.push(json!({ "name": "gravity", "type": "gravity", "params": { "force": [6, -9.81, 0] } }));
    nodes.push(json!({ "name": "rigid", "type": "rigid_solver",
        "inputs": ["left", "right", "bar", "a", "b", "c", "d", "gravity"],
        "params": { "limit_center": [0, 2, 0], "limit_size": [8, 4, 8] } }));
    let shot = Shot::new(&json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 16],
        "substeps": { "min": 4, "max": 8, "cfl": 1.0 }, "nodes": nodes }));
    shot.cook(&[]);
    let stats = shot.stats();
    let last = stats.last().expect("substeps");
    let turn = |n: usize| last["bodies"][n]["orient"][2].as_f64().expect("a number");
    assert!(turn(0) > 0.1 && (turn(0) - turn(1)).abs() < 1e-5 && turn(2).abs() < 1e-5, "{last}");
}
