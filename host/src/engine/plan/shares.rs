//! Finds what a plan would leave out: shares of a system that nobody solves, mass that nobody takes.

use super::{Call, Planner};
use crate::data::Lifetime;
use crate::engine::span::span;
use crate::engine::state::{Holder, Slot};
use crate::node::{Access, ParamSpec, PortOwner, PortSpec, Stage};
use meniscus_abi::Means;
use std::collections::{BTreeMap, BTreeSet};

/// The stages in which a node takes part in a solve.
const SHARES: [Stage; 2] = [Stage::Solve, Stage::Contribute];

impl Planner<'_> {
    /// Refuses participants whose share of the solve is never reached. A share counts as reached where a stage of the
    /// participant itself solves or contributes, or where the outermost coupling uses its objects or its own data.
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
                false if self.has_share(member) => {
                    format!("its share is never solved: `{top}` does not reach it; wire it out of `{name}`")
                }
                false => {
                    format!(
                        "`{name}` uses nothing that it has: wire it out of `{name}`, and it steps by itself"
                    )
                }
            };
            self.complain(member, message);
        }
        // Each looks for what the ones before it did not find: one mistake is told of once.
        for check in [
            Self::check_idle,
            Self::check_unwritten,
            Self::check_heard,
            Self::check_passed_by,
            Self::check_frames,
        ] {
            if self.problems.0.is_empty() {
                check(self);
            }
        }
    }

    /// Refuses solvers in couplings that nothing ever calls: what their objects have is old, and a coupling would take it for new.
    fn check_idle(&mut self) {
        let plan = &self.plan;
        let members =
            plan.couplings.iter().flat_map(|(&c, w)| w.roles.iter().flatten().map(move |&m| (c, m)));
        let is_idle = |&(_, member): &(usize, usize)| {
            plan.solvers.contains_key(&member) && !plan.calls.iter().any(|call| call.node == member)
        };
        for (coupling, member) in members.filter(is_idle).collect::<Vec<_>>() {
            let message = format!(
                "it has no stage that runs in a substep, so that `{0}` would have nothing new of it; wire it out of `{0}`",
                self.node(coupling).name
            );
            self.complain(member, message);
        }
    }

    /// Refuses solvers whose ports promise a coupling what no stage of theirs writes: it would find nothing there, or what is old.
    fn check_unwritten(&mut self) {
        let plan = &self.plan;
        let readers = self.readers();
        let mut unwritten: BTreeMap<(usize, usize, Stage), BTreeSet<String>> = BTreeMap::new();
        for (&solver, wires) in &plan.solvers {
            let contract = self.contract(solver);
            for port in &contract.ports {
                let writers: Vec<Stage> = Stage::ALL.into_iter().filter(|&s| port.access(s).writes).collect();
                let Some(&stage) =
                    writers.first().filter(|_| !writers.iter().any(|&s| contract.implements(s)))
                else {
                    continue;
                };
                let mut slots =
                    wires.solved.iter().flat_map(|&o| plan.slots(self.network, solver, Some(o), port));
                let reader = slots.find_map(|slot| readers.get(&slot)?.first().copied());
                if let Some(coupling) = reader {
                    let names = unwritten.entry((solver, coupling, stage)).or_default();
                    names.insert(format!("`{}`", port.name));
                }
            }
        }
        for ((solver, coupling, stage), names) in unwritten {
            let (reader, stage) = (&self.node(coupling).name, stage.name());
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!(
                "`{reader}` reads its {names}, to be written in the stage {stage}, and it has no such stage: wire it out of \
                 `{reader}`, or have its plugin mended"
            );
            self.complain(solver, message);
        }
    }

    /// Refuses solvers that rest while a coupling needs what they leave for it in every substep.
    fn check_frames(&mut self) {
        let shot = self.network.settings.frames;
        let frames = |node: usize| {
            let (first, last) = span(self.node(node), shot);
            (first, last.min(shot.1))
        };
        let mut resting = Vec::new();
        for (&coupling, wires) in &self.plan.couplings {
            let needs =
                |p: &&PortSpec| p.required && p.lifetime == Lifetime::Substep && p.access(Stage::Solve).reads;
            let needed: BTreeSet<Slot> =
                self.contract(coupling).ports.iter().filter(needs).fold(BTreeSet::new(), |mut all, port| {
                    all.extend(self.plan.slots(self.network, coupling, None, port));
                    all
                });
            for &member in wires.roles.iter().flatten() {
                let Some(solver) = self.plan.solvers.get(&member) else { continue };
                for &object in &solver.solved {
                    let is_needed = needed
                        .iter()
                        .any(|slot| slot.holder == Holder::Object(object) && self.is_written(member, slot));
                    let (own, solved, there) = (frames(member), frames(coupling), frames(object));
                    let together = (solved.0.max(there.0), solved.1.min(there.1));
                    let runs = own.0 <= together.0 && own.1 >= together.1;
                    if is_needed && together.0 <= together.1 && !runs {
                        resting.push((member, coupling, object));
                    }
                }
            }
        }
        for (member, coupling, object) in resting {
            let sets = |p: &&ParamSpec| [Means::FIRST_FRAME, Means::LAST_FRAME].contains(&p.means);
            let params = self.node(member).node_type.params.iter().filter(sets);
            let names: Vec<String> = params.map(|p| format!("`{}`", p.name)).collect();
            let message = format!(
                "its {} lets it rest while `{}` goes on solving `{}`: give these frames to `{}` instead, or to all three",
                names.join(" or "),
                self.node(coupling).name,
                self.node(object).name,
                self.node(object).name
            );
            self.complain(member, message);
        }
    }

    /// What a call does this with.
    fn slots_of(&self, call: &Call, uses: fn(Access) -> bool) -> Vec<Slot> {
        let ports = self.contract(call.node).ports.iter().filter(|p| uses(p.access(call.stage)));
        ports.flat_map(|p| self.plan.slots(self.network, call.node, call.object, p)).collect()
    }

    /// The couplings that read each slot.
    fn readers(&self) -> BTreeMap<Slot, BTreeSet<usize>> {
        let mut readers: BTreeMap<Slot, BTreeSet<usize>> = BTreeMap::new();
        for call in self.plan.calls.iter().filter(|c| self.plan.couplings.contains_key(&c.node)) {
            for slot in self.slots_of(call, |access| access.reads) {
                readers.entry(slot).or_default().insert(call.node);
            }
        }
        readers
    }

    /// Refuses participants whose contribution no coupling reads, in whatever stage: one may pass on what it reads of others.
    fn check_heard(&mut self) {
        let plan = &self.plan;
        let readers = self.readers();
        let mut unheard: BTreeMap<usize, Vec<Slot>> = BTreeMap::new();
        for call in plan.calls.iter().filter(|c| c.stage == Stage::Contribute) {
            unheard.entry(call.node).or_default().extend(self.slots_of(call, |access| access.writes));
        }
        unheard.retain(|node, slots: &mut Vec<Slot>| {
            let is_read = |s: &Slot| readers.get(s).is_some_and(|by| by.iter().any(|reader| reader != node));
            let is_heard = slots.iter().any(is_read);
            // A coupling also changes data of its participants there, which the outer one reads; what it hands on is gone with
            // the substep.
            if is_heard && plan.couplings.contains_key(node) {
                slots.retain(|s| self.is_scratch(*node, s) && !is_read(s));
                return !slots.is_empty();
            }
            !slots.is_empty() && !is_heard
        });
        for (member, slots) in unheard {
            let top = self.node(self.outermost(member)).name.clone();
            let names: BTreeSet<String> = slots.iter().map(|s| format!("`{}`", s.port)).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!(
                "what it contributes is read by nobody: `{top}` takes no {names}; wire it out of `{top}`"
            );
            self.complain(member, message);
        }
    }

    /// Refuses solvers whose contribution only a coupling would take that does not solve, because another one solves in its stead.
    fn check_passed_by(&mut self) {
        let plan = &self.plan;
        let read = self.readers();
        let mut would: BTreeMap<Slot, usize> = BTreeMap::new();
        for &coupling in plan.couplings.keys() {
            let ports = self.contract(coupling).ports.iter().filter(|p| p.access(Stage::Solve).reads);
            for slot in ports.flat_map(|p| plan.slots(self.network, coupling, None, p)) {
                would.insert(slot, coupling);
            }
        }
        let mut lost: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
        let contributes =
            |call: &&Call| call.stage == Stage::Contribute && plan.solvers.contains_key(&call.node);
        for call in plan.calls.iter().filter(contributes) {
            for slot in
                self.slots_of(call, |access| access.writes).into_iter().filter(|s| !read.contains_key(s))
            {
                if let Some(&coupling) = would.get(&slot) {
                    lost.entry((call.node, coupling)).or_default().insert(format!("`{}`", slot.port));
                }
            }
        }
        for ((member, coupling), names) in lost {
            let (taker, top) =
                (self.node(coupling).name.clone(), self.node(self.outermost(member)).name.clone());
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!(
                "what it contributes is lost: `{taker}` would take its {names}, but `{top}` solves in its stead, and does not; \
                 wire `{taker}` out of `{top}`"
            );
            self.complain(member, message);
        }
    }

    /// Whether a node's data of this name do not outlive the substep.
    fn is_scratch(&self, node: usize, slot: &Slot) -> bool {
        let ports = &self.contract(node).ports;
        ports.iter().any(|p| p.name == slot.port && p.lifetime == Lifetime::Substep)
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

    /// Whether a node has something to solve.
    fn has_share(&self, node: usize) -> bool {
        SHARES.iter().any(|&s| self.contract(node).implements(s))
    }

    fn is_lost(&self, member: usize) -> bool {
        let plan = &self.plan;
        let is_called = |node: usize, stages: &[Stage]| {
            plan.calls.iter().any(|c| c.node == node && stages.contains(&c.stage))
        };
        if !self.has_share(member) {
            return self.is_passed_over(member);
        }
        if is_called(member, &SHARES) {
            return false;
        }
        let top = self.outermost(member);
        let uses = |p: &PortSpec| p.access(Stage::Solve).reads || p.access(Stage::Solve).writes;
        let solved = plan.solvers.get(&member).map(|w| &w.solved);
        let is_its_own = |slot: &Slot| match slot.holder {
            Holder::Object(o) => solved.is_some_and(|s| s.contains(&o)),
            Holder::Node(n) => n == member,
        };
        let sees = |p: &PortSpec| {
            let slots = || plan.slots(self.network, top, None, p);
            uses(p) && slots().iter().any(|slot| is_its_own(slot) && self.is_written(member, slot))
        };
        !(is_called(top, &[Stage::Solve]) && self.contract(top).ports.iter().any(sees))
    }

    /// Whether a coupling looks for something at a participant's objects, and finds nothing that the participant makes there. One that
    /// looks for nothing only says who goes first.
    fn is_passed_over(&self, member: usize) -> bool {
        let plan = &self.plan;
        let Some(solver) = plan.solvers.get(&member) else { return false };
        let roles = plan.couplings.iter().flat_map(|(&c, w)| {
            let of_member = move |(_, members): &(usize, &Vec<usize>)| members.contains(&member);
            w.roles.iter().enumerate().filter(of_member).map(move |(role, _)| (c, role))
        });
        let looks: Vec<(usize, &PortSpec)> = roles
            .flat_map(|(c, role)| {
                let of_role = move |p: &&PortSpec| p.owner == PortOwner::Participant(role);
                self.contract(c).ports.iter().filter(of_role).map(move |p| (c, p))
            })
            .collect();
        let finds = |&(coupling, port): &(usize, &PortSpec)| {
            let slots = plan.slots(self.network, coupling, None, port);
            let is_its_own = |slot: &Slot| match slot.holder {
                Holder::Object(o) => solver.solved.contains(&o),
                Holder::Node(n) => n == member,
            };
            slots.iter().any(|slot| is_its_own(slot) && self.is_written(member, slot))
        };
        !looks.is_empty() && !looks.iter().any(finds)
    }

    /// Whether a participant, one of its objects or a force on them writes what a coupling looks for.
    fn is_written(&self, member: usize, slot: &Slot) -> bool {
        let writes = |node: usize, object: Option<usize>| {
            let ports = &self.contract(node).ports;
            let at = |p: &PortSpec| self.plan.slots(self.network, node, object, p).contains(slot);
            ports.iter().any(|p| Stage::ALL.iter().any(|&s| p.access(s).writes) && at(p))
        };
        let wires = self.plan.solvers.get(&member);
        let object = match slot.holder {
            Holder::Object(o) => Some(o),
            Holder::Node(_) => None,
        };
        let forces = wires.into_iter().flat_map(|w| &w.forces);
        writes(member, object)
            || object.is_some_and(|o| writes(o, Some(o)))
            || forces.into_iter().any(|&force| writes(force, object))
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
