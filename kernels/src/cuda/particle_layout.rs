//! The twins of the structs in `cuda/leaf.cuh`, `particles.cuh`, `carry.cuh`, `solids.cuh` and `advect.cuh`, which
//! describe the fields.

use super::bytes::Plain;
use super::launch::Argument;
use super::layout::Pointer;

/// Threads of a block that works on the faces or on the particles of one leaf, or on as many particles.
pub const PARTICLE_THREADS: u32 = 256;

/// A sorted set of active leaves.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Leaves {
    pub count: u32,
    pub padding: u32,
    pub origins: Pointer,
    pub neighbours: Pointer,
}

/// A staggered field.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Faces {
    pub values: [Pointer; 3],
    pub background: f32,
    pub padding: u32,
}

/// The particles of a liquid.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Particles {
    pub position: Pointer,
    pub velocity: Pointer,
    pub affine: [Pointer; 3],
    pub density: Pointer,
}

/// Maps positions (m, relative to the particles' origin) to index space: index = base + position · per_metre + offset.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frame {
    /// Whole voxels of the particles' origin.
    pub base: [i32; 3],
    /// The rest of the origin, in voxels.
    pub offset: [f32; 3],
    /// Voxels per metre.
    pub per_metre: f32,
    /// Edge length of a voxel, m.
    pub h: f32,
}

/// The values that faces receive from particles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Carried {
    pub value: [Pointer; 3],
    pub weight: [Pointer; 3],
}

/// A solid's signed distance.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Collider {
    pub leaves: Leaves,
    pub values: Pointer,
    pub inside: Pointer,
    pub runs: u32,
    pub background: f32,
    pub to_index: [f64; 9],
    pub translation: [f64; 3],
}

/// All solids, and the sides of the domain.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Solids {
    pub collider: Pointer,
    pub colliders: u32,
    pub closed: u32,
    pub kills: u32,
    pub moving: u32,
    pub side: [f64; 6],
    pub separation: f64,
    pub swept: f64,
}

/// The settings of a substep's advection.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Journey {
    pub origin: [f64; 3],
    pub id: Pointer,
    pub born_from: i64,
    pub step: f32,
    pub count: u32,
}

/// The positions that particles have reached.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    pub position: Pointer,
    pub fate: Pointer,
}

const _: () = assert!(size_of::<Leaves>() == 24 && size_of::<Faces>() == 32 && size_of::<Particles>() == 48);
const _: () = assert!(size_of::<Frame>() == 32 && size_of::<Carried>() == 48 && size_of::<Collider>() == 144);
const _: () = assert!(size_of::<Solids>() == 88 && size_of::<Journey>() == 48 && size_of::<Arrivals>() == 16);

// SAFETY: numbers without padding between them, and any bytes are such numbers.
unsafe impl Plain for Collider {}

// SAFETY: their layouts are asserted to be alike on both sides.
unsafe impl Argument for Leaves {}
// SAFETY: see above.
unsafe impl Argument for Faces {}
// SAFETY: see above.
unsafe impl Argument for Particles {}
// SAFETY: see above.
unsafe impl Argument for Frame {}
// SAFETY: see above.
unsafe impl Argument for Carried {}
// SAFETY: see above.
unsafe impl Argument for Solids {}
// SAFETY: see above.
unsafe impl Argument for Journey {}
// SAFETY: see above.
unsafe impl Argument for Arrivals {}
// SAFETY: what CUDA calls a float.
unsafe impl Argument for f32 {}
