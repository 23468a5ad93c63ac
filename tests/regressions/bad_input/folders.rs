//! Output folders that are in use, or that hold another cook's frames.

use super::{says, tank};
use meniscus_tests::shot::{Shot, one_sentence};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Geometry that is only written out: a cook of no time.
fn brick(frames: (i32, i32)) -> Value {
    json!({ "format": "meniscus.graph/1", "frames": [frames.0, frames.1], "nodes": [
        { "name": "brick", "type": "box" },
        { "name": "shape", "type": "geometry_cache", "inputs": ["brick"], "params": { "geometry": ["geometry"] } } ] })
}

fn names(shot: &Shot) -> Vec<String> {
    let all = shot.written().into_iter().map(|(name, _)| name.to_string_lossy().into_owned());
    all.filter(|n| n.starts_with("shape/")).collect()
}

#[test]
fn two_cooks_into_one_folder_do_not_meet() {
    let mut long = tank();
    long["frames"] = json!([1, 100_000]);
    let shot = Shot::new(&long);
    let mut first = shot.command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let begun = Instant::now();
    while !shot.path("out/cache/cache.0002.vdb").exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "the first cook never wrote");
        std::thread::sleep(Duration::from_millis(5));
    }
    let refusals: Vec<String> = [&[][..], &["--resume"], &["--replace"]]
        .iter()
        .map(|extra| one_sentence(&shot.command(extra).output().expect("meniscus starts")))
        .collect();
    // The lock ends with the process, however it ends.
    first.kill().expect("the first cook is there");
    first.wait().expect("it ends");
    for sentence in refusals {
        says(&sentence, &["being cooked into already", "process ", " on ", "since 20", " UTC", "--out"]);
    }
    shot.graph(tank().to_string().as_bytes());
    shot.cook(&["--frames", "1-3", "--resume"]);
    assert!(!shot.path("out/cook.lock").exists(), "a cook that ends gives the folder back");
}

#[test]
fn frames_that_would_be_left_are_told_and_only_they_are_removed() {
    let shot = Shot::new(&brick((1, 6)));
    shot.cook(&[]);
    let notes = shot.file("out/shape/notes.txt", b"mine");
    shot.graph(brick((1, 4)).to_string().as_bytes());
    says(&shot.refused(&[]), &["shape.0005.geo", "2 files", "--replace", "--out"]);
    // Nobody lists this one, so nobody removes it.
    let strange = shot.file("out/shape/shape.0009.geo", b"mine");
    says(&shot.refused(&["--replace"]), &["shape.0009.geo", "remove them yourself"]);
    std::fs::remove_file(strange).expect("it is there");
    shot.cook(&["--replace"]);
    let kept: Vec<String> = (1..=4).map(|n| format!("shape/shape.{n:04}.geo")).collect();
    assert_eq!(names(&shot), [vec!["shape/notes.txt".to_owned()], kept].concat());
    assert_eq!(std::fs::read(notes).expect("it is still there"), b"mine");
    // The same frames again: nothing is left, nothing is asked.
    shot.cook(&[]);
}

#[test]
fn files_of_nodes_that_are_gone_are_told() {
    let shot = Shot::new(&brick((1, 2)));
    shot.cook(&[]);
    let mut renamed = brick((1, 2));
    renamed["nodes"][1]["name"] = json!("other");
    shot.graph(renamed.to_string().as_bytes());
    says(&shot.refused(&[]), &["shape/shape.0001.geo", "2 files"]);
    shot.cook(&["--replace"]);
    assert!(names(&shot).is_empty());
}

#[test]
fn what_a_resumed_cook_wrote_before_stays_listed() {
    let shot = Shot::new(&brick((1, 6)));
    shot.cook(&["--frames", "1-2"]);
    shot.cook(&["--frames", "4-6", "--resume"]);
    shot.graph(brick((5, 6)).to_string().as_bytes());
    says(&shot.refused(&[]), &["shape.0001.geo", "3 files"]);
    shot.cook(&["--replace"]);
    assert_eq!(names(&shot), ["shape/shape.0005.geo", "shape/shape.0006.geo"]);
}

