//! The ports by which bodies take part in a pressure solve. Any plugin's object that has them is a body.

use meniscus_abi::{Owner, Port};

/// A body's share of the system.
pub const fn dynamics(owner: Owner) -> Port {
    Port::table(owner, c"dynamics")
        .help(c"A body with k degrees of freedom, for couplings; f64 each. velocity [k]: as it will be in the next substep if no pressure acts. before [k]: as it was before forces acted in this one; if absent, the last half voxel of liquid at the body is taken to move as velocity says. mass [k*k]: symmetric, positive definite, so that velocity * mass * velocity / 2 is its kinetic energy (J). pivot [pieces][3] (m, world) and basis [pieces*k][6]: linear velocity of the pivot (m/s) and angular velocity (rad/s, world axes) of each solid piece, per unit of each degree of freedom. count (i64; 1 if absent): so many independent bodies, of as many degrees of freedom and pieces each, whose arrays follow each other. An object's pieces are those of its `motion`: one, its `collision`, unless that says otherwise. There from init on; the body's solver brings it up to date when it contributes.")
}

/// What a body gets back.
pub const fn moved(owner: Owner) -> Port {
    Port::table(owner, c"moved")
        .substep()
        .help(c"What the solve gave to a body; f64 each. velocity [k]: of its degrees of freedom, for the next substep. impulse [k]: of the liquid along each (of a displacement: N s). voxel (m): of the liquid.")
}
