//! A command runs in a child; its parent waits for the proof that it came to its end.

use super::board::Seen;

/// How a child ended that proved nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum How {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signal(i32),
    /// It ended for want of so many bytes.
    Starved(u64),
    /// It was told twice to stop, and did not.
    Unanswered,
}

/// The end of a child that proved nothing.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) how: How,
    /// What ran then, or last.
    pub(crate) seen: Seen,
    /// Most memory that it held, bytes.
    pub(crate) peak: f64,
}

/// Does the work in a child process and gives its exit code once that is proved; `explain` gives the code where it is
/// not. The child is this program once more, with the same arguments, and ends the process itself. Where no child can be
/// made the work is done here.
pub(crate) fn watched(explain: impl FnOnce(&End) -> u8, work: impl FnOnce() -> u8) -> u8 {
    #[cfg(target_os = "linux")]
    {
        if linux::is_child() {
            super::crash::watch();
            linux::end(work());
        }
        if let Some(child) = linux::Child::start() {
            return child.wait().unwrap_or_else(|end| explain(&end));
        }
    }
    #[cfg(not(target_os = "linux"))]
    drop(explain);
    super::crash::watch();
    work()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::super::board::{Sheet, board, unshare, use_inherited};
    use super::super::news::{News, Told};
    use super::{End, How};
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// Tells the child where the board is.
    const INHERITED: &str = "MENISCUS_BOARD";
    /// Signals that come as close together as this are one, sent to the process and to its group.
    const ONE: Duration = Duration::from_millis(100);
    /// What a child has to end in, once it was told twice.
    const PATIENCE: Duration = Duration::from_millis(800);

    /// This process is the child of another that waits for its proof. To be asked before any thread of ours begins.
    pub(super) fn is_child() -> bool {
        let Ok(inherited) = std::env::var(INHERITED) else { return false };
        // SAFETY: no thread of ours runs yet, and none of the libraries' reads the environment.
        unsafe { std::env::remove_var(INHERITED) };
        use_inherited(&inherited)
    }

    /// Proves the end of the child and ends it. Nothing of a plugin runs after that: no exit handler, no destructor.
    pub(super) fn end(code: u8) -> ! {
        // What could not be said was noticed where it was said.
        let _ = std::io::stdout().flush();
        board().prove(code);
        // SAFETY: ends the process.
        unsafe { libc::_exit(i32::from(code)) }
    }

    /// The child of this process.
    pub(super) struct Child {
        id: libc::pid_t,
        news: News,
    }

    impl Child {
        /// Starts this program once more.
        pub(super) fn start() -> Option<Self> {
            let sheet = Sheet::share()?;
            let news = News::listen()?;
            let mut words = std::env::args_os();
            let mut command = Command::new("/proc/self/exe");
            if let Some(name) = words.next() {
                command.arg0(name);
            }
            command.args(words).env(INHERITED, sheet.told());
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
            unsafe { command.pre_exec(follow) };
            match command.spawn() {
                Ok(child) => Some(Self { id: child.id().cast_signed(), news }),
                Err(_) => {
                    unshare();
                    None
                }
            }
        }

        /// Waits for the end; passes on what the child did not hear itself.
        pub(super) fn wait(self) -> Result<u8, Box<End>> {
            let mut told: Vec<Instant> = Vec::new();
            loop {
                if let Some(status) = self.status() {
                    return self.judged(status);
                }
                let deadline = told.get(1).map(|t| *t + PATIENCE);
                let news = self.news.next(deadline);
                let now = Instant::now();
                if let Some(Told { signal, by_kernel }) = news
                    && told.last().is_none_or(|t| now - *t > ONE)
                {
                    told.push(now);
                    // A terminal sends its Ctrl-C to the whole group.
                    if !by_kernel {
                        self.send(signal);
                    }
                }
                if told.len() > 2 || deadline.is_some_and(|d| now >= d) {
                    return Err(Box::new(self.broken_off()));
                }
            }
        }

        /// How the child ended, if it did.
        fn status(&self) -> Option<i32> {
            let mut status = 0;
            // SAFETY: our own child; the status is filled in.
            let ended = unsafe { libc::waitpid(self.id, &raw mut status, libc::WNOHANG) };
            (ended == self.id).then_some(status)
        }

        fn send(&self, signal: i32) {
            // SAFETY: the child is ours and not waited for yet, so its number is nobody else's.
            unsafe { libc::kill(self.id, signal) };
        }

        fn judged(&self, status: i32) -> Result<u8, Box<End>> {
            if let Some(code) = board().proved() {
                return Ok(code);
            }
            let seen = board().read();
            let how = match (seen.lacking, seen.crash) {
                (Some(bytes), _) => How::Starved(bytes),
                (_, Some(signal)) => How::Signal(signal),
                _ if libc::WIFSIGNALED(status) => How::Signal(libc::WTERMSIG(status)),
                _ => How::Exited(libc::WEXITSTATUS(status)),
            };
            Err(Box::new(End { how, seen, peak: peak() }))
        }

        /// Ends the child.
        fn broken_off(&self) -> End {
            let seen = board().read();
            self.send(libc::SIGKILL);
            // The system takes its time to take back a large memory; this process need not wait for that.
            for _ in 0..10 {
                if self.status().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            End { how: How::Unanswered, seen, peak: peak() }
        }
    }

    /// Most memory that an ended child held, bytes.
    fn peak() -> f64 {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is filled in, or stays zero.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
            usage.assume_init()
        };
        usage.ru_maxrss as f64 * 1024.0
    }
}
