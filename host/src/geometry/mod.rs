//! The host's geometry nodes: file, box, sphere, tube, grid, transform, merge.
//!
//! Geometry is a function of time. [`Evaluator::evaluate`] gives it at the end of a substep, with what a solver
//! needs of its motion:
//!
//! - point attributes `v` and `v_next`, m/s, wherever it moves: what it moved during the substep, divided by dt, and
//!   what it will move during the next one, divided by that one's;
//! - when the motion is rigid (a transform node with a constant scale), point attribute `restP` (the positions
//!   before the motion; its stamp stays the same while the motion goes on) and on the detail
//!   `rigid_transform` (16 × f64, rest → world, row-major, acting on row vectors), `rigid_linear` (m/s, of the
//!   pivot), `rigid_angular` (rad/s, world axes), `rigid_linear_next` and `rigid_angular_next` (the same of the next
//!   substep) and `rigid_pivot` (m, world). A collider can then keep the SDF of `restP` and move it as a whole.

mod evaluator;
mod file;
mod matrix;
mod merge;
mod motion;
mod obj;
mod ply;
mod ply_attributes;
mod ply_header;
mod primitives;
mod revolve;
mod thickness;
mod transform;

pub use evaluator::Evaluator;
pub use file::{MeshFormat, frame_path, parse_mesh, read_mesh};
pub use motion::{RIGID_ANGULAR, RIGID_LINEAR, RIGID_NEXT, RIGID_PIVOT, RIGID_TRANSFORM};
#[cfg(test)]
pub(crate) use primitives::cuboid;
pub(crate) use thickness::wall_thickness;

use crate::node::NodeType;

/// The geometry node types of the host.
pub fn types() -> Vec<NodeType> {
    let mut types = vec![file::node_type(), transform::node_type(), merge::node_type()];
    types.extend(primitives::node_types());
    types.extend(revolve::node_types());
    types
}

/// Positions farther than this from the origin, m, are refused as mistakes: an f32 cannot represent millimetres there.
pub(crate) const FAR: f32 = 1.0e7;
