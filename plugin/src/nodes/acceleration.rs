//! How strongly forces pull a liquid: table `forces`, which says how long a substep may be before one has been run.

use meniscus_abi::guest::{Call, Failure};

const ACCELERATION: &std::ffi::CStr = c"acceleration";

/// What forces may add to the speed of an object that nothing says more of, m/s²: standard gravity.
const UNKNOWN: f64 = 9.80665;

/// Writes the greatest acceleration, m/s², that forces give to a particle.
pub(super) fn write_acceleration(call: &mut Call, port: u32, acceleration: f64) -> Result<(), Failure> {
    call.shape_table(port, 0)?;
    call.write_array(port, 0, ACCELERATION, 1, &[acceleration])
}

/// A force that is about to act adds what it will give at most, m/s², to what others have said.
pub(super) fn announce(call: &mut Call, port: u32, acceleration: f64) -> Result<(), Failure> {
    let others = said(call, port).unwrap_or(0.0);
    write_acceleration(call, port, others + acceleration)
}

/// The greatest acceleration, m/s², that forces give to a particle: as they announced it, or as they last did.
pub(super) fn read_acceleration(call: &Call, port: u32) -> f64 {
    said(call, port).unwrap_or(UNKNOWN)
}

fn said(call: &Call, port: u32) -> Option<f64> {
    let said = call.table(port, 0)?.first::<f64>("acceleration");
    said.filter(|a| a.is_finite() && *a >= 0.0)
}
