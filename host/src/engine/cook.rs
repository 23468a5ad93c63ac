//! Cooking a shot: frames, outputs, statistics, checkpoints.

use super::checkpoint::{self, Also, Checkpoint, Keeper, Origin};
use super::cook_options::{CookError, CookOptions, Ended, Onlooker};
use super::estimate::{Estimate, estimate};
use super::failure;
use super::fork::{CHECKPOINTS, Fork};
use super::frames::{Asked, Finished, Frames, Written};
use super::listed::{self, Listed};
use super::lock::Lock;
use super::outputs::Outputs;
use super::plan::idle;
use super::record::StatsFile;
use super::rehearsal::rehearse;
use super::simulation::{Simulation, Stop};
use crate::graph::{Network, Problem};
use crate::loader::Plugins;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Cooks a network.
pub fn cook(
    network: &Network,
    plugins: &Plugins,
    options: &CookOptions,
    onlooker: &dyn Onlooker,
) -> Result<Ended, CookError> {
    let watcher: &dyn super::Watcher = onlooker;
    let mut simulation =
        Simulation::new(network, plugins, options.folder, options.manner, options.cancel, watcher)
            .map_err(CookError::Graph)?;
    let (begin, end) = network.settings.frames;
    let (first, last) = options.frames.unwrap_or((begin, end));
    if last < begin {
        return Err(CookError::Failed(format!(
            "the shot begins at frame {begin}, frame {last} comes before it"
        )));
    }
    if first < begin || last > end {
        let beyond = format!(
            "the graph's shot is frames {begin} to {end}: nothing is there before it, and after it the simulation goes on"
        );
        onlooker.log("--frames", super::Level::Warning, &beyond);
    }
    let lock = Lock::take(options.out)?;
    if let Some(warning) = lock.warning() {
        onlooker.log("--out", super::Level::Warning, &warning);
    }
    if let Some(room) = options.room {
        onlooker.expects(&fits(&mut simulation, plugins, options, room)?);
    }
    let also = Also { first: network.settings.frames.0, every: options.keep_checkpoints };
    let keeper = Keeper::new(options.out.join(CHECKPOINTS), also);
    let origin = Origin::new(network, plugins, options.folder);
    let halt = Arc::default();
    let outputs = Outputs::new(&mut simulation, options, (first, last), &halt)?;
    let asked = Asked { stop: options.stop, cancel: options.cancel, halt };
    let frames = Frames::new(outputs, keeper.clone(), asked);
    let worth = Worth::default();
    let begun = false;
    let mut cook = Cook {
        simulation,
        frames,
        worth,
        also,
        keeper,
        origin,
        options,
        onlooker,
        lock: &lock,
        begun,
        first,
        last,
    };
    let ended = cook.run();
    // A frame that could not be written is the first error, so it is reported.
    let ended = cook.wait_for_frame().and(ended);
    // Where the folder has gone that is why.
    let ended = match (ended, lock.check()) {
        (Err(e), Ok(())) if cook.begun => {
            failure::note(options.out, &e.to_string());
            Err(e)
        }
        (Err(e), held) => Err(held.err().unwrap_or(e)),
        (ended, _) => ended,
    };
    drop(lock);
    ended
}

/// Refuses a shot that is expected to need more memory than there is, before hours are spent on it. Returns what it is expected to
/// cost.
fn fits(
    simulation: &mut Simulation,
    plugins: &Plugins,
    options: &CookOptions,
    room: f64,
) -> Result<Estimate, CookError> {
    let network = simulation.network;
    let cost = estimate(network, &simulation.plan, &mut simulation.evaluator)?;
    let Some(sentence) = cost.too_large(room) else { return Ok(cost) };
    // A node's own message about an impossible size says more than the estimate.
    if let Err(problems) = rehearse(network, plugins, options.folder, options.manner) {
        return Err(CookError::Failed(problems.0.first().map_or(String::new(), Problem::to_string)));
    }
    Err(CookError::Failed(sentence))
}

/// Files that are named where some are left of an earlier cook.
const NAMED: usize = 3;

/// The work that is lost if the frame that is being written is broken off: the time it took to cook.
#[derive(Default)]
struct Worth {
    /// From the last checkpoint on disk to the one being written.
    pending: Duration,
    /// Since then.
    since: Duration,
}

struct Cook<'a> {
    simulation: Simulation<'a>,
    frames: Frames<'a>,
    worth: Worth,
    also: Also,
    keeper: Keeper,
    /// What the state is made from, as known at the start.
    origin: Origin,
    options: &'a CookOptions<'a>,
    onlooker: &'a dyn Onlooker,
    lock: &'a Lock,
    /// It has begun to write: what is in the folder is its own.
    begun: bool,
    first: i32,
    last: i32,
}