#[test]
fn what_was_cut_off_is_cleared() {
    let shot = Shot::new(&brick((1, 1)));
    for name in ["cook.json", "shape/shape.0001.geo", "checkpoints/checkpoint.0001.mns"] {
        let (folder, file) = name.rsplit_once('/').unwrap_or((".", name));
        shot.file(&format!("out/{folder}/.{file}.17-0.tmp"), b"cut");
    }
    shot.cook(&[]);
    shot.file("out/checkpoints/.checkpoint.0002.mns.17-0.tmp", b"cut");
    shot.cook(&["--resume"]);
    // `written` fails where a temporary file is left.
    assert_eq!(names(&shot), ["shape/shape.0001.geo"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let shot = Shot::new(&brick((1, 1)));
    let pipe = shot.path("pipe.meniscus.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    for graph in [pipe.to_string_lossy().as_ref(), "/dev/zero", "/dev/null"] {
        for command in ["cook", "check", "inspect"] {
            let output = meniscus_tests::meniscus(&[command, graph]).output().expect("meniscus starts");
            says(&one_sentence(&output), &["no file but a", graph]);
        }
    }
    std::fs::rename(&pipe, shot.path("mesh.obj")).expect("it is there");
    let mut graph = brick((1, 1));
    graph["nodes"][0] = json!({ "name": "brick", "type": "file", "params": { "file": "mesh.obj" } });
    shot.graph(graph.to_string().as_bytes());
    says(&shot.refused(&[]), &["node `brick`", "no file but a pipe"]);
}

/// What lies behind a link is not in the output folder: nothing removes it.
#[test]
fn what_a_link_leads_to_is_not_removed() {
    let shot = Shot::new(&brick((1, 6)));
    shot.cook(&[]);
    let elsewhere = shot.path("elsewhere");
    std::fs::rename(shot.out().join("shape"), &elsewhere).expect("it is there");
    std::os::unix::fs::symlink(&elsewhere, shot.out().join("shape")).expect("a link");
    let temporary = shot.file("elsewhere/.shape.0001.geo.17-0.tmp", b"of another cook");
    shot.graph(brick((1, 4)).to_string().as_bytes());
    let sentence = one_sentence(&shot.command(&["--replace"]).output().expect("meniscus starts"));
    says(&sentence, &["shape.0005.geo", "2 files", "a link leads there", "remove them yourself"]);
    assert!((1..=6).all(|n| elsewhere.join(format!("shape.{n:04}.geo")).exists()));
    (5..7).for_each(|n| {
        std::fs::remove_file(elsewhere.join(format!("shape.{n:04}.geo"))).expect("it is there")
    });
    shot.command(&["--replace"]).output().expect("meniscus starts");
    assert!(temporary.exists(), "a cook wrote through the link, and removed what another is writing");
    // Nor are checkpoints.
    let (kept, link) = (shot.path("kept"), shot.out().join("checkpoints"));
    std::fs::rename(&link, &kept).expect("it is there");
    std::os::unix::fs::symlink(&kept, &link).expect("a link");
    let before = std::fs::read_dir(&kept).expect("a folder").count();
    let sentence = one_sentence(&shot.command(&["--replace"]).output().expect("meniscus starts"));
    says(&sentence, &["checkpoints is a link", "remove them yourself"]);
    assert_eq!((before > 0, std::fs::read_dir(&kept).expect("a folder").count()), (true, before));
}

/// A cook that has begun to write, for as long as nobody ends it.
fn endless() -> (Shot, std::process::Child) {
    let mut long = tank();
    long["frames"] = json!([1, 100_000]);
    let shot = Shot::new(&long);
    let cook = shot.command(&[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    while !shot.path("out/cache/cache.0002.vdb").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    (shot, cook)
}

#[test]
fn a_lock_that_someone_takes_away_still_keeps_others_out() {
    let (shot, mut first) = endless();
    std::fs::remove_file(shot.out().join("cook.lock")).expect("it is there");
    let sentence = one_sentence(&shot.command(&["--replace"]).output().expect("meniscus starts"));
    says(&sentence, &["being cooked into already"]);
    assert!(first.try_wait().expect("it can be asked").is_none(), "the first cook ended");
    first.kill().expect("it is there");
    first.wait().expect("it ends");
}

#[test]
fn a_cook_whose_folder_is_moved_away_stops_with_a_sentence() {
    let (shot, first) = endless();
    std::fs::rename(shot.out(), shot.path("moved")).expect("it is there");
    says(&one_sentence(&first.wait_with_output().expect("it ends")), &["moved or removed", "--out"]);
}

#[test]
fn a_folder_whose_name_has_several_lines_is_one_sentence() {
    let shot = Shot::new(&brick((1, 6)));
    let cook = |extra: &[&str]| {
        let mut command = meniscus_tests::meniscus(&["cook"]);
        command.arg(shot.path("shot.meniscus.json")).arg("--out").arg(shot.path("two\nlines"));
        command.args(extra).output().expect("meniscus starts")
    };
    let output = cook(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.lines().last().is_some_and(|l| l.starts_with("done in")),
        "{said}"
    );
    shot.graph(brick((1, 4)).to_string().as_bytes());
    says(&one_sentence(&cook(&[])), &["two lines", "2 files", "--replace"]);
    assert!(cook(&["--replace"]).status.success());
}
