//! Plugins that reach for what is not theirs: the terminal, the processes around them, the program's files.

use super::processes::{children, gone, send};
use super::terminal::is_tame;
use super::{says, tank_with};
use meniscus_tests::shot::{Shot, one_sentence};
use meniscus_tests::{c, meniscus};
use serde_json::{Value, json};
use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const INTRUDER: &str = "tests/abi/c_intruder.c";

fn shot(kind: &str) -> Shot {
    let shot = Shot::new(&tank_with(json!({ "name": "bad", "type": kind })));
    c::plugin(INTRUDER, &[], &shot.plugins());
    shot
}

fn cook(kind: &str) -> Output {
    shot(kind).command(&["--threads", "1"]).output().expect("meniscus starts")
}

#[test]
fn what_a_plugin_prints_is_passed_on_as_text() {
    let output = cook("test.prints");
    assert!(output.status.success() && output.stdout.is_empty());
    let said = is_tame(&output);
    for line in ["to its output", "to its errors", "without an end"] {
        says(&said, &[&format!("plugin says: {line}")]);
    }
    // What a constructor prints is no part of what a command is asked for.
    let shot = shot("test.prints");
    c::plugin(INTRUDER, &["SECOND=puts(\"[\\\"forged\\\"]\");fputs(WILD,stderr)"], &shot.plugins());
    let output = nodes(&shot, &["--json"]).output().expect("meniscus starts");
    let list: Value = serde_json::from_slice(&output.stdout).expect("the list is JSON");
    assert!(list.as_array().expect("a list").iter().any(|t| t["id"] == "test.prints"), "{list}");
    says(&is_tame(&output), &["plugin says: [\"forged\"]", "plugin says: error: forged"]);
}

#[test]
fn the_last_words_before_a_crash_are_heard() {
    let output = cook("test.prints_and_crashes");
    assert_eq!(output.status.code(), Some(1));
    says(
        &is_tame(&output),
        &[
            "plugin says: last words\n",
            "plugin says: and the very last\n",
            "error: node `bad` crashed in predict of `water`, frame 2 (abort",
        ],
    );
}

/// The number in the line with these words.
fn number(said: &str, words: &str) -> usize {
    let line = said.lines().find(|l| l.contains(words)).unwrap_or_else(|| panic!("no `{words}`: {said}"));
    line.split_whitespace().find_map(|w| w.parse().ok()).expect("a number")
}

#[test]
fn a_flood_of_words_is_counted() {
    let output = cook("test.prints_a_million");
    assert!(output.status.success());
    let said = is_tame(&output);
    let shown = said.lines().filter(|l| l.starts_with("plugin says: line ")).count();
    assert!((1..=100).contains(&shown), "{said}");
    assert_eq!(shown + number(&said, "more lines, which are left out"), 1_000_000);
    let output = cook("test.logs_a_million");
    assert!(output.status.success());
    let said = is_tame(&output);
    assert_eq!(said.lines().filter(|l| *l == "warning: bad: once more").count(), 20);
    assert_eq!(said.lines().count(), 21, "{said}");
    says(&said, &["warning: bad: 999980 more sentences of it are left out"]);
}

/// A pipe that takes no byte more, and the end that nobody reads.
fn standing_still() -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    // SAFETY: a descriptor of this test's own; whoever inherits it waits again.
    let wait = |wait: bool| unsafe {
        libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, if wait { 0 } else { libc::O_NONBLOCK });
    };
    wait(false);
    while (&writer).write(&[b'x'; 4096]).is_ok() {}
    while (&writer).write(b"x").is_ok() {}
    wait(true);
    (reader, writer)
}

#[test]
fn a_terminal_that_stands_still_holds_no_cook_up() {
    let shot = shot("test.prints");
    let (_reader, writer) = standing_still();
    let status = shot.command(&[]).stderr(writer).status().expect("meniscus starts");
    assert_eq!(status.code(), Some(0));
    assert!(shot.out().join("checkpoints/checkpoint.0003.mns").exists());
}

#[test]
fn who_kills_the_process_above_it_is_named() {
    let shot = shot("test.kills_parent");
    says(
        &shot.refused(&[]),
        &[
            "the process that stands above the program was killed while node `bad` was in predict of `water`, frame 2",
            "most likely its plugin did that",
            "plugin `intruder`",
            "--resume",
        ],
    );
    assert!(cook("test.stops_parent").status.success());
}

/// Processes that were begun with this home.
fn of_home(home: &Path, name: &str) -> Vec<i32> {
    let home = format!("HOME={}\0", home.display());
    let numbers = std::fs::read_dir("/proc")
        .expect("Linux has /proc")
        .filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let is_one = |p: &i32| {
        let read = |what: &str| std::fs::read(format!("/proc/{p}/{what}")).unwrap_or_default();
        let found = String::from_utf8_lossy(&read("environ")).contains(&home);
        found && read("comm").starts_with(name.as_bytes())
    };
    numbers.filter(is_one).collect()
}

