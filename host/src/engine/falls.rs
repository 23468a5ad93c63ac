//! Foresees how fast a shot's liquid gets, before anything is cooked.

use super::plan::{Plan, SolverWires};
use super::span::span;
use super::tank::Tank;
use crate::geometry::Evaluator;
use crate::graph::{Bound, Network, Problem};
use crate::output::Bounds;
use crate::text::{number, rounded};
use glam::{DVec3, Vec3};
use meniscus_abi::Means;

/// Forces that act on a liquid are taken for gravity on Earth, m/s², along -y.
const GRAVITY: f64 = 9.81;
/// How many times as high as a shot the way is that lost liquid falls below it, from which on that is told.
const FAR: f64 = 2.0;
/// Parts of a shot between which a source is looked at.
const LOOKS: i32 = 4;

/// Substeps a frame in which the fastest liquid crosses no more voxels than the graph's CFL number says: liquid that falls from its
/// highest place to the lowest wall below it, or leaves a source.
pub(super) fn substeps(network: &Network, plan: &Plan, evaluator: &mut Evaluator) -> Result<f64, Problem> {
    let mut most = 0.0f64;
    for (&solver, wires) in &plan.solvers {
        let of_object = |&o: &usize| {
            let object = &network.nodes[o];
            let separation = object.meant(Means::SEPARATION, 0.0).filter(|s| *s > 0.0)?;
            Some(separation * object.meant(Means::VOXEL_SCALE, 0.0).filter(|s| *s > 0.0).unwrap_or(1.0))
        };
        let Some(voxel) = wires.solved.iter().filter_map(of_object).reduce(f64::min) else { continue };
        let sources = sources(network, solver);
        let speed = sources.iter().map(|source| speed(network, source)).fold(0.0, f64::max);
        let height = height(network, solver, wires, &sources, evaluator)?;
        let gained = if wires.forces.is_empty() { 0.0 } else { 2.0 * GRAVITY * height };
        let settings = &network.settings;
        let fastest = (speed * speed + gained).sqrt();
        most = most.max(fastest / (settings.fps * settings.substeps.cfl * voxel));
    }
    Ok(most)
}

/// Solvers whose liquid may fall far below all that is to be seen, and a sentence for each: forces act, the box ends nowhere near
/// below, and no solids at rest are under all that there is of the liquid at the start.
pub(super) fn endless(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
) -> Result<Vec<(usize, String)>, Problem> {
    let (first, last) = network.settings.frames;
    let looks = [first, first + (last - first) / 2, last].map(f64::from);
    let mut found = Vec::new();
    for (&solver, wires) in &plan.solvers {
        let Some(tank) = Tank::of(&network.nodes[solver], looks[0]) else { continue };
        if wires.forces.is_empty() || !wires.solved.iter().any(|&o| is_liquid(&network.nodes[o])) {
            continue;
        }
        let objects = wires.solved.iter().map(|&o| &network.nodes[o]);
        let liquid: Vec<&Bound> = objects.chain(sources(network, solver)).collect();
        let Some(liquid) = bounds(network, &liquid, looks[0], evaluator)? else { continue };
        let (mut shot, mut floors) = (liquid, Vec::new());
        for &affector in &wires.affectors {
            let at = |frame: &f64| bounds(network, &[&network.nodes[affector]], *frame, evaluator);
            let seen = looks.iter().map(at).collect::<Result<Vec<_>, _>>()?;
            let inside = seen.iter().flatten().filter(|solid| solid.max.y > tank.lowest());
            shot = inside.fold(shot, |shot, solid| shot.union(*solid));
            let moves = plan.solvers.values().any(|wires| wires.solved.contains(&affector));
            let (begins, ends) = span(&network.nodes[affector], (first, last));
            let comes_or_goes = begins > first || ends < last;
            let rests = !moves && !comes_or_goes && seen.iter().all(|solid| *solid == seen[0]);
            floors.extend(seen[0].filter(|solid| rests && solid.max.y > tank.lowest()));
        }
        let depth = shot.min.y - tank.lowest();
        if !lie_under(&floors, &liquid) && depth > FAR * (shot.max.y - shot.min.y) {
            let (how_far, remedy) = match depth.is_finite() {
                true => (format!("{} m", number(rounded(depth))), "raise the -Y side of its box"),
                false => ("for ever".to_owned(), "let the -Y side of its box delete liquid (Kill)"),
            };
            found.push((
                solver,
                format!(
                    "liquid that misses what lies under it falls on {how_far} below everything else, and every substep follows it \
                     there: {remedy}"
                ),
            ));
        }
    }
    Ok(found)
}

