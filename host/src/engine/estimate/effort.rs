//! Estimates how long a core works on a substep.
//!
//! What has no particles (solids, bodies) costs as much as it is seen by the liquids around it. A medium of voxels that a solver
//! moves, such as smoke, wants a rule of its own here.

use super::super::media::{is_liquid, voxel};
use super::super::plan::Plan;
use super::{ObjectEstimate, Start};
use crate::graph::Network;

/// Seconds of one core for each copy of an object among particles but the first, however small it is: what it touches, and what
/// touches it. From the examples of heaps in water, on two cores of an AMD EPYC.
const COPY_SECONDS: f64 = 0.002;

/// Seconds of one core that the object `n` takes in a substep. Where no solver moves particles around it, it takes next to none.
pub(super) fn seconds(
    network: &Network,
    plan: &Plan,
    n: usize,
    object: &ObjectEstimate,
    start: &Start,
) -> f64 {
    let cost = network.nodes[n].node_type.contract.as_ref().map(|c| c.cost).unwrap_or_default();
    if object.particles > 0.0 {
        let is_solved = plan.solvers.values().any(|wires| wires.solved.contains(&n));
        let seconds = object.particles * cost.particle_seconds + object.voxels * cost.voxel_seconds;
        return if is_solved { seconds } else { 0.0 };
    }
    let Some(around) = voxel_around(network, plan, n) else { return 0.0 };
    // Its surface, in voxels of what moves around it.
    let seen = object.voxels * (object.voxel / around).powi(2);
    start.copies() * seen * cost.voxel_seconds + (start.copies() - 1.0) * COPY_SECONDS
}

/// Edge of the finest voxels, m, of liquids that a solver moves around an object.
fn voxel_around(network: &Network, plan: &Plan, n: usize) -> Option<f64> {
    let around = plan.solvers.values().filter(|wires| wires.affectors.contains(&n));
    let liquids = around.flat_map(|wires| &wires.solved).map(|&o| &network.nodes[o]);
    liquids.filter(|object| is_liquid(object)).filter_map(voxel).reduce(f64::min)
}
