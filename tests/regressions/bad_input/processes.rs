//! The process that looks on: it is asked to end, it is killed, memory is short.

use super::{says, tank, tank_with};
use meniscus_tests::shot::{Shot, one_sentence};
use meniscus_tests::{binary, c};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A cook that has come to a node which never answers, and what it says from there on.
fn hanging(shot: &Shot) -> (Child, BufReader<impl Read>) {
    c::plugin("tests/abi/c_faults.c", &[], &shot.plugins());
    let mut cook = shot.command(&[]).stderr(Stdio::piped()).spawn().expect("meniscus starts");
    let mut said = BufReader::new(cook.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("hangs from now on") {
        line.clear();
        assert!(said.read_line(&mut line).expect("lines") > 0, "the cook ended before the node hung");
    }
    (cook, said)
}

pub(super) fn send(process: i32, signal: i32) {
    // SAFETY: kill(2) on a process, or a group, that this test began.
    assert_eq!(unsafe { libc::kill(process, signal) }, 0, "there is no process {process}");
}

/// The processes that this one began.
pub(super) fn children(process: u32) -> Vec<i32> {
    let list =
        std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|n| n.parse().ok()).collect()
}

/// Waits until a process is gone; what stays is a failure, not a matter of time.
pub(super) fn gone(process: i32) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    })
}

fn bad(kind: &str) -> Shot {
    Shot::new(&tank_with(json!({ "name": "bad", "type": kind })))
}

#[test]
fn a_node_that_never_answers_is_named_when_the_cook_is_broken_off() {
    let shot = bad("test.hangs");
    let (mut cook, mut said) = hanging(&shot);
    send(cook.id() as i32, libc::SIGINT);
    // At once, while the node hangs: whom it waits for.
    let mut told = String::new();
    while !told.contains("stopping") {
        told.clear();
        assert!(said.read_line(&mut told).expect("lines") > 0, "the first signal says nothing");
    }
    says(&told, &["(node `bad` is in predict of `water`, frame 2)", "once more to break it off unsaved"]);
    std::thread::sleep(Duration::from_millis(300));
    send(cook.id() as i32, libc::SIGINT);
    assert_eq!(cook.wait().expect("it ends").code(), Some(130));
    let mut text = String::new();
    said.read_to_string(&mut text).expect("text");
    says(
        &text,
        &[" s after it was told to stop, while node `bad` was in predict of `water`, frame 2", "--resume"],
    );
    says(&text, &["plugin `test faults`", "libc_faults.so"]);
    // What was saved before is sound.
    shot.cook(&["--resume", "--set", "bad.bypass=true"]);
}

#[test]
fn a_cook_does_not_outlive_the_process_that_looks_on() {
    let shot = bad("test.hangs");
    let (mut cook, _said) = hanging(&shot);
    let [reaper] = children(cook.id())[..] else { panic!("one process stands above the one that cooks") };
    let [worker] = children(reaper as u32)[..] else { panic!("one process cooks") };
    cook.kill().expect("it can be killed");
    cook.wait().expect("it ends");
    assert!(gone(worker) && gone(reaper), "the cook goes on without its parent");
}

/// [`tank`] with pictures of so many pixels across and down.
fn drawn(pixels: u32) -> Shot {
    let mut graph = tank();
    let params = json!({ "resolution": [pixels, pixels] });
    let look = json!({ "name": "look", "type": "preview", "inputs": ["flip"], "params": params });
    graph["nodes"].as_array_mut().expect("nodes").push(look);
    Shot::new(&graph)
}

/// Starts a cook and sends it so many signals while it draws, once this file is there.
fn broken_off_drawing(shot: &Shot, after: &str, signals: usize) -> Output {
    let cook = shot.command(&[]).stderr(Stdio::piped()).spawn().expect("meniscus starts");
    while !shot.out().join(after).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..signals {
        std::thread::sleep(Duration::from_millis(200));
        send(cook.id() as i32, libc::SIGINT);
    }
    cook.wait_with_output().expect("it ends")
}

