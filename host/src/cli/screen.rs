//! The terminal that the progress line is drawn on.

use crate::process::Stream;
use indicatif::TermLike;
use std::fmt::Write as _;
use std::io::{Result, Write};
use std::sync::{Mutex, PoisonError};

/// Letters in a line if the terminal does not say.
const WIDTH: u16 = 80;

/// Standard error; written when a drawing is complete.
#[derive(Debug, Default)]
pub(super) struct Screen(Mutex<String>);

impl Screen {
    /// True on a terminal that can move its cursor.
    pub(super) fn is_there() -> bool {
        Stream::Err.is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
    }

    fn add(&self, text: std::fmt::Arguments) -> Result<()> {
        // Writing into a String cannot fail.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_fmt(text);
        Ok(())
    }

    fn moved(&self, n: usize, letter: char) -> Result<()> {
        if n > 0 { self.add(format_args!("\x1b[{n}{letter}")) } else { Ok(()) }
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        Stream::Err.width().unwrap_or(WIDTH)
    }

    fn move_cursor_up(&self, n: usize) -> Result<()> {
        self.moved(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> Result<()> {
        self.moved(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> Result<()> {
        self.moved(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> Result<()> {
        self.moved(n, 'D')
    }

    fn write_line(&self, s: &str) -> Result<()> {
        self.add(format_args!("{s}\n"))
    }

    fn write_str(&self, s: &str) -> Result<()> {
        self.add(format_args!("{s}"))
    }

    fn clear_line(&self) -> Result<()> {
        self.add(format_args!("\r\x1b[2K"))
    }

    fn flush(&self) -> Result<()> {
        let drawn = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Stream::Err.write_all(drawn.as_bytes())
    }
}
