//! Scans unknown plugins: each is first opened in a process of its own, with limits of time and memory, so that one
//! that crashes or hangs does not harm the command.

use super::discover::Found;
use super::library_file::LibraryFile;
use super::open::{Plugin, Refusal};
use super::scan_cache::{Cache, Verdict};
#[cfg(target_os = "linux")]
use crate::process::{board::enter, reaper, stretched};
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

/// Seconds that a plugin has to be opened in, when `MENISCUS_SCAN_SECONDS` does not say.
const SECONDS: f64 = 10.0;
/// Most memory that a plugin may take to be opened, bytes.
#[cfg(unix)]
const MEMORY: libc::rlim_t = 4 << 30;

/// What the scanning process says, in this order.
const OPENING: &str = "opening";
const OPENED: &str = "opened";
const SOUND: &str = "sound";
const REFUSED: &str = "refused: ";

/// Scans a file; the error says why it should not be opened.
pub(super) fn scan(file: &Found) -> Result<(), Refusal> {
    let refuse = |reason: String| Refusal { path: file.path.clone(), reason };
    let Ok(library) = LibraryFile::look(&file.path) else { return Ok(()) };
    let cache = Cache::of(&file.path, &library.hash);
    match cache.read() {
        Some(Verdict::Sound) => return Ok(()),
        Some(Verdict::Hung) => return Err(refuse(hung(seconds()))),
        Some(Verdict::Ended) => return Err(refuse(ENDED.into())),
        None => {}
    }
    match in_a_process(&file.path) {
        // Without another process it is opened without a scan, as other programs open plugins.
        None => Ok(()),
        Some(Scanned::Sound) => {
            cache.write(Verdict::Sound);
            Ok(())
        }
        Some(Scanned::Hung) => {
            cache.write(Verdict::Hung);
            Err(refuse(hung(seconds())))
        }
        Some(Scanned::Refused(reason)) => Err(refuse(reason)),
    }
}

/// The message about a plugin that passed its scan and failed when a command opened it.
const ENDED: &str = "it ended the program when it was opened, though it looks sound; it is looked at again when it changes, \
                     or in an hour";

/// Notes that a plugin ended the program, or hung, when a command opened it; false where that cannot be noted.
pub(crate) fn leave_alone(subject: &str, hung: bool) -> bool {
    let Some(path) = subject.strip_prefix(SUBJECT).map(Path::new) else { return false };
    let verdict = if hung { Verdict::Hung } else { Verdict::Ended };
    LibraryFile::look(path).is_ok_and(|library| Cache::of(path, &library.hash).write(verdict))
}

const SUBJECT: &str = "plugin ";

/// A plugin's name in crash messages.
pub(super) fn subject(path: &Path) -> String {
    format!("{SUBJECT}{}", path.display())
}

/// How long opening a scanned plugin may take: the machine may be busier now.
pub(super) fn patience() -> Duration {
    Duration::from_secs_f64(3.0 * seconds())
}

fn hung(seconds: f64) -> String {
    format!(
        "it does not come to an end within {seconds} s when it is opened; it is looked at again when it changes, or in an \
         hour (MENISCUS_SCAN_SECONDS gives it longer)"
    )
}

/// How long a plugin may take to be opened, s: as the user says, or longer where the machine is busy.
fn seconds() -> f64 {
    let said = std::env::var("MENISCUS_SCAN_SECONDS").ok().and_then(|s| s.trim().parse().ok());
    let given = said.filter(|s: &f64| *s > 0.0 && *s < 1e6);
    given.unwrap_or_else(|| stretched(Duration::from_secs_f64(SECONDS)).as_secs_f64().round())
}

enum Scanned {
    Sound,
    Hung,
    Refused(String),
}

