//! Replaces CUDA devices in a build without the feature `cuda`: there are none.

use super::device::{Device, Failure};
use super::launch::Program;

/// No such device exists in this build.
pub enum Cuda {}

impl Cuda {
    /// Says that there is none.
    pub fn open() -> Result<Self, Failure> {
        Err(Failure("this build has no CUDA support".into()))
    }
}

impl Device for Cuda {
    type Memory = ();

    fn describe(&self) -> String {
        match *self {}
    }

    fn allocate(&mut self, _: usize) -> Result<(), Failure> {
        match *self {}
    }

    fn address((): &()) -> u64 {
        0
    }

    fn upload(&mut self, (): &mut (), _: usize, _: &[u8]) -> Result<(), Failure> {
        match *self {}
    }

    fn clear(&mut self, (): &mut (), _: usize) -> Result<(), Failure> {
        match *self {}
    }

    fn download(&mut self, (): &(), _: usize, _: &mut [u8]) -> Result<(), Failure> {
        match *self {}
    }

    unsafe fn run(&mut self, _: &Program, _: usize) -> Result<(), Failure> {
        match *self {}
    }
}
