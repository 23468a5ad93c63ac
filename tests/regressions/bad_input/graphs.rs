//! Malformed graphs and parameter values.

use super::{says, tank, tank_with};
use meniscus_tests::shot::{Shot, one_sentence};
use meniscus_tests::{cook, meniscus};
use serde_json::{Value, json};

/// [`tank`] with a parameter of a node set.
fn with(node: usize, param: &str, value: Value) -> Value {
    let mut graph = tank();
    graph["nodes"][node]["params"][param] = value;
    graph
}

const WATER: usize = 1;
const FLIP: usize = 3;
const CACHE: usize = 4;
const POINTS: usize = 5;

#[test]
fn malformed_graphs_are_refused_before_anything_is_written() {
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    let text = tank().to_string();
    let edited = |edit: fn(&mut Value)| {
        let mut graph = tank();
        edit(&mut graph);
        graph.to_string()
    };
    let cases = [
        ("water, please".to_owned(), vec!["shot.meniscus.json", "line 1"]),
        (text[..text.len() / 2].to_owned(), vec!["shot.meniscus.json", "line 1"]),
        (edited(|g| g["format"] = json!("meniscus.graph/7")), vec!["meniscus.graph/7", "meniscus.graph/1"]),
        (
            edited(|g| g["nodes"][0]["type"] = json!("boks")),
            vec!["node `fill`", "boks", "did you mean `box`?"],
        ),
        (
            edited(|g| g["nodes"][0]["params"]["sise"] = json!(1)),
            vec!["node `fill`", "`sise`", "did you mean `size`?"],
        ),
        (
            edited(|g| g["nodes"][0]["params"]["size"] = json!("big")),
            vec!["node `fill`", "`size`", "found the text \"big\""],
        ),
        (
            edited(|g| g["nodes"][3]["inputs"] = json!(["watre", "gravity"])),
            vec!["node `flip`", "`watre`", "did you mean `water`?"],
        ),
        (
            edited(|g| {
                g["nodes"][0] = json!({ "name": "fill", "type": "transform", "inputs": ["turn"] });
                let turn = json!({ "name": "turn", "type": "transform", "inputs": ["fill"] });
                g["nodes"].as_array_mut().expect("nodes").push(turn);
            }),
            vec!["in a circle", "fill", "turn"],
        ),
    ];
    for (graph, words) in cases {
        shot.graph(graph.as_bytes());
        says(&shot.refused(&[]), &words);
    }
    shot.graph(b"\xff\xfe{");
    says(&shot.refused(&[]), &["UTF-8"]);
    std::fs::remove_file(shot.path("shot.meniscus.json")).expect("the graph can be removed");
    says(&shot.refused(&[]), &["cannot read the graph", "shot.meniscus.json"]);
}

/// A source of liquid of that density, in a box of its own.
fn tap(density: Value) -> Value {
    json!({ "name": "tap", "type": "liquid_source", "inputs": ["fill"], "params": { "density": density } })
}

#[test]
fn values_that_cannot_be_meant_are_refused() {
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    for (graph, words) in [
        (with(WATER, "particle_separation", json!(-0.1)), ["node `water`", "particle_separation", "-0.1"]),
        (with(WATER, "particle_separation", json!(0)), ["node `water`", "particle_separation", "above 0"]),
        (
            with(WATER, "particle_separation", json!(1e-7)),
            ["node `water`", "particle_separation", "would fill"],
        ),
        (
            with(WATER, "particle_separation", json!(1e-4)),
            ["node `water`", "particle_separation", "would fill"],
        ),
        (
            with(WATER, "particle_separation", json!(10.0)),
            ["node `water`", "particle_separation", "holds no particle"],
        ),
        (with(WATER, "grid_scale", json!(0)), ["node `water`", "grid_scale", "0"]),
        (with(WATER, "density", json!(-1000)), ["node `water`", "density", "-1000"]),
        (with(WATER, "viscosity", json!(-1)), ["node `water`", "viscosity", "-1"]),
        (with(WATER, "viscosity", json!(1e12)), ["node `water`", "viscosity", "from 0 to 1e9"]),
        (with(FLIP, "surface_tension", json!(-0.07)), ["node `flip`", "surface_tension", "-0.07"]),
        (with(WATER, "velocity", json!([0, 1e300, 0])), ["node `water`", "velocity", "too large"]),
        (with(FLIP, "limit_size", json!([0.2, 0, 0.2])), ["node `flip`", "limit_size", "holds nothing"]),
        (tank_with(tap(json!(0))), ["node `tap`", "density", "above 0"]),
        (with(FLIP, "side_neg_x", json!("shut")), ["node `flip`", "side_neg_x", "closed, open, kill"]),
    ] {
        shot.graph(graph.to_string().as_bytes());
        says(&shot.refused(&[]), &words);
    }
    // JSON has no NaN; on the command line one may be typed.
    shot.graph(tank().to_string().as_bytes());
    says(&shot.refused(&["--set", "water.particle_separation=NaN"]), &["particle_separation", "NaN"]);
    says(&shot.refused(&["--set", "water.particle_separation"]), &["water.particle_separation"]);
}

