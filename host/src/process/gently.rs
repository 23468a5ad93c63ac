//! Begins and ends other processes with care.

use std::process::{Child, Command};

/// The process gets a group of its own, so that Ctrl-C in the terminal is for this one alone, which then asks it to end. Where
/// the system can, it is ended when this one dies.
pub(crate) fn dies_with_us(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(target_os = "linux")]
    {
        let parent = std::process::id().cast_signed();
        let follow = move || {
            // SAFETY: plain numbers; both may be called between fork and exec.
            let alone = unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::getppid() != parent
            };
            if alone { Err(std::io::ErrorKind::NotFound.into()) } else { Ok(()) }
        };
        // SAFETY: the closure only makes system calls.
        unsafe { std::os::unix::process::CommandExt::pre_exec(command, follow) };
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Asks a process of ours, which was not waited for yet, to save what it has and end.
pub(crate) fn ask_to_end(child: &Child) {
    #[cfg(unix)]
    // SAFETY: plain numbers; the child was not waited for, so its number is nobody else's.
    unsafe {
        libc::kill(child.id().cast_signed(), libc::SIGTERM);
    }
    #[cfg(not(unix))]
    let _ = child;
}
