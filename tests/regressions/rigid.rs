//! Rigid bodies through the whole program: the same bytes however a shot is cooked, what liquids feel of them, and what
//! is refused.

use meniscus_tests::assert_same_files;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// A shot of some nodes and a rigid solver of `objects`, with a floor at height 0.
fn shot_of(last: i32, mut nodes: Vec<Value>, objects: &[&str], sides: Value) -> Value {
    let mut inputs: Vec<Value> = objects.iter().map(|&o| json!(o)).collect();
    inputs.push(json!("gravity"));
    let mut params = json!({ "limit_center": [0, 2, 0], "limit_size": [8, 4, 8], "side_neg_y": "closed" });
    sides.as_object().expect("sides").iter().for_each(|(k, v)| params[k] = v.clone());
    nodes.push(json!({ "name": "gravity", "type": "gravity" }));
    nodes.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": inputs, "params": params }));
    nodes.push(json!({ "name": "meshes", "type": "geometry_cache", "inputs": ["rigid"] }));
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, last],
            "substeps": { "min": 2, "max": 8, "cfl": 1.0 }, "nodes": nodes })
}

fn crates(count: [i32; 3], params: Value) -> Vec<Value> {
    let places = json!({ "count": count, "spacing": [0.32, 0.3, 0.32],
        "center": [0.0, 0.15 * f64::from(count[1]), 0.0] });
    let mut own = json!({ "density": 300, "division_size": 0.06 });
    params.as_object().expect("parameters").iter().for_each(|(k, v)| own[k] = v.clone());
    vec![
        json!({ "name": "box", "type": "box", "params": { "size": [0.3, 0.3, 0.3] } }),
        json!({ "name": "places", "type": "points", "params": places }),
        json!({ "name": "crates", "type": "rigid_object", "inputs": ["box", "places"], "params": own }),
    ]
}

fn ball(params: Value) -> Vec<Value> {
    let mut own = json!({ "density": 2500, "division_size": 0.06 });
    params.as_object().expect("parameters").iter().for_each(|(k, v)| own[k] = v.clone());
    vec![
        json!({ "name": "round", "type": "sphere", "params": { "radius": 0.2, "center": [-0.8, 0.7, 0.05] } }),
        json!({ "name": "ball", "type": "rigid_object", "inputs": ["round"], "params": own }),
    ]
}

/// A stack that a ball brings down.
fn collapse(last: i32) -> Value {
    let nodes = [crates([2, 4, 1], json!({})), ball(json!({ "velocity": [7, 0, 0] }))].concat();
    shot_of(last, nodes, &["crates", "ball"], json!({}))
}

fn positions(stats: &Value, name: &str) -> Vec<[f64; 3]> {
    let bodies = stats["bodies"].as_array().expect("bodies are listed");
    let at = |b: &Value| std::array::from_fn(|c| b["position"][c].as_f64().expect("a number"));
    bodies.iter().filter(|b| b["name"] == name).map(at).collect()
}

