//! Checks a plan before anything runs: every read has an earlier writer, and all nodes declare the same data alike.

use super::{Call, Plan, contract};
use crate::data::{Drawn, Lifetime, Shown};
use crate::engine::state::{Holder, Slot};
use crate::engine::upstream::{GEOMETRY_PORT, upstream};
use crate::graph::{Bound, Network, Problem, Problems};
use crate::node::{Carries, Merge, NodeKind, PortOwner, PortSpec, Report, Stage};
use crate::output::{self, About, Offer, Offered};
use meniscus_abi::Means;
use std::collections::{BTreeMap, BTreeSet};

/// Checks every port of every call of the plan.
pub fn check(network: &Network, plan: &Plan) -> Result<(), Problems> {
    let checker = Checker::through(network, plan);
    let asked = checker.check_outputs();
    let problem = |(node, message): (usize, String)| Problem::node(&network.nodes[node].name, message);
    Problems(checker.found.into_iter().map(problem).chain(asked).collect()).unless_any(())
}

/// The data that the objects upstream of a node have now or will have; `None` if there are no objects.
pub(in crate::engine) fn offer(network: &Network, plan: &Plan, node: usize) -> Option<Offer> {
    Checker::through(network, plan).offer(node)
}

/// All that nodes of a plan write, or will.
pub(super) fn made(network: &Network, plan: &Plan) -> BTreeSet<Slot> {
    Checker::through(network, plan).made.into_keys().collect()
}

/// What the data of a plan is to output nodes and to statistics.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// What data is to output nodes.
    pub shown: BTreeMap<Slot, Shown>,
    /// How points are listed.
    pub reports: BTreeMap<Slot, Report>,
}

impl Declared {
    /// As the nodes declare it.
    pub fn of(network: &Network, plan: &Plan) -> Self {
        let mut declared = Self::default();
        for (slot, made) in Checker::through(network, plan).made {
            declared.shown.insert(slot.clone(), made.shown);
            declared.reports.extend(made.report.map(|report| (slot, report.clone())));
        }
        declared
    }
}

/// What writers say of data; where several do, they agree.
#[derive(Clone, Copy)]
struct Made<'a> {
    node: usize,
    lifetime: Lifetime,
    shown: Shown,
    /// Of the first writer.
    unit: &'a str,
    /// First node and port that call it a result.
    result: Option<(usize, usize)>,
    report: Option<&'a Report>,
}

struct Checker<'a> {
    network: &'a Network,
    plan: &'a Plan,
    made: BTreeMap<Slot, Made<'a>>,
    carried: BTreeMap<Slot, (usize, Carries)>,
    /// How nodes that make data anew put it together.
    merged: BTreeMap<Slot, (usize, Merge)>,
    found: BTreeSet<(usize, String)>,
}

impl<'a> Checker<'a> {
    /// Every call of the plan, visited in order.
    fn through(network: &'a Network, plan: &'a Plan) -> Self {
        let mut checker = Checker {
            network,
            plan,
            made: BTreeMap::new(),
            carried: BTreeMap::new(),
            merged: BTreeMap::new(),
            found: BTreeSet::new(),
        };
        for &object in &plan.objects {
            if contract(&network.nodes[object]).implements(Stage::Init) {
                checker.visit(&Call { node: object, stage: Stage::Init, object: Some(object), step: 0 });
            }
        }
        let meetings = plan.meetings(network, &plan.objects);
        meetings.iter().chain(&plan.calls).for_each(|c| checker.visit(c));
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
        let made_of =
            |object: usize| self.made.iter().filter(move |(s, _)| s.holder == Holder::Object(object));
        let of_kind = |object: usize, kind: &str| -> Vec<String> {
            let is = |slot: &Slot| self.carried.get(slot).is_some_and(|c| c.1.name() == kind);
            made_of(object).filter(|(slot, _)| is(slot)).map(|(slot, _)| slot.port.clone()).collect()
        };
        let results = |object: usize| -> Vec<String> {
            let mut all: Vec<_> =
                made_of(object).filter_map(|(s, m)| Some((m.result?, s.port.clone()))).collect();
            all.sort();
            all.into_iter().map(|(_, name)| name).collect()
        };
        let offered = |&i: &usize| {
            let bound = &self.network.nodes[i];
            let is_mesh = bound.node_type.kind == NodeKind::Geometry;
            let geometry = if is_mesh { vec![GEOMETRY_PORT.into()] } else { of_kind(i, "geometry") };
            let results = if is_mesh { geometry.clone() } else { results(i) };
            let about = made_of(i).filter_map(|(slot, made)| {
                let carries = self.carried.get(slot)?.1;
                Some((slot.port.clone(), About { carries, shown: made.shown, unit: made.unit.into() }))
            });
            Offered {
                object: bound.name.clone(),
                is_mesh,
                grids: of_kind(i, "grid"),
                geometry,
                results,
                about: about.collect(),
                separation: bound.meant(Means::SEPARATION, f64::from(self.network.settings.frames.0)),
                meshes: self.meshed_in(i),
            }
        };
        (!upstream.is_empty()).then(|| Offer { objects: upstream.iter().map(offered).collect() })
    }

