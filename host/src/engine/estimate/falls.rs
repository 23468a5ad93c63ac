//! Foresees how fast a shot's liquid gets, before anything is cooked.

use super::super::media::{is_liquid, sources, voxel};
use super::super::plan::{Plan, SolverWires};
use super::super::tank::Tank;
use crate::geometry::Evaluator;
use crate::graph::{Bound, Network, Problem};
use crate::output::Bounds;
use glam::{DVec3, Vec3};
use meniscus_abi::Means;

/// Forces that act on a liquid are taken for gravity on Earth, m/s², along -y.
const GRAVITY: f64 = 9.81;
/// Parts of a shot between which a source is looked at.
const LOOKS: i32 = 4;

/// Substeps a frame in which the fastest liquid crosses no more voxels than the graph's CFL number says: liquid that falls from its
/// highest place to the lowest wall below it, leaves a source, begins to move, or is met by a body that falls or moves so.
pub(super) fn substeps(network: &Network, plan: &Plan, evaluator: &mut Evaluator) -> Result<f64, Problem> {
    let mut most = 0.0f64;
    for (&solver, wires) in &plan.solvers {
        let liquids = wires.solved.iter().map(|&o| &network.nodes[o]).filter(|object| is_liquid(object));
        let Some(voxel) = liquids.filter_map(voxel).reduce(f64::min) else { continue };
        let sources: Vec<&Bound> = sources(network, solver).map(|i| &network.nodes[i]).collect();
        let bodies: Vec<usize> = wires.affectors.iter().copied().filter(|&o| moves(plan, o)).collect();
        let begin = wires.solved.iter().chain(&bodies).map(|&o| &network.nodes[o]);
        let driven = sources.iter().map(|source| speed(network, source));
        let speed = driven.chain(begin.map(|object| speed_at_first(network, object))).fold(0.0, f64::max);
        let high = [&wires.solved[..], &bodies].concat();
        let height = height(network, solver, (&high, wires), &sources, evaluator)?;
        let gained = if wires.forces.is_empty() { 0.0 } else { 2.0 * GRAVITY * height };
        let settings = &network.settings;
        let fastest = (speed * speed + gained).sqrt();
        most = most.max(fastest / (settings.fps * settings.substeps.cfl * voxel));
    }
    Ok(most)
}

/// The bounds of the geometry of some nodes at a frame.
pub(super) fn bounds(
    network: &Network,
    nodes: &[&Bound],
    frame: f64,
    evaluator: &mut Evaluator,
) -> Result<Option<Bounds>, Problem> {
    let mut all: Option<Bounds> = None;
    for &input in nodes.iter().flat_map(|node| &node.inputs) {
        let g = evaluator.evaluate(network, input, frame, 0.0, 0.0)?;
        let Some((low, high)) = g.bounds() else { continue };
        let ends = [low, high].map(|p| Vec3::from(p).as_dvec3() + DVec3::from(g.origin));
        if let Some(own) = Bounds::around(ends.into_iter()) {
            all = Some(all.map_or(own, |all| all.union(own)));
        }
    }
    Ok(all)
}

/// Whether a solver moves an object.
fn moves(plan: &Plan, object: usize) -> bool {
    plan.solvers.values().any(|wires| wires.solved.contains(&object))
}

/// From the highest place of what falls (objects and sources) to the lowest of a solver's closed floor and of its solids, m; 0 where
/// none of these is below.
fn height(
    network: &Network,
    solver: usize,
    (fall, wires): (&[usize], &SolverWires),
    sources: &[&Bound],
    evaluator: &mut Evaluator,
) -> Result<f64, Problem> {
    let of = |objects: &[usize]| -> Vec<&Bound> { objects.iter().map(|&o| &network.nodes[o]).collect() };
    let first = f64::from(network.settings.frames.0);
    let still: Vec<usize> = wires.affectors.iter().copied().filter(|o| !fall.contains(o)).collect();
    let solids = bounds(network, &of(&still), first, evaluator)?.map(|b| b.min.y);
    let falling = bounds(network, &[of(fall), sources.to_vec()].concat(), first, evaluator)?;
    let tank = Tank::of(&network.nodes[solver], first);
    let floor = tank.as_ref().and_then(Tank::floor);
    let ends = tank.as_ref().map_or(f64::NEG_INFINITY, Tank::lowest);
    let lowest = floor.into_iter().chain(solids).reduce(f64::min).map(|lowest| lowest.max(ends));
    Ok(falling.zip(lowest).map_or(0.0, |(falling, lowest)| (falling.max.y - lowest).max(0.0)))
}

/// The speed that an object begins with, m/s.
fn speed_at_first(network: &Network, object: &Bound) -> f64 {
    let first = f64::from(network.settings.frames.0);
    object.meant_vector(Means::VELOCITY, first).map_or(0.0, |v| DVec3::from(v).length())
}

/// The greatest speed at which a source drives liquid out, m/s, as looked at a few times in the shot.
fn speed(network: &Network, source: &Bound) -> f64 {
    let (first, last) = network.settings.frames;
    let at =
        |n: i32| f64::from(first) + (f64::from(last) - f64::from(first)) * f64::from(n) / f64::from(LOOKS);
    let drives = |frame: &f64| source.meant(Means::DRIVES, *frame).is_none_or(|on| on != 0.0);
    let speed = |frame| source.meant_vector(Means::VELOCITY, frame).map_or(0.0, |v| DVec3::from(v).length());
    (0..=LOOKS).map(at).filter(drives).map(speed).fold(0.0, f64::max)
}
