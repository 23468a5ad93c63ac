//! The C face of the shim (`shim/shim.h`), field for field.

use std::ffi::{c_char, c_int, c_void};

/// Room for one sentence.
#[repr(C)]
pub struct MvError {
    pub text: [c_char; 512],
}

#[repr(C)]
pub struct MvMeta {
    pub key: *const c_char,
    pub text: *const c_char,
    pub number: f64,
    pub kind: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct MvTile {
    pub origin: [i32; 3],
    pub level: i32,
    pub active: i32,
    pub value: [f64; 3],
}

#[repr(C)]
pub struct MvGrid {
    pub name: *const c_char,
    pub element: i32,
    pub class: i32,
    pub half: i32,
    pub flood: i32,
    pub transform: [f64; 16],
    pub background: [f64; 3],
    pub origins: *const i32,
    pub masks: *const u64,
    pub values: [*const c_void; 3],
    pub stride: usize,
    pub leaves: usize,
    pub tiles: *const MvTile,
    pub tile_count: usize,
    pub vector_type: *const c_char,
    pub meta: *const MvMeta,
    pub meta_count: usize,
}

#[repr(C)]
pub struct MvInfo {
    pub name: *const c_char,
    pub value_type: *const c_char,
    pub element: i32,
    pub class: i32,
    pub half: i32,
    pub transform: [f64; 16],
    pub background: [f64; 3],
    pub active_voxels: u64,
    pub leaves: u64,
    pub tiles: u64,
    pub memory_bytes: u64,
    pub has_bounds: i32,
    pub bounds: [i32; 6],
}

#[repr(C)]
#[derive(Default)]
pub struct MvStats {
    pub non_finite: u64,
    pub minimum: f64,
    pub maximum: f64,
    pub gradient_samples: u64,
    pub gradient_min: f64,
    pub gradient_mean: f64,
    pub gradient_max: f64,
    pub wrong_sign: u64,
    pub beyond_band: u64,
}

#[repr(C)]
pub struct MvSurface {
    pub grid: MvGrid,
    pub material: i32,
    pub colour: [f64; 3],
}

#[repr(C)]
pub struct MvCamera {
    pub position: [f64; 3],
    pub look_at: [f64; 3],
    pub up: [f64; 3],
    pub fov_degrees: f64,
}

#[repr(C)]
pub struct MvPicture {
    pub width: i32,
    pub height: i32,
    pub threads: i32,
    pub floor_y: f64,
    pub scene_size: f64,
    pub target: [f64; 3],
    pub halt: *const u8,
}

/// Opaque bytes owned by the shim.
#[repr(C)]
pub struct MvBuffer {
    _opaque: [u8; 0],
}

/// Opaque open file.
#[repr(C)]
pub struct MvFile {
    _opaque: [u8; 0],
}

/// Opaque polygons owned by the shim.
#[repr(C)]
pub struct MvMesh {
    _opaque: [u8; 0],
}

/// Opaque leaves owned by the shim.
#[repr(C)]
pub struct MvLeaves {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    pub fn mv_on_uncaught(tell: extern "C" fn(c_int));
    pub fn mv_write(
        grids: *const MvGrid,
        count: usize,
        meta: *const MvMeta,
        meta_count: usize,
        out: *mut *mut MvBuffer,
        error: *mut MvError,
    ) -> c_int;
    pub fn mv_buffer_data(buffer: *const MvBuffer) -> *const u8;
    pub fn mv_buffer_size(buffer: *const MvBuffer) -> usize;
    pub fn mv_buffer_free(buffer: *mut MvBuffer);
    pub fn mv_open(path: *const c_char, out: *mut *mut MvFile, error: *mut MvError) -> c_int;
    pub fn mv_close(file: *mut MvFile);
    pub fn mv_grid_count(file: *const MvFile) -> usize;
    pub fn mv_grid_info(file: *mut MvFile, grid: usize, out: *mut MvInfo, error: *mut MvError) -> c_int;
    pub fn mv_meta_count(file: *mut MvFile, grid: usize) -> usize;
    pub fn mv_meta_at(
        file: *mut MvFile,
        grid: usize,
        entry: usize,
        key: *mut *const c_char,
        type_name: *mut *const c_char,
        value: *mut *const c_char,
    ) -> c_int;
    pub fn mv_read_leaves(
        file: *mut MvFile,
        grid: usize,
        origins: *mut i32,
        masks: *mut u64,
        values: *mut c_void,
        error: *mut MvError,
    ) -> c_int;
    pub fn mv_read_tiles(file: *mut MvFile, grid: usize, tiles: *mut MvTile, error: *mut MvError) -> c_int;
    pub fn mv_grid_stats(file: *mut MvFile, grid: usize, out: *mut MvStats, error: *mut MvError) -> c_int;
    pub fn mv_render(
        surfaces: *const MvSurface,
        count: usize,
        camera: *const MvCamera,
        picture: *const MvPicture,
        rgb: *mut u8,
        error: *mut MvError,
    ) -> c_int;
    pub fn mv_polygons(
        grid: *const MvGrid,
        threads: i32,
        out: *mut *mut MvMesh,
        error: *mut MvError,
    ) -> c_int;
    pub fn mv_mesh_points(mesh: *const MvMesh, xyz: *mut *const f32) -> usize;
    pub fn mv_mesh_quads(mesh: *const MvMesh, corners: *mut *const u32) -> usize;
    pub fn mv_mesh_free(mesh: *mut MvMesh);
    pub fn mv_level_set(
        xyz: *const f32,
        points: usize,
        corners: *const u32,
        triangles: usize,
        voxel: f64,
        threads: i32,
        out: *mut *mut MvLeaves,
        error: *mut MvError,
    ) -> c_int;
    pub fn mv_leaves_data(
        leaves: *const MvLeaves,
        origins: *mut *const i32,
        values: *mut *const f32,
    ) -> usize;
    pub fn mv_leaves_free(leaves: *mut MvLeaves);
    pub fn mv_version() -> *const c_char;
}
