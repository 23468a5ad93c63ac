//! What a newcomer starts with: `new-shot`, `new-plugin` and the scenes of `demo`.

use meniscus_tests::shot::one_sentence;
use meniscus_tests::{binary, files, meniscus, points};
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, args: &[&str]) -> Output {
    meniscus(args).current_dir(folder).output().expect("meniscus starts")
}

/// Runs a command that must succeed; its standard output.
fn done(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_new_shot_cooks_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = done(meniscus(&["new-shot", "drain"]).current_dir(folder.path()));
    assert!(said.contains("cd drain && meniscus cook drain.meniscus.json"), "{said}");
    let shot = folder.path().join("drain");
    let check = done(meniscus(&["check", "drain.meniscus.json"]).current_dir(&shot));
    assert!(check.contains("the graph is sound") && !check.contains("advice"), "{check}");
    done(meniscus(&["cook", "drain.meniscus.json", "--frames", "1-2", "--quiet"]).current_dir(&shot));
    let stats = std::fs::read_to_string(shot.join("drain.out/stats.jsonl")).expect("statistics");
    let last: serde_json::Value = serde_json::from_str(stats.lines().last().expect("a line")).expect("JSON");
    let trapped = last["bubbles"][0]["volume"].as_f64().expect("the air above the water");
    assert!((0.5e-3..2e-3).contains(&trapped), "{trapped} m³");
    for file in
        ["cache/cache.0002.vdb", "points/points.0002.geo", "preview/preview.0002.png", "shot/shot.usda"]
    {
        assert!(shot.join("drain.out").join(file).is_file(), "{file}");
    }
}

/// The heights of the points that a cook of a new plugin's shot leaves in its last frame, m.
fn heights(project: &Path, library: &str) -> Vec<f64> {
    let library = project.join(library);
    done(
        meniscus(&["cook", "shot.meniscus.json", "--quiet", "--paranoid", "--drop-caches"])
            .current_dir(project)
            .env("MENISCUS_PLUGIN_PATH", &library),
    );
    let listed = done(meniscus(&["nodes"]).env("MENISCUS_PLUGIN_PATH", &library));
    for node in ["my_dust.points", "my_dust.solver"] {
        assert!(listed.contains(node), "{listed}");
    }
    points::positions(&project.join("shot.out/cache/cache.0048.geo")).iter().map(|p| p[1]).collect()
}

#[test]
fn new_plugins_build_and_do_the_same_in_c_and_rust() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = |name: &str, language: &str| {
        let inner = folder.path().join(name);
        std::fs::create_dir(&inner).expect("a folder");
        done(meniscus(&["new-plugin", "my-dust", language]).current_dir(&inner));
        inner.join("my-dust")
    };
    let (c, rust) = (project("c", "--c"), project("rust", "--rust"));
    let mut make = Command::new("make");
    done(make.arg("CFLAGS=-O2 -Wall -Wextra -Wpedantic -Werror").current_dir(&c));
    done(make.arg("nodes").arg(format!("MENISCUS={}", binary().display())).current_dir(&c));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet"]).env("CARGO_TARGET_DIR", rust.join("target"));
    done(cargo.env("RUSTFLAGS", "-D warnings").current_dir(&rust));
    let from_c = heights(&c, "libmy-dust_plugin.so");
    let from_rust = heights(&rust, "target/debug/libmy_dust_plugin.so");
    assert!(
        from_c.len() > 100 && from_c.len() == from_rust.len(),
        "{} and {}",
        from_c.len(),
        from_rust.len()
    );
    for (a, b) in from_c.iter().zip(&from_rust) {
        assert!((a - b).abs() < 1e-3, "{a} m in C, {b} m in Rust");
    }
    // They began at 1.2 m at least, and have met the floor.
    assert!(from_c.iter().all(|y| (-1e-6..1.2).contains(y)), "{from_c:?}");
}

#[test]
fn projects_never_land_elsewhere_or_on_something() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = folder.path().join("there");
    std::fs::create_dir(&there).expect("a folder");
    std::fs::write(there.join("mine"), "mine").expect("a file");
    std::fs::write(folder.path().join("file"), "mine").expect("a file");
    let before = files(folder.path(), &[]);
    for command in ["new-shot", "new-plugin"] {
        for name in ["../x", "a/b", "/tmp/x", "two words", "", ".", "Up", "there", "file"] {
            let output = run(folder.path(), &[command, name]);
            assert_eq!(output.status.code(), Some(2), "{command} {name}");
            let sentence = one_sentence(&output);
            assert!(sentence.contains("name"), "{command} {name}: {sentence}");
        }
    }
    assert_eq!(run(folder.path(), &["new-plugin", "x", "--c", "--rust"]).status.code(), Some(2));
    assert_eq!(files(folder.path(), &[]), before);
}

#[test]
fn the_demo_lists_its_scenes_and_cooks_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = done(&mut meniscus(&["demo", "--list"]));
    for scene in ["water_cooler", "crates", "dam_break", "viscous_jet"] {
        assert!(list.lines().any(|line| line.trim_start().starts_with(scene)), "{scene}: {list}");
    }
    // Those need a plugin of their own.
    assert!(!list.contains("u_tube"), "{list}");
    done(meniscus(&["demo", "--scene", "crates", "--last", "1", "--out", "out"]).current_dir(folder.path()));
    assert!(folder.path().join("out/crates/cook.json").is_file());
    let output = run(folder.path(), &["demo", "--scene", "water_coler"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(one_sentence(&output).contains("did you mean `water_cooler`?"));
}
