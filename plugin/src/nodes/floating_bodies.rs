//! Floating bodies: bodies and liquid push each other, under open air.

use super::coupled_ports::{BODY, LIQUID, PORTS};
use super::projection::{
    self, Air, Caches, ContributedPorts, MAX_ITERATIONS, Solve, SolveParams, SolvePorts, TOLERANCE,
};
use crate::exchange::{BodyPorts, Exchange};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Node, NodeKind, Param, Role, Stage};
use meniscus_core::coupling::free_surface;

const PARAMS: &[Param] = &[TOLERANCE, MAX_ITERATIONS];
const SOLVE: Solve = Solve {
    ports: SolvePorts::of_role(PORTS, LIQUID),
    params: SolveParams::of(PARAMS),
    bodies: Some(BodyPorts::of_role(PORTS, BODY)),
    contributed: Some(ContributedPorts::of_role(PORTS, BODY)),
    name: "floating_bodies",
    project: free_surface::project,
};
const ROLES: &[Role] = &[
    Role::new(c"body", c"", 1, 0, c"Solvers of bodies that float, sink and splash, such as a rigid solver."),
    Role::new(
        c"liquid",
        c"liquid",
        1,
        0,
        c"The liquids they float in: wire in their FLIP solvers. Each body must also be wired into the FLIP solver of its liquid.",
    ),
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::COUPLING, c"meniscus.floating_bodies", c"Floating Bodies")
    .help(c"Solves liquid and bodies as one: a body floats or sinks by its density, and the liquid feels its weight. All air has the same pressure, but for chambers that a plugin keeps; wire the same solvers into constraint_bubbles instead, and trapped air keeps its volume and carries bodies, too. Joints between bodies, and what they lie on or hang from, are part of the same solve; friction follows it, and heaps of more than 12 bodies that touch each other meet after it, too. A viscous liquid drags bodies and is dragged by them.")
    .cites(c"Batty2007 Gibou2002 Hintermueller2002")
    .stages(&[Stage::INIT, Stage::SOLVE])
    .inputs(&[NodeKind::SOLVER, NodeKind::COUPLING], 2, 0)
    .ports(PORTS)
    .params(PARAMS)
    .roles(ROLES);

/// An instance.
#[derive(Default)]
pub struct FloatingBodies {
    exchange: Exchange,
    caches: Caches,
}

impl Instance for FloatingBodies {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if call.stage() == Stage::INIT {
            projection::alike::check(call, SOLVE.ports)?;
            return Ok(Outcome::Done);
        }
        self.exchange.begin(call)?;
        SOLVE.run(
            &mut self.exchange,
            &mut self.caches,
            call,
            Air { volume_gain: projection::VOLUME_GAIN, gas: None },
        )
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
