//! The sentence with which a cook failed, beside what it wrote: whoever looks at the folder later finds out why it ends
//! where it ends.

use crate::files::{read_file, write_atomically};
use std::path::Path;

/// The file within a cook's folder.
const NAME: &str = "failed.txt";
/// Most bytes of it that are read.
const LONGEST: u64 = 1 << 16;

/// Removes the note of an earlier cook; to be called as soon as this one writes.
pub(super) fn forget(out: &Path) {
    // One that stays is only misleading, and mostly there is none.
    let _ = std::fs::remove_file(out.join(NAME));
}

/// Leaves a note. The cook has its own error to report; one about this file would hide it.
pub(super) fn note(out: &Path, sentence: &str) {
    let _ = write_atomically(&out.join(NAME), format!("{sentence}\n").as_bytes());
}

/// The note of the last cook, if it failed.
pub(crate) fn noted(out: &Path) -> Option<String> {
    let bytes = read_file(&out.join(NAME), LONGEST).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}
