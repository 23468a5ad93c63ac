//! Finds what a plan would leave out: shares of a system that nobody solves, mass that nobody takes.

use super::Planner;
use crate::node::{PortOwner, PortSpec, Stage};

impl Planner<'_> {
    /// Refuses participants whose share of the solve is never reached. A share counts as reached where a stage of the
    /// participant itself solves or contributes, or where the outermost coupling uses the objects of a solver.
    pub(super) fn check_shares(&mut self) {
        let plan = &self.plan;
        let members =
            plan.couplings.iter().flat_map(|(&c, w)| w.roles.iter().flatten().map(move |&m| (c, m)));
        let mut lost: Vec<(usize, usize)> = members.filter(|&(_, member)| self.is_lost(member)).collect();
        lost.sort_unstable();
        lost.dedup();
        for (coupling, member) in lost {
            let (name, outermost) = (&self.node(coupling).name, self.outermost(member));
            let top = &self.node(outermost).name;
            let message = match self.plan.couplings.contains_key(&member) {
                true => format!(
                    "its solve would never run: `{top}` solves in its stead, and it cannot contribute to that; wire it \
                     out of `{name}`, or bypass it"
                ),
                false => {
                    format!("its share is never solved: `{top}` does not reach it; wire it out of `{name}`")
                }
            };
            self.complain(member, message);
        }
    }

    /// The coupling whose schedule runs for a participant.
    fn outermost(&self, member: usize) -> usize {
        let around = |i: usize| {
            let holds = |w: &super::CouplingWires| w.roles.iter().flatten().any(|&m| m == i);
            self.plan.couplings.iter().find(|(_, w)| holds(w)).map(|(&c, _)| c)
        };
        let mut top = member;
        // A coupling stands after its participants in the network, so this ends.
        while let Some(next) = around(top) {
            top = next;
        }
        top
    }

    fn is_lost(&self, member: usize) -> bool {
        let contract = self.contract(member);
        let shares = [Stage::Solve, Stage::Contribute];
        if !shares.iter().any(|&s| contract.implements(s)) {
            return false;
        }
        let plan = &self.plan;
        let is_called = |node: usize, stages: &[Stage]| {
            plan.calls.iter().any(|c| c.node == node && stages.contains(&c.stage))
        };
        if is_called(member, &shares) {
            return false;
        }
        let top = self.outermost(member);
        let uses = |p: &PortSpec| p.access(Stage::Solve).reads || p.access(Stage::Solve).writes;
        let sees = |p: &PortSpec| {
            let PortOwner::Participant(role) = p.owner else { return false };
            let objects = plan.couplings.get(&top).and_then(|w| w.objects.get(role));
            let solved = plan.solvers.get(&member).map(|w| &w.solved);
            uses(p) && objects.into_iter().flatten().any(|o| solved.is_some_and(|s| s.contains(o)))
        };
        !(is_called(top, &[Stage::Solve]) && self.contract(top).ports.iter().any(sees))
    }

    pub(super) fn check_sources(&mut self) {
        for (&solver, wires) in &self.plan.solvers.clone() {
            for &force in &wires.forces {
                if self.contract(force).is_source && !self.contract(solver).accepts_sources {
                    let name = &self.node(solver).name;
                    let message = format!("adds or removes mass, but `{name}` solves what has a fixed mass");
                    self.complain(force, message);
                }
            }
        }
    }
}
