//! Rigid Fluid: bodies are treated as fluid and made rigid again [Carlson et al. 2004].

use super::coupled_ports::{BODY, LIQUID, PORTS};
use super::projection::{
    self, Air, Caches, ContributedPorts, MAX_ITERATIONS, Solve, SolveParams, SolvePorts, TOLERANCE,
};
use crate::exchange::{BodyPorts, Exchange};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Node, NodeKind, Param, Role, Stage};
use meniscus_core::coupling::rigid_fluid;

const PARAMS: &[Param] = &[TOLERANCE, MAX_ITERATIONS];
const SOLVE: Solve = Solve {
    ports: SolvePorts::of_role(PORTS, LIQUID),
    params: SolveParams::of(PARAMS),
    bodies: Some(BodyPorts::of_role(PORTS, BODY)),
    contributed: Some(ContributedPorts::of_role(PORTS, BODY)),
    name: "rigid_fluid",
    project: rigid_fluid::project,
};
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
#[derive(Default)]
pub struct RigidFluid {
    exchange: Exchange,
    caches: Caches,
}

impl Instance for RigidFluid {
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
