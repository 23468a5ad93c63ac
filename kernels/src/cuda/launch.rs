//! Launches as data: which kernel, how many blocks of how many threads, which arguments.

use super::layout;

/// Threads of a block that works on one colour of a leaf: one a row.
pub const ROWS: u32 = 64;
/// Threads of a block that works on both colours of a leaf.
pub const LEAF_THREADS: u32 = 2 * ROWS;
/// Threads of a block that works alone.
pub const LONE_THREADS: u32 = 256;
/// Threads of a block that sums one run of contacts or one low-rank column.
pub const RUN_THREADS: u32 = 64;

/// A value that kernels take as an argument.
///
/// # Safety
/// `repr(C)`, without padding, the twin of what the kernels declare, and aligned to 8 bytes at most.
pub unsafe trait Argument: Copy {}

// SAFETY: what CUDA calls `unsigned`.
unsafe impl Argument for u32 {}
// SAFETY: what CUDA calls a pointer.
unsafe impl Argument for u64 {}
// SAFETY: their layouts are asserted to be alike on both sides.
unsafe impl Argument for layout::Level {}
// SAFETY: see above.
unsafe impl Argument for layout::Work {}
// SAFETY: see above.
unsafe impl Argument for layout::Aggregation {}
// SAFETY: see above.
unsafe impl Argument for layout::Coarsest {}
// SAFETY: see above.
unsafe impl Argument for layout::LowRank {}
// SAFETY: see above.
unsafe impl Argument for layout::Vector {}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// The arguments, each from an 8-byte border on.
    words: Vec<u64>,
    /// Bytes of each argument; ends with 0.
    sizes: Vec<u32>,
}

impl Launch {
    /// A launch without arguments yet.
    pub fn new(kernel: &'static str, grid: u32, block: u32) -> Self {
        Self { kernel, grid, block, words: Vec::new(), sizes: vec![0] }
    }

    /// Adds an argument.
    pub fn with<T: Argument>(mut self, value: T) -> Self {
        let (at, bytes) = (self.words.len(), size_of::<T>());
        self.words.resize(at + bytes.div_ceil(8), 0);
        // SAFETY: `value` has as many bytes as are read, all of them initialised, and the words just added have room.
        unsafe {
            let from = (&raw const value).cast::<u8>();
            std::ptr::copy_nonoverlapping(from, self.words[at..].as_mut_ptr().cast(), bytes);
        }
        self.sizes.insert(self.sizes.len() - 1, bytes as u32);
        self
    }

    /// Bytes of each argument; ends with 0.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Where each argument is. Nobody writes through these pointers.
    pub fn pointers(&self) -> Vec<*mut std::ffi::c_void> {
        let mut at = 0;
        let place = |&size: &u32| {
            let here = self.words[at..].as_ptr().cast_mut().cast();
            at += (size as usize).div_ceil(8);
            here
        };
        self.sizes[..self.sizes.len() - 1].iter().map(place).collect()
    }
}

/// Launches in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The launches.
    pub launches: Vec<Launch>,
}

impl Program {
    /// Adds a launch, unless it has no blocks.
    pub fn push(&mut self, launch: Launch) {
        if launch.grid > 0 {
            self.launches.push(launch);
        }
    }
}

/// Names of the kernels in the particles' module.
pub const PARTICLE_KERNELS: [&str; 3] = ["particles_to_faces", "faces_to_particles", "advect"];

/// Names of the kernels in the pressure engine's module.
pub const PRESSURE_KERNELS: [&str; 41] = [
    "start_red",
    "relax_colour",
    "gather_inflow",
    "relax_supers",
    "settle_bodies",
    "settle_sheets",
    "answer_cells",
    "answer_supers",
    "hold_bodies",
    "restrict_cells",
    "restrict_supers",
    "prolong",
    "solve_coarsest",
    "dot_columns_single",
    "dot_columns_double",
    "weigh_columns",
    "apply_single",
    "apply_double",
    "gather_flow_single",
    "gather_flow_double",
    "apply_supers",
    "residual_single",
    "residual_double",
    "residual_supers",
    "square_right_side",
    "dot_single",
    "dot_double",
    "turn_single",
    "turn_double",
    "update_single",
    "update_double",
    "fold",
    "restart",
    "measure_right_side",
    "choose_direction",
    "choose_step",
    "measure_single",
    "measure_double",
    "judge_single",
    "judge_double",
    "resume",
];
