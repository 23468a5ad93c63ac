//! Reads a file in a process of its own, so that a damaged file that crashes the library ends only that process.

use super::Report;
use crate::process::{limits::no_thread_because, own_file, stretched};
use serde_json::{Value as Json, json};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Environment variable that is set for the reading process.
const APART: &str = "MENISCUS_READS_APART";
/// Largest memory of the reading process: a fixed part, and a multiple of the file's size. Level sets and masks are
/// compressed up to sixty times.
const MEMORY: u64 = 512 << 20;
const MEMORY_PER_BYTE: u64 = 64;
/// Longest time of the reading process: a fixed part, and one second more per so many bytes of the file.
const SECONDS: u64 = 20;
const BYTES_A_SECOND: u64 = 4 << 20;
/// Largest report, bytes.
const LONGEST: u64 = 1 << 24;
/// Time between two looks at the reading process.
const LOOKS: Duration = Duration::from_millis(2);

/// True in the reading process; it has already set its own limits.
pub(super) fn is_here(path: &Path) -> bool {
    std::env::var_os(APART).is_some() && {
        limit_memory(std::fs::metadata(path).map_or(0, |m| m.len()));
        true
    }
}

/// What the reading process reports to its parent.
pub(super) fn answer(report: Result<Report, String>) -> String {
    match report {
        Ok(r) => json!({ "lines": r.lines, "warnings": r.warnings }),
        Err(e) => json!({ "error": e }),
    }
    .to_string()
}

/// The report on a file that may do anything to its reader; the error is one sentence.
pub(super) fn look(path: &Path) -> Result<Report, String> {
    let shown = path.display();
    let cannot = |e| no_thread_because(&format!("begin a process that reads {shown}"), &e);
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len());
    let own = own_file().map_err(cannot)?;
    let mut child = Command::new(own)
        .arg("inspect")
        .arg("--")
        .arg(path)
        .env(APART, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(cannot)?;
    let listen = |out| std::thread::Builder::new().spawn(move || all_of(out)).map_err(cannot);
    let said = match child.stdout.take().map(listen).transpose() {
        Ok(said) => said,
        Err(e) => {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(e);
        }
    };
    let status =
        wait(&mut child, stretched(Duration::from_secs(SECONDS + bytes / BYTES_A_SECOND))).map_err(cannot)?;
    let damaged = |why: &str| Err(format!("{shown} is not a complete VDB file: {why}"));
    let Some(status) = status else { return damaged("reading it does not come to an end") };
    let said = said.and_then(|s| s.join().ok()).unwrap_or_default();
    match report_of(&said) {
        Some(report) if status.success() => report,
        _ => damaged("it is damaged, reading it fails or takes more memory than it can hold"),
    }
}

fn all_of(out: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A report that was cut off counts as damaged.
    let _ = out.take(LONGEST).read_to_end(&mut bytes);
    bytes
}

/// How the child ended; `None` if it had to be killed.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOKS);
    }
}

fn report_of(said: &[u8]) -> Option<Result<Report, String>> {
    let json: Json = serde_json::from_slice(said).ok()?;
    if let Some(error) = json["error"].as_str() {
        return Some(Err(error.to_owned()));
    }
    let warnings = json["warnings"].as_array()?.iter().filter_map(|w| w.as_str().map(str::to_owned));
    Some(Ok(Report { lines: json["lines"].as_str()?.to_owned(), warnings: warnings.collect() }))
}

/// Limits the memory of this process: a request beyond the limit fails.
#[cfg(unix)]
fn limit_memory(bytes: u64) {
    // Threads of OpenVDB's pool have stacks of their own.
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let most = MEMORY + MEMORY_PER_BYTE.saturating_mul(bytes) + (threads << 23);
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the limit lies on this stack; a call that fails leaves the limit that was there. Nobody who asked is there
    // any more when a parent ended early: the reader ends with it.
    unsafe {
        libc::setrlimit(libc::RLIMIT_DATA, &raw const limit);
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

#[cfg(not(unix))]
fn limit_memory(_bytes: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_goes_from_one_process_to_the_other() {
        let report = Report { lines: "a: b\n".into(), warnings: vec!["\"c\"".into()] };
        let found = report_of(answer(Ok(report)).as_bytes()).unwrap().unwrap();
        assert_eq!((found.lines.as_str(), &found.warnings[..]), ("a: b\n", &["\"c\"".to_owned()][..]));
        assert_eq!(report_of(answer(Err("no".into())).as_bytes()).unwrap().unwrap_err(), "no");
        assert!(report_of(b"Segm").is_none());
    }

    #[test]
    fn one_that_does_not_end_is_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(20)).unwrap(), None);
    }
}
