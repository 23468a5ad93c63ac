//! What files, graphs and plugins say reaches the terminal as text and on one line.

use super::{says, tank, tank_with};
use meniscus_tests::shot::{Shot, one_sentence};
use meniscus_tests::{c, meniscus};
use serde_json::{Value, json};
use std::process::Output;

const SHOUTS: &str = "tests/abi/c_shouts.c";
/// A sequence that clears the screen, a new line, and one letter that stands for an escape in an 8-bit terminal.
const WILD: &str = "\u{1b}[2J\nerror: forged\u{9b}31m";

/// Fails where a byte of the output would steer a terminal, or where a line is longer than anyone reads.
pub(super) fn is_tame(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(text).expect("what is said is UTF-8");
    let steers = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(steers), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("error: forged")), "{text:?}");
    assert!(text.lines().all(|line| line.chars().count() < 2000), "{text:?}");
    text
}

fn check(shot: &Shot) -> Output {
    let mut check = meniscus(&["check"]);
    check.arg(shot.path("shot.meniscus.json")).env("MENISCUS_PLUGIN_PATH", shot.plugins());
    check.output().expect("meniscus starts")
}

#[test]
fn a_graph_steers_no_terminal() {
    let edits: [fn(&mut Value); 7] = [
        |g| g["format"] = json!(WILD),
        |g| g["fps"] = json!(WILD),
        |g| g[WILD] = json!(1),
        |g| g["nodes"][0]["type"] = json!(WILD),
        |g| g["nodes"][1]["params"][WILD] = json!(1),
        |g| g["nodes"][1]["params"]["particle_separation"] = json!(format!("$a{WILD}")),
        |g| g["nodes"][0] = json!({ "name": "fill", "type": "file", "params": { "file": WILD } }),
    ];
    for edit in edits {
        let mut graph = tank();
        edit(&mut graph);
        let shot = Shot::new(&graph);
        for output in [check(&shot), shot.command(&[]).output().expect("meniscus starts")] {
            is_tame(&output);
            one_sentence(&output);
        }
    }
}

#[test]
fn a_plugin_steers_no_terminal() {
    let of_plugin = |kind: &str| {
        let shot = Shot::new(&tank_with(json!({ "name": "wild", "type": kind })));
        c::plugin(SHOUTS, &[], &shot.plugins());
        shot
    };
    let warned = is_tame(&of_plugin("test.warns_wildly").command(&[]).output().expect("meniscus starts"));
    says(&warned, &["warning: wild: it is ", "error: forged"]);
    let failed = of_plugin("test.fails_at_length").command(&[]).output().expect("meniscus starts");
    is_tame(&failed);
    says(&one_sentence(&failed), &["node `wild`", "error: forged", "xxx…"]);
    let shot = of_plugin("test.stops_short");
    let short = is_tame(&shot.command(&[]).output().expect("meniscus starts"));
    says(&short, &["wild: predict of `water` did not converge: it does not say what it reached"]);
    for arguments in [&["nodes"][..], &["nodes", "test.warns_wildly"]] {
        let mut nodes = meniscus(arguments);
        let output = nodes.env("MENISCUS_PLUGIN_PATH", shot.plugins()).output().expect("meniscus starts");
        says(&is_tame(&output), &["test.warns_wildly", "error: forged"]);
    }
}

#[test]
fn a_solve_that_stops_short_says_what_it_reached() {
    let mut graph = tank();
    graph["nodes"][3]["params"]["max_iterations"] = json!(1);
    let shot = Shot::new(&graph);
    let output = shot.command(&[]).output().expect("meniscus starts");
    assert!(output.status.success());
    says(
        &is_tame(&output),
        &["did not converge: after 1 iteration the residual of the pressure is ", "not 1e-5"],
    );
}

#[test]
fn numbers_are_written_as_people_do() {
    for (param, value, words) in [
        ("particle_separation", json!(1e-320), ["not 1e-320", "1e-6 to 10000 m"]),
        ("particle_separation", json!(1e300), ["1e300", "too large to be meant"]),
        ("density", json!(1e29), ["not 1e29", "1000000 kg/m^3"]),
        ("velocity", json!([1e29, 0, 0]), ["[1e29, 0, 0] m/s", "150000"]),
        ("seed", json!(1e-320), ["a whole number", "1e-320"]),
        ("viscosity", json!(1e29), ["not 1e29", "1e9"]),
        ("particle_separation", json!("1/0"), ["`particle_separation`", "division by zero in `1/0`"]),
        ("particle_separation", json!("1/(2-2)"), ["`particle_separation`", "division by zero"]),
        ("particle_separation", json!("1e300*1e300"), ["`particle_separation`", "too large to be a number"]),
    ] {
        let mut graph = tank();
        graph["nodes"][1]["params"][param] = value;
        let shot = Shot::new(&graph);
        let sentence = one_sentence(&check(&shot));
        says(&sentence, &words);
        assert!(sentence.chars().count() < 250 && !sentence.contains("000000000"), "{sentence}");
    }
    let mut graph = tank();
    graph["nodes"][1]["params"]["particle_separation"] = json!("0.08/4");
    Shot::new(&graph).cook(&[]);
}

/// Where what a command says cannot be written, it has not done what it was asked to.
#[test]
fn a_command_whose_words_are_lost_fails() {
    let shot = Shot::new(&tank());
    let graph = shot.path("shot.meniscus.json").to_string_lossy().into_owned();
    shot.cook(&[]);
    let out = shot.out().to_string_lossy().into_owned();
    for arguments in [
        &["check", &graph][..],
        &["inspect", &out],
        &["nodes"],
        &["nodes", "box", "--json"],
        &["doctor"],
        &["--help"],
        &["--version"],
        &["cook", &graph, "--out", &out, "--quiet", "--openjd"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let output = meniscus(arguments).stdout(full).output().expect("meniscus starts");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        says(&said, &["error: cannot write to standard output"]);
    }
}

/// What cannot be printed is lost, and a command whose output is lost has failed. Nor does a file that is opened later
/// get what is meant for a closed one.
#[test]
fn closed_standard_files_are_noticed_and_nobody_elses() {
    let shot = Shot::new(&tank());
    let run = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(line).arg(meniscus_tests::binary()).arg(shot.path("shot.meniscus.json"));
        shell.arg(shot.out()).env_remove("MENISCUS_PLUGIN_PATH").env("HOME", shot.path("home"));
        shell.output().expect("a shell starts")
    };
    for line in [r#"exec "$0" check "$1" >&-"#, r#"exec "$0" nodes >&-"#, r#"exec "$0" --version >&-"#] {
        let output = run(line);
        says(&one_sentence(&output), &["cannot write to standard output"]);
    }
    assert!(run(r#"exec "$0" check "$1" <&- 2>&-"#).status.success());
    for closed in ["<&-", "<&- >&- 2>&-"] {
        let output = run(&format!(r#"exec "$0" cook "$1" --out "$2" --replace {closed}"#));
        assert!(output.status.success(), "{closed}");
    }
    for (name, bytes) in shot.written() {
        let said = ["done in", "frame 2"].iter().any(|w| String::from_utf8_lossy(&bytes).contains(w));
        assert!(!said, "{} got what was printed", name.display());
    }
}
