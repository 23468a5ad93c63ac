//! Filters what plugins print: in the working process, descriptors 1 and 2 are a pipe to the watching process, which
//! passes readable text on to the terminal.

use super::board::board;
use crate::text::{SENTENCE, one_line};
use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Largest number of lines that are passed on, per call and in all.
const LINES_A_CALL: u32 = 20;
const LINES: u32 = 500;
/// Bytes of a line that are kept: as many as the shown letters may take.
const BYTES: usize = 4 * SENTENCE + 4;
/// Most bytes that are read after the process has ended: more than a pipe holds.
const AFTERWARDS: usize = 1 << 21;

/// Listens to what plugins print.
pub(super) struct Overheard {
    /// Dropped when there will be nothing more.
    over: PipeWriter,
    done: Receiver<()>,
}

impl Overheard {
    /// Starts listening; returns the end of the pipe that plugins print to.
    pub(super) fn listen(tell: fn(&str)) -> std::io::Result<(Self, PipeWriter)> {
        let (ear, mouth) = pipe()?;
        let (ends, over) = pipe()?;
        let (say_done, done) = channel();
        let work = move || {
            listen(ear, &ends, tell);
            // The receiver may be gone.
            let _ = say_done.send(());
        };
        std::thread::Builder::new().name("overheard".into()).spawn(work)?;
        Ok((Self { over, done }, mouth))
    }

    /// Passes on what is left in the pipe, within a time limit, because a terminal may be stopped.
    pub(super) fn finish(self, most: Duration) {
        drop(self.over);
        // What is not taken by then is lost.
        let _ = self.done.recv_timeout(most);
    }
}

fn listen(mut ear: PipeReader, ends: &PipeReader, tell: fn(&str)) {
    let (mut lines, mut bytes, mut afterwards) = (Lines::new(tell, || board().calls()), vec![0; 1 << 16], 0);
    while afterwards < AFTERWARDS {
        let wait = |number| libc::pollfd { fd: number, events: libc::POLLIN, revents: 0 };
        let mut both = [wait(ear.as_raw_fd()), wait(ends.as_raw_fd())];
        // SAFETY: two descriptors of ours.
        unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        let [heard, over] = both.map(|p| p.revents != 0);
        if heard {
            match ear.read(&mut bytes) {
                Ok(n @ 1..) => {
                    lines.hear(&bytes[..n]);
                    afterwards += if over { n } else { 0 };
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                _ => break,
            }
        } else if over {
            break;
        }
    }
    lines.finish();
}

/// Lines as they come together.
struct Lines<F> {
    tell: F,
    /// Number of the call under way.
    calls: fn() -> u64,
    line: Vec<u8>,
    /// The call that lines were printed in last, and how many.
    call: (u64, u32),
    told: u32,
    left_out: u64,
}

impl<F: Fn(&str)> Lines<F> {
    fn new(tell: F, calls: fn() -> u64) -> Self {
        Self { tell, calls, line: Vec::new(), call: (0, 0), told: 0, left_out: 0 }
    }

    fn hear(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' | b'\r' => self.end_line(),
                _ if self.line.len() < BYTES => self.line.push(byte),
                _ => {}
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let call = (self.calls)();
        if call != self.call.0 {
            self.call = (call, 0);
        }
        if self.call.1 >= LINES_A_CALL || self.told >= LINES {
            self.left_out += 1;
            return;
        }
        self.call.1 += 1;
        self.told += 1;
        (self.tell)(&format!("plugin says: {}", one_line(&String::from_utf8_lossy(&line), SENTENCE)));
    }

    fn finish(&mut self) {
        self.end_line();
        match self.left_out {
            0 => {}
            1 => (self.tell)("warning: a plugin printed one more line, which is left out"),
            n => (self.tell)(&format!("warning: plugins printed {n} more lines, which are left out")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn lines_are_passed_on_as_text_and_not_for_ever() {
        let told = RefCell::new(Vec::new());
        let mut lines = Lines::new(|line: &str| told.borrow_mut().push(line.to_owned()), || 7);
        lines.hear(b"one\n\n  \ntw");
        lines.hear(b"o\x1b[2J\r\xff");
        lines.hear(&[b'x'; 5000]);
        lines.finish();
        let end = told.borrow_mut().pop().unwrap();
        assert!(end.starts_with("plugin says: \u{fffd}xxx") && end.ends_with("x…"), "{end}");
        assert_eq!(end.chars().count(), "plugin says: ".len() + SENTENCE + 1);
        assert_eq!(told.borrow().as_slice(), ["plugin says: one", "plugin says: two\u{fffd}[2J"]);
        told.borrow_mut().clear();
        for _ in 0..1000 {
            lines.hear(b"flood\n");
        }
        lines.finish();
        let told = told.borrow();
        assert_eq!(told.len(), LINES_A_CALL as usize - 3 + 1);
        let left_out = 1000 - told.len() + 1;
        let sentence = format!("warning: plugins printed {left_out} more lines, which are left out");
        assert_eq!(told.last(), Some(&sentence));
    }
}
