//! This program's own standard output and error. What a plugin prints does not come this way: its descriptors 1 and 2
//! lead to the watching process, if there is one.

use std::io::{self, Write};
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
#[cfg(unix)]
use std::time::{Duration, Instant};

#[cfg(unix)]
static OUT: AtomicI32 = AtomicI32::new(1);
#[cfg(unix)]
static ERR: AtomicI32 = AtomicI32::new(2);

/// Someone waits for the end of the process.
#[cfg(unix)]
static HURRIED: AtomicBool = AtomicBool::new(false);

/// A text was not taken although someone waits for the end; nor will the next be waited for.
#[cfg(unix)]
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// Bytes that a pipe takes at once where it says that it takes any.
#[cfg(unix)]
const PIECE: usize = 4096;
/// Time between two looks whether someone waits for the end.
#[cfg(unix)]
const LOOK: i32 = 50;
/// Time that a reader has to take a text, once someone waits for the end.
#[cfg(unix)]
const LAST: Duration = Duration::from_millis(200);

/// From now on nothing waits for long until someone reads what is printed: what is not taken is lost.
#[cfg(unix)]
pub(crate) fn hurry() {
    HURRIED.store(true, Ordering::SeqCst);
}

#[cfg(not(unix))]
pub(crate) fn hurry() {}

/// Standard output or error of this program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    /// The output that a command is asked for.
    Out,
    /// Messages besides the output.
    Err,
}

/// The numbers of standard output and error in this process.
#[cfg(target_os = "linux")]
pub(super) fn numbers() -> [i32; 2] {
    [Stream::Out.number(), Stream::Err.number()]
}

/// Sets these numbers.
#[cfg(target_os = "linux")]
pub(super) fn redirect([out, err]: [i32; 2]) {
    OUT.store(out, Ordering::SeqCst);
    ERR.store(err, Ordering::SeqCst);
}

#[cfg(unix)]
impl Stream {
    fn number(self) -> i32 {
        match self {
            Stream::Out => OUT.load(Ordering::Relaxed),
            Stream::Err => ERR.load(Ordering::Relaxed),
        }
    }

    /// The same output, for a child process.
    pub(crate) fn for_child(self) -> io::Result<std::process::Stdio> {
        // SAFETY: the descriptor stays open as long as this process.
        let own = unsafe { std::os::fd::BorrowedFd::borrow_raw(self.number()) };
        own.try_clone_to_owned().map(Into::into)
    }

    /// Waits until a piece of text can be written; not for long once someone waits for the end.
    fn wait_for_room(self) -> io::Result<()> {
        let mut hurried: Option<Instant> = None;
        loop {
            let mut room = libc::pollfd { fd: self.number(), events: libc::POLLOUT, revents: 0 };
            let most = if UNHEARD.load(Ordering::SeqCst) { 0 } else { LOOK };
            // SAFETY: one descriptor.
            let ready = unsafe { libc::poll(&raw mut room, 1, most) };
            // What cannot be asked is tried; an error of the descriptor's is for the write to find.
            if ready > 0 || ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return Ok(());
            }
            let hurries = HURRIED.load(Ordering::SeqCst);
            if hurries && hurried.get_or_insert_with(Instant::now).elapsed() > LAST {
                UNHEARD.store(true, Ordering::SeqCst);
            }
            if hurries && UNHEARD.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::TimedOut.into());
            }
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
impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PIECE)];
        self.wait_for_room()?;
        // SAFETY: the bytes outlive the call.
        let written = unsafe { libc::write(self.number(), bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
impl Stream {
    /// True on a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        use io::IsTerminal;
        match self {
            Stream::Out => io::stdout().is_terminal(),
            Stream::Err => io::stderr().is_terminal(),
        }
    }

    /// The same output, for a child process.
    pub(crate) fn for_child(self) -> io::Result<std::process::Stdio> {
        Ok(std::process::Stdio::inherit())
    }

    /// Unknown on this system.
    pub(crate) fn width(self) -> Option<u16> {
        None
    }
}

#[cfg(not(unix))]
impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Out => io::stdout().write(bytes),
            Stream::Err => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Out => io::stdout().flush(),
            Stream::Err => io::stderr().flush(),
        }
    }
}
