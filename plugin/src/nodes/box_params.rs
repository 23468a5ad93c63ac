//! The box that a solver's objects stay in, as parameters.

use super::limits::FARTHEST;
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Means, MenuItem, Param, param_places};
use meniscus_core::number::written;
use meniscus_core::solid::{DomainLimits, Side};
use std::ffi::CStr;

const SIDES: &[MenuItem] =
    &[MenuItem::new(c"closed", c"Closed"), MenuItem::new(c"open", c"Open"), MenuItem::new(c"kill", c"Kill")];
const KILL: u32 = 2;
const FOLDER: &CStr = c"Volume Limits";

/// Where it is.
pub const CENTER: Param = Param::vector3(c"limit_center", c"Box Center", [0.0; 3])
    .folder(FOLDER)
    .unit(c"m")
    .help(c"Centre of the box that contains the simulation.")
    .means(Means::BOX_CENTER)
    .houdini(c"limit_t");

/// How large it is.
pub const fn size() -> Param {
    Param::vector3(c"limit_size", c"Box Size", [20.0; 3])
        .folder(FOLDER)
        .unit(c"m")
        .means(Means::BOX_SIZE)
        .houdini(c"limit_size")
}

/// What one of its sides does.
pub const fn side(name: &'static CStr, label: &'static CStr, means: Means) -> Param {
    Param::menu(name, label, KILL, SIDES).means(means).folder(FOLDER)
}

/// The names of the sides' parameters, in the order of [`DomainLimits::sides`].
pub const SIDE_NAMES: [&str; 6] =
    ["side_neg_x", "side_pos_x", "side_neg_y", "side_pos_y", "side_neg_z", "side_pos_z"];

param_places! {
    /// Where a node's parameters of the box stand.
    pub struct BoxParams {
        limit_center, limit_size, side_neg_x, side_pos_x, side_neg_y, side_pos_y, side_neg_z, side_pos_z
    }
}

/// The box that a node gives.
pub fn read(call: &Call, at: BoxParams) -> Result<DomainLimits, Failure> {
    let (centre, size) =
        (DVec3::from_array(call.vector(at.limit_center)), DVec3::from_array(call.vector(at.limit_size)));
    let farthest = (centre.abs() + 0.5 * size).max_element();
    if !(size.cmpgt(DVec3::ZERO).all() && farthest <= FARTHEST) {
        let [size, centre] = [size, centre].map(|v| v.to_array().map(written).join(", "));
        return Err(Failure::parameter(format!(
            "limit_size: a box of [{size}] m at [{centre}] holds nothing, or reaches farther than {} m from the origin",
            written(FARTHEST)
        )));
    }
    let sides = [at.side_neg_x, at.side_pos_x, at.side_neg_y, at.side_pos_y, at.side_neg_z, at.side_pos_z];
    let side = |place: usize| match call.int(place) {
        0 => Side::Closed,
        1 => Side::Open,
        _ => Side::Kill,
    };
    Ok(DomainLimits { min: centre - 0.5 * size, max: centre + 0.5 * size, sides: sides.map(side) })
}
