//! Runs a command in a child process; the parent waits for the record that it finished.

use super::board::Seen;
use std::time::Duration;

/// How a child ended without that record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum How {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signal(i32),
    /// It ended because so many bytes of memory were missing.
    Starved(u64),
    /// It was told to stop, and again so long after.
    BrokenOff(Duration),
    /// A thread or process that it needed could not begin, or there was no memory to begin with.
    Crowded,
    /// It had so many seconds of processor time, its limit.
    OutOfTime(u64),
    /// A call lasted longer than so many seconds, which is its limit.
    Hung(u64),
    /// A plugin closed its files.
    FilesClosed,
    /// Its parent process was killed, and it ended with it.
    Orphaned,
}

/// The end of a child that did not record that it finished.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) how: How,
    /// The call that ran then, or last.
    pub(crate) seen: Seen,
    /// Most memory that it held, bytes.
    pub(crate) peak: f64,
}

/// Does the work in a child process and returns its exit code if it recorded that it finished; else `explain` returns
/// the code. The child is this program again, with the same arguments, and it ends the process itself. If no child can
/// be started, the work is done here. `tell` prints what plugins print, and messages about what they did to the
/// processes.
pub(crate) fn watched(tell: fn(&str), explain: impl FnOnce(&End) -> u8, work: impl FnOnce() -> u8) -> u8 {
    #[cfg(target_os = "linux")]
    {
        if linux::is_child() {
            super::early::is_watched();
            linux::settle();
            super::crash::watch();
            linux::end(work());
        }
        match linux::Child::start(tell) {
            Ok(Some(child)) => return child.wait().unwrap_or_else(|end| explain(&end)),
            Ok(None) => {}
            Err(how) => return explain(&End { how, seen: Seen::default(), peak: 0.0 }),
        }
    }
    #[cfg(not(target_os = "linux"))]
    drop((tell, explain));
    super::crash::watch();
    work()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::super::board::{SharedBoard, board, unshare, use_inherited};
    use super::super::news::{News, Told};
    use super::super::overheard::Overheard;
    use super::super::{early, limits, open_files, reaper, stdio};
    use super::{End, How};
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// Tells the child where the board is, and the terminal.
    const INHERITED: &str = match super::super::early::INHERITED.to_str() {
        Ok(name) => name,
        Err(_) => "",
    };
    /// Signals within this time count as one: they are sent to the process and to its group.
    const ONE: Duration = Duration::from_millis(100);
    /// Time that a terminal has to take the last lines, in general and when someone waits for the end.
    const LAST_LINES: Duration = Duration::from_secs(2);
    const LAST_LINES_IN_HASTE: Duration = Duration::from_millis(100);
    /// Time for everything that is left to do when someone waits for the end.
    const HASTE: Duration = Duration::from_millis(700);

    /// True if this process is the child of a waiting parent. To be called before any thread of ours starts.
    pub(super) fn is_child() -> bool {
        let Ok(inherited) = std::env::var(INHERITED) else { return false };
        let is_behind = reaper::is_behind();
        // SAFETY: no thread of ours runs yet, and none of the libraries' reads the environment.
        unsafe { std::env::remove_var(INHERITED) };
        let words: Vec<&str> = inherited.splitn(3, ' ').collect();
        let [out, err, told] = words[..] else { return false };
        let (Ok(out), Ok(err)) = (out.parse(), err.parse()) else { return false };
        // SAFETY: a number; a copy of the board's file is needed once more where another process begins here.
        let sheet =
            told.split_once(' ').and_then(|(_, file)| file.parse().ok()).map(|f| unsafe { libc::dup(f) });
        if !use_inherited(told) {
            return false;
        }
        stdio::redirect([out, err]);
        match sheet {
            Some(sheet) if !is_behind => go_behind([out, err], sheet),
            Some(sheet) => close(&[sheet]),
            None => {}
        }
        for file in [out, err] {
            // SAFETY: descriptors that the parent made for this process.
            unsafe { libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        true
    }

    /// Goes on in a fresh child.
    fn go_behind([out, err]: [i32; 2], sheet: i32) {
        let began = |worker| {
            board().works(worker);
            // The terminal belongs to the worker; whoever waits for the worker's end must not wait for the reaper's.
            close(&[out, err, sheet]);
        };
        reaper::behind(began, |status, left| {
            board().ended(status, left);
            0
        });
        let parent = std::os::unix::process::parent_id();
        reaper::begin_afresh(Some((INHERITED, format!("{out} {err} {parent} {sheet}"))));
        // If that fails, this process does the work itself.
        close(&[sheet]);
    }

    unsafe extern "C" {
        /// The C library's own standard output, which plugins print to.
        static mut stdout: *mut libc::FILE;
    }

    /// Remembers this process's own files, and makes the output line-buffered.
    pub(super) fn settle() {
        open_files::hold_own(stdio::numbers());
        // SAFETY: the stream is open and nothing was printed yet.
        unsafe { libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 1 << 13) };
        std::panic::set_hook(Box::new(|panic| {
            // It panics when somebody closed the pipe that it reads; whoever did that is named elsewhere. It must not unwind: it
            // would close files that are closed already, which ends the program.
            while std::thread::current().name() == Some(crate::process::SIGNALS) {
                std::thread::park();
            }
            let trace = std::backtrace::Backtrace::capture();
            let trace = match trace.status() {
                std::backtrace::BacktraceStatus::Captured => format!("{trace}\n"),
                _ => String::new(),
            };
            // Nobody is left to read it.
            let _ = stdio::Stream::Err.write_all(format!("\n{panic}\n{trace}").as_bytes());
        }));
    }

    /// Records that the child finished, and ends it. Nothing of a plugin runs after that: no exit handler, no
    /// destructor.
    pub(super) fn end(code: u8) -> ! {
        board().prove(code);
        // SAFETY: ends the process. What could not be said was noticed where it was said.
        unsafe { libc::_exit(i32::from(code)) }
    }

    /// The child of this process: the reaper of the one that works.
    pub(super) struct Child {
        id: libc::pid_t,
        news: News,
        overheard: Overheard,
        tell: fn(&str),
        /// Children that this process had before.
        before: Vec<i32>,
    }

    impl Child {
        /// Starts this program once more; none where that cannot be had on this system. A limit that is in the way would
        /// be in the way of the work as well: the error.
        pub(super) fn start(tell: fn(&str)) -> Result<Option<Self>, How> {
            let before = had_already();
            // SAFETY: plain numbers. Who is left without a parent comes to this process.
            unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
            let begun = Self::begin(tell, before);
            if !matches!(begun, Ok(Some(_))) {
                unshare();
            }
            begun
        }

        fn begin(tell: fn(&str), before: Vec<i32>) -> Result<Option<Self>, How> {
            let refused =
                |e: std::io::Error| if limits::is_refusal(&e) { Err(How::Crowded) } else { Ok(None) };
            let Some(sheet) = SharedBoard::share() else { return Ok(None) };
            let Some(news) = News::listen() else { return Ok(None) };
            let (overheard, mouth) = match Overheard::listen(tell) {
                Ok(both) => both,
                Err(e) => return refused(e),
            };
            // SAFETY: plain numbers; the copies are closed below.
            let streams = [1, 2].map(|file| unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 3) });
            let child = mouth.try_clone().and_then(|mouths| {
                let mut words = std::env::args_os();
                let mut command = Command::new("/proc/self/exe");
                if let Some(name) = words.next() {
                    command.arg0(name);
                }
                let told = format!("{} {} {}", streams[0], streams[1], sheet.told());
                command.args(words).env(INHERITED, told).stdout(mouths).stderr(mouth);
                let parent = std::process::id().cast_signed();
                let follow = move || {
                    // SAFETY: plain numbers; all may be called between fork and exec.
                    let alone = unsafe {
                        for file in streams {
                            libc::fcntl(file, libc::F_SETFD, 0);
                        }
                        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                        libc::getppid() != parent
                    };
                    if alone { Err(std::io::ErrorKind::NotFound.into()) } else { Ok(()) }
                };
                // SAFETY: the closure only makes system calls.
                unsafe { command.pre_exec(follow) };
                command.spawn()
            });
            close(&streams);
            match child {
                Ok(child) => Ok(Some(Self { id: child.id().cast_signed(), news, overheard, tell, before })),
                Err(e) => refused(e),
            }
        }

        /// Waits for the end, and passes on signals that the child did not receive itself.
        pub(super) fn wait(self) -> Result<u8, Box<End>> {
            let result = self.look_on();
            let hurried = matches!(&result, Err(end) if matches!(end.how, How::BrokenOff(_)));
            self.overheard.finish(if hurried { LAST_LINES_IN_HASTE } else { LAST_LINES });
            board().remarks().iter().for_each(|remark| (self.tell)(&format!("warning: {remark}")));
            result
        }

        fn look_on(&self) -> Result<u8, Box<End>> {
            let mut told: Option<Instant> = None;
            let mut limited: Option<(u64, Instant)> = None;
            loop {
                if let Some(status) = self.status() {
                    return self.judged(status);
                }
                let news = self.news.next();
                let now = Instant::now();
                if let Some(Told { signal, by_kernel }) = news
                    && told.is_none_or(|t| now - t > ONE)
                {
                    // From here on the end waits for no terminal.
                    stdio::hurry();
                    // At the second signal it ends at once, wherever the simulation is.
                    if let Some(first) = told.replace(now) {
                        end_soon();
                        return Err(Box::new(self.broken_off(How::BrokenOff(now - first))));
                    }
                    // A terminal sends its Ctrl-C to the whole group.
                    if !by_kernel {
                        self.send(signal);
                    }
                }
                if let Some((call, limit)) = board().limited() {
                    let since = limited.filter(|(c, _)| *c == call).map_or(now, |(_, since)| since);
                    if now - since > limit {
                        return Err(Box::new(self.broken_off(How::Hung(limit.as_secs()))));
                    }
                    limited = Some((call, since));
                }
            }
        }

        /// How the child ended, if it did.
        fn status(&self) -> Option<i32> {
            let mut status = 0;
            // SAFETY: our own child; the status is filled in.
            let ended = unsafe { libc::waitpid(self.id, &raw mut status, libc::WNOHANG | libc::WUNTRACED) };
            if ended == self.id && libc::WIFSTOPPED(status) {
                // Keys of a terminal do not stop a reaper; it is needed to see the end.
                self.send(libc::SIGCONT);
                return None;
            }
            (ended == self.id).then_some(status)
        }

        fn send(&self, signal: i32) {
            // SAFETY: the child is ours and not waited for yet, so its number is nobody else's.
            unsafe { libc::kill(self.id, signal) };
        }

        fn judged(&self, status: i32) -> Result<u8, Box<End>> {
            let seen = board().status();
            if seen.is_none() && libc::WIFSIGNALED(status) {
                // The worker ended with its reaper, and its processes became children of this one.
                let worker = board().worker();
                let was = |name: &String| worker.is_none_or(|w| !name.ends_with(&format!(" {w}")));
                let left: Vec<String> = reaper::sweep(&self.before).into_iter().filter(was).collect();
                board().add_left(&left);
            }
            if let Some(code) = board().proved() {
                return Ok(code);
            }
            let said = board().read();
            let how = match (said.lacking, said.crash, seen) {
                _ if said.files_closed => How::FilesClosed,
                _ if said.crowded => How::Crowded,
                (Some(bytes), ..) => How::Starved(bytes),
                (_, Some(signal), _) => How::Signal(signal),
                (.., None) if libc::WIFSIGNALED(status) && board().worker().is_some() => How::Orphaned,
                (.., seen) => ended(seen.unwrap_or(status)),
            };
            let how = match how {
                // Refused before the work began.
                How::Exited(early::REFUSED) if board().calls() == 0 => How::Crowded,
                How::Signal(libc::SIGKILL | libc::SIGXCPU) => out_of_time().map_or(how, How::OutOfTime),
                how => how,
            };
            Err(Box::new(End { how, seen: said, peak: peak() }))
        }

        /// Ends the child.
        fn broken_off(&self, how: How) -> End {
            let seen = board().read();
            match board().worker() {
                // SAFETY: its reaper has not ended, so the worker's number is nobody else's.
                Some(worker) => unsafe {
                    libc::kill(worker, libc::SIGKILL);
                },
                None => self.send(libc::SIGKILL),
            }
            // The system needs time to free a large memory; this process need not wait for that.
            for _ in 0..10 {
                if self.status().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            End { how, seen, peak: peak() }
        }
    }

    /// Closes descriptors that only their numbers are known of.
    fn close(numbers: &[i32]) {
        for &file in numbers {
            // SAFETY: copies of our own, which nobody uses from here on.
            unsafe { libc::close(file) };
        }
    }

    /// Ends this process in any case: a terminal may be stopped, or a disk may not answer.
    fn end_soon() {
        let end = || {
            std::thread::sleep(HASTE);
            // SAFETY: ends the process.
            unsafe { libc::_exit(128 + libc::SIGINT) }
        };
        // If no thread can start, the end takes as long as it takes.
        let _ = std::thread::Builder::new().spawn(end);
    }

    fn ended(status: i32) -> How {
        if libc::WIFSIGNALED(status) {
            How::Signal(libc::WTERMSIG(status))
        } else {
            How::Exited(libc::WEXITSTATUS(status))
        }
    }

    /// Children that were there before this program was: of a shell that became it.
    fn had_already() -> Vec<i32> {
        let mut status = MaybeUninit::<libc::siginfo_t>::zeroed();
        let look = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: only asks whether there are children; `status` is filled in.
        let any = unsafe { libc::waitid(libc::P_ALL, 0, status.as_mut_ptr(), look) } == 0;
        if any { reaper::children() } else { Vec::new() }
    }

    /// What ended children took.
    fn usage() -> libc::rusage {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is filled in, or stays zero.
        unsafe {
            libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
            usage.assume_init()
        }
    }

    /// Most memory that an ended child held, bytes.
    fn peak() -> f64 {
        usage().ru_maxrss as f64 * 1024.0
    }

    /// The limit of processor time, seconds, if the child had all of it.
    fn out_of_time() -> Option<u64> {
        let usage = usage();
        // What a process took is counted less finely than its limit.
        let had = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1;
        limits::processor_seconds().filter(|most| u64::try_from(had).is_ok_and(|had| had >= *most))
    }
}
