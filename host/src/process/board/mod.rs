//! The board: shared memory that says what runs now, readable by a crash handler and by the parent process.

mod calls;
#[cfg(target_os = "linux")]
mod processes;
mod shared;
mod text;

pub(crate) use calls::{enter, enter_for, waits_for_frame, writes_frame};
pub(super) use calls::{is_own_thread, on_own_thread};
pub(crate) use shared::board;
pub(super) use shared::is_shared;
#[cfg(target_os = "linux")]
pub(super) use shared::{SharedBoard, unshare, use_inherited};

use calls::{WRITER, WRITES};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};
use text::Text;
#[cfg(unix)]
use text::print;

/// Set in [`Board::proof`] together with the exit code.
const PROVED: u32 = 0x6d6e_7300;

/// What is known of the call being made, and how the process ended.
#[derive(Debug)]
pub(crate) struct Board {
    subject: Text<1024>,
    doing: Text<256>,
    plugin: Text<1024>,
    inside: AtomicBool,
    /// Calls that were noted.
    calls: AtomicU64,
    /// Longest duration of the call, milliseconds; 0 is no limit.
    limit: AtomicU64,
    /// A plugin closed files of the process.
    files_closed: AtomicBool,
    /// The worker, which the reaper watches.
    worker: AtomicI32,
    /// How the worker ended, as `waitpid` tells it, plus a mark that it did.
    ended: AtomicI64,
    /// A plugin forked: two processes came back from one call.
    copied: Text<1024>,
    /// A plugin changed the current folder.
    strayed: Text<1024>,
    /// Processes that the worker left running and that were ended.
    left: AtomicU32,
    left_names: Text<256>,
    proof: AtomicU32,
    crash: AtomicI32,
    /// Bytes of memory whose lack ended the process.
    lacking: AtomicU64,
    /// A thread or process could not begin.
    crowded: AtomicBool,
    /// The frame that the failing thread was writing.
    writing: AtomicI64,
    /// The failing thread is none of this program's.
    foreign: AtomicBool,
    /// The plugin whose code that thread ran.
    culprit: Text<1024>,
}

/// What a [`Board`] says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// ``node `bad` ``, `plugin /path`.
    pub(crate) subject: String,
    /// ``in predict of `water`, frame 3``, `while it was opened`.
    pub(crate) doing: String,
    /// ``plugin `name`, /path``; empty where the subject is a plugin.
    pub(crate) plugin: String,
    /// The call had not returned.
    pub(crate) inside: bool,
    /// Signal that its own handler caught.
    pub(crate) crash: Option<i32>,
    /// Bytes of memory whose lack ended it.
    pub(crate) lacking: Option<u64>,
    /// It ended because a thread or process could not begin.
    pub(crate) crowded: bool,
    /// A thread that a plugin began ended it, with that plugin where it is known; the call is another thread's.
    pub(crate) foreign: Option<String>,
    /// It ended because a plugin had closed its files.
    pub(crate) files_closed: bool,
}

/// [`Seen::doing`] as it goes on: ``in predict of `water` `` and `being opened`.
pub(crate) fn being(doing: &str) -> String {
    doing.replacen("while it was ", "being ", 1)
}

impl Board {
    const fn new() -> Self {
        Self {
            subject: Text::new(),
            doing: Text::new(),
            plugin: Text::new(),
            inside: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            files_closed: AtomicBool::new(false),
            worker: AtomicI32::new(0),
            ended: AtomicI64::new(0),
            copied: Text::new(),
            strayed: Text::new(),
            left: AtomicU32::new(0),
            left_names: Text::new(),
            proof: AtomicU32::new(0),
            crash: AtomicI32::new(0),
            lacking: AtomicU64::new(0),
            crowded: AtomicBool::new(false),
            writing: AtomicI64::new(0),
            foreign: AtomicBool::new(false),
            culprit: Text::new(),
        }
    }

    /// A thread of a plugin's own ends the process; safe in a signal handler.
    pub(super) fn is_foreign(&self, plugin: &str) {
        self.culprit.set(plugin);
        self.foreign.store(true, Ordering::SeqCst);
    }

