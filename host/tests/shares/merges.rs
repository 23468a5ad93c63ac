//! What several nodes put into one port: who is first does not matter, or the graph is refused.

use super::c_plugins::{Bench, graph};
use meniscus_host::data::Data;
use meniscus_host::engine::{Holder, Slot};

const PUSHES: &str = "tests/c_plugins/pushes.c";

/// A thing and forces on it, wired in this order: names, types and numbers.
fn nodes(forces: &[(&str, &str, f64)]) -> String {
    let made = forces.iter().map(|(name, kind, value)| {
        format!(r#"{{ "name": "{name}", "type": "{kind}", "params": {{ "value": {value} }} }}, "#)
    });
    let wired: String = forces.iter().map(|f| format!(r#", "{}""#, f.0)).collect();
    format!(
        r#"{{ "name": "thing", "type": "test.thing", "params": {{ "value": 3 }} }}, {}
           {{ "name": "mover", "type": "test.mover", "inputs": ["thing"{wired}] }}"#,
        made.collect::<String>()
    )
}

/// What is at the port after three frames.
fn pushed(bench: &Bench, forces: &[(&str, &str, f64)]) -> f64 {
    bench.cook_into("a", &graph(3, &nodes(forces)), false).unwrap();
    let state = bench.state("a");
    std::fs::remove_dir_all(bench.out("a")).unwrap();
    let slot = Slot { holder: Holder::Object(0), port: "push".into() };
    let Some(Data::Grid(push)) = state.get(&slot) else { panic!("there is no push") };
    push.value(0, [1, 2, 3])
}

#[test]
fn what_is_added_does_not_depend_on_the_order_of_wires() {
    let bench = Bench::new(&[PUSHES]);
    // In f32 a sum depends on its order.
    let [a, b, c] = [("a", 1e8), ("b", -1e8), ("c", 0.5)];
    for order in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        let of = |kind| order.map(|(name, value)| (name, kind, value));
        assert_eq!(pushed(&bench, &of("test.adds")), 0.5, "{order:?}");
        assert_eq!(pushed(&bench, &of("test.least")), -1e8, "{order:?}");
    }
}

#[test]
fn who_changes_what_is_there_acts_in_turn() {
    let bench = Bench::new(&[PUSHES]);
    let (one, two, double) =
        (("one", "test.adds", 1.0), ("two", "test.adds", 2.0), ("double", "test.doubles", 0.0));
    assert_eq!(pushed(&bench, &[one, two, double]), 6.0);
    assert_eq!(pushed(&bench, &[one, double, two]), 4.0);
    assert_eq!(pushed(&bench, &[two, double, one]), 5.0);
}

#[test]
fn rules_that_do_not_go_together_are_refused() {
    let bench = Bench::new(&[PUSHES]);
    let (adds, least, replaces) =
        (("add", "test.adds", 1.0), ("min", "test.least", 2.0), ("put", "test.replaces", 4.0));
    for (forces, expected) in [
        ([adds, replaces], "node `put`: port `push` replaces what is there, for `add` it adds to it"),
        ([replaces, adds], "node `add`: port `push` adds to it, for `put` it replaces what is there"),
        ([adds, least], "node `min`: port `push` takes the least, for `add` it adds to it"),
    ] {
        let error = bench.cook_into("a", &graph(2, &nodes(&forces)), false).unwrap_err().to_string();
        assert!(error.contains(expected), "{forces:?} gave: {error}");
        assert!(error.contains("the result would depend on which of them runs first"), "{error}");
    }
}