    /// The liquids of which an object holds a mesh: what its solver is given, if the object has geometry that is drawn as a liquid and no
    /// level set that this could be the place of.
    fn meshed_in(&self, object: usize) -> Vec<String> {
        let is_drawn = |object: usize, kind: &str| {
            self.made.iter().any(|(slot, made)| {
                slot.holder == Holder::Object(object)
                    && made.shown.drawn == Some(Drawn::Liquid)
                    && self.carried.get(slot).is_some_and(|c| c.1.name() == kind)
            })
        };
        if !is_drawn(object, "geometry") || is_drawn(object, "grid") {
            return Vec::new();
        }
        let wires = self.plan.solver_of(object).and_then(|solver| self.plan.solvers.get(&solver));
        let liquids = wires.into_iter().flat_map(|wires| &wires.affectors).filter(|&&o| is_drawn(o, "grid"));
        liquids.map(|&o| self.network.nodes[o].name.clone()).collect()
    }

    fn visit(&mut self, call: &Call) {
        let network = self.network;
        let ports = &contract(&network.nodes[call.node]).ports;
        for port in ports {
            self.check_use(call, port);
            self.check_carried(call, port);
            self.check_read(call, port);
        }
        for (place, port) in ports.iter().enumerate().filter(|(_, p)| p.access(call.stage).writes) {
            // A force says nothing of the data that it finds.
            if !port.is_every_movable() {
                self.slots(call, port).into_iter().for_each(|slot| self.make(call, place, port, slot));
            }
        }
    }

    /// Notes that a call writes data, and that its writers agree about it.
    fn make(&mut self, call: &Call, place: usize, port: &'a PortSpec, slot: Slot) {
        self.check_merged(call, port, &slot);
        let result = port.is_result.then_some((call.node, place));
        let new = Made {
            node: call.node,
            lifetime: port.lifetime,
            shown: port.shown,
            unit: &port.unit,
            result,
            report: port.report.as_ref(),
        };
        let entry = self.made.entry(slot).and_modify(|m| {
            m.result = m.result.or(result);
            m.report = m.report.or(new.report);
        });
        let before = *entry.or_insert(new);
        let name = &self.network.nodes[before.node].name;
        if before.lifetime != new.lifetime {
            let lives = |l| if l == Lifetime::State { "kept" } else { "deleted after each substep" };
            let (here, there) = (lives(new.lifetime), lives(before.lifetime));
            let message = format!("port `{}` is {here}, for `{name}` it is {there}", port.name);
            self.found.insert((call.node, message));
        }
        if before.shown != new.shown {
            let message =
                format!("port `{}` is for `{name}` a grid of another class, or drawn otherwise", port.name);
            self.found.insert((call.node, message));
        }
    }

