//! The reaper: a process between the working process and the one that started it. What a plugin does to its parent
//! process hits the reaper. Processes that a plugin leaves running become the reaper's children, and it ends them.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// What processes that were left behind may take to end.
const SWEEP: Duration = Duration::from_secs(1);
/// How often the reaper looks without being told.
static LOOKS: libc::timespec = libc::timespec { tv_sec: 1, tv_nsec: 0 };

/// Goes on in a child of this process. This one stays, tells `began` which process that is, waits for its end, ends what
/// that has left running, and exits as `ended` says of its status and of the names of those. To be called before any
/// thread begins. Where no child can be made it goes on here.
pub(crate) fn behind(began: impl FnOnce(i32), ended: impl FnOnce(i32, &[String]) -> i32) {
    // SAFETY: no thread runs yet, so the child is whole; the masks are filled in before they are used.
    let (parent, worker) = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let (parent, own) = (libc::getppid(), libc::getpid());
        let worker = libc::fork();
        if worker > 0 {
            (parent, worker)
        } else {
            if worker == 0 {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != own {
                    libc::_exit(1);
                }
            }
            libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            return;
        }
    };
    began(worker);
    let status = watch(parent, worker);
    let left = sweep(&[]);
    // SAFETY: ends the process; the worker was the one that had something to finish.
    unsafe { libc::_exit(ended(status, &left)) }
}

/// Says that a process stands behind its reaper.
const BEHIND: &str = "MENISCUS_BEHIND";

/// Whether this process has begun behind its reaper. To be asked before any thread of ours begins.
pub(crate) fn is_behind() -> bool {
    let is_behind = std::env::var_os(BEHIND).is_some();
    // SAFETY: no thread of ours runs yet, and none of the libraries' reads the environment.
    unsafe { std::env::remove_var(BEHIND) };
    is_behind
}

/// Begins this program once more, with the same arguments, in the child that goes on behind its reaper: libraries have
/// threads already, and those do not come along. Returns where that cannot be done.
pub(crate) fn begin_afresh(told: Option<(&str, String)>) {
    let mut words = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words).env(BEHIND, "1").envs(told);
    // What is wrong is seen by whoever does without.
    let _ = command.exec();
}

/// Waits for the end of the worker and gives its status. Signals from the parent are passed on; where the parent has gone
/// the worker is ended.
fn watch(parent: i32, worker: i32) -> i32 {
    // SAFETY: plain numbers; all signals are blocked and come here.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        loop {
            let mut status = 0;
            match libc::waitpid(-1, &raw mut status, libc::WNOHANG) {
                ended if ended == worker => return status,
                1.. => continue,
                _ => {}
            }
            if libc::getppid() != parent {
                libc::kill(worker, libc::SIGKILL);
            }
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let signal = libc::sigtimedwait(&raw const all, &raw mut info, &raw const LOOKS);
            let asks = signal == libc::SIGINT || signal == libc::SIGTERM;
            if asks && info.si_code == libc::SI_USER && info.si_pid() == parent {
                libc::kill(worker, signal);
            }
        }
    }
}

/// Ends the children of this process and what they leave in turn, all but these; their names.
pub(super) fn sweep(all_but: &[i32]) -> Vec<String> {
    let (begun, mut left): (_, Vec<(i32, String)>) = (Instant::now(), Vec::new());
    loop {
        // SAFETY: only children of this process are waited for.
        let none = unsafe {
            let mut status = 0;
            while all_but.is_empty() && libc::waitpid(-1, &raw mut status, libc::WNOHANG) > 0 {}
            all_but.is_empty() && libc::waitpid(-1, &raw mut status, libc::WNOHANG) < 0
        };
        let now = if none { Vec::new() } else { children() };
        let now: Vec<i32> = now.into_iter().filter(|p| !all_but.contains(p)).collect();
        if now.is_empty() || begun.elapsed() > SWEEP {
            return left.into_iter().map(|(_, name)| name).collect();
        }
        for process in now {
            let (ended, name) = state(process);
            if !ended && left.iter().all(|(p, _)| *p != process) {
                left.push((process, format!("`{name}`, process {process}")));
            }
            // SAFETY: a child that nobody waited for, so its number is nobody else's.
            unsafe {
                libc::kill(process, libc::SIGKILL);
                libc::waitpid(process, std::ptr::null_mut(), libc::WNOHANG);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The children of this process.
pub(super) fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_child = |process: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // After the name, which may hold anything: state, parent.
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(&own)
    };
    let numbers = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(is_child).collect()
}

/// Whether a process has been killed and only gives its memory back: that takes a while if it has much of it.
fn is_killed(process: i32) -> bool {
    /// The bit of SIGKILL in a mask of signals.
    const KILL: u64 = 1 << (libc::SIGKILL - 1);
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mut masks =
        status.lines().filter_map(|line| line.strip_prefix("SigPnd:").or(line.strip_prefix("ShdPnd:")));
    masks.any(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & KILL != 0))
}

/// Whether a process has ended already, and its name.
fn state(process: i32) -> (bool, String) {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let ended = stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
    let ended = ended || is_killed(process);
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    (ended, crate::text::one_line(name.trim_end(), 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_and_named() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = child.id().cast_signed();
        assert!(children().contains(&process));
        assert!(!state(process).0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children().contains(&process) && state(process).0);
    }
}
