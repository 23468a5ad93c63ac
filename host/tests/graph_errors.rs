//! Every mistake in a graph gets a sentence that names the node, the parameter and what was expected.

use meniscus_host::geometry;
use meniscus_host::graph::{Graph, Network, Override, Types};
use meniscus_host::node::{Contract, NodeKind, NodeType, ParamSpec, Value};
use proptest::prelude::*;
use std::sync::Arc;

/// The host's geometry nodes and a few of the kinds that plugins bring.
fn types() -> Types {
    let mut types = Types::default();
    geometry::types().into_iter().for_each(|t| assert!(types.add(Arc::new(t))));
    let plugin = |id: &str, kind, accepts: &[NodeKind], params| {
        let inputs = if kind == NodeKind::Force { (0, Some(0)) } else { (1, None) };
        let contract = Contract { accepts: accepts.to_vec(), ..Contract::default() };
        Arc::new(NodeType { params, contract: Some(contract), ..NodeType::host(id, id, kind, inputs, "") })
    };
    let mut separation = ParamSpec::number("particle_separation", "Particle Separation", &[0.1], "m", "")
        .within(Some(1e-6), Some(100.0));
    separation.animatable = false;
    let liquid = vec![
        separation,
        ParamSpec::number("viscosity", "Viscosity", &[0.0], "Pa·s", "").within(Some(0.0), None),
        ParamSpec::toggle("reseed", "Reseed", true, ""),
        ParamSpec::integer("seed", "Seed", 0, ""),
        ParamSpec::menu("transfer", "Velocity Transfer", &[("apic", "APIC"), ("flip", "FLIP")], ""),
        ParamSpec::texts("keep", "Keep", &[], ""),
        ParamSpec::number("velocity", "Velocity", &[0.0; 3], "m/s", ""),
    ];
    use NodeKind::{Coupling, Force, Geometry, Object, Solver};
    types.add(plugin("meniscus.liquid_object", Object, &[Geometry], liquid));
    types.add(plugin("meniscus.gravity", Force, &[], vec![]));
    types.add(plugin("meniscus.flip_solver", Solver, &[Object, Force], vec![]));
    types.add(plugin("meniscus.bubbles", Coupling, &[Solver, Coupling], vec![]));
    types
}

fn bind(text: &str, set: &[&str]) -> Result<Network, String> {
    let overrides: Vec<_> = set.iter().map(|s| Override::parse(s).unwrap()).collect();
    let graph = Graph::read(text, &overrides).map_err(|e| e.to_string())?;
    Network::bind(&graph, &types()).map_err(|e| e.to_string())
}

