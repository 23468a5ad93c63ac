//! What couplings of liquids and bodies take: two roles, and the ports of their participants.

use super::body_ports::{chambers, constraints, dynamics, jump, moved, shut};
use super::liquid_ports::{HANDED, handed_to_solve};
use meniscus_abi::{Access, Owner, Port, Stage};

/// The role of the bodies.
pub const BODY: u32 = 0;
/// The role of the liquids.
pub const LIQUID: u32 = 1;

const OF_BODIES: [Port; 6] = [
    dynamics(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    constraints(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    jump(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    chambers(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    shut(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    moved(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::WRITE),
];

/// The ports of both roles.
pub const PORTS: &[Port] = &Port::joined::<HANDED, 6, { HANDED + 6 }>(handed_to_solve(LIQUID), OF_BODIES);
