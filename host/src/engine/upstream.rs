//! The nodes that an output node sees.

use crate::graph::Network;
use crate::node::NodeKind;
use std::collections::BTreeSet;

/// Port of the stand-in object that carries the geometry of a geometry node wired into an output.
pub(super) const GEOMETRY_PORT: &str = "geometry";

/// The object and geometry nodes upstream of a node, in network order.
pub(super) fn upstream(network: &Network, node: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for &input in &network.nodes[node].inputs {
        let bound = &network.nodes[input];
        match bound.node_type.kind {
            NodeKind::Geometry => drop(found.insert(input)),
            NodeKind::Object if !bound.bypass => drop(found.insert(input)),
            NodeKind::Force | NodeKind::Output => {}
            // The geometry that objects are made of does not show where they are now, so it is left out.
            _ => found.extend(
                upstream(network, input)
                    .into_iter()
                    .filter(|&i| network.nodes[i].node_type.kind != NodeKind::Geometry),
            ),
        }
    }
    found
}
