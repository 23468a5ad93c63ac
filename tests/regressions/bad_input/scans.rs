//! Plugins that are wrong before anything of them is used: each is named, and every command goes on without it.

use super::{says, tank, tank_with};
use meniscus_tests::shot::Shot;
use meniscus_tests::{c, meniscus};
use serde_json::json;
use std::path::Path;
use std::process::Command;

const FAULTS: &str = "tests/abi/c_faults.c";
const DESCRIPTORS: &str = "tests/abi/c_descriptors.c";

/// `meniscus nodes` with the plugins and the home of a shot, and little time for each plugin.
fn nodes(shot: &Shot) -> Command {
    let mut command = meniscus(&["nodes"]);
    command.env("MENISCUS_PLUGIN_PATH", shot.plugins()).env("HOME", shot.path("home"));
    command.env("MENISCUS_SCAN_SECONDS", "3").env_remove("XDG_CACHE_HOME");
    command
}

/// What a command lists, and its warnings.
fn listed(mut command: Command) -> (String, String) {
    let output = command.output().expect("meniscus starts");
    let [list, warnings] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{warnings}");
    says(&list, &["flip_solver", "liquid_object", "box"]);
    (list, warnings)
}

/// The plugin is named in one warning with these words; what is ours works.
fn named_and_left_out(source: &str, defines: &[&str], words: &[&str]) {
    let shot = Shot::new(&tank());
    let library = c::plugin(source, defines, &shot.plugins());
    // A short name: the define is part of the one that the compiler was given.
    std::fs::rename(library, shot.plugins().join("libwrong.so")).expect("the library is renamed");
    let (list, warnings) = listed(nodes(&shot));
    assert_eq!(warnings.lines().count(), 1, "{defines:?}: {warnings}");
    assert!(warnings.len() < 600 && !warnings.contains('\u{1b}'), "{defines:?}: {warnings}");
    says(&warnings, &["warning: plugin ", "libwrong.so: "]);
    says(&warnings, words);
    assert!(!list.contains("test."), "{defines:?}: {list}");
}

#[test]
fn a_plugin_that_goes_wrong_when_it_is_opened_is_named_and_left_out() {
    for (constructor, words) in [
        ("exit(0)", &["ends the program (exit code 0)", "while it is opened"]),
        ("_exit(0)", &["ends the program (exit code 0)", "while it is opened"]),
        (
            "puts(\"sound\");fflush(stdout);_exit(0)",
            &["ends the program (exit code 0)", "while it is opened"],
        ),
        ("abort()", &["ends the program (abort)", "while it is opened"]),
        ("raise(SIGSEGV)", &["crashes (segmentation fault)", "while it is opened"]),
        ("pause()", &["does not come to an end within 3 s", "MENISCUS_SCAN_SECONDS"]),
    ] {
        named_and_left_out(FAULTS, &[&format!("CONSTRUCTOR={constructor}")], words);
    }
    // One that takes all memory comes to no good end either: which one is the system's choice.
    named_and_left_out(FAULTS, &["CONSTRUCTOR=for(;;)memset(malloc(1<<28),1,1<<28)"], &["it "]);
}

#[test]
fn descriptors_that_announce_what_is_not_there_are_named_and_left_out() {
    for (define, words) in [
        ("NODE_COUNT=0x80000000u", &["2147483648 node types", "10000 at most"]),
        ("NODE_COUNT=4000000000u", &["4000000000 node types", "10000 at most"]),
        ("PARAM_COUNT=0x80000000u", &["`test.described` is left out", "2147483648 parameters"]),
        ("PORT_COUNT=0xffffffffu", &["`test.described` is left out", "4294967295 ports"]),
        ("ROLE_COUNT=0x80000000u", &["`test.described` is left out", "2147483648 roles"]),
        ("STEP_COUNT=0x80000000u", &["`test.described` is left out", "2147483648 steps"]),
        ("MENU_COUNT=0x80000000u", &["`test.described` is left out", "2147483648 menu entries"]),
        ("NODE_SIZE=0x80000000u", &["first of its node types", "2147483648 bytes"]),
        ("NODE_SIZE=0", &["first of its node types", " 0 bytes"]),
        ("PARAM_SIZE=0x7ffffff8u", &["`test.described` is left out", "2147483640 bytes"]),
        ("PORT_SIZE=6", &["`test.described` is left out", " 6 bytes"]),
        ("NODES=(const mns_node_t *)64", &["crashes (segmentation fault)", "while its descriptors are read"]),
        ("LABEL=(const char *)8", &["crashes (segmentation fault)", "while its descriptors are read"]),
        ("ID=\"test.\\x1b[2J\"", &["is left out", "control letters"]),
    ] {
        named_and_left_out(DESCRIPTORS, &[define], words);
    }
}