    /// A thread or process that was needed could not begin.
    #[cfg(target_os = "linux")]
    pub(super) fn crowded(&self) {
        self.writing.store(WRITES.get(), Ordering::SeqCst);
        self.crowded.store(true, Ordering::SeqCst);
    }

    /// Records that the work is done, with this exit code.
    pub(super) fn prove(&self, code: u8) {
        self.proof.store(PROVED | u32::from(code), Ordering::SeqCst);
    }

    /// The recorded exit code.
    pub(super) fn proved(&self) -> Option<u8> {
        let proof = self.proof.load(Ordering::SeqCst);
        (proof & !0xff == PROVED).then_some((proof & 0xff) as u8)
    }

    /// A signal came that ends the process.
    pub(super) fn crashed(&self, signal: i32) {
        self.writing.store(WRITES.get(), Ordering::SeqCst);
        self.crash.store(signal, Ordering::SeqCst);
    }

    /// The process ends for want of so many bytes.
    pub(super) fn starved(&self, bytes: u64) {
        self.writing.store(WRITES.get(), Ordering::SeqCst);
        self.lacking.store(bytes.max(1), Ordering::SeqCst);
    }

    pub(super) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::SeqCst)
    }

    /// What it says.
    pub(crate) fn read(&self) -> Seen {
        let (crash, lacking) = (self.crash.load(Ordering::SeqCst), self.lacking.load(Ordering::SeqCst));
        let (crash, lacking) = ((crash != 0).then_some(crash), (lacking != 0).then_some(lacking));
        let crowded = self.crowded.load(Ordering::SeqCst);
        let writing = self.writing.load(Ordering::SeqCst);
        if writing != 0 {
            let doing = format!("at frame {}", writing - 1 + i64::from(i32::MIN));
            let subject = WRITER.into();
            return Seen { subject, doing, inside: true, crash, lacking, crowded, ..Seen::default() };
        }
        Seen {
            subject: self.subject.get(),
            doing: self.doing.get(),
            plugin: self.plugin.get(),
            inside: self.is_inside(),
            crash,
            lacking,
            crowded,
            foreign: self.foreign.load(Ordering::SeqCst).then(|| self.culprit.get()),
            files_closed: self.files_closed.load(Ordering::SeqCst),
        }
    }

    /// A plugin closed the files of the process.
    pub(super) fn files_closed(&self) {
        self.files_closed.store(true, Ordering::SeqCst);
    }

    /// Says who crashed, where no parent does; safe in a signal handler.
    #[cfg(unix)]
    pub(super) fn print(&self) {
        let what: &[u8] = if self.lacking.load(Ordering::SeqCst) > 0 {
            b" ran out of memory "
        } else if self.files_closed.load(Ordering::SeqCst) {
            b" closed files of the program "
        } else {
            b" crashed "
        };
        print(b"\nerror: ");
        if self.writing.load(Ordering::SeqCst) != 0 {
            print(WRITER.as_bytes());
            print(what);
            return print(b"\n");
        }
        self.subject.print();
        print(what);
        self.doing.print();
        print(b" (");
        self.plugin.print();
        print(b")\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_writes_a_frame_is_named_and_not_the_node_beside() {
        let board = Board::new();
        board.subject.set("node `water`");
        board.inside.store(true, Ordering::SeqCst);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                writes_frame(-3);
                board.starved(7);
            });
        });
        let seen = board.read();
        assert_eq!((seen.subject.as_str(), seen.doing.as_str()), (WRITER, "at frame -3"));
        assert!(seen.inside && seen.lacking == Some(7) && seen.plugin.is_empty());
        board.starved(8);
        assert_eq!(board.read().subject, "node `water`");
    }

    #[test]
    fn a_proof_is_more_than_any_number() {
        let board = Board::new();
        assert_eq!(board.proved(), None);
        board.prove(0);
        assert_eq!(board.proved(), Some(0));
        board.prove(130);
        assert_eq!(board.proved(), Some(130));
        board.proof.store(1, Ordering::SeqCst);
        assert_eq!(board.proved(), None);
    }
}
