//! Cooking with plugins compiled from C on the spot.

use meniscus_host::engine::{
    Checkpoint, CookError, CookOptions, Device, Ended, Level, Manner, Onlooker, Record, State, SubstepStats,
    Watcher, cook, latest_checkpoint,
};
use meniscus_host::graph::{Graph, Network, Problems};
use meniscus_host::loader::{Found, Plugins};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Compiled plugins and a folder to cook into.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub plugins: Plugins,
    /// Stops the cook, as a signal would, after so many substeps.
    pub stop_after: AtomicUsize,
    /// Instances forget their caches before every call.
    pub drop_caches: AtomicBool,
    /// What was said.
    pub said: Mutex<Vec<String>>,
    stop: AtomicBool,
}

/// Compiles a C plugin; `defines` are `-D` flags.
pub fn compile(source: &str, defines: &[&str], folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = here.join(source);
    let stem = source.file_stem().unwrap().to_string_lossy().into_owned();
    let library = folder.join(format!("lib{stem}{}.so", defines.join("")));
    let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    command
        .args(["-std=c99", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-I"])
        .arg(here.join("../plugin/include"));
    command.args(defines.iter().map(|d| format!("-D{d}"))).arg(&source).arg("-o").arg(&library).arg("-lm");
    assert!(command.status().unwrap().success(), "{command:?}");
    library
}

impl Bench {
    pub fn new(sources: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let found = |s: &&str| Found { path: compile(s, &[], folder.path()), meant: true };
        let plugins = Plugins::open_all(sources.iter().map(found).collect());
        assert!(plugins.refused.is_empty(), "{:?}", plugins.refused);
        let left_out: Vec<_> = plugins.loaded.iter().flat_map(|p| &p.left_out).collect();
        assert!(left_out.is_empty(), "{left_out:?}");
        Self {
            folder,
            plugins,
            stop_after: AtomicUsize::new(usize::MAX),
            drop_caches: AtomicBool::new(false),
            said: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    pub fn network(&self, text: &str) -> Result<Network, Problems> {
        Network::bind(&Graph::read(text, &[])?, &self.plugins.types())
    }

    pub fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Cooks into the folder `name`.
    pub fn cook_into(&self, name: &str, text: &str, resume: bool) -> Result<Ended, CookError> {
        let network = self.network(text).map_err(CookError::Graph)?;
        let (out, cancel) = (self.out(name), AtomicBool::new(false));
        self.stop.store(false, Ordering::Relaxed);
        let record = Record::new(text, Path::new("shot.meniscus.json"), &[], &network, &self.plugins);
        let options = CookOptions {
            out: &out,
            folder: self.folder.path(),
            frames: None,
            resume,
            replace: false,
            checkpoint_every: 1,
            keep_checkpoints: None,
            fork: None,
            manner: Manner {
                threads: 1,
                device: Device::Auto,
                paranoid: true,
                drop_caches: self.drop_caches.load(Ordering::Relaxed),
            },
            room: None,
            stop: &self.stop,
            cancel: &cancel,
            record: &record,
        };
        cook(&network, &self.plugins, &options, self)
    }

    /// The state of the latest checkpoint of a cook.
    pub fn state(&self, name: &str) -> State {
        Checkpoint::read(&latest_checkpoint(&self.out(name).join("checkpoints")).unwrap()).unwrap().state
    }

    /// The lines of `stats.jsonl` of a cook.
    pub fn stats(&self, name: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.out(name).join("stats.jsonl")).unwrap();
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }
}

impl Watcher for Bench {
    fn progress(&self, _node: &str, _stage: &str, _done: f64) {}

    fn log(&self, node: &str, level: Level, sentence: &str) {
        self.said.lock().unwrap().push(format!("{level:?} {node}: {sentence}"));
    }
}

impl Onlooker for Bench {
    fn begins(&self, _frame: i32, _last: i32) {}

    fn substep(&self, _stats: &SubstepStats, _fraction: f64) {
        if self.stop_after.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn frame(&self, _frame: i32, _files: &[PathBuf]) {}
}

/// A graph of so many frames with these nodes, at most four substeps a frame.
pub fn graph(frames: u32, nodes: &str) -> String {
    format!(
        r#"{{ "format": "meniscus.graph/1", "fps": 10, "frames": [1, {frames}],
             "substeps": {{ "min": 1, "max": 4, "cfl": 1 }}, "nodes": [{nodes}] }}"#
    )
}
