//! Records which plugin's call was running when the process crashes.

#[cfg(unix)]
use super::board::{board, is_shared};

/// From now on a crash is recorded on the board, for the parent; without a parent a sentence is printed. The process
/// ends with code 1. Files on disk stay complete, because they are created by renaming.
#[cfg(unix)]
pub(super) fn watch() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // SAFETY: the handler only does what is allowed in a signal handler (atomics, write, _exit); SA_ONSTACK lets
        // it run when a thread's stack is used up (Rust gives its threads an alternative stack).
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_crash as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Elsewhere a crash looks as the system makes it look.
#[cfg(not(unix))]
pub(super) fn watch() {}

#[cfg(unix)]
extern "C" fn on_crash(signal: libc::c_int) {
    let board = board();
    board.crashed(signal);
    let known = is_shared() || board.is_inside();
    if !is_shared() && known {
        board.print();
    }
    // SAFETY: _exit and raise are async-signal-safe.
    unsafe {
        if known {
            libc::_exit(1);
        }
        // Not inside a call, and nobody looks: the default action (restored by SA_RESETHAND) says it better.
        libc::raise(signal);
    }
}
