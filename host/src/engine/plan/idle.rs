//! What a graph holds for nothing: solvers that solve nothing, objects that no solver moves, or of which who has them wired in
//! reads nothing; and what nodes are given without effect.

use super::check::made;
use super::unused::unused;
use super::{Plan, contract};
use crate::engine::state::{Holder, Slot};
use crate::graph::{Bound, Network};
use crate::node::{NodeKind, PortOwner, Stage};
use std::collections::{BTreeMap, BTreeSet};

/// The nodes, each with a sentence about it. Nothing is said of objects in a graph without solvers: it may only write what it
/// has.
pub fn idle(network: &Network, plan: &Plan) -> Vec<(usize, String)> {
    let mut found = unused(network);
    if plan.solvers.is_empty() {
        return found;
    }
    let made = made(network, plan);
    let wired = |object: usize| network.nodes.iter().any(|n| n.inputs.contains(&object));
    // Who bypasses a solver knows that its objects stay as they are.
    let is_bypassed = |object: usize| {
        let mut solvers = network.nodes.iter().filter(|n| n.node_type.kind == NodeKind::Solver);
        solvers.any(|n| n.bypass && n.inputs.contains(&object))
    };
    for &object in &plan.objects {
        let own = contract(&network.nodes[object]);
        let moves = own.ports.iter().any(|p| p.is_movable && p.owner == PortOwner::Object);
        if moves && plan.solver_of(object).is_none() {
            if !is_bypassed(object) {
                let sentence = format!(
                    "no solver moves it, so it stays as it begins: wire it into a solver of medium `{}`",
                    own.medium
                );
                found.push((object, sentence));
            }
        } else if !wired(object) {
            found.push((object, "it is wired into nothing: nothing meets it".into()));
        }
        if let Some(solver) = plan.solver_of(object).filter(|&s| stays_empty(network, plan, object, s)) {
            let name = &network.nodes[solver].name;
            let sentence = format!(
                "it begins empty, and nothing fills it: wire geometry into it, or a source into `{name}`"
            );
            found.push((object, sentence));
        }
        let solvers = plan.solvers.iter().filter(|(_, wires)| wires.affectors.contains(&object));
        for (&solver, _) in solvers.filter(|(solver, _)| !reads(network, &made, **solver, object)) {
            let name = &network.nodes[solver].name;
            let sentence =
                format!("it is wired into `{name}`, which takes nothing from it: wire it elsewhere, or out");
            found.push((object, sentence));
        }
    }
    for (&solver, _) in plan.solvers.iter().filter(|(_, wires)| wires.solved.is_empty()) {
        let medium = &contract(&network.nodes[solver]).medium;
        let sentence =
            format!("it solves nothing: wire an object of medium `{medium}` into it, or end its bypass");
        found.push((solver, sentence));
    }
    found
}

/// Geometry and forces that are wired into nothing.
pub fn loose(network: &Network) -> Vec<(usize, String)> {
    let must_be_wired = |kind: NodeKind| matches!(kind, NodeKind::Geometry | NodeKind::Force);
    let is_wired = |i: usize| network.nodes.iter().any(|node| node.inputs.contains(&i));
    let nodes = network.nodes.iter().enumerate().filter(|(_, node)| !node.bypass);
    let loose = nodes.filter(|&(i, node)| must_be_wired(node.node_type.kind) && !is_wired(i));
    loose.map(|(i, _)| (i, "it is wired into nothing".to_owned())).collect()
}

/// What to say of a graph that writes nothing.
pub fn unwritten(network: &Network) -> Option<String> {
    let writes = |node: &Bound| !node.bypass && node.node_type.kind == NodeKind::Output;
    let sentence = "nothing is written but figures (`stats.jsonl`): wire an output node, such as `vdb_cache` or `preview`, to a solver";
    (!network.nodes.iter().any(writes)).then(|| sentence.to_owned())
}

