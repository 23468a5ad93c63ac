//! Writing checkpoints while the cook goes on.

use super::{Checkpoint, CheckpointError, all};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Checkpoints kept; older ones are removed once a newer one is on disk.
const KEPT: usize = 2;

/// Writes checkpoints into a folder, one at a time, on a thread of its own. A state shares its arrays with the one that
/// is simulated until that one changes them, so what waits to be written costs at most one state.
pub struct Saver {
    folder: PathBuf,
    pending: Option<JoinHandle<Result<PathBuf, CheckpointError>>>,
}

impl Saver {
    /// Nothing to write yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, pending: None }
    }

    /// Begins to write a checkpoint, once the one before is on disk. Whatever became of that one is told here. The first of
    /// a folder is written before anything else happens: a plugin that crashes meanwhile would leave none to go back to.
    pub fn save(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        self.wait()?;
        if all(&self.folder).is_empty() {
            return self.save_now(&checkpoint).map(drop);
        }
        let (checkpoint, folder) = (Arc::new(checkpoint), self.folder.clone());
        let shared = checkpoint.clone();
        let thread = std::thread::Builder::new().name("checkpoint".into());
        match thread.spawn(move || replace(&shared, &folder)) {
            Ok(pending) => self.pending = Some(pending),
            // A machine that has no thread left can still write.
            Err(_) => drop(replace(&checkpoint, &self.folder)?),
        }
        Ok(())
    }

    /// Writes a checkpoint before anything else happens.
    pub fn save_now(&mut self, checkpoint: &Checkpoint) -> Result<PathBuf, CheckpointError> {
        self.wait()?;
        replace(checkpoint, &self.folder)
    }

    /// What became of the checkpoint being written, where that is known already.
    pub fn look(&mut self) -> Result<(), CheckpointError> {
        match &self.pending {
            Some(pending) if pending.is_finished() => self.wait(),
            _ => Ok(()),
        }
    }

    /// Waits until nothing is being written.
    pub fn wait(&mut self) -> Result<(), CheckpointError> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        let lost = |_| {
            let folder = self.folder.display();
            Err(CheckpointError(format!("cannot write into {folder}: the thread that writes has panicked")))
        };
        pending.join().unwrap_or_else(lost).map(drop)
    }
}

/// Writes a checkpoint; then those it makes superfluous go.
fn replace(checkpoint: &Checkpoint, folder: &Path) -> Result<PathBuf, CheckpointError> {
    let path = checkpoint.write(folder)?;
    for old in all(folder).into_iter().filter(|p| *p != path).skip(KEPT - 1) {
        // One too many does no harm.
        let _ = std::fs::remove_file(old);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::State;

    fn checkpoint(frame: i32) -> Checkpoint {
        Checkpoint { state: State::new(frame), made_from: vec![("the shot".into(), "1".into())] }
    }

    #[test]
    fn the_newest_checkpoints_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut saver = Saver::new(dir.path().into());
        for frame in 1..=4 {
            saver.save(checkpoint(frame)).unwrap();
        }
        saver.wait().unwrap();
        let frames: Vec<_> =
            all(dir.path()).iter().map(|p| Checkpoint::read(p).unwrap().state.clock.frame).collect();
        assert_eq!(frames, [4, 3]);
        let path = saver.save_now(&checkpoint(5)).unwrap();
        assert_eq!(all(dir.path())[0], path);
    }

    #[test]
    fn a_checkpoint_that_cannot_be_written_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("checkpoints");
        std::fs::write(&folder, b"in the way").unwrap();
        let mut saver = Saver::new(folder.clone());
        let error = saver.save(checkpoint(1)).unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("checkpoint.0001.mns"), "{error}");
        std::fs::remove_file(&folder).unwrap();
        saver.save(checkpoint(2)).unwrap();
        assert_eq!(saver.wait(), Ok(()));
        assert_eq!(all(&folder).len(), 1);
    }
}
