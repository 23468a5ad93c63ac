//! Constraint bubbles: trapped air keeps its volume [Goldade and Batty 2017].

use super::liquid_ports::handed_to_solve;
use super::projection::{Caches, MAX_ITERATIONS, Solve, SolveParams, SolvePorts, TOLERANCE};
use crate::exchange::Exchange;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Node, NodeKind, Param, Port, Role, Stage, param};
use meniscus_core::coupling::constraint_bubbles;

/// The liquid, of [`ROLES`].
const LIQUID: u32 = 0;
const PORTS: &[Port] = &handed_to_solve(LIQUID);
const PARAMS: &[Param] = &[
    Param::float(c"volume_gain", c"Bubble Volume Gain", 24.0)
        .folder(c"Bubbles")
        .unit(c"1/s")
        .range(0.0, 50.0)
        .hard_min()
        .help(c"Higher: a bubble that has lost or gained volume returns sooner to the volume it should have. Most of an error is gone after 2 / gain seconds, and a steady loss is balanced completely. The surface around a bubble is fitted to its volume, too, by up to a quarter of a voxel. 0 turns both off and lets volumes drift, as the paper does."),
    TOLERANCE,
    MAX_ITERATIONS,
];
const SOLVE: Solve = Solve {
    ports: SolvePorts::of_role(PORTS, LIQUID),
    params: SolveParams::of(PARAMS),
    name: "constraint_bubbles",
    project: constraint_bubbles::project,
};
const ROLES: &[Role] =
    &[Role::new(c"liquid", c"liquid", 1, 1, c"The liquid that encloses the air: wire in its FLIP solver.")];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::COUPLING, c"meniscus.constraint_bubbles", c"Constraint Bubbles")
    .help(c"Solves a liquid's pressure so that every enclosed region of air keeps its volume, without simulating the air: bottles glug, levels behind walls stay apart, trapped bubbles do not collapse. Bypass it to see the same liquid with a free surface.")
    .cites(c"GoldadeBatty2017 Batty2007 Gibou2002 Kim2007 BattyBridson2008")
    .stages(&[Stage::SOLVE])
    .inputs(&[NodeKind::SOLVER], 1, 1)
    .ports(PORTS)
    .params(PARAMS)
    .roles(ROLES);

/// An instance.
#[derive(Default)]
pub struct ConstraintBubbles {
    exchange: Exchange,
    caches: Caches,
}

impl Instance for ConstraintBubbles {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        SOLVE.run(&mut self.exchange, &mut self.caches, call, call.number(param!(PARAMS, volume_gain)))
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
