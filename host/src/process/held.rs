//! What a plugin must leave to the process: its open files, and that there is one of it.

#[cfg(unix)]
use super::board::{board, is_shared};
#[cfg(unix)]
use std::sync::atomic::{AtomicI32, Ordering};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

/// An open file, by its number, device and inode.
#[cfg(unix)]
type File = (i32, u64, u64);

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
        if let Some(file) = identity(number) {
            FILES.lock().unwrap_or_else(PoisonError::into_inner).push(file);
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
fn identity(number: i32) -> Option<File> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `stat` is filled in where the answer is 0.
    let stat = unsafe { (libc::fstat(number, stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) }?;
    Some((number, stat.st_dev as u64, stat.st_ino))
}

/// Holds the files that every process has, for good, and remembers which process this is.
#[cfg(target_os = "linux")]
pub(super) fn hold_own(files: &[i32]) {
    files.iter().for_each(|&number| std::mem::forget(Held::new(number)));
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
        let closed =
            FILES.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|f| identity(f.0) != Some(*f));
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
        let (null, zero) =
            (std::fs::File::open("/dev/null").unwrap(), std::fs::File::open("/dev/zero").unwrap());
        let number = null.as_raw_fd();
        let held = Held::new(number);
        let known = FILES.lock().unwrap().iter().find(|f| f.0 == number).copied();
        assert_eq!(known, identity(number));
        assert_ne!(identity(number).unwrap().2, identity(zero.as_raw_fd()).unwrap().2);
        drop(held);
        assert!(!FILES.lock().unwrap().iter().any(|f| f.0 == number));
        assert_eq!(identity(-1), None);
    }
}
