//! What a liquid is made of: the parameters of every node that makes particles.

use meniscus_abi::Param;

/// Mass per volume.
pub const fn density() -> Param {
    Param::float(c"density", c"Density", 1000.0)
        .folder(c"Physical")
        .unit(c"kg/m^3")
        .range(100.0, 5000.0)
        .houdini(c"density")
}

/// Dynamic viscosity.
pub const fn viscosity() -> Param {
    Param::float(c"viscosity", c"Viscosity", 0.0)
        .folder(c"Physical")
        .unit(c"Pa s")
        .range(0.0, 100.0)
        .hard_min()
        .houdini(c"viscosity")
}
