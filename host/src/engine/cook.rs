//! Cooking a shot: frames, outputs, statistics, checkpoints.

use super::call::Device;
use super::checkpoint::{self, Checkpoint, Saver};
use super::outputs::Outputs;
use super::record::{Record, StatsFile};
use super::simulation::{Simulation, Stop};
use super::stats::SubstepStats;
use crate::graph::{Network, Problem, Problems};
use crate::loader::Plugins;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a shot is to be cooked.
pub struct CookOptions<'a> {
    /// Folder of everything written.
    pub out: &'a Path,
    /// Folder of the graph file; file parameters are relative to it.
    pub folder: &'a Path,
    /// First and last frame to write, when not the graph's own. The simulation always begins with the graph's
    /// first frame or a checkpoint.
    pub frames: Option<(i32, i32)>,
    /// Goes on from the latest checkpoint in `out`.
    pub resume: bool,
    /// Frames between checkpoints.
    pub checkpoint_every: u32,
    /// Thread budget.
    pub threads: u32,
    /// Where solves should run.
    pub device: Device,
    /// Finish the substep, write a checkpoint and end.
    pub stop: &'a AtomicBool,
    /// End at once; the substep under way is lost.
    pub cancel: &'a AtomicBool,
    /// What `cook.json` says.
    pub record: &'a Record,
}

/// Whoever looks on, from the cooking thread.
pub trait Onlooker: super::Watcher {
    /// The shot is about to begin, or to go on, at this frame.
    fn begins(&self, frame: i32, last: i32);
    /// A substep is done; `fraction` of its frame is.
    fn substep(&self, stats: &SubstepStats, fraction: f64);
    /// A frame is done and these files are written.
    fn frame(&self, frame: i32, files: &[PathBuf]);
}

/// How a cook ended without failing.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Every frame is written.
    Done,
    /// Someone stopped it; this checkpoint holds what was done.
    Interrupted(PathBuf),
}

/// Why a cook failed; what is on disk stays.
#[derive(Debug, thiserror::Error)]
pub enum CookError {
    /// The graph cannot be cooked.
    #[error("{0}")]
    Graph(Problems),
    /// A node failed, or a file could not be written; one sentence.
    #[error("{0}")]
    Failed(String),
}

impl From<Problem> for CookError {
    fn from(p: Problem) -> Self {
        CookError::Failed(p.to_string())
    }
}

impl From<std::io::Error> for CookError {
    fn from(e: std::io::Error) -> Self {
        CookError::Failed(e.to_string())
    }
}

impl From<checkpoint::CheckpointError> for CookError {
    fn from(e: checkpoint::CheckpointError) -> Self {
        CookError::Failed(e.to_string())
    }
}

/// Cooks a network.
pub fn cook(
    network: &Network,
    plugins: &Plugins,
    options: &CookOptions,
    onlooker: &dyn Onlooker,
) -> Result<Ended, CookError> {
    let watcher: &dyn super::Watcher = onlooker;
    let simulation = Simulation::new(
        network,
        plugins,
        options.folder,
        options.threads,
        options.device,
        options.cancel,
        watcher,
    )
    .map_err(CookError::Graph)?;
    let (first, last) = options.frames.unwrap_or(network.settings.frames);
    if last < network.settings.frames.0 {
        let begin = network.settings.frames.0;
        return Err(CookError::Failed(format!(
            "the shot begins at frame {begin}, frame {last} comes before it"
        )));
    }
    let saver = Saver::new(options.out.join(CHECKPOINTS));
    let mut cook = Cook { simulation, outputs: Outputs::default(), saver, options, onlooker, first, last };
    let ended = cook.run();
    // A checkpoint that cannot be written went wrong before anything else did.
    cook.saver.wait()?;
    ended
}

/// Folder of the checkpoints within a cook's.
const CHECKPOINTS: &str = "checkpoints";

struct Cook<'a> {
    simulation: Simulation<'a>,
    outputs: Outputs,
    saver: Saver,
    options: &'a CookOptions<'a>,
    onlooker: &'a dyn Onlooker,
    first: i32,
    last: i32,
}

