//! Writes frames while the next one is cooked: pictures and caches, then the checkpoint.

use super::checkpoint::{Checkpoint, Keeper};
use super::cook_options::CookError;
use super::outputs::{Outputs, View};
use crate::process::board::{waits_for_frame, writes_frame};
use crate::process::limits::no_thread_because;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Stack size of the writing thread, bytes: that of a program's main thread.
const STACK: usize = 8 << 20;
/// Time between two checks whether a frame is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// Shortest time that a frame is waited for once the cook is to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// A finished frame, ready to be written.
pub(super) struct Finished {
    /// Number of the frame.
    pub(super) frame: i32,
    /// The data for its output nodes; `None` for a frame outside the range to write.
    pub(super) view: Option<View>,
    /// The state from which a later cook may go on.
    pub(super) checkpoint: Option<Checkpoint>,
}

/// A frame that is on disk.
pub(super) struct Written {
    /// Number of the frame.
    pub(super) frame: i32,
    /// Its files.
    pub(super) files: Vec<PathBuf>,
}

/// Writes frames on a thread of its own, one at a time, while the next one is simulated. A frame's checkpoint is
/// written after its files, so that a cook that goes on from it finds them. The waiting data shares its arrays with the
/// simulation until that changes them, so it costs at most one state.
///
/// Waiting for a frame has an end: once the cook is cancelled, or is to stop and the frame's work is worth less than
/// the wait, the frame is broken off. It is cooked again from the checkpoint before it.
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

/// Why the cook should end, as the frames are told.
pub(super) struct Asked<'a> {
    /// Keep what is done and end.
    pub(super) stop: &'a AtomicBool,
    /// The conditions that a writer checks.
    pub(super) cancel: &'a AtomicBool,
    /// What those who write a frame look at.
    pub(super) halt: Arc<AtomicBool>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(outputs: Outputs, keeper: Keeper, asked: Asked<'a>) -> Self {
        Self { keeper, asked, broken: false, outputs: Some(outputs), pending: None }
    }

    /// Whether a frame was broken off, after which no later state can be resumed from.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// The output nodes, once nothing is being written.
    pub(super) fn outputs(&mut self) -> Result<&mut Outputs, CookError> {
        self.outputs.as_mut().ok_or_else(lost)
    }

    /// Begins to write a frame; the one before must be reported first ([`Frames::wait`]). The first checkpoint of a
    /// folder is written before anything else happens: otherwise a plugin that crashes would leave none to resume from.
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
        // A machine without a free thread cannot solve either.
        let thread = std::thread::Builder::new().name("frame".into()).stack_size(STACK).spawn(job);
        let cannot = |e| CookError::Failed(no_thread_because("begin a thread that writes the frame", &e));
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

    /// Waits until nothing is being written, and reports the frame that was. Once the cook is to stop, it waits at most
    /// as long as the work lost with the frame took to cook, `worth`.
    pub(super) fn wait(&mut self, worth: Duration) -> Result<Option<Written>, CookError> {
        let Some(Pending { frame, thread, done }) = self.pending.take() else { return Ok(None) };
        // A cook that is cancelled meanwhile was not waiting for a node.
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

    /// Writes the files that come after the last frame; false if that was broken off.
    pub(super) fn finish(&mut self) -> Result<bool, CookError> {
        let mut outputs = self.outputs.take().ok_or_else(lost)?;
        let Asked { stop, cancel, halt } = &self.asked;
        let cannot =
            |e| CookError::Failed(no_thread_because("begin a thread that writes the last files", &e));
        let (working, done) = channel::<()>();
        let finished = std::thread::scope(|threads| {
            let work = || {
                let _working = working;
                outputs.finish()
            };
            let finishing = std::thread::Builder::new().spawn_scoped(threads, work).map_err(cannot)?;
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
        // After any error the frame will be cooked again.
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
