//! Every size, every offset and every named number of the header, as a C compiler sees them, against Rust.

use meniscus_abi as abi;
use meniscus_tests::{c, root};
use std::fmt::Write;

fn as_c_sees_it(folder: &std::path::Path) -> String {
    let mut source = String::from(
        "#include \"meniscus.h\"\n#include <inttypes.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    let w = &mut source;
    for s in abi::structs() {
        writeln!(w, "printf(\"{0} %zu\\n\", sizeof({0}));", s.name).expect("writing to a string");
        for (field, _) in &s.fields {
            writeln!(w, "printf(\"{0}.{field} %zu\\n\", offsetof({0}, {field}));", s.name).expect("likewise");
        }
    }
    writeln!(w, "printf(\"hash %\" PRIu64 \"\\n\", MNS_LAYOUT_HASH);\nreturn 0; }}").expect("likewise");
    let file = folder.join("layout.c");
    std::fs::write(&file, source).expect("the probe is written");
    String::from_utf8(c::run(&file, &[], folder).stdout).expect("it prints text")
}

fn as_rust_sees_it() -> String {
    let mut text = String::new();
    for s in abi::structs() {
        writeln!(text, "{} {}", s.name, s.size).expect("writing to a string");
        for (field, offset) in &s.fields {
            writeln!(text, "{}.{field} {offset}", s.name).expect("likewise");
        }
    }
    writeln!(text, "hash {}", abi::LAYOUT_HASH).expect("likewise");
    text
}

#[test]
fn sizes_and_offsets_agree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(as_c_sees_it(folder.path()), as_rust_sees_it());
}

/// The structs of the header are the structs of the mirror, none left out.
#[test]
fn every_struct_is_mirrored() {
    let header =
        std::fs::read_to_string(root().join("plugin/include/meniscus.h")).expect("the header is there");
    let mut in_header: Vec<&str> = header
        .lines()
        .filter_map(|l| l.strip_prefix("typedef struct ").or_else(|| l.strip_prefix("struct ")))
        .filter(|l| l.ends_with('{'))
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    let mut in_rust: Vec<&str> = abi::structs().iter().map(|s| s.name).collect();
    in_header.sort_unstable();
    in_rust.sort_unstable();
    assert_eq!(in_header, in_rust);
}

/// Numbers with names: the header's enumerations and the mirror's constants.
#[test]
fn named_numbers_agree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut names: Vec<(String, i64)> = Vec::new();
    macro_rules! all {
        ($($ty:ident $prefix:literal)*) => {$(
            names.extend(abi::$ty::ALL.iter().map(|(v, n)| (format!("{}{n}", $prefix), i64::from(v.0))));
        )*};
    }
    all!(Status "MNS_" NodeKind "MNS_NODE_" Stage "MNS_" Gpu "MNS_GPU_" Carries "MNS_" Owner "MNS_OF_"
        Sampling "MNS_" Lifetime "MNS_" Merge "MNS_" Element "MNS_" ParamType "MNS_" Primitive "MNS_"
        On "MNS_ON_" Meaning "MNS_" Level "MNS_LOG_");
    for (name, value) in [
        ("MNS_PLAIN_GRID", abi::GridClass::PLAIN.0),
        ("MNS_LEVEL_SET", abi::GridClass::LEVEL_SET.0),
        ("MNS_FOG", abi::GridClass::FOG.0),
        ("MNS_NOT_DRAWN", abi::Drawn::NOT.0),
        ("MNS_DRAWN_AS_LIQUID", abi::Drawn::LIQUID.0),
        ("MNS_DRAWN_AS_SOLID", abi::Drawn::SOLID.0),
        ("MNS_DRAWN_AS_DOTS", abi::Drawn::DOTS.0),
    ] {
        names.push((name.into(), i64::from(value)));
    }
    for &(means, name) in abi::Means::ALL {
        let name = match name.strip_prefix("BOX_").filter(|side| !["CENTER", "SIZE"].contains(side)) {
            Some(_) => format!("MNS_MEANS_BOX_SIDE + {}", means.0 - abi::Means::BOX_NEG_X.0),
            None => format!("MNS_MEANS_{name}"),
        };
        names.push((name, i64::from(means.0)));
    }
    for (name, access) in [("MNS_NO_ACCESS", abi::Access::NONE), ("MNS_READ", abi::Access::READ)] {
        names.push((name.into(), i64::from(access.0)));
    }
    names.push(("MNS_WRITE".into(), i64::from(abi::Access::WRITE.0)));
    names.push(("MNS_READ_WRITE".into(), i64::from(abi::Access::READ_WRITE.0)));
    for (name, rank) in [
        ("MNS_RANK_SOLID", abi::Node::RANK_SOLID),
        ("MNS_RANK_CLOTH", abi::Node::RANK_CLOTH),
        ("MNS_RANK_LIQUID", abi::Node::RANK_LIQUID),
        ("MNS_RANK_SMOKE", abi::Node::RANK_SMOKE),
        ("MNS_RANK_WHITEWATER", abi::Node::RANK_WHITEWATER),
    ] {
        names.push((name.into(), i64::from(rank)));
    }
    for (name, bits) in [
        ("MNS_ACCEPTS_SOURCES", abi::flags::ACCEPTS_SOURCES),
        ("MNS_IS_SOURCE", abi::flags::IS_SOURCE),
        ("MNS_RESULT", abi::flags::RESULT),
        ("MNS_MOVABLE", abi::flags::MOVABLE),
        ("MNS_HARD_MIN", abi::flags::HARD_MIN),
        ("MNS_HARD_MAX", abi::flags::HARD_MAX),
        ("MNS_NOT_ANIMATED", abi::flags::NOT_ANIMATED),
        ("MNS_ABI_MAJOR", abi::ABI_MAJOR),
        ("MNS_ABI_MINOR", abi::ABI_MINOR),
        ("MNS_ROLE_SELF", abi::Step::SELF),
        ("MNS_ROLE_ANY", abi::Role::ANY),
        ("MNS_STAGES", abi::Port::STAGES as u32),
        ("MNS_LEAF_SIZE", abi::LEAF_SIZE as u32),
        ("MNS_COMPONENTS_MAX", abi::COMPONENTS_MAX as u32),
    ] {
        names.push((name.into(), i64::from(bits)));
    }
    let mut source = String::from("#include \"meniscus.h\"\n");
    for (n, (name, value)) in names.iter().enumerate() {
        writeln!(source, "typedef char is_{n}[(long long)({name}) == {value}LL ? 1 : -1]; /* {name} */")
            .expect("text");
    }
    // C has no constant whole number that is made of this one.
    let header =
        std::fs::read_to_string(root().join("plugin/include/meniscus.h")).expect("the header is read");
    assert!(header.contains(&format!("#define MNS_PROMISED {} ", abi::PROMISED)));
    let file = folder.path().join("names.c");
    std::fs::write(&file, source).expect("the probe is written");
    c::compile(c::c99().arg("-c").arg(&file).arg("-o").arg(folder.path().join("names.o")));
}
