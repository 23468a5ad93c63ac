//! Errors of the binding, as sentences.

use crate::ffi::MvError;
use std::ffi::c_int;
use std::path::PathBuf;

/// A failure of the VDB binding; its text is one sentence fit for a user.
#[derive(Debug)]
pub enum Error {
    /// The file cannot be opened or read.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a VDB file, is damaged, or ends too early.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What OpenVDB said.
        reason: String,
    },
    /// The given data makes no grid.
    Input(String),
    /// OpenVDB failed.
    OpenVdb(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::Damaged { path, reason } => {
                write!(f, "{} is not a complete VDB file: {reason}", path.display())
            }
            Self::Input(text) | Self::OpenVdb(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Runs a shim entry and turns its error text into `Err`.
pub(crate) fn checked(call: impl FnOnce(*mut MvError) -> c_int) -> Result<(), String> {
    let mut error = MvError { text: [0; 512] };
    if call(&mut error) == 0 {
        return Ok(());
    }
    let bytes: Vec<u8> = error.text.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    Err(String::from_utf8_lossy(&bytes).into_owned())
}
