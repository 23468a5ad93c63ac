//! Text in shared memory, and printing without a lock.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Text that one thread writes and that can be read without a lock.
#[derive(Debug)]
pub(super) struct Text<const ROOM: usize> {
    length: AtomicUsize,
    bytes: [AtomicU8; ROOM],
}

impl<const ROOM: usize> Text<ROOM> {
    pub(super) const fn new() -> Self {
        Self { length: AtomicUsize::new(0), bytes: [const { AtomicU8::new(0) }; ROOM] }
    }

    pub(super) fn set(&self, text: &str) {
        let text = &text.as_bytes()[..text.floor_char_boundary(ROOM)];
        self.length.store(0, Ordering::SeqCst);
        text.iter().zip(&self.bytes).for_each(|(b, slot)| slot.store(*b, Ordering::Relaxed));
        self.length.store(text.len(), Ordering::SeqCst);
    }

    pub(super) fn get(&self) -> String {
        let length = self.length.load(Ordering::SeqCst).min(ROOM);
        let bytes: Vec<u8> = self.bytes[..length].iter().map(|b| b.load(Ordering::Relaxed)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Writes it to standard error; safe in a signal handler.
    #[cfg(unix)]
    pub(super) fn print(&self) {
        let mut bytes = [0u8; ROOM];
        let length = self.length.load(Ordering::SeqCst).min(ROOM);
        bytes.iter_mut().zip(&self.bytes).for_each(|(b, slot)| *b = slot.load(Ordering::Relaxed));
        print(&bytes[..length]);
    }
}

/// Writes to standard error; safe in a signal handler.
#[cfg(unix)]
pub(super) fn print(bytes: &[u8]) {
    // SAFETY: the bytes outlive the call, which is async-signal-safe.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_letters() {
        let text = Text::<4>::new();
        text.set("aböß");
        assert_eq!(text.get(), "abö");
        text.set("");
        assert_eq!(text.get(), "");
    }
}
