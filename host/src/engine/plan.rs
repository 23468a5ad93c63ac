//! Builds the list of calls of one substep from a checked network.

use super::state::Holder;
use crate::graph::{Bound, Network, Problem, Problems};
use crate::node::{Contract, NodeKind, PortOwner, Stage};
use std::collections::BTreeMap;

/// One call of a node's stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The node.
    pub node: usize,
    /// The stage.
    pub stage: Stage,
    /// The object it is about; `None` for a coupling.
    pub object: Option<usize>,
    /// Entry of the coupling's schedule; 0 where there is none.
    pub step: u32,
}

/// A solver and what is wired into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolverWires {
    /// Objects it solves, in wire order.
    pub solved: Vec<usize>,
    /// Its other objects, in wire order.
    pub affectors: Vec<usize>,
    /// Force nodes, in wire order.
    pub forces: Vec<usize>,
}

/// A coupling's participants by role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouplingWires {
    /// Participants (solvers, couplings) per role, in wire order.
    pub roles: Vec<Vec<usize>>,
}

/// The plan of a cook.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Object nodes, in network order.
    pub objects: Vec<usize>,
    /// What is wired into each solver.
    pub solvers: BTreeMap<usize, SolverWires>,
    /// The participants of each coupling.
    pub couplings: BTreeMap<usize, CouplingWires>,
    /// The calls of one substep, in order.
    pub calls: Vec<Call>,
    /// Nodes that may limit the length of a substep.
    pub advisers: Vec<Call>,
}

/// The contract of a plugin's node; host nodes have none.
pub(super) fn contract(node: &Bound) -> &Contract {
    static NOTHING: std::sync::LazyLock<Contract> = std::sync::LazyLock::new(Contract::default);
    node.node_type.contract.as_ref().unwrap_or(&NOTHING)
}

impl Plan {
    /// Plans a network.
    pub fn new(network: &Network) -> Result<Self, Problems> {
        let mut planner = Planner { network, plan: Plan::default(), problems: Problems::default() };
        planner.wire_solvers();
        planner.wire_couplings();
        let roots = planner.roots();
        planner.order(&roots);
        planner.check_sources_and_devices();
        planner.problems.unless_any(planner.plan)
    }

    /// The data holders that a port of a node refers to in a call, in item order, inputs excepted.
    pub fn holders(&self, node: usize, object: Option<usize>, owner: PortOwner) -> Vec<Holder> {
        match owner {
            PortOwner::Object => object.map(Holder::Object).into_iter().collect(),
            PortOwner::Node => vec![Holder::Node(node)],
            PortOwner::Input => Vec::new(),
            PortOwner::Affector => self.affectors(node, object).into_iter().map(Holder::Object).collect(),
            PortOwner::Participant(role) => {
                let roles = self.couplings.get(&node).map(|c| c.roles.as_slice()).unwrap_or_default();
                let members = roles.get(role).map(Vec::as_slice).unwrap_or_default();
                members.iter().flat_map(|&m| self.solved_by(m)).map(Holder::Object).collect()
            }
        }
    }

    /// The affectors a solver or a force sees.
    fn affectors(&self, node: usize, object: Option<usize>) -> Vec<usize> {
        let serves = |(n, w): &(&usize, &SolverWires)| {
            **n == node || (w.forces.contains(&node) && object.is_some_and(|o| w.solved.contains(&o)))
        };
        self.solvers.iter().find(serves).map(|(_, w)| w.affectors.clone()).unwrap_or_default()
    }

    /// The init calls for an object, after all objects of its first frame are made: first of the forces that act on it,
    /// then of its solver.
    pub fn meetings(&self, network: &Network, object: usize) -> Vec<Call> {
        let solver = self.solvers.iter().find(|(_, w)| w.solved.contains(&object));
        let nodes = solver.into_iter().flat_map(|(&solver, w)| w.forces.iter().copied().chain([solver]));
        let inits = nodes.filter(|&n| contract(&network.nodes[n]).implements(Stage::Init));
        inits.map(|node| Call { node, stage: Stage::Init, object: Some(object), step: 0 }).collect()
    }

    /// The objects a solver or the solvers of a coupling solve.
    pub fn solved_by(&self, node: usize) -> Vec<usize> {
        match (self.solvers.get(&node), self.couplings.get(&node)) {
            (Some(s), _) => s.solved.clone(),
            (_, Some(c)) => c.roles.iter().flatten().flat_map(|&m| self.solved_by(m)).collect(),
            _ => Vec::new(),
        }
    }
}

