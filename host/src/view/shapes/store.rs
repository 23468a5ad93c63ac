//! The shapes that were made last, and who may make more.

use super::{Kind, LARGEST, LONGEST, packed};
use crate::process::apart::{self, Answer};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most bytes of all shapes that are kept.
const KEPT: usize = 256 << 20;
/// Most files of which something is kept.
const FILES: usize = 4096;
/// Processes that make shapes at a time: each may hold much memory.
const AT_WORK: usize = 2;
/// Requests that wait for one of them, and how long.
const WAITING: usize = 24;
const PATIENCE: Duration = Duration::from_secs(60);

/// Why there are no shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Others are being made.
    Busy,
    /// One sentence.
    Because(String),
}

/// What became of a file.
type Made = Result<Arc<[u8]>, Refused>;

/// Shapes by what they were made from.
#[derive(Default)]
pub struct Store {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// With the moment of their last use. A damaged file is not read again either.
    kept: BTreeMap<String, (u64, Made)>,
    bytes: usize,
    uses: u64,
    /// Those that are being made.
    at_work: BTreeSet<String>,
    waiting: usize,
}

/// Bytes that are kept of it.
fn size(made: &Made) -> usize {
    made.as_ref().map_or(0, |bytes| bytes.len())
}

impl State {
    fn find(&mut self, key: &str) -> Option<Made> {
        self.uses += 1;
        let uses = self.uses;
        let (used, made) = self.kept.get_mut(key)?;
        *used = uses;
        Some(made.clone())
    }

    fn keep(&mut self, key: String, made: Made) {
        self.uses += 1;
        self.bytes += size(&made);
        if let Some((_, old)) = self.kept.insert(key, (self.uses, made)) {
            self.bytes -= size(&old);
        }
        while self.bytes > KEPT || self.kept.len() > FILES {
            let oldest = self.kept.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            let Some((_, old)) = oldest.and_then(|key| self.kept.remove(&key)) else { break };
            self.bytes -= size(&old);
        }
    }

    /// Whether who asks for this may have it made now; `None`: is to wait.
    fn may_begin(&self, key: &str) -> Option<bool> {
        match (self.at_work.contains(key), self.at_work.len() < AT_WORK) {
            (true, _) => None,
            (false, true) => Some(true),
            (false, false) if self.waiting >= WAITING => Some(false),
            (false, false) => None,
        }
    }
}

impl Store {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shapes of an open file, which `key` tells from all others and other versions of it. Many who ask for the same
    /// wait for one process.
    pub fn shapes(&self, key: &str, kind: Kind, shown: &Path, file: File) -> Made {
        let until = Instant::now() + PATIENCE;
        let mut state = self.lock();
        loop {
            if let Some(found) = state.find(key) {
                return found;
            }
            match state.may_begin(key) {
                Some(true) => break,
                None if Instant::now() < until => {}
                _ => return Err(Refused::Busy),
            }
            let counts = usize::from(!state.at_work.contains(key));
            state.waiting += counts;
            state = self.changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= counts;
        }
        state.at_work.insert(key.to_owned());
        drop(state);
        let made = made(kind, shown, file);
        let mut state = self.lock();
        state.at_work.remove(key);
        self.changed.notify_all();
        match made {
            Ok(made) => {
                state.keep(key.to_owned(), made.clone());
                made
            }
            Err(why) => Err(Refused::Because(why)),
        }
    }
}

/// Has another process make the shapes; the error is that it could not begin.
fn made(kind: Kind, shown: &Path, file: File) -> Result<Made, String> {
    let refused = |why: String| Ok(Err(Refused::Because(why)));
    let length = file.metadata().map_or(0, |m| m.len());
    if length > LARGEST {
        return refused(format!("{} is too large to be drawn", shown.display()));
    }
    let [word, frame] = kind.words();
    let args = ["view-shapes", &frame, &word, "/dev/stdin"].map(OsStr::new);
    match apart::ask(&args, shown, Some(file), length, LONGEST)? {
        Answer::Said(bytes, true) if packed::is_whole(&bytes) => Ok(Ok(bytes.into())),
        Answer::Endless => refused(format!("reading {} does not come to an end", shown.display())),
        Answer::Said(..) => {
            refused(format!("{} is damaged, or takes more memory than it may have", shown.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut state = State::default();
        let big: Arc<[u8]> = vec![0; KEPT / 2 - 8].into();
        state.keep("a".into(), Ok(big.clone()));
        state.keep("b".into(), Ok(big.clone()));
        assert!(state.find("a").is_some());
        state.keep("c".into(), Ok(big.clone()));
        assert!(state.find("b").is_none() && state.find("a").is_some() && state.find("c").is_some());
        state.keep("c".into(), Ok(vec![0; 4].into()));
        assert_eq!(state.bytes, KEPT / 2 - 8 + 4);
        assert!(state.bytes <= KEPT);
    }

    #[test]
    fn who_asks_for_the_same_waits_and_who_comes_too_late_is_told() {
        let mut state = State::default();
        assert_eq!(state.may_begin("a"), Some(true));
        state.at_work.extend((0..AT_WORK).map(|n| n.to_string()));
        assert_eq!([state.may_begin("0"), state.may_begin("a")], [None, None]);
        state.waiting = WAITING;
        assert_eq!([state.may_begin("0"), state.may_begin("a")], [None, Some(false)]);
    }
}
