//! The node types, one short file each.

mod gravity;

use meniscus_abi::guest::Node;

/// Every node type, in the order of `make`.
pub static NODES: [meniscus_abi::Node; 1] = [gravity::NODE];

/// An instance of `NODES[node]`.
pub fn make(node: u32) -> Option<Box<dyn Node>> {
    Some(match node {
        0 => Box::new(gravity::Gravity),
        _ => return None,
    })
}