#[test]
fn a_collapsing_stack_gives_the_same_bytes_however_it_is_cooked() {
    let first = Shot::new(&collapse(11));
    first.cook(&["--threads", "1"]);
    let stats = first.stats();
    let last = stats.last().expect("substeps");
    assert!(positions(last, "crates").iter().any(|p| p[1] > 0.5 && p[0] > 0.4), "nothing was hit: {last}");
    for how in [&["--threads", "2"][..], &["--drop-caches"], &["--paranoid"]] {
        let again = Shot::new(&collapse(11));
        again.cook(how);
        assert_same_files(&first.path("out/meshes"), &again.path("out/meshes"), &[]);
    }
    let resumed = Shot::new(&collapse(6));
    resumed.cook(&[]);
    resumed.graph(collapse(11).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    assert_same_files(&first.path("out/meshes"), &resumed.path("out/meshes"), &[]);
}

#[test]
fn bodies_beyond_a_side_that_kills_are_removed_and_fly_on_beyond_an_open_one() {
    for (side, left) in [("kill", 0), ("open", 1)] {
        let sides = json!({ "side_neg_y": side, "limit_center": [0, 0.8, 0], "limit_size": [4, 1, 4] });
        let shot = Shot::new(&shot_of(14, ball(json!({})), &["ball"], sides));
        shot.cook(&[]);
        let stats = shot.stats();
        let there = |s: &Value| s["bodies"].as_array().map_or(0, Vec::len);
        assert_eq!((there(&stats[0]), there(stats.last().expect("substeps"))), (1, left), "{side}");
    }
}

#[test]
fn a_keyframed_body_follows_its_input_and_pushes_others() {
    let mut nodes = crates([1, 1, 1], json!({}));
    nodes.extend([
        json!({ "name": "ram", "type": "box", "params": { "size": [0.2, 0.2, 0.2] } }),
        json!({ "name": "moved", "type": "transform", "inputs": ["ram"],
            "params": { "translate": { "keys": [[1, [-0.6, 0.15, 0]], [13, [0.2, 0.15, 0]]] } } }),
        json!({ "name": "led", "type": "rigid_object", "inputs": ["moved"],
            "params": { "keyframed": true, "division_size": 0.06 } }),
    ]);
    let shot = Shot::new(&shot_of(13, nodes, &["crates", "led"], json!({})));
    shot.cook(&[]);
    let stats = shot.stats();
    let last = stats.last().expect("substeps");
    assert!((positions(last, "led")[0][0] - 0.2).abs() < 1e-5, "{last}");
    assert!(positions(last, "crates")[0][0] > 0.43, "{last}");
}

/// A pool, with balls falling into it at some places.
fn pool(places: &[f64]) -> Value {
    let walls = json!({ "limit_center": [0, 0.4, 0], "limit_size": [1.2, 0.8, 0.4], "side_neg_x": "closed", "side_pos_x": "closed",
        "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    let mut nodes = vec![
        json!({ "name": "fill", "type": "box", "params": { "size": [1.2, 0.3, 0.4], "center": [0, 0.15, 0] } }),
        json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.025 } }),
        json!({ "name": "gravity", "type": "gravity" }),
    ];
    let mut bodies = Vec::new();
    for (n, x) in places.iter().enumerate() {
        let (ball, place) = (format!("ball{n}"), format!("place{n}"));
        nodes.push(json!({ "name": ball, "type": "sphere", "params": { "radius": 0.1 } }));
        nodes.push(json!({ "name": place, "type": "points", "params": { "center": [x, 0.42, 0] } }));
        bodies.extend([ball, place]);
    }
    let mut wired = vec![json!("water"), json!("gravity")];
    if !places.is_empty() {
        // One mesh, several points.
        let inputs: Vec<&String> =
            bodies.iter().filter(|b| b.starts_with("place") || *b == "ball0").collect();
        nodes.retain(|n| !n["name"].as_str().is_some_and(|n| n.starts_with("ball") && n != "ball0"));
        nodes.push(json!({ "name": "balls", "type": "rigid_object", "inputs": inputs, "params": { "velocity": [0, -1, 0], "division_size": 0.05 } }));
        nodes.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": ["balls", "gravity"], "params": walls }));
        wired.push(json!("balls"));
    }
    nodes.push(json!({ "name": "flip", "type": "flip_solver", "inputs": wired, "params": walls }));
    nodes.push(json!({ "name": "cache", "type": "geometry_cache", "inputs": ["flip"] }));
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 4], "substeps": { "min": 1, "max": 8, "cfl": 1.0 }, "nodes": nodes })
}

#[test]
fn a_liquid_meets_every_copy_of_a_body() {
    let energy = |places: &[f64]| {
        let shot = Shot::new(&pool(places));
        shot.cook(&[]);
        let stats = shot.stats();
        stats.last().expect("substeps")["objects"]["water"]["kinetic_energy"].as_f64().expect("an energy")
    };
    let (none, left, right, both) = (energy(&[]), energy(&[-0.3]), energy(&[0.3]), energy(&[-0.3, 0.3]));
    assert!(none < 0.02 * left, "{none} {left}");
    assert!((both / (left + right) - 1.0).abs() < 0.2, "{left} + {right} is not {both}");
}

