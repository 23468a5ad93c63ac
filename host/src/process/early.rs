//! What happens before the libraries of this program are set up. One of them begins threads then, and ends the program
//! with a C++ exception where it cannot; all of them open files.

use super::{board::board, limits, processor};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a process that was refused a thread or memory before its work began; the process above it says so.
pub(super) const REFUSED: i32 = 114;

/// Tells a child where the board is, and the terminal.
pub(super) const INHERITED: &CStr = c"MENISCUS_BOARD";

/// This process has a board that another one reads.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// From now on whoever looks on is told on the board.
pub(super) fn is_watched() {
    WATCHED.store(true, Ordering::SeqCst);
}

/// To be run from `.preinit_array`, before the constructors of libraries.
pub extern "C" fn before_libraries() {
    processor::end_if_too_old();
    prepare();
}

/// Not inlined: what stands beside the question for the processor must not use what it asks for.
#[inline(never)]
extern "C" fn prepare() {
    fill_standard_files();
    have_a_stack();
    openvdb_sys::on_uncaught(on_refused);
}

/// Opens what is closed of the standard files: the next file that is opened would get the number, and all that is
/// printed. What stands in for them cannot be written to, so lost output is noticed.
fn fill_standard_files() {
    for file in 0..3 {
        // SAFETY: questions about numbers, and constant names.
        unsafe {
            if libc::fcntl(file, libc::F_GETFD) < 0 && libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) < 0 {
                libc::open(c"/".as_ptr(), libc::O_RDONLY);
            }
        }
    }
}

/// Raises a limit of the stack (`ulimit -s`) that is too low to work with; ends the program where that cannot be done.
fn have_a_stack() {
    /// Bytes that the program needs, and those that it asks for.
    const LEAST: libc::rlim_t = 512 << 10;
    const WANTED: libc::rlim_t = 8 << 20;
    // SAFETY: `limit` is filled in before it is read; only the limit of this process is changed; constant text.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) != 0 || limit.rlim_cur >= LEAST {
            return;
        }
        limit.rlim_cur = limit.rlim_max.min(WANTED);
        libc::setrlimit(libc::RLIMIT_STACK, &raw const limit);
        if limit.rlim_cur < LEAST {
            let line =
                b"error: cannot start the program: `ulimit -s` allows less than 512 kB of stack; raise it\n";
            libc::write(2, line.as_ptr().cast::<c_void>(), line.len());
            libc::_exit(1);
        }
    }
}

/// The system refused a library a thread or memory, and nobody caught that.
extern "C" fn on_refused(error: c_int) {
    let is_thread = error == libc::EAGAIN;
    if !is_thread && error != libc::ENOMEM {
        return;
    }
    if WATCHED.load(Ordering::SeqCst) {
        if is_thread {
            board().crowded();
        } else {
            board().starved(1);
        }
        // SAFETY: nothing of the process is needed any more: what is on disk is whole.
        unsafe { libc::_exit(1) }
    }
    // SAFETY: a name; the process ends. A process above this one is told by the code alone, since what this one prints
    // would count as a plugin's.
    unsafe {
        if !libc::getenv(INHERITED.as_ptr()).is_null() {
            libc::_exit(REFUSED);
        }
        let line = format!("error: {}\n", limits::no_thread("start the program"));
        libc::write(2, line.as_ptr().cast::<c_void>(), line.len());
        libc::_exit(1)
    }
}