/// Opens the file in another process; none where that cannot be had.
#[cfg(target_os = "linux")]
fn in_a_process(path: &Path) -> Option<Scanned> {
    use std::os::unix::process::CommandExt;
    let _noted = enter(&subject(path), "while it was looked at", "");
    // A group of its own: what a plugin does to its group stays there.
    let mut child = Command::new("/proc/self/exe")
        .arg("scan-plugin")
        .arg(path)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut out = child.stdout.take()?;
    let deadline = Instant::now() + Duration::from_secs_f64(seconds());
    let mut pause = Duration::from_micros(500);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(pause),
            _ => {
                // The reaper and the process behind it are a group. It may have ended meanwhile; what counts is that it
                // is gone.
                // SAFETY: the child has not been waited for, so its group is nobody else's.
                unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let said = what_is_there(&mut out);
    let last = said.lines().next_back().unwrap_or_default();
    let during = if last == OPENED { "while its descriptors are read" } else { "while it is opened" };
    Some(match (last, status) {
        (SOUND, Some(_)) => Scanned::Sound,
        (_, None) => Scanned::Hung,
        (line, Some(_)) if line.starts_with(REFUSED) => Scanned::Refused(line[REFUSED.len()..].to_owned()),
        // The process did not start, which is not the plugin's fault.
        (line, Some(_)) if line != OPENING && line != OPENED => return None,
        (_, Some(status)) => Scanned::Refused(format!("it {} {during}", ended(status))),
    })
}

/// Elsewhere no process is made.
#[cfg(not(target_os = "linux"))]
fn in_a_process(_path: &Path) -> Option<Scanned> {
    None
}

/// Describes how a process ended without a complete report.
#[cfg(target_os = "linux")]
fn ended(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(libc::SIGSEGV | libc::SIGBUS) => "crashes (segmentation fault)".into(),
        Some(libc::SIGKILL) => "is killed, or kills the process above it (signal 9)".into(),
        Some(libc::SIGABRT) => "ends the program (abort)".into(),
        Some(signal) => format!("crashes (signal {signal})"),
        None => format!("ends the program (exit code {})", status.code().unwrap_or(-1)),
    }
}

/// What lies in the pipe of a process that has ended; a process of the plugin's own may still hold the other end.
#[cfg(target_os = "linux")]
fn what_is_there(pipe: &mut std::process::ChildStdout) -> String {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    // SAFETY: the pipe is open; the call changes how it is read and nothing else.
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    let (mut bytes, mut piece) = (Vec::new(), [0u8; 4096]);
    while let Ok(n @ 1..) = pipe.read(&mut piece) {
        bytes.extend_from_slice(&piece[..n]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The scanning process: opens the file under limits and reports the result. Its exit code has no meaning.
pub(crate) fn scan_here(path: &Path) -> u8 {
    #[cfg(target_os = "linux")]
    if !reaper::is_behind() {
        reaper::behind(|_| (), |status, _| mirrored(status));
        reaper::begin_afresh(None);
    }
    let mut out = limits::verdicts();
    let mut say = |line: &str| {
        use std::io::Write;
        // If the parent is gone, nobody needs the answer.
        let _ = out.write_all(format!("{line}\n").as_bytes());
    };
    let file = Found { path: path.into(), meant: true };
    say(OPENING);
    match Plugin::open_and(&file, 0, || say(OPENED)) {
        Ok(_) => say(SOUND),
        Err(refusal) => say(&format!("{REFUSED}{}", refusal.reason.replace(['\n', '\r'], " "))),
    }
    limits::end()
}

/// Ends as another process did.
#[cfg(target_os = "linux")]
fn mirrored(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        // SAFETY: plain numbers and an empty mask: the signal ends this process, without a core.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            let mut mask = std::mem::zeroed();
            libc::sigemptyset(&raw mut mask);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
        }
    }
    libc::WEXITSTATUS(status)
}

#[cfg(unix)]
mod limits {
    use std::fs::File;
    use std::os::fd::FromRawFd;

    /// Sets the limits of this process, lets crashes end it, and keeps standard output for what only the scan says: what a plugin prints goes
    /// where errors go.
    pub(super) fn verdicts() -> File {
        // SAFETY: plain numbers; dup gives a descriptor that is nobody else's.
        unsafe {
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            for (what, most) in [(libc::RLIMIT_DATA, super::MEMORY), (libc::RLIMIT_CORE, 0)] {
                let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
                // A tighter limit than this one stays.
                libc::setrlimit(what, &raw const limit);
            }
            // A crash ends the process here and now: Rust's own handler lets one that was only sent go by.
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
                libc::signal(signal, libc::SIG_DFL);
            }
            let own = libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3);
            libc::dup2(2, 1);
            File::from_raw_fd(if own < 0 { 1 } else { own })
        }
    }

    /// Ends the process without another line of the plugin.
    pub(super) fn end() -> u8 {
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) }
    }
}

#[cfg(not(unix))]
mod limits {
    pub(super) fn verdicts() -> std::io::Stdout {
        std::io::stdout()
    }

    pub(super) fn end() -> u8 {
        0
    }
}
