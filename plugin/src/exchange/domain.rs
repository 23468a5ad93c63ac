//! The table `domain`: the box a solver works in and how its walls hold the liquid. Predict writes it for whoever
//! solves.

use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_core::solid::{DomainLimits, Side};
use meniscus_core::viscosity::Walls;

/// Writes the limits, whether viscous liquid slips along walls, and the pressure, Pa, below which liquid parts from them where
/// it may.
pub fn write(
    call: &mut Call,
    port: u32,
    limits: &DomainLimits,
    walls: Walls,
    cavitation_pressure: Option<f64>,
) -> Result<(), Failure> {
    let code = |side: Side| match side {
        Side::Closed => 0i32,
        Side::Open => 1,
        Side::Kill => 2,
    };
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"min", 3, &limits.min.to_array())?;
    call.write_array(port, 0, c"max", 3, &limits.max.to_array())?;
    call.write_array(port, 0, c"sides", 1, &limits.sides.map(code))?;
    call.write_array(port, 0, c"slip", 1, &[i32::from(walls == Walls::Slip)])?;
    match cavitation_pressure {
        Some(pressure) => call.write_array(port, 0, c"cavitation_pressure", 1, &[pressure]),
        None => Ok(()),
    }
}

/// Reads the pressure, Pa, below which liquid parts from walls; `None` if it never does.
pub fn read_cavitation_pressure(call: &Call, port: u32, item: u32) -> Option<f64> {
    call.table(port, item)?.first::<f64>("cavitation_pressure")
}

/// Reads whether viscous liquid slips along walls; a solver that does not say lets it stick.
pub fn read_walls(call: &Call, port: u32, item: u32) -> Walls {
    match call.table(port, item).and_then(|t| t.first::<i32>("slip")) {
        Some(1) => Walls::Slip,
        _ => Walls::NoSlip,
    }
}

/// Reads the limits.
pub fn read(call: &Call, port: u32, item: u32) -> Result<DomainLimits, Failure> {
    let incomplete = || Failure::input(port, "the table `domain` lacks `min`, `max` or `sides`");
    let table = call.table(port, item).ok_or_else(incomplete)?;
    let corner = |name: &str| -> Option<DVec3> {
        table.array::<f64>(name).and_then(|v| v.try_into().ok()).map(DVec3::from_array)
    };
    let sides: [i32; 6] = table.array("sides").and_then(|v| v.try_into().ok()).ok_or_else(incomplete)?;
    let side = |code: i32| match code {
        0 => Side::Closed,
        1 => Side::Open,
        _ => Side::Kill,
    };
    let (min, max) = corner("min").zip(corner("max")).ok_or_else(incomplete)?;
    Ok(DomainLimits { min, max, sides: sides.map(side) })
}