impl Cook<'_> {
    fn checkpoints(&self) -> PathBuf {
        self.options.out.join(CHECKPOINTS)
    }

    fn run(&mut self) -> Result<Ended, CookError> {
        let network = self.simulation.network;
        let resumed = self.options.resume && self.restore()?;
        // The objects first, and what forces and solvers say to them: what an earlier cook left stays until this one has
        // something to put in its place.
        if !resumed && self.step(|s| s.initialise().map(Some))?.is_none() {
            return self.interrupted();
        }
        self.open_folders()?;
        let clock = self.simulation.state().clock;
        let mut stats = if resumed {
            StatsFile::resume(self.options.out, clock.frame, clock.substep)?
        } else {
            self.clear_checkpoints()?;
            StatsFile::create(self.options.out)?
        };
        self.options.record.write(self.options.out)?;
        self.onlooker.begins(clock.frame, self.last);
        if !resumed {
            self.frame_done()?;
        }
        while self.simulation.state().clock.frame < self.last || self.simulation.state().clock.substep > 0 {
            if self.options.stop.load(Ordering::Relaxed) {
                return self.interrupted();
            }
            let Some((line, frame_ended)) = self.step(|s| s.substep().map(Some))? else {
                return self.interrupted();
            };
            stats.append(&line)?;
            self.saver.look()?;
            let fps = network.settings.fps;
            let fraction = if frame_ended { 1.0 } else { self.simulation.state().clock.elapsed * fps };
            self.onlooker.substep(&line, fraction);
            if frame_ended {
                self.frame_done()?;
            }
        }
        self.outputs.finish()?;
        Ok(Ended::Done)
    }

    fn open_folders(&mut self) -> Result<(), CookError> {
        let out = self.options.out;
        std::fs::create_dir_all(out).map_err(|e| {
            let shown = out.display();
            CookError::Failed(format!("cannot make the folder {shown}: {e}; choose another with --out"))
        })?;
        self.outputs = Outputs::new(&mut self.simulation, self.options, (self.first, self.last))?;
        Ok(())
    }

    /// Runs a part of the simulation; `None` when it was cancelled.
    fn step<T>(
        &mut self,
        f: impl FnOnce(&mut Simulation) -> Result<Option<T>, Stop>,
    ) -> Result<Option<T>, CookError> {
        match f(&mut self.simulation) {
            Ok(done) => Ok(done),
            Err(Stop::Cancelled) => Ok(None),
            Err(Stop::Failed(p)) => Err(p.into()),
        }
    }

    fn frame_done(&mut self) -> Result<(), CookError> {
        let frame = self.simulation.state().clock.frame;
        let mut files = Vec::new();
        if frame >= self.first {
            files = self.outputs.write(&mut self.simulation)?;
        }
        let since = frame - self.simulation.network.settings.frames.0;
        if frame == self.last || since % self.options.checkpoint_every.max(1) as i32 == 0 {
            self.saver.save(Checkpoint::new(self.simulation.network, self.simulation.state()))?;
        }
        self.onlooker.frame(frame, &files);
        Ok(())
    }

    fn interrupted(&mut self) -> Result<Ended, CookError> {
        if self.simulation.state().holders.is_empty() {
            return Err(CookError::Failed(
                "stopped before anything was made; there is nothing to resume".into(),
            ));
        }
        let checkpoint = Checkpoint::new(self.simulation.network, self.simulation.state());
        Ok(Ended::Interrupted(self.saver.save_now(&checkpoint)?))
    }

    /// Goes on from the latest checkpoint; false when there is none.
    fn restore(&mut self) -> Result<bool, CookError> {
        let Some(path) = checkpoint::latest(&self.checkpoints()) else {
            let folder = self.checkpoints();
            self.onlooker.log(
                "resume",
                super::Level::Warning,
                &format!("no checkpoint in {}: cooking from the start", folder.display()),
            );
            return Ok(false);
        };
        let saved = Checkpoint::read(&path).map_err(|e| {
            CookError::Failed(format!("{e}; remove it to go on from the one before, or cook from the start"))
        })?;
        if let Some(misfit) = saved.misfit(self.simulation.network) {
            return Err(CookError::Failed(format!("cannot resume from {}: {misfit}", path.display())));
        }
        self.simulation.restore(saved.state);
        Ok(true)
    }

    /// A cook from the start makes the checkpoints of an earlier one worthless.
    fn clear_checkpoints(&self) -> Result<(), CookError> {
        for old in checkpoint::all(&self.checkpoints()) {
            std::fs::remove_file(&old)
                .map_err(|e| CookError::Failed(format!("cannot remove {}: {e}", old.display())))?;
        }
        Ok(())
    }
}