/// Solvers and couplings with stages that nothing they are wired into ever calls, or calls several times a substep: the schedule of a
/// coupling says which of them run.
pub fn misscheduled(network: &Network, plan: &Plan) -> Vec<(usize, String)> {
    let calls = |node: usize, stage: Stage| {
        let mut times: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        let of_stage = plan.calls.iter().filter(|call| call.node == node && call.stage == stage);
        of_stage.for_each(|call| *times.entry(call.object).or_default() += 1);
        times.into_values().max().unwrap_or(0)
    };
    let listed = |stages: &[Stage]| {
        let names: Vec<String> = stages.iter().map(|stage| format!("`{}`", stage.name())).collect();
        let of_several = if names.len() > 1 { "stages" } else { "stage" };
        format!("{of_several} {}", names.join(" and "))
    };
    let mut found = Vec::new();
    for node in plan.solvers.keys().chain(plan.couplings.keys()).copied() {
        // Those that solve nothing are told of as such.
        if plan.solvers.get(&node).is_some_and(|wires| wires.solved.is_empty()) {
            continue;
        }
        // A coupling contributes where it is wired into another one.
        let contributes = plan.solvers.contains_key(&node) && plan.is_coupled(node);
        let own = [Stage::Predict, Stage::Contribute, Stage::Correct, Stage::Advance, Stage::Transport];
        let own = own.into_iter().filter(|&stage| contract(&network.nodes[node]).implements(stage));
        let own: Vec<Stage> = own.filter(|&stage| stage != Stage::Contribute || contributes).collect();
        let resting: Vec<Stage> = own.iter().copied().filter(|&stage| calls(node, stage) == 0).collect();
        let heads = plan.couplings.contains_key(&node) && !plan.is_coupled(node);
        if !resting.is_empty() {
            let stages = listed(&resting);
            found.push((
                node,
                match heads {
                    true => format!("its schedule leaves out its {stages}: it steps without"),
                    false => format!("no coupling around it calls its {stages}: it steps without"),
                },
            ));
        }
        // Those are made to be repeated.
        let iterated = [Stage::Advance, Stage::Transport];
        let again = own.into_iter().filter(|stage| !iterated.contains(stage) && calls(node, *stage) > 1);
        let again: Vec<Stage> = again.collect();
        if !again.is_empty() {
            let (stages, who) =
                (listed(&again), if heads { "its schedule" } else { "the coupling around it" });
            found.push((node, format!("{who} calls its {stages} several times a substep")));
        }
    }
    found
}

/// Objects in a coupling of several solvers that some of the others could meet, and none does. A coupling may refuse these when
/// it runs, so a cook says nothing of them before.
pub fn uncoupled(network: &Network, plan: &Plan) -> Vec<(usize, String)> {
    let made = made(network, plan);
    let mut found = BTreeMap::new();
    for (&coupling, wires) in &plan.couplings {
        let members: Vec<usize> =
            wires.members_of(None).into_iter().filter(|m| plan.solvers.contains_key(m)).collect();
        for &own in &members {
            for &object in &plan.solvers[&own].solved {
                let could = |other: &&usize| **other != own && reads(network, &made, **other, object);
                let others: Vec<usize> = members.iter().filter(could).copied().collect();
                if others.is_empty() || others.iter().any(|o| plan.solvers[o].affectors.contains(&object)) {
                    continue;
                }
                let names: Vec<String> =
                    others.iter().map(|&o| format!("`{}`", network.nodes[o].name)).collect();
                let sentence = format!(
                    "nothing that `{}` couples meets it: wire it into {} as well",
                    network.nodes[coupling].name,
                    names.join(" or ")
                );
                found.insert(object, sentence);
            }
        }
    }
    found.into_iter().collect()
}

/// Whether an object is made from geometry and has none, and its solver has no source that could fill it.
fn stays_empty(network: &Network, plan: &Plan, object: usize, solver: usize) -> bool {
    let node = &network.nodes[object];
    let is_made_from_geometry = contract(node).ports.iter().any(|p| p.owner == PortOwner::Input);
    let forces = plan.solvers.get(&solver).into_iter().flat_map(|wires| &wires.forces);
    let fills = |&force: &usize| contract(&network.nodes[force]).is_source;
    let takes_sources = contract(&network.nodes[solver]).accepts_sources;
    node.inputs.is_empty() && is_made_from_geometry && takes_sources && !forces.copied().any(|f| fills(&f))
}

/// Whether a solver reads anything that an object has.
fn reads(network: &Network, made: &BTreeSet<Slot>, solver: usize, object: usize) -> bool {
    let ports = contract(&network.nodes[solver]).ports.iter().filter(|p| p.owner == PortOwner::Affector);
    let mut read = ports.filter(|p| Stage::ALL.into_iter().any(|stage| p.access(stage).reads));
    read.any(|p| made.contains(&Slot { holder: Holder::Object(object), port: p.name.clone() }))
}
