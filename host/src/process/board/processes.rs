//! What became of the worker, and what plugins did to the processes.

use super::Board;
use super::calls::own_call;
use std::sync::atomic::Ordering;

/// Set in [`Board::ended`] together with the status.
const ENDED: i64 = 1 << 32;

impl Board {
    /// This process came back from a call as a second one.
    pub(in crate::process) fn copied(&self) {
        self.copied.set(&own_call("doubled the program"));
    }

    /// The current folder was another one after a call. The first call that did so is told.
    pub(in crate::process) fn strayed(&self) {
        if self.strayed.get().is_empty() {
            self.strayed.set(&own_call("changed the current folder of the program"));
        }
    }

    /// The worker began.
    pub(in crate::process) fn works(&self, process: i32) {
        self.worker.store(process, Ordering::SeqCst);
    }

    /// The process that works, if it began.
    pub(in crate::process) fn worker(&self) -> Option<i32> {
        Some(self.worker.load(Ordering::SeqCst)).filter(|p| *p > 0)
    }

    /// The worker ended with this status and left processes behind.
    pub(in crate::process) fn ended(&self, status: i32, left: &[String]) {
        self.add_left(left);
        self.ended.store(ENDED | i64::from(status.cast_unsigned()), Ordering::SeqCst);
    }

    /// Processes were left behind, and ended.
    pub(in crate::process) fn add_left(&self, left: &[String]) {
        if !left.is_empty() {
            self.left.fetch_add(left.len() as u32, Ordering::SeqCst);
            self.left_names.set(&left.iter().take(4).cloned().collect::<Vec<_>>().join(", "));
        }
    }

    /// How the worker ended, if its reaper saw that.
    pub(in crate::process) fn status(&self) -> Option<i32> {
        let ended = self.ended.load(Ordering::SeqCst);
        (ended & ENDED != 0).then_some((ended & 0xffff_ffff) as u32).map(u32::cast_signed)
    }

    /// Sentences on what plugins did to the processes.
    pub(in crate::process) fn remarks(&self) -> Vec<String> {
        let copied = self.copied.get();
        let copied = (!copied.is_empty()).then(|| format!("{copied}: the second was ended"));
        let strayed = self.strayed.get();
        let strayed = (!strayed.is_empty()).then(|| format!("{strayed}: it was changed back"));
        let (left, names) = (self.left.load(Ordering::SeqCst), self.left_names.get());
        let left = match left {
            0 => None,
            1 => Some(format!("a process was left running ({names}): it was ended")),
            n if n > 4 => Some(format!("{n} processes were left running ({names} …): they were ended")),
            n => Some(format!("{n} processes were left running ({names}): they were ended")),
        };
        copied.into_iter().chain(strayed).chain(left).collect()
    }
}
