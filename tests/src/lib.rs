//! The harness of the whole-program tests: cooks graphs with the real binary and the real plugin.

pub mod c;
pub mod points;
pub mod random;
pub mod shot;
pub mod surface;
pub mod usd;
pub mod wheel;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the checkout.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The built `meniscus` binary; the plugin's shared library stands beside it.
///
/// Cargo hands a test the binaries of its own package only, so the first caller asks cargo for them, in the
/// profile this test was built with. It names an example too, because cargo then chooses features as for
/// `cargo test --workspace`, which has built everything by now: nothing is compiled a second time.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let folder = std::env::current_exe().expect("a test has a path");
        let folder = folder.ancestors().nth(2).expect("tests run from <target>/<profile>/deps").to_owned();
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(root()).args(["build", "--quiet", "--workspace"]);
        build.args(["--lib", "--bins", "--example", "ptx"]);
        build.arg("--target-dir").arg(folder.parent().expect("the profile's folder has a parent"));
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(
            build.status().expect("cargo starts").success(),
            "cargo could not build the host and the plugin"
        );
        folder.join("meniscus")
    })
}

/// `meniscus ARGS…`, with nothing inherited that could change what is loaded, and a cache folder of the tests' own: what they
/// cook teaches the user's `check` nothing.
pub fn meniscus(args: &[&str]) -> Command {
    let binary = binary();
    let mut command = Command::new(binary);
    command.args(args).env_remove("MENISCUS_PLUGIN_PATH");
    command.env("XDG_CACHE_HOME", binary.with_file_name("cache_of_tests"));
    command
}

/// A finished cook: what it printed, and where its files are.
pub struct Cooked {
    /// The folder given as `--out`.
    pub out: PathBuf,
    /// Exit code, standard output, standard error.
    pub output: Output,
    _folder: tempfile::TempDir,
}

/// Writes `graph` to a file of its own and cooks it with `extra` arguments.
pub fn try_cook(graph: &Value, extra: &[&str]) -> Cooked {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("shot.meniscus.json");
    std::fs::write(&file, graph.to_string()).expect("the graph is written");
    let out = folder.path().join("out");
    let (file, out_arg) = (file.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let output = meniscus(&["cook", &file, "--out", &out_arg]).args(extra).output().expect("meniscus starts");
    Cooked { out, output, _folder: folder }
}

/// Cooks a graph of `examples/`, failing the test with the program's own words when the cook fails.
pub fn cook_example(graph: &str, extra: &[&str]) -> Cooked {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, out) = (root().join("examples").join(graph), folder.path().join("out"));
    let (file, out_arg) = (file.to_string_lossy(), out.to_string_lossy().into_owned());
    let output = meniscus(&["cook", &file, "--out", &out_arg]).args(extra).output().expect("meniscus starts");
    let cooked = Cooked { out, output, _folder: folder };
    assert!(cooked.output.status.success(), "the cook failed: {}", cooked.stderr());
    cooked
}

/// [`try_cook`], failing the test with the program's own words when the cook fails.
pub fn cook(graph: &Value, extra: &[&str]) -> Cooked {
    let cooked = try_cook(graph, extra);
    assert!(cooked.output.status.success(), "the cook failed: {}", cooked.stderr());
    cooked
}

impl Cooked {
    /// The objects of `stats.jsonl`, one per substep.
    pub fn stats(&self) -> Vec<Value> {
        stats(&self.out)
    }

    /// What the cook printed on standard error.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

/// The objects of a cook's `stats.jsonl`, one per substep.
fn stats(out: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(out.join("stats.jsonl")).expect("a cook writes stats.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is one JSON object")).collect()
}

/// Every file below `folder` with its bytes, by relative path, sorted; what `skip` names is left out.
pub fn files(folder: &Path, skip: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            let relative = path.strip_prefix(folder).expect("below the folder").to_owned();
            if skip.iter().any(|s| relative.starts_with(s)) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((relative, std::fs::read(&path).expect("the file can be read")));
            }
        }
    }
    found.sort();
    found
}

/// Fails with the name of the first file that differs between two folders of caches.
pub fn assert_same_files(a: &Path, b: &Path, skip: &[&str]) {
    let (a, b) = (files(a, skip), files(b, skip));
    let names = |f: &[(PathBuf, Vec<u8>)]| f.iter().map(|(p, _)| p.clone()).collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b), "the two folders hold different files");
    assert!(!a.is_empty(), "there is nothing to compare");
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        assert!(a == b, "{} differs", name.display());
    }
}
