//! The liquid mesher: closed meshes with the particles' volume, the same bytes however they are cooked, and a liquid that is
//! as it would be without them.

use meniscus_tests::shot::Shot;
use meniscus_tests::{assert_same_files, files};
use serde_json::{Value, json};

/// A column of water breaks in a closed tank with a post.
fn breaking(last: i32, meshed: bool) -> Value {
    let mut nodes = json!([
        { "name": "column", "type": "box", "params": { "size": [0.6, 1.2, 0.6], "center": [-0.7, 0.6, 0] } },
        { "name": "water", "type": "liquid_object", "inputs": ["column"], "params": { "particle_separation": 0.05 } },
        { "name": "mast", "type": "box", "params": { "size": [0.2, 0.8, 0.2], "center": [0.4, 0.4, 0] } },
        { "name": "post", "type": "static_object", "inputs": ["mast"], "params": { "division_size": 0.1 } },
        { "name": "gravity", "type": "gravity" },
        { "name": "a_flip", "type": "flip_solver", "inputs": ["water", "post", "gravity"], "params": {
            "limit_center": [0, 1, 0], "limit_size": [2, 2, 0.6], "side_neg_x": "closed", "side_pos_x": "closed",
            "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" } },
        { "name": "liquid", "type": "geometry_cache", "inputs": ["a_flip"] },
    ]);
    let more = json!([
        { "name": "skin", "type": "mesh_object" },
        { "name": "a_mesher", "type": "liquid_mesher", "inputs": ["skin", "water", "post"] },
        { "name": "mesh", "type": "geometry_cache", "inputs": ["a_mesher"], "params": { "geometry": ["render_mesh"] } },
    ]);
    let list = nodes.as_array_mut().expect("an array");
    if meshed {
        list.extend(more.as_array().expect("an array").iter().cloned());
    }
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, last], "substeps": { "min": 1, "max": 4, "cfl": 2.0 }, "nodes": nodes })
}

#[test]
fn it_has_the_same_bytes_however_it_is_cooked_and_leaves_the_liquid_alone() {
    let whole = Shot::new(&breaking(12, true));
    whole.cook(&["--threads", "1"]);
    let (fresh, resumed) = (Shot::new(&breaking(12, true)), Shot::new(&breaking(7, true)));
    fresh.cook(&["--threads", "3", "--drop-caches"]);
    resumed.cook(&["--threads", "2"]);
    resumed.graph(breaking(12, true).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    for other in [&fresh, &resumed] {
        assert_same_files(&whole.path("out/mesh"), &other.path("out/mesh"), &[]);
    }
    let alone = Shot::new(&breaking(12, false));
    alone.cook(&[]);
    assert_same_files(&alone.path("out/liquid"), &whole.path("out/liquid"), &[]);
    assert_eq!(files(&whole.path("out/mesh"), &[]).len(), 12);

    let meshed: Vec<Value> = whole.stats();
    let last = meshed.last().expect("a record");
    let volume = last["objects"]["water"]["volume"].as_f64().expect("a volume");
    let of = |what: &str| last["objects"]["skin"][what].as_f64().expect("a figure");
    assert!(of("mesh_lacked_volume").abs() < 0.02 * volume, "before it is moved: {last}");
    assert!(of("mesh_lacks_volume").abs() < 1e-4 * volume, "{last}");
}