#[test]
fn what_a_plugin_leaves_running_is_ended_and_told() {
    let kept = shot("test.leaves_processes");
    let output = kept.command(&[]).output().expect("meniscus starts");
    assert!(output.status.success());
    let said = is_tame(&output);
    says(&said, &["warning: 2 processes were left running (`sleep`, process ", "they were ended"]);
    assert!(of_home(&kept.path("home"), "sleep").is_empty());
    // Nor does anything stay when the cook is killed.
    let mut graph = tank_with(json!({ "name": "bad", "type": "test.leaves_processes" }));
    graph["frames"] = json!([1, 10_000]);
    kept.graph(graph.to_string().as_bytes());
    let mut cook = kept.command(&["--replace"]).spawn().expect("meniscus starts");
    let mut left = Vec::new();
    while left.len() < 2 {
        assert!(cook.try_wait().expect("it can be asked").is_none(), "the cook ended");
        std::thread::sleep(Duration::from_millis(5));
        left = of_home(&kept.path("home"), "sleep");
    }
    cook.kill().expect("it can be killed");
    cook.wait().expect("it ends");
    for process in left {
        assert!(gone(process), "process {process} goes on");
    }
}

#[test]
fn of_two_programs_that_come_back_from_a_call_one_goes_on() {
    let output = cook("test.doubles");
    assert!(output.status.success());
    let said = is_tame(&output);
    says(
        &said,
        &["warning: node `bad` doubled the program in predict of `water`, frame 2 (plugin `intruder`"],
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn who_closes_the_files_of_the_program_is_named() {
    for kind in ["test.closes_files", "test.closes_the_lock", "test.replaces_files"] {
        let sentence = shot(kind).refused(&[]);
        says(
            &sentence,
            &["node `bad` closed files of the program in predict of `water`, frame 2", "--resume"],
        );
        says(&sentence, &["plugin `intruder`"]);
    }
}

/// Its node has returned long before, and it is another's call that runs when the thread ends the program.
#[test]
fn a_thread_that_a_plugin_left_is_told_and_no_node_that_runs_meanwhile() {
    let endings = [
        ("test.leaves_a_crash", "crashed (segmentation fault)"),
        ("test.leaves_an_abort", "crashed (abort)"),
        ("test.leaves_an_exit", "ended the program with exit code 0"),
    ];
    for (kind, words) in endings {
        let end = || {
            let shot = shot(kind);
            let mut graph = tank_with(json!({ "name": "bad", "type": kind }));
            graph["frames"] = json!([1, 100_000]);
            shot.graph(graph.to_string().as_bytes());
            shot.refused_midway()
        };
        // Seldom the thread ends the program while a node of its own plugin runs: then that node is told, for it may be
        // waiting for the thread.
        let own = |sentence: &String| sentence.starts_with("node `bad`");
        let sentence = (0..5).map(|_| end()).find(|s| !own(s)).expect("other nodes run far longer");
        says(&sentence, &["a thread that plugin `intruder`, ", "libc_intruder.so began ", words, "--resume"]);
        assert!(sentence.starts_with("a thread"), "{sentence}");
    }
}

/// The folder that a program runs in is all threads', and so is the mask of new files.
#[test]
fn a_plugin_that_changes_the_folder_moves_no_file() {
    let shot = shot("test.changes_folder");
    let mut command = meniscus(&["cook", "--quiet", "shot.meniscus.json", "--out", "out"]);
    command.env("MENISCUS_PLUGIN_PATH", shot.plugins()).env("HOME", shot.path("home"));
    let output = command.current_dir(shot.path("")).output().expect("meniscus starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    says(
        &said,
        &[
            "warning: node `bad` changed the current folder of the program in predict of `water`, frame 2",
            "plugin `intruder`",
            "it was changed back",
        ],
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    for file in ["cache/cache.0003.vdb", "points/points.0003.geo", "checkpoints/checkpoint.0003.mns"] {
        let mode =
            std::fs::metadata(shot.out().join(file)).expect("it lies in its folder").permissions().mode();
        assert_ne!(mode & 0o400, 0, "{file} cannot be read: {mode:o}");
    }
}

/// Arithmetic is a thread's, and our nodes compute in the thread of the call.
#[test]
fn how_a_plugin_rounds_changes_nothing_of_others() {
    let [quiet, rounds] = ["test.prints", "test.rounds_up"].map(|kind| {
        let shot = shot(kind);
        assert!(shot.command(&["--threads", "1"]).output().expect("meniscus starts").status.success());
        shot
    });
    for folder in ["cache", "points"].iter().filter(|f| quiet.out().join(f).is_dir()) {
        meniscus_tests::assert_same_files(&quiet.out().join(folder), &rounds.out().join(folder), &[]);
    }
    assert!(quiet.out().join("cache").is_dir());
}

/// `meniscus nodes` with the plugins and the home of a shot.
fn nodes(shot: &Shot, extra: &[&str]) -> Command {
    let mut command = meniscus(&["nodes"]);
    command.args(extra).env("MENISCUS_PLUGIN_PATH", shot.plugins()).env("HOME", shot.path("home"));
    command.env_remove("XDG_CACHE_HOME").env_remove("MENISCUS_SCAN_SECONDS");
    command
}

#[test]
fn a_plugin_that_waits_until_it_is_opened_in_earnest_is_named_and_then_left_out() {
    for (second, words, later) in [
        ("pause()", "did not come to an end while it was opened; it had 6 s", "does not come to an end"),
        ("exit(0)", "ended the program while it was opened, with exit code 0", "it ended the program when"),
        (
            "int*volatile p=(int*)8;*p=1",
            "crashed while it was opened (segmentation fault)",
            "it ended the program when",
        ),
        ("kill(getppid(),SIGKILL);pause()", "being opened: most likely", "it ended the program when"),
        ("for(int i=0;i<1000;++i)close(i)", "closed files of the program while", "it ended the program when"),
    ] {
        let shot = Shot::new(&json!({}));
        let library = c::plugin(INTRUDER, &[&format!("SECOND={second}")], &shot.plugins());
        std::fs::rename(library, shot.plugins().join("libwaits.so")).expect("the library is renamed");
        let mut first = nodes(&shot, &[]);
        if second == "pause()" {
            first.env("MENISCUS_SCAN_SECONDS", "2");
        }
        let sentence = one_sentence(&first.output().expect("meniscus starts"));
        says(&sentence, &["plugin ", "libwaits.so", words, "commands go on without it for an hour"]);
        let output = nodes(&shot, &[]).output().expect("meniscus starts");
        assert!(output.status.success());
        says(&is_tame(&output), &["flip_solver", "warning: plugin ", "libwaits.so: ", later]);
    }
}

#[test]
fn a_plugin_that_kills_when_it_is_looked_at_kills_no_command() {
    for constructor in ["kill(getppid(),SIGKILL);pause()", "kill(0,SIGKILL);pause()"] {
        let shot = Shot::new(&json!({}));
        let library = c::plugin(INTRUDER, &[&format!("CONSTRUCTOR={constructor}")], &shot.plugins());
        std::fs::rename(library, shot.plugins().join("libkills.so")).expect("the library is renamed");
        let mut command = nodes(&shot, &[]);
        let nodes = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("meniscus starts");
        let output = nodes.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{constructor}: {output:?}");
        says(&is_tame(&output), &["flip_solver", "libkills.so: it is killed, or kills the process above it"]);
    }
}

/// One signal is enough, whatever the reader of its words does.
#[test]
fn a_cook_that_is_to_stop_waits_for_no_reader() {
    let mut graph = tank_with(json!({ "name": "bad", "type": "test.prints" }));
    graph["frames"] = json!([1, 100_000]);
    let shot = shot("test.prints");
    shot.graph(graph.to_string().as_bytes());
    let (_reader, writer) = standing_still();
    let mut cook = shot.command(&[]).stderr(writer).spawn().expect("meniscus starts");
    while !shot.out().join("checkpoints/checkpoint.0001.mns").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    send(cook.id() as i32, libc::SIGTERM);
    assert!(ends(&mut cook), "it waits for its reader");
    assert_eq!(cook.wait().expect("it ended").code(), Some(130));
    assert!(!shot.out().join("cook.lock").exists(), "it was broken off");
}

/// Waits until a process has ended; one that has not after a minute will not. It is ended then.
fn ends(cook: &mut Child) -> bool {
    let ended = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        cook.try_wait().expect("it can be asked").is_some()
    });
    if !ended {
        cook.kill().expect("it can be killed");
    }
    ended
}

#[test]
fn a_cook_that_hears_nothing_is_ended_the_second_time() {
    let shot = shot("test.prints");
    c::plugin("tests/abi/c_faults.c", &[], &shot.plugins());
    shot.graph(tank_with(json!({ "name": "bad", "type": "test.hangs" })).to_string().as_bytes());
    let (_reader, writer) = standing_still();
    let mut cook = shot.command(&[]).stderr(writer).spawn().expect("meniscus starts");
    let written = shot.out().join("checkpoints/checkpoint.0001.mns");
    while !written.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The process that works is stopped: whatever it would do about a signal it cannot.
    let [reaper] = children(cook.id())[..] else { panic!("one process stands above the one that cooks") };
    let [worker] = children(reaper as u32)[..] else { panic!("one process cooks") };
    send(worker, libc::SIGSTOP);
    for _ in 0..2 {
        send(cook.id() as i32, libc::SIGINT);
        std::thread::sleep(Duration::from_millis(150));
    }
    assert_eq!(cook.wait().expect("it ends").code(), Some(130));
    assert!(gone(worker));
}