fn graph(nodes: &str) -> String {
    format!(r#"{{ "format": "meniscus.graph/1", "nodes": [{nodes}] }}"#)
}

fn water(params: &str) -> String {
    graph(&format!(
        r#"{{"name": "b", "type": "box"}}, {{"name": "water", "type": "liquid_object", "inputs": ["b"], "params": {{{params}}}}}"#
    ))
}

#[test]
fn mistakes_in_nodes_and_parameters_are_named() {
    let deep = format!("\"velocity\": {}1{}", "[".repeat(100), "]".repeat(100));
    for (params, expected) in [
        (
            r#""particle_seperation": 1"#,
            "node `water`, parameter `particle_seperation`: `liquid_object` has no such parameter; did you mean `particle_separation`?",
        ),
        (
            r#""particle_separation": "big""#,
            "parameter `particle_separation`: expected a number in m, found the text \"big\"",
        ),
        (r#""particle_separation": -1"#, "-1 m is below the smallest value allowed, 1e-6 m"),
        (r#""particle_separation": 1e9"#, "above the largest value allowed"),
        (r#""viscosity": 1e300"#, "too large to be meant"),
        (r#""viscosity": [1, 2]"#, "expected a number in Pa·s, found a list of 2"),
        (r#""velocity": [1, 2]"#, "expected a list of 3 numbers in m/s, found a list of 2"),
        (r#""velocity": [1, 2, "x"]"#, "found the text \"x\""),
        (r#""velocity": 3"#, "expected a list of 3 numbers in m/s, found the number 3"),
        (r#""reseed": 1"#, "expected true or false, found the number 1"),
        (r#""seed": 1.5"#, "expected a whole number, found 1.5"),
        (r#""transfer": "apc""#, "expected one of apic, flip, found \"apc\"; did you mean `apic`?"),
        (r#""keep": ["a", 1]"#, "expected a list of texts"),
        (r#""viscosity": null"#, "found null"),
        (r#""viscosity": "$nu""#, "there is no variable `$nu`"),
        (r#""viscosity": {"keys": []}"#, "keyframes need at least one key"),
        (r#""viscosity": {"keys": [[1, 0], [1, 2]]}"#, "key number 2: frame 1 does not come after"),
        (r#""viscosity": {"keys": [[1, -2]]}"#, "key number 1: -2 Pa·s is below"),
        (r#""viscosity": {"keys": [[1]]}"#, "key number 1: expected [frame, value]"),
        (r#""viscosity": {"keys": [[1, 2]], "ease": "lineer"}"#, "did you mean `linear`?"),
        (r#""viscosity": {"key": [[1, 2]]}"#, "did you mean `keys`?"),
        (r#""particle_separation": {"keys": [[1, 2]]}"#, "takes no keyframes"),
        (&deep, "expected a list of 3 numbers"),
    ] {
        let e = bind(&water(params), &[]).expect_err(params);
        assert!(e.contains(expected), "{params}\n  gave: {e}\n  expected: {expected}");
    }
}

#[test]
fn mistakes_in_wiring_are_named() {
    for (nodes, expected) in [
        (r#"{"name": "a", "type": "boks"}"#, "node `a`: there is no node type `boks`; did you mean `box`?"),
        (r#"{"name": "a", "type": "box", "version": 9}"#, "type `box` has no version 9; there is version 1"),
        (
            r#"{"name": "a", "type": "box"}, {"name": "a", "type": "box"}"#,
            "node `a`: two nodes have this name",
        ),
        (
            r#"{"name": "a", "type": "transform", "inputs": ["b"]}, {"name": "bb", "type": "box"}"#,
            "node `a`: input `b` is no node of this graph; did you mean `bb`?",
        ),
        (
            r#"{"name": "a", "type": "transform", "inputs": ["b"]}, {"name": "b", "type": "transform", "inputs": ["a"]}"#,
            "nodes feed each other in a circle: ",
        ),
        (r#"{"name": "a", "type": "merge", "inputs": ["a"]}"#, "in a circle: a → a"),
        (r#"{"name": "a", "type": "transform"}"#, "node `a`: needs at least 1 input, found 0"),
        (
            r#"{"name": "b", "type": "box"}, {"name": "c", "type": "box", "inputs": ["b"]}"#,
            "takes at most 0 inputs, found 1",
        ),
        (
            r#"{"name": "b", "type": "box"}, {"name": "m", "type": "merge", "inputs": ["b", "b"]}"#,
            "input `b` is wired in twice",
        ),
        (
            r#"{"name": "b", "type": "box"}, {"name": "s", "type": "flip_solver", "inputs": ["b"]}"#,
            "node `s`: input `b` is a geometry node; a solver node takes object or force nodes",
        ),
        (
            r#"{"name": "g", "type": "gravity"}, {"name": "c", "type": "bubbles", "inputs": ["g"]}"#,
            "input `g` is a force node",
        ),
        (r#"{"name": "a b", "type": "box"}"#, "the name \"a b\" may hold only letters"),
        (r#"{"name": "../x", "type": "box"}"#, "may hold only letters"),
        (r#"{"name": "fps", "type": "box"}"#, "reserved word"),
        (r#"{"name": "", "type": "box"}"#, "is empty"),
        (r#"{"type": "box"}"#, "node number 1: expected a \"name\""),
        (r#"{"name": "a"}"#, "node `a`: expected a \"type\""),
        (r#"{"name": "a", "type": 3}"#, "`type`: expected the name of a node type, found the number 3"),
        (r#"{"name": "a", "type": "box", "inputs": "b"}"#, "`inputs`: expected a list of node names"),
        (r#"{"name": "a", "type": "box", "bypass": "yes"}"#, "`bypass`: expected true or false"),
        (r#"{"name": "a", "type": "box", "version": 1.5}"#, "`version`: expected a whole number"),
        (
            r#"{"name": "a", "type": "box", "parms": {}}"#,
            "node `a`: unknown key `parms`; did you mean `params`?",
        ),
        (r#"{"name": "a", "type": "box", "params": [1]}"#, "`params`: expected an object"),
        ("3", "node number 1: expected an object"),
    ] {
        let e = bind(&graph(nodes), &[]).expect_err(nodes);
        assert!(e.contains(expected), "{nodes}\n  gave: {e}\n  expected: {expected}");
    }
}

#[test]
fn mistakes_in_the_file_as_a_whole_are_named() {
    let f = r#""format": "meniscus.graph/1""#;
    for (text, expected) in [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "expected an object"),
        ("{}", "the key \"format\": \"meniscus.graph/1\" is missing"),
        (r#"{"format": "meniscus.graph/2", "nodes": []}"#, "a newer Meniscus is needed"),
        (r#"{"format": 1, "nodes": []}"#, "`format`: expected"),
        (&format!("{{{f}}}"), "expected a list of \"nodes\""),
        (&format!("{{{f}, \"nodes\": 3}}"), "`nodes`: expected a list"),
        (&format!("{{{f}, \"nodes\": [], \"fpss\": 24}}"), "unknown key `fpss`; did you mean `fps`?"),
        (&format!("{{{f}, \"nodes\": [], \"fps\": 0}}"), "`fps`: expected frames per second between"),
        (&format!("{{{f}, \"nodes\": [], \"fps\": 1e999}}"), "number out of range"),
        (
            &format!("{{{f}, \"nodes\": [], \"frames\": [10, 1]}}"),
            "the last frame 1 comes before the first 10",
        ),
        (&format!("{{{f}, \"nodes\": [], \"frames\": [1, 1e12]}}"), "frame numbers reach from"),
        (&format!("{{{f}, \"nodes\": [], \"frames\": [1]}}"), "expected two whole frame numbers"),
        (
            &format!("{{{f}, \"nodes\": [], \"substeps\": {{\"min\": 9, \"max\": 2}}}}"),
            "`min` 9 is larger than `max` 2",
        ),
        (
            &format!("{{{f}, \"nodes\": [], \"substeps\": {{\"cfl\": 0}}}}"),
            "`cfl` expects a number from 0.001",
        ),
        (&format!("{{{f}, \"nodes\": [], \"substeps\": {{\"mim\": 1}}}}"), "did you mean `min`?"),
        (&format!("{{{f}, \"nodes\": [], \"quality\": 3}}"), "`quality`: expected an object"),
        (
            &format!("{{{f}, \"nodes\": [], \"quality\": {{\"a\": {{}}, \"default\": \"b\"}}}}"),
            "quality `default`: expected the name of a quality",
        ),
        (
            &format!("{{{f}, \"nodes\": [], \"variables\": {{\"a b\": 1}}}}"),
            "variable `a b`: a name is letters",
        ),
        (
            &format!("{{{f}, \"nodes\": [], \"variables\": {{\"a\": \"1\"}}}}"),
            "variable `a`: expected a number",
        ),
        (&format!("{{{f}, {f}, \"nodes\": []}}"), "`format` stands twice"),
    ] {
        let e = bind(text, &[]).expect_err(text);
        assert!(e.contains(expected), "{text}\n  gave: {e}\n  expected: {expected}");
    }
}

#[test]
fn mistakes_in_overrides_are_named() {
    for (set, expected) in [
        ("wate.viscosity=1", "there is no node `wate`; did you mean `water`?"),
        ("water.viscosty=1", "did you mean `viscosity`?"),
        ("water.bypass=2", "parameter `bypass`: expected true or false"),
        ("voxel=1", "there is no such variable or setting"),
        ("quality=preview", "this graph offers no choice of quality"),
        ("fps=fast", "`fps`: expected frames per second"),
        ("substeps.max=0", "`substeps.max`: `max` expects a whole number"),
    ] {
        let e = bind(&water(""), &[set]).expect_err(set);
        assert!(e.contains(expected), "{set}\n  gave: {e}\n  expected: {expected}");
    }
}

const QUALITY: &str = r#"{ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 300],
  "variables": { "half": 0.5 },
  "quality": { "default": "final", "preview": { "voxel": 0.04, "frames": [1, 48], "substeps": {"max": 4} }, "final": { "voxel": 0.01 } },
  "nodes": [ {"name": "b", "type": "box", "params": {"size": [1, "$voxel*8", 1]}},
             {"name": "water", "type": "liquid_object", "inputs": ["b"], "params": {"particle_separation": "$voxel * $half"}} ] }"#;

#[test]
fn quality_sets_variables_and_settings() {
    let number =
        |n: &Network, param: &str| match n.node("water").unwrap().params_at(1.0).values[param].clone() {
            Value::Numbers(v) => v[0],
            other => panic!("{other:?}"),
        };
    let f = bind(QUALITY, &[]).unwrap();
    assert_eq!((number(&f, "particle_separation"), f.settings.frames), (0.005, (1, 300)));
    assert_eq!(f.settings.quality.as_deref(), Some("final"));
    let p = bind(QUALITY, &["quality=preview"]).unwrap();
    assert_eq!(
        (number(&p, "particle_separation"), p.settings.frames, p.settings.substeps.max),
        (0.02, (1, 48), 4)
    );
    let s = bind(QUALITY, &["quality=preview", "voxel=0.1", "frames=[1,2]", "water.viscosity=2"]).unwrap();
    assert_eq!(
        (number(&s, "particle_separation"), s.settings.frames, number(&s, "viscosity")),
        (0.05, (1, 2), 2.0)
    );
    assert!(bind(QUALITY, &["quality=prevew"]).unwrap_err().contains("did you mean `preview`?"));
}

#[test]
fn every_node_stands_after_its_inputs_in_any_file_order() {
    let n = bind(
        &graph(r#"{"name": "m", "type": "merge", "inputs": ["t", "b"]}, {"name": "t", "type": "transform", "inputs": ["b"]}, {"name": "b", "type": "box"}"#),
        &[],
    )
    .unwrap();
    let names: Vec<_> = n.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["b", "t", "m"]);
    assert_eq!(n.nodes[2].inputs, [1, 0]);
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| format!("{x:e}")),
        "\"[-a-z$*_/. é]{0,12}\"",
        prop::sample::select(vec!["\"box\"", "\"water\"", "\"keys\"", "1", "24"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let keys = prop::sample::select(vec![
            "format",
            "nodes",
            "name",
            "type",
            "inputs",
            "params",
            "fps",
            "frames",
            "substeps",
            "quality",
            "keys",
            "size",
            "min",
            "viscosity",
            "version",
            "bypass",
            "default",
            "variables",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::vec((keys, inner), 0..6).prop_map(|v| format!(
                "{{{}}}",
                v.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect::<Vec<_>>().join(",")
            )),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = bind(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn any_json_is_read_or_refused(nodes in any_json(), rest in any_json()) {
        let _ = bind(&format!(r#"{{"format": "meniscus.graph/1", "nodes": [{nodes}], "quality": {rest}}}"#), &["b.size=1"]);
        let _ = bind(&format!(r#"{{"format": "meniscus.graph/1", "nodes": {nodes}, "substeps": {rest}}}"#), &[]);
        let _ = bind(&water(&format!(r#""viscosity": {rest}, "velocity": {nodes}"#)), &[]);
    }

    #[test]
    fn a_graph_with_a_bite_taken_out_is_read_or_refused(from in 0usize..600, len in 0usize..80) {
        let mut text = QUALITY.as_bytes().to_vec();
        let from = from.min(text.len());
        text.drain(from..(from + len).min(text.len()));
        let _ = bind(&String::from_utf8_lossy(&text), &[]);
    }
}
