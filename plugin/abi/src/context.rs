//! What the host hands to every call.

use crate::{Array, Attribute, Geometry, Grid, Level, Stage, Status, Table};
use std::ffi::{CStr, c_char, c_void};

/// How many times longer a promised substep may be than the shortest answer of `suggest_dt` when its turn comes; beyond that it
/// is cut. For liquid that falls from rest, the first promise is (1 + √5)/2 times longer than the answer, and the liquid still
/// crosses no more voxels than it may.
pub const PROMISED: f64 = 1.65;

/// A parameter's value, already evaluated for this substep.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Value {
    /// Numbers; toggles as 0 or 1; a menu's entry number.
    pub number: [f64; 3],
    /// Strings, files, a menu's token.
    pub text: *const c_char,
}

/// What a linear solve did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Solve {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Iterations done.
    pub iterations: u32,
    /// Which solve.
    pub name: *const c_char,
    /// "cpu", "cuda"
    pub device: *const c_char,
    /// Number of unknowns.
    pub unknowns: u64,
    /// Final, relative to the right side.
    pub residual: f64,
    /// Wall time, s.
    pub seconds: f64,
}

/// Host extension, revision 1: where the user wants solves to run, a string "auto", "cpu" or "cuda".
pub const DEVICE_EXTENSION: &CStr = c"mns.device";

/// Host extension, revision 1: there in `init` where the host only asks whether the shot could begin.
pub const TRIAL_EXTENSION: &CStr = c"mns.trial";
/// Host extension, revision 1: a function of type [`EndForWant`].
pub const MEMORY_EXTENSION: &CStr = c"mns.memory";
/// Says whose call needed so many bytes that could not be had, and ends the process. From any thread, as long as the
/// process lasts.
pub type EndForWant = extern "C" fn(bytes: u64);

/// The call: what is being run, when, with what, and the host's functions (see the header for each).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Context {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Being run; −1 in `create` and `suggest_dt`.
    pub stage: Stage,
    /// Entry of the coupling's schedule.
    pub step: u32,
    /// The host's thread budget.
    pub threads: u32,
    /// The host's own.
    pub host: *mut c_void,
    /// The node's name in the graph.
    pub node: *const c_char,
    /// The object's name, or null.
    pub object: *const c_char,
    /// At the start of the substep, s.
    pub time: f64,
    /// Of this substep, s; 0 in an object's first, which only puts its velocities half a substep ahead.
    pub dt: f64,
    /// Of the next one, s.
    pub dt_next: f64,
    /// Over which accelerations, pressures and viscosity change velocities, s; of several objects the longest.
    pub dt_kick: f64,
    /// From `time` to the end of the frame, s.
    pub frame_left: f64,
    /// Frames per second.
    pub fps: f64,
    /// Voxels a substep may cross.
    pub cfl: f64,
    /// The shot's frame number.
    pub frame: i32,
    /// 0 at the start of each frame.
    pub substep: u32,
    /// Length of `params`.
    pub param_count: u32,
    /// 0
    pub reserved: u32,
    /// In the order of the descriptor.
    pub params: *const Value,
    /// `[any]` 1: cancel.
    pub progress: Option<unsafe extern "C" fn(ctx: *mut Context, done: f64) -> i32>,
    /// `[any]`
    pub log: Option<unsafe extern "C" fn(ctx: *mut Context, level: Level, sentence: *const c_char)>,
    /// `[any]` Returns its status.
    pub fail: Option<
        unsafe extern "C" fn(ctx: *mut Context, status: Status, port: i32, sentence: *const c_char) -> Status,
    >,
    /// `[any]` A number for stats.jsonl.
    pub measure:
        Option<unsafe extern "C" fn(ctx: *mut Context, key: *const c_char, count: u32, values: *const f64)>,
    /// `[any]` A number for stats.jsonl, of the object that an item is of.
    pub measure_item: Option<
        unsafe extern "C" fn(
            ctx: *mut Context,
            port: u32,
            item: u32,
            key: *const c_char,
            count: u32,
            values: *const f64,
        ),
    >,
    /// `[any]` A linear solve for stats.jsonl.
    pub solved: Option<unsafe extern "C" fn(ctx: *mut Context, solve: *const Solve)>,
    /// `[owner]` Items at a port.
    pub items: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32) -> u32>,
    /// `[owner]` Name of the object or node an item comes from.
    pub item_name: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> *const c_char>,
    /// `[owner]` `dt_kick` of the object that an item is of, s.
    pub item_kick: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> f64>,
    /// `[owner]` The grid at a port.
    pub grid: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> *const Grid>,
    /// `[owner]` The geometry at a port.
    pub geometry: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> *const Geometry>,
    /// `[owner]` The table at a port.
    pub table: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> *const Table>,
    /// `[owner]` A new grid, values = background.
    pub shape_grid: Option<
        unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32, shape: *const Grid) -> *const Grid,
    >,
    /// `[owner]` New geometry, values zero.
    pub shape_geometry: Option<
        unsafe extern "C" fn(
            ctx: *mut Context,
            port: u32,
            item: u32,
            shape: *const Geometry,
        ) -> *const Geometry,
    >,
    /// `[owner]` A new table, values zero.
    pub shape_table: Option<
        unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32, shape: *const Table) -> *const Table,
    >,
    /// `[owner]` The grid made writable, bytes kept.
    pub edit_grid: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> *const Grid>,
    /// `[owner]` An attribute made writable, bytes kept; made anew where absent or of another type.
    pub edit_attribute: Option<
        unsafe extern "C" fn(
            ctx: *mut Context,
            port: u32,
            item: u32,
            shape: *const Attribute,
        ) -> *const Attribute,
    >,
    /// `[owner]` An array made writable, bytes kept; made anew where absent or of another type or count.
    pub edit_array: Option<
        unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32, shape: *const Array) -> *const Array,
    >,
    /// `[owner]` Moves the grid at a port: `index_to_world` (16 numbers) changes, values and stamps stay.
    pub place_grid: Option<
        unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32, index_to_world: *const f64) -> Status,
    >,
    /// `[owner]` Takes away what is at a port.
    pub clear: Option<unsafe extern "C" fn(ctx: *mut Context, port: u32, item: u32) -> Status>,
    /// `[owner]` The next dt should not be longer, s.
    pub suggest_dt: Option<unsafe extern "C" fn(ctx: *mut Context, dt: f64)>,
    /// `[owner]` This dt was too long; returns [`Status::DT_REJECTED`].
    pub reject_dt: Option<unsafe extern "C" fn(ctx: *mut Context, suggestion: f64) -> Status>,
    /// `[owner]` A host extension by id and revision, or null: see [`crate::DEVICE_EXTENSION`].
    pub extension:
        Option<unsafe extern "C" fn(ctx: *mut Context, id: *const c_char, revision: u32) -> *const c_void>,
}
