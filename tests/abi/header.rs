//! The header compiles by itself, in C99 and C++17, and so does every C file of the project.

use meniscus_tests::{c, root};

#[test]
fn header_is_c99_and_cxx17() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, mut compiler) in [("alone.c", c::c99()), ("alone.cpp", c::cxx17())] {
        let source = folder.path().join(name);
        let text = "#include \"meniscus_find.h\"\n#include \"meniscus.h\"\n#include \"meniscus_find.h\"\n\
                    extern const uint64_t layout;\nconst uint64_t layout = MNS_LAYOUT_HASH;\n";
        std::fs::write(&source, text).expect("the probe is written");
        c::compile(compiler.arg("-c").arg(&source).arg("-o").arg(folder.path().join("alone.o")));
    }
}

#[test]
fn every_c_plugin_compiles() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for source in crate::C_PLUGINS {
        c::plugin(source, &[], folder.path());
    }
    for fault in ["WRONG_MAJOR", "WRONG_LAYOUT", "TRUNCATED", "NO_CREATE"] {
        c::plugin("tests/abi/c_faults.c", &[fault], folder.path());
    }
}

#[test]
fn readme_example_stays_short() {
    let drag =
        std::fs::read_to_string(root().join("examples/c_plugin/drag.c")).expect("the example is there");
    assert!(drag.lines().count() <= 70, "the example plugin is meant to fit on a page");
}
