//! How a stage ends other than well.

use crate::Status;

/// Why a call failed, for the artist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What the call returns, < 0.
    pub status: Status,
    /// Entry of the descriptor's ports, where one is to blame.
    pub port: Option<u32>,
    /// One sentence; empty where the host has already given its own.
    pub sentence: String,
}

impl Failure {
    /// A failure no port is to blame for.
    pub fn new(status: Status, sentence: impl Into<String>) -> Self {
        Self { status, port: None, sentence: sentence.into() }
    }

    /// Data at a port that cannot be used.
    pub fn input(port: u32, sentence: impl Into<String>) -> Self {
        Self { status: Status::BAD_INPUT, port: Some(port), sentence: sentence.into() }
    }

    /// A parameter's value that cannot be used.
    pub fn parameter(sentence: impl Into<String>) -> Self {
        Self::new(Status::BAD_PARAMETER, sentence)
    }

    /// NaN or infinity at a port.
    pub fn not_finite(port: u32, sentence: impl Into<String>) -> Self {
        Self { status: Status::NOT_FINITE, port: Some(port), sentence: sentence.into() }
    }

    /// Not a failure: the call stops because `progress` asked for it.
    pub fn cancelled() -> Self {
        Self::new(Status::CANCELLED, "")
    }

    /// A host that broke the contract.
    pub fn host(port: u32, sentence: impl Into<String>) -> Self {
        Self { status: Status::BAD_ARGUMENT, port: Some(port), sentence: sentence.into() }
    }
}

/// How a stage ends where it did not fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Stopped because `progress` asked for it.
    Cancelled,
    /// A solver stopped short; what was written stands. One sentence: what it reached.
    NotConverged(String),
    /// The dt was too long; this one would do, s.
    RejectDt(f64),
}
