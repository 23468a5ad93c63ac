//! The interface of a device: memory, copies, and programs of launches. A GPU and its emulation on the processor
//! implement it, so the same driver code runs on both.

use super::bytes::{Plain, bytes_of, bytes_of_mut};
use super::launch::Program;

/// Why a device call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// A device. It does everything in the order of the calls.
pub trait Device: Send {
    /// Memory of the device; freed when dropped.
    type Memory: Send;

    /// Its name.
    fn describe(&self) -> String;

    /// Zeroed memory; at least one byte.
    fn allocate(&mut self, bytes: usize) -> Result<Self::Memory, Failure>;

    /// Its start address, as kernels see it.
    fn address(memory: &Self::Memory) -> u64;

    /// Copies bytes to `at`.
    fn upload(&mut self, memory: &mut Self::Memory, at: usize, bytes: &[u8]) -> Result<(), Failure>;

    /// Zeroes the first bytes.
    fn clear(&mut self, memory: &mut Self::Memory, bytes: usize) -> Result<(), Failure>;

    /// Copies bytes from `at`, after everything asked before is done.
    fn download(&mut self, memory: &Self::Memory, at: usize, bytes: &mut [u8]) -> Result<(), Failure>;

    /// Launches a program so many times, one after the other, without waiting for the end.
    ///
    /// # Safety
    /// The addresses among the arguments must belong to living memory of this device for as long as the kernels need
    /// it.
    unsafe fn run(&mut self, program: &Program, times: usize) -> Result<(), Failure>;
}

/// An array on a device; its memory is kept from one solve to the next and grows when it must.
pub struct Slot<D: Device> {
    memory: Option<D::Memory>,
    capacity: usize,
}

impl<D: Device> Default for Slot<D> {
    fn default() -> Self {
        Self { memory: None, capacity: 0 }
    }
}

impl<D: Device> Slot<D> {
    /// Makes room; the contents are undefined.
    pub fn reserve(&mut self, device: &mut D, bytes: usize) -> Result<&mut D::Memory, Failure> {
        let bytes = bytes.max(16);
        if self.capacity < bytes {
            self.memory = None;
            self.capacity = 0;
        }
        match &mut self.memory {
            Some(memory) => Ok(memory),
            empty => {
                let memory = empty.insert(device.allocate(bytes)?);
                self.capacity = bytes;
                Ok(memory)
            }
        }
    }

    /// Copies these values to the device; returns their address.
    pub fn fill<T: Plain>(&mut self, device: &mut D, values: &[T]) -> Result<u64, Failure> {
        self.join(device, &[values])
    }

    /// Copies these values one after the other to the device; returns their address.
    pub fn join<T: Plain>(&mut self, device: &mut D, parts: &[&[T]]) -> Result<u64, Failure> {
        let memory = self.reserve(device, parts.iter().map(|p| size_of_val(*p)).sum())?;
        let mut at = 0;
        for part in parts.iter().filter(|p| !p.is_empty()) {
            device.upload(memory, at, bytes_of(part))?;
            at += size_of_val(*part);
        }
        Ok(D::address(memory))
    }

    /// Fills the array with zeros; returns their address.
    pub fn zeros<T: Plain>(&mut self, device: &mut D, count: usize) -> Result<u64, Failure> {
        let bytes = count * size_of::<T>();
        let memory = self.reserve(device, bytes)?;
        device.clear(memory, bytes)?;
        Ok(D::address(memory))
    }

    /// Reads values that begin at the `skip`th.
    pub fn read<T: Plain>(&self, device: &mut D, skip: usize, values: &mut [T]) -> Result<(), Failure> {
        match &self.memory {
            Some(memory) if !values.is_empty() => {
                device.download(memory, skip * size_of::<T>(), bytes_of_mut(values))
            }
            _ => Ok(()),
        }
    }

    /// Its address; 0 if it has never been filled.
    pub fn address(&self) -> u64 {
        self.memory.as_ref().map_or(0, D::address)
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.capacity
    }
}
