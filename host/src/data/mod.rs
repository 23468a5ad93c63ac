//! What the host owns: grids, geometry, tables, and the objects that carry them.
//!
//! Every array stands behind an [`std::sync::Arc`], so cloning an object is cheap and a stage copies only what
//! it writes. Dropping such a clone is how a rejected substep is undone.

mod array;
mod geometry;
mod grid;
mod object;
mod stamp;
mod table;

pub use array::{Array, Element};
pub use geometry::{Attribute, Geometry, Meaning, Owner, Primitives};
pub use grid::{Grid, IDENTITY, LEAF_VOXELS, MAX_COMPONENTS, Sampling, Tile};
pub use object::{Data, Lifetime, Object, Port, Scene};
pub use stamp::next_stamp;
pub use table::{Column, Table};
