//! Writing plugins in Rust: a safe face of the context, and the entry points of the table.
//!
//! Reading a port borrows the call, shaping or editing one borrows it mutably: a view never outlives the
//! bytes it shows, and what is written is never read through an older view at the same time.

mod attributes;
mod call;
mod entry;
mod failure;
mod grids;
mod heap;
mod places;
mod ports;
mod progress;
mod requests;
mod scalar;
mod tables;

pub use attributes::{AttributeMut, AttributeView, GeometryMut, GeometryView};
pub use call::{Call, SolveReport};
pub use entry::{Node, create, destroy, drop_caches, run, suggest_dt};
pub use failure::{Failure, Outcome};
pub use grids::{GridMut, GridView};
pub use heap::Heap;
pub use places::{param_place, port_place, port_place_of_members, port_place_of_owner, port_place_of_role};
pub use progress::{Progress, Watch};
pub use requests::{ArrayShape, AttributeShape, GeometryShape, GridShape};
pub use scalar::Scalar;
pub use tables::TableView;
