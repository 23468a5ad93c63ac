//! The command line.

mod aftermath;
mod args;
mod check;
mod cook;
mod demo;
mod doctor;
mod inspect;
mod job;
mod learning;
mod new;
mod nodes;
mod progress;
mod screen;
mod signals;
mod units;
mod vary;
mod view;
mod wedge;

#[cfg(target_os = "linux")]
pub use crate::process::before_libraries;

use crate::process::Stream;
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

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
            if e.use_stderr() {
                let _ = e.print();
                return ExitCode::from(BAD_USAGE);
            }
            let text = e.render();
            let text = if Stream::Out.is_terminal() { text.ansi().to_string() } else { text.to_string() };
            return ExitCode::from(printed(Stream::Out.write_all(text.as_bytes())));
        }
    };
    signals::survive_file_limits();
    let command = args.command;
    let work = || {
        let code = match &command {
            args::Command::Cook(a) => cook::run(a),
            args::Command::Wedge(a) => wedge::run(a),
            args::Command::Job(a) => job::run(a),
            args::Command::Check(a) => check::run(a),
            args::Command::Nodes(a) => nodes::run(a),
            args::Command::Inspect(a) => inspect::run(a),
            args::Command::Doctor => doctor::run(),
            args::Command::Demo(a) => demo::run(a),
            args::Command::NewShot(a) => new::shot(a),
            args::Command::NewPlugin(a) => new::plugin(a),
            args::Command::View(a) => view::run(a),
            args::Command::ViewShapes(a) => view::shapes(a),
            args::Command::ScanPlugin(a) => crate::loader::scan_here(&a.file),
        };
        // Printed here, in the process that knows about the failure.
        if code == DONE && LOST.load(Ordering::Relaxed) { FAILED } else { code }
    };
    // These already run in a child process, so they may crash.
    let code = match &command {
        args::Command::ScanPlugin(_) | args::Command::ViewShapes(_) => work(),
        _ => crate::process::watched(tell_beside, |end| aftermath::explain(end, &command), work),
    };
    ExitCode::from(code)
}

/// Standard output did not take some text.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints to standard output and returns the exit code. A closed pipe is no failure; any other lost output makes the
/// command fail.
fn say(text: &str) -> u8 {
    printed(Stream::Out.write_all(crate::text::tame(text).as_bytes()))
}

/// The exit code after writing to standard output.
fn printed(written: std::io::Result<()>) -> u8 {
    match written.and_then(|()| Stream::Out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            if !LOST.swap(true, Ordering::Relaxed) {
                tell(&format!("error: cannot write to standard output: {e}"));
            }
            FAILED
        }
        _ => DONE,
    }
}

/// Prints a line to standard error; a closed pipe is no failure.
fn tell(line: &str) {
    // At once: another thread may speak, too.
    let _ = Stream::Err.write_all(format!("{}\n", crate::text::tame(line)).as_bytes());
}

/// Prints a line while another process may be drawing a progress line.
fn tell_beside(line: &str) {
    let clear = if screen::Screen::is_there() { "\r\x1b[K" } else { "" };
    let _ = Stream::Err.write_all(format!("{clear}{}\n", crate::text::tame(line)).as_bytes());
}

/// Prints an error, one sentence per line, and returns its exit code.
fn fail(code: u8, error: &dyn std::fmt::Display) -> u8 {
    error.to_string().lines().for_each(|line| tell(&format!("error: {line}")));
    code
}
