//! The command line.

mod args;
mod check;
mod cook;
mod cuda;
mod demo;
mod doctor;
mod inspect;
mod nodes;
mod progress;
mod signals;
mod units;

use clap::Parser;
use std::process::ExitCode;

/// Done.
const DONE: u8 = 0;
/// Something failed while cooking.
const FAILED: u8 = 1;
/// Bad usage or a bad graph.
const BAD_USAGE: u8 = 2;
/// Stopped by a signal; a checkpoint was written.
const INTERRUPTED: u8 = 130;

/// Runs the program.
pub fn run() -> ExitCode {
    crate::memory::keep_freed_memory();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(e) => {
            // Help and version go to standard output and are no failure.
            let code = if e.use_stderr() { BAD_USAGE } else { DONE };
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    crate::engine::crash::watch();
    signals::survive_file_limits();
    let code = match args.command {
        args::Command::Cook(a) => cook::run(&a),
        args::Command::Check(a) => check::run(&a),
        args::Command::Nodes(a) => nodes::run(&a),
        args::Command::Inspect(a) => inspect::run(&a),
        args::Command::Doctor => doctor::run(),
        args::Command::Demo(a) => demo::run(&a),
    };
    ExitCode::from(code)
}

/// Prints to standard output; a closed pipe is no failure.
fn say(text: &str) -> u8 {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
    DONE
}

/// Prints a line to standard error; a closed pipe is no failure.
fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints an error and gives its code.
fn fail(code: u8, error: &dyn std::fmt::Display) -> u8 {
    error.to_string().lines().for_each(|line| tell(&format!("error: {line}")));
    code
}
