//! The times of a substep.

/// Lengths of time, s; see `fluid::step::Step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// Of the substep.
    pub drift: f64,
    /// From the middle of this substep to the middle of the next.
    pub kick: f64,
    /// Of the next substep.
    pub next: f64,
}
