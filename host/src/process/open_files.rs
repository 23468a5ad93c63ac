//! Checks that a plugin leaves the process intact: its open files, and that it is still a single process.

#[cfg(unix)]
use super::board::{board, is_shared};
#[cfg(unix)]
use std::sync::atomic::{AtomicI32, Ordering};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

/// An open file: its number, and what it is where it may not come to be another either.
#[cfg(unix)]
type File = (i32, Option<Identity>);

/// Device and inode.
#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
static FILES: Mutex<Vec<File>> = Mutex::new(Vec::new());
/// The process that works; nought where nobody said.
#[cfg(unix)]
static WORKER: AtomicI32 = AtomicI32::new(0);

/// A file that must stay open as long as this lives.
#[derive(Debug)]
pub(crate) struct KeptOpen(#[cfg(unix)] i32);

impl KeptOpen {
    /// Holds an open file; to be dropped before it.
    #[cfg(unix)]
    pub(crate) fn of(file: &std::fs::File) -> Self {
        use std::os::fd::AsRawFd;
        Self::like(file.as_raw_fd(), identity(file.as_raw_fd()))
    }

    /// On other systems nothing is checked.
    #[cfg(not(unix))]
    pub(crate) fn of(_file: &std::fs::File) -> Self {
        Self()
    }

    #[cfg(unix)]
    fn new(number: i32) -> Self {
        Self::like(number, None)
    }

    #[cfg(unix)]
    fn like(number: i32, identity: Option<Identity>) -> Self {
        if is_open(number) {
            FILES.lock().unwrap_or_else(PoisonError::into_inner).push((number, identity));
        }
        Self(number)
    }
}

impl Drop for KeptOpen {
    fn drop(&mut self) {
        #[cfg(unix)]
        FILES.lock().unwrap_or_else(PoisonError::into_inner).retain(|f| f.0 != self.0);
    }
}

#[cfg(unix)]
fn is_open(number: i32) -> bool {
    // SAFETY: a question about a number.
    unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
}

/// What an open file is, as the system knows it without asking a disk or a server; none where it does not say.
#[cfg(target_os = "linux")]
fn identity(number: i32) -> Option<Identity> {
    let mut stat = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let how = libc::AT_EMPTY_PATH | libc::AT_STATX_DONT_SYNC;
    // SAFETY: an empty name; `stat` is filled in where the answer is 0.
    let stat = unsafe {
        let answer = libc::statx(number, c"".as_ptr(), how, libc::STATX_INO, stat.as_mut_ptr());
        (answer == 0).then(|| stat.assume_init())
    }?;
    Some((u64::from(stat.stx_dev_major) << 32 | u64::from(stat.stx_dev_minor), stat.stx_ino))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn identity(_number: i32) -> Option<Identity> {
    None
}

/// Protects the standard files, which a plugin may redirect but not close, and the files that this program prints
/// through. Remembers the id of this process.
#[cfg(target_os = "linux")]
pub(super) fn hold_own(streams: [i32; 2]) {
    (0..3).for_each(|number| std::mem::forget(KeptOpen::new(number)));
    streams.into_iter().for_each(|number| std::mem::forget(KeptOpen::like(number, identity(number))));
    WORKER.store(std::process::id().cast_signed(), Ordering::SeqCst);
    place::remember();
}

/// Where the program was begun: its folder, which relative paths start from, and the mask of its new files. Both are of
/// the process, so a plugin that changes them changes them for all.
#[cfg(target_os = "linux")]
mod place {
    use super::{Identity, identity};
    use std::sync::OnceLock;

    struct Place {
        folder: i32,
        known: Option<Identity>,
        mask: libc::mode_t,
    }

    static PLACE: OnceLock<Place> = OnceLock::new();

    /// Remembers it; to be called before any plugin is opened.
    pub(super) fn remember() {
        // SAFETY: a constant name, and plain numbers; the mask can only be asked for by setting it.
        let place = unsafe {
            let folder = libc::open(c".".as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
            let mask = libc::umask(0o077);
            libc::umask(mask);
            Place { folder, known: identity(libc::AT_FDCWD), mask }
        };
        // It is done once.
        let _ = PLACE.set(place);
    }

    /// Goes back there; true if a plugin had gone elsewhere.
    pub(super) fn go_back() -> bool {
        let Some(place) = PLACE.get() else { return false };
        // SAFETY: plain numbers.
        unsafe { libc::umask(place.mask) };
        let is_there = place.folder < 0 || place.known.is_none() || identity(libc::AT_FDCWD) == place.known;
        // SAFETY: as above. Where the folder cannot be had any more, all paths of this program are whole ones.
        !is_there && unsafe { libc::fchdir(place.folder) } == 0
    }
}

/// Sets this thread's arithmetic back to what every program starts with: rounding to nearest, denormal numbers kept.
/// A plugin that left it otherwise would change all results after its own.
#[cfg(target_arch = "x86_64")]
fn round_to_nearest() {
    /// All exceptions masked, rounding to nearest, denormal numbers kept.
    const START: u32 = 0x1f80;
    /// The flags of what happened so far, which change no result.
    const HAPPENED: u32 = 0x3f;
    let (start, mut now) = (START, 0u32);
    // SAFETY: stores the control register of this thread to `now`, and loads a valid value.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut now, options(nostack));
        if now & !HAPPENED != START {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const start, options(nostack));
        }
    }
}

/// Checks after a call that the plugin left everything as it was, and ends the process if it did not: a file opened
/// under the number of a closed one would receive what others write.
pub(super) fn look() {
    #[cfg(target_arch = "x86_64")]
    round_to_nearest();
    #[cfg(unix)]
    {
        let worker = WORKER.load(Ordering::SeqCst);
        if worker != 0 && worker != std::process::id().cast_signed() {
            #[cfg(target_os = "linux")]
            board().copied();
            leave();
        }
        #[cfg(target_os = "linux")]
        if place::go_back() {
            board().strayed();
        }
        let is_gone = |&(number, known): &File| {
            !is_open(number) || known.is_some_and(|known| identity(number) != Some(known))
        };
        let closed = FILES.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_gone);
        if closed {
            board().files_closed();
            if !is_shared() {
                board().print();
            }
            leave();
        }
    }
}

#[cfg(unix)]
fn leave() -> ! {
    // SAFETY: nothing of the process is needed any more: what is on disk is whole.
    unsafe { libc::_exit(1) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_file_is_known_again_until_it_is_another() {
        let open = |path: &str| std::fs::File::open(path).unwrap();
        let (null, zero, disk) = (open("/dev/null"), open("/dev/zero"), open("Cargo.toml"));
        let number = null.as_raw_fd();
        let held = KeptOpen::of(&null);
        let holds = || FILES.lock().unwrap().iter().any(|f| f.0 == number);
        assert!(holds() && is_open(number) && !is_open(-1));
        drop(held);
        assert!(!holds());
        #[cfg(target_os = "linux")]
        {
            assert!(identity(number).is_some() && identity(number) != identity(zero.as_raw_fd()));
            assert_eq!(identity(disk.as_raw_fd()), identity(open("Cargo.toml").as_raw_fd()));
            assert_ne!(identity(disk.as_raw_fd()), identity(open("src/lib.rs").as_raw_fd()));
        }
    }
}
