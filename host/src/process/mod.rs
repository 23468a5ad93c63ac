//! The processes around a command: the command runs in a child, and a parent watches whether it finishes.
//!
//! A plugin is code in our process: it may crash, call `exit`, or never return. So a command runs in a child, which
//! records every call on a [`board`] that both processes see, and records its end there, too. If the end is missing,
//! the parent prints a sentence that says why. On systems other than Linux there is no parent, and the command runs
//! alone.
//!
//! There are three processes. The first one, which the user started, watches and owns the terminal. The second, a
//! [`reaper`], has only the third as its child, and ends processes that the third leaves behind. The third does the
//! work. What plugins print goes to the first ([`overheard`]); what this program prints bypasses that ([`stdio`]).

pub(crate) mod apart;
pub(crate) mod board;
mod crash;
#[cfg(target_os = "linux")]
mod early;
mod gently;
mod heap;
pub(crate) mod limits;
mod modules;
#[cfg(target_os = "linux")]
mod news;
mod open_files;
#[cfg(target_os = "linux")]
mod overheard;
mod patience;
#[cfg(target_os = "linux")]
mod processor;
#[cfg(target_os = "linux")]
pub(crate) mod reaper;
mod stdio;
mod supervise;

#[cfg(target_os = "linux")]
pub use early::before_libraries;
pub(crate) use gently::{ask_to_end, dies_with_us};
pub(crate) use heap::{end_for_want, trying};
pub(crate) use modules::note_module;
pub(crate) use open_files::KeptOpen;
#[cfg(unix)]
pub(crate) use patience::stretched;
pub(crate) use supervise::{End, How, watched};

/// Name of the thread that hears signals.
pub(crate) const SIGNALS: &str = "signals";

/// The file of this program.
pub(crate) fn own_file() -> std::io::Result<std::path::PathBuf> {
    let found = std::env::current_exe();
    #[cfg(target_os = "linux")]
    if found.is_err() {
        // Where there is no /proc, the system still tells how the program was begun.
        // SAFETY: the address of a string that lasts as long as the process, or nought.
        let name = unsafe { (libc::getauxval(libc::AT_EXECFN) as *const libc::c_char).as_ref() };
        if let Some(name) = name {
            use std::os::unix::ffi::OsStrExt;
            // SAFETY: as above.
            let name = unsafe { std::ffi::CStr::from_ptr(name) };
            return std::path::absolute(std::ffi::OsStr::from_bytes(name.to_bytes()));
        }
    }
    found
}

pub(crate) use stdio::{Stream, hurry};
