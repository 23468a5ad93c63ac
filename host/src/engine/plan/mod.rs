//! The plan of a cook: who solves what, and the calls of one substep in order.

mod check;
mod idle;
mod order;
mod shares;
mod unused;
mod wires;

pub(super) use check::offer;
pub use check::{Declared, check};
pub(super) use idle::{idle, loose, misscheduled, uncoupled, unwritten};

use super::state::{Holder, Slot};
use crate::graph::{Bound, Network, Problem, Problems};
use crate::node::{Carries, Contract, NodeKind, PortOwner, PortSpec, Stage};
use std::collections::{BTreeMap, BTreeSet};

/// One call of a node's stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The node.
    pub node: usize,
    /// The stage.
    pub stage: Stage,
    /// The object it is about; `None` for a coupling, and for a stage that takes all objects of a solver.
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
    /// Participants (solvers, couplings) per role, by rank, then in wire order.
    pub roles: Vec<Vec<usize>>,
    /// The objects that play each role, in the order of their names.
    pub objects: Vec<Vec<usize>>,
    /// Whoever plays each role, participants of participants too, in the order of their names.
    pub members: Vec<Vec<usize>>,
}

impl CouplingWires {
    /// Who is wired in, each once: one that plays several roles stands at each of them.
    fn participants(&self) -> BTreeSet<usize> {
        self.roles.iter().flatten().copied().collect()
    }

    /// Whoever plays a role, or any, each once.
    fn members_of(&self, role: Option<usize>) -> Vec<usize> {
        match role {
            Some(role) => self.members.get(role).cloned().unwrap_or_default(),
            None => self.members.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect(),
        }
    }
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
        planner.order(roots);
        planner.check_sources();
        // What is wired wrongly is not solved either: one sentence is enough.
        if planner.problems.0.is_empty() {
            planner.check_shares();
        }
        planner.problems.unless_any(planner.plan)
    }

    /// The data that a port of a node refers to in a call, in item order, inputs excepted.
    pub fn slots(&self, network: &Network, node: usize, object: Option<usize>, port: &PortSpec) -> Vec<Slot> {
        let holders = self.holders(network, node, object, port).into_iter();
        if !port.is_every_movable() {
            return holders.map(|holder| Slot { holder, port: port.name.clone() }).collect();
        }
        let movable = |holder| {
            let Holder::Object(object) = holder else { return Vec::new() };
            let names = self.movable(network, object, port.carries);
            names.into_iter().map(|port| Slot { holder, port }).collect()
        };
        holders.flat_map(movable).collect()
    }

    /// The holders of the data at a port, in item order.
    fn holders(&self, network: &Network, node: usize, object: Option<usize>, port: &PortSpec) -> Vec<Holder> {
        let objects = match port.owner {
            PortOwner::Node => return vec![Holder::Node(node)],
            PortOwner::Member(role) => {
                let members = self.couplings.get(&node).map(|c| c.members_of(role)).unwrap_or_default();
                let keeps = |&m: &usize| {
                    let mut ports = contract(&network.nodes[m]).ports.iter();
                    ports.any(|p| p.owner == PortOwner::Node && p.name == port.name)
                };
                let keepers = by_name(network, members.into_iter().filter(keeps).collect());
                return keepers.into_iter().map(Holder::Node).collect();
            }
            PortOwner::Input => Vec::new(),
            PortOwner::Object => object.into_iter().collect(),
            PortOwner::Affector => self.affectors(node, object),
            PortOwner::Solved => {
                let solved = self.solvers.get(&node).map(|w| w.solved.clone());
                by_name(network, solved.unwrap_or_default())
            }
            PortOwner::Participant(role) => {
                let playing = self.couplings.get(&node).and_then(|c| c.objects.get(role));
                playing.cloned().unwrap_or_default()
            }
        };
        objects.into_iter().map(Holder::Object).collect()
    }

    /// The affectors a solver or a force sees.
    fn affectors(&self, node: usize, object: Option<usize>) -> Vec<usize> {
        let serves = |(n, w): &(&usize, &SolverWires)| {
            **n == node || (w.forces.contains(&node) && object.is_some_and(|o| w.solved.contains(&o)))
        };
        self.solvers.iter().find(serves).map(|(_, w)| w.affectors.clone()).unwrap_or_default()
    }

    /// Whether a node takes part in a coupling.
    pub fn is_coupled(&self, node: usize) -> bool {
        self.couplings.values().any(|wires| wires.participants().contains(&node))
    }

    /// The solver of an object.
    pub fn solver_of(&self, object: usize) -> Option<usize> {
        self.solvers.iter().find(|(_, w)| w.solved.contains(&object)).map(|(&solver, _)| solver)
    }

    /// What of an object forces may move, of such data, as its own node and its solver declare it.
    fn movable(&self, network: &Network, object: usize, carries: Carries) -> BTreeSet<String> {
        let nodes = [Some(object), self.solver_of(object)];
        let ports = nodes.into_iter().flatten().flat_map(|n| &contract(&network.nodes[n]).ports);
        let ports = ports.filter(|p| p.is_movable && p.carries == carries);
        let own = ports.filter(|p| p.owner != PortOwner::Affector && !p.is_every_movable());
        own.map(|p| p.name.clone()).collect()
    }

    /// The init calls for objects that begin in one frame, after all of them are made: for each object first of the forces
    /// that act on it, then of its solver; then of every coupling that has one of them, once, inner couplings first.
    pub fn meetings(&self, network: &Network, begun: &[usize]) -> Vec<Call> {
        let of_object = |&object: &usize| {
            let solver = self.solver_of(object).map(|solver| (solver, &self.solvers[&solver]));
            let nodes = solver.into_iter().flat_map(|(solver, w)| w.forces.iter().copied().chain([solver]));
            nodes.map(move |node| (node, Some(object)))
        };
        // A coupling stands after its participants in the network.
        let meets = |&node: &usize| self.solved_by(node).iter().any(|o| begun.contains(o));
        let couplings = self.couplings.keys().copied().filter(meets).map(|node| (node, None));
        let all = begun.iter().flat_map(of_object).chain(couplings);
        let inits = all.filter(|(node, _)| contract(&network.nodes[*node]).implements(Stage::Init));
        inits.map(|(node, object)| Call { node, stage: Stage::Init, object, step: 0 }).collect()
    }

    /// The objects a solver or the solvers of a coupling solve.
    pub fn solved_by(&self, node: usize) -> Vec<usize> {
        match (self.solvers.get(&node), self.couplings.get(&node)) {
            (Some(s), _) => s.solved.clone(),
            (_, Some(c)) => c.participants().into_iter().flat_map(|m| self.solved_by(m)).collect(),
            _ => Vec::new(),
        }
    }

    /// The objects that a call is about.
    pub fn objects_of(&self, call: &Call) -> Vec<usize> {
        call.object.map_or_else(|| self.solved_by(call.node), |o| vec![o])
    }
}

