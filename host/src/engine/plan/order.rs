//! The calls of one substep, in order.

use super::{Call, CouplingWires, Planner};
use crate::node::{NodeKind, Stage, Step};
use std::collections::BTreeMap;

/// An entry of a coupling's schedule, at a participant.
#[derive(Clone, Copy)]
struct Turn<'a> {
    stage: Stage,
    /// Number of the entry.
    entry: u32,
    /// The objects it is for; `None` for all.
    objects: Option<&'a [usize]>,
    /// No entry of the same stage stands just before this one in which the participant plays.
    first: bool,
    /// No such entry follows at once. A coupling among the participants runs its own stage once, though its own
    /// participants take their turns by their media: after the last of them, in `correct` before the first.
    last: bool,
}

impl Planner<'_> {
    /// Solvers and couplings that are in no coupling, in the order in which they step: by rank, then by name.
    pub(super) fn roots(&mut self) -> Vec<usize> {
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        for (&coupling, wires) in &self.plan.couplings.clone() {
            for &member in wires.roles.iter().flatten() {
                if let Some(other) = taken.insert(member, coupling).filter(|&other| other != coupling) {
                    let (a, b) = (&self.node(other).name, &self.node(coupling).name);
                    let message = format!("takes part in both `{a}` and `{b}`; wire one into the other");
                    self.complain(member, message);
                }
            }
        }
        let all = self.plan.solvers.keys().chain(self.plan.couplings.keys());
        let mut roots: Vec<usize> = all.copied().filter(|i| !taken.contains_key(i)).collect();
        roots.sort_by_key(|&i| (self.rank(i), &self.node(i).name));
        roots
    }

    pub(super) fn order(&mut self, roots: Vec<usize>) {
        for o in self.plan.objects.clone() {
            self.call(o, Stage::Predict, Some(o), 0);
        }
        for root in roots {
            if self.kind(root) == NodeKind::Solver {
                for stage in [Stage::Predict, Stage::Solve, Stage::Correct] {
                    self.take_turn(root, Turn { stage, entry: 0, objects: None, first: true, last: true });
                }
            } else {
                self.schedule(root);
            }
        }
        self.plan.advisers = self.advisers();
    }

    /// Every node that runs in a substep, with its objects: each may limit the substep's length.
    fn advisers(&self) -> Vec<Call> {
        let objects = self.plan.objects.iter().map(|&o| (o, Some(o)));
        let solvers = self.plan.solvers.iter().flat_map(|(&solver, wires)| {
            let about = move |node: usize| wires.solved.iter().map(move |&o| (node, Some(o)));
            wires.forces.iter().copied().chain([solver]).flat_map(about)
        });
        let couplings = self.plan.couplings.keys().map(|&n| (n, None));
        let all = objects.chain(solvers).chain(couplings);
        all.map(|(node, object)| Call { node, stage: Stage::Predict, object, step: 0 }).collect()
    }

    fn schedule(&mut self, coupling: usize) {
        let contract = self.contract(coupling);
        let steps = contract.schedule();
        let CouplingWires { roles, objects, .. } = self.plan.couplings[&coupling].clone();
        let plays = |step: &Step, member: usize| {
            step.role.and_then(|r| roles.get(r)).is_some_and(|members| members.contains(&member))
        };
        for (entry, step) in steps.iter().enumerate() {
            let Some(role) = step.role else {
                self.call(coupling, step.stage, None, entry as u32);
                continue;
            };
            let objects = objects.get(role).map(Vec::as_slice);
            let alike = |s: &&Step| s.stage == step.stage;
            let before = || steps[..entry].iter().rev().take_while(alike);
            let after = || steps[entry + 1..].iter().take_while(alike);
            for &member in roles.get(role).into_iter().flatten() {
                let first = !before().any(|s| plays(s, member));
                let last = !after().any(|s| plays(s, member));
                self.take_turn(member, Turn { stage: step.stage, entry: entry as u32, objects, first, last });
            }
        }
    }

    /// A stage of a participant. A coupling among the participants passes the stage on to its own participants and
    /// runs its own after them, in `correct` before them; the solve stage it runs itself.
    fn take_turn(&mut self, member: usize, turn: Turn) {
        let Turn { stage, entry, objects, last, .. } = turn;
        if let Some(inner) = self.plan.couplings.get(&member).cloned() {
            let mut members: Vec<usize> = Vec::new();
            inner.roles.iter().flatten().for_each(|m| {
                if !members.contains(m) {
                    members.push(*m)
                }
            });
            // What a solve gave is handed on before anyone takes it.
            let first = stage == Stage::Correct && turn.first;
            if first {
                self.call(member, stage, None, entry);
            }
            if stage != Stage::Solve {
                members.into_iter().for_each(|m| self.take_turn(m, turn));
            }
            if last && stage != Stage::Correct {
                self.call(member, stage, None, entry);
            }
            return;
        }
        let Some(wires) = self.plan.solvers.get(&member).cloned() else { return };
        let contract = self.contract(member);
        if objects.is_some_and(|objects| !wires.solved.iter().any(|o| objects.contains(o))) {
            return;
        }
        let at_once = contract.takes_all(stage);
        for &object in &wires.solved {
            if stage == Stage::Predict {
                // Sources act before other forces.
                let is_source = |&f: &usize| self.contract(f).is_source;
                let (sources, others): (Vec<_>, Vec<_>) = wires.forces.iter().copied().partition(is_source);
                sources.into_iter().chain(others).for_each(|f| self.call(f, stage, Some(object), 0));
            }
            if !at_once {
                self.call(member, stage, Some(object), entry);
            }
        }
        if at_once && !wires.solved.is_empty() {
            self.call(member, stage, None, entry);
        }
    }

    fn call(&mut self, node: usize, stage: Stage, object: Option<usize>, step: u32) {
        if self.contract(node).implements(stage) {
            self.plan.calls.push(Call { node, stage, object, step });
        }
    }
}