/// Liquids of which nothing begins within the box of their solver, and a sentence for each.
pub(super) fn outside(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
) -> Result<Vec<(usize, String)>, Problem> {
    let mut found = Vec::new();
    for (&solver, wires) in &plan.solvers {
        for &object in wires.solved.iter().filter(|&&o| is_liquid(&network.nodes[o])) {
            let first = f64::from(span(&network.nodes[object], network.settings.frames).0);
            let Some((low, high)) = Tank::of(&network.nodes[solver], first).map(|tank| tank.limits()) else {
                continue;
            };
            let Some(liquid) = bounds(network, &[&network.nodes[object]], first, evaluator)? else {
                continue;
            };
            if liquid.max.cmplt(low).any() || liquid.min.cmpgt(high).any() {
                let name = &network.nodes[solver].name;
                let sentence = format!(
                    "all of it begins beyond the box of `{name}` and is gone at once: move one of the two"
                );
                found.push((object, sentence));
            }
        }
    }
    Ok(found)
}

/// Whether an object holds liquid: it has particles.
pub(super) fn is_liquid(object: &Bound) -> bool {
    object.meant(Means::SEPARATION, 0.0).is_some_and(|separation| separation > 0.0)
}

/// Whether every place of a liquid, seen from above, has one of some solids in it or under it.
fn lie_under(solids: &[Bounds], liquid: &Bounds) -> bool {
    let low: Vec<&Bounds> = solids.iter().filter(|solid| solid.min.y <= liquid.min.y).collect();
    // Between the solids' edges nothing changes, so one place of each part says enough.
    let places = |axis: usize| {
        let (from, to) = (liquid.min[axis], liquid.max[axis]);
        let edges = low.iter().flat_map(|solid| [solid.min[axis], solid.max[axis]]);
        let mut edges: Vec<f64> = edges.filter(|x| (from..to).contains(x)).chain([from, to]).collect();
        edges.sort_by(f64::total_cmp);
        edges.windows(2).map(|part| 0.5 * (part[0] + part[1])).collect::<Vec<_>>()
    };
    let is_over = |solid: &Bounds, axis: usize, x: f64| solid.min[axis] <= x && x <= solid.max[axis];
    let zs = places(2);
    places(0)
        .iter()
        .all(|&x| zs.iter().all(|&z| low.iter().any(|solid| is_over(solid, 0, x) && is_over(solid, 2, z))))
}

/// The sources of a solver's liquid.
pub(super) fn sources(network: &Network, solver: usize) -> Vec<&Bound> {
    let inputs = network.nodes[solver].inputs.iter().map(|&i| &network.nodes[i]);
    inputs.filter(|n| !n.bypass && n.node_type.contract.as_ref().is_some_and(|c| c.is_source)).collect()
}

/// The bounds of the geometry of some nodes at a frame.
fn bounds(
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

/// From the highest place of a solver's liquids and sources to the lowest of its closed floor and of its solids, m; 0 where none of
/// these is below.
fn height(
    network: &Network,
    solver: usize,
    wires: &SolverWires,
    sources: &[&Bound],
    evaluator: &mut Evaluator,
) -> Result<f64, Problem> {
    let of = |objects: &[usize]| -> Vec<&Bound> { objects.iter().map(|&o| &network.nodes[o]).collect() };
    let first = f64::from(network.settings.frames.0);
    let solids = bounds(network, &of(&wires.affectors), first, evaluator)?.map(|b| b.min.y);
    let liquid = bounds(network, &[of(&wires.solved), sources.to_vec()].concat(), first, evaluator)?;
    let tank = Tank::of(&network.nodes[solver], first);
    let floor = tank.as_ref().and_then(Tank::floor);
    let ends = tank.as_ref().map_or(f64::NEG_INFINITY, Tank::lowest);
    let lowest = floor.into_iter().chain(solids).reduce(f64::min).map(|lowest| lowest.max(ends));
    Ok(liquid.zip(lowest).map_or(0.0, |(liquid, lowest)| (liquid.max.y - lowest).max(0.0)))
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
