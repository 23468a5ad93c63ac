//! The execution model with a plugin in C: who is called when, and who sees whom.

#[path = "../c_plugins/mod.rs"]
mod c_plugins;
mod kicks;
mod members;
mod merges;

use c_plugins::{Bench, graph};
use meniscus_host::engine::{Device, Holder, Manner, Plan, estimate, rehearse};
use meniscus_host::geometry::Evaluator;
use std::sync::atomic::Ordering;

const SHARES: &str = "tests/c_plugins/shares.c";

const OBJECTS: &str = r#"{ "name": "zinc", "type": "test.hard" }, { "name": "iron", "type": "test.hard" },
    { "name": "wool", "type": "test.soft" }, { "name": "silk", "type": "test.soft" },"#;

/// What the nodes said in the last substep of a cook of two frames.
fn said(bench: &Bench, nodes: &str) -> Vec<String> {
    bench.said.lock().unwrap().clear();
    bench.cook_into("a", &graph(2, nodes), false).unwrap_or_else(|e| panic!("{nodes}\n  gave: {e}"));
    std::fs::remove_dir_all(bench.out("a")).unwrap();
    let said = bench.said.lock().unwrap();
    let lines: Vec<String> = said
        .iter()
        .filter_map(|l| l.strip_prefix("Info "))
        .filter(|l| !l.contains("init"))
        .map(Into::into)
        .collect();
    // The first half is the objects' first half step.
    assert_eq!(lines[..lines.len() / 2], lines[lines.len() / 2..]);
    lines[lines.len() / 2..].to_vec()
}

/// Every init of a cook, in order, objects' own excepted.
fn inits(bench: &Bench, frames: u32, nodes: &str) -> Vec<String> {
    bench.said.lock().unwrap().clear();
    bench.cook_into("a", &graph(frames, nodes), false).unwrap_or_else(|e| panic!("{nodes}\n  gave: {e}"));
    std::fs::remove_dir_all(bench.out("a")).unwrap();
    let said = bench.said.lock().unwrap();
    said.iter()
        .filter_map(|l| l.strip_prefix("Info "))
        .filter(|l| l.contains("init"))
        .map(Into::into)
        .collect()
}

/// Asks every node whether the shot could begin.
fn checked(bench: &Bench, nodes: &str) -> Result<Vec<String>, String> {
    let manner = Manner { threads: 1, device: Device::Auto, paranoid: true, drop_caches: false };
    let network = bench.network(&graph(3, nodes)).map_err(|e| e.to_string())?;
    rehearse(&network, &bench.plugins, bench.folder.path(), manner).map_err(|e| e.to_string())
}

fn refused(bench: &Bench, nodes: &str) -> String {
    bench.cook_into("a", &graph(2, nodes), false).unwrap_err().to_string()
}

