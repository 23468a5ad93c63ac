//! A host in plain C runs a substep of our plugin: a block of liquid in free fall.

use meniscus_tests::{c, root};

#[test]
fn a_c_program_runs_a_substep() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = c::run(&root().join("tests/abi/c_host.c"), &[c::our_plugin()], folder.path());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let value = |name: &str| -> f64 {
        let line =
            text.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_else(|| panic!("no {name}in {text}"));
        line.trim().parse().expect("a number")
    };
    // A 0.2 m block at 0.01 m separation holds 20³ particles, give or take the voxels its faces cut.
    assert!((value("particles ") - 8000.0).abs() < 1600.0, "{text}");
    // Nothing holds it: all of it falls as one, and no pressure pushes it aside.
    assert!((value("fall ") / value("expected_fall ") - 1.0).abs() < 1e-4, "{text}");
    assert!(value("aside ") < 1e-4, "{text}");
    assert!(value("surface_leaves ") > 0.0);
}
