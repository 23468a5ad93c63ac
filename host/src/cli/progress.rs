//! The live progress line on a terminal; plain lines elsewhere.

use super::screen::Screen;
use super::{tell, units};
use crate::engine::{Level, Measure, Onlooker, SubstepStats, Watcher};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// Steps of the bar per frame.
const PARTS: u64 = 100;
/// How often the bar is drawn, 1/s.
const DRAWN: u8 = 20;
/// Messages of one node that are shown per substep, and per cook.
const SENTENCES_A_SUBSTEP: u32 = 20;
const SENTENCES: u32 = 500;

/// Shows a cook.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    openjd: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    started: Option<Instant>,
    first: i32,
    last: i32,
    fraction: f64,
    /// Frames on disk.
    written: u32,
    first_volume: Option<f64>,
    line: String,
    /// The last statistics of frames that are not on disk yet.
    lines: BTreeMap<i32, String>,
    /// The numbers of messages by node.
    said: BTreeMap<String, Said>,
}

/// The messages of one node.
#[derive(Default)]
struct Said {
    this_substep: u32,
    all: u32,
    left_out: u64,
}

impl Said {
    /// Counts a message; returns whether it is shown.
    fn one_more(&mut self) -> bool {
        let shown = self.this_substep < SENTENCES_A_SUBSTEP && self.all < SENTENCES;
        if shown {
            (self.this_substep, self.all) = (self.this_substep + 1, self.all + 1);
        } else {
            self.left_out += 1;
        }
        shown
    }
}

