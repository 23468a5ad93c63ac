//! The C ABI of Meniscus solver plugins, mirrored in Rust by hand.
//!
//! `plugin/include/meniscus.h` is the contract; the field order, types and meaning there and here are the
//! same, and a test compares every size and offset. This crate is the only place where a plugin or a
//! host written in Rust needs to know how the other side lays out its bytes.

mod builder;
#[cfg(feature = "layout-check")]
pub mod checked;
mod context;
mod descriptor;
mod geometry;
mod grid;
pub mod guest;
mod layout;
mod names;
mod plugin;
mod sized;
mod table;

pub use context::{
    Context, DEVICE_EXTENSION, EndForWant, MEMORY_EXTENSION, PROMISED, Solve, TRIAL_EXTENSION, Value,
};
pub use descriptor::{MenuItem, Node, Param, Port, Role, Step};
pub use geometry::{Attribute, Geometry};
pub use grid::{COMPONENTS_MAX, Grid, LEAF_SIZE, Tile};
pub use layout::{LAYOUT_HASH, StructLayout, structs};
pub use names::{
    Access, Carries, Drawn, Element, Gpu, GridClass, Level, Lifetime, Meaning, Means, Merge, NodeKind, On,
    Owner, ParamType, Primitive, Sampling, Stage, Status, flags,
};
pub use plugin::{ABI_MAJOR, ABI_MINOR, Instance, Plugin, SYMBOL};
pub use sized::{Growable, read, read_array, text};
pub use table::{Array, Table};
