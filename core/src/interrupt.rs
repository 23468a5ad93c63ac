//! Cancellation: long loops ask whether to go on.

/// A question that long loops ask, from any thread: does the user want to stop? Once the answer was yes, it stays yes.
///
/// A loop that stops leaves its result unfinished; its caller asks again and drops the result.
#[derive(Clone, Copy)]
pub struct Interrupt<'a>(&'a (dyn Fn() -> bool + Sync));

/// The user cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was asked to stop")]
pub struct Interrupted;

impl<'a> Interrupt<'a> {
    /// Never cancelled.
    pub const NEVER: Interrupt<'static> = Interrupt(&|| false);

    /// Cancelled once `asked` returns true, and from then on.
    pub fn new(asked: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(asked)
    }

    /// Whether to stop.
    pub fn asked(&self) -> bool {
        (self.0)()
    }

    /// An error if the user cancelled.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.asked() { Err(Interrupted) } else { Ok(()) }
    }
}

impl std::fmt::Debug for Interrupt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Interrupt")
    }
}
