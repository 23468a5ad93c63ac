//! What couplings of liquids and bodies take: two roles, and the ports of their participants.

use super::body_ports::{chambers, constraints, dynamics, jump, kept_air, load, moved, passing, shut};
use super::liquid_ports::{HANDED, handed_to_solve};
use super::projection::{ContributedPorts, SolvePorts};
use meniscus_abi::{Access, Owner, Port, Stage};

/// The role of the bodies.
pub const BODY: u32 = 0;
/// The role of the liquids.
pub const LIQUID: u32 = 1;

const OF_BODIES: [Port; 9] = [
    dynamics(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    constraints(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    jump(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    chambers(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    shut(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::READ),
    moved(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::WRITE),
    load(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::WRITE),
    passing(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::WRITE),
    kept_air(Owner::PARTICIPANT).role(BODY).on(Stage::SOLVE, Access::WRITE),
];

/// How many ports both roles have.
pub const COUPLED: usize = HANDED + OF_BODIES.len();
const BOTH_ROLES: [Port; COUPLED] =
    Port::joined::<HANDED, { OF_BODIES.len() }, COUPLED>(handed_to_solve(LIQUID), OF_BODIES);

/// The ports of both roles.
pub const PORTS: &[Port] = &BOTH_ROLES;

/// The same for a coupling that hands the air to another one: what it reads to find the regions, and the books of theirs
/// that it writes.
pub const fn contributing() -> [Port; COUPLED] {
    const AT: SolvePorts = SolvePorts::of_role(&BOTH_ROLES, LIQUID);
    const OTHERS: ContributedPorts = ContributedPorts::of_role(&BOTH_ROLES, BODY);
    const KEPT: [u32; 4] = [AT.surface, AT.region, AT.air, AT.bubbles];
    // Faces that are shut are read to be refused.
    const READ: [u32; 2] = [OTHERS.shut, OTHERS.chambers];
    let (mut ports, mut i) = (BOTH_ROLES, 0);
    while i < COUPLED {
        let solve = ports[i].access[Stage::SOLVE.0 as usize];
        let is_kept = is_one_of(i, &KEPT);
        let is_read = ports[i].role == LIQUID && solve & Access::READ.0 != 0 || is_one_of(i, &READ);
        if is_kept || is_read {
            ports[i] = ports[i].on(Stage::CONTRIBUTE, if is_kept { Access(solve) } else { Access::READ });
        }
        i += 1;
    }
    ports
}

const fn is_one_of(place: usize, list: &[u32]) -> bool {
    let mut i = 0;
    while i < list.len() {
        if list[i] as usize == place {
            return true;
        }
        i += 1;
    }
    false
}
