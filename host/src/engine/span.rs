//! The frames in which a node runs.

use crate::graph::Bound;
use meniscus_abi::Means;

/// First and last frame that a node runs (an object exists), where its parameters say so; 0 stands for the shot's own.
pub(in crate::engine) fn span(node: &Bound, shot: (i32, i32)) -> (i32, i32) {
    let read = |means| node.meant(means, 0.0).map(|f| f.clamp(-1e9, 1e9) as i32).filter(|&f| f != 0);
    let (first, last) = (read(Means::FIRST_FRAME), read(Means::LAST_FRAME));
    (first.unwrap_or(shot.0).max(shot.0), last.unwrap_or(i32::MAX))
}
