//! An NVIDIA GPU through the CUDA driver, loaded at run time; building needs nothing of CUDA.

use super::device::{Device, Failure};
use super::launch::{Launch, PARTICLE_KERNELS, PRESSURE_KERNELS, Program};
use cudarc::driver::{CudaContext, CudaGraph, CudaStream, DriverError, result, sys};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

/// The device modules and their kernels, compiled ahead for compute capability 8.0; the driver translates them for the
/// device it finds.
const MODULES: [(&str, &[&str]); 2] = [
    (include_str!("../../ptx/pressure.ptx"), &PRESSURE_KERNELS),
    (include_str!("../../ptx/particles.ptx"), &PARTICLE_KERNELS),
];
/// Lowest compute capability the modules run on.
const CAPABILITY: (i32, i32) = (8, 0);
/// Number of launches from which a program is recorded as a graph.
const RECORDED: usize = 16;
/// Graphs kept: the two stages' iterations of a solve, and those of the one before.
const GRAPHS: usize = 4;

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        Failure(error.to_string())
    }
}

/// A CUDA device with the modules loaded.
pub struct Cuda {
    stream: Arc<CudaStream>,
    modules: Vec<sys::CUmodule>,
    kernels: HashMap<&'static str, sys::CUfunction>,
    /// Programs recorded as graphs, the latest last.
    graphs: Vec<(Program, CudaGraph)>,
    name: String,
}

// SAFETY: modules, functions and graphs belong to a context, which every call makes current first; nobody else has them.
unsafe impl Send for Cuda {}

impl Cuda {
    /// The first device, or why there is none that can be used.
    pub fn open() -> Result<Self, Failure> {
        // SAFETY: looks for the driver's library by its well-known names; loading it has no other effect.
        if !unsafe { sys::is_culib_present() } {
            return Err(Failure("no CUDA driver on this machine".into()));
        }
        let context = CudaContext::new(0).map_err(|e| Failure(format!("no CUDA device: {e}")))?;
        let (major, minor) = context.compute_capability()?;
        let name = format!("{} (compute capability {major}.{minor})", context.name()?);
        if (major, minor) < CAPABILITY {
            return Err(Failure(format!("{name}: {}.{} is needed", CAPABILITY.0, CAPABILITY.1)));
        }
        let stream = context.new_stream()?;
        let mut cuda =
            Self { stream, modules: Vec::new(), kernels: HashMap::new(), graphs: Vec::new(), name };
        for (ptx, kernels) in MODULES {
            cuda.load(ptx, kernels)?;
        }
        Ok(cuda)
    }

    /// Loads a module.
    fn load(&mut self, ptx: &str, kernels: &[&'static str]) -> Result<(), Failure> {
        let source = CString::new(ptx).map_err(|e| Failure(e.to_string()))?;
        // SAFETY: the image is PTX that ends with a zero.
        let module = unsafe { result::module::load_data(source.as_ptr().cast()) }
            .map_err(|e| Failure(format!("{}: the driver refuses the kernels: {e}", self.name)))?;
        self.modules.push(module);
        for &kernel in kernels {
            let symbol = CString::new(kernel).map_err(|e| Failure(e.to_string()))?;
            // SAFETY: the module is loaded.
            self.kernels.insert(kernel, unsafe { result::module::get_function(module, symbol)? });
        }
        Ok(())
    }

    /// Bytes per second that a copy within the device's memory moves, reads plus writes: the reference for every
    /// kernel's speed.
    pub fn copy_bandwidth(&mut self, bytes: usize, times: usize) -> Result<f64, Failure> {
        let (from, to) = (self.allocate(bytes)?, self.allocate(bytes)?);
        let copy = |n: usize| -> Result<(), DriverError> {
            for _ in 0..n {
                // SAFETY: both are as long, and live until the stream has ended.
                unsafe { result::memcpy_dtod_async(to.start, from.start, bytes, self.stream.cu_stream())? };
            }
            self.stream.synchronize()
        };
        copy(1)?;
        let start = std::time::Instant::now();
        copy(times)?;
        Ok(2.0 * bytes as f64 * times as f64 / start.elapsed().as_secs_f64())
    }

    /// Puts a launch on the stream.
    ///
    /// # Safety
    /// As for [`Device::run`].
    unsafe fn launch(&self, launch: &Launch) -> Result<(), Failure> {
        let function = self.kernels.get(launch.kernel);
        let function = *function.ok_or_else(|| Failure(format!("no kernel {}", launch.kernel)))?;
        let (grid, block) = ((launch.grid, 1, 1), (launch.block, 1, 1));
        // SAFETY: the arguments are what the kernel takes (the emulation compares their sizes); the caller vouches for
        // the addresses among them.
        unsafe {
            result::launch_kernel(function, grid, block, 0, self.stream.cu_stream(), &mut launch.pointers())?;
        }
        Ok(())
    }

    /// Records a program as a graph, unless it is recorded already.
    ///
    /// # Safety
    /// As for [`Device::run`].
    unsafe fn record(&mut self, program: &Program) -> Result<(), Failure> {
        if let Some(i) = self.graphs.iter().position(|g| g.0 == *program) {
            let known = self.graphs.remove(i);
            self.graphs.push(known);
            return Ok(());
        }
        self.stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        // SAFETY: the caller vouches for the addresses.
        let launched = program.launches.iter().try_for_each(|launch| unsafe { self.launch(launch) });
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        launched?;
        let graph = graph?.ok_or_else(|| Failure("nothing was recorded".into()))?;
        if self.graphs.len() == GRAPHS {
            self.graphs.remove(0);
        }
        self.graphs.push((program.clone(), graph));
        Ok(())
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        self.graphs.clear();
        if self.stream.context().bind_to_thread().is_ok() && self.stream.synchronize().is_ok() {
            for &module in &self.modules {
                // SAFETY: nothing runs any more, and nobody else has the module. An error here has nobody to hear of it.
                let _ = unsafe { result::module::unload(module) };
            }
        }
    }
}

/// Memory of a CUDA device.
pub struct Memory {
    stream: Arc<CudaStream>,
    start: sys::CUdeviceptr,
    bytes: usize,
}

impl Memory {
    /// Where `count` bytes from `at` on are, if they are inside.
    fn inside(&self, at: usize, count: usize) -> Result<sys::CUdeviceptr, Failure> {
        match at.checked_add(count) {
            Some(end) if end <= self.bytes => Ok(self.start + at as u64),
            _ => Err(Failure(format!("{count} bytes at {at} of {}", self.bytes))),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.stream.context().bind_to_thread().is_ok() {
            // SAFETY: allocated by this value, freed once; freeing waits for what still runs.
            let _ = unsafe { result::free_sync(self.start) };
        }
    }
}

impl Device for Cuda {
    type Memory = Memory;

