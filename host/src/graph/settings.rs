//! What a graph says about the shot as a whole: frames, substeps, quality, variables.

use super::json::Json;
use super::problem::{Problem, Problems};
use super::suggest::hint;
use std::collections::BTreeMap;

/// Most frames of one shot.
const MAX_FRAMES: f64 = 1e6;

/// How a frame is cut into substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Substeps {
    /// Fewest substeps a frame.
    pub min: u32,
    /// Most substeps a frame.
    pub max: u32,
    /// CFL Condition: voxels the fastest liquid may cross in one substep.
    pub cfl: f64,
}

/// Settings of a shot after quality and overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Frames per second.
    pub fps: f64,
    /// First and last frame, the shot's own numbers; the state at the first is the initial state.
    pub frames: (i32, i32),
    /// Substeps.
    pub substeps: Substeps,
    /// Chosen quality, when the graph has a choice.
    pub quality: Option<String>,
    /// Variables by name.
    pub variables: BTreeMap<String, f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fps: 24.0,
            frames: (1, 120),
            substeps: Substeps { min: 1, max: 8, cfl: 2.0 },
            quality: None,
            variables: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Applies one of `fps`, `frames`, `substeps`; false when the key is none of them.
    pub(super) fn apply(&mut self, key: &str, value: &Json, problems: &mut Problems) -> bool {
        let result = match key {
            "fps" => self.set_fps(value),
            "frames" => self.set_frames(value),
            "substeps" => self.set_substeps(value),
            "substeps.min" | "substeps.max" | "substeps.cfl" => self.set_substep(&key[9..], value),
            _ => return false,
        };
        if let Err(e) = result {
            problems.0.push(Problem::graph(format!("`{key}`: {e}")));
        }
        true
    }

    fn set_fps(&mut self, value: &Json) -> Result<(), String> {
        self.fps = value.number().filter(|f| (1e-3..=1e5).contains(f)).ok_or_else(|| {
            format!("expected frames per second between 0.001 and 100000, found {}", value.describe())
        })?;
        Ok(())
    }

    fn set_frames(&mut self, value: &Json) -> Result<(), String> {
        let whole = |end: &Json| end.number().filter(|x| x.fract() == 0.0);
        let ends = value.list().filter(|l| l.len() == 2).map(|l| (whole(&l[0]), whole(&l[1])));
        let Some((Some(first), Some(last))) = ends else {
            return Err(format!(
                "expected two whole frame numbers [first, last], found {}",
                value.describe()
            ));
        };
        if first.abs().max(last.abs()) > MAX_FRAMES {
            return Err(format!(
                "frame numbers reach from {} to {MAX_FRAMES}, found [{first}, {last}]",
                -MAX_FRAMES
            ));
        }
        if last < first {
            return Err(format!("the last frame {last} comes before the first {first}"));
        }
        self.frames = (first as i32, last as i32);
        Ok(())
    }

    fn set_substeps(&mut self, value: &Json) -> Result<(), String> {
        let pairs = value.object().ok_or_else(|| {
            format!(
                "expected an object like {{ \"min\": 1, \"max\": 8, \"cfl\": 2.0 }}, found {}",
                value.describe()
            )
        })?;
        pairs.iter().try_for_each(|(key, v)| self.set_one_substep(key, v))?;
        self.check_substeps()
    }

    fn set_substep(&mut self, key: &str, value: &Json) -> Result<(), String> {
        self.set_one_substep(key, value)?;
        self.check_substeps()
    }

    fn set_one_substep(&mut self, key: &str, value: &Json) -> Result<(), String> {
        let count = || {
            value.integer().filter(|n| (1..=10_000).contains(n)).map(|n| n as u32).ok_or_else(|| {
                format!("`{key}` expects a whole number from 1 to 10000, found {}", value.describe())
            })
        };
        match key {
            "min" => self.substeps.min = count()?,
            "max" => self.substeps.max = count()?,
            "cfl" => {
                self.substeps.cfl = value.number().filter(|c| (1e-3..=1e3).contains(c)).ok_or_else(|| {
                    format!("`cfl` expects a number from 0.001 to 1000, found {}", value.describe())
                })?;
            }
            _ => return Err(format!("unknown key `{key}`{}", hint(key, ["min", "max", "cfl"]))),
        }
        Ok(())
    }

    fn check_substeps(&self) -> Result<(), String> {
        let Substeps { min, max, .. } = self.substeps;
        if min > max { Err(format!("`min` {min} is larger than `max` {max}")) } else { Ok(()) }
    }

    /// Sets a variable.
    pub(super) fn set_variable(&mut self, name: &str, value: &Json, problems: &mut Problems) {
        let ok = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !ok {
            problems.0.push(Problem::graph(format!(
                "variable `{}`: a name is letters, digits and _, not starting with a digit",
                super::json::shorten(name)
            )));
        }
        match value.number() {
            Some(x) => drop(self.variables.insert(name.to_owned(), x)),
            None => problems.0.push(Problem::graph(format!(
                "variable `{}`: expected a number, found {}",
                super::json::shorten(name),
                value.describe()
            ))),
        }
    }
}
