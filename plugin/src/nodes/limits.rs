//! The range of numbers that nodes accept.

use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::fluid::transport::travel::MOST_SPEED;
use meniscus_core::number::written;

/// Smallest and largest voxel size and particle distance, m: from a cell's nucleus to a lake.
const LENGTHS: std::ops::RangeInclusive<f64> = 1e-6..=1e4;
/// More particles than this in one liquid are taken for a slip of the decimal point.
const MOST_PARTICLES: f64 = 2e9;

/// A length (m) above 0, by its parameter's name.
pub fn positive(name: &str, length: f64) -> Result<(), Failure> {
    match length > 0.0 && length < f64::INFINITY {
        true => Ok(()),
        false => Err(Failure::parameter(format!("{name} must be above 0, not {}", written(length)))),
    }
}

/// A length (m) that voxels or distances between particles can have, by its parameter's name.
pub fn length(name: &str, length: f64) -> Result<(), Failure> {
    positive(name, length)?;
    if LENGTHS.contains(&length) {
        return Ok(());
    }
    let [least, most] = [LENGTHS.start(), LENGTHS.end()].map(|&end| written(end));
    let sentence = format!("{name} must be from {least} to {most} m, not {}", written(length));
    Err(Failure::parameter(sentence))
}

/// The largest distance from the world's origin, m: beyond it, f32 positions cannot tell voxels apart.
pub const FARTHEST: f64 = 1e9;

/// A place in the world, or a length (m), by its parameter's name.
pub fn place<const N: usize>(name: &str, place: [f64; N]) -> Result<(), Failure> {
    if place.iter().all(|x| x.abs() <= FARTHEST) {
        return Ok(());
    }
    let (given, most) = (place.map(written).join(", "), written(FARTHEST));
    Err(Failure::parameter(format!("{name}: {given} m is farther than {most} m")))
}

/// The largest number of particles that a distance of `separation` metres allows in a box, or an error if it is too
/// large.
pub fn particles(separation: f64, (low, high): (DVec3, DVec3)) -> Result<f64, Failure> {
    let sites = ((high - low) / separation).ceil().element_product();
    if !(sites > MOST_PARTICLES && sites.is_finite()) {
        return Ok(sites);
    }
    let [low, high] = [low, high].map(|corner| corner.to_array().map(written).join(", "));
    let sentence = format!(
        "particle_separation: {} m would fill [{low}] to [{high}] with up to {} particles",
        written(separation),
        written(sites)
    );
    Err(Failure::parameter(sentence))
}

/// The fastest spin that a parameter gives, rad/s: twice that of a dentist's drill.
const MOST_SPIN: f64 = 1e5;

/// The angular velocity, rad/s, that a parameter gives.
pub fn spin(call: &Call, param: usize, name: &str) -> Result<DVec3, Failure> {
    no_faster(call, param, name, (MOST_SPIN, "rad/s"))
}

/// The velocity, m/s, that a parameter gives.
pub fn velocity(call: &Call, param: usize, name: &str) -> Result<DVec3, Failure> {
    no_faster(call, param, name, (MOST_SPEED, "m/s"))
}

/// The vector that a parameter gives, which is no longer than `most`, in a unit.
fn no_faster(call: &Call, param: usize, name: &str, (most, unit): (f64, &str)) -> Result<DVec3, Failure> {
    let vector = DVec3::from_array(call.vector(param));
    if vector.length() <= most {
        return Ok(vector);
    }
    let (most, given) = (written(most), vector.to_array().map(written).join(", "));
    Err(Failure::parameter(format!("{name}: [{given}] {unit} is too fast; {most} {unit} is the most")))
}