#[test]
fn bodies_that_cannot_be_are_refused_with_one_sentence() {
    let gives = |nodes: Vec<Value>, objects: &[&str], words: &[&str]| {
        let shot = Shot::new(&shot_of(2, nodes, objects, json!({})));
        let sentence = shot.refused(&[]);
        for word in words {
            assert!(sentence.contains(word), "`{word}` is missing in: {sentence}");
        }
    };
    let changed = |at: usize, node: Value| {
        let mut nodes = crates([1, 1, 1], json!({}));
        nodes[at] = node;
        nodes
    };
    let sheet = json!({ "name": "box", "type": "grid", "params": {} });
    gives(changed(0, sheet), &["crates"], &["node `crates`", "`box`", "not watertight"]);
    let file = json!({ "name": "box", "type": "file", "params": { "file": "in.obj" } });
    let shot = Shot::new(&shot_of(2, changed(0, file), &["crates"], json!({})));
    shot.file("in.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
    let sentence = shot.refused(&[]);
    assert!(sentence.contains("node `crates`") && sentence.contains("inside out"), "{sentence}");
    let twice = json!({ "name": "box", "type": "merge", "inputs": ["outer", "inner"] });
    let mut nodes = changed(0, twice);
    nodes.insert(0, json!({ "name": "outer", "type": "box", "params": { "size": [0.3, 0.3, 0.3] } }));
    nodes.insert(0, json!({ "name": "inner", "type": "box", "params": { "size": [0.1, 0.1, 0.1] } }));
    gives(nodes, &["crates"], &["node `crates`", "`box`", "lies within another", "weigh twice"]);
    gives(
        crates([1, 1, 1], json!({ "density": 0 })),
        &["crates"],
        &["node `crates`", "density must be above 0, not 0"],
    );
    let near = json!({ "name": "places", "type": "points",
        "params": { "count": [2, 1, 1], "spacing": [0.2, 0, 0], "center": [0, 0.15, 0] } });
    gives(
        changed(1, near),
        &["crates"],
        &["node `rigid`", "body 0 of `crates`", "overlap by 0.1 m", "move them apart"],
    );
    let far = json!({ "name": "places", "type": "points", "params": { "center": [0, 9, 0] } });
    gives(changed(1, far), &["crates"], &["node `rigid`", "`crates` starts outside of the box"]);
    let sunk = json!({ "name": "places", "type": "points", "params": { "center": [0, 0.05, 0] } });
    gives(changed(1, sunk), &["crates"], &["node `rigid`", "across a closed side"]);
    let mut nodes = crates([1, 1, 1], json!({}));
    nodes.push(
        json!({ "name": "slab", "type": "box", "params": { "size": [1, 0.3, 1], "center": [0, 0.1, 0] } }),
    );
    nodes.push(json!({ "name": "floor", "type": "static_object", "inputs": ["slab"], "params": { "division_size": 0.03 } }));
    gives(nodes, &["crates", "floor"], &["node `rigid`", "`crates`", "deep in `floor`"]);
    let nodes = crates([2, 1, 1], json!({ "keyframed": true }));
    gives(nodes, &["crates"], &["node `crates`", "keyframed", "leave out the points"]);
    let mut nodes = crates([1, 1, 1], json!({ "keyframed": true }));
    nodes[0]["params"]["size"] = json!({ "keys": [[1, [0.3, 0.3, 0.3]], [2, [0.3, 0.4, 0.3]]] });
    nodes[2]["inputs"] = json!(["box"]);
    gives(
        nodes,
        &["crates"],
        &["node `crates`", "changes its form", "translate and rotate", "static_object"],
    );
    let mut nodes = crates([1, 1, 1], json!({}));
    nodes[2]["inputs"] = json!(["places"]);
    gives(nodes, &["crates"], &["node `crates`", "no mesh is wired in"]);
}

/// A keyed shape that moves as a whole, and the same moved by a transform, lead a body and what lies on it alike.
#[test]
fn a_body_follows_its_mesh_whether_the_mesh_or_a_transform_after_it_is_keyed() {
    let ways = json!({ "keys": [[1, [0, 1, 0]], [5, [0.3, 1, 0]], [9, [0.3, 1.4, 0.2]]] });
    let turns = json!({ "keys": [[1, [0, 0, 0]], [9, [0, 40, 10]]] });
    for (kind, mut params, turning) in [
        ("box", json!({ "size": [0.8, 0.2, 0.8] }), true),
        ("tube", json!({ "height": 0.2, "columns": 12 }), true),
        ("sphere", json!({ "radius": 0.3, "rows": 8, "columns": 12 }), false),
    ] {
        let mut places = json!({ "translate": ways });
        let shape = json!({ "name": "slab", "type": kind, "params": params });
        params["center"] = ways.clone();
        if turning {
            (params["rotate"], places["rotate"]) = (turns.clone(), turns.clone());
        }
        let keyed = json!({ "name": "moved", "type": kind, "params": params });
        let moved = json!({ "name": "moved", "type": "transform", "inputs": ["slab"], "params": places });
        let led = json!({ "name": "led", "type": "rigid_object", "inputs": ["moved"],
            "params": { "keyframed": true, "division_size": 0.05 } });
        let cooked = |meshes: &[Value]| {
            let mut nodes = crates([1, 1, 1], json!({}));
            nodes[1]["params"]["center"] = json!([0.0, 1.5, 0.0]);
            nodes.extend(meshes.iter().chain([&led]).cloned());
            let shot = Shot::new(&shot_of(9, nodes, &["crates", "led"], json!({})));
            shot.cook(&[]);
            let last = shot.stats().last().expect("substeps").clone();
            [positions(&last, "led")[0], positions(&last, "crates")[0]]
        };
        let [own, by_transform] = [cooked(&[keyed]), cooked(&[shape, moved])];
        let off = own.iter().flatten().zip(by_transform.iter().flatten()).map(|(a, b)| (a - b).abs());
        let off = off.fold(0.0, f64::max);
        assert!(off < 1e-4, "{kind}: {own:?}, {by_transform:?}");
        assert!((own[0][1] - 1.4).abs() < 1e-5, "{kind} is led to {own:?}");
    }
}

/// A crate that has fallen asleep on `support`, and where it is in the last frame.
fn rested_on(support: &[Value], last: i32) -> [f64; 3] {
    let mut nodes = crates([1, 1, 1], json!({}));
    nodes[1]["params"]["center"] = json!([0.0, 1.25, 0.0]);
    nodes.extend(support.iter().cloned());
    let shot = Shot::new(&shot_of(last, nodes, &["crates", "support"], json!({})));
    shot.cook(&[]);
    let stats = shot.stats();
    let asleep = |s: &Value| {
        let mut bodies = s["bodies"].as_array().expect("bodies").iter();
        bodies.any(|b| b["name"] == "crates" && b["asleep"] == true)
    };
    assert!(stats.iter().any(asleep), "it never slept");
    positions(stats.last().expect("substeps"), "crates")[0]
}

#[test]
fn a_sleeping_body_falls_when_its_support_ends_or_goes() {
    let slab =
        json!({ "name": "slab", "type": "box", "params": { "size": [1, 0.2, 1], "center": [0, 1, 0] } });
    let of = |kind: &str, params: Value| {
        let mut params = params;
        params["division_size"] = json!(0.05);
        json!({ "name": "support", "type": kind, "inputs": ["moved"], "params": params })
    };
    let moved = |to: [f64; 3]| {
        json!({ "name": "moved", "type": "transform", "inputs": ["slab"],
            "params": { "translate": { "keys": [[1, [0, 0, 0]], [24, [0, 0, 0]], [30, to]] } } })
    };
    let still = moved([0.0; 3]);
    for (support, moved) in [
        (of("static_object", json!({ "end_frame": 24 })), still.clone()),
        (of("rigid_object", json!({ "keyframed": true, "end_frame": 24 })), still.clone()),
        (of("rigid_object", json!({ "keyframed": true })), moved([0.0, -0.5, 0.0])),
        (of("rigid_object", json!({ "keyframed": true })), moved([3.0, 0.0, 0.0])),
        (of("static_object", json!({})), moved([0.0, -0.5, 0.0])),
    ] {
        let at = rested_on(&[slab.clone(), moved, support.clone()], 36);
        assert!(at[1] < 1.05, "{support}: {at:?}");
    }
}

#[test]
fn a_solver_that_begins_later_finds_its_bodies_at_rest() {
    let nodes = crates([1, 1, 1], json!({}));
    let mut graph = shot_of(12, nodes, &["crates"], json!({ "start_frame": 10 }));
    graph["nodes"][1]["params"]["center"] = json!([0.0, 2.0, 0.0]);
    let shot = Shot::new(&graph);
    shot.cook(&[]);
    let stats = shot.stats();
    let at = positions(stats.last().expect("substeps"), "crates")[0][1];
    let fallen = 0.5 * 9.81 * (2.0f64 / 24.0).powi(2);
    assert!((2.0 - at - fallen).abs() < 1e-4, "{at}, fallen {fallen}");
}

#[test]
fn a_body_that_begins_later_is_the_only_one_asked_how_it_begins() {
    let late = |center: [f64; 3]| {
        let mut nodes = crates([1, 2, 1], json!({}));
        nodes[1]["params"]["spacing"] = json!([0.3, 0.31, 0.3]);
        nodes[1]["params"]["center"] = json!([0, 0.31, 0]);
        nodes.extend(ball(json!({ "start_frame": 3 })));
        nodes[3]["params"]["center"] = json!(center);
        let mut graph = shot_of(4, nodes, &["crates", "ball"], json!({}));
        graph["substeps"] = json!({ "min": 1, "max": 1, "cfl": 1.0 });
        graph
    };
    Shot::new(&late([3.0, 1.0, 0.0])).cook(&[]);
    let sentence = Shot::new(&late([0.0, 0.5, 0.0])).refused(&[]);
    assert!(sentence.contains("overlap") && sentence.contains("`ball`"), "{sentence}");
}

#[test]
fn numbers_that_no_body_can_have_are_refused() {
    for (params, words) in [
        (json!({ "spin": [0, 1e30, 0] }), ["spin", "too fast", "100000 rad/s"]),
        (json!({ "velocity": [0, 1e30, 0] }), ["velocity", "too fast", "m/s"]),
        (json!({ "group": 1099511627776i64 }), ["group", "1099511627776", "32 groups"]),
        (json!({ "mask": -2 }), ["mask", "-2", "32 groups"]),
        (json!({ "mass": 1e-40 }), ["node `crates`", "weigh 1e-40 kg", "cannot be computed with"]),
        (json!({ "mass": 1e-320 }), ["node `crates`", "weigh 1e-320 kg", "cannot be computed with"]),
        (json!({ "density": 1e-300 }), ["node `crates`", "weigh 2.7e-302 kg", "cannot be computed with"]),
        (json!({ "padding": 1e9 }), ["node `crates`", "padding: 1e9 m", "the body is large, 0.52 m"]),
    ] {
        let shot = Shot::new(&shot_of(2, crates([1, 1, 1], params), &["crates"], json!({})));
        let sentence = shot.refused(&[]);
        for word in words {
            assert!(sentence.contains(word), "`{word}` is missing in: {sentence}");
        }
    }
}

#[test]
fn contacts_that_do_not_settle_are_told_once() {
    let mut held = crates([1, 8, 1], json!({}));
    let glue =
        json!({ "joint_type": "fixed", "body_a": "crates:6", "body_b": "crates:7", "pivot": [0, 2.1, 0] });
    held.push(json!({ "name": "glue", "type": "rigid_joint", "params": glue }));
    for (nodes, objects, told) in
        [(crates([1, 8, 1], json!({})), &["crates"][..], 0), (held, &["crates", "glue"], 1)]
    {
        let shot = Shot::new(&shot_of(4, nodes, objects, json!({ "contact_iterations": 10 })));
        let output = shot.command(&[]).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).matches("the contacts have not settled").count();
        assert_eq!(said, told, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn keyframes_that_jump_are_told_of_once() {
    for (far, told) in [(0.5, 0), (500.0, 1)] {
        let mut nodes = crates([1, 2, 1], json!({}));
        let key = json!({ "keys": [[1, [-2, 0, 0]], [3, [-2, 0, 0]], [4, [-2.0 - far, 0, 0]]] });
        nodes.push(json!({ "name": "block", "type": "box", "params": { "size": [0.3, 0.3, 0.3], "center": [0, 0.5, 0] } }));
        nodes.push(json!({ "name": "moved", "type": "transform", "inputs": ["block"], "params": { "translate": key } }));
        nodes.push(json!({ "name": "keyed", "type": "rigid_object", "inputs": ["moved"],
            "params": { "keyframed": true, "division_size": 0.06 } }));
        let shot = Shot::new(&shot_of(5, nodes, &["crates", "keyed"], json!({})));
        let output = shot.command(&[]).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches("`keyed` is keyed to move by").count(), told, "{said}");
    }
}

/// A field with voxels as large as a solid shows nothing of it: liquids would go through it, and it would sink.
#[test]
fn solids_that_their_fields_cannot_show_are_told_of() {
    for (size, told) in [(0.06, 0), (0.29, 0), (0.5, 1), (5.0, 1)] {
        let shot = Shot::new(&shot_of(
            1,
            crates([1, 1, 1], json!({ "division_size": size })),
            &["crates"],
            json!({}),
        ));
        let output = shot.command(&[]).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches("set division_size to 0.15 or less").count(), told, "{size}: {said}");
        assert_eq!(said.matches("warning: crates:").count(), told, "{size}: {said}");
    }
}

/// What a cook that succeeds warns of, and whether the crate's middle ends beyond a side.
fn pressed(presser: &[Value], side: &str, at: [f64; 3]) -> (String, [f64; 3]) {
    let mut nodes = crates([1, 1, 1], json!({}));
    nodes[1]["params"]["center"] = json!(at);
    nodes.extend(presser.iter().cloned());
    let sides = json!({ side: "closed" });
    let shot = Shot::new(&shot_of(14, nodes, &["crates", "presser"], sides));
    let output = shot.command(&[]).output().expect("meniscus starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let stats = shot.stats();
    (said, positions(stats.last().expect("substeps"), "crates")[0])
}

/// No wall holds a body that something else presses through it. Where something begins over it, it comes to lie deep in both.
#[test]
fn a_body_beyond_a_closed_side_is_told_of_once() {
    let block = |size: [f64; 3], center: [f64; 3]| json!({ "name": "block", "type": "box", "params": { "size": size, "center": center } });
    let led = |way: [f64; 3]| {
        json!([{ "name": "moved", "type": "transform", "inputs": ["block"],
            "params": { "translate": { "keys": [[1, [0, 0, 0]], [14, way]] } } },
            { "name": "presser", "type": "rigid_object", "inputs": ["moved"],
            "params": { "keyframed": true, "division_size": 0.05 } }])
    };
    let begins = json!([{ "name": "presser", "type": "static_object", "inputs": ["block"],
        "params": { "division_size": 0.05, "start_frame": 4 } }]);
    let with = |block: Value, nodes: &Value| -> Vec<Value> {
        [block].into_iter().chain(nodes.as_array().expect("nodes").iter().cloned()).collect()
    };
    let floor = ("side_neg_y", [0.0, 0.15, 0.0]);
    let wall = ("side_pos_x", [3.85, 0.15, 0.0]);
    for (presser, (side, at), beyond) in [
        (with(block([1.0, 1.0, 1.0], [0.0, 0.5, 0.0]), &begins), floor, false),
        (with(block([0.5; 3], [0.0, 0.6, 0.0]), &led([0.0, -0.5, 0.0])), floor, true),
        (with(block([0.5; 3], [3.4, 0.3, 0.0]), &led([0.5, 0.0, 0.0])), wall, true),
        (with(block([0.5; 3], [0.0, 0.6, 0.0]), &led([0.0, 0.5, 0.0])), floor, false),
        (with(block([1.0, 1.0, 1.0], [3.0, 0.5, 0.0]), &begins), floor, false),
    ] {
        let (said, end) = pressed(&presser, side, at);
        let (outside, moved) = (end[1] < 0.0 || end[0] > 4.0, end[1] < 0.1);
        assert_eq!(outside, beyond, "{side} {end:?}");
        let told = format!("m beyond {side}, which is closed");
        assert_eq!(said.matches(&told).count(), usize::from(beyond), "{end:?}: {said}");
        assert_eq!(said.matches("warning: rigid: `crates` lies").count(), usize::from(beyond), "{said}");
        assert_eq!(said.matches("warning: rigid: a body is").count(), usize::from(beyond || moved), "{said}");
    }
}

#[test]
fn a_jump_of_keyframes_is_named_as_such() {
    for (to, fast) in [(1e6, true), (1.0, false)] {
        let nodes = vec![
            json!({ "name": "ram", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0, 1, 0] } }),
            json!({ "name": "moved", "type": "transform", "inputs": ["ram"],
                "params": { "translate": { "keys": [[1, [0, 0, 0]], [2, [0, to, 0]]] } } }),
            json!({ "name": "led", "type": "rigid_object", "inputs": ["moved"], "params": { "keyframed": true } }),
        ];
        let shot = Shot::new(&shot_of(2, nodes, &["led"], json!({})));
        if fast {
            let said = shot.refused_midway();
            assert!(said.contains("`led`") && said.contains("look at the keyframes"), "{said}");
            assert!(!said.contains("mass"), "{said}");
        } else {
            shot.cook(&[]);
        }
    }
}

