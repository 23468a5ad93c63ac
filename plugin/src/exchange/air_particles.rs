//! The passive particles of the air beside a liquid.

use super::Exchange;
use super::particles::lacks;
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape};
use meniscus_abi::{Element, Meaning};
use meniscus_core::fluid::Particles;
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::population::air;

impl Exchange {
    /// The air's particles at a port, around the origin of their liquid; none where there is nothing yet.
    pub fn air_particles(&self, call: &Call, port: u32, liquid: &Liquid) -> Result<Particles, Failure> {
        let origin = liquid.particles.origin;
        let Some(view) = call.geometry(port, 0) else { return Ok(Particles::new(origin)) };
        let positions = view.points::<f32, 3>("P").ok_or_else(|| lacks(call, port, "P"))?;
        let ids = view.points::<i64, 1>("id").ok_or_else(|| lacks(call, port, "id"))?;
        let shift = (DVec3::from_array(view.origin()) - origin).as_vec3();
        let positions: Vec<Vec3> = positions.iter().map(|&x| Vec3::from_array(x) + shift).collect();
        let ids: Vec<i64> = ids.iter().map(|&[id]| id).collect();
        if let Some((_, id)) = positions.iter().zip(&ids).find(|(x, _)| !x.is_finite()) {
            let name = super::grids::name(call, port);
            let sentence = format!("`{name}`: the position of the particle with id {id} is not finite");
            return Err(Failure::not_finite(port, sentence));
        }
        Ok(air::passive(origin, positions, ids))
    }

    /// Makes the air's particles at a port these; a port that never held any is left alone where there are none.
    pub fn write_air_particles(&self, call: &mut Call, port: u32, air: &Particles) -> Result<(), Failure> {
        if air.is_empty() && call.geometry(port, 0).is_none() {
            return Ok(());
        }
        let attributes = vec![
            AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION),
            AttributeShape::on_points(c"id", Element::I64, 1, Meaning::PLAIN),
        ];
        let shape = GeometryShape::points(air.len(), air.origin.to_array(), attributes);
        let mut to = call.shape_geometry(port, 0, &shape)?;
        let written = to.points("P", air.position.iter().map(|x| x.to_array()))
            && to.points("id", air.id.iter().map(|&id| [id]));
        written
            .then_some(())
            .ok_or_else(|| Failure::host(port, "the host shaped other geometry than was asked for"))
    }
}
