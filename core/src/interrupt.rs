//! Long loops ask whether to go on.

/// Whom long loops ask, from any thread, whether someone wants them to stop. One that said yes says yes from then on.
///
/// A loop that is told to stop leaves what it makes half done; whoever called it asks again and drops it.
#[derive(Clone, Copy)]
pub struct Interrupt<'a>(&'a (dyn Fn() -> bool + Sync));

/// Someone asked for an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was asked to stop")]
pub struct Interrupted;

impl<'a> Interrupt<'a> {
    /// Nobody ever asks for an end.
    pub const NEVER: Interrupt<'static> = Interrupt(&|| false);

    /// Asks `asked`: true once someone wants an end, and from then on.
    pub fn new(asked: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(asked)
    }

    /// Whether to stop.
    pub fn asked(&self) -> bool {
        (self.0)()
    }

    /// An error where someone asked for an end.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.asked() { Err(Interrupted) } else { Ok(()) }
    }
}

impl std::fmt::Debug for Interrupt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Interrupt")
    }
}
