//! What a plugin must leave to the process: its open files, and that there is one of it.

#[cfg(unix)]
use super::board::{board, is_shared};
#[cfg(unix)]
use std::sync::atomic::{AtomicI32, Ordering};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

/// An open file: its number, and device and inode where it may not come to be another either.
#[cfg(unix)]
type File = (i32, Option<(u64, u64)>);

#[cfg(unix)]
static FILES: Mutex<Vec<File>> = Mutex::new(Vec::new());
/// The process that works; nought where nobody said.
#[cfg(unix)]
static WORKER: AtomicI32 = AtomicI32::new(0);

/// A file that must stay open as long as this lives.
#[derive(Debug)]
pub(crate) struct Held(#[cfg(unix)] i32);

impl Held {
    /// Holds an open file; to be dropped before it.
    #[cfg(unix)]
    pub(crate) fn of(file: &std::fs::File) -> Self {
        use std::os::fd::AsRawFd;
        Self::new(file.as_raw_fd())
    }

    /// Elsewhere nobody looks.
    #[cfg(not(unix))]
    pub(crate) fn of(_file: &std::fs::File) -> Self {
        Self()
    }

    #[cfg(unix)]
    fn new(number: i32) -> Self {
        Self::like(number, None)
    }

    #[cfg(unix)]
    fn like(number: i32, identity: Option<(u64, u64)>) -> Self {
        if is_open(number) {
            FILES.lock().unwrap_or_else(PoisonError::into_inner).push((number, identity));
        }
        Self(number)
    }
}

impl Drop for Held {
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

/// Device and inode of what is no file on a disk, whose system may take its time to answer.
#[cfg(unix)]
fn identity(number: i32) -> Option<(u64, u64)> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `stat` is filled in where the answer is 0.
    let stat = unsafe { (libc::fstat(number, stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) }?;
    (stat.st_mode & libc::S_IFMT != libc::S_IFREG).then_some((stat.st_dev as u64, stat.st_ino))
}

/// Holds for good the standard files, which a plugin may lead elsewhere but not close, and those that this program speaks
/// through; remembers which process this is.
#[cfg(target_os = "linux")]
pub(super) fn hold_own(voices: [i32; 2]) {
    (0..3).for_each(|number| std::mem::forget(Held::new(number)));
    voices.into_iter().for_each(|number| std::mem::forget(Held::like(number, identity(number))));
    WORKER.store(std::process::id().cast_signed(), Ordering::SeqCst);
}

/// Looks, after a call, whether the plugin left everything as it was; ends the process where it did not. Files that are
/// opened under the numbers of closed ones would take what others write.
pub(super) fn look() {
    #[cfg(unix)]
    {
        let worker = WORKER.load(Ordering::SeqCst);
        if worker != 0 && worker != std::process::id().cast_signed() {
            #[cfg(target_os = "linux")]
            board().copied();
            leave();
        }
        let is_gone = |&(number, known): &File| {
            !is_open(number) || known.is_some_and(|known| identity(number) != Some(known))
        };
        let closed = FILES.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_gone);
        if closed {
            board().robbed();
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
        let held = Held::of(&null);
        let holds = || FILES.lock().unwrap().iter().any(|f| f.0 == number);
        assert!(holds() && is_open(number) && !is_open(-1));
        drop(held);
        assert!(!holds());
        assert!(identity(number).is_some() && identity(number) != identity(zero.as_raw_fd()));
        assert_eq!(identity(disk.as_raw_fd()), None);
    }
}