#[test]
fn descriptors_that_contradict_themselves_are_named_and_left_out() {
    let menu = |n: &str| {
        format!("PARAM=.type=MNS_MENU,.name=\"m\",.menu=menu,.menu_count=2,.default_number={{{n}}}")
    };
    let number = |rest: &str| format!("PARAM=.type=MNS_FLOAT,.name=\"x\",{rest}");
    let inputs = "NODE=.accepts=MNS_BIT(MNS_NODE_GEOMETRY),.min_inputs=3,.max_inputs=2";
    for (defines, words) in [
        (&[inputs][..], &["at least 3 inputs", "at most 2"][..]),
        (&["NODE=.min_inputs=1"], &["needs 1 inputs", "takes no kind"]),
        (&["PARAM_COUNT=2"], &["two parameters are called `choice`"]),
        (&["MENU_COUNT=3"], &["two entries of menu `choice` are called `one`"]),
        (&["PORT_COUNT=2", "PORT=\"particles\""], &["two ports of one owner are called `particles`"]),
        (&["ROLE_COUNT=2", "ROLE=\"part\""], &["two roles are called `part`"]),
        (&[&menu("2")], &["menu `m` is entry 2", "it has 2"]),
        (&[&menu("-1")], &["menu `m` is entry -1"]),
        (&[&menu("0.5")], &["menu `m` is entry 0.5"]),
        (&["PARAM=.type=MNS_INT,.name=\"n\",.default_number={0.5}"], &["`n` is 0.5, no whole number"]),
        (&[&number(".range={2,1}")], &["`x` begins at 2 and ends at 1"]),
        (&[&number(".range={1,2},.flags=MNS_HARD_MIN")], &["`x`, 0,", "range of 1 to anything"]),
        (&[&number(".default_number={3},.range={1,2},.flags=MNS_HARD_MAX")], &["`x`, 3,", "anything to 2"]),
        (
            &["PARAM=.type=MNS_VECTOR3,.name=\"x\",.default_number={1,1,9},.range={0,2},.flags=MNS_HARD_MAX"],
            &["`x`, 9,"],
        ),
    ] {
        named_and_left_out(DESCRIPTORS, defines, &[&["`test.described` is left out"], words].concat());
    }
    // A range without hard ends is advice, and a default may lie outside of it.
    let shot = Shot::new(&tank());
    c::plugin(DESCRIPTORS, &[&number(".default_number={3},.range={1,2}")], &shot.plugins());
    let (list, warnings) = listed(nodes(&shot));
    assert_eq!(warnings, "");
    says(&list, &["test.described"]);
}

#[test]
fn a_name_of_a_mebibyte_is_named_by_its_beginning() {
    let shot = Shot::new(&tank());
    let id = format!("static const char id[] = \"test.{}\";\n#define ID id\n", "x".repeat(1 << 20));
    let source = shot.file("long.c", b"");
    let plugin = meniscus_tests::root().join(DESCRIPTORS);
    std::fs::write(&source, format!("{id}#include \"{}\"\n", plugin.display()))
        .expect("the source is written");
    let library = shot.plugins().join("liblong.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-shared", "-fPIC", "-I"]).arg(meniscus_tests::root().join("plugin/include"));
    c::compile(compiler.arg(&source).arg("-o").arg(&library));
    let (_, warnings) = listed(nodes(&shot));
    says(&warnings, &["liblong.so", "1048581 bytes long, 128 at most"]);
    assert!(warnings.len() < 600, "{}", warnings.len());
}

