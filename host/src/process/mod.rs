//! The process around a command: what runs in it now, and a parent that looks whether it came to its end.
//!
//! A plugin is code in our process: it may crash, call `exit`, or never return. So a command runs in a child, which
//! notes every call on a [`board`] that both processes see, and proves its end there. The parent turns a missing proof
//! into a sentence. Where there is no parent (another system than Linux) the command runs alone.
//!
//! There are three processes: the one that was started looks on and owns the terminal; a [`shield`] has only the next as
//! its child, and ends what that leaves behind; the third works. What plugins print comes to the first ([`overheard`]),
//! what this program says goes past that ([`voice`]).

pub(crate) mod board;
mod crash;
mod heap;
mod held;
#[cfg(target_os = "linux")]
mod news;
#[cfg(target_os = "linux")]
mod overheard;
#[cfg(target_os = "linux")]
pub(crate) mod shield;
mod supervise;
mod voice;

pub(crate) use heap::{end_for_want, trying};
pub(crate) use held::Held;
pub(crate) use supervise::{End, How, watched};
pub(crate) use voice::Voice;
