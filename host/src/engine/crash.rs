//! A plugin that crashes takes the process with it; at least the process says who it was.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Room for the sentence about the call being made.
const ROOM: usize = 240;

static SENTENCE: [std::sync::atomic::AtomicU8; ROOM] = [const { std::sync::atomic::AtomicU8::new(0) }; ROOM];
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static WATCHING: AtomicBool = AtomicBool::new(false);

/// Notes the call about to be made.
pub(super) fn entering(node: &str, stage: &str) {
    let sentence =
        format!("\nerror: node `{node}` crashed in {stage}: its plugin did something it must not.\n");
    let bytes = &sentence.as_bytes()[..sentence.len().min(ROOM)];
    LENGTH.store(0, Ordering::SeqCst);
    bytes.iter().zip(&SENTENCE).for_each(|(b, slot)| slot.store(*b, Ordering::SeqCst));
    LENGTH.store(bytes.len(), Ordering::SeqCst);
}

/// The call returned.
pub(super) fn left() {
    LENGTH.store(0, Ordering::SeqCst);
}

/// From now on a crash inside a plugin's call prints one sentence and ends the process with code 1. What is on
/// disk stays whole: files appear there by renaming.
#[cfg(unix)]
pub fn watch() {
    if WATCHING.swap(true, Ordering::SeqCst) {
        return;
    }
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // SAFETY: the handler only does what is allowed in a signal handler (write, _exit); SA_ONSTACK lets it
        // run when a thread's stack is used up (Rust gives its threads an alternative stack).
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
pub fn watch() {
    WATCHING.store(true, Ordering::SeqCst);
}

#[cfg(unix)]
extern "C" fn on_crash(signal: libc::c_int) {
    let mut bytes = [0u8; ROOM];
    let length = LENGTH.load(Ordering::SeqCst).min(ROOM);
    bytes.iter_mut().zip(&SENTENCE).for_each(|(b, slot)| *b = slot.load(Ordering::SeqCst));
    // SAFETY: write, _exit and raise are async-signal-safe; the buffer lies on this stack.
    unsafe {
        if length > 0 {
            libc::write(2, bytes.as_ptr().cast(), length);
            libc::_exit(1);
        }
        // Not inside a plugin: the default action (restored by SA_RESETHAND) says it better.
        libc::raise(signal);
    }
}
