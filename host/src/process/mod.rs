//! The process around a command: what runs in it now, and a parent that looks whether it came to its end.
//!
//! A plugin is code in our process: it may crash, call `exit`, or never return. So a command runs in a child, which
//! notes every call on a [`board`] that both processes see, and proves its end there. The parent turns a missing proof
//! into a sentence. Where there is no parent (another system than Linux) the command runs alone.

pub(crate) mod board;
mod crash;
mod heap;
#[cfg(target_os = "linux")]
mod news;
mod supervise;

pub(crate) use heap::{end_for_want, trying};
pub(crate) use supervise::{End, How, watched};