impl Progress {
    pub(super) fn new(quiet: bool, openjd: bool) -> Self {
        let live = !quiet && Screen::is_there();
        let bar = live.then(|| {
            let screen = ProgressDrawTarget::term_like_with_hz(Box::new(Screen::default()), DRAWN);
            let bar = ProgressBar::with_draw_target(Some(1), screen);
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, quiet, openjd, seen: Mutex::default() }
    }

    /// Removes the progress line before other text is printed, and tells how many messages were not shown.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let left_out = |(node, said): (&String, &Said)| match said.left_out {
            0 => None,
            1 => Some(format!("warning: {node}: one more sentence of it is left out")),
            n => Some(format!("warning: {node}: {n} more sentences of it are left out")),
        };
        self.with(|s| s.said.iter().filter_map(left_out).for_each(|line| tell(&line)));
    }

    fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(line)),
            None => tell(line),
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Seen) -> T) -> T {
        f(&mut self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Watcher for Progress {
    fn progress(&self, node: &str, stage: &str, done: f64) {
        if let Some(bar) = &self.bar {
            let share = if done >= 0.0 { format!(" {:.0} %", 100.0 * done.min(1.0)) } else { String::new() };
            let line = self.with(|s| s.line.clone());
            bar.set_message(format!("{line}  {node}.{stage}{share}"));
        }
    }

    fn log(&self, node: &str, level: Level, sentence: &str) {
        match level {
            Level::Debug => {}
            Level::Info if self.quiet => {}
            _ if !self.with(|s| s.said.entry(node.to_owned()).or_default().one_more()) => {}
            Level::Info => self.print(&format!("{node}: {sentence}")),
            Level::Warning => self.print(&format!("warning: {node}: {sentence}")),
        }
    }
}

impl Onlooker for Progress {
    fn begins(&self, frame: i32, last: i32) {
        self.with(|s| (s.started, s.first, s.last) = (Some(Instant::now()), frame, last));
        if let Some(bar) = &self.bar {
            bar.set_length((i64::from(last) - i64::from(frame)).max(1) as u64 * PARTS);
        }
    }

    fn substep(&self, stats: &SubstepStats, fraction: f64) {
        let line = self.with(|s| {
            s.said.values_mut().for_each(|said| said.this_substep = 0);
            s.fraction = fraction;
            s.line = describe(stats, s);
            if fraction >= 1.0 {
                s.lines.insert(stats.frame, s.line.clone());
            }
            s.line.clone()
        });
        if let Some(bar) = &self.bar {
            let done = f64::from(stats.frame - 1 - self.with(|s| s.first)) + fraction;
            bar.set_position((done.max(0.0) * PARTS as f64) as u64);
            bar.set_message(line);
        }
    }

    fn frame(&self, frame: i32, _files: &[PathBuf]) {
        let (line, first, last) = self.with(|s| {
            s.written += 1;
            (s.lines.remove(&frame).unwrap_or_default(), s.first, s.last)
        });
        if self.openjd {
            let share = f64::from(frame - first) / f64::from((last - first).max(1));
            super::say(&format!(
                "openjd_progress: {:.1}\nopenjd_status: frame {frame} of {last}\n",
                100.0 * share
            ));
        }
        if self.bar.is_none() && !self.quiet {
            tell(&if line.is_empty() { format!("frame {frame}/{last}") } else { line });
        }
    }
}

/// Frame, substeps and CFL, iterations, bubble volumes, volume drift, memory, time left.
fn describe(stats: &SubstepStats, seen: &mut Seen) -> String {
    let mut parts =
        vec![format!("frame {}/{}", stats.frame, seen.last), format!("substep {}", stats.substep + 1)];
    if let Some(cfl) = stats.cfl {
        parts.push(format!("CFL {cfl:.1}"));
    }
    if !stats.solves.is_empty() {
        let iterations: u32 = stats.solves.iter().map(|s| s.iterations).sum();
        parts.push(format!("{iterations} iterations"));
    }
    for (key, list) in stats.lists.iter().filter(|(_, list)| !list.is_empty()) {
        let volumes = list.iter().filter_map(|entry| entry.number("volume")).collect();
        parts.push(listed(key, list.len(), volumes));
    }
    if let Some(drift) = drift(stats, seen) {
        parts.push(format!("volume {:+.2} %", 100.0 * drift));
    }
    if let Some(memory) = stats.memory_bytes {
        parts.push(units::bytes(memory as f64));
    }
    if let Some(left) = time_left(stats.frame, seen) {
        parts.push(format!("{} left", units::duration(left)));
    }
    parts.join(" · ")
}

/// A list of `count` entries: the four largest of their volumes, m³, or how many they are where they have none.
fn listed(key: &str, count: usize, mut volumes: Vec<f64>) -> String {
    if volumes.is_empty() {
        return format!("{key} {count}");
    }
    volumes.sort_by(|a, b| b.total_cmp(a));
    let shown: Vec<String> = volumes.into_iter().take(4).map(units::volume).collect();
    let more = if count > shown.len() { format!(" … {count} in all") } else { String::new() };
    format!("{key} {}{more}", shown.join(" "))
}

/// Change of the liquids' volume since the start, relative to the rest volume if a node reports one.
fn drift(stats: &SubstepStats, seen: &mut Seen) -> Option<f64> {
    let sum = |key: &str| {
        let numbers = stats.objects.values().filter_map(|o| match o.measures.get(key) {
            Some(Measure::Number(x)) => Some(*x),
            _ => None,
        });
        numbers.reduce(|a, b| a + b)
    };
    let volume = sum("volume")?;
    let expected = sum("rest_volume").unwrap_or(*seen.first_volume.get_or_insert(volume));
    (expected > 0.0).then(|| volume / expected - 1.0)
}

fn time_left(frame: i32, seen: &Seen) -> Option<f64> {
    let elapsed = seen.started?.elapsed().as_secs_f64();
    let done = f64::from(frame - 1 - seen.first) + seen.fraction;
    let all = f64::from(seen.last - seen.first);
    let simulating = (done > 0.0).then(|| elapsed / done * (all - done))?;
    // The first frame is written before anything is simulated.
    let written = f64::from(seen.written);
    let writing = if written > 1.0 { elapsed / written * (all + 1.0 - written) } else { 0.0 };
    Some(simulating.max(writing))
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn a_list_names_volumes_or_how_many_there_are() {
        assert_eq!(listed("bodies", 7, vec![]), "bodies 7");
        assert_eq!(listed("bubbles", 1, vec![2e-3]), format!("bubbles {}", super::units::volume(2e-3)));
        let many = listed("bubbles", 5, vec![1e-3, 5e-3, 4e-3, 3e-3, 2e-3]);
        assert!(many.starts_with(&format!("bubbles {}", super::units::volume(5e-3))), "{many}");
        assert!(many.ends_with(" … 5 in all"), "{many}");
    }
}