/// The names of some files, the first few.
fn several(files: &[impl AsRef<Path>]) -> String {
    let names: Vec<String> =
        files.iter().take(NAMED).map(|file| file.as_ref().display().to_string()).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.join(", "))
}

impl Cook<'_> {
    fn run(&mut self) -> Result<Ended, CookError> {
        let fork = self.options.fork.filter(|_| self.keeper.is_empty() || !self.options.resume);
        let (resumed, before) = match fork {
            Some(fork) => (true, self.leave(fork)?),
            None => {
                let resumed = self.options.resume && self.restore()?;
                (resumed, self.written_before(resumed))
            }
        };
        let listed = self.frames.outputs()?.listed((self.first, self.last));
        let leftovers = if resumed {
            // A fork has its parent's list, which is none of this folder's files. A damaged list tells nothing.
            if fork.is_none() && !before.is_empty() {
                self.spare(&listed::leftovers(self.options.out, &before, &listed).foreign)?;
            }
            Vec::new()
        } else {
            self.leftovers(&before, &listed)?
        };
        // Objects, forces and solvers are initialised first, so that the files of an earlier cook are kept until this
        // one has something to replace them.
        if !resumed && self.step(|s| s.initialise().map(Some))?.is_none() {
            return self.interrupted();
        }
        self.begun = true;
        failure::forget(self.options.out);
        crate::files::clear_temporaries(self.options.out);
        if !crate::files::is_link(&self.options.out.join(CHECKPOINTS)) {
            crate::files::clear_temporaries(&self.options.out.join(CHECKPOINTS));
        }
        self.frames.outputs()?.make_folders()?;
        let clock = self.simulation.state().clock;
        let mut stats = if resumed {
            let begin = self.simulation.network.settings.frames.0;
            StatsFile::resume(self.options.out, begin, &clock, |why| {
                self.onlooker.log("--resume", super::Level::Warning, why);
            })?
        } else {
            self.tell_of_resume();
            self.keeper.clear()?;
            remove(&leftovers)?;
            StatsFile::create(self.options.out)?
        };
        if resumed {
            let done = clock.frame - i32::from(clock.substep > 0);
            let begin = self.simulation.network.settings.frames.0;
            self.tell_of_missing(&listed::missing(self.options.out, &before, (begin, done)));
        }
        let listed = if resumed { listed::united(before, &listed) } else { listed };
        self.options.record.write(self.options.out, &listed)?;
        self.tell_of_idle();
        self.onlooker.begins(clock.frame, self.last);
        if !resumed {
            self.frame_done()?;
        }
        self.frames_to_the_last(&mut stats)
    }

    fn frames_to_the_last(&mut self, stats: &mut StatsFile) -> Result<Ended, CookError> {
        while self.simulation.state().clock.frame < self.last || self.simulation.state().clock.substep > 0 {
            if self.options.stop.load(Ordering::Relaxed) || self.frames.is_broken() {
                return self.interrupted();
            }
            let Some((line, frame_ended)) = self.step(|s| s.substep().map(Some))? else {
                return self.interrupted();
            };
            stats.append(&line)?;
            self.frame_written(|frames| frames.poll())?;
            let fps = self.simulation.network.settings.fps;
            let fraction = if frame_ended { 1.0 } else { self.simulation.state().clock.elapsed * fps };
            self.onlooker.substep(&line, fraction);
            if frame_ended {
                self.frame_done()?;
            }
        }
        self.wait_for_frame()?;
        if self.frames.is_broken() || !self.frames.finish()? {
            return self.interrupted();
        }
        Ok(Ended::Done)
    }

    /// Tells that an earlier cook could have been gone on with.
    fn tell_of_resume(&self) {
        if let Some(frame) = self.keeper.latest().filter(|&frame| frame > self.first && frame < self.last) {
            let sentence = format!(
                "an earlier one that came to frame {frame} here is thrown away; `--resume` goes on with one whose parameters are the same"
            );
            self.onlooker.log("cook", super::Level::Info, &sentence);
        }
    }

    /// Tells of objects that are there for nothing.
    fn tell_of_idle(&self) {
        let network = self.simulation.network;
        for (node, sentence) in idle(network, &self.simulation.plan) {
            self.onlooker.log(&network.nodes[node].name, super::Level::Warning, &sentence);
        }
    }

    /// The list in the `cook.json` of an earlier cook. A cook that resumes should find all of it.
    fn written_before(&self, resumed: bool) -> Vec<Listed> {
        let why = match listed::read(self.options.out) {
            Ok(listed) => return listed,
            Err(why) => why,
        };
        if resumed {
            let shown = self.options.out.join("cook.json");
            let sentence = format!(
                "{} {why}: it is written anew, and files of the frames before that have gone are not looked for",
                shown.display()
            );
            self.onlooker.log("--resume", super::Level::Warning, &sentence);
        }
        Vec::new()
    }

    /// Files of an earlier cook to remove, if the user asked for it; otherwise refuses. Frames of two cooks in one folder look like one
    /// shot. What no cook is known to have written is not written over.
    fn leftovers(&self, before: &[Listed], now: &[Listed]) -> Result<Vec<PathBuf>, CookError> {
        let found = listed::leftovers(self.options.out, before, now);
        self.spare(&found.foreign)?;
        let removed: &[PathBuf] = if self.options.replace { &[] } else { &found.listed };
        let left: Vec<&PathBuf> = removed.iter().chain(&found.unlisted).chain(&found.elsewhere).collect();
        if left.is_empty() {
            return Ok(found.listed);
        }
        let files = if left.len() == 1 { "a file".into() } else { format!("{} files", left.len()) };
        let what = match (removed.is_empty(), found.elsewhere.is_empty()) {
            (true, false) => {
                "a link leads there, and --replace removes nothing outside of it: remove them yourself"
            }
            (true, true) => "no cook.json lists them: remove them yourself",
            (false, _) => "--replace removes what its cook.json lists, --resume goes on",
        };
        Err(CookError::Failed(format!(
            "the output folder holds {files} of an earlier cook that this one will not write ({}); {what}, \
             or choose another folder with --out",
            several(&left)
        )))
    }

    /// Refuses to write over files of somebody else.
    fn spare(&self, foreign: &[PathBuf]) -> Result<(), CookError> {
        if foreign.is_empty() {
            return Ok(());
        }
        let why = match listed::read(self.options.out) {
            Err(why) if self.options.out.join("cook.json").exists() => {
                format!("cook.json, which would say whether a cook wrote that, {why}: go on with --resume")
            }
            _ => "no cook.json says that a cook wrote that: move it away".to_owned(),
        };
        Err(CookError::Failed(format!(
            "this cook would write over {}, and {why}, or choose another folder with --out",
            several(foreign)
        )))
    }

    /// Warns about files of earlier frames that are missing and will not be cooked again.
    fn tell_of_missing(&self, missing: &[PathBuf]) {
        if !missing.is_empty() {
            let sentence = format!(
                "of the frames before it, {} gone ({}): cook from the start to have them again",
                if missing.len() == 1 { "a file is".into() } else { format!("{} files are", missing.len()) },
                several(missing)
            );
            self.onlooker.log("--resume", super::Level::Warning, &sentence);
        }
    }

    /// Runs a part of the simulation; `None` when it was cancelled.
    fn step<T>(
        &mut self,
        f: impl FnOnce(&mut Simulation) -> Result<Option<T>, Stop>,
    ) -> Result<Option<T>, CookError> {
        let started = Instant::now();
        let done = f(&mut self.simulation);
        self.worth.since += started.elapsed();
        match done {
            Ok(done) => Ok(done),
            Err(Stop::Cancelled) => Ok(None),
            Err(Stop::Failed(p)) => Err(p.into()),
        }
    }

    /// Passes a frame to the writing thread, once the frame before is on disk.
    fn frame_done(&mut self) -> Result<(), CookError> {
        self.wait_for_frame()?;
        self.lock.check()?;
        if self.frames.is_broken() {
            return Ok(());
        }
        let frame = self.simulation.state().clock.frame;
        let outputs = self.frames.outputs()?;
        let view = if frame >= self.first { Some(outputs.look(&mut self.simulation)?) } else { None };
        let since = frame - self.simulation.network.settings.frames.0;
        let is_due = frame == self.last
            || since % self.options.checkpoint_every.max(1) as i32 == 0
            || self.also.has(frame);
        let checkpoint = is_due.then(|| self.checkpoint());
        if is_due {
            self.worth.pending += std::mem::take(&mut self.worth.since);
        }
        self.frame_written(|f| f.begin(Finished { frame, view, checkpoint }))
    }

    /// Waits until nothing is being written any more.
    fn wait_for_frame(&mut self) -> Result<(), CookError> {
        let worth = self.worth.pending + self.worth.since;
        self.frame_written(|frames| frames.wait(worth))
    }

    /// Tells the observer that a frame is on disk.
    fn frame_written(
        &mut self,
        look: impl FnOnce(&mut Frames) -> Result<Option<Written>, CookError>,
    ) -> Result<(), CookError> {
        if let Some(written) = look(&mut self.frames)? {
            self.worth.pending = Duration::ZERO;
            self.onlooker.frame(written.frame, &written.files);
        }
        Ok(())
    }

    /// The state as it is now and what it is made from.
    fn checkpoint(&self) -> Checkpoint {
        let network = self.simulation.network;
        let mut origin = self.origin.clone();
        for (node, file, hash) in self.simulation.evaluator.files_read() {
            origin.read(&network.nodes[node].name, file, hash);
        }
        Checkpoint::new(origin, network, self.simulation.state())
    }

    fn interrupted(&mut self) -> Result<Ended, CookError> {
        let nothing =
            || CookError::Failed("stopped before anything was made; there is nothing to resume".into());
        if self.simulation.state().holders.is_empty() {
            return Err(nothing());
        }
        // A checkpoint relies on the files of the frames before it.
        self.wait_for_frame()?;
        self.lock.check()?;
        if self.frames.is_broken() {
            let latest = checkpoint::latest(&self.options.out.join(CHECKPOINTS));
            return latest.map(Ended::Interrupted).ok_or_else(nothing);
        }
        Ok(Ended::Interrupted(self.frames.save_now(&self.checkpoint())?))
    }

    /// Goes on from the latest checkpoint; false when there is none.
    fn restore(&mut self) -> Result<bool, CookError> {
        let folder = self.options.out.join(CHECKPOINTS);
        let Some(path) = checkpoint::latest(&folder) else {
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
        self.go_on_from(saved, &path)?;
        Ok(true)
    }

    /// Goes on from a checkpoint of another cook, whose frames until then become this one's; what is listed of them.
    fn leave(&mut self, fork: &Fork) -> Result<Vec<Listed>, CookError> {
        let failed = |why: String| Err(CookError::Failed(why));
        if self.last <= fork.frame {
            return failed(format!(
                "nothing is left to cook: the fork is at frame {}, the last frame is {}",
                fork.frame, self.last
            ));
        }
        let out = self.options.out;
        if !self.keeper.is_empty() || out.join("cook.json").exists() {
            return failed(format!(
                "{} holds a cook already: --resume goes on with it, or choose another folder with --out",
                out.display()
            ));
        }
        let listed = listed::read(&fork.parent)
            .or_else(|why| failed(format!("{} {why}", fork.parent.join("cook.json").display())))?;
        let mut saved = Checkpoint::read(&fork.checkpoint)?;
        saved.origin = saved.origin.keyed_as(&self.origin, self.simulation.network);
        self.go_on_from(saved, &fork.checkpoint)?;
        let before = fork.share(out, self.simulation.network.settings.frames.0, listed)?;
        // The other cook's checkpoint does not fit what is changed.
        self.frames.save_now(&self.checkpoint())?;
        Ok(before)
    }

    fn go_on_from(&mut self, saved: Checkpoint, path: &Path) -> Result<(), CookError> {
        let cannot = |why: String| CookError::Failed(format!("cannot go on from {}: {why}", path.display()));
        if let Some(misfit) = saved.origin.misfit(&self.origin, self.options.folder) {
            return Err(cannot(misfit));
        }
        self.tell_of_new_outputs(&saved);
        self.tell_of_left_out(&saved);
        for (node, files) in &saved.origin.files {
            files.iter().for_each(|(file, hash)| self.origin.read(node, file, hash));
        }
        let state = saved
            .state_for(self.simulation.network)
            .map_err(|e| cannot(format!("{e}; cook from the start")))?;
        self.simulation.restore(state);
        Ok(())
    }

    /// Frames before the resume point are not cooked again for an output that was added later.
    fn tell_of_new_outputs(&self, saved: &Checkpoint) {
        let wrote = |name: &str| saved.origin.nodes.get(name).is_some_and(|n| !n.bypass);
        for (name, _) in self.origin.nodes.iter().filter(|(name, n)| n.output && !n.bypass && !wrote(name)) {
            let note = format!("it is new: its files begin at frame {}", next_frame(saved));
            self.onlooker.log(name, super::Level::Warning, &note);
        }
    }

    /// A node that keeps no state may be left out half-way; frames before and after are then of two graphs.
    fn tell_of_left_out(&self, saved: &Checkpoint) {
        for (name, _) in saved.origin.left_out(&self.origin) {
            let note = format!(
                "it is left out from frame {} on, and acted in the frames before: cook from the start to have all frames without it",
                next_frame(saved)
            );
            self.onlooker.log(name, super::Level::Warning, &note);
        }
    }
}

/// The frame that a cook which goes on from a checkpoint makes first.
fn next_frame(saved: &Checkpoint) -> i32 {
    saved.state.clock.frame + i32::from(saved.state.clock.substep == 0)
}

fn remove(files: &[PathBuf]) -> Result<(), CookError> {
    let cannot = |p: &PathBuf, e| CookError::Failed(format!("cannot remove {}: {e}", p.display()));
    files.iter().try_for_each(|p| std::fs::remove_file(p).map_err(|e| cannot(p, e)))
}
