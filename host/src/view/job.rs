//! A cook begun from the page: this program once more, in a process group of its own.

use crate::process::{ask_to_end, limits::no_thread_because, own_file};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Last lines of its messages that are kept, and letters of each.
const LINES: usize = 40;
const LETTERS: usize = 600;
/// Time between two looks whether it has ended.
const LOOKS: Duration = Duration::from_millis(50);

/// The process and what it said.
#[derive(Debug)]
pub struct Job {
    child: Mutex<Child>,
    said: Arc<Mutex<VecDeque<String>>>,
}

impl Job {
    /// Begins it with these arguments; the error is one sentence. Where it ends without a file in its folder, that goes, too.
    pub fn begin(args: &[OsString], folder: &Path) -> Result<Self, String> {
        let cannot = |e| no_thread_because("begin a cook", &e);
        let mut command = Command::new(own_file().map_err(cannot)?);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Ctrl-C in the terminal is for the page's server, which then asks this one to save.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(cannot)?;
        let said = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(errors) = child.stderr.take() {
            let said = said.clone();
            let folder = folder.to_owned();
            let listen = move || {
                listen(errors, &said);
                // Only an empty one can be removed.
                let _ = std::fs::remove_dir(folder);
            };
            if let Err(e) = std::thread::Builder::new().name("view listens".into()).spawn(listen) {
                // It may have ended already.
                let _ = child.kill();
                let _ = child.wait();
                return Err(cannot(e));
            }
        }
        Ok(Self { child: Mutex::new(child), said })
    }

    /// How it ended, if it did.
    pub fn ended(&self) -> Option<ExitStatus> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
    }

    /// Its messages, the last ones.
    pub fn said(&self) -> Vec<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Asks it to save and end.
    pub fn stop(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(child.try_wait(), Ok(None)) {
            ask_to_end(&child);
        }
    }

    /// Waits for its end.
    pub fn wait(&self) {
        while self.ended().is_none() {
            std::thread::sleep(LOOKS);
        }
    }
}

fn listen(errors: impl Read, said: &Mutex<VecDeque<String>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    // A line without an end is cut into several.
    while (&mut errors).take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = crate::text::one_line(String::from_utf8_lossy(&line).trim_end(), LETTERS);
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_back(text);
        if said.len() > LINES {
            said.pop_front();
        }
        drop(said);
        line.clear();
    }
}
