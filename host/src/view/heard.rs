//! What this program answers at once when it is run with some arguments, as long as somebody wants to know.

use crate::process::{dies_with_us, limits::no_thread_because, own_file};
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Most lines and bytes of what is said.
const LINES: usize = 100;
const MOST_SAID: u64 = 1 << 18;
/// How long a check may take, and time between two looks whether it has ended.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOKS: Duration = Duration::from_millis(20);

/// What this program says when it is run with some arguments, or its error; `None` where nobody wants to know any more, or it takes
/// too long.
pub(super) fn said(args: &[OsString], is_wanted: impl Fn() -> bool) -> Option<Result<String, String>> {
    let cannot = |e| no_thread_because("check a graph", &e);
    let begun = own_file().and_then(|program| {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        dies_with_us(&mut command);
        command.spawn()
    });
    let mut child = match begun {
        Ok(child) => child,
        Err(e) => return Some(Err(cannot(e))),
    };
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (said, wrong, sound) = std::thread::scope(|threads| {
        let begin = || std::thread::Builder::new().name("view hears".into());
        let said = begin().spawn_scoped(threads, || lines(out));
        let wrong = begin().spawn_scoped(threads, || lines(err));
        let hears = said.is_ok() && wrong.is_ok();
        let began = Instant::now();
        let sound = loop {
            match child.try_wait() {
                Ok(Some(end)) => break Some(end.success()),
                Ok(None) if hears && is_wanted() && began.elapsed() < PATIENCE => std::thread::sleep(LOOKS),
                _ => {
                    // It may have ended already.
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let heard = |thread: std::io::Result<ScopedJoinHandle<String>>| {
            thread.map(|thread| thread.join().unwrap_or_default())
        };
        (heard(said), heard(wrong), sound)
    });
    let (said, wrong) = match (said, wrong) {
        (Ok(said), Ok(wrong)) => (said, wrong),
        (Err(e), _) | (_, Err(e)) => return Some(Err(cannot(e))),
    };
    sound.map(|sound| if sound { Ok(said) } else { Err(wrong) })
}

/// The first lines of what a process says; the rest is read and forgotten.
fn lines(from: Option<impl Read>) -> String {
    let mut all = Vec::new();
    let Some(mut from) = from else { return String::new() };
    // What was read until an error counts.
    let _ = from.by_ref().take(MOST_SAID).read_to_end(&mut all);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    let text = String::from_utf8_lossy(&all);
    let line = |line: &str| crate::text::one_line(line, crate::text::SENTENCE);
    text.lines().take(LINES).map(line).collect::<Vec<_>>().join("\n")
}