#[test]
fn the_first_plugin_with_a_name_keeps_it() {
    for (define, words) in [
        // Found before our own plugin, which stands beside the binary.
        ("ID=\"meniscus.gravity\"", &["libmeniscus_plugin.so", "`meniscus.gravity`", "libfirst.so"]),
        ("ID=\"gravity\"", &["libmeniscus_plugin.so", "`meniscus.gravity`", "libfirst.so"]),
        // The host was there before any plugin.
        ("ID=\"meniscus.box\"", &["libfirst.so", "`meniscus.box`", "Meniscus itself"]),
    ] {
        let shot = Shot::new(&tank());
        let library = c::plugin(DESCRIPTORS, &[define], &shot.plugins());
        std::fs::rename(library, shot.plugins().join("libfirst.so")).expect("the library is renamed");
        let (_, warnings) = listed(nodes(&shot));
        assert_eq!(warnings.lines().count(), 1, "{define}: {warnings}");
        says(&warnings, words);
        says(&warnings, &["is left out: the name is taken by"]);
    }
    // A newer version of a node is no way around it.
    let shot = Shot::new(&tank());
    let first = c::plugin(DESCRIPTORS, &[], &shot.plugins());
    c::plugin(DESCRIPTORS, &["VERSION=9"], &shot.plugins());
    let (_, warnings) = listed(nodes(&shot));
    says(&warnings, &["libc_descriptorsversion=9.so", "taken by plugin `test descriptors`"]);
    says(&warnings, &[&*first.to_string_lossy()]);
}

/// Times that a plugin's constructor ran.
fn openings(trace: &Path) -> u64 {
    trace.metadata().map_or(0, |m| m.len())
}

#[test]
fn a_plugin_is_scanned_once_and_where_nothing_can_be_kept_each_time() {
    for kept in [true, false] {
        let shot = Shot::new(&tank_with(json!({ "name": "bad", "type": "test.wishes" })));
        let trace = shot.path("trace");
        let constructor =
            format!("CONSTRUCTOR=FILE*f=fopen(\"{}\",\"a\");fputc(1,f);fclose(f)", trace.display());
        let library = c::plugin(FAULTS, &[], &shot.plugins());
        let define = constructor.as_str();
        let mut compiler = c::c99();
        compiler.args(["-O2", "-shared", "-fPIC"]).arg(format!("-D{define}"));
        c::compile(compiler.arg(meniscus_tests::root().join(FAULTS)).arg("-o").arg(&library).arg("-lm"));
        if !kept {
            // A home that is no folder takes no file, whoever asks.
            shot.file("home", b"");
        }
        let opened = [(), ()].map(|()| {
            let before = openings(&trace);
            listed(nodes(&shot));
            openings(&trace) - before
        });
        assert_eq!(opened, if kept { [2, 1] } else { [2, 2] });
        // Other bytes are another plugin.
        let mut bytes = std::fs::read(&library).expect("the library can be read");
        bytes.push(0);
        std::fs::write(&library, bytes).expect("the library is written");
        let before = openings(&trace);
        listed(nodes(&shot));
        assert_eq!(openings(&trace) - before, 2);
    }
}

#[test]
fn a_cook_goes_on_without_a_plugin_that_nobody_needs() {
    let shot = Shot::new(&tank());
    c::plugin(FAULTS, &["CONSTRUCTOR=_exit(0)"], &shot.plugins());
    let output = shot.command(&["--frames", "1-1"]).output().expect("meniscus starts");
    assert!(output.status.success());
    says(&String::from_utf8_lossy(&output.stderr), &["warning: plugin ", "ends the program (exit code 0)"]);
}
