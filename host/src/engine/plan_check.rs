//! Checks a plan before anything runs: every read has an earlier writer, and all nodes declare a port's name alike.

use super::plan::{Call, Plan, contract};
use super::state::{Holder, Slot};
use super::upstream::{GEOMETRY_PORT, upstream};
use crate::graph::{Bound, Network, Problem, Problems};
use crate::node::{Carries, Merge, NodeKind, PortOwner, PortSpec, Stage};
use crate::output::{self, Offer, Offered};
use std::collections::{BTreeMap, BTreeSet};

/// Checks every port of every call of the plan.
pub fn check(network: &Network, plan: &Plan) -> Result<(), Problems> {
    let checker = Checker::through(network, plan);
    let asked = checker.check_outputs();
    let problem = |(node, message): (usize, String)| Problem::node(&network.nodes[node].name, message);
    Problems(checker.found.into_iter().map(problem).chain(asked).collect()).unless_any(())
}

/// The data that the objects upstream of a node have now or will have; `None` if there are no objects.
pub(super) fn offer(network: &Network, plan: &Plan, node: usize) -> Option<Offer> {
    Checker::through(network, plan).offer(node)
}

struct Checker<'a> {
    network: &'a Network,
    plan: &'a Plan,
    written: BTreeSet<Slot>,
    meant: BTreeMap<Slot, (usize, &'static str)>,
    found: BTreeSet<(usize, String)>,
}

impl<'a> Checker<'a> {
    /// Every call of the plan, visited in order.
    fn through(network: &'a Network, plan: &'a Plan) -> Self {
        let mut checker = Checker {
            network,
            plan,
            written: BTreeSet::new(),
            meant: BTreeMap::new(),
            found: BTreeSet::new(),
        };
        for &object in &plan.objects {
            if contract(&network.nodes[object]).implements(Stage::Init) {
                checker.visit(&Call { node: object, stage: Stage::Init, object: Some(object), step: 0 });
            }
        }
        let meetings = plan.objects.iter().flat_map(|&o| plan.meetings(network, o));
        meetings.chain(plan.calls.iter().cloned()).for_each(|c| checker.visit(&c));
        checker
    }

    /// Finds data that output nodes ask for and no node writes.
    fn check_outputs(&self) -> Vec<Problem> {
        let first = f64::from(self.network.settings.frames.0);
        let refused = |(i, node): (usize, &Bound)| {
            let is_writer = node.node_type.kind == NodeKind::Output && !node.bypass;
            let offer = is_writer.then(|| self.offer(i)).flatten()?;
            let asked = output::check(&node.node_type.id, &node.params_at(first), &offer);
            asked.err().map(|e| e.of(&node.name))
        };
        self.network.nodes.iter().enumerate().filter_map(refused).collect()
    }

    fn offer(&self, node: usize) -> Option<Offer> {
        let upstream = upstream(self.network, node);
        let of_kind = |object: usize, kind: &str| -> Vec<String> {
            let there = |slot: &&Slot| {
                slot.holder == Holder::Object(object) && self.meant.get(slot).is_some_and(|m| m.1 == kind)
            };
            self.written.iter().filter(there).map(|slot| slot.port.clone()).collect()
        };
        let offered = |&i: &usize| {
            let bound = &self.network.nodes[i];
            let is_mesh = bound.node_type.kind == NodeKind::Geometry;
            let geometry = if is_mesh { vec![GEOMETRY_PORT.into()] } else { of_kind(i, "geometry") };
            Offered { object: bound.name.clone(), is_mesh, grids: of_kind(i, "grid"), geometry }
        };
        (!upstream.is_empty()).then(|| Offer { objects: upstream.iter().map(offered).collect() })
    }

    fn visit(&mut self, call: &Call) {
        let ports = &contract(&self.network.nodes[call.node]).ports;
        for port in ports {
            self.check_meaning(call, port);
            self.check_read(call, port);
        }
        for port in ports.iter().filter(|p| p.access(call.stage).writes) {
            for slot in self.slots(call, port) {
                self.written.insert(slot);
            }
        }
    }

    fn slots(&self, call: &Call, port: &PortSpec) -> Vec<Slot> {
        let holders = self.plan.holders(call.node, call.object, port.owner);
        holders.into_iter().map(|holder| Slot { holder, port: port.name.clone() }).collect()
    }

    fn check_read(&mut self, call: &Call, port: &PortSpec) {
        if !(port.required && port.access(call.stage).reads) {
            return;
        }
        let stage = call.stage.name();
        if port.owner == PortOwner::Input {
            if self.network.nodes[call.node].inputs.is_empty() {
                let message = format!("{stage} needs geometry for `{}`, and nothing is wired in", port.name);
                self.found.insert((call.node, message));
            }
            return;
        }
        if port.owner == PortOwner::Affector {
            return;
        }
        for slot in self.slots(call, port).into_iter().filter(|s| !self.written.contains(s)) {
            let whose = match slot.holder {
                Holder::Object(o) => format!("of `{}`", self.network.nodes[o].name),
                Holder::Node(_) => "of the node itself".into(),
            };
            let message = format!("{stage} reads `{}` {whose}, and nothing has written it before", port.name);
            self.found.insert((call.node, message));
        }
    }

    fn check_meaning(&mut self, call: &Call, port: &PortSpec) {
        let access = port.access(call.stage);
        if !access.reads && !access.writes {
            return;
        }
        if access.writes && port.merge != Merge::Replace && !matches!(port.carries, Carries::Grid { .. }) {
            let message = format!("port `{}` adds up or takes the least, which only grids can", port.name);
            self.found.insert((call.node, message));
        }
        if access.writes && matches!(port.owner, PortOwner::Input | PortOwner::Affector) {
            let message = format!("port `{}` is written, but inputs and affectors are only read", port.name);
            self.found.insert((call.node, message));
        }
        for slot in self.slots(call, port) {
            let kind = port.carries.name();
            let &mut (other, before) = self.meant.entry(slot).or_insert((call.node, kind));
            if before != kind {
                let name = &self.network.nodes[other].name;
                let message = format!("port `{}` is a {kind} here and a {before} for `{name}`", port.name);
                self.found.insert((call.node, message));
            }
        }
    }
}