#[test]
fn an_inner_coupling_contributes_and_the_outermost_solves_once() {
    let bench = Bench::new(&[SHARES]);
    let nodes = format!(
        r#"{OBJECTS} {{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "silk"] }},
        {{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc", "iron"] }},
        {{ "name": "in", "type": "test.inner", "inputs": ["cloth"] }},
        {{ "name": "out", "type": "test.outer", "inputs": ["in", "metal"] }}"#
    );
    // Roles in their order, objects of a stage in wire order; whoever takes all sees them by name.
    let expected = [
        "metal: predict of zinc",
        "metal: predict of iron",
        "cloth: predict of wool",
        "cloth: predict of silk",
        "in: predict: silk wool",
        "out: predict: iron zinc | silk wool",
        "metal: contribute: iron zinc |",
        "cloth: contribute: silk wool |",
        "in: contribute: silk wool",
        "out: contribute: iron zinc | silk wool",
        "out: solve: iron zinc | silk wool",
        "out: correct: iron zinc | silk wool",
        "metal: correct of zinc",
        "metal: correct of iron",
        "in: correct: silk wool",
        "cloth: correct of wool",
        "cloth: correct of silk",
    ];
    assert_eq!(said(&bench, &nodes), expected);
    // What is wired first does not matter to whoever takes all.
    let turned = nodes.replace(r#"["in", "metal"]"#, r#"["metal", "in"]"#);
    assert_eq!(said(&bench, &turned), expected);
}

/// Two couplings, one in the other; the outer one stands first in the file.
fn nested(outer: &str, params: [&str; 4]) -> String {
    let [zinc, iron, wool, silk] = params;
    format!(
        r#"{{ "name": "out", "type": "test.{outer}", "inputs": ["in", "metal"] }},
        {{ "name": "in", "type": "test.inner", "inputs": ["cloth"] }},
        {{ "name": "zinc", "type": "test.hard"{zinc} }}, {{ "name": "iron", "type": "test.hard"{iron} }},
        {{ "name": "wool", "type": "test.soft"{wool} }}, {{ "name": "silk", "type": "test.soft"{silk} }},
        {{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "silk"] }},
        {{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc", "iron"] }}"#
    )
}

#[test]
fn a_coupling_begins_after_the_solvers_of_its_objects_and_inner_ones_first() {
    let bench = Bench::new(&[SHARES]);
    let inits = inits(&bench, 2, &nested("outer", [""; 4]));
    let (of_solvers, of_couplings) = inits.split_at(inits.len() - 2);
    assert_eq!(of_couplings, ["in: init: silk wool", "out: init: iron zinc | silk wool"]);
    for solver in ["metal: init of zinc", "metal: init of iron", "cloth: init of wool", "cloth: init of silk"]
    {
        assert_eq!(of_solvers.iter().filter(|l| *l == solver).count(), 1, "{inits:?}");
    }
    assert_eq!(of_solvers.len(), 4, "{inits:?}");
}

#[test]
fn a_coupling_begins_anew_with_every_object_and_sees_none_that_is_to_come() {
    let bench = Bench::new(&[SHARES]);
    let late = r#", "params": { "first": 3 }"#;
    let inits = inits(&bench, 4, &nested("outer", ["", late, "", ""]));
    let of_couplings: Vec<&String> = inits.iter().filter(|l| !l.contains(" of ")).collect();
    // The inner one has no part in what begins later.
    assert_eq!(
        of_couplings,
        ["in: init: silk wool", "out: init: zinc | silk wool", "out: init: iron zinc | silk wool"]
    );
}

#[test]
fn a_coupling_refuses_what_it_could_never_couple_when_checked() {
    let bench = Bench::new(&[SHARES]);
    let expected =
        "node `out`: cannot begin: `iron` has a grain of 2, `zinc` of 0; give both the same (in `share`)";
    let coarse = r#", "params": { "grain": 2 }"#;
    for iron in [coarse, r#", "params": { "grain": 2, "first": 2 }"#] {
        let nodes = nested("even", ["", iron, "", ""]);
        let found = checked(&bench, &nodes).unwrap_err();
        assert!(found.contains(expected), "{found}");
        let found = refused(&bench, &nodes);
        assert!(found.contains(expected), "{found}");
        let _ = std::fs::remove_dir_all(bench.out("a"));
    }
    checked(&bench, &nested("even", [coarse; 4])).unwrap();
}

#[test]
fn an_inner_coupling_of_two_media_runs_its_own_stage_once() {
    let bench = Bench::new(&[SHARES]);
    let nodes = format!(
        r#"{OBJECTS} {{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "silk"] }},
        {{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc", "iron"] }},
        {{ "name": "in", "type": "test.any", "inputs": ["cloth", "metal"] }},
        {{ "name": "out", "type": "test.outer", "inputs": ["in"] }}"#
    );
    let said = said(&bench, &nodes);
    let of = |node: &str| -> Vec<&String> { said.iter().filter(|l| l.starts_with(node)).collect() };
    // Each object once a stage, solids first, and the inner coupling after both.
    assert_eq!(
        said[..5],
        [
            "metal: predict of zinc",
            "metal: predict of iron",
            "cloth: predict of wool",
            "cloth: predict of silk",
            "in: predict: iron zinc | silk wool"
        ]
    );
    assert_eq!(of("in: contribute").len(), 1);
    assert_eq!(of("out: solve"), ["out: solve: iron zinc | silk wool"]);
    assert!(of("in: solve").is_empty());
}

#[test]
fn a_role_for_any_medium_takes_no_turn_of_a_medium_that_has_its_own() {
    let bench = Bench::new(&[SHARES]);
    let nodes = format!(
        r#"{OBJECTS} {{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "silk"] }},
        {{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc", "iron"] }},
        {{ "name": "in", "type": "test.outer", "inputs": ["cloth", "metal"] }},
        {{ "name": "out", "type": "test.any", "inputs": ["in"] }}"#
    );
    let said = said(&bench, &nodes);
    for call in
        ["cloth: predict of wool", "metal: predict of iron", "cloth: correct of silk", "in: contribute"]
    {
        assert_eq!(said.iter().filter(|l| l.starts_with(call)).count(), 1, "{call} in {said:?}");
    }
    assert!(said.contains(&"out: solve: iron zinc | silk wool".to_owned()), "{said:?}");
}

#[test]
fn without_a_coupling_solids_step_first_whatever_the_order_of_nodes() {
    let bench = Bench::new(&[SHARES]);
    let cloth = r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] }"#;
    let metal = r#"{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc"] }"#;
    let other = r#"{ "name": "a_metal", "type": "test.hard_solver", "inputs": ["iron"] }"#;
    for nodes in [[cloth, metal, other], [other, metal, cloth], [metal, cloth, other]] {
        let said = said(&bench, &format!("{OBJECTS} {}", nodes.join(",")));
        let solves: Vec<&String> = said.iter().filter(|l| l.contains("predict")).collect();
        assert_eq!(solves, ["a_metal: predict of iron", "metal: predict of zinc", "cloth: predict of wool"]);
    }
}

#[test]
fn solvers_step_by_rank_alone_and_in_a_role() {
    let bench = Bench::new(&[SHARES]);
    // Names and wires the other way round.
    let solvers = r#"{ "name": "a", "type": "test.smoke_solver", "inputs": ["silk"] },
        { "name": "b", "type": "test.soft_solver", "inputs": ["wool"] },
        { "name": "c", "type": "test.thin_solver", "inputs": ["felt"] },
        { "name": "d", "type": "test.hard_solver", "inputs": ["zinc", "iron"] }"#;
    let nodes = format!(r#"{OBJECTS} {{ "name": "felt", "type": "test.soft" }}, {solvers}"#);
    let predicts = |nodes: &str| -> Vec<String> {
        said(&bench, nodes).into_iter().filter(|l| l.contains("predict of")).collect()
    };
    let by_rank = [
        "d: predict of zinc",
        "d: predict of iron",
        "c: predict of felt",
        "b: predict of wool",
        "a: predict of silk",
    ];
    assert_eq!(predicts(&nodes), by_rank);
    let coupled =
        format!(r#"{nodes}, {{ "name": "out", "type": "test.outer", "inputs": ["a", "b", "c", "d"] }}"#);
    assert_eq!(predicts(&coupled), by_rank);
    // A coupling steps with the last of its own.
    let inner = format!(r#"{nodes}, {{ "name": "in", "type": "test.inner", "inputs": ["c", "a"] }}"#);
    let expected = [by_rank[0], by_rank[1], by_rank[3], by_rank[2], by_rank[4]];
    assert_eq!(predicts(&inner), expected);
}

#[test]
fn a_role_counts_who_plays_it_and_objects_apart() {
    let bench = Bench::new(&[SHARES]);
    // One solver with two objects, where one solver may play.
    let one = r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "silk"] },
        { "name": "out", "type": "test.few", "inputs": ["cloth"] }"#;
    assert!(said(&bench, &format!("{OBJECTS} {one}")).contains(&"out: solve: | silk wool".to_owned()));
    // Two solvers of the rest, where one object of cloth may play.
    let two = r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
        { "name": "metal", "type": "test.hard_solver", "inputs": ["zinc"] },
        { "name": "more", "type": "test.hard_solver", "inputs": ["iron"] },
        { "name": "out", "type": "test.lone", "inputs": ["cloth", "metal", "more"] }"#;
    assert!(said(&bench, &format!("{OBJECTS} {two}")).contains(&"out: solve: iron zinc | wool".to_owned()));
}

#[test]
fn a_force_reaches_what_any_medium_declares_movable_and_its_points_are_listed() {
    let bench = Bench::new(&[SHARES]);
    let nodes = r#"{ "name": "zinc", "type": "test.hard" }, { "name": "push", "type": "test.push" },
        { "name": "metal", "type": "test.hard_solver", "inputs": ["zinc", "push"] }"#;
    bench.cook_into("a", &graph(3, nodes), false).unwrap();
    let dots = &bench.stats("a")[1]["dots"];
    // In the first half step, and in two substeps.
    assert_eq!(dots[1]["at"], serde_json::json!([1.0, 2.0, 3.0]));
    assert_eq!((&dots[0]["quick"], &dots[1]["quick"]), (&false.into(), &true.into()));
    let state = bench.state("a");
    let dots = state.holders[&Holder::Object(0)].geometry("dots").unwrap();
    assert_eq!(dots.attributes.iter().find(|a| a.name == "v").unwrap().values.get(1), Some(3.0));
}

#[test]
fn a_port_can_be_cleared() {
    let bench = Bench::new(&[SHARES]);
    let nodes = r#"{ "name": "zinc", "type": "test.hard" }, { "name": "erase", "type": "test.eraser" },
        { "name": "metal", "type": "test.hard_solver", "inputs": ["zinc", "erase"] }"#;
    bench.cook_into("a", &graph(2, nodes), false).unwrap();
    assert!(!bench.state("a").holders[&Holder::Object(0)].ports.contains_key("share"));
}

#[test]
fn caches_that_are_dropped_before_every_call_change_nothing() {
    let bench = Bench::new(&[SHARES]);
    let nodes = r#"{ "name": "zinc", "type": "test.hard" },
        { "name": "metal", "type": "test.hard_solver", "inputs": ["zinc"] }"#;
    let has_a_cache = |bench: &Bench| bench.said.lock().unwrap().iter().any(|l| l.contains("has a cache"));
    bench.cook_into("kept", &graph(3, nodes), false).unwrap();
    assert!(has_a_cache(&bench));
    bench.said.lock().unwrap().clear();
    bench.drop_caches.store(true, Ordering::Relaxed);
    bench.cook_into("dropped", &graph(3, nodes), false).unwrap();
    assert!(!has_a_cache(&bench));
}

#[test]
fn what_would_be_left_out_or_meets_the_wrong_owner_is_refused() {
    let bench = Bench::new(&[SHARES]);
    for (nodes, expected) in [
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
               { "name": "in", "type": "test.selfish", "inputs": ["cloth"] },
               { "name": "out", "type": "test.any", "inputs": ["in"] }"#,
            "node `in`: its solve would never run: `out` solves in its stead, and it cannot contribute to that",
        ),
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
               { "name": "out", "type": "test.deaf", "inputs": ["cloth"] }"#,
            "node `cloth`: its share is never solved: `out` does not reach it",
        ),
        (
            r#"{ "name": "cloth", "type": "test.idle_solver", "inputs": ["wool"] },
               { "name": "out", "type": "test.any", "inputs": ["cloth"] }"#,
            "node `cloth`: it has no stage that runs in a substep",
        ),
        // Its port says that contribute writes the share.
        (
            r#"{ "name": "cloth", "type": "test.half_solver", "inputs": ["wool"] },
               { "name": "out", "type": "test.any", "inputs": ["cloth"] }"#,
            "node `cloth`: `out` reads its `share`, to be written in the stage contribute, and it has no such stage",
        ),
        (
            r#"{ "name": "cloth", "type": "test.bystander", "inputs": ["wool"] },
               { "name": "out", "type": "test.hopeful", "inputs": ["cloth"] }"#,
            "node `cloth`: `out` uses nothing that it has: wire it out of `out`, and it steps by itself",
        ),
        // One of two shares is passed on, and the other would be taken in a solve that never runs.
        (
            r#"{ "name": "cloth", "type": "test.double_solver", "inputs": ["wool"] },
               { "name": "in", "type": "test.passing", "inputs": ["cloth"] },
               { "name": "out", "type": "test.taking", "inputs": ["in"] }"#,
            "node `cloth`: what it contributes is lost: `in` would take its `share`, but `out` solves in its stead",
        ),
        // It looks for a port that nobody fills.
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
               { "name": "out", "type": "test.hopeful", "inputs": ["cloth"] }"#,
            "node `cloth`: its share is never solved: `out` does not reach it",
        ),
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
               { "name": "in", "type": "test.inner", "inputs": ["cloth"] },
               { "name": "out", "type": "test.outer", "inputs": ["in", "cloth"] }"#,
            "takes part in both `in` and `out`; wire one into the other",
        ),
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
               { "name": "more", "type": "test.soft_solver", "inputs": ["silk"] },
               { "name": "out", "type": "test.few", "inputs": ["cloth", "more"] }"#,
            "node `out`: has no place for `more` of medium `soft`; it couples any other, \
             `soft` (one solver or coupling)",
        ),
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "silk"] },
               { "name": "out", "type": "test.lone", "inputs": ["cloth"] }"#,
            "node `out`: couples at most one object in the role `soft`, found 2: `silk`, `wool`",
        ),
        (
            r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] },
               { "name": "more", "type": "test.soft_solver", "inputs": ["silk"] },
               { "name": "out", "type": "test.lone", "inputs": ["cloth", "more"] }"#,
            "node `out`: couples at most one object in the role `soft`, found 2: `silk`, `wool`",
        ),
        (
            r#"{ "name": "cloth", "type": "test.mixed", "inputs": ["wool"] }"#,
            "node `cloth`: predict uses port `share`, said to be of one object, and this stage takes all objects",
        ),
        (
            r#"{ "name": "grip", "type": "test.grasping" },
               { "name": "cloth", "type": "test.soft_solver", "inputs": ["wool", "grip"] }"#,
            "node `grip`: predict uses port `share`, said to be of participants, which only a coupling has",
        ),
        (
            r#"{ "name": "cloth", "type": "test.forgetful", "inputs": ["wool"] }"#,
            "node `cloth`: port `share` is deleted after each substep, for `wool` it is kept",
        ),
    ] {
        let error = refused(&bench, &format!("{OBJECTS} {nodes}"));
        assert!(error.contains(expected), "{nodes}\n  gave: {error}");
    }
}

