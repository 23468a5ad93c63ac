//! Floating bodies: bodies and liquid push each other, under open air.

use super::coupled::{self, Coupled, CoupledSolve};
use super::coupled_ports::PORTS;
use super::projection::{MAX_ITERATIONS, Solve, TOLERANCE};
use meniscus_abi::{Node, NodeKind, Param, Role, Stage};
use meniscus_core::coupling::free_surface;

const PARAMS: &[Param] = &[TOLERANCE, MAX_ITERATIONS];
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
pub type FloatingBodies = Coupled<Own>;

/// What is its own.
pub enum Own {}

impl CoupledSolve for Own {
    const SOLVE: Solve = coupled::solve(PORTS, PARAMS, "floating_bodies", free_surface::project);
}
