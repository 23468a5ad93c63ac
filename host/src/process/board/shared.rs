//! Where the board lies: in this process, or in memory that it shares with its parent or child.

use super::Board;
use std::sync::atomic::{AtomicPtr, Ordering};

pub(super) static OWN: Board = Board::new();
static SHARED: AtomicPtr<Board> = AtomicPtr::new(std::ptr::null_mut());

/// The board of this process.
pub(crate) fn board() -> &'static Board {
    // SAFETY: null, or a mapping that lasts as long as the process.
    unsafe { SHARED.load(Ordering::Acquire).as_ref() }.unwrap_or(&OWN)
}

/// A parent reads the board.
pub(in crate::process) fn is_shared() -> bool {
    !SHARED.load(Ordering::Acquire).is_null()
}

/// The memory of a board that a child will share.
#[cfg(target_os = "linux")]
pub(in crate::process) struct SharedBoard(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl SharedBoard {
    /// Puts the board of this process where a child can share it; none where that cannot be had.
    pub(in crate::process) fn share() -> Option<Self> {
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
    pub(in crate::process) fn told(&self) -> String {
        use std::os::fd::AsRawFd;
        format!("{} {}", std::process::id(), self.0.as_raw_fd())
    }
}

/// Uses the board that the parent process named; false if that board is not our parent's.
#[cfg(target_os = "linux")]
pub(in crate::process) fn use_inherited(told: &str) -> bool {
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
pub(in crate::process) fn unshare() {
    SHARED.store(std::ptr::null_mut(), Ordering::Release);
}
