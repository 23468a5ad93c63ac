//! What participants keep for themselves and contribute: no object has it.

use super::c_plugins::{Bench, graph};
use meniscus_host::engine::{Ended, Holder};
use std::sync::atomic::Ordering;

const MEMBERS: &str = "tests/c_plugins/members.c";

/// What the nodes said in each substep of a cook of so many frames, one substep a frame.
fn said(bench: &Bench, frames: u32, nodes: &str) -> Vec<String> {
    bench.said.lock().unwrap().clear();
    bench.cook_into("a", &graph(frames, nodes), false).unwrap_or_else(|e| panic!("{nodes}\n  gave: {e}"));
    std::fs::remove_dir_all(bench.out("a")).unwrap();
    let said = bench.said.lock().unwrap();
    said.iter().filter_map(|l| l.strip_prefix("Info ")).map(Into::into).collect()
}

/// Cloth coupled by `in`, which is coupled with metal by `out`.
fn nodes(inner: &str, outer: &str, metal: &str) -> String {
    format!(
        r#"{{ "name": "wool", "type": "test.soft" }}, {{ "name": "zinc", "type": "test.hard" }},
        {{ "name": "cloth", "type": "test.plain", "inputs": ["wool"] }},
        {{ "name": "metal", "type": "test.bound", "inputs": ["zinc"]{metal} }},
        {{ "name": "in", "type": "test.giver", "inputs": [{inner}] }},
        {{ "name": "out", "type": "{outer}", "inputs": ["in", "metal"] }}"#
    )
}

