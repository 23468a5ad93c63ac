//! Memory of a device that is requested anew every solve.

use super::bytes::Plain;
use super::device::{Device, Failure, Slot};
use super::layout::RowLists;
use super::pages::Pages;
use crate::checkerboard::Field;

/// Arrays in the order in which they are requested; requests in the same order get the same memory again.
pub struct Arena<D: Device> {
    slots: Vec<Slot<D>>,
    next: usize,
}

impl<D: Device> Default for Arena<D> {
    fn default() -> Self {
        Self { slots: Vec::new(), next: 0 }
    }
}

impl<D: Device> Arena<D> {
    /// Starts a new round of requests.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    pub fn next(&mut self) -> &mut Slot<D> {
        if self.next == self.slots.len() {
            self.slots.push(Slot::default());
        }
        self.next += 1;
        &mut self.slots[self.next - 1]
    }

    /// Copies these values.
    pub fn fill<T: Plain>(&mut self, device: &mut D, values: &[T]) -> Result<u64, Failure> {
        self.next().fill(device, values)
    }

    /// Copies a field, one colour after the other.
    pub fn field<T: Plain>(&mut self, device: &mut D, field: &Field<T>) -> Result<u64, Failure> {
        self.next().join(device, &[&field[0], &field[1]])
    }

    /// Makes zeros.
    pub fn zeros<T: Plain>(&mut self, device: &mut D, count: usize) -> Result<u64, Failure> {
        self.next().zeros::<T>(device, count)
    }

    pub fn pages<E: Plain>(&mut self, device: &mut D, pages: &Pages<E>) -> Result<RowLists, Failure> {
        let page = self.fill(device, &pages.page)?;
        let first = self.fill(device, &pages.first)?;
        let entries = self.fill(device, &pages.entries)?;
        Ok(RowLists { page: if pages.page.is_empty() { 0 } else { page }, first, entries })
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.slots.iter().map(Slot::bytes).sum()
    }
}

/// The start of each of some consecutive lists, and the end of the last.
pub fn starts(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut end = 0;
    let ends = lengths.map(|n| {
        end += n as u32;
        end
    });
    std::iter::once(0).chain(ends).collect()
}
