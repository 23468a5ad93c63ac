//! Writing frames beside the next one's cook: pictures and caches, then the checkpoint.

use super::checkpoint::{Checkpoint, Keeper};
use super::cook::CookError;
use super::outputs::{Outputs, View};
use crate::process::board::{waits_for_frame, writes_frame};
use std::path::PathBuf;
use std::thread::JoinHandle;

/// Bytes of the writing thread's stack: as many as a program's own has.
const STACK: usize = 8 << 20;

/// A frame that is done, as it is to be left on disk.
pub(super) struct Finished {
    /// Number of the frame.
    pub(super) frame: i32,
    /// What its output nodes write; `None` for a frame nobody asked for.
    pub(super) view: Option<View>,
    /// Where a later cook may go on from.
    pub(super) checkpoint: Option<Checkpoint>,
}

/// A frame that is on disk.
pub(super) struct Written {
    /// Number of the frame.
    pub(super) frame: i32,
    /// Its files.
    pub(super) files: Vec<PathBuf>,
}

/// Writes frames on a thread of its own, one at a time, while the next one is simulated. A frame's checkpoint comes
/// after its files: whoever goes on from there finds them. What waits to be written shares its arrays with the
/// simulation until that changes them, so it costs at most one state.
pub(super) struct Frames {
    keeper: Keeper,
    /// The output nodes, when no frame is being written.
    outputs: Option<Outputs>,
    pending: Option<Pending>,
}

/// A frame that is being written.
struct Pending {
    frame: i32,
    thread: JoinHandle<(Outputs, Result<Written, CookError>)>,
}

impl Frames {
    pub(super) fn new(outputs: Outputs, keeper: Keeper) -> Self {
        Self { keeper, outputs: Some(outputs), pending: None }
    }

    /// The output nodes, once nothing is being written.
    pub(super) fn outputs(&mut self) -> Result<&mut Outputs, CookError> {
        self.outputs.as_mut().ok_or_else(lost)
    }

    /// Begins to write a frame; the one before must be told of ([`Frames::wait`]). The first checkpoint of a folder is
    /// written before anything else happens: a plugin that crashes meanwhile would leave none to go back to.
    pub(super) fn begin(&mut self, finished: Finished) -> Result<Option<Written>, CookError> {
        let keeper = self.keeper.clone();
        let first = keeper.is_empty();
        let frame = finished.frame;
        let mut outputs = self.outputs.take().ok_or_else(lost)?;
        let job = move || {
            writes_frame(frame);
            let written = write(&mut outputs, &keeper, finished);
            (outputs, written)
        };
        // A machine that has no thread left cannot solve either.
        let thread = std::thread::Builder::new().name("frame".into()).stack_size(STACK).spawn(job);
        let cannot = |e| CookError::Failed(format!("cannot begin a thread that writes the frame: {e}"));
        self.pending = Some(Pending { frame, thread: thread.map_err(cannot)? });
        if first { self.wait() } else { Ok(None) }
    }

    /// The frame that was being written, where that is known already.
    pub(super) fn poll(&mut self) -> Result<Option<Written>, CookError> {
        if self.pending.as_ref().is_some_and(|p| p.thread.is_finished()) { self.wait() } else { Ok(None) }
    }

    /// Waits until nothing is being written; tells of the frame that was.
    pub(super) fn wait(&mut self) -> Result<Option<Written>, CookError> {
        let Some(Pending { frame, thread }) = self.pending.take() else { return Ok(None) };
        // A cook that is broken off meanwhile did not wait for a node.
        let waiting = waits_for_frame(frame);
        let (outputs, written) = thread.join().map_err(|_| lost())?;
        drop(waiting);
        self.outputs = Some(outputs);
        written.map(Some)
    }

    /// Writes a checkpoint before anything else happens; the frame before must be on disk.
    pub(super) fn save_now(&self, checkpoint: &Checkpoint) -> Result<PathBuf, CookError> {
        Ok(self.keeper.save(checkpoint)?)
    }
}

fn write(outputs: &mut Outputs, keeper: &Keeper, finished: Finished) -> Result<Written, CookError> {
    let Finished { frame, view, checkpoint } = finished;
    let files = view.map_or(Ok(Vec::new()), |view| outputs.write(&view))?;
    if let Some(checkpoint) = checkpoint {
        keeper.save(&checkpoint)?;
    }
    Ok(Written { frame, files })
}

fn lost() -> CookError {
    CookError::Failed("the thread that writes frames has panicked; go on with --resume".into())
}
