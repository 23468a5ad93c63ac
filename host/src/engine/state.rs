//! The whole simulated state at one moment.

use crate::data::{Data, Lifetime, Object};
use std::collections::BTreeMap;

/// The time that the cook has reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Frame that is being worked towards; if nothing is elapsed, the frame that is done.
    pub frame: i32,
    /// Substeps done of it.
    pub substep: u32,
    /// Seconds done of it.
    pub elapsed: f64,
    /// Length promised for the next substep, s: forces act until the middle of it. `None` before the first.
    pub promise: Option<f64>,
    /// Longest next substep that a node asked for, s.
    pub wish: Option<f64>,
}

impl Clock {
    /// A clock that stands at the end of a frame.
    pub fn at_frame(frame: i32) -> Self {
        Self { frame, substep: 0, elapsed: 0.0, promise: None, wish: None }
    }
}

/// Whose data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// The object made by that node.
    Object(usize),
    /// That node itself.
    Node(usize),
}

/// Named data of an object or a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// Whose.
    pub holder: Holder,
    /// Port name.
    pub port: String,
}

/// All simulated state. Cloning is cheap: arrays are shared until written.
#[derive(Clone, Debug)]
pub struct State {
    /// The time that the cook has reached.
    pub clock: Clock,
    /// Data by holder; objects are here from their first frame to their last.
    pub holders: BTreeMap<Holder, Object>,
}

impl State {
    /// Nothing yet.
    pub fn new(frame: i32) -> Self {
        Self { clock: Clock::at_frame(frame), holders: BTreeMap::new() }
    }

    /// The data at a slot.
    pub fn get(&self, slot: &Slot) -> Option<&Data> {
        self.holders.get(&slot.holder)?.ports.get(&slot.port).map(|p| &p.data)
    }

    /// Time, s, over which forces and pressures act on an object in a substep: from the time that its velocities belong
    /// to, to the middle of the next substep. This is a leapfrog scheme: an object's velocities belong to the middle of
    /// the substep in which they will move it (for a new object, to its first moment). So a step length that follows the
    /// speed adds no energy.
    pub fn kick(&self, object: Holder, dt: f64, dt_next: f64) -> Option<f64> {
        let Holder::Object(_) = object else { return None };
        Some(dt + 0.5 * dt_next - self.holders.get(&object)?.lead)
    }

    /// Drops the scratch of the last substep.
    pub fn drop_scratch(&mut self) {
        for object in self.holders.values_mut() {
            object.ports.retain(|_, p| p.lifetime == Lifetime::State);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.holders.values().map(Object::bytes).sum()
    }
}
