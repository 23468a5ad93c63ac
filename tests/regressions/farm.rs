//! Many cooks of one graph: `meniscus wedge`, and `meniscus job` for farms.

use meniscus_tests::shot::Shot;
use meniscus_tests::wheel::Wheel;
use meniscus_tests::{assert_same_files, binary, meniscus};
use serde_json::{Value, json};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Two parameters of two values and two seeds: eight variants.
const EIGHT: [&str; 6] =
    ["--vary", "column.size=[0.3,0.4,0.6],[0.3,0.5,0.6]", "--vary", "wind=0,2", "--seeds", "water.seed=2"];
/// What differs from cook to cook of the same values: they name folders and times.
const OF_A_COOK: [&str; 2] = ["cook.json", "stats.jsonl"];

/// A small column of water falls in a closed box, in a wind.
fn column() -> Value {
    json!({
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, 3], "substeps": { "min": 1, "max": 2, "cfl": 2.0 },
        "quality": { "preview": { "wind": 0 } },
        "nodes": [
            { "name": "column", "type": "box", "params": { "size": [0.3, 0.4, 0.6], "center": [0.2, 0.3, 0.4] } },
            { "name": "water", "type": "liquid_object", "inputs": ["column"], "params": { "particle_separation": 0.04 } },
            { "name": "gravity", "type": "gravity" },
            { "name": "wind", "type": "gravity", "params": { "force": ["$wind", 0.0, 0.0] } },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity", "wind"] },
            { "name": "cache", "type": "vdb_cache", "inputs": ["flip"] },
            { "name": "preview", "type": "preview", "inputs": ["flip"], "params": { "resolution": [64, 48] } }
        ]
    })
}

/// `meniscus wedge` on the shot, quietly, into a folder of its own.
fn wedge(shot: &Shot, out: &str, extra: &[&str]) -> Command {
    let mut command = meniscus(&["wedge", "--quiet"]);
    command.arg(shot.path("shot.meniscus.json")).arg("--out").arg(shot.path(out)).args(extra);
    command
}

