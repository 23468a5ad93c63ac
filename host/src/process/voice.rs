//! This program's own standard output and error. What a plugin prints does not come this way: its descriptors 1 and 2
//! lead to the watching process, if there is one.

use std::io::{self, Write};
#[cfg(unix)]
use std::sync::atomic::{AtomicI32, Ordering};

#[cfg(unix)]
static OUT: AtomicI32 = AtomicI32::new(1);
#[cfg(unix)]
static ERR: AtomicI32 = AtomicI32::new(2);

/// Standard output or error of this program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Voice {
    /// The output that a command is asked for.
    Out,
    /// Messages besides the output.
    Err,
}

/// The numbers of standard output and error in this process.
#[cfg(target_os = "linux")]
pub(super) fn numbers() -> [i32; 2] {
    [Voice::Out.number(), Voice::Err.number()]
}

/// Sets these numbers.
#[cfg(target_os = "linux")]
pub(super) fn speak_through([out, err]: [i32; 2]) {
    OUT.store(out, Ordering::SeqCst);
    ERR.store(err, Ordering::SeqCst);
}

#[cfg(unix)]
impl Voice {
    fn number(self) -> i32 {
        match self {
            Voice::Out => OUT.load(Ordering::Relaxed),
            Voice::Err => ERR.load(Ordering::Relaxed),
        }
    }

    /// True on a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        // SAFETY: a question about a number.
        unsafe { libc::isatty(self.number()) == 1 }
    }

    /// Letters in a line of the terminal.
    pub(crate) fn width(self) -> Option<u16> {
        let mut size = std::mem::MaybeUninit::<libc::winsize>::zeroed();
        // SAFETY: `size` is filled in, or stays zero.
        let size = unsafe {
            libc::ioctl(self.number(), libc::TIOCGWINSZ, size.as_mut_ptr());
            size.assume_init()
        };
        Some(size.ws_col).filter(|w| *w > 0)
    }
}

#[cfg(unix)]
impl Write for Voice {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the bytes outlive the call.
        let written = unsafe { libc::write(self.number(), bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
impl Voice {
    /// True on a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        use io::IsTerminal;
        match self {
            Voice::Out => io::stdout().is_terminal(),
            Voice::Err => io::stderr().is_terminal(),
        }
    }

    /// Unknown on this system.
    pub(crate) fn width(self) -> Option<u16> {
        None
    }
}

#[cfg(not(unix))]
impl Write for Voice {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Voice::Out => io::stdout().write(bytes),
            Voice::Err => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Voice::Out => io::stdout().flush(),
            Voice::Err => io::stderr().flush(),
        }
    }
}
