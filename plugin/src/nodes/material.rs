//! The material parameters that every particle-making node has.

use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Param, param_places};
use meniscus_core::fluid::material::DENSITIES;
use meniscus_core::fluid::particles::seeding::Material;
use meniscus_core::number::written;
use meniscus_core::viscosity::MAX_VISCOSITY;

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

param_places! {
    /// The indices of a node's [`density`] and [`viscosity`].
    pub struct MaterialParams { density, viscosity }
}

/// The material that a node gives.
pub fn read(call: &Call, at: MaterialParams) -> Result<Material, Failure> {
    let (density, viscosity) = (call.number(at.density), call.number(at.viscosity));
    if !(density > 0.0 && density < f64::INFINITY) {
        return Err(Failure::parameter(format!("density must be above 0, not {}", written(density))));
    }
    if !DENSITIES.contains(&density) {
        let [least, most] = [DENSITIES.start(), DENSITIES.end()].map(|&end| written(end));
        let sentence = format!("density must be from {least} to {most} kg/m^3, not {}", written(density));
        return Err(Failure::parameter(sentence));
    }
    if !(0.0..=MAX_VISCOSITY).contains(&viscosity) {
        let sentence = format!(
            "viscosity must be from 0 to {MAX_VISCOSITY:e} Pa s (pitch has 2e8), not {}",
            written(viscosity)
        );
        return Err(Failure::parameter(sentence));
    }
    Ok(Material { density: density as f32, viscosity: viscosity as f32 })
}