    /// Refuses nodes that make the same data anew in a substep and put it together in different ways: what counts would
    /// depend on who is first. A stage that also reads it acts on what the others left, and init comes before all.
    fn check_merged(&mut self, call: &Call, port: &PortSpec, slot: &Slot) {
        if call.stage == Stage::Init || port.access(call.stage).reads {
            return;
        }
        let &mut (other, before) = self.merged.entry(slot.clone()).or_insert((call.node, port.merge));
        if before != port.merge {
            let does = |merge| match merge {
                Merge::Replace => "replaces what is there",
                Merge::Add => "adds to it",
                Merge::Min => "takes the least",
            };
            let (here, there, name) = (does(port.merge), does(before), &self.network.nodes[other].name);
            let message = format!(
                "port `{}` {here}, for `{name}` it {there}: the result would depend on which of them runs first",
                port.name
            );
            self.found.insert((call.node, message));
        }
    }

    fn slots(&self, call: &Call, port: &PortSpec) -> Vec<Slot> {
        self.plan.slots(self.network, call.node, call.object, port)
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
        let finds = |p: &PortSpec| p.is_every_movable() && !self.slots(call, p).is_empty();
        if port.is_every_movable() && !contract(&self.network.nodes[call.node]).ports.iter().any(finds) {
            let object = call.object.map(|o| self.network.nodes[o].name.as_str()).unwrap_or_default();
            let message = format!("acts on `{object}`, which has nothing that forces could move");
            self.found.insert((call.node, message));
        }
        if port.is_every_movable() {
            return;
        }
        for slot in self.slots(call, port).into_iter().filter(|s| !self.made.contains_key(s)) {
            let whose = match slot.holder {
                Holder::Object(o) => format!("of `{}`", self.network.nodes[o].name),
                Holder::Node(n) if n == call.node => "of the node itself".into(),
                Holder::Node(n) => format!("of `{}`", self.network.nodes[n].name),
            };
            let message = format!("{stage} reads `{}` {whose}, and nothing has written it before", port.name);
            self.found.insert((call.node, message));
        }
    }

    /// Refuses uses of a port that its node or its owner has not.
    fn check_use(&mut self, call: &Call, port: &PortSpec) {
        let access = port.access(call.stage);
        if !access.reads && !access.writes {
            return;
        }
        let (name, stage) = (port.called(), call.stage.name());
        let kind = self.network.nodes[call.node].node_type.kind;
        let mut refuse = |message: String| _ = self.found.insert((call.node, message));
        let is_alone = call.object.is_none();
        let misplaced = match port.owner {
            PortOwner::Solved if kind != NodeKind::Solver => {
                Some("all objects of a solver, which only a solver has")
            }
            PortOwner::Participant(_) | PortOwner::Member(_) if kind != NodeKind::Coupling => {
                Some("participants, which only a coupling has")
            }
            PortOwner::Affector if !matches!(kind, NodeKind::Solver | NodeKind::Force) => {
                Some("affectors, which only solvers and forces have")
            }
            PortOwner::Object if kind == NodeKind::Coupling => Some("one object, and a coupling has several"),
            PortOwner::Object if is_alone => {
                Some("one object, and this stage takes all objects of the solver at once")
            }
            PortOwner::Input if matches!(kind, NodeKind::Solver | NodeKind::Coupling) => {
                Some("geometry wired into the node, which only objects and forces take")
            }
            _ => None,
        };
        if let Some(whose) = misplaced {
            refuse(format!("{stage} uses port `{name}`, said to be of {whose}; its plugin is at fault"));
        }
        if access.writes && port.merge != Merge::Replace && !matches!(port.carries, Carries::Grid { .. }) {
            refuse(format!("port `{name}` adds up or takes the least, which only grids can"));
        }
        if access.writes && matches!(port.owner, PortOwner::Input | PortOwner::Affector) {
            refuse(format!("port `{name}` is written, but inputs and affectors are only read"));
        }
    }

    /// Refuses ports that see other data than their neighbours at the same place.
    fn check_carried(&mut self, call: &Call, port: &PortSpec) {
        let access = port.access(call.stage);
        if !access.reads && !access.writes {
            return;
        }
        for slot in self.slots(call, port) {
            let &mut (other, before) = self.carried.entry(slot).or_insert((call.node, port.carries));
            if before != port.carries {
                let name = &self.network.nodes[other].name;
                let (here, there) = (port.carries.described(), before.described());
                let message = format!("port `{}` is a {here} here and a {there} for `{name}`", port.called());
                self.found.insert((call.node, message));
            }
        }
    }
}
