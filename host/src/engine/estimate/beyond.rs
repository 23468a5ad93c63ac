//! Liquid that begins beyond the box of its solver, or falls on far below all that is to be seen.

use super::super::media::{is_liquid, separation, sources};
use super::super::plan::Plan;
use super::super::span::span;
use super::super::tank::Tank;
use super::falls::bounds;
use crate::geometry::Evaluator;
use crate::graph::{Bound, Network, Problem};
use crate::output::Bounds;
use crate::text::{number, rounded};
use glam::DVec3;

/// How many times as high as a shot the way is that lost liquid falls below it, from which on that is told.
const FAR: f64 = 2.0;
/// Liquid that begins as far beyond a box is told, in distances between its particles: less of it is its mesh's rounding.
const SEEN: f64 = 2.0;

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
        let sources = sources(network, solver).map(|i| &network.nodes[i]);
        let liquid: Vec<&Bound> = objects.chain(sources).collect();
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

/// Liquids of which some or all begins beyond the box of their solver, and a sentence for each.
pub(super) fn outside(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
) -> Result<Vec<(usize, String)>, Problem> {
    let mut found = Vec::new();
    for (&solver, wires) in &plan.solvers {
        for &object in wires.solved.iter().filter(|&&o| is_liquid(&network.nodes[o])) {
            let node = &network.nodes[object];
            let first = f64::from(span(node, network.settings.frames).0);
            let Some((low, high)) = Tank::of(&network.nodes[solver], first).map(|tank| tank.limits()) else {
                continue;
            };
            let Some(liquid) = bounds(network, &[node], first, evaluator)? else {
                continue;
            };
            let name = &network.nodes[solver].name;
            let said = if liquid.max.cmplt(low).any() || liquid.min.cmpgt(high).any() {
                Some(format!(
                    "all of it begins beyond the box of `{name}` and is gone at once: move one of the two"
                ))
            } else {
                let (way, side) = farthest(low - liquid.min, liquid.max - high);
                (way > SEEN * separation(node).unwrap_or(0.0)).then(|| {
                    let way = number(rounded(way));
                    format!("it begins up to {way} m beyond the {side} side of the box of `{name}`: that part is gone at once")
                })
            };
            found.extend(said.map(|said| (object, said)));
        }
    }
    Ok(found)
}

/// The side that a liquid reaches beyond by most, and by how much, m, of how far it does below and above.
fn farthest(below: DVec3, above: DVec3) -> (f64, &'static str) {
    let sides = ["-X", "-Y", "-Z", "+X", "+Y", "+Z"];
    let ways = below.to_array().into_iter().chain(above.to_array());
    ways.zip(sides).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
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
