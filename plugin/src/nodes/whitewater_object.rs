//! The whitewater object: spray, foam and bubbles, none at first.

use super::{frames, whitewater_ports as ports};
use crate::exchange::{WhitewaterPorts, whitewater};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Node, NodeKind, Owner, Param, Port, Stage};
use meniscus_core::fluid::whitewater::Whitewater;

const PORTS: &[Port] = &[
    ports::whitewater(Owner::OBJECT).on(Stage::INIT, Access::WRITE),
    ports::counters(Owner::OBJECT).on(Stage::INIT, Access::WRITE),
];
const PARAMS: &[Param] = &[frames::START_FRAME, frames::END_FRAME];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::OBJECT, c"meniscus.whitewater_object", c"Whitewater Object")
    .help(c"Holds the spray, foam and bubbles that a whitewater_solver makes. It is empty at first.")
    .medium(c"whitewater")
    .houdini(c"whitewaterobject")
    .stages(&[Stage::INIT])
    .inputs(&[], 0, 0)
    .ports(PORTS)
    .params(PARAMS);

/// Keeps nothing.
#[derive(Default)]
pub struct WhitewaterObject;

impl Instance for WhitewaterObject {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        whitewater::write(call, WhitewaterPorts::of(PORTS), &Whitewater::default(), 0.0)?;
        Ok(Outcome::Done)
    }
}
