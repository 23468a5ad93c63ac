//! A shot that was killed and resumed is the shot that was never interrupted.

use super::splash;
use meniscus_tests::{assert_same_files, cook, shot::Shot};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FRAMES: u32 = 8;

/// Runs a cook, and calls `stop` on the running program once it has written the file `reached`.
pub fn interrupted(mut cook: Command, reached: &Path, stop: impl Fn(&mut Child)) -> Option<i32> {
    let mut child = cook.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("meniscus starts");
    let start = Instant::now();
    while !reached.exists() {
        let name = reached.display();
        assert!(start.elapsed() < Duration::from_secs(300), "{name} never came");
        let ended = child.try_wait().expect("the child can be asked").is_some();
        assert!(!ended, "the cook ended before {name} came");
        std::thread::sleep(Duration::from_millis(2));
    }
    stop(&mut child);
    child.wait().expect("the child ends").code()
}

/// Interrupts a cook with `stop`, resumes it, and compares with an uninterrupted one.
fn resumes_to_the_same_bytes(stop: impl Fn(&mut Child)) -> Option<i32> {
    let whole = cook(&splash(FRAMES), &[]);
    let shot = Shot::new(&splash(FRAMES));
    let out = shot.out();
    let code = interrupted(shot.command(&[]), &out.join("cache/cache.0003.vdb"), stop);
    assert!(!out.join(format!("cache/cache.{FRAMES:04}.vdb")).exists(), "the cook was not interrupted");
    shot.cook(&["--resume"]);
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
