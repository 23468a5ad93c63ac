//! Estimates how long a core works on a substep.

use super::super::media;
use super::super::plan::{Plan, SolverWires};
use super::{ObjectEstimate, Start};
use crate::graph::{Bound, Network};

/// Seconds of one core that a copy of an object takes among particles, however small it is: what it touches, and what
/// touches it.
const COPY_SECONDS: f64 = 0.002;

/// Seconds of one core that an object takes in a substep. Where no solver moves particles around it, it takes next to none.
pub(super) fn seconds(
    network: &Network,
    plan: &Plan,
    node: &Bound,
    object: &ObjectEstimate,
    start: &Start,
) -> f64 {
    let cost = node.node_type.contract.as_ref().map(|c| c.cost).unwrap_or_default();
    if object.particles > 0.0 {
        let is_solved = plan.solvers.values().any(|wires| is_among(network, &wires.solved, node));
        let seconds = object.particles * cost.particle_seconds + object.voxels * cost.voxel_seconds;
        return if is_solved { seconds } else { 0.0 };
    }
    let Some(voxel) = voxel_around(network, plan, node) else { return 0.0 };
    // It is seen on the voxels of what moves around it.
    let seen = object.voxels * (object.voxel / voxel).powi(2);
    let copies = start.copies();
    let touching = if copies > 1.0 { copies * COPY_SECONDS } else { 0.0 };
    copies * seen * cost.voxel_seconds + touching
}

/// Edge of the finest voxels, m, of particles that a solver moves around an object.
fn voxel_around(network: &Network, plan: &Plan, node: &Bound) -> Option<f64> {
    let around = plan.solvers.values().filter(|wires| is_among(network, &wires.affectors, node));
    let voxels = around.flat_map(|wires: &SolverWires| &wires.solved);
    voxels.filter_map(|&o| media::voxel(&network.nodes[o])).reduce(f64::min)
}

fn is_among(network: &Network, nodes: &[usize], node: &Bound) -> bool {
    nodes.iter().any(|&o| network.nodes[o].name == node.name)
}
