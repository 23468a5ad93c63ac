//! The bubbles' state, handed from one substep to the next. It is stored with the liquid.

use crate::grid::Grid;

/// The id of all air that reaches the outside; enclosed bubbles count from 1.
pub const OUTSIDE: i32 = 0;

/// The bubbles of a substep.
#[derive(Clone, Debug)]
pub struct BubbleMemory {
    /// Per cell the id of its air; [`LABEL_SOLID`](super::air::regions::LABEL_SOLID) in a solid, −2 − k in the connected
    /// liquid component k.
    pub cells: Grid<i32>,
    /// The enclosed bubbles, by ascending id.
    pub bubbles: Vec<Remembered>,
    /// The id the next new bubble gets.
    pub next_id: i32,
}

/// A bubble of the substep before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remembered {
    /// Its id, from 1.
    pub id: i32,
    /// The volume it had, m³.
    pub volume: f64,
    /// Its volume and the integral of its error.
    pub book: AirBook,
}

/// The volume a bubble should have, and the time integral of its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AirBook {
    /// The volume it should have, m³.
    pub rest: f64,
    /// ∫ (V₀ − V) dt, m³ s.
    pub drift: f64,
}

impl AirBook {
    pub(super) fn take(&mut self, other: &Self, share: f64) {
        self.rest += share * other.rest;
        self.drift += share * other.drift;
    }
}
