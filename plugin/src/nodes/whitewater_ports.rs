//! The data of whitewater: the ports of its object and its solver.

use meniscus_abi::{Drawn, Owner, Port};

/// The particles.
pub const fn whitewater(owner: Owner) -> Port {
    Port::geometry(owner, c"whitewater")
        .movable()
        .result()
        .drawn(Drawn::DOTS)
        .help(c"Particles without mass: P (m), v (m/s, in the middle of the next substep), id, age (s), life (s; the age at which it vanishes), state (0 spray, 1 foam, 2 bubble), pscale (m; its radius). dv (m/s) takes what forces add over ctx->dt_kick.")
}

/// What the particles cannot hold.
pub const fn counters(owner: Owner) -> Port {
    Port::table(owner, c"whitewater_births").help(
        c"next_id (i64; of the next particle), births (i64; substeps in which particles were born: part of the random numbers).",
    )
}
