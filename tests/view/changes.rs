//! Cooks begun from the page.

use crate::page::{Page, post};
use meniscus_tests::meniscus;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A small shot: a block of water falls beside a ball.
fn graph() -> Json {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3], "substeps": { "max": 2 },
        "nodes": [
            { "name": "fill", "type": "box", "params": { "size": [0.2, 0.2, 0.2], "center": [0, 0.2, 0] } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.02 } },
            { "name": "ball", "type": "sphere", "params": { "radius": 0.1, "center": [0.4, 0, 0] } },
            { "name": "stone", "type": "static_object", "inputs": ["ball"], "params": { "division_size": 0.04 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "stone", "gravity"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] },
            { "name": "points", "type": "geometry_cache", "inputs": ["flip"] },
        ],
    })
}

/// Hashes of all files of a folder and of those in it, but for the lock.
fn hashes(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            found.extend(hashes(&entry));
        } else {
            found.insert(entry.clone(), blake3::hash(&std::fs::read(&entry).unwrap()).to_hex().to_string());
        }
    }
    found
}

/// The state of a cook as soon as it is one of these.
fn state(page: &Page, cook: u64, wanted: &[&str]) -> Json {
    let begun = Instant::now();
    loop {
        let now = page.get(&format!("/api/cooks/{cook}")).json();
        if wanted.contains(&now["state"].as_str().unwrap()) {
            return now;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{now}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_change_is_cooked_into_a_folder_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("shot.meniscus.json"), dir.path().join("shot.out"));
    std::fs::write(&file, graph().to_string()).unwrap();
    let (file_arg, out_arg) = (file.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let cooked =
        meniscus(&["cook", &file_arg, "--out", &out_arg, "--set", "flip.flip_ratio=0.5"]).output().unwrap();
    assert!(cooked.status.success(), "{}", String::from_utf8_lossy(&cooked.stderr));
    let before = hashes(&out);
    let page = Page::begin(&[&out], &[]);
    state(&page, 0, &["finished"]);

    let scenery = page.get("/api/cooks/0/scenery/1");
    assert!(scenery.status == 200 && scenery.text().contains("\"name\":\"stone\""), "{}", scenery.text());
    assert!(!scenery.text().contains("\"name\":\"water\""));

    let change = |set: Json| {
        page.ask(&post("/api/cooks/0/change", &page.own_headers(), &json!({ "set": set }).to_string()))
    };
    let begun = change(json!({ "water.particle_separation": 0.025 }));
    assert_eq!(begun.status, 200, "{}", begun.text());
    let id = begun.json()["id"].as_u64().unwrap();
    let now = state(&page, id, &["finished", "failed", "stopped"]);
    assert_eq!(now["state"], "finished", "{now}");
    assert_eq!(now["name"], "shot.out.2");
    let record: Json =
        serde_json::from_slice(&std::fs::read(dir.path().join("shot.out.2/cook.json")).unwrap()).unwrap();
    assert_eq!(record["parent"]["folder"], json!(out_arg));
    let parent = blake3::hash(&std::fs::read(out.join("cook.json")).unwrap()).to_hex().to_string();
    assert_eq!(record["parent"]["cook_hash"], json!(parent));
    assert_eq!(record["set"], json!(["flip.flip_ratio=0.5", "water.particle_separation=0.025"]));
    assert_eq!(hashes(&out), before, "the original stays as it is");

    // What a change would cost is told before it is cooked, and so is a value that is refused: no folder is made.
    let check = |set: Json| {
        page.ask(&post("/api/cooks/0/check", &page.own_headers(), &json!({ "set": set }).to_string()))
    };
    let folders = || std::fs::read_dir(dir.path()).unwrap().count();
    let there = folders();
    let sound = check(json!({ "water.particle_separation": 0.025 }));
    assert!(
        sound.status == 200 && sound.json()["said"].as_str().unwrap().contains("memory: about"),
        "{}",
        sound.text()
    );
    for (wrong, says) in [
        (json!({ "water.particle_separation": -1 }), "particle_separation"),
        (json!({ "--out=x": 1 }), "--out"),
    ] {
        let answer = check(wrong);
        assert_eq!(answer.status, 200);
        assert!(answer.json()["wrong"].as_str().unwrap().contains(says), "{}", answer.text());
    }
    assert_eq!(folders(), there);

    // A value that is refused fails in a folder of its own, with the sentence of the command line.
    let id = change(json!({ "water.particle_separation": -1 })).json()["id"].as_u64().unwrap();
    let now = state(&page, id, &["finished", "failed", "stopped"]);
    assert_eq!(now["state"], "failed", "{now}");
    assert!(now["message"].as_str().unwrap().contains("particle_separation"), "{now}");
    assert_eq!(change(json!({ "--out=x": 1 })).status, 409);

    // A graph that was changed since is not the one that this cook was made from.
    std::fs::write(&file, graph().to_string() + " ").unwrap();
    let refused = change(json!({ "water.particle_separation": 0.03 }));
    assert!(refused.status == 409 && refused.text().contains("is not what it was"), "{}", refused.text());
    assert_eq!(hashes(&out), before);
}

#[test]
fn a_change_may_begin_at_a_frame_with_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("shot.meniscus.json"), dir.path().join("shot.out"));
    std::fs::write(&file, graph().to_string()).unwrap();
    let (file_arg, out_arg) = (file.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    assert!(meniscus(&["cook", &file_arg, "--out", &out_arg, "--quiet"]).status().unwrap().success());
    let before = hashes(&out);
    let page = Page::begin(&[&out], &[]);
    assert_eq!(state(&page, 0, &["finished"])["forks"], json!([2, 3]));
    let change = |body: Json| page.ask(&post("/api/cooks/0/change", &page.own_headers(), &body.to_string()));
    let stronger = json!({ "gravity.force": [0, -30, 0] });
    let id = change(json!({ "set": stronger, "fork": 2 })).json()["id"].as_u64().unwrap();
    let now = state(&page, id, &["finished", "failed", "stopped"]);
    assert_eq!(now["state"], "finished", "{now}");
    assert_eq!(now["parent"]["fork_frame"], json!(2));
    assert_eq!(now["parent"]["note"], json!("not reproducible from frame 1"));
    let new = PathBuf::from(now["folder"].as_str().unwrap());
    let same = |name: &str| std::fs::read(out.join(name)).unwrap() == std::fs::read(new.join(name)).unwrap();
    assert!(same("points/points.0002.geo") && !same("points/points.0003.geo"));
    // What is fixed for the shot fails with its sentence; what is no frame is none of the page's requests.
    let finer = json!({ "water.particle_separation": 0.015 });
    let id = change(json!({ "set": finer, "fork": 2 })).json()["id"].as_u64().unwrap();
    let now = state(&page, id, &["finished", "failed", "stopped"]);
    assert!(now["message"].as_str().unwrap().contains("particle_separation"), "{now}");
    for fork in [json!("2"), json!(2.5), json!(1u64 << 40), json!([2]), json!("--out=x")] {
        assert_eq!(change(json!({ "set": {}, "fork": fork })).status, 400, "{fork}");
    }
    assert_eq!(hashes(&out), before, "the original stays as it is");
}

#[test]
fn the_end_of_the_page_saves_what_it_began() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("shot.meniscus.json");
    let mut long = graph();
    long["frames"] = json!([1, 400]);
    std::fs::write(&file, long.to_string()).unwrap();
    let page = Page::begin(&[&file], &[]);
    let waiting = state(&page, 0, &["waiting", "gone"]);
    assert_eq!((&waiting["state"], waiting["nodes"].as_array().unwrap().len()), (&json!("waiting"), 8));
    let begun = page.ask(&post("/api/cooks/0/change", &page.own_headers(), r#"{"set":{}}"#));
    let now = state(&page, begun.json()["id"].as_u64().unwrap(), &["cooking"]);
    let out = PathBuf::from(now["folder"].as_str().unwrap());
    let begun = Instant::now();
    while !out.join("stats.jsonl").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = page.end();
    assert!(said.contains("1 cook"), "{said}");
    assert!(std::fs::read_dir(out.join("checkpoints")).unwrap().count() > 0, "it was saved");
    std::fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_cook_that_failed_says_why_to_whoever_looks_later() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("shot.meniscus.json"), dir.path().join("shot.out"));
    std::fs::write(&file, graph().to_string()).unwrap();
    let cook =
        || meniscus(&["cook", &file.to_string_lossy(), "--out", &out.to_string_lossy()]).output().unwrap();
    // The second frame's file cannot take the place of a folder.
    std::fs::create_dir_all(out.join("cache/cache.0002.vdb")).unwrap();
    let failed = cook();
    assert_eq!(failed.status.code(), Some(1));
    let page = Page::begin(&[&out], &["--read-only"]);
    let now = state(&page, 0, &["failed"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    let message = now["message"].as_str().unwrap();
    assert!(message.contains("cache") && said.contains(message), "{message}: {said}");
    std::fs::remove_dir(out.join("cache/cache.0002.vdb")).unwrap();
    assert!(cook().status.success());
    state(&page, 0, &["finished"]);
}

#[test]
fn a_cook_is_no_parent_of_itself_nor_is_a_folder_without_one() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("shot.meniscus.json"), dir.path().join("out"));
    std::fs::write(&file, graph().to_string()).unwrap();
    std::fs::create_dir(&out).unwrap();
    for (prepare, word) in [(false, "no folder of a cook"), (true, "its own parent")] {
        if prepare {
            std::fs::write(out.join("cook.json"), b"{}").unwrap();
        }
        let (file, out) = (file.to_string_lossy(), out.to_string_lossy());
        let output = meniscus(&["cook", &file, "--out", &out, "--parent", &out]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains("--parent") && error.contains(word), "{error}");
    }
}
