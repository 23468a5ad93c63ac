//! The engine with plugins written in C: schedules, resuming, chosen and rejected substeps, failures.

mod c_plugins;

use c_plugins::{Bench, graph};
use meniscus_host::engine::{Ended, Holder};
use std::sync::atomic::Ordering;

const COUPLING: &str = "../tests/abi/c_coupling.c";
const FAULTS: &str = "../tests/abi/c_faults.c";

const TWO_SOLVES: &str = r#"
    { "name": "pile", "type": "test.pile" },
    { "name": "mover", "type": "test.pile_solver", "inputs": ["pile"] },
    { "name": "both", "type": "test.two_solves", "inputs": ["mover"] }"#;

/// A pile moved by its own solver, with a force that misbehaves.
fn faulty(force: &str) -> String {
    format!(
        r#"{{ "name": "pile", "type": "test.pile" }}, {{ "name": "bad", {force} }},
           {{ "name": "mover", "type": "test.pile_solver", "inputs": ["pile", "bad"] }}"#
    )
}

#[test]
fn a_schedule_with_two_solves_and_a_transport_between_runs_in_order() {
    let bench = Bench::new(&[COUPLING]);
    assert_eq!(bench.cook_into("a", &graph(3, TWO_SOLVES), false).unwrap(), Ended::Done);
    let state = bench.state("a");
    let memory = state.holders[&Holder::Node(2)].table("memory").unwrap();
    // Entries 1 and 3 of the schedule: for the pile's first half step, and once per substep of the two frames after the first.
    assert_eq!(memory.column("trail").unwrap().values.as_u8().unwrap(), [1, 3, 1, 3, 1, 3]);
    assert_eq!(memory.number("solves"), Some(6.0));
    assert_eq!(state.holders[&Holder::Object(0)].table("pile").unwrap().number("steps"), Some(3.0));
    let stats = bench.stats("a");
    assert_eq!(stats.len(), 2);
    assert_eq!(stats[0]["frame"], 2);
    assert_eq!(stats[0]["objects"]["pile"]["kind"], "test.pile");
    assert_eq!(stats[0]["solves"][1]["unknowns"], 8);
    let stages: Vec<_> = stats[0]["stages"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(stages, ["mover.predict", "both.solve", "mover.transport", "mover.correct"]);
}

#[test]
fn a_bypassed_coupling_gives_its_participants_their_own_steps() {
    let bench = Bench::new(&[COUPLING]);
    let text =
        graph(2, &TWO_SOLVES.replace("\"test.two_solves\",", "\"test.two_solves\", \"bypass\": true,"));
    assert_eq!(bench.cook_into("a", &text, false).unwrap(), Ended::Done);
    let stages: Vec<_> = bench.stats("a")[0]["stages"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(stages, ["mover.predict", "mover.correct"]);
}

#[test]
fn a_resumed_cook_is_byte_identical_wherever_it_stopped() {
    let bench = Bench::new(&[COUPLING, FAULTS]);
    let nodes = format!("{TWO_SOLVES}, {{ \"name\": \"slow\", \"type\": \"test.suggests_dt\", \"params\": {{ \"dt\": 0.04 }} }}")
        .replace("[\"pile\"]", "[\"pile\", \"slow\"]");
    let text = graph(5, &nodes);
    bench.cook_into("whole", &text, false).unwrap();
    let bytes = |name: &str| {
        let out = bench.out(name).join("checkpoints");
        std::fs::read(meniscus_host::engine::latest_checkpoint(&out).unwrap()).unwrap()
    };
    let substeps = bench.stats("whole").len();
    assert!(substeps > 6, "{substeps} substeps do not cut frames");
    for stop in 1..substeps {
        let name = format!("cut{stop}");
        bench.stop_after.store(stop, Ordering::Relaxed);
        assert!(matches!(bench.cook_into(&name, &text, false).unwrap(), Ended::Interrupted(_)));
        bench.stop_after.store(usize::MAX, Ordering::Relaxed);
        assert_eq!(bench.cook_into(&name, &text, true).unwrap(), Ended::Done);
        assert!(bytes(&name) == bytes("whole"), "stopped after substep {stop}");
        let moments = |n: &str| -> Vec<_> {
            bench.stats(n).iter().map(|s| (s["frame"].clone(), s["dt"].clone())).collect()
        };
        assert_eq!(moments(&name), moments("whole"));
    }
}

#[test]
fn a_resumed_cook_ends_with_the_same_pictures_and_sheet() {
    let bench = Bench::new(&[COUPLING]);
    let text = graph(
        5,
        &format!(
            r#"{TWO_SOLVES}, {{ "name": "look", "type": "preview", "inputs": ["both"],
               "params": {{ "resolution": [32, 24], "sheet": 3 }} }}"#
        ),
    );
    bench.cook_into("whole", &text, false).unwrap();
    bench.stop_after.store(2, Ordering::Relaxed);
    assert!(matches!(bench.cook_into("cut", &text, false).unwrap(), Ended::Interrupted(_)));
    bench.stop_after.store(usize::MAX, Ordering::Relaxed);
    let sheet = |cook: &str| bench.out(cook).join("look/look_sheet.png");
    assert!(!sheet("cut").exists());
    bench.cook_into("cut", &text, true).unwrap();
    // A cook that was killed between the last frame and the sheet.
    std::fs::remove_file(sheet("cut")).unwrap();
    bench.cook_into("cut", &text, true).unwrap();
    for name in ["look.0001.png", "look.0005.png", "look_sheet.png"] {
        let bytes = |cook: &str| std::fs::read(bench.out(cook).join("look").join(name)).unwrap();
        assert!(bytes("cut") == bytes("whole"), "{name}");
    }
}

