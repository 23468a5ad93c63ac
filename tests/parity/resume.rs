//! A shot that was killed and resumed is the shot that was never interrupted.

use super::splash;
use meniscus_tests::{assert_same_files, cook, meniscus};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const FRAMES: u32 = 8;

/// Cooks `graph` to `out`, and calls `stop` on the running program once `frame` has been cached.
fn interrupted(graph: &Path, out: &Path, frame: u32, stop: impl Fn(&mut Child)) -> Option<i32> {
    let (graph, out_arg) = (graph.to_string_lossy(), out.to_string_lossy());
    let mut child = meniscus(&["cook", &graph, "--out", &out_arg])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("meniscus starts");
    let cached = out.join(format!("cache/cache.{frame:04}.vdb"));
    let start = Instant::now();
    while !cached.exists() {
        assert!(start.elapsed() < Duration::from_secs(300), "frame {frame} never came");
        assert!(
            child.try_wait().expect("the child can be asked").is_none(),
            "the cook ended before frame {frame}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    stop(&mut child);
    child.wait().expect("the child ends").code()
}

/// Interrupts a cook with `stop`, resumes it, and compares with an uninterrupted one.
fn resumes_to_the_same_bytes(stop: impl Fn(&mut Child)) -> Option<i32> {
    let whole = cook(&splash(FRAMES), &[]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, out) = (folder.path().join("shot.meniscus.json"), folder.path().join("out"));
    std::fs::write(&file, splash(FRAMES).to_string()).expect("the graph is written");
    let code = interrupted(&file, &out, 3, stop);
    assert!(!out.join(format!("cache/cache.{FRAMES:04}.vdb")).exists(), "the cook was not interrupted");

    let (file, out_arg) = (file.to_string_lossy(), out.to_string_lossy());
    let resumed =
        meniscus(&["cook", &file, "--out", &out_arg, "--resume"]).output().expect("meniscus starts");
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert_same_files(&whole.out.join("cache"), &out.join("cache"), &[]);
    assert_same_files(&whole.out.join("points"), &out.join("points"), &[]);
    code
}

#[test]
fn killed_and_resumed_is_uninterrupted() {
    resumes_to_the_same_bytes(|child| child.kill().expect("the child can be killed"));
}

#[test]
fn sigterm_checkpoints_and_resumes() {
    let code = resumes_to_the_same_bytes(|child| {
        // SAFETY: kill(2) on our own child, which has not been waited for yet.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    });
    assert_eq!(code, Some(130), "an interrupted cook says so");
}
