//! What `--resume` goes on from, and what it refuses.

use meniscus_tests::shot::Shot;
use meniscus_tests::{assert_same_files, meniscus};
use serde_json::{Value, json};

const MESH: &str = "v -0.1 0 -0.1\nv 0.1 0 -0.1\nv 0 0 0.1\nv 0 0.1 0\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";

/// Points made of a mesh from a file fall in a closed box.
fn falling(last: i32) -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, last],
        "substeps": { "min": 1, "max": 2, "cfl": 2.0 },
        "nodes": [
            { "name": "mesh", "type": "file", "params": { "file": "mesh.obj" } },
            { "name": "place", "type": "transform", "inputs": ["mesh"], "params": { "translate": [0.0, 0.1, 0.0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["place"], "params": { "particle_separation": 0.02 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "wind", "type": "gravity", "params": { "force": [0.5, 0.0, 0.0] } },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity", "wind"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] }
        ]
    })
}

fn shot(last: i32) -> Shot {
    let shot = Shot::new(&falling(last));
    shot.file("mesh.obj", MESH.as_bytes());
    shot
}

fn with(last: i32, change: impl FnOnce(&mut Vec<Value>)) -> Vec<u8> {
    let mut graph = falling(last);
    change(graph["nodes"].as_array_mut().expect("a graph has nodes"));
    graph.to_string().into_bytes()
}

fn refuses(shot: &Shot, words: &[&str]) {
    let output = shot.command(&["--resume"]).output().expect("meniscus starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    // A plugin found twice is warned of before.
    let sentence = said.lines().find(|l| l.starts_with("error: ")).unwrap_or_default();
    for word in words.iter().chain(&["cook from the start"]) {
        assert!(sentence.contains(word), "`{word}` is missing in: {sentence}");
    }
}

#[test]
fn a_changed_input_or_output_is_refused_and_named() {
    let shot = shot(2);
    shot.cook(&[]);
    shot.graph(&with(3, |_| ()));
    shot.file("mesh.obj", MESH.replace("0 0.1 0", "0 0.2 0").as_bytes());
    refuses(&shot, &["mesh.obj", "node `mesh`", "not as it was"]);
    shot.file("mesh.obj", MESH.as_bytes());
    shot.graph(&with(3, |n| n[6]["params"] = json!({ "half_float": false })));
    refuses(&shot, &["node `cache`", "`half_float` was true and is false"]);
    shot.graph(&with(3, |n| n[4]["params"]["force"][0] = json!(0.75)));
    refuses(&shot, &["node `wind`", "`force`"]);
    shot.graph(&with(3, |n| n[5]["bypass"] = json!(true)));
    refuses(&shot, &["node `flip`", "keeps part of the state"]);
    shot.graph(&with(3, |_| ()));
    shot.cook(&["--resume"]);
}

#[test]
fn files_that_have_gone_meanwhile_are_told_of() {
    let shot = shot(3);
    shot.cook(&[]);
    let gone = shot.out().join("cache/cache.0002.vdb");
    std::fs::remove_file(&gone).expect("the frame was written");
    for last in [3, 4] {
        shot.graph(&with(last, |_| ()));
        let output = shot.command(&["--resume"]).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("cache.0002.vdb"), "{said}");
        assert!(said.contains("a file is gone") && !said.contains("0003.vdb"), "{said}");
    }
}

#[test]
fn a_changed_plugin_is_refused_and_named() {
    let shot = shot(2);
    let library = meniscus_tests::binary().with_file_name("libmeniscus_plugin.so");
    // A copy is found first; to a library bytes at its end mean nothing.
    let mut bytes = std::fs::read(library).expect("the plugin stands beside the binary");
    let copy = shot.plugins().join("libmeniscus_plugin.so");
    std::fs::write(&copy, &bytes).expect("the plugin is copied");
    shot.cook(&[]);
    shot.graph(&with(3, |_| ()));
    bytes.extend([0; 16]);
    std::fs::write(&copy, &bytes).expect("the plugin is changed");
    refuses(&shot, &["plugin `", "its file has changed"]);
}

#[test]
fn what_does_not_change_the_past_is_gone_on_with() {
    let whole = shot(3);
    whole.cook(&["--threads", "1"]);
    let longer = shot(2);
    longer.cook(&["--threads", "2"]);
    longer.graph(&with(3, |n| {
        n.push(json!({ "name": "points", "type": "geometry_cache", "inputs": ["flip"] }))
    }));
    longer.cook(&["--resume", "--threads", "1"]);
    assert_same_files(&whole.path("out/cache"), &longer.path("out/cache"), &[]);
    assert!(!longer.path("out/points/points.0002.geo").exists());
    assert!(longer.path("out/points/points.0003.geo").exists());
    // Taken out, though it stands before others whose numbers change; and only bypassed: the same from there on.
    let (out, bypassed) = (shot(2), shot(2));
    out.cook(&[]);
    bypassed.cook(&[]);
    out.graph(&with(3, |n| {
        n[5]["inputs"] = json!(["water", "gravity"]);
        n[2]["inputs"] = json!(["mesh"]);
        n.retain(|node| node["name"] != "wind" && node["name"] != "place");
    }));
    bypassed.graph(&with(3, |n| {
        n[4]["bypass"] = json!(true);
        n[1]["bypass"] = json!(true);
    }));
    for (shot, which) in [(&out, "taken out"), (&bypassed, "bypassed")] {
        let output = shot.command(&["--resume"]).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        for name in ["wind", "place"] {
            let told = format!("warning: {name}: it is left out from frame 3 on");
            assert_eq!(said.matches(&told).count(), 1, "{which}: {said}");
        }
        assert_eq!(said.matches("left out").count(), 2, "{which}: {said}");
    }
    assert_same_files(&out.path("out/cache"), &bypassed.path("out/cache"), &[]);
    let last = |s: &Shot| std::fs::read(s.path("out/cache/cache.0003.vdb")).expect("it is written");
    assert_ne!(last(&out), last(&whole), "the wind no longer blows");
}