    fn describe(&self) -> String {
        self.name.clone()
    }

    fn allocate(&mut self, bytes: usize) -> Result<Memory, Failure> {
        self.stream.context().bind_to_thread()?;
        // SAFETY: the memory is zeroed before anybody reads it.
        let start = unsafe { result::malloc_sync(bytes) }
            .map_err(|e| Failure(format!("{}: {bytes} bytes: {e}", self.name)))?;
        let mut memory = Memory { stream: self.stream.clone(), start, bytes };
        self.clear(&mut memory, bytes)?;
        Ok(memory)
    }

    fn address(memory: &Memory) -> u64 {
        memory.start
    }

    fn upload(&mut self, memory: &mut Memory, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.stream.context().bind_to_thread()?;
        let to = memory.inside(at, bytes.len())?;
        // SAFETY: inside the memory; pageable bytes are staged before the call returns.
        unsafe { result::memcpy_htod_async(to, bytes, self.stream.cu_stream())? };
        Ok(())
    }

    fn clear(&mut self, memory: &mut Memory, bytes: usize) -> Result<(), Failure> {
        self.stream.context().bind_to_thread()?;
        let from = memory.inside(0, bytes)?;
        if bytes > 0 {
            // SAFETY: inside the memory.
            unsafe { result::memset_d8_async(from, 0, bytes, self.stream.cu_stream())? };
        }
        Ok(())
    }

    fn download(&mut self, memory: &Memory, at: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        self.stream.context().bind_to_thread()?;
        let from = memory.inside(at, bytes.len())?;
        // SAFETY: inside the memory; `bytes` are not touched until the stream has ended.
        unsafe { result::memcpy_dtoh_async(bytes, from, self.stream.cu_stream())? };
        self.stream.synchronize()?;
        Ok(())
    }

    unsafe fn run(&mut self, program: &Program, times: usize) -> Result<(), Failure> {
        self.stream.context().bind_to_thread()?;
        if program.launches.len() < RECORDED {
            for launch in (0..times).flat_map(|_| &program.launches) {
                // SAFETY: the caller vouches for the addresses.
                unsafe { self.launch(launch)? };
            }
            return Ok(());
        }
        // SAFETY: the caller vouches for the addresses.
        unsafe { self.record(program)? };
        if let Some((_, graph)) = self.graphs.last() {
            (0..times).try_for_each(|_| graph.launch())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_in_the_modules_that_ship() {
        for (ptx, kernels) in MODULES {
            for kernel in kernels {
                assert!(ptx.contains(&format!(".visible .entry {kernel}(")), "{kernel}");
            }
            assert_eq!(ptx.matches(".visible .entry").count(), kernels.len());
        }
    }

    #[test]
    fn without_a_driver_or_a_device_it_says_so() {
        if let Err(failure) = Cuda::open() {
            assert!(failure.to_string().contains("CUDA"), "{failure}");
        }
    }
}
