//! The frames in which a node runs.

use crate::graph::Bound;
use crate::node::Value;

/// First and last frame that a node runs (an object exists), where it says so with `start_frame` and
/// `end_frame`; 0 stands for the shot's own.
pub(super) fn span(node: &Bound, shot: (i32, i32)) -> (i32, i32) {
    let read = |name: &str| match node.params.get(name).map(|p| p.at(0.0)) {
        Some(Value::Integers(v)) => v.first().map(|&f| f.clamp(-1_000_000_000, 1_000_000_000) as i32),
        _ => None,
    };
    let frame = |name| read(name).filter(|&f| f != 0);
    (frame("start_frame").unwrap_or(shot.0).max(shot.0), frame("end_frame").unwrap_or(i32::MAX))
}
