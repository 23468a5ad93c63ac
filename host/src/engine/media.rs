//! What the objects of a network are, by what their contracts say of them.

use crate::data::Drawn;
use crate::graph::{Bound, Network};
use crate::node::PortOwner;
use meniscus_abi::Means;

/// Whether an object is a liquid: it is made of particles, and has a surface that is drawn as a liquid's.
pub(super) fn is_liquid(object: &Bound) -> bool {
    separation(object).is_some() && draws(object, Drawn::Liquid)
}

/// Distance between the particles of an object, m, where it is made of any.
pub(super) fn separation(object: &Bound) -> Option<f64> {
    object.meant(Means::SEPARATION, 0.0).filter(|separation| *separation > 0.0)
}

/// Edge of the voxels around such particles, m.
pub(super) fn voxel(object: &Bound) -> Option<f64> {
    let scale = object.meant(Means::VOXEL_SCALE, 0.0).filter(|scale| *scale > 0.0);
    Some(separation(object)? * scale.unwrap_or(1.0))
}

/// The sources whose liquid a solver takes.
pub(super) fn sources(network: &Network, solver: usize) -> impl Iterator<Item = usize> {
    let is_source = |node: &Bound| node.node_type.contract.as_ref().is_some_and(|c| c.is_source);
    let inputs = network.nodes[solver].inputs.iter().copied();
    inputs.filter(move |&i| !network.nodes[i].bypass && is_source(&network.nodes[i]))
}

fn draws(object: &Bound, how: Drawn) -> bool {
    let ports = object.node_type.contract.iter().flat_map(|c| &c.ports);
    ports.into_iter().any(|port| port.owner == PortOwner::Object && port.shown.drawn == Some(how))
}
