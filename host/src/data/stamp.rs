//! Stamps: two arrays with the same stamp hold the same bytes.

use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A stamp never given before in this process. Stamps are compared, never stored: caches and checkpoints do
/// not hold them, so they cannot make two runs differ.
pub fn next_stamp() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}
