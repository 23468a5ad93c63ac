//! The cooks that are shown: those of the command line, and those begun from the page.

use super::folder::Folder;
use super::job::Job;
use super::{Shown, heard};
use serde_json::{Map, Value as Json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most cooks that are shown.
const MOST: usize = 64;
/// Most that there ever are, with those that were refused.
const MOST_EVER: usize = 1024;
/// Most of them that run at a time.
const RUNNING: usize = 2;
/// Names of folders that are tried for a new cook.
const NAMES: u32 = 10_000;
/// Most bytes of a record or graph that is read.
pub const LARGEST: u64 = 64 << 20;

/// One cook.
#[derive(Debug)]
pub struct Cook {
    /// Where it writes.
    pub folder: Folder,
    /// Its graph, where that is known.
    pub graph: Option<PathBuf>,
    /// The process, if it was begun here.
    pub job: Option<Job>,
    /// How often somebody asked what a change would cost.
    checks: AtomicU64,
}

impl Cook {
    /// One that writes there.
    pub fn new(folder: Folder, graph: Option<PathBuf>, job: Option<Job>) -> Self {
        Self { folder, graph, job, checks: AtomicU64::new(0) }
    }

    /// What `cook.json` says; none while there is none that can be read.
    pub fn record(&self) -> Option<Json> {
        serde_json::from_slice(&self.folder.read("cook.json", LARGEST).ok()?).ok()
    }

    /// Whether its process, begun here, runs.
    pub fn runs(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.ended().is_none())
    }
}

/// All of them.
pub struct Cooks {
    list: Mutex<Vec<Arc<Cook>>>,
    /// Held while a changed graph is checked.
    checking: Mutex<()>,
    /// The page ends.
    ending: AtomicBool,
    /// Nothing may be begun.
    pub read_only: bool,
}

/// What a page may change of a cook.
pub struct Change {
    /// Values by `node.param`.
    pub set: Map<String, Json>,
    /// The frame after which it goes on from a checkpoint; none where it is cooked from the first frame.
    pub fork: Option<i32>,
}

