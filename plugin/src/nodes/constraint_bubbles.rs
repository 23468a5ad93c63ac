//! Constraint bubbles: trapped air keeps its volume [Goldade and Batty 2017].

use super::projection::{self, Caches, PORT_COUNT, Ports};
use crate::exchange::Exchange;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Node, NodeKind, Owner, Param, Port, Role, Stage};
use meniscus_core::coupling::constraint_bubbles;

static PORTS: [Port; PORT_COUNT] = projection::port_list(Owner::PARTICIPANT);
static PARAMS: [Param; 2] = projection::param_list();
static ROLES: [Role; 1] =
    [Role::new(c"liquid", c"liquid", 1, 1, c"The liquid whose air is enclosed: wire its FLIP solver in.")];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::COUPLING, c"meniscus.constraint_bubbles", c"Constraint Bubbles")
    .help(c"Solves a liquid's pressure so that every enclosed region of air keeps its volume, without simulating the air: bottles glug, levels behind walls stay apart, trapped bubbles do not collapse. Bypass it to see the same liquid with a free surface.")
    .cites(c"GoldadeBatty2017 Batty2007 Gibou2002 BattyBridson2008")
    .stages(&[Stage::SOLVE])
    .inputs(&[NodeKind::SOLVER], 1, 1)
    .ports(&PORTS)
    .params(&PARAMS)
    .roles(&ROLES);

/// An instance.
#[derive(Default)]
pub struct ConstraintBubbles {
    exchange: Exchange,
    caches: Caches,
}

impl Instance for ConstraintBubbles {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        let name = "constraint_bubbles";
        let project = constraint_bubbles::project;
        projection::solve(&mut self.exchange, &mut self.caches, call, Ports::AS_LISTED, 0, name, project)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
