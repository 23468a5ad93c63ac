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
    /// The volume it should have, and its history.
    pub book: AirBook,
}

/// The volume a bubble should have, the time integral of its error, and the state of its gas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AirBook {
    /// The volume it should have, m³.
    pub rest: f64,
    /// ∫ (V₀ − V) dt, m³ s.
    pub drift: f64,
    /// The volume it would have at the pressure of open air, m³.
    pub gas: f64,
    /// What its gas made it grow in the last drift, m³.
    pub last: f64,
}

impl AirBook {
    /// Of air that is at the pressure of open air.
    pub fn new(volume: f64) -> Self {
        Self { rest: volume, gas: volume, ..Self::default() }
    }

    pub(super) fn take(&mut self, other: &Self, share: f64) {
        self.rest += share * other.rest;
        self.drift += share * other.drift;
        self.gas += share * other.gas;
        self.last += share * other.last;
    }
}
