//! A shot in a folder of its own: the graph, the files it reads, the plugins it finds, and what a cook leaves.

use crate::{files, meniscus};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a graph and what belongs to it.
pub struct Shot {
    folder: tempfile::TempDir,
}

impl Shot {
    /// A folder that holds this graph.
    pub fn new(graph: &Value) -> Self {
        let shot = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        shot.graph(graph.to_string().as_bytes());
        shot
    }

    /// Replaces the graph.
    pub fn graph(&self, text: &[u8]) {
        self.file("shot.meniscus.json", text);
    }

    /// Writes a file beside the graph.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is made");
        std::fs::write(&path, bytes).expect("the file is written");
        path
    }

    /// A place in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where cooks write to.
    pub fn out(&self) -> PathBuf {
        self.path("out")
    }

    /// Folder for plugins, found through `MENISCUS_PLUGIN_PATH`.
    pub fn plugins(&self) -> PathBuf {
        let folder = self.path("plugins");
        std::fs::create_dir_all(&folder).expect("the folder is made");
        folder
    }

    /// `meniscus cook` on the graph, quietly.
    pub fn command(&self, extra: &[&str]) -> Command {
        let mut command = meniscus(&["cook", "--quiet"]);
        command.arg(self.path("shot.meniscus.json")).arg("--out").arg(self.out()).args(extra);
        command.env("MENISCUS_PLUGIN_PATH", self.plugins()).env("HOME", self.path("home"));
        command
    }

    /// A cook that must succeed.
    pub fn cook(&self, extra: &[&str]) {
        let output = self.command(extra).output().expect("meniscus starts");
        assert!(output.status.success(), "the cook failed: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A cook that must fail with one sentence and leave alone what lay in the output folder: the sentence.
    pub fn refused(&self, extra: &[&str]) -> String {
        let before = self.written();
        let output = self.command(extra).output().expect("meniscus starts");
        let sentence = one_sentence(&output);
        let after = self.written();
        for (name, bytes) in before {
            let now = after.iter().find(|(n, _)| *n == name);
            assert!(now.is_some_and(|(_, b)| *b == bytes), "{} was lost: {sentence}", name.display());
        }
        sentence
    }

    /// A cook that must fail with one sentence after it has written something: the sentence.
    pub fn refused_midway(&self) -> String {
        one_sentence(&self.command(&[]).output().expect("meniscus starts"))
    }

    /// The objects of `stats.jsonl`, one per substep.
    pub fn stats(&self) -> Vec<Value> {
        crate::stats(&self.out())
    }

    /// Every file of the output folder with its bytes; temporary ones must not be left behind.
    pub fn written(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let written = if self.out().is_dir() { files(&self.out(), &[]) } else { Vec::new() };
        let is_temporary = |p: &Path| p.extension().is_some_and(|e| e == "tmp" || e == "part");
        let left = written.iter().find(|(name, _)| is_temporary(name));
        assert!(left.is_none(), "{:?} was left behind", left.map(|(name, _)| name));
        written
    }
}

/// The one sentence a failed command says on standard error; fails the test when there is more, or none.
pub fn one_sentence(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    assert!(matches!(code, Some(1 | 2)), "exit code {code:?}: {text}");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let [line] = lines.as_slice() else { panic!("expected one sentence, found {}:\n{text}", lines.len()) };
    let sentence = line.strip_prefix("error: ").unwrap_or_else(|| panic!("no error: {line}"));
    for word in ["panicked", "RUST_BACKTRACE", "unwrap", "Err(", "Some("] {
        assert!(!sentence.contains(word), "this is no sentence for an artist: {sentence}");
    }
    sentence.to_owned()
}
