//! The board: shared memory that says what runs now, readable by a crash handler and by the parent process.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use std::time::Duration;

/// Text that one thread writes and that can be read without a lock.
#[derive(Debug)]
struct Text<const ROOM: usize> {
    length: AtomicUsize,
    bytes: [AtomicU8; ROOM],
}

impl<const ROOM: usize> Text<ROOM> {
    const fn new() -> Self {
        Self { length: AtomicUsize::new(0), bytes: [const { AtomicU8::new(0) }; ROOM] }
    }

    fn set(&self, text: &str) {
        let text = &text.as_bytes()[..text.floor_char_boundary(ROOM)];
        self.length.store(0, Ordering::SeqCst);
        text.iter().zip(&self.bytes).for_each(|(b, slot)| slot.store(*b, Ordering::Relaxed));
        self.length.store(text.len(), Ordering::SeqCst);
    }

    fn get(&self) -> String {
        let length = self.length.load(Ordering::SeqCst).min(ROOM);
        let bytes: Vec<u8> = self.bytes[..length].iter().map(|b| b.load(Ordering::Relaxed)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Writes it to standard error; safe in a signal handler.
    #[cfg(unix)]
    fn print(&self) {
        let mut bytes = [0u8; ROOM];
        let length = self.length.load(Ordering::SeqCst).min(ROOM);
        bytes.iter_mut().zip(&self.bytes).for_each(|(b, slot)| *b = slot.load(Ordering::Relaxed));
        print(&bytes[..length]);
    }
}

/// Writes to standard error; safe in a signal handler.
#[cfg(unix)]
fn print(bytes: &[u8]) {
    // SAFETY: the bytes outlive the call, which is async-signal-safe.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}

/// Set in [`Board::proof`] together with the exit code.
const PROVED: u32 = 0x6d6e_7300;

/// Set in [`Board::ended`] together with the status.
#[cfg(target_os = "linux")]
const ENDED: i64 = 1 << 32;

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
    robbed: AtomicBool,
    /// The worker, which the shield watches.
    worker: AtomicI32,
    /// How the worker ended, as `waitpid` tells it, plus [`ENDED`].
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
    pub(crate) robbed: bool,
}

thread_local! {
    /// The frame that this thread writes, beside the calls of other threads; 0 if none.
    static WRITES: Cell<i64> = const { Cell::new(0) };
}

/// Who writes frames.
const WRITER: &str = "the writer of frames";

/// From now on this thread does no node's work: it writes a frame. Numbers count from `i32::MIN`.
pub(crate) fn writes_frame(frame: i32) {
    WRITES.set(i64::from(frame) - i64::from(i32::MIN) + 1);
}

/// Notes that the calling thread waits for whoever writes a frame.
pub(crate) fn waits_for_frame(frame: i32) -> Call {
    enter(WRITER, &format!("at frame {frame}"), "")
}

static OWN: Board = Board::new();
static SHARED: AtomicPtr<Board> = AtomicPtr::new(std::ptr::null_mut());

/// The board of this process.
pub(crate) fn board() -> &'static Board {
    // SAFETY: null, or a mapping that lasts as long as the process.
    unsafe { SHARED.load(Ordering::Acquire).as_ref() }.unwrap_or(&OWN)
}

/// A parent reads the board.
pub(super) fn is_shared() -> bool {
    !SHARED.load(Ordering::Acquire).is_null()
}

/// A board that a child will share.
#[cfg(target_os = "linux")]
pub(super) struct Sheet(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Sheet {
    /// Puts the board of this process where a child can share it; none where that cannot be had.
    pub(super) fn share() -> Option<Self> {
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        // SAFETY: the descriptor is fresh and becomes ours alone. It stays open for the child.
        let file = unsafe {
            let file = libc::memfd_create(c"meniscus board".as_ptr(), 0);
            (file >= 0).then(|| OwnedFd::from_raw_fd(file))
        }?;
        // SAFETY: our own descriptor.
        let sized = unsafe { libc::ftruncate(file.as_raw_fd(), size_of::<Board>() as libc::off_t) } == 0;
        (sized && map(file.as_raw_fd())).then_some(Self(file))
    }

    /// What the child needs to know.
    pub(super) fn told(&self) -> String {
        use std::os::fd::AsRawFd;
        format!("{} {}", std::process::id(), self.0.as_raw_fd())
    }
}

/// Uses the board that the parent process named; false if that board is not our parent's.
#[cfg(target_os = "linux")]
pub(super) fn use_inherited(told: &str) -> bool {
    let Some((parent, file)) = told.split_once(' ') else { return false };
    let (Ok(parent), Ok(file)) = (parent.parse::<u32>(), file.parse::<i32>()) else { return false };
    if parent != std::os::unix::process::parent_id() {
        return false;
    }
    let mapped = map(file);
    // SAFETY: the mapping stays without its descriptor, which nobody else here knows of.
    unsafe { libc::close(file) };
    mapped
}

/// Maps a board, all zero at first, which is a blank one.
#[cfg(target_os = "linux")]
fn map(file: i32) -> bool {
    // SAFETY: a fresh mapping, as long as the file.
    let page = unsafe {
        let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
        if libc::fstat(file, stat.as_mut_ptr()) != 0
            || stat.assume_init().st_size != size_of::<Board>() as libc::off_t
        {
            return false;
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(std::ptr::null_mut(), size_of::<Board>(), access, libc::MAP_SHARED, file, 0)
    };
    if page == libc::MAP_FAILED {
        return false;
    }
    SHARED.store(page.cast(), Ordering::Release);
    true
}

/// Makes the board private to this process again.
#[cfg(target_os = "linux")]
pub(super) fn unshare() {
    SHARED.store(std::ptr::null_mut(), Ordering::Release);
}

thread_local! {
    /// This thread is one of the program's own: the one that makes the calls, or one that writes a frame.
    static OWN_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// From now on this thread counts as one of the program's own.
pub(super) fn is_own_thread() {
    OWN_THREAD.set(true);
}

/// Whether this thread is one of the program's own; safe in a signal handler.
pub(super) fn on_own_thread() -> bool {
    OWN_THREAD.get() || WRITES.get() != 0
}

/// Notes a call while it lasts.
#[must_use]
pub(crate) struct Call(());

impl Drop for Call {
    fn drop(&mut self) {
        super::held::look();
        board().inside.store(false, Ordering::SeqCst);
    }
}

/// Records the call about to be made, in the words of [`Seen`].
pub(crate) fn enter(subject: &str, doing: &str, plugin: &str) -> Call {
    enter_for(subject, doing, plugin, Duration::ZERO)
}

/// Records a call with a time limit; 0 is none. A parent that watches ends it.
pub(crate) fn enter_for(subject: &str, doing: &str, plugin: &str, limit: Duration) -> Call {
    is_own_thread();
    let board = board();
    board.inside.store(false, Ordering::SeqCst);
    board.calls.fetch_add(1, Ordering::SeqCst);
    board.limit.store(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    // Each process keeps its own number, too: if two processes come back from a call, either may be the first to record
    // the next one.
    for board in [board, &OWN] {
        board.subject.set(subject);
        board.doing.set(doing);
        board.plugin.set(plugin);
    }
    board.inside.store(true, Ordering::SeqCst);
    Call(())
}

/// A sentence on the call of this process: who did what, when, from which plugin.
#[cfg(target_os = "linux")]
fn own_call(did: &str) -> String {
    let plugin = OWN.plugin.get();
    let from = if plugin.is_empty() { String::new() } else { format!(" ({plugin})") };
    format!("{} {did} {}{from}", OWN.subject.get(), OWN.doing.get())
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
            robbed: AtomicBool::new(false),
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
            robbed: self.robbed.load(Ordering::SeqCst),
        }
    }

    /// Number of the call that was noted last.
    #[cfg(target_os = "linux")]
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Number of the call under way that may not last for ever, and how long it may.
    #[cfg(target_os = "linux")]
    pub(super) fn limited(&self) -> Option<(u64, Duration)> {
        let limit = self.limit.load(Ordering::SeqCst);
        (self.is_inside() && limit > 0).then(|| (self.calls(), Duration::from_millis(limit)))
    }

    /// A plugin closed the files of the process.
    pub(super) fn robbed(&self) {
        self.robbed.store(true, Ordering::SeqCst);
    }

    /// This process came back from a call as a second one.
    #[cfg(target_os = "linux")]
    pub(super) fn copied(&self) {
        self.copied.set(&own_call("doubled the program"));
    }

    /// The current folder was another one after a call. The first call that did so is told.
    #[cfg(target_os = "linux")]
    pub(super) fn strayed(&self) {
        if self.strayed.get().is_empty() {
            self.strayed.set(&own_call("changed the current folder of the program"));
        }
    }

    /// The worker began.
    #[cfg(target_os = "linux")]
    pub(super) fn works(&self, process: i32) {
        self.worker.store(process, Ordering::SeqCst);
    }

    /// The process that works, if it began.
    #[cfg(target_os = "linux")]
    pub(super) fn worker(&self) -> Option<i32> {
        Some(self.worker.load(Ordering::SeqCst)).filter(|p| *p > 0)
    }

    /// The worker ended with this status and left processes behind.
    #[cfg(target_os = "linux")]
    pub(super) fn ended(&self, status: i32, left: &[String]) {
        self.add_left(left);
        self.ended.store(ENDED | i64::from(status.cast_unsigned()), Ordering::SeqCst);
    }

    /// Processes were left behind, and ended.
    #[cfg(target_os = "linux")]
    pub(super) fn add_left(&self, left: &[String]) {
        if !left.is_empty() {
            self.left.fetch_add(left.len() as u32, Ordering::SeqCst);
            self.left_names.set(&left.iter().take(4).cloned().collect::<Vec<_>>().join(", "));
        }
    }

    /// How the worker ended, if its shield saw that.
    #[cfg(target_os = "linux")]
    pub(super) fn status(&self) -> Option<i32> {
        let ended = self.ended.load(Ordering::SeqCst);
        (ended & ENDED != 0).then_some((ended & 0xffff_ffff) as u32).map(u32::cast_signed)
    }

    /// Sentences on what plugins did to the processes.
    #[cfg(target_os = "linux")]
    pub(super) fn remarks(&self) -> Vec<String> {
        let copied = self.copied.get();
        let copied = (!copied.is_empty()).then(|| format!("{copied}: the second was ended"));
        let strayed = self.strayed.get();
        let strayed = (!strayed.is_empty()).then(|| format!("{strayed}: it was changed back"));
        let (left, names) = (self.left.load(Ordering::SeqCst), self.left_names.get());
        let left = match left {
            0 => None,
            1 => Some(format!("a plugin left a process running ({names}): it was ended")),
            n if n > 4 => Some(format!("a plugin left {n} processes running ({names} …): they were ended")),
            n => Some(format!("a plugin left {n} processes running ({names}): they were ended")),
        };
        copied.into_iter().chain(strayed).chain(left).collect()
    }

    /// Says who crashed, where no parent does; safe in a signal handler.
    #[cfg(unix)]
    pub(super) fn print(&self) {
        let what: &[u8] = if self.lacking.load(Ordering::SeqCst) > 0 {
            b" ran out of memory "
        } else if self.robbed.load(Ordering::SeqCst) {
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
    fn text_is_cut_between_letters() {
        let text = Text::<4>::new();
        text.set("aböß");
        assert_eq!(text.get(), "abö");
        text.set("");
        assert_eq!(text.get(), "");
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