/// [`tank`] with its air kept at this rate.
fn airtight(volume_gain: Value) -> Value {
    let mut graph = tank();
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    let params = json!({ "volume_gain": volume_gain });
    let air = json!({ "name": "air", "type": "constraint_bubbles", "inputs": ["flip"], "params": params });
    for node in &mut nodes[CACHE..] {
        node["inputs"] = json!(["air"]);
    }
    nodes.insert(CACHE, air);
    graph
}

#[test]
fn a_gain_is_not_negative_and_any_other_is_survived() {
    let shot = Shot::new(&airtight(json!(-1)));
    says(&shot.refused(&[]), &["node `air`", "volume_gain", "-1"]);
    for gain in [0.0, 1e6] {
        let cooked = cook(&airtight(json!(gain)), &[]);
        let stats = cooked.stats();
        let volume = |r: &Value| r["objects"]["water"]["volume"].as_f64().expect("a volume");
        let (first, last) = (volume(&stats[0]), volume(&stats[stats.len() - 1]));
        assert!((last / first - 1.0).abs() < 0.02, "{last} m³ of {first} with a gain of {gain}");
    }
}

/// More surface tension than the substeps bear is held to what they do, and somebody is told once.
#[test]
fn a_huge_surface_tension_is_told_and_survived() {
    let cooked = cook(&with(FLIP, "surface_tension", json!(1e9)), &[]);
    let told = cooked.stderr();
    for word in ["flip:", "surface_tension", "substeps.max"] {
        assert!(told.contains(word), "{word} in: {told}");
    }
    assert_eq!(told.matches("substeps.max").count(), 1, "{told}");
    for record in cooked.stats() {
        let energy = record["objects"]["water"]["kinetic_energy"].as_f64().expect("an energy");
        // The block weighs 4 kg and lies still: whatever moves it is the surface.
        assert!(energy < 0.5, "{energy} J");
    }
}

#[test]
fn colliders_of_an_impossible_division_size_are_refused() {
    let graph = |size: Value| {
        let mut graph = tank();
        let nodes = graph["nodes"].as_array_mut().expect("nodes");
        nodes[FLIP]["inputs"].as_array_mut().expect("inputs").push(json!("pillar"));
        nodes.insert(0, json!({ "name": "post", "type": "box", "params": { "size": [0.05, 0.5, 0.05] } }));
        nodes.insert(
            1,
            json!({ "name": "pillar", "type": "static_object", "inputs": ["post"], "params": { "division_size": size } }),
        );
        graph
    };
    let shot = Shot::new(&tank());
    shot.cook(&[]);
    for size in [json!(-0.01), json!(0), json!(1e-6), json!(1e-12)] {
        shot.graph(graph(size.clone()).to_string().as_bytes());
        says(&shot.refused(&[]), &["node `pillar`", "division_size"]);
    }
}

/// The first frame is the state before anything moved: what the first solve makes is in the files after it.
#[test]
fn caches_leave_out_what_is_not_made_yet_and_refuse_what_never_is() {
    let shot = Shot::new(&with(CACHE, "grids", json!(["surface", "pressure"])));
    shot.cook(&[]);
    let grids = |frame: u32| {
        let file = shot.out().join(format!("cache/cache.{frame:04}.vdb"));
        let output = meniscus(&["inspect"]).arg(file).output().expect("meniscus starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(grids(1).contains("surface") && !grids(1).contains("pressure"), "{}", grids(1));
    assert!(grids(2).contains("surface") && grids(2).contains("pressure"), "{}", grids(2));

    for (node, param, value) in [(CACHE, "grids", "presure"), (POINTS, "geometry", "partcles")] {
        let graph = with(node, param, json!([value]));
        shot.graph(graph.to_string().as_bytes());
        let name = graph["nodes"][node]["name"].as_str().expect("a name");
        let words = [name, param, value, if node == CACHE { "pressure" } else { "particles" }];
        says(&shot.refused(&[]), &words);
        let check = meniscus(&["check"]).arg(shot.path("shot.meniscus.json")).output().expect("it starts");
        says(&one_sentence(&check), &words);
    }
}
