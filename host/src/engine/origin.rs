//! Where the data come from that a call could not use.

use super::plan::{Call, Plan, contract};
use crate::graph::Network;
use crate::node::{PortSpec, Stage};
use std::collections::BTreeSet;

/// What follows the sentence of a call that failed at a port: the name of the data, and which nodes of other plugins write them.
pub(super) fn origin(network: &Network, plan: &Plan, call: &Call, port: &PortSpec) -> String {
    let slots = plan.slots(network, call.node, call.object, port);
    let plugin = |node: usize| network.nodes[node].node_type.plugin.as_str();
    let begun = |&object: &usize| Call { node: object, stage: Stage::Init, object: Some(object), step: 0 };
    let writes = |other: &Call| {
        let ports = contract(&network.nodes[other.node]).ports.iter();
        let mut written = ports.filter(|p| p.access(other.stage).writes);
        written.any(|p| plan.slots(network, other.node, other.object, p).iter().any(|s| slots.contains(s)))
    };
    let calls = plan.calls.iter().cloned().chain(plan.objects.iter().map(begun));
    let foreign = calls.filter(|other| plugin(other.node) != plugin(call.node) && writes(other));
    let nodes: BTreeSet<usize> = foreign.map(|other| other.node).collect();
    let named = |node: usize| format!("node `{}`, plugin `{}`", network.nodes[node].name, plugin(node));
    let nodes: Vec<String> = nodes.into_iter().map(named).collect();
    let from = if nodes.is_empty() { String::new() } else { format!(" from {}", nodes.join(" and ")) };
    format!(" (in `{}`{from})", port.called())
}