/// A coupling that plays two roles at the next is visited once for both: twice a level would be 2^60 visits.
#[test]
fn couplings_within_couplings_are_planned_level_by_level() {
    let bench = Bench::new(&[SHARES]);
    let mut nodes = format!(
        r#"{OBJECTS} {{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] }},
        {{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc"] }},
        {{ "name": "c0", "type": "test.outer", "inputs": ["cloth", "metal"] }}"#
    );
    for level in 1..60 {
        let below = level - 1;
        nodes += &format!(r#", {{ "name": "c{level}", "type": "test.outer", "inputs": ["c{below}"] }}"#);
    }
    let network = bench.network(&graph(2, &nodes)).unwrap();
    let plan = Plan::new(&network).unwrap();
    let solves = |call: &&meniscus_host::engine::Call| call.stage == meniscus_host::node::Stage::Solve;
    assert_eq!(plan.calls.iter().filter(solves).count(), 1);
}

#[test]
fn stages_that_no_schedule_names_are_told_of() {
    let bench = Bench::new(&[SHARES]);
    let advice = |nodes: &str| {
        let network = bench.network(&graph(2, &format!("{OBJECTS} {nodes}"))).unwrap();
        let plan = Plan::new(&network).unwrap();
        let mut evaluator = Evaluator::new(&network, bench.folder.path());
        estimate(&network, &plan, &mut evaluator).unwrap().advice.join("\n")
    };
    let said = advice(r#"{ "name": "cloth", "type": "test.eager_solver", "inputs": ["wool"] }"#);
    let expected =
        "node `cloth`: no coupling around it calls its stages `advance` and `transport`: it steps without";
    assert!(said.contains(expected), "{said}");
    let said = advice(r#"{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] }"#);
    assert!(!said.contains("coupling around it"), "{said}");
    let coupled = |by: &str| {
        advice(&format!(
            r#"{{ "name": "cloth", "type": "test.soft_solver", "inputs": ["wool"] }},
            {{ "name": "metal", "type": "test.hard_solver", "inputs": ["zinc"] }},
            {{ "name": "out", "type": "test.{by}", "inputs": ["cloth", "metal"] }}"#
        ))
    };
    let (good, hasty) = (coupled("outer"), coupled("hasty"));
    assert!(!good.contains("coupling around it"), "{good}");
    for (node, words) in [
        ("metal", "the coupling around it calls its stage `predict` several times a substep"),
        ("cloth", "no coupling around it calls its stage `correct`: it steps without"),
        ("out", "its schedule leaves out its stages `predict` and `correct`: it steps without"),
    ] {
        assert!(hasty.contains(&format!("node `{node}`: {words}")), "{hasty}");
    }
}

#[test]
fn a_node_that_needs_a_gpu_runs_only_where_there_is_one() {
    let bench = Bench::new(&[SHARES]);
    let nodes = format!(r#"{OBJECTS} {{ "name": "cloth", "type": "test.needy", "inputs": ["wool"] }}"#);
    let result = bench.cook_into("a", &graph(2, &nodes), false);
    let there = std::path::Path::new("/dev/nvidiactl").exists();
    match result {
        Ok(_) => assert!(there, "it ran without a GPU"),
        Err(e) => assert!(!there && e.to_string().contains("node `cloth`: needs a GPU"), "{e}"),
    }
}
