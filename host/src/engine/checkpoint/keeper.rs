//! Keeps the newest checkpoints of a folder and removes the others.

use super::{Checkpoint, CheckpointError, all, whole_frame_of};
use crate::files::is_link;
use std::path::PathBuf;

/// Latest checkpoints kept; older ones are removed once a newer one is on disk.
const KEPT: usize = 2;

/// A folder of checkpoints.
#[derive(Clone, Debug)]
pub struct Keeper {
    folder: PathBuf,
    also: Also,
}

/// Frames whose checkpoints are kept besides the latest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Also {
    /// The first of them.
    pub first: i32,
    /// From one to the next; none where the latest are enough.
    pub every: Option<u32>,
}

impl Also {
    /// Whether that frame is one of them.
    pub fn has(self, frame: i32) -> bool {
        let since = i64::from(frame) - i64::from(self.first);
        self.every.is_some_and(|every| since % i64::from(every.max(1)) == 0)
    }
}

impl Keeper {
    /// The checkpoints in that folder.
    pub fn new(folder: PathBuf, also: Also) -> Self {
        Self { folder, also }
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        all(&self.folder).is_empty()
    }

    /// The latest frame that a cook can go on from.
    pub fn latest(&self) -> Option<i32> {
        all(&self.folder).iter().filter_map(|path| whole_frame_of(path)).max()
    }

    /// Writes a checkpoint; then removes those that are no longer needed.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<PathBuf, CheckpointError> {
        let path = checkpoint.write(&self.folder)?;
        // What a link leads to is not this cook's.
        let found = if is_link(&self.folder) { Vec::new() } else { all(&self.folder) };
        let is_kept = |path: &PathBuf| whole_frame_of(path).is_some_and(|frame| self.also.has(frame));
        for old in found.into_iter().filter(|p| *p != path).skip(KEPT - 1).filter(|p| !is_kept(p)) {
            // A checkpoint too many does no harm.
            let _ = std::fs::remove_file(old);
        }
        Ok(path)
    }

    /// Removes the checkpoints of an earlier cook when a cook begins from the start.
    pub fn clear(&self) -> Result<(), CheckpointError> {
        let found = all(&self.folder);
        if is_link(&self.folder) && !found.is_empty() {
            return Err(CheckpointError(format!(
                "{} is a link to a folder with checkpoints of another cook: remove them yourself, or the link",
                self.folder.display()
            )));
        }
        for old in found {
            std::fs::remove_file(&old)
                .map_err(|e| CheckpointError(format!("cannot remove {}: {e}", old.display())))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;
    use crate::engine::state::State;

    fn checkpoint(frame: i32) -> Checkpoint {
        Checkpoint { state: State::new(frame), origin: Origin::default() }
    }

    #[test]
    fn the_newest_checkpoints_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        for (every, kept) in [(None, &[9, 8][..]), (Some(3), &[9, 8, 7, 4, 1])] {
            let keeper = Keeper::new(dir.path().into(), Also { first: 1, every });
            assert!(keeper.is_empty());
            for frame in 1..=9 {
                keeper.save(&checkpoint(frame)).unwrap();
            }
            let frames: Vec<_> =
                all(dir.path()).iter().map(|p| Checkpoint::read(p).unwrap().state.clock.frame).collect();
            assert_eq!(frames, kept);
            keeper.clear().unwrap();
            assert!(keeper.is_empty());
        }
    }

    #[test]
    fn a_checkpoint_that_cannot_be_written_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("checkpoints");
        std::fs::write(&folder, b"in the way").unwrap();
        let keeper = Keeper::new(folder.clone(), Also::default());
        let error = keeper.save(&checkpoint(1)).unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("checkpoint.0001.mns"), "{error}");
        std::fs::remove_file(&folder).unwrap();
        keeper.save(&checkpoint(2)).unwrap();
        assert_eq!(all(&folder).len(), 1);
    }
}
