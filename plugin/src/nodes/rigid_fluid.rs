//! Rigid Fluid: bodies are treated as fluid and made rigid again [Carlson et al. 2004].

use super::coupled::{self, Coupled, CoupledSolve};
use super::coupled_ports::PORTS;
use super::projection::{MAX_ITERATIONS, Solve, TOLERANCE};
use meniscus_abi::{Node, NodeKind, Param, Role, Stage};
use meniscus_core::coupling::rigid_fluid;

const PARAMS: &[Param] = &[TOLERANCE, MAX_ITERATIONS];
const ROLES: &[Role] = &[
    Role::new(c"body", c"", 0, 0, c"Solvers of rigid bodies, such as a rigid solver. Without any, the liquid has a free surface."),
    Role::new(
        c"liquid",
        c"liquid",
        1,
        // Beside a second liquid bodies come out too heavy.
        1,
        c"The liquid they float in: wire in its FLIP solver, and each body into that as well. Where there are several, floating_bodies takes them.",
    ),
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::COUPLING, c"meniscus.rigid_fluid", c"Rigid Fluid")
    .help(c"Lets rigid bodies float, sink and splash at a cost that grows with their number and no faster: one pressure solve treats them as fluid of their own density, then each is made rigid again. Under the liquid's surface a body's cells count as fluid at the body's velocity, for no particles stand in it; what looks out counts by its mass. Joints and contacts act before the solve and after it, not in it, so a body that plugs a hole lets liquid seep past: floating_bodies holds it. Light bodies that swing under water lose some of each swing, half as much in half the substep: floating_bodies does not. Bodies thinner than a voxel are refused. All air has the same pressure.")
    .cites(c"Carlson2004 Patankar2001")
    .stages(&[Stage::INIT, Stage::SOLVE])
    .inputs(&[NodeKind::SOLVER, NodeKind::COUPLING], 1, 0)
    .ports(PORTS)
    .params(PARAMS)
    .roles(ROLES);

/// An instance.
pub type RigidFluid = Coupled<Own>;

/// What is its own.
pub enum Own {}

impl CoupledSolve for Own {
    const SOLVE: Solve = coupled::solve(PORTS, PARAMS, "rigid_fluid", rigid_fluid::project);
}
