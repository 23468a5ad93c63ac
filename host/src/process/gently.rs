//! Asks another process to end.

use std::process::Child;

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
