//! What the system gives too little of: threads, address space, processor time.

use super::{says, tank, tank_with};
use meniscus_tests::shot::{Shot, one_sentence};
use meniscus_tests::{binary, c};
use serde_json::{Value, json};
use std::process::{Command, Output};

/// Fails unless a cook did all, or said in one sentence that a limit is in the way, and which; whether it did all.
fn did_all_or_named(output: &Output, limit: &str) -> bool {
    output.status.success() || {
        says(&one_sentence(output), &[limit]);
        false
    }
}

/// Threads are refused to libraries before the program begins, to the program, and to the pools of nodes and of OpenVDB.
#[test]
fn a_thread_that_cannot_begin_is_one_sentence_wherever_it_is() {
    let shot = Shot::new(&tank());
    let fewer = c::plugin("tests/abi/c_fewer_threads.c", &[], &shot.path(""));
    let cook = |few: u32, behind: bool| {
        let mut command = shot.command(&["--threads", "2", "--replace"]);
        command.env("LD_PRELOAD", &fewer).env("FEWER_THREADS", few.to_string());
        if behind {
            command.env("FEWER_THREADS_BEHIND", "1");
        }
        did_all_or_named(&command.output().expect("meniscus starts"), "thread")
    };
    // The first process begins the threads of libraries and one of its own.
    assert!(!(0..5).any(|few| cook(few, false)));
    let enough = (0..60).find(|&few| cook(few, true)).expect("sixty threads are enough");
    assert!(enough > 5, "{enough} threads are fewer than a cook begins");
    shot.cook(&["--replace"]);
}

/// `meniscus cook` with a limit of the shell's.
fn limited(shot: &Shot, limit: &str, extra: &str) -> Output {
    let (graph, out) = (shot.path("shot.meniscus.json"), shot.out());
    let line = format!(
        "ulimit -c 0; ulimit {limit}; exec {} cook --quiet {} --out {} {extra}",
        binary().display(),
        graph.display(),
        out.display()
    );
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line).env("MENISCUS_PLUGIN_PATH", shot.plugins()).env("HOME", shot.path("home"));
    shell.output().expect("a shell starts")
}

#[test]
fn little_address_space_is_one_sentence_however_little_it_is() {
    let shot = Shot::new(&tank());
    let mut done = 0;
    for megabytes in [90, 105, 120, 140, 165, 190, 205, 220, 235, 250, 280, 320, 500] {
        let output = limited(&shot, &format!("-v {}", megabytes * 1000), "--threads 2 --replace");
        // With less than that the system's own loader ends the program before it begins.
        if output.status.code() != Some(127) {
            done += u32::from(did_all_or_named(&output, "ulimit -v"));
        }
    }
    assert!(done > 0, "half a gigabyte is too little");
}

fn long(force: Option<Value>) -> Shot {
    let mut graph = force.map_or_else(tank, tank_with);
    graph["frames"] = json!([1, 100_000]);
    Shot::new(&graph)
}

#[test]
fn a_cook_whose_processor_time_is_over_saves_what_is_done_and_says_so() {
    let shot = long(None);
    let output = limited(&shot, "-t 2", "--threads 1");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    says(&said, &["of the 2 s of processor time that `ulimit -t` allows", "stopped; saved ", "--resume"]);
    let frame = shot.stats().last().expect("a substep was done")["frame"].as_i64().expect("a number");
    shot.cook(&["--resume", "--frames", &format!("1-{}", frame + 1)]);
}

#[test]
fn a_node_that_takes_all_processor_time_is_not_told_as_one_of_much_memory() {
    let shot = long(Some(json!({ "name": "bad", "type": "test.spins" })));
    c::plugin("tests/abi/c_intruder.c", &[], &shot.plugins());
    let sentence = one_sentence(&limited(&shot, "-t 1", "--threads 1"));
    says(&sentence, &["node `bad`", "1 s of processor time", "`ulimit -t`", "raise the limit", "--resume"]);
    assert!(!sentence.contains("memory"), "{sentence}");
}

/// Descriptors and stack: less than a program is usually given.
#[test]
fn few_files_and_a_small_stack_are_one_sentence_or_enough() {
    let shot = Shot::new(&tank());
    for files in [6, 8, 10, 12, 64] {
        did_all_or_named(&limited(&shot, &format!("-n {files}"), "--threads 1 --replace"), "ulimit -n");
    }
    for stack in [64, 256, 512, 1024] {
        did_all_or_named(&limited(&shot, &format!("-s {stack}"), "--threads 1 --replace"), "ulimit -s");
    }
    // A limit that the program may raise is raised.
    assert!(limited(&shot, "-S -s 64", "--threads 1 --replace").status.success());
}

/// Four gigabytes that are not on any disk, and that this process could not hold.
#[test]
fn what_a_file_is_is_asked_before_all_of_it_is_read() {
    let shot = Shot::new(&json!({}));
    for name in ["a.geo", "a.mns", "a.vdb", "stats.jsonl"] {
        let path = shot.file(name, b"");
        std::fs::File::create(&path).and_then(|f| f.set_len(1 << 32)).expect("a sparse file");
        let line = format!("ulimit -v 1000000; exec {} inspect {}", binary().display(), path.display());
        let output = Command::new("sh").arg("-c").arg(line).output().expect("a shell starts");
        let sentence = one_sentence(&output);
        says(&sentence, &[name]);
        assert!(!sentence.contains("memory"), "{sentence}");
    }
}
