//! Arrays that stay on a device between calls: sent if the device does not hold the same bytes yet, fetched when the
//! host asks.

use super::bytes::Plain;
use super::device::{Device, Failure, Slot};

/// Says which bytes an array holds, as a host's value ids do: equal stamps, equal bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// No stamp: the array counts as different from all others.
    pub const NONE: Self = Self(0);

    /// The stamp of a host's value id; 0 is none.
    pub const fn of(value_id: u64) -> Self {
        Self(value_id)
    }
}

/// An array of the host and which bytes it holds.
#[derive(Debug)]
pub struct Stamped<'a, T> {
    /// The bytes' stamp.
    pub stamp: Stamp,
    /// The array.
    pub values: &'a [T],
}

impl<T> Clone for Stamped<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stamped<'_, T> {}

impl<'a, T> Stamped<'a, T> {
    /// An array with a stamp.
    pub fn new(stamp: Stamp, values: &'a [T]) -> Self {
        Self { stamp, values }
    }

    /// An array without a stamp: sent whenever it is needed.
    pub fn unknown(values: &'a [T]) -> Self {
        Self { stamp: Stamp::NONE, values }
    }
}

/// Bytes that went between host and device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To the device.
    pub sent: usize,
    /// From the device.
    pub fetched: usize,
}

/// A device and the bytes transferred.
pub struct Link<D: Device> {
    /// The device.
    pub device: D,
    /// Since the beginning.
    pub traffic: Traffic,
}

/// The copy of an array on a device. The host's array and the device's are both valid while they have the same stamp.
/// After a kernel has written, only the device's is valid, until it is fetched.
pub struct Mirror<D: Device> {
    slot: Slot<D>,
    /// Stamp and bytes of what the device holds; `None` if it holds nothing valid.
    held: Option<(Stamp, usize)>,
}

impl<D: Device> Default for Mirror<D> {
    fn default() -> Self {
        Self { slot: Slot::default(), held: None }
    }
}

impl<D: Device> Mirror<D> {
    /// Whether the device holds these bytes.
    pub fn holds<T>(&self, array: Stamped<T>) -> bool {
        array.stamp != Stamp::NONE && self.held == Some((array.stamp, size_of_val(array.values)))
    }

    /// The host's array on the device, sent if it is not there; returns its address.
    pub fn bring<T: Plain>(&mut self, link: &mut Link<D>, array: Stamped<T>) -> Result<u64, Failure> {
        if !self.holds(array) {
            self.held = None;
            self.make_room(link, size_of_val(array.values))?;
            self.slot.fill(&mut link.device, array.values)?;
            link.traffic.sent += size_of_val(array.values);
            self.held = Some((array.stamp, size_of_val(array.values)));
        }
        Ok(self.slot.address())
    }

    /// Room for so many values that a kernel will write; the device's copy is invalid until [`Self::written`].
    pub fn room<T: Plain>(&mut self, link: &mut Link<D>, count: usize) -> Result<u64, Failure> {
        self.held = None;
        self.make_room(link, count * size_of::<T>())?;
        Ok(self.slot.address())
    }

    /// Records that a kernel has written so many values, and gives them this stamp.
    pub fn written<T: Plain>(&mut self, count: usize, stamp: Stamp) {
        self.held = Some((stamp, count * size_of::<T>()));
    }

    /// Copies what the device holds to the host, which then has it as well.
    pub fn fetch<T: Plain>(&self, link: &mut Link<D>, values: &mut [T]) -> Result<(), Failure> {
        let bytes = size_of_val(values);
        match self.held {
            Some((_, held)) if held == bytes => {
                self.slot.read(&mut link.device, 0, values)?;
                link.traffic.fetched += bytes;
                Ok(())
            }
            _ => Err(Failure(format!("the device does not hold the {bytes} bytes asked for"))),
        }
    }

    /// Waits until all that was asked of the device before is done.
    pub fn wait(&self, link: &mut Link<D>) -> Result<(), Failure> {
        self.slot.read(&mut link.device, 0, &mut [0u8])
    }

    /// The number of particles varies: an array that grows gets an eighth more than it needs.
    fn make_room(&mut self, link: &mut Link<D>, bytes: usize) -> Result<(), Failure> {
        let had = self.slot.bytes();
        let wanted = if had > 0 && had < bytes { bytes + bytes / 8 } else { bytes };
        self.slot.reserve(&mut link.device, wanted).map(|_| ())
    }
}
