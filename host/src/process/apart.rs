//! Reads a file in a process of its own, so that a damaged file that crashes a library, or takes all memory, ends only
//! that process.

use super::limits::no_thread_because;
use super::{own_file, stretched};
use std::ffi::OsStr;
use std::fs::File;
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
/// Time between two looks at the reading process.
const LOOKS: Duration = Duration::from_millis(2);

/// How a reading process ended.
#[derive(Debug)]
pub(crate) enum Answer {
    /// What it said, and whether it ended well.
    Said(Vec<u8>, bool),
    /// It had to be ended.
    Endless,
}

/// True in the reading process.
pub(crate) fn is_here() -> bool {
    std::env::var_os(APART).is_some()
}

/// Runs this program with these arguments to read `file`, of `bytes` bytes, which it may also find at its standard
/// input. Of what it says at most `longest` bytes are heard.
pub(crate) fn ask(
    args: &[&OsStr],
    shown: &Path,
    file: Option<File>,
    bytes: u64,
    longest: u64,
) -> Result<Answer, String> {
    let cannot = |e| no_thread_because(&format!("begin a process that reads {}", shown.display()), &e);
    let mut child = Command::new(own_file().map_err(cannot)?)
        .args(args)
        .env(APART, "1")
        .stdin(file.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(cannot)?;
    let listen = |out| std::thread::Builder::new().spawn(move || all_of(out, longest)).map_err(cannot);
    let said = match child.stdout.take().map(listen).transpose() {
        Ok(said) => said,
        Err(e) => {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(e);
        }
    };
    let limit = stretched(Duration::from_secs(SECONDS + bytes / BYTES_A_SECOND));
    let Some(status) = wait(&mut child, limit).map_err(cannot)? else { return Ok(Answer::Endless) };
    let said = said.and_then(|s| s.join().ok()).unwrap_or_default();
    Ok(Answer::Said(said, status.success()))
}

fn all_of(out: impl Read, longest: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An answer that was cut off counts as damaged.
    let _ = out.take(longest).read_to_end(&mut bytes);
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

/// Limits the memory of this process, which reads a file of so many bytes: a request beyond the limit fails.
#[cfg(unix)]
pub(crate) fn limit_memory(bytes: u64) {
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
pub(crate) fn limit_memory(_bytes: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_does_not_end_is_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(20)).unwrap(), None);
    }
}
