//! Names and types of the attributes of a liquid's particles.

use meniscus_abi::guest::AttributeShape;
use meniscus_abi::{Element, Meaning};
use std::ffi::CStr;

/// Velocities besides the one that moves the particles. That one is `v_drift` and belongs to the middle of the next
/// substep.
#[derive(Clone, Copy, Debug)]
pub enum Beside {
    /// `v`: the velocity at the end of a substep, where the particle is now; caches and forces read it.
    Now,
    /// `dv`: the velocity that forces add in this substep. Forces write it, and the solver uses it.
    Kick,
}

impl Beside {
    pub(super) const NAMES: [&CStr; 2] = [c"v", c"dv"];
}

/// The solver's own attributes.
const AFFINE: [&CStr; 3] = [c"C0", c"C1", c"C2"];
pub(super) const ATTRIBUTES: usize = 9;
pub(super) const OWN: [&str; ATTRIBUTES] =
    ["P", "v_drift", "C0", "C1", "C2", "id", "density", "viscosity", "mass_share"];

pub(super) fn vector(name: &CStr, meaning: Meaning) -> AttributeShape {
    AttributeShape::on_points(name, Element::F32, 3, meaning)
}

pub(super) fn shapes() -> Vec<AttributeShape> {
    let plain = |name, element| AttributeShape::on_points(name, element, 1, Meaning::PLAIN);
    let mut shapes = vec![vector(c"P", Meaning::POSITION), vector(c"v_drift", Meaning::VECTOR)];
    shapes.extend(AFFINE.map(|name| vector(name, Meaning::VECTOR)));
    shapes.push(plain(c"id", Element::I64));
    shapes.push(plain(c"density", Element::F32));
    shapes.push(plain(c"viscosity", Element::F32));
    shapes.push(plain(c"mass_share", Element::F32));
    shapes
}

/// True for the attributes that all particles have, whatever users put on them.
pub(super) fn is_own(name: &str) -> bool {
    OWN.contains(&name) || Beside::NAMES.iter().any(|own| own.to_bytes() == name.as_bytes())
}

/// True for attributes whose values have the same bytes.
pub(super) fn same_type(a: &AttributeShape, b: &AttributeShape) -> bool {
    a.element == b.element && a.components == b.components
}