/// Sixty-seven million pixels would take most of a minute.
#[test]
fn a_picture_that_takes_long_does_not_keep_a_cook_that_is_to_stop() {
    let shot = drawn(8192);
    let output = broken_off_drawing(&shot, "look", 1);
    let said = String::from_utf8_lossy(&output.stderr);
    says(&said, &["stopping", "stopped before anything was made"]);
    assert!(!shot.out().join("look/look.0001.png").exists(), "it was drawn to its end");
}

#[test]
fn a_picture_that_is_broken_off_is_drawn_when_the_cook_goes_on() {
    let (shot, whole) = (drawn(1400), drawn(1400));
    let output = broken_off_drawing(&shot, "look/look.0001.png", 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(!shot.out().join("look/look_sheet.png").exists(), "the cook came to its end");
    shot.cook(&["--resume"]);
    whole.cook(&[]);
    meniscus_tests::assert_same_files(&whole.out(), &shot.out(), &["stats.jsonl", "cook.json"]);
}

#[test]
fn a_signal_to_the_whole_group_is_one_signal() {
    let mut graph = tank();
    graph["frames"] = json!([1, 10_000]);
    let shot = Shot::new(&graph);
    let mut command = shot.command(&[]);
    let mut cook = command.process_group(0).stderr(Stdio::piped()).spawn().expect("meniscus starts");
    let written = shot.out().join("checkpoints/checkpoint.0002.mns");
    while !written.exists() {
        assert!(cook.try_wait().expect("it can be asked").is_none(), "the cook ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(-(cook.id() as i32), libc::SIGINT);
    let output = cook.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    says(&text, &["stopped; saved", "--resume"]);
    assert!(!text.contains("broken off"), "{text}");
}

/// `meniscus cook` with so many kilobytes of address space.
fn with_room(shot: &Shot, kilobytes: u32, extra: &str) -> Output {
    let (graph, out) = (shot.path("shot.meniscus.json"), shot.out());
    let limited = format!(
        "ulimit -v {kilobytes}; exec {} cook --quiet --threads 1 --frames 1-2 {} --out {} {extra}",
        binary().display(),
        graph.display(),
        out.display()
    );
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(limited).env_remove("MENISCUS_PLUGIN_PATH").env_remove("RUST_BACKTRACE");
    shell.env("HOME", shot.path("home")).output().expect("a shell starts")
}

/// A million particles.
fn fine() -> Value {
    let mut graph = tank();
    graph["nodes"][0]["params"]["size"] = json!([0.2, 0.2, 0.2]);
    graph["nodes"][1]["params"]["particle_separation"] = json!(0.002);
    graph
}

/// What `cook` refuses for want of memory, `check` says in the same words.
#[test]
fn check_says_of_a_shot_that_it_will_not_fit() {
    let shot = Shot::new(&fine());
    let refused = one_sentence(&with_room(&shot, 400_000, ""));
    let check = |shot: &Shot, room: &str| {
        let line = format!("ulimit -v {room}; exec \"$0\" check \"$1\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).arg(meniscus_tests::binary()).arg(shot.path("shot.meniscus.json"));
        let output = shell.output().expect("sh is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = check(&shot, "400000");
    let why = refused.trim_start_matches("error: ");
    says(&said, &[&format!("warning: {why}"), "`cook` refuses it on this machine as it is now"]);
    let said = check(&Shot::new(&tank()), "400000");
    assert!(said.ends_with("the graph is sound\n"), "{said}");
}

#[test]
fn a_shot_that_will_not_fit_is_not_begun_and_says_who_lacked_how_much_when_it_is() {
    let shot = Shot::new(&fine());
    let sentence = one_sentence(&with_room(&shot, 400_000, ""));
    says(
        &sentence,
        &[
            "node `water`: the shot",
            "0.5",
            "GB of memory",
            "0.41 GB are free",
            "particle_separation",
            "--force",
        ],
    );
    assert!(shot.written().is_empty(), "something was written");
    let sentence = one_sentence(&with_room(&shot, 400_000, "--force"));
    says(&sentence, &["memory"]);
    assert!(!sentence.contains("crash") && !sentence.contains("abort"), "{sentence}");
    let small = Shot::new(&tank());
    let output = with_room(&small, 400_000, "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