#[test]
fn a_rejected_substep_is_undone_and_cut() {
    let bench = Bench::new(&[COUPLING, FAULTS]);
    let text = graph(2, &faulty(r#""type": "test.rejects_dt", "params": { "dt": 0.03 }"#));
    bench.cook_into("a", &text, false).unwrap();
    let stats = bench.stats("a");
    assert_eq!(stats.len(), 4, "0.1 s cut into substeps of at most 0.03 s");
    // The speed that the force adds before it rejects is gone each time; four substeps follow a first half step.
    let state = bench.state("a");
    let v = state.holders[&Holder::Object(0)].geometry("particles").unwrap().point_vectors("v").unwrap()[0];
    assert_eq!(v[1], 5.0);
}

/// A force is asked for each object it acts on, an object for itself, for as long as they run.
#[test]
fn every_node_that_runs_is_asked_for_a_dt() {
    let bench = Bench::new(&[COUPLING, FAULTS, "tests/c_plugins/spans.c"]);
    let text = graph(3, &faulty(r#""type": "test.wishes", "params": { "dt": 0.03 }"#));
    bench.cook_into("force", &text, false).unwrap();
    assert_eq!(bench.stats("force").len(), 8, "two frames of 0.1 s in substeps of at most 0.03 s");
    let spanned = r#"{ "name": "late", "type": "test.spanned", "params": { "start_frame": 2, "dt": 0.03 } },
                     { "name": "always", "type": "test.spanned" },
                     { "name": "mover", "type": "test.span_solver", "inputs": ["late", "always"] }"#;
    bench.cook_into("object", &graph(3, spanned), false).unwrap();
    let frames: Vec<_> = bench.stats("object").iter().map(|s| s["frame"].as_i64().unwrap()).collect();
    assert_eq!(frames, [2, 3, 3, 3, 3], "the late object has its say once it is there");
}

#[test]
fn a_dt_that_the_limits_do_not_allow_is_a_clear_end() {
    let bench = Bench::new(&[COUPLING, FAULTS]);
    let text = graph(2, &faulty(r#""type": "test.rejects_dt", "params": { "dt": 0.001 }"#));
    let e = bench.cook_into("a", &text, false).unwrap_err().to_string();
    assert!(
        e.contains(
            "node `bad`: predict rejects a substep of 2.500e-2 s, and `substeps.max` 4 allows none shorter"
        ),
        "{e}"
    );
}

#[test]
fn failures_name_the_node_and_leave_the_last_checkpoint() {
    let bench = Bench::new(&[COUPLING, FAULTS]);
    for (kind, expected) in [
        ("test.fails", "node `bad`: predict of `pile` failed: "),
        ("test.fails_silently", "node `bad`: predict of `pile` failed: it gave up without a reason"),
        ("test.fails_late", "node `bad`: predict of `pile` failed: "),
        ("test.writes_nan", "wrote what cannot be used: `particles`: attribute `dv` is NaN at element"),
        ("test.create_fails", "node `bad`: this machine has no such thing"),
    ] {
        let e = bench
            .cook_into(kind, &graph(3, &faulty(&format!("\"type\": \"{kind}\""))), false)
            .unwrap_err()
            .to_string();
        assert!(e.contains(expected), "{kind}: {e}");
        assert!(!e.contains('\n'), "one sentence: {e}");
        if kind != "test.create_fails" {
            assert_eq!(bench.state(kind).clock.frame, 1, "the first frame stays");
        }
    }
}

#[test]
fn an_object_exists_from_its_first_frame_to_its_last() {
    let bench = Bench::new(&["tests/c_plugins/spans.c"]);
    let nodes = r#"{ "name": "late", "type": "test.spanned", "params": { "start_frame": 3, "end_frame": 5 } },
                   { "name": "always", "type": "test.spanned" },
                   { "name": "mover", "type": "test.span_solver", "inputs": ["late", "always"] }"#;
    bench.cook_into("a", &graph(7, nodes), false).unwrap();
    let alive = |s: &serde_json::Value| {
        s["objects"].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let seen: Vec<_> = bench.stats("a").iter().map(|s| (s["frame"].as_i64().unwrap(), alive(s))).collect();
    let both = "always late".to_owned();
    let expected = [
        (2, "always".into()),
        (3, "always".into()),
        (4, both.clone()),
        (5, both),
        (6, "always".into()),
        (7, "always".into()),
    ];
    assert_eq!(seen, expected);
    let moved = |name: &str, frame: usize| bench.stats("a")[frame - 2]["objects"][name]["steps"].clone();
    // A first half step of each, too: the solver moves them one by one.
    assert_eq!((moved("late", 5), moved("always", 5)), (3.0.into(), 5.0.into()));
    assert!(moved("late", 6).is_null(), "past its end an object is neither solved nor seen");
}

#[test]
fn wiring_that_cannot_work_is_refused_before_anything_runs() {
    let bench = Bench::new(&[COUPLING, FAULTS, "tests/c_plugins/spans.c"]);
    for (nodes, expected) in [
        (
            r#"{ "name": "p", "type": "test.pile" }, { "name": "a", "type": "test.pile_solver", "inputs": ["p"] }, { "name": "b", "type": "test.pile_solver", "inputs": ["p"] }"#,
            "node `p`: is solved by both `a` and `b`",
        ),
        (
            r#"{ "name": "p", "type": "test.spanned" }, { "name": "a", "type": "test.pile_solver", "inputs": ["p"] }"#,
            "node `a`: no object of medium `pile` is wired into it",
        ),
        (
            r#"{ "name": "s", "type": "test.spanned" }, { "name": "a", "type": "test.span_solver", "inputs": ["s"] }, { "name": "c", "type": "test.two_solves", "inputs": ["a"] }"#,
            "node `c`: has no place for `a` of medium `span`",
        ),
        (
            r#"{ "name": "s", "type": "test.spanned" }, { "name": "bad", "type": "test.fails" }, { "name": "a", "type": "test.span_solver", "inputs": ["s", "bad"] }"#,
            "node `bad`: predict reads `particles` of `s`, and nothing has written it before",
        ),
    ] {
        let e = bench.cook_into("a", &graph(2, nodes), false).unwrap_err().to_string();
        assert!(e.contains(expected), "{nodes}\n  gave: {e}");
    }
}

#[test]
fn a_checkpoint_of_another_graph_or_damaged_is_refused() {
    let bench = Bench::new(&[COUPLING]);
    let text = graph(3, TWO_SOLVES);
    bench.cook_into("a", &text, false).unwrap();
    let other = text.replace("\"test.pile\"", "\"test.pile\", \"params\": { \"spacing\": 0.2 }");
    let e = bench.cook_into("a", &other, true).unwrap_err().to_string();
    assert!(e.contains("node `pile` is not as it was when the checkpoint was made"), "{e}");
    let path = meniscus_host::engine::latest_checkpoint(&bench.out("a").join("checkpoints")).unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let e = bench.cook_into("a", &text, true).unwrap_err().to_string();
    assert!(e.contains("is cut short") && e.contains("checkpoint.0003.mns"), "{e}");
    // Longer shots go on from where a shorter one ended.
    std::fs::write(&path, whole).unwrap();
    assert_eq!(bench.cook_into("a", &graph(5, TWO_SOLVES), true).unwrap(), Ended::Done);
    bench.cook_into("b", &graph(5, TWO_SOLVES), false).unwrap();
    assert_eq!(bench.stats("a").len(), bench.stats("b").len());
}
