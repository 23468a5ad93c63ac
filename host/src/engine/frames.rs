//! Writing frames beside the next one's cook: pictures and caches, then the checkpoint.

use super::checkpoint::{Checkpoint, Keeper};
use super::cook::CookError;
use super::outputs::{Outputs, View};
use crate::process::board::{waits_for_frame, writes_frame};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of the writing thread's stack: as many as a program's own has.
const STACK: usize = 8 << 20;
/// How often who waits for a frame looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// How long a frame is waited for at least once the cook is to stop.
const PATIENCE: Duration = Duration::from_secs(1);

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
///
/// Who waits for a frame does not wait for ever: once the cook is to be cancelled, or to stop and what it would lose is worth
/// no more waiting, the frame is broken off. It is cooked again then, from the checkpoint before it.
pub(super) struct Frames<'a> {
    keeper: Keeper,
    asked: Asked<'a>,
    /// A frame was broken off.
    broken: bool,
    /// The output nodes, when no frame is being written.
    outputs: Option<Outputs>,
    pending: Option<Pending>,
}

/// A frame that is being written.
struct Pending {
    frame: i32,
    thread: JoinHandle<(Outputs, Result<Option<Written>, CookError>)>,
    /// Closes when the thread is done.
    done: Receiver<()>,
}

/// Who may want the cook to end, and how the frames are told.
pub(super) struct Asked<'a> {
    /// Keep what is done and end.
    pub(super) stop: &'a AtomicBool,
    /// End at once.
    pub(super) cancel: &'a AtomicBool,
    /// What those who write a frame look at.
    pub(super) halt: Arc<AtomicBool>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(outputs: Outputs, keeper: Keeper, asked: Asked<'a>) -> Self {
        Self { keeper, asked, broken: false, outputs: Some(outputs), pending: None }
    }

    /// Whether a frame was broken off, so that no later state can be gone on from.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
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
        let halt = self.asked.halt.clone();
        let (working, done) = channel();
        let job = move || {
            let _working = working;
            writes_frame(frame);
            let written = write(&mut outputs, &keeper, finished, &halt);
            (outputs, written)
        };
        // A machine that has no thread left cannot solve either.
        let thread = std::thread::Builder::new().name("frame".into()).stack_size(STACK).spawn(job);
        let cannot = |e| CookError::Failed(format!("cannot begin a thread that writes the frame: {e}"));
        self.pending = Some(Pending { frame, thread: thread.map_err(cannot)?, done });
        if first { self.wait(Duration::ZERO) } else { Ok(None) }
    }

    /// The frame that was being written, where that is known already.
    pub(super) fn poll(&mut self) -> Result<Option<Written>, CookError> {
        if self.pending.as_ref().is_some_and(|p| p.thread.is_finished()) {
            return self.wait(Duration::ZERO);
        }
        Ok(None)
    }

    /// Waits until nothing is being written; tells of the frame that was. Once the cook is to stop, it waits for as long as
    /// what is lost with the frame took to cook, `worth`.
    pub(super) fn wait(&mut self, worth: Duration) -> Result<Option<Written>, CookError> {
        let Some(Pending { frame, thread, done }) = self.pending.take() else { return Ok(None) };
        // A cook that is broken off meanwhile did not wait for a node.
        let waiting = waits_for_frame(frame);
        let mut stopping = None;
        while done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let stops = self.asked.stop.load(Ordering::Relaxed);
            let since = stops.then(|| stopping.get_or_insert_with(Instant::now).elapsed());
            if self.asked.cancel.load(Ordering::Relaxed) || since.is_some_and(|t| t > worth.max(PATIENCE)) {
                self.asked.halt.store(true, Ordering::Relaxed);
            }
        }
        let (outputs, written) = thread.join().map_err(|_| lost())?;
        drop(waiting);
        self.outputs = Some(outputs);
        let written = written?;
        self.broken |= written.is_none();
        Ok(written)
    }

    /// Writes what comes after the last frame; false if that was broken off.
    pub(super) fn finish(&mut self) -> Result<bool, CookError> {
        let mut outputs = self.outputs.take().ok_or_else(lost)?;
        let Asked { stop, cancel, halt } = &self.asked;
        let (working, done) = channel::<()>();
        let finished = std::thread::scope(|threads| {
            let finishing = threads.spawn(|| {
                let _working = working;
                outputs.finish()
            });
            while done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                halt.fetch_or(
                    stop.load(Ordering::Relaxed) || cancel.load(Ordering::Relaxed),
                    Ordering::Relaxed,
                );
            }
            finishing.join().map_err(|_| lost())
        })?;
        self.outputs = Some(outputs);
        match finished {
            Err(_) if halt.load(Ordering::Relaxed) => Ok(false),
            finished => finished.map(|()| true),
        }
    }

    /// Writes a checkpoint before anything else happens; the frame before must be on disk.
    pub(super) fn save_now(&self, checkpoint: &Checkpoint) -> Result<PathBuf, CookError> {
        Ok(self.keeper.save(checkpoint)?)
    }
}

/// Writes a frame; `None` if it was broken off.
fn write(
    outputs: &mut Outputs,
    keeper: &Keeper,
    finished: Finished,
    halt: &AtomicBool,
) -> Result<Option<Written>, CookError> {
    let Finished { frame, view, checkpoint } = finished;
    let files = match view.map_or(Ok(Vec::new()), |view| outputs.write(&view)) {
        // Whatever went wrong: the frame will be cooked again.
        Err(_) if halt.load(Ordering::Relaxed) => return Ok(None),
        files => files?,
    };
    if let Some(checkpoint) = checkpoint {
        keeper.save(&checkpoint)?;
    }
    Ok(Some(Written { frame, files }))
}

fn lost() -> CookError {
    CookError::Failed("the thread that writes frames has panicked; go on with --resume".into())
}
