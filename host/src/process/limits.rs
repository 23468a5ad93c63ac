//! Limits that the system sets a process, named in messages about what it refused.

use std::io::{Error, ErrorKind};

/// A sentence about a thread or process that could not begin; `doing` follows "cannot".
pub(crate) fn no_thread(doing: &str) -> String {
    let known = [processes(), group(), address_space()].into_iter().flatten().collect::<Vec<_>>();
    let why = match known.as_slice() {
        [] => "the system has no more threads or processes to give".to_owned(),
        [one] => format!("the limit is reached, {one}"),
        all => format!("a limit is reached, {}", all.join(" or ")),
    };
    let what = if known.is_empty() { "end other programs" } else { "raise it, end other programs" };
    format!("cannot {doing}: {why}; {what}, or use fewer --threads")
}

/// The same for what the system said about it, where it says something else.
pub(crate) fn no_thread_because(doing: &str, e: &Error) -> String {
    match e.kind() {
        ErrorKind::WouldBlock | ErrorKind::OutOfMemory => no_thread(doing),
        _ => format!("cannot {doing}: {e}"),
    }
}

/// True for an error that a limit of processes or memory causes.
pub(crate) fn is_refusal(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory)
}

/// `ulimit -v` or `ulimit -d`, where one of them leaves less than everything.
pub(crate) fn address_space() -> Option<String> {
    #[cfg(unix)]
    {
        let of = |what, letter| {
            Some(format!("`ulimit -{letter}` allows {} kB of memory and address space", soft(what)? / 1024))
        };
        of(libc::RLIMIT_AS, 'v').or_else(|| of(libc::RLIMIT_DATA, 'd'))
    }
    #[cfg(not(unix))]
    None
}

/// `ulimit -u`.
fn processes() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let most = soft(libc::RLIMIT_NPROC)?;
        // As many as the kernel can count to is no limit that anybody meets.
        (most < 1 << 16).then(|| format!("`ulimit -u` allows {most} processes and threads of one user"))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The limit of the control group, as a container sees it.
#[cfg(unix)]
fn group() -> Option<String> {
    let text = std::fs::read_to_string("/sys/fs/cgroup/pids.max").ok()?;
    let most: u64 = text.trim().parse().ok()?;
    (most < 1 << 16).then(|| format!("the control group (pids.max) allows {most} processes and threads"))
}

/// Seconds of processor time that `ulimit -t` allows before it ends a process, if it does.
pub(crate) fn processor_seconds() -> Option<u64> {
    #[cfg(unix)]
    {
        soft(libc::RLIMIT_CPU)
    }
    #[cfg(not(unix))]
    None
}

/// Files and connections that `ulimit -n` allows a process, where it allows not just any number.
pub(crate) fn open_files() -> Option<u64> {
    #[cfg(unix)]
    {
        soft(libc::RLIMIT_NOFILE)
    }
    #[cfg(not(unix))]
    None
}

/// A soft limit, where there is one.
#[cfg(unix)]
fn soft(what: Which) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is filled in, or stays as it is.
    unsafe { libc::getrlimit(what, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// How the C library names limits.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Which = libc::__rlimit_resource_t;
#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
type Which = libc::c_int;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_could_not_begin_is_a_limit_and_other_errors_stay_what_they_are() {
        let sentence = no_thread("begin a thread");
        assert!(
            sentence.starts_with("cannot begin a thread: ") && sentence.contains("--threads"),
            "{sentence}"
        );
        let again = Error::from(ErrorKind::WouldBlock);
        assert_eq!(no_thread_because("begin a thread", &again), sentence);
        let other = no_thread_because("begin a thread", &Error::other("no"));
        assert_eq!(other, "cannot begin a thread: no");
        assert!(is_refusal(&again) && !is_refusal(&Error::other("no")));
    }
}
