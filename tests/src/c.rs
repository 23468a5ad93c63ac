//! Building C against the header: plugins, hosts, probes, with every warning an error.

use crate::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What every C file of this project must pass.
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The C compiler with the header's folder, the standard and the warnings.
pub fn c99() -> Command {
    compiler("CC", "cc", "-std=c99")
}

/// The C++ compiler, likewise.
pub fn cxx17() -> Command {
    compiler("CXX", "c++", "-std=c++17")
}

fn compiler(variable: &str, default: &str, standard: &str) -> Command {
    let mut command = Command::new(std::env::var(variable).unwrap_or_else(|_| default.into()));
    command.arg(standard).args(WARNINGS).arg("-I").arg(root().join("plugin/include"));
    command
}

/// Runs a compiler; its words are the failure's.
pub fn compile(command: &mut Command) {
    let output = command.output().expect("a C compiler is installed");
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Builds a C plugin into `folder` with `-D` defines; hidden symbols but for the one.
pub fn plugin(source: &str, defines: &[&str], folder: &Path) -> PathBuf {
    let source = root().join(source);
    let stem = source.file_stem().expect("a C file has a name").to_string_lossy().into_owned();
    let library = folder.join(format!("lib{stem}{}.so", defines.join("_").to_lowercase()));
    let mut command = c99();
    command.args(["-O2", "-ffp-contract=off", "-fvisibility=hidden", "-shared", "-fPIC"]);
    command.args(defines.iter().map(|d| format!("-D{d}")));
    compile(command.arg(&source).arg("-o").arg(&library).arg("-lm"));
    library
}

/// Builds and runs a C program; its output.
pub fn run(source: &Path, arguments: &[&Path], folder: &Path) -> Output {
    let program = folder.join(source.file_stem().expect("a C file has a name"));
    compile(c99().arg("-O1").arg("-g").arg(source).arg("-o").arg(&program).args(["-ldl", "-lm"]));
    Command::new(&program).args(arguments).output().expect("the program starts")
}

/// Our own plugin's shared library, in the profile this test was built with.
pub fn our_plugin() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| super::binary().with_file_name("libmeniscus_plugin.so"))
}