/// Names of the grids in a cache.
fn grids(shot: &Shot, frame: u32) -> Vec<String> {
    let output = meniscus(&["inspect"]).arg(shot.path(&format!("out/cache/cache.{frame:04}.vdb"))).output();
    let text = String::from_utf8(output.expect("meniscus starts").stdout).expect("it is text");
    let heads = text.lines().filter(|l| l.contains(", class "));
    heads.filter_map(|l| l.split_once(": ")).map(|(name, _)| name.trim().to_owned()).collect()
}

#[test]
fn grids_keep_their_names_when_objects_begin_and_end() {
    let liquid = |name: &str, x: f64, span: (i32, i32)| {
        let (fill, solver) = (format!("{name}_fill"), format!("{name}_flip"));
        vec![
            json!({ "name": fill, "type": "box", "params": { "size": [0.1, 0.1, 0.1], "center": [x, 0.05, 0.0] } }),
            json!({ "name": name, "type": "liquid_object", "inputs": [fill],
                    "params": { "particle_separation": 0.02, "start_frame": span.0, "end_frame": span.1 } }),
            json!({ "name": solver, "type": "flip_solver", "inputs": [name] }),
        ]
    };
    let mut nodes = [liquid("water", 0.0, (1, 0)), liquid("oil", 1.0, (2, 2))].concat();
    nodes.push(json!({ "name": "cache", "type": "vdb_cache", "inputs": ["water_flip", "oil_flip"],
                       "params": { "grids": ["surface"] } }));
    let shot = Shot::new(&json!({ "format": "meniscus.graph/1", "frames": [1, 3], "nodes": nodes }));
    shot.cook(&[]);
    assert_eq!(grids(&shot, 1), ["water_surface"]);
    assert_eq!(grids(&shot, 2), ["oil_surface", "water_surface"]);
    assert_eq!(grids(&shot, 3), ["water_surface"]);
}

/// The record of an earlier cook is only looked at, never needed: what is left of it is told in one sentence.
#[test]
fn a_damaged_record_is_told_and_gone_on_without() {
    let shot = shot(2);
    shot.cook(&[]);
    let record = std::fs::read(shot.out().join("cook.json")).expect("a cook writes it");
    let half = record[..record.len() / 2].to_vec();
    let damaged: [&[u8]; 4] = [&half, b"", b"\x00\xff\x1b[2J\xfe", b"{ \"written\": 3 }"];
    for (last, bytes) in (3..).zip(damaged) {
        shot.graph(&with(last, |_| ()));
        shot.file("out/cook.json", bytes);
        let output = shot.command(&["--resume"]).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let told: Vec<&str> = said.lines().filter(|l| l.contains("cook.json")).collect();
        assert!(
            matches!(told[..], [one] if one.contains("is damaged") && one.contains("written anew")),
            "{said}"
        );
        let anew = std::fs::read(shot.out().join("cook.json")).expect("it is written anew");
        assert!(serde_json::from_slice::<Value>(&anew).is_ok_and(|json| json["written"].is_array()));
    }
    let stats = shot.out().join("stats.jsonl");
    let text = std::fs::read_to_string(&stats).expect("a cook writes it");
    let digit = text.find("\"volume\":0.").expect("a volume") + 12;
    let other = if text.as_bytes()[digit] == b'1' { "2" } else { "1" };
    std::fs::write(&stats, format!("{}{other}{}", &text[..digit], &text[digit + 1..]))
        .expect("it can be written");
    shot.graph(&with(7, |_| ()));
    let output = shot.command(&["--resume"]).output().expect("meniscus starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let told = said.contains("stats.jsonl is not as it was written in line 1");
    assert!(output.status.success() && told, "{said}");
    let inspect = meniscus(&["inspect"]).arg(&stats).output().expect("meniscus starts");
    assert_eq!(inspect.status.code(), Some(1));
}

/// Somebody else's file lies where a frame would be written.
#[test]
fn a_file_that_no_cook_wrote_is_not_written_over() {
    let shot = shot(3);
    std::fs::create_dir_all(shot.out().join("cache")).expect("a folder can be made");
    shot.file("out/cache/cache.0002.vdb", b"mine");
    let spares = |options: &[&str], file: &str| {
        let output = shot.command(options).output().expect("meniscus starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(file) && said.contains("--out"), "{said}");
        assert_eq!(std::fs::read(shot.out().join(file)).expect("it is there"), b"mine");
        std::fs::remove_file(shot.out().join(file)).expect("it can be removed");
    };
    spares(&["--replace"], "cache/cache.0002.vdb");
    shot.file("out/cache/cache.0002.vdb", b"mine");
    spares(&[], "cache/cache.0002.vdb");
    shot.cook(&[]);
    // Its own files it writes over.
    shot.cook(&["--replace"]);
    let more = |nodes: &mut Vec<Value>| {
        nodes.push(json!({ "name": "extra", "type": "vdb_cache", "inputs": ["flip"] }))
    };
    shot.graph(&with(5, more));
    std::fs::create_dir_all(shot.out().join("extra")).expect("a folder can be made");
    shot.file("out/extra/extra.0005.vdb", b"mine");
    spares(&["--resume"], "extra/extra.0005.vdb");
    shot.cook(&["--resume"]);
}