struct Planner<'a> {
    network: &'a Network,
    plan: Plan,
    problems: Problems,
}

impl Planner<'_> {
    fn node(&self, i: usize) -> &Bound {
        &self.network.nodes[i]
    }

    fn kind(&self, i: usize) -> NodeKind {
        self.node(i).node_type.kind
    }

    fn complain(&mut self, node: usize, message: String) {
        let name = self.node(node).name.clone();
        self.problems.0.push(Problem::node(&name, message));
    }

    fn wire_solvers(&mut self) {
        let mut solver_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (i, node) in self.network.nodes.iter().enumerate() {
            match node.node_type.kind {
                NodeKind::Object if !node.bypass => self.plan.objects.push(i),
                NodeKind::Solver if !node.bypass => {
                    let medium = &contract(node).medium;
                    let mut wires = SolverWires::default();
                    for &input in node.inputs.iter().filter(|&&j| !self.network.nodes[j].bypass) {
                        let wired = &self.network.nodes[input];
                        match wired.node_type.kind {
                            NodeKind::Force => wires.forces.push(input),
                            _ if contract(wired).medium == *medium => wires.solved.push(input),
                            _ => wires.affectors.push(input),
                        }
                    }
                    for &object in &wires.solved {
                        if let Some(other) = solver_of.insert(object, i) {
                            let (a, b) = (self.network.nodes[other].name.clone(), node.name.clone());
                            self.complain(
                                object,
                                format!("is solved by both `{a}` and `{b}`; one solver moves an object"),
                            );
                        }
                    }
                    if wires.solved.is_empty() && !node.inputs.iter().any(|&j| self.network.nodes[j].bypass) {
                        self.complain(
                            i,
                            format!("no object of medium `{medium}` is wired into it: nothing to solve"),
                        );
                    }
                    self.plan.solvers.insert(i, wires);
                }
                _ => {}
            }
        }
    }

    /// The participants behind an input: a bypassed coupling lets its own participants through.
    fn participants(&self, i: usize) -> Vec<usize> {
        let node = self.node(i);
        match (node.node_type.kind, node.bypass) {
            (NodeKind::Coupling, true) => node.inputs.iter().flat_map(|&j| self.participants(j)).collect(),
            (_, true) => Vec::new(),
            _ => vec![i],
        }
    }

    fn wire_couplings(&mut self) {
        for i in 0..self.network.nodes.len() {
            let node = self.node(i);
            if node.node_type.kind != NodeKind::Coupling || node.bypass {
                continue;
            }
            let roles = contract(node).roles.clone();
            let members: Vec<usize> = node.inputs.iter().flat_map(|&j| self.participants(j)).collect();
            let mut wires = CouplingWires { roles: vec![Vec::new(); roles.len()] };
            for member in members {
                let media = self.media(member);
                let fits = |(r, role): &(usize, &crate::node::Role)| {
                    (role.medium.is_empty() || media.contains(&role.medium))
                        && role.max_count.is_none_or(|m| wires.roles[*r].len() < m)
                };
                match roles.iter().enumerate().find(fits).map(|(r, _)| r) {
                    Some(r) => wires.roles[r].push(member),
                    None => {
                        let wanted =
                            roles.iter().map(|r| format!("`{}`", r.medium)).collect::<Vec<_>>().join(", ");
                        let name = self.node(member).name.clone();
                        let media = media.join(", ");
                        self.complain(
                            i,
                            format!("has no place for `{name}` of medium `{media}`; it couples {wanted}"),
                        );
                    }
                }
            }
            for (role, members) in roles.iter().zip(&wires.roles) {
                let solved: Vec<usize> = members.iter().flat_map(|&m| self.plan.solved_by(m)).collect();
                if let Some(most) = role.max_count.filter(|&most| solved.len() > most) {
                    let name = |&i: &usize| format!("`{}`", self.node(i).name);
                    let names = solved.iter().map(name).collect::<Vec<_>>().join(", ");
                    let objects = if most == 1 { "one object" } else { "objects" };
                    let few = if most == 1 { String::new() } else { format!("{most} ") };
                    self.complain(
                        i,
                        format!(
                            "couples at most {few}{objects} in the role `{}`, found {}: {names}; wire the others out, \
                             or into a solver that is not coupled",
                            role.name,
                            solved.len()
                        ),
                    );
                }
                if members.len() < role.min_count {
                    let (found, least) = (members.len(), role.min_count);
                    self.complain(
                        i,
                        format!("needs at least {least} in the role `{}`, found {found}", role.name),
                    );
                }
            }
            self.plan.couplings.insert(i, wires);
        }
    }

    /// The media of a participant's objects.
    fn media(&self, i: usize) -> Vec<String> {
        match self.plan.couplings.get(&i) {
            Some(c) => c.roles.iter().flatten().flat_map(|&m| self.media(m)).collect(),
            None => vec![contract(self.node(i)).medium.clone()],
        }
    }

    /// Solvers and couplings that are in no other coupling.
    fn roots(&mut self) -> Vec<usize> {
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        for (&coupling, wires) in &self.plan.couplings.clone() {
            for &member in wires.roles.iter().flatten() {
                if let Some(other) = taken.insert(member, coupling) {
                    let (a, b) = (self.node(other).name.clone(), self.node(coupling).name.clone());
                    self.complain(
                        member,
                        format!("takes part in both `{a}` and `{b}`; wire one into the other"),
                    );
                }
            }
        }
        let all = self.plan.solvers.keys().chain(self.plan.couplings.keys());
        let mut roots: Vec<usize> = all.copied().filter(|i| !taken.contains_key(i)).collect();
        roots.sort_unstable();
        roots
    }

    fn order(&mut self, roots: &[usize]) {
        for &o in &self.plan.objects.clone() {
            self.call(o, Stage::Predict, Some(o), 0);
        }
        for &root in roots {
            match self.kind(root) {
                NodeKind::Solver => {
                    for stage in [Stage::Predict, Stage::Solve, Stage::Correct] {
                        self.participant_stage(root, stage, 0);
                    }
                }
                _ => self.schedule(root),
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
        for (entry, step) in contract(self.node(coupling)).schedule().into_iter().enumerate() {
            match step.role {
                None => self.call(coupling, step.stage, None, entry as u32),
                Some(role) => {
                    let members = self.plan.couplings[&coupling].roles.get(role).cloned().unwrap_or_default();
                    members.iter().for_each(|&m| self.participant_stage(m, step.stage, entry as u32));
                }
            }
        }
    }

    /// A stage of a participant. A coupling among the participants passes the stage on to its own participants and then
    /// runs its own; the solve stage it runs itself.
    fn participant_stage(&mut self, member: usize, stage: Stage, entry: u32) {
        if let Some(inner) = self.plan.couplings.get(&member).cloned() {
            if stage != Stage::Solve {
                inner.roles.iter().flatten().for_each(|&m| self.participant_stage(m, stage, entry));
            }
            return self.call(member, stage, None, entry);
        }
        let Some(wires) = self.plan.solvers.get(&member).cloned() else { return };
        for &object in &wires.solved {
            if stage == Stage::Predict {
                // Sources act before other forces.
                let is_source = |&f: &usize| contract(self.node(f)).is_source;
                let (sources, others): (Vec<_>, Vec<_>) = wires.forces.iter().copied().partition(is_source);
                sources.into_iter().chain(others).for_each(|f| self.call(f, stage, Some(object), 0));
            }
            self.call(member, stage, Some(object), entry);
        }
    }

    fn call(&mut self, node: usize, stage: Stage, object: Option<usize>, step: u32) {
        if contract(self.node(node)).implements(stage) {
            self.plan.calls.push(Call { node, stage, object, step });
        }
    }

    fn check_sources_and_devices(&mut self) {
        for (&solver, wires) in &self.plan.solvers.clone() {
            for &force in &wires.forces {
                if contract(self.node(force)).is_source && !contract(self.node(solver)).accepts_sources {
                    let name = self.node(solver).name.clone();
                    self.complain(
                        force,
                        format!("adds or removes mass, but `{name}` solves what has a fixed mass"),
                    );
                }
            }
        }
        for i in 0..self.network.nodes.len() {
            if !self.node(i).bypass && contract(self.node(i)).needs_gpu {
                self.complain(i, "needs a GPU, and this host has none to give".into());
            }
        }
    }
}
