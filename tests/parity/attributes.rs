//! Attributes that users put on particles stay with them, and reach those that reseeding makes.

use super::splash;
use meniscus_tests::points::whole_numbers;
use meniscus_tests::{c, shot::Shot};
use serde_json::json;
use std::collections::BTreeMap;

const FRAMES: u32 = 10;

/// The splash with every particle marked by the side it starts on, and a source of unmarked ones from frame 5.
fn marked() -> Shot {
    let mut graph = splash(FRAMES);
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    let flip = nodes.iter_mut().find(|n| n["name"] == "flip").expect("a solver");
    for force in ["tag", "tap"] {
        flip["inputs"].as_array_mut().expect("inputs").push(json!(force));
    }
    nodes.push(json!({ "name": "tag", "type": "test.tag" }));
    nodes.push(json!({ "name": "mouth", "type": "box", "params": { "size": [0.06, 0.04, 0.06], "center": [0.12, 0.36, 0.0] } }));
    nodes.push(json!({ "name": "tap", "type": "liquid_source", "inputs": ["mouth"],
                       "params": { "velocity": [0, -1, 0], "start_frame": 5 } }));
    let points = nodes.iter_mut().find(|n| n["name"] == "points").expect("a cache");
    points["params"] = json!({ "attributes": "id tag" });
    let shot = Shot::new(&graph);
    c::plugin("tests/abi/c_tag.c", &[], &shot.plugins());
    shot.cook(&[]);
    shot
}

#[test]
fn attributes_follow_their_particles_and_reseeding_copies_them() {
    let shot = marked();
    let tags = |frame: u32| -> BTreeMap<i64, i64> {
        let file = shot.out().join(format!("points/points.{frame:04}.geo"));
        whole_numbers(&file, "id").into_iter().zip(whole_numbers(&file, "tag")).collect()
    };
    let (first, before, last) = (tags(2), tags(5), tags(FRAMES));
    for frame in [1, 2] {
        assert!(first.values().any(|&tag| tag == frame), "the start has particles marked {frame}");
    }
    for (id, tag) in &last {
        let was = first.get(id).unwrap_or(tag);
        assert_eq!(was, tag, "particle {id} changed its mark");
    }
    // Until the tap opens, who is not of the start was made by reseeding.
    let first_id = first.keys().max().expect("particles");
    let born = before.iter().filter(|(id, _)| *id > first_id).count();
    assert!(born > 20, "the test needs particles that were made: {born}");
    assert!(before.values().all(|tag| [1, 2].contains(tag)), "particles that reseeding made carry no mark");
    // The tap's own carry none: nobody has marked them.
    assert!(last.values().any(|&tag| tag == 0), "the tap gave no particles");
}
