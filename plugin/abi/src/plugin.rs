//! The one symbol's type.

use crate::{Context, Node, Status};
use std::ffi::{CStr, c_char, c_void};

/// Differing: refuse to load.
pub const ABI_MAJOR: u32 = 1;
/// May differ either way.
pub const ABI_MINOR: u32 = 0;
/// Name of the symbol a plugin exports.
pub const SYMBOL: &CStr = c"mns_plugin";

/// A plugin's own; only ever behind a pointer.
#[repr(C)]
#[derive(Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Instance {
    private: [u8; 0],
}

/// What a plugin exports: constant data and its few functions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Plugin {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// [`ABI_MAJOR`]
    pub abi_major: u32,
    /// [`ABI_MINOR`]
    pub abi_minor: u32,
    /// Length of `nodes`.
    pub node_count: u32,
    /// [`crate::LAYOUT_HASH`]
    pub layout_hash: u64,
    /// The plugin's name.
    pub name: *const c_char,
    /// Its version.
    pub version: *const c_char,
    /// Who made it.
    pub vendor: *const c_char,
    /// Its node types; walk them by their `size`.
    pub nodes: *const Node,
    /// `[owner]` An instance of `nodes[node]`; the context has no ports.
    pub create:
        Option<unsafe extern "C" fn(ctx: *mut Context, node: u32, instance: *mut *mut Instance) -> Status>,
    /// `[owner]`
    pub destroy: Option<unsafe extern "C" fn(instance: *mut Instance)>,
    /// `[owner]` Runs the context's stage.
    pub run: Option<unsafe extern "C" fn(instance: *mut Instance, ctx: *mut Context) -> Status>,
    /// `[owner]` The longest dt this node would take from here. What it measures meanwhile (`speed`, `place`) is said of the
    /// step in stats.jsonl.
    pub suggest_dt:
        Option<unsafe extern "C" fn(instance: *mut Instance, ctx: *mut Context, dt: *mut f64) -> Status>,
    /// `[owner]` Forget every cache.
    pub drop_caches: Option<unsafe extern "C" fn(instance: *mut Instance)>,
    /// `[scan]` A plugin extension by id and revision, or null.
    pub extension: Option<unsafe extern "C" fn(id: *const c_char, revision: u32) -> *const c_void>,
}

// SAFETY: the table is constant for the life of the library.
unsafe impl Sync for Plugin {}
