//! Records which plugin's call was running when the process crashes, or which plugin's thread it was that crashed.

#[cfg(unix)]
use super::board::{board, is_shared};

/// From now on a crash is recorded on the board, for the parent; without a parent a sentence is printed. The process
/// ends with code 1. Files on disk stay complete, because they are created by renaming.
#[cfg(unix)]
pub(super) fn watch() {
    super::board::is_own_thread();
    watch_exits();
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // SAFETY: the handler only does what is allowed in a signal handler (atomics, write, _exit, and to read a file);
        // SA_ONSTACK lets it run when a thread's stack is used up (Rust gives its threads an alternative stack).
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction =
                on_crash as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_SIGINFO;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Elsewhere a crash looks as the system makes it look.
#[cfg(not(unix))]
pub(super) fn watch() {}

#[cfg(unix)]
extern "C" fn on_crash(signal: libc::c_int, _: *mut libc::siginfo_t, state: *mut libc::c_void) {
    let board = board();
    board.crashed(signal);
    let known = is_shared() || board.is_inside();
    note_thread(state);
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

/// From now on an end of the program by a thread of a plugin's own is told, before what was loaded until now is
/// torn down.
#[cfg(unix)]
fn watch_exits() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn on_exit(
                function: extern "C" fn(libc::c_int, *mut libc::c_void),
                of: *mut libc::c_void,
            ) -> libc::c_int;
        }
        // SAFETY: glibc's own function. If it cannot keep ours, an end is told as a node's.
        unsafe {
            on_exit(at_exit, std::ptr::null_mut());
        }
    }
}

/// A thread of a plugin's own that ends the program is not the node that runs meanwhile. The program ends at once: other
/// threads still compute, and would crash of what is torn down around them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn at_exit(code: libc::c_int, _: *mut libc::c_void) {
    let here = 0usize;
    if super::board::on_own_thread() {
        return;
    }
    board().is_foreign(super::modules::running(0, (&raw const here) as usize).unwrap_or(""));
    // SAFETY: what plugins printed is written out, as it would have been; then nothing more runs.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(code);
    }
}

/// Notes whose thread it is that crashed, where it is none of the program's own.
#[cfg(unix)]
fn note_thread(state: *mut libc::c_void) {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if !super::board::on_own_thread() {
        // SAFETY: the system hands over the registers of the thread as they were.
        let (instruction, stack) = unsafe { registers(&*state.cast::<libc::ucontext_t>()) };
        board().is_foreign(super::modules::running(instruction, stack).unwrap_or(""));
    }
    let _ = state;
}

/// Where a thread was: its instruction, and the end of its stack.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn registers(thread: &libc::ucontext_t) -> (usize, usize) {
    let of = |register: libc::c_int| thread.uc_mcontext.gregs[register as usize] as usize;
    (of(libc::REG_RIP), of(libc::REG_RSP))
}

/// The same.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn registers(thread: &libc::ucontext_t) -> (usize, usize) {
    (thread.uc_mcontext.pc as usize, thread.uc_mcontext.sp as usize)
}