impl Cooks {
    /// Those of the command line.
    pub fn new(shown: Vec<Shown>, read_only: bool) -> Self {
        let cook = |s: Shown| Arc::new(Cook::new(Folder::new(s.folder), s.graph, None));
        Self {
            list: Mutex::new(shown.into_iter().map(cook).collect()),
            checking: Mutex::new(()),
            ending: AtomicBool::new(false),
            read_only,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Cook>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All, by their numbers.
    pub fn all(&self) -> Vec<Arc<Cook>> {
        self.lock().clone()
    }

    /// The cook of a number.
    pub fn get(&self, number: &str) -> Option<Arc<Cook>> {
        self.lock().get(number.parse::<usize>().ok()?).cloned()
    }

    /// Begins a changed cook in a folder of its own, and gives its number; the error is one sentence.
    pub fn change(&self, parent: &Cook, change: &Change) -> Result<usize, String> {
        if self.read_only {
            return Err("this page only shows cooks (--read-only)".into());
        }
        let mut list = self.lock();
        // Those that were refused have no folder.
        let shown = list.iter().filter(|c| c.runs() || c.folder.path().is_dir()).count();
        if shown >= MOST || list.len() >= MOST_EVER {
            return Err(format!("{MOST} cooks are shown already; begin again with another `meniscus view`"));
        }
        if list.iter().filter(|c| c.runs()).count() >= RUNNING {
            return Err(format!("{RUNNING} cooks run already; stop one, or wait for it"));
        }
        let record = parent.record();
        let graph = graph_of(parent, record.as_ref())?;
        let set = changed(record.as_ref(), &change.set)?;
        let taken: Vec<PathBuf> = list.iter().map(|c| c.folder.path().to_owned()).collect();
        let folder = new_folder(parent.folder.path(), &taken)?;
        let mut args: Vec<OsString> = vec!["cook".into(), "--quiet".into()];
        args.extend(set);
        args.extend(["--out".into(), folder.clone().into()]);
        if record.is_some() {
            args.extend(["--parent".into(), parent.folder.path().into()]);
            args.extend(change.fork.map(|frame| format!("--fork={frame}").into()));
        }
        args.extend(["--".into(), graph.clone().into()]);
        let job = Job::begin(&args, &folder).inspect_err(|_| {
            // It was made for this cook, and is empty.
            let _ = std::fs::remove_dir(&folder);
        })?;
        list.push(Arc::new(Cook::new(Folder::new(folder), Some(graph), Some(job))));
        Ok(list.len() - 1)
    }

    /// What `meniscus check` says of a changed cook that begins at its first frame: lines on its cost and advice; the error is what is
    /// wrong with it. `None` where a later change of that cook is asked about by now.
    pub fn check(&self, parent: &Cook, change: &Change) -> Option<Result<String, String>> {
        let turn = parent.checks.fetch_add(1, Ordering::SeqCst) + 1;
        let record = parent.record();
        let asked = graph_of(parent, record.as_ref()).and_then(|graph| {
            let mut args = vec![OsString::from("check")];
            args.extend(changed(record.as_ref(), &change.set)?);
            args.extend(["--".into(), graph.clone().into()]);
            Ok((args, graph))
        });
        let (args, graph) = match asked {
            Ok(asked) => asked,
            Err(why) => return Some(Err(why)),
        };
        // One after the other: each opens all plugins.
        let _turn = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let is_last = || parent.checks.load(Ordering::SeqCst) == turn && !self.ending.load(Ordering::SeqCst);
        let said = is_last().then(|| heard::said(&args, is_last)).flatten()?;
        // The page shows which graph it is.
        let named = format!("{}: ", graph.display());
        Some(said.map_err(|why| why.trim_start_matches("error: ").replace(&named, "")))
    }

    /// Asks all that were begun here to save and end, and waits; how many ran.
    pub fn end(&self) -> usize {
        self.ending.store(true, Ordering::SeqCst);
        let running: Vec<Arc<Cook>> = self.all().into_iter().filter(|c| c.runs()).collect();
        running.iter().filter_map(|c| c.job.as_ref()).for_each(Job::stop);
        running.iter().filter_map(|c| c.job.as_ref()).for_each(Job::wait);
        running.len()
    }
}

/// The arguments that set what a cook has set, and what is changed.
fn changed(record: Option<&Json>, change: &Map<String, Json>) -> Result<Vec<OsString>, String> {
    let before = record.map_or(&Json::Null, |r| &r["set"]).as_array().into_iter().flatten();
    let mut set: Vec<String> = before.filter_map(|s| s.as_str().map(str::to_owned)).collect();
    for (key, value) in change {
        if key.is_empty() || key.contains(['=', ' ']) || key.contains(char::is_control) {
            return Err(format!("`{}` names no parameter", crate::text::one_line(key, 60)));
        }
        set.push(format!("{key}={value}"));
    }
    Ok(set.iter().map(|s| format!("--set={s}").into()).collect())
}

/// The graph that a cook was made from, unchanged since; its folder is where its files are looked for.
fn graph_of(cook: &Cook, record: Option<&Json>) -> Result<PathBuf, String> {
    let named = record.and_then(|r| crate::engine::graph_file(r, cook.folder.path()));
    let Some(path) = cook.graph.clone().or(named) else {
        return Err("it is not known which graph this cook was made from".into());
    };
    let shown = crate::text::one_line(&path.to_string_lossy(), crate::text::SENTENCE);
    let path = std::path::absolute(&path).map_err(|e| format!("the graph {shown} cannot be found: {e}"))?;
    let bytes = crate::files::read_file(&path, LARGEST)
        .map_err(|e| format!("the graph {shown} cannot be read ({e}); name it: meniscus view GRAPH"))?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    match record.and_then(|r| r["graph_hash"].as_str()) {
        Some(was) if was != hash => Err(format!(
            "the graph {shown} is not what it was when this cook was made: cook it with `meniscus cook`, then show that"
        )),
        _ => Ok(path),
    }
}

/// Makes a folder beside that of a cook: `shot.out.2`, `shot.out.3`, …, the first that is not there yet and belongs to no cook that is
/// shown: one that was refused has none, and must not show another's.
fn new_folder(beside: &Path, taken: &[PathBuf]) -> Result<PathBuf, String> {
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    // A variant of a variant is one more.
    let stem = match name.rsplit_once('.') {
        Some((stem, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => &name,
    };
    for n in 2..NAMES {
        let path = beside.with_file_name(format!("{stem}.{n}"));
        if taken.contains(&path) {
            continue;
        }
        match std::fs::create_dir(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
            Err(e) => return Err(format!("cannot make the folder {}: {e}", path.display())),
            Ok(()) => return Ok(path),
        }
    }
    Err(format!("beside {} there are {NAMES} variants already", beside.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_cook_never_gets_a_folder_that_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("shot.out");
        std::fs::create_dir(&first).unwrap();
        std::fs::write(dir.path().join("shot.out.3"), b"a file").unwrap();
        let refused = dir.path().join("shot.out.5");
        let taken = [first.clone(), refused];
        let second = new_folder(&first, &taken).unwrap();
        let third = new_folder(&second, &taken).unwrap();
        let fourth = new_folder(&third, &taken).unwrap();
        let named = |n: u32| dir.path().join(format!("shot.out.{n}"));
        assert_eq!([second, third, fourth], [named(2), named(4), named(6)]);
    }
}
