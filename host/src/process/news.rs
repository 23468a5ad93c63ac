//! Signals that the parent of a cook receives, among them that its child ended.

use std::sync::atomic::{AtomicI32, Ordering};

/// End of the pipe that the handler writes to.
static EAR: AtomicI32 = AtomicI32::new(-1);

/// A signal to pass on to the child.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) signal: i32,
    /// The kernel sent it for a key of the terminal, to every process of the group.
    pub(super) by_kernel: bool,
}

/// Receives SIGINT, SIGTERM and SIGCHLD, on any thread.
pub(super) struct News {
    pipe: i32,
}

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system hands over the signal's own account; write is async-signal-safe.
    unsafe {
        let by_kernel = !info.is_null() && (*info).si_code == libc::SI_KERNEL;
        let word = [signal as u8, u8::from(by_kernel)];
        libc::write(EAR.load(Ordering::Relaxed), word.as_ptr().cast(), word.len());
    }
}

impl News {
    pub(super) fn listen() -> Option<Self> {
        let mut ends = [0; 2];
        // SAFETY: `ends` is filled in; the handler only does what is allowed in one. A read is broken off by a signal,
        // all other calls go on.
        unsafe {
            if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) != 0 {
                return None;
            }
            EAR.store(ends[1], Ordering::Relaxed);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGCHLD] {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction =
                    on_signal as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigemptyset(&raw mut action.sa_mask);
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
        Some(Self { pipe: ends[0] })
    }

    /// Waits for a signal, at most one second: the child is checked from time to time in case its signal was lost.
    /// Returns the signals to pass on.
    pub(super) fn next(&self) -> Option<Told> {
        const A_SECOND: i32 = 1000;
        let mut waiting = libc::pollfd { fd: self.pipe, events: libc::POLLIN, revents: 0 };
        let mut word = [0u8; 2];
        // SAFETY: one descriptor of ours; `word` is filled in as far as the answer says. Words of two bytes are written
        // as a whole.
        let length = unsafe {
            libc::poll(&raw mut waiting, 1, A_SECOND);
            libc::read(self.pipe, word.as_mut_ptr().cast(), word.len())
        };
        let signal = i32::from(word[0]);
        let asked = length == 2 && signal != libc::SIGCHLD;
        asked.then_some(Told { signal, by_kernel: word[1] != 0 })
    }
}