/// Nodes in the order of their names.
fn by_name(network: &Network, mut nodes: Vec<usize>) -> Vec<usize> {
    nodes.sort_by(|a, b| network.nodes[*a].name.cmp(&network.nodes[*b].name));
    nodes
}

struct Planner<'a> {
    network: &'a Network,
    plan: Plan,
    problems: Problems,
}

impl<'a> Planner<'a> {
    fn node(&self, i: usize) -> &'a Bound {
        &self.network.nodes[i]
    }

    fn contract(&self, i: usize) -> &'a Contract {
        contract(self.node(i))
    }

    fn kind(&self, i: usize) -> NodeKind {
        self.node(i).node_type.kind
    }

    /// Says which objects there are of a medium.
    fn of_medium(&self, medium: &str) -> String {
        let names: Vec<String> =
            self.network.media.get(medium).into_iter().flatten().map(|name| format!("`{name}`")).collect();
        if names.is_empty() { String::new() } else { format!("; add one ({})", names.join(", ")) }
    }

    fn complain(&mut self, node: usize, message: String) {
        let name = self.node(node).name.clone();
        self.problems.0.push(Problem::node(&name, message));
    }

    /// When a solver or a coupling steps among others.
    fn rank(&self, i: usize) -> i32 {
        let own = self.contract(i).rank;
        let participants = self.plan.couplings.get(&i).map(CouplingWires::participants);
        participants.and_then(|all| all.into_iter().map(|m| self.rank(m)).max()).unwrap_or(own)
    }

    /// The media of a participant's objects.
    fn media(&self, i: usize) -> BTreeSet<&'a str> {
        match self.plan.couplings.get(&i) {
            Some(c) => c.participants().into_iter().flat_map(|m| self.media(m)).collect(),
            None => BTreeSet::from([self.contract(i).medium.as_str()]),
        }
    }
}