#[test]
fn an_inner_coupling_contributes_its_own_and_hears_the_answer() {
    let bench = Bench::new(&[MEMBERS]);
    let nodes = nodes(r#""cloth""#, "test.taker_of_all", "");
    // The first half step and the substep of frame 2, then frame 3. What was heard before is part of the state.
    let expected = [
        "metal: heard -1",
        "in: heard -1",
        "out: solve: in metal",
        "metal: hears 21",
        "in: hears 20",
        "metal: heard 21",
        "in: heard 20",
        "out: solve: in metal",
        "metal: hears 21",
        "in: hears 20",
        "metal: heard 21",
        "in: heard 20",
        "out: solve: in metal",
        "metal: hears 31",
        "in: hears 30",
    ];
    assert_eq!(said(&bench, 3, &nodes), expected);
}

#[test]
fn members_of_a_role_are_whoever_is_of_its_medium_however_deep_by_name() {
    let bench = Bench::new(&[MEMBERS]);
    let solves = |nodes: &str| -> Vec<String> {
        said(&bench, 2, nodes).into_iter().filter(|l| l.contains("solve")).collect()
    };
    let soft = |inner: &str| nodes(inner, "test.taker", "").replace("test.bound", "test.solid");
    // The solvers of the role have nothing of that name, and metal is of another.
    assert_eq!(solves(&soft(r#""cloth""#))[0], "out: solve: in");
    // A coupling of two media is once among all roles.
    let both = nodes(r#""cloth", "metal""#, "test.taker_of_all", "").replace(r#""in", "metal"]"#, r#""in"]"#);
    assert_eq!(solves(&both)[0], "out: solve: in metal");
    let deep = format!(
        "{}, {}",
        soft(r#""z""#),
        r#"{ "name": "z", "type": "test.giver", "inputs": ["a"] },
           { "name": "a", "type": "test.giver", "inputs": ["cloth"] }"#
    );
    assert_eq!(solves(&deep)[0], "out: solve: a in z");
    let hears: Vec<String> = said(&bench, 2, &deep).into_iter().filter(|l| l.contains("hears")).collect();
    // Outer couplings correct before inner ones.
    assert_eq!(hears[..3], ["in: hears 21", "z: hears 22", "a: hears 20"]);
}

#[test]
fn who_does_not_run_or_has_no_object_is_no_member() {
    let bench = Bench::new(&[MEMBERS]);
    let solves = |nodes: &str| -> Vec<String> {
        said(&bench, 5, nodes).into_iter().filter(|l| l.contains("solve")).collect()
    };
    let (both, one) = ("out: solve: in metal", "out: solve: in");
    let nodes = |metal| nodes(r#""cloth""#, "test.taker_of_all", metal);
    assert_eq!(solves(&nodes(r#", "params": { "last": 3 }"#)), [both, both, both, one, one]);
    assert_eq!(solves(&nodes(r#", "params": { "first": 3 }"#)), [one, one, one, both, both]);
    let of_zinc = |params: &str| {
        nodes("").replace(r#""test.hard" }"#, &format!(r#""test.hard", "params": {{ {params} }} }}"#))
    };
    assert_eq!(solves(&of_zinc(r#""last": 3"#)), [both, both, both, one, one]);
    assert_eq!(solves(&of_zinc(r#""first": 3"#)), [one, one, one, both, both]);
}

#[test]
fn what_members_keep_is_resumed() {
    let bench = Bench::new(&[MEMBERS]);
    let text = graph(5, &nodes(r#""cloth""#, "test.taker_of_all", ""));
    bench.cook_into("whole", &text, false).unwrap();
    let whole = bench.state("whole");
    bench.stop_after.store(2, Ordering::Relaxed);
    assert!(matches!(bench.cook_into("cut", &text, false).unwrap(), Ended::Interrupted(_)));
    bench.stop_after.store(usize::MAX, Ordering::Relaxed);
    bench.said.lock().unwrap().clear();
    assert_eq!(bench.cook_into("cut", &text, true).unwrap(), Ended::Done);
    assert_eq!(bench.said.lock().unwrap()[0], "Info metal: heard 31");
    let answers = |state: &meniscus_host::engine::State| -> Vec<Option<f64>> {
        let nodes = state.holders.iter().filter(|(h, _)| matches!(h, Holder::Node(_)));
        nodes.map(|(_, o)| o.table("answer").unwrap().number("value")).collect()
    };
    assert_eq!(answers(&whole), [Some(51.0), Some(50.0)]);
    assert_eq!(answers(&bench.state("cut")), answers(&whole));
}

#[test]
fn shares_of_members_that_do_not_fit_are_refused() {
    let bench = Bench::new(&[MEMBERS]);
    let of = |outer: &str| nodes(r#""cloth""#, outer, "");
    for (nodes, expected) in [
        (
            of("test.deaf"),
            "node `in`: what it contributes is read by nobody: `out` takes no `own`; wire it out of `out`",
        ),
        (
            of("test.forgetful"),
            "node `out`: port `own` is deleted after each substep, for `metal` it is kept",
        ),
        (
            of("test.confused"),
            "node `out`: port `own` is a grid (f32 at cell centres) here and a table for `in`",
        ),
        (of("test.early"), "node `out`: solve reads `answer` of `in`, and nothing has written it before"),
        (
            of("test.taker_of_all").replace(
                r#""inputs": ["wool"]"#,
                r#""inputs": ["wool", "grip"] }, { "name": "grip", "type": "test.grasping""#,
            ),
            "node `grip`: predict uses port `own`, said to be of participants, which only a coupling has",
        ),
    ] {
        let error = bench.cook_into("a", &graph(2, &nodes), false).unwrap_err().to_string();
        assert!(error.contains(expected), "{nodes}\n  gave: {error}");
    }
    // Whoever reads it in another stage reads it, too.
    bench.cook_into("a", &graph(2, &of("test.late")), false).unwrap();
}

#[test]
fn people_and_programs_are_told_whose_data_it_is() {
    let bench = Bench::new(&[MEMBERS]);
    let told = |args: &[&str]| {
        let mut meniscus = std::process::Command::new(env!("CARGO_BIN_EXE_meniscus"));
        let answer =
            meniscus.args(args).env("MENISCUS_PLUGIN_PATH", bench.folder.path()).output().unwrap().stdout;
        String::from_utf8(answer).unwrap()
    };
    let json =
        |of: &str| -> serde_json::Value { serde_json::from_str(&told(&["nodes", of, "--json"])).unwrap() };
    let whose = |of: &str| (json(of)["ports"][0]["owner"].clone(), json(of)["ports"][0]["role"].clone());
    assert_eq!(whose("test.taker"), ("member".into(), "soft".into()));
    assert_eq!(whose("test.taker_of_all"), ("member".into(), serde_json::Value::Null));
    assert!(told(&["nodes", "test.taker"]).contains("own of the participants `soft` themselves: table"));
}
