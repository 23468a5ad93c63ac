//! A device that fails.

use meniscus_kernels::cuda::{Device, Emulation, Failure, Program};

/// An emulated device with so much memory left, which hands back so many arrays and then no more.
pub struct Worn {
    pub device: Emulation,
    pub bytes: usize,
    pub downloads: usize,
}

impl Default for Worn {
    fn default() -> Self {
        Self { device: Emulation::default(), bytes: usize::MAX, downloads: usize::MAX }
    }
}

impl Device for Worn {
    type Memory = <Emulation as Device>::Memory;

    fn describe(&self) -> String {
        self.device.describe()
    }

    fn allocate(&mut self, bytes: usize) -> Result<Self::Memory, Failure> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| Failure("out of memory".into()))?;
        self.device.allocate(bytes)
    }

    fn address(memory: &Self::Memory) -> u64 {
        Emulation::address(memory)
    }

    fn upload(&mut self, memory: &mut Self::Memory, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.device.upload(memory, at, bytes)
    }

    fn clear(&mut self, memory: &mut Self::Memory, bytes: usize) -> Result<(), Failure> {
        self.device.clear(memory, bytes)
    }

    fn download(&mut self, memory: &Self::Memory, at: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        self.downloads = self.downloads.checked_sub(1).ok_or_else(|| Failure("worn out".into()))?;
        self.device.download(memory, at, bytes)
    }

    unsafe fn run(&mut self, program: &Program, times: usize) -> Result<(), Failure> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.device.run(program, times) }
    }
}