#[test]
fn substeps_far_too_long_for_bodies_are_told_of_once() {
    for (fps, told) in [(24.0, 0), (1.0, 0), (1e-3, 1)] {
        let mut graph = shot_of(4, crates([1, 1, 1], json!({})), &["crates"], json!({}));
        graph["fps"] = json!(fps);
        let output = Shot::new(&graph).command(&[]).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(
            said.matches("longer than bodies so fast can be followed in").count(),
            told,
            "{fps}: {said}"
        );
    }
}

/// What `check` says a frame takes on the disk, bytes.
fn disk_of(shot: &Shot) -> f64 {
    let output = meniscus_tests::meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output();
    let said = String::from_utf8_lossy(&output.expect("meniscus starts").stdout).into_owned();
    let line = said.lines().find_map(|l| l.strip_prefix("disk: about ")).expect("it is told");
    let mut words = line.split(' ');
    let number: f64 = words.next().and_then(|n| n.parse().ok()).expect("a number");
    let unit = words.next().expect("a unit");
    let power = ["B", "kB", "MB", "GB"].iter().position(|u| *u == unit).expect("a unit of bytes");
    number * 1e3f64.powi(power as i32)
}

#[test]
fn what_bodies_take_on_the_disk_is_told_before() {
    for (rows, columns, count) in [(8, 16, [1, 1, 1]), (40, 80, [1, 1, 1]), (20, 40, [4, 3, 1])] {
        let mut nodes = crates(count, json!({}));
        nodes[0] = json!({ "name": "box", "type": "sphere",
            "params": { "radius": 0.14, "rows": rows, "columns": columns } });
        let shot = Shot::new(&shot_of(2, nodes, &["crates"], json!({})));
        let told = disk_of(&shot);
        shot.cook(&[]);
        let written =
            std::fs::metadata(shot.path("out/meshes/meshes.0002.geo")).expect("it is written").len();
        let share = told / written as f64;
        assert!((0.5..2.0).contains(&share), "{rows} {count:?}: {told} told, {written} written");
    }
}