/// Runs a wedge that must succeed.
fn done(shot: &Shot, out: &str, extra: &[&str]) {
    let output = wedge(shot, out, extra).output().expect("meniscus starts");
    assert!(output.status.success(), "{}", said(&output));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The variants that the wedge's list names.
fn listed(out: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(out.join("wedge.json")).expect("a wedge leaves a list");
    let list: Value = serde_json::from_str(&text).expect("it is JSON");
    list["variants"].as_array().expect("it has variants").clone()
}

fn folders(out: &Path) -> Vec<PathBuf> {
    listed(out).iter().map(|v| out.join(v["folder"].as_str().expect("each has a folder"))).collect()
}

fn states(out: &Path) -> Vec<String> {
    listed(out).iter().map(|v| v["state"].as_str().expect("each has a state").to_owned()).collect()
}

/// Runs a command until the cook in `folder` has left a checkpoint, and then kills it with all processes of its group.
fn kill(mut command: Command, folder: &Path) {
    let mut running: Child = command.process_group(0).spawn().expect("it starts");
    while !std::fs::read_dir(folder.join("checkpoints")).is_ok_and(|mut d| d.next().is_some()) {
        assert!(running.try_wait().expect("it is ours").is_none(), "it was to be killed before it ended");
        std::thread::sleep(Duration::from_millis(1));
    }
    let group = format!("-{}", running.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().expect("a shell is there").success());
    running.wait().expect("it has ended");
}

/// Tries until no cook that was killed holds the folder any more.
fn until_free(run: impl Fn() -> Output) -> Output {
    let words = |o: &Output| format!("{}{}", said(o), String::from_utf8_lossy(&o.stdout));
    let tries = (0..100).map(|_| (std::thread::sleep(Duration::from_millis(50)), run()).1);
    let mut tries = tries.filter(|o| o.status.success() || !words(o).contains("another cook"));
    tries.next().expect("the cook has died")
}

#[test]
fn a_wedge_killed_in_the_middle_is_resumed_to_the_same_bytes() {
    let shot = Shot::new(&column());
    let four = [&EIGHT[2..4], &EIGHT[4..6]].concat();
    done(&shot, "whole", &four);
    let whole = shot.path("whole");
    assert_eq!(states(&whole), ["finished"; 4]);
    let figures = &listed(&whole)[0]["figures"];
    assert!(
        figures["substeps"].as_u64() >= Some(2) && figures["objects"]["water"]["volume"].as_f64() > Some(0.0)
    );
    assert!(whole.join("wedge.png").is_file());

    let killed = shot.path("killed");
    let third = killed.join(folders(&whole)[2].file_name().expect("a name"));
    kill(wedge(&shot, "killed", &four), &third);
    // Whoever looks at it now finds all variants in its list, and which are done.
    let so_far = states(&killed);
    assert_eq!([&so_far[0], &so_far[1], &so_far[3]], ["finished", "finished", "waiting"]);
    // The cook dies with the wedge, a moment later: until then its folder is not to be had.
    let resumed =
        || wedge(&shot, "killed", &[&four[..], &["--resume"]].concat()).output().expect("meniscus starts");
    let last = until_free(resumed);
    assert!(last.status.success(), "{}", said(&last));
    assert_eq!(states(&killed), ["finished"; 4]);
    for (a, b) in folders(&whole).iter().zip(folders(&killed)) {
        assert_same_files(a, &b, &OF_A_COOK);
    }
    let [a, b] = [&whole, &killed].map(|out| folders(out)[0].join("cache"));
    let other = folders(&whole)[1].join("cache");
    let bytes = |folder: &Path| meniscus_tests::files(folder, &[]);
    assert!(bytes(&a) == bytes(&b) && bytes(&a) != bytes(&other), "seeds make a difference");
}

#[test]
fn one_that_fails_does_not_keep_the_others_from_being_cooked() {
    let mut graph = column();
    let nodes = graph["nodes"].as_array_mut().expect("a graph has nodes");
    nodes[0] = json!({ "name": "column", "type": "file", "params": { "file": "column.obj" } });
    let shot = Shot::new(&graph);
    let mesh = "v 0 0 0\nv .4 0 0\nv 0 0 .4\nv 0 .4 0\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";
    shot.file("column.obj", mesh.as_bytes());
    let vary = ["--vary", r#"column.file="missing.obj",column.obj"#];
    let output = wedge(&shot, "out", &vary).output().expect("meniscus starts");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("missing.obj") && said.contains("1 of 2 variants failed"), "{said}");
    assert_eq!(states(&shot.path("out")), ["failed", "finished"]);
}

#[test]
fn a_farm_cooks_variants_one_by_one_and_puts_them_together() {
    let shot = Shot::new(&column());
    let vary = ["--vary", "wind=0,1,2"];
    let out = shot.path("out");
    done(&shot, "out", &[&vary[..], &["--only", "2"]].concat());
    assert_eq!(states(&out), ["waiting", "finished", "waiting"]);
    assert!(!out.join("wedge.png").exists(), "the sheet is made at the end");
    done(&shot, "out", &[&vary[..], &["--only", "3"]].concat());
    done(&shot, "out", &[&vary[..], &["--collect"]].concat());
    assert_eq!(states(&out), ["waiting", "finished", "finished"]);
    assert!(out.join("wedge.png").is_file());

    let alone = shot.path("alone");
    let cook = meniscus(&["cook", "--quiet", "--set", "wind=1", "--out"])
        .arg(&alone)
        .arg(shot.path("shot.meniscus.json"))
        .output();
    assert!(cook.expect("meniscus starts").status.success());
    assert_same_files(&alone, &folders(&out)[1], &OF_A_COOK);
}

/// Runs jobs in the form of Open Job Description.
static FARM: Wheel = Wheel::new("openjd-cli", "0.8.0");

/// The command that runs a step of a bundle here, and all that it depends on.
fn openjd(bundle: &Path, step: &str, rest: &[&str]) -> Command {
    let values =
        std::fs::read_to_string(bundle.join("parameter_values.json")).expect("the bundle has values");
    let values: Value = serde_json::from_str(&values).expect("it is JSON");
    let mut command = FARM.python();
    command.args(["-c", "from openjd.cli import main; main()", "run"]).arg(bundle.join("template.json"));
    command
        .args(["--step", step, "--run-dependencies"])
        .args(rest)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for value in values["parameterValues"].as_array().expect("a list") {
        let [name, value] = ["name", "value"].map(|key| value[key].as_str().expect("a text"));
        command.arg("-p").arg(format!("{name}={value}"));
    }
    command.arg("-p").arg(format!("Meniscus={}", binary().display())).env_remove("MENISCUS_PLUGIN_PATH");
    command
}

#[test]
fn a_farms_job_killed_in_the_middle_goes_on_to_the_same_bytes() {
    let shot = Shot::new(&column());
    let (bundle, farm) = (shot.path("job"), shot.path("farm"));
    let write = |extra: &[&str]| {
        let mut command = meniscus(&["job"]);
        command.arg(shot.path("shot.meniscus.json")).arg("--out").arg(&bundle).arg("--cook-out").arg(&farm);
        let output = command.args(extra).output().expect("meniscus starts");
        assert!(output.status.success(), "{}", said(&output));
    };
    write(&EIGHT);
    done(&shot, "whole", &EIGHT);
    let whole = shot.path("whole");
    let fourth = farm.join(folders(&whole)[3].file_name().expect("a name"));
    kill(openjd(&bundle, "Sheet", &[]), &fourth);
    assert!(!farm.join("wedge.png").exists());
    let last = until_free(|| openjd(&bundle, "Sheet", &[]).output().expect("Python is there"));
    assert!(last.status.success(), "{}{}", said(&last), String::from_utf8_lossy(&last.stdout));
    assert_eq!(states(&farm), ["finished"; 8]);
    assert!(farm.join("wedge.png").is_file());
    for (a, b) in folders(&whole).iter().zip(folders(&farm)) {
        assert_same_files(a, &b, &OF_A_COOK);
    }

    // A shot alone is one task. Its graph lies elsewhere on the farm's machines.
    write(&["--set", "wind=2"]);
    let moved = shot.path("moved");
    std::fs::create_dir(&moved).expect("a folder");
    std::fs::copy(shot.path("shot.meniscus.json"), moved.join("shot.meniscus.json")).expect("it is copied");
    let rule = |from: &str, to: &Path| json!({ "source_path_format": "POSIX", "source_path": from, "destination_path": to });
    let rules = json!({ "version": "pathmapping-1.0", "path_mapping_rules": [rule("/studio", &moved)] });
    let mapped = openjd(&bundle, "Cook", &["--path-mapping-rules", &rules.to_string()])
        .args(["-p", "Graph=/studio/shot.meniscus.json", "-p", "Out=/studio/cooked"])
        .output()
        .expect("Python is there");
    assert!(mapped.status.success(), "{}{}", said(&mapped), String::from_utf8_lossy(&mapped.stdout));
    assert!(moved.join("cooked/cache").is_dir());
}

#[test]
fn what_cannot_be_varied_is_refused_before_anything_is_cooked() {
    let shot = Shot::new(&column());
    for (extra, words) in [
        (&["--vary", "water.colour=1,2"][..], "water"),
        (&["--vary", "water.seed=1,x"], "seed"),
        (&["--vary", "water.seed=1,,2"], "missing"),
        (&["--vary", "wind=0,1", "--only", "3"], "1 to 2"),
        (&["--seeds", "water.seed=none"], "how many"),
    ] {
        let output = wedge(&shot, "out", extra).output().expect("meniscus starts");
        let said = said(&output);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{extra:?}: {said}");
        assert!(said.contains(words), "{extra:?}: {said}");
        assert!(!shot.path("out").exists(), "{extra:?}");
    }
    done(&shot, "out", &["--vary", "wind=0,1", "--only", "1"]);
    let output = wedge(&shot, "out", &["--vary", "wind=0,3"]).output().expect("meniscus starts");
    assert!(said(&output).contains("other values") && output.status.code() == Some(2), "{}", said(&output));
}
