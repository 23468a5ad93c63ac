//! The ports through which solvers see a solid: a static object or a body.

use meniscus_abi::{Drawn, Element, Owner, Port, Sampling};

/// Signed distance in the object's own space.
pub const fn collision(owner: Owner) -> Port {
    Port::grid(owner, c"collision", Sampling::CENTER, Element::F32)
        .unit(c"m")
        .level_set(Drawn::SOLID)
        .help(c"Signed distance to the solid, negative inside; its transform places it in the world.")
}

/// Velocity per voxel of a deforming solid.
pub const fn collision_vel(owner: Owner) -> Port {
    Port::grid(owner, c"collision_vel", Sampling::CENTER, Element::F32)
        .components(3)
        .unit(c"m/s")
        .help(c"Velocity of the solid's material, where it deforms; on the lattice of `collision`.")
}

/// Velocity per voxel of a deforming solid in the next substep.
pub const fn collision_vel_next(owner: Owner) -> Port {
    Port::grid(owner, c"collision_vel_next", Sampling::CENTER, Element::F32)
        .components(3)
        .unit(c"m/s")
        .help(c"Velocity of the solid's material in the next substep, where it deforms; on the lattice of `collision`.")
}

/// Rigid motion.
pub const fn motion(owner: Owner) -> Port {
    Port::table(owner, c"motion").help(
        c"Rigid motion: linear (m/s, of the pivot), angular (rad/s, world axes), pivot (m, world); f64 each. linear_next and angular_next: in the next substep. volume (m^3; optional): what `collision` encloses, of each piece; a liquid that the object floats in displaces so much, however coarse its grid. centroid [3] (m; optional): the middle of that volume, in the space of the lattice of `collision`; still water pushes there. An object of several pieces has a row of each for every piece, and placement [pieces][16]: where its `collision` is, row-major, from the space of its lattice to the world.",
    )
}
