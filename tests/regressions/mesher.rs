//! The liquid mesher: the same bytes however it is cooked, and a liquid that is as it would be without it. The volumes are its
//! own estimates; core's tests of the render surface measure the mesh itself.

use crate::breaking::tank;
use meniscus_tests::shot::Shot;
use meniscus_tests::{assert_same_files, files};
use serde_json::{Value, json};

/// The breaking column, with or without its mesh.
fn breaking(last: i32, meshed: bool) -> Value {
    let more = json!([
        { "name": "skin", "type": "mesh_object" },
        { "name": "a_mesher", "type": "liquid_mesher", "inputs": ["skin", "water", "post"] },
        { "name": "mesh", "type": "geometry_cache", "inputs": ["a_mesher"], "params": { "geometry": ["render_mesh"] } },
    ]);
    tank(last, if meshed { more.as_array().expect("an array") } else { &[] })
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
