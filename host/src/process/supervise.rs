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
/// not. To be called before any thread begins. The child ends the process itself; where no child can be made the work is
/// done here.
pub(crate) fn watched(explain: impl FnOnce(&End) -> u8, work: impl FnOnce() -> u8) -> u8 {
    #[cfg(target_os = "linux")]
    match linux::split() {
        linux::Side::Parent(child) => return child.wait().unwrap_or_else(|end| explain(&end)),
        linux::Side::Child => {
            super::crash::watch();
            linux::end(work())
        }
        linux::Side::Alone => {}
    }
    #[cfg(not(target_os = "linux"))]
    drop(explain);
    super::crash::watch();
    work()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::super::board::{board, share, unshare};
    use super::{End, How};
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::time::{Duration, Instant};

    /// Signals that come as close together as this are one, sent to the process and to its group.
    const ONE: Duration = Duration::from_millis(100);
    /// What a child has to end in, once it was told twice.
    const PATIENCE: Duration = Duration::from_millis(800);

    pub(super) enum Side {
        Parent(Child),
        Child,
        Alone,
    }

    /// The child of this process.
    pub(super) struct Child {
        id: libc::pid_t,
        signals: libc::sigset_t,
    }

    /// The signals that the parent waits for.
    fn awaited() -> libc::sigset_t {
        // SAFETY: sigemptyset fills the set in; the others add to it.
        unsafe {
            let mut set = MaybeUninit::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            set.assume_init()
        }
    }

    /// Forks.
    pub(super) fn split() -> Side {
        if !share() {
            return Side::Alone;
        }
        let signals = awaited();
        let mut before = MaybeUninit::uninit();
        // SAFETY: no other thread runs yet, so the child may do what it likes; sigprocmask fills `before` in.
        unsafe {
            let parent = libc::getpid();
            libc::sigprocmask(libc::SIG_BLOCK, &raw const signals, before.as_mut_ptr());
            match libc::fork() {
                -1 => {
                    libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
                    unshare();
                    Side::Alone
                }
                0 => {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    if libc::getppid() != parent {
                        libc::_exit(1);
                    }
                    libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
                    Side::Child
                }
                id => Side::Parent(Child { id, signals }),
            }
        }
    }

    /// Proves the end of the child and ends it. Nothing of a plugin runs after that: no exit handler, no destructor.
    pub(super) fn end(code: u8) -> ! {
        // What can still be said was said through `say`, which knows of its failures.
        let _ = std::io::stdout().flush();
        board().prove(code);
        // SAFETY: ends the process.
        unsafe { libc::_exit(i32::from(code)) }
    }

    impl Child {
        /// Waits for the end; passes on what the child did not hear itself.
        pub(super) fn wait(self) -> Result<u8, End> {
            let mut told: Vec<Instant> = Vec::new();
            loop {
                let deadline = told.get(1).map(|t| *t + PATIENCE);
                let (signal, from_kernel) = self.next_signal(deadline);
                let now = Instant::now();
                if let Some(status) = self.status(libc::WNOHANG) {
                    return self.judged(status);
                }
                if matches!(signal, libc::SIGINT | libc::SIGTERM) && told.last().is_none_or(|t| now - *t > ONE) {
                    told.push(now);
                    // A terminal sends its Ctrl-C to the whole group.
                    if !from_kernel {
                        self.send(signal);
                    }
                }
                if told.len() > 2 || deadline.is_some_and(|d| now >= d) {
                    return Err(self.broken_off());
                }
            }
        }

        /// The next signal, 0 when the deadline comes first; and whether the kernel itself sent it.
        fn next_signal(&self, deadline: Option<Instant>) -> (i32, bool) {
            // Without a deadline the child is looked at now and then, should its signal be lost.
            let left = deadline.map_or(Duration::from_secs(1), |d| d.saturating_duration_since(Instant::now()));
            let most = libc::timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            };
            let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
            // SAFETY: the set and the time are whole; `info` is filled in, or stays zero.
            unsafe {
                let signal = libc::sigtimedwait(&raw const self.signals, info.as_mut_ptr(), &raw const most);
                (signal.max(0), info.assume_init().si_code == libc::SI_KERNEL)
            }
        }

        /// How the child ended, if it did.
        fn status(&self, options: i32) -> Option<i32> {
            let mut status = 0;
            // SAFETY: our own child; the status is filled in.
            let ended = unsafe { libc::waitpid(self.id, &raw mut status, options) };
            (ended == self.id).then_some(status)
        }

        fn send(&self, signal: i32) {
            // SAFETY: the child is ours and not waited for yet, so its number is nobody else's.
            unsafe { libc::kill(self.id, signal) };
        }

        fn judged(&self, status: i32) -> Result<u8, End> {
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
            Err(End { how, seen, peak: peak() })
        }

        /// Ends the child.
        fn broken_off(&self) -> End {
            let seen = board().read();
            self.send(libc::SIGKILL);
            // The system takes its time to take back a large memory; this process need not wait for that.
            for _ in 0..10 {
                if self.status(libc::WNOHANG).is_some() {
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
