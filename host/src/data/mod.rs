//! The host's data: grids, geometry, tables, and the objects that hold them.
//!
//! Every array is behind an [`std::sync::Arc`], so cloning an object is cheap and a stage copies only what it writes. A
//! rejected substep is undone by dropping such a clone.

mod array;
mod geometry;
mod grid;
mod object;
mod stamp;
mod table;

pub use array::{Array, Element};
pub use geometry::{Attribute, Geometry, Meaning, Owner, Primitives};
pub use grid::{Grid, IDENTITY, LEAF_VOXELS, MAX_COMPONENTS, Sampling, Tile};
pub use object::{Data, Drawn, GridClass, Lifetime, Object, Place, Port, Scene, Shown};
pub use stamp::next_stamp;
pub use table::{Column, Table};
