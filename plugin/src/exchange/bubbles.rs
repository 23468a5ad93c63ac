//! Bubbles as geometry: one point each.

use glam::Vec3;
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape};
use meniscus_abi::{Element, Meaning};
use meniscus_core::coupling::Bubble;

/// Writes the enclosed regions of air that border liquid.
pub fn write(call: &mut Call, port: u32, bubbles: &[Bubble]) -> Result<(), Failure> {
    let enclosed: Vec<&Bubble> = bubbles.iter().filter(|b| !b.exterior && b.liquid_faces > 0).collect();
    let number = |name| AttributeShape::on_points(name, Element::F32, 1, Meaning::PLAIN);
    let whole = |name| AttributeShape::on_points(name, Element::I32, 1, Meaning::PLAIN);
    let attributes = vec![
        AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION),
        whole(c"id"),
        number(c"volume"),
        number(c"pressure"),
        whole(c"constrained"),
    ];
    let mut to =
        call.shape_geometry(port, 0, &GeometryShape::points(enclosed.len(), [0.0; 3], attributes))?;
    let place = |b: &&Bubble| if b.centroid.is_finite() { b.centroid.as_vec3() } else { Vec3::ZERO };
    let written = to.points("P", enclosed.iter().map(|b| place(b).to_array()))
        && to.points("id", enclosed.iter().map(|b| [b.id]))
        && to.points("volume", enclosed.iter().map(|b| [b.volume as f32]))
        && to.points("pressure", enclosed.iter().map(|b| [b.pressure as f32]))
        && to.points("constrained", enclosed.iter().map(|b| [i32::from(b.constrained)]));
    written
        .then_some(())
        .ok_or_else(|| Failure::host(port, "the host shaped other geometry than was asked for"))
}
