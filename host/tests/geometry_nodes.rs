//! Geometry nodes as a graph uses them: motion, rest positions, sequences, errors; and the mesh readers on
//! bytes that are no meshes.

use meniscus_host::data::{Geometry, Owner};
use meniscus_host::geometry::{
    self, Evaluator, RIGID_ANGULAR, RIGID_LINEAR, RIGID_NEXT, RIGID_TRANSFORM, read_mesh,
};
use meniscus_host::graph::{Graph, Network, Types};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

fn network(nodes: &str) -> Network {
    let mut types = Types::default();
    geometry::types().into_iter().for_each(|t| assert!(types.add(Arc::new(t))));
    let text = format!(r#"{{ "format": "meniscus.graph/1", "fps": 24, "nodes": [{nodes}] }}"#);
    Network::bind(&Graph::read(&text, &[]).unwrap(), &types).unwrap()
}

fn detail(g: &Geometry, name: &str) -> Vec<f64> {
    g.attribute(Owner::Detail, name).unwrap().values.as_f64().unwrap().to_vec()
}

const SPIN: &str = r#"{"name": "b", "type": "box"},
    {"name": "t", "type": "transform", "inputs": ["b"], "params": {
        "translate": {"keys": [[1, [0, 0, 0]], [25, [2, 0, 0]]]},
        "rotate": {"keys": [[1, [0, 0, 0]], [25, [0, 90, 0]]]}, "scale": [1, 2, 1] }}"#;

#[test]
fn rigid_motion_gives_v_rest_positions_and_the_transform() {
    let n = network(SPIN);
    let mut e = Evaluator::new(&n, Path::new("."));
    let dt = 1.0 / 96.0;
    let a = e.evaluate(&n, 1, 5.0, dt, 0.0).unwrap();
    let b = e.evaluate(&n, 1, 5.25, dt, 0.0).unwrap();
    let stamp = |g: &Geometry| g.attribute(Owner::Point, "restP").unwrap().value_id;
    assert_eq!(stamp(&a), stamp(&b));
    assert_eq!(a.topology_id, b.topology_id);
    assert!((detail(&a, RIGID_LINEAR)[0] - 2.0).abs() < 1e-9);
    let spin = std::f64::consts::FRAC_PI_2;
    assert!((detail(&a, RIGID_ANGULAR)[1] - spin).abs() < 1e-9);
    // Where it goes next is told as well; where nobody says for how long, it goes on as it came.
    let slowing = network(&SPIN.replace("[25, [2, 0, 0]]", "[5, [2, 0, 0]], [25, [2, 0, 0]]"));
    let g = Evaluator::new(&slowing, Path::new(".")).evaluate(&slowing, 1, 5.0, dt, dt).unwrap();
    assert!((detail(&g, RIGID_LINEAR)[0] - 12.0).abs() < 1e-9 && detail(&g, RIGID_NEXT[0])[0].abs() < 1e-9);
    assert!((detail(&g, RIGID_NEXT[1])[1] - spin).abs() < 1e-9);
    assert_eq!(detail(&a, RIGID_NEXT[0]), detail(&a, RIGID_LINEAR));
    // The transform takes rest positions to positions, and v is what moved them.
    let m = detail(&b, RIGID_TRANSFORM);
    let rest = b.point_vectors("restP").unwrap();
    let v = b.point_vectors("v").unwrap();
    for i in 0..b.points {
        for c in 0..3 {
            let x: f64 = (0..3).map(|k| f64::from(rest[i][k]) * m[4 * k + c]).sum::<f64>() + m[12 + c];
            assert!((x - f64::from(b.positions()[i][c])).abs() < 1e-6);
            let moved = f64::from(b.positions()[i][c] - a.positions()[i][c]) / dt;
            assert!((moved - f64::from(v[i][c])).abs() < 0.02, "{moved} vs {}", v[i][c]);
        }
    }
}

/// However long a chain is, it takes no stack, and every node is made once a moment: the time of a long one grows with
/// its length.
#[test]
fn chains_are_as_long_as_they_like() {
    const LENGTH: usize = 20_000;
    let mut nodes = vec![r#"{"name": "b", "type": "box"}"#.to_owned()];
    nodes.push(r#"{"name": "t0", "type": "transform", "inputs": ["b"], "params": { "translate": {"keys": [[1, [0, 0, 0]], [2, [1, 0, 0]]]} }}"#.into());
    nodes.extend((1..LENGTH).map(|i| {
        format!(r#"{{"name": "t{i}", "type": "transform", "inputs": ["t{}"], "params": {{"translate": [0, 1e-3, 0]}}}}"#, i - 1)
    }));
    let n = network(&nodes.join(","));
    let mut e = Evaluator::new(&n, Path::new("."));
    let last = e.evaluate(&n, LENGTH, 2.0, 0.1, 0.0).unwrap();
    for node in 0..=LENGTH {
        e.evaluate(&n, node, 1.0, 0.0, 0.0).unwrap();
    }
    let low = |g: &Geometry| g.bounds().unwrap().0;
    let first = e.evaluate(&n, 0, 2.0, 0.1, 0.0).unwrap();
    assert!((low(&last)[0] - low(&first)[0] - 1.0).abs() < 1e-3);
    assert!((low(&last)[1] - low(&first)[1] - 19.999).abs() < 0.05);
}

#[test]
fn still_geometry_keeps_its_stamps_and_has_no_velocity() {
    let n = network(
        r#"{"name": "b", "type": "box"}, {"name": "t", "type": "transform", "inputs": ["b"], "params": {"translate": [1, 0, 0]}}"#,
    );
    let mut e = Evaluator::new(&n, Path::new("."));
    let (a, b) = (e.evaluate(&n, 1, 1.0, 0.0, 0.0).unwrap(), e.evaluate(&n, 1, 9.0, 0.1, 0.0).unwrap());
    assert!(Arc::ptr_eq(&a, &b));
    assert!(a.point_vectors("v").is_none());
    assert_eq!(a.bounds(), Some(([0.5, -0.5, -0.5], [1.5, 0.5, 0.5])));
}

#[test]
fn at_the_first_frame_the_velocity_is_what_comes() {
    let n = network(SPIN);
    let g = Evaluator::new(&n, Path::new(".")).evaluate(&n, 1, 1.0, 0.0, 0.0).unwrap();
    assert!((detail(&g, RIGID_LINEAR)[0] - 2.0).abs() < 1e-6);
}

#[test]
fn a_growing_box_moves_point_by_point() {
    let n = network(
        r#"{"name": "b", "type": "box", "params": {"size": {"keys": [[1, [1, 1, 1]], [25, [3, 1, 1]]]}}}"#,
    );
    let g = Evaluator::new(&n, Path::new(".")).evaluate(&n, 0, 13.0, 1.0 / 24.0, 0.0).unwrap();
    assert!(g.attribute(Owner::Point, "restP").is_none());
    for (p, v) in g.positions().iter().zip(g.point_vectors("v").unwrap()) {
        assert!((v[0] - p[0].signum()).abs() < 1e-3, "{v:?}");
    }
}

#[test]
fn errors_name_node_and_parameter() {
    for (nodes, expected) in [
        (
            r#"{"name": "f", "type": "file"}"#,
            "node `f`, parameter `file`: expected the name of an .obj or .ply file",
        ),
        (
            r#"{"name": "f", "type": "file", "params": {"file": "none.obj"}}"#,
            "node `f`, parameter `file`: ./none.obj: No such file",
        ),
        (r#"{"name": "f", "type": "file", "params": {"file": "x.abc"}}"#, "expected an .obj or .ply file"),
        (
            r#"{"name": "b", "type": "box"}, {"name": "f", "type": "transform", "inputs": ["b"], "params": {"scale": [1, 0, 1]}}"#,
            "node `f`, parameter `scale`: the scale along y is 0",
        ),
        (
            r#"{"name": "b", "type": "box", "params": {"size": [1e5,1,1]}}, {"name": "f", "type": "transform", "inputs": ["b"], "params": {"scale": [1e4, 1, 1]}}"#,
            "node `f`: a point lies at",
        ),
        (
            r#"{"name": "f", "type": "tube", "params": {"thickness": 3}}"#,
            "node `f`, parameter `thickness`: a wall of 3 m leaves no room",
        ),
    ] {
        let n = network(nodes);
        let e = Evaluator::new(&n, Path::new("."))
            .evaluate(&n, n.nodes.len() - 1, 1.0, 0.0, 0.0)
            .expect_err(nodes)
            .to_string();
        assert!(e.contains(expected), "{nodes}\n  gave: {e}");
    }
}

fn read(extension: &str, bytes: &[u8]) -> Result<Geometry, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("m.{extension}"));
    std::fs::write(&path, bytes).unwrap();
    read_mesh(&path)
}

fn sound(result: Result<Geometry, String>) {
    if let Ok(g) = result {
        assert_eq!(g.defect(), None);
        assert!(g.positions().iter().flatten().all(|c| c.is_finite()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_a_mesh_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        sound(read("obj", &bytes));
        sound(read("ply", &bytes));
    }

    #[test]
    fn any_lines_are_an_obj_or_refused(text in "((v|f|l|vt|#) ([-0-9./ e]|nan|inf){0,20}\\\\?\n){0,12}") {
        sound(read("obj", text.as_bytes()));
    }

    #[test]
    fn any_body_is_a_ply_or_refused(
        format in "(ascii|binary_little_endian|binary_big_endian)",
        counts in (0u64..1u64 << 40, 0u64..6),
        small in any::<bool>(),
        types in ("(char|uchar|int|float|double)", "(uchar|int|float|double)"),
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let points = if small { counts.0 % 5 } else { counts.0 };
        let (a, b) = types;
        let mut bytes = format!(
            "ply\nformat {format} 1.0\nelement vertex {points}\nproperty {a} x\nproperty {a} y\nproperty {a} z\n\
             element face {}\nproperty list {b} {b} vertex_indices\nend_header\n", counts.1).into_bytes();
        bytes.extend(body);
        sound(read("ply", &bytes));
    }
}
