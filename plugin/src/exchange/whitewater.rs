//! Whitewater: reads and writes its particles, and the liquids that make it.

use super::grids::{incomplete, name};
use super::particles::lacks;
use super::{Exchange, read_domain};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape};
use meniscus_abi::{Element, Meaning, port_places};
use meniscus_core::fluid::whitewater::{Kind, Liquid, Parcels, Whitewater};
use meniscus_core::grid::{FaceGrid, Grid, Transform};
use meniscus_core::solid::DomainLimits;
use std::borrow::Cow;

port_places! {
    /// The ports of whitewater.
    pub struct WhitewaterPorts { whitewater, whitewater_births }
}

port_places! {
    /// The ports by which it sees liquids.
    pub struct LiquidPorts { particles, surface, vel_drift, domain }
}

/// The liquids around whitewater, but for what is read where it stands.
pub struct Around {
    fields: Vec<(u32, Grid<f32>, FaceGrid<f32>, Transform)>,
    /// The box that whitewater stays in: that of the first liquid.
    pub domain: Option<DomainLimits>,
}

/// The particles of a liquid, read where they stand.
pub struct Particles<'a> {
    origin: DVec3,
    position: Cow<'a, [[f32; 3]]>,
    velocity: Cow<'a, [[f32; 3]]>,
    id: Cow<'a, [[i64; 1]]>,
}

impl Exchange {
    /// The fields of the liquids among the affectors, in wire order.
    pub fn liquids_around(&mut self, call: &Call, ports: LiquidPorts) -> Result<Around, Failure> {
        let mut around = Around { fields: Vec::new(), domain: None };
        for item in 0..call.items(ports.surface) {
            let has_all =
                call.geometry(ports.particles, item).is_some() && call.grid(ports.vel_drift, item).is_some();
            let Some((surface, transform)) = self.grid::<f32>(call, ports.surface, item)?.filter(|_| has_all)
            else {
                continue;
            };
            let (velocity, _) =
                self.faces(call, ports.vel_drift, item)?.ok_or_else(|| incomplete(call, ports.vel_drift))?;
            if around.domain.is_none() && call.table(ports.domain, item).is_some() {
                around.domain = Some(read_domain(call, ports.domain, item)?);
            }
            around.fields.push((item, surface, velocity, transform));
        }
        Ok(around)
    }
}

impl Around {
    /// Their particles.
    pub fn particles<'a>(&self, call: &'a Call, ports: LiquidPorts) -> Result<Vec<Particles<'a>>, Failure> {
        let of = |item: u32| {
            let view =
                call.geometry(ports.particles, item).ok_or_else(|| incomplete(call, ports.particles))?;
            let lacks = |what: &str| lacks(call, ports.particles, what);
            Ok(Particles {
                origin: DVec3::from_array(view.origin()),
                position: view.points("P").ok_or_else(|| lacks("P"))?,
                velocity: view.points("v").ok_or_else(|| lacks("v"))?,
                id: view.points("id").ok_or_else(|| lacks("id"))?,
            })
        };
        self.fields.iter().map(|(item, ..)| of(*item)).collect()
    }

    /// The liquids as whitewater sees them.
    pub fn seen<'a>(self, particles: &'a [Particles]) -> Vec<Liquid<'a>> {
        let seen = |((_, surface, velocity, transform), of): (_, &'a Particles)| Liquid {
            transform,
            surface,
            velocity,
            particles: Parcels {
                origin: of.origin,
                position: &of.position,
                velocity: &of.velocity,
                id: &of.id,
            },
        };
        self.fields.into_iter().zip(particles).map(seen).collect()
    }
}

/// The particles at a port, and what forces added to each (m/s; empty without forces).
pub fn read(call: &Call, ports: WhitewaterPorts) -> Result<(Whitewater, Vec<Vec3>), Failure> {
    let port = ports.whitewater;
    let view = call.geometry(port, 0).ok_or_else(|| incomplete(call, port))?;
    let lacks = |what: &str| lacks(call, port, what);
    let vectors = |what: &str| {
        let values = view.points::<f32, 3>(what)?;
        Some(values.iter().map(|&v| Vec3::from_array(v)).collect::<Vec<Vec3>>())
    };
    let numbers = |what: &str| {
        let values = view.points::<f32, 1>(what).ok_or_else(|| lacks(what))?;
        Ok::<_, Failure>(values.iter().map(|&[x]| x).collect::<Vec<f32>>())
    };
    let kind = |&[state]: &[i32; 1]| match state {
        0 => Kind::Spray,
        1 => Kind::Foam,
        _ => Kind::Bubble,
    };
    let counter = |what: &str| call.table(ports.whitewater_births, 0).and_then(|t| t.first::<i64>(what));
    let held = Whitewater {
        origin: DVec3::from_array(view.origin()),
        position: vectors("P").ok_or_else(|| lacks("P"))?,
        velocity: vectors("v").ok_or_else(|| lacks("v"))?,
        id: view.points::<i64, 1>("id").ok_or_else(|| lacks("id"))?.iter().map(|&[id]| id).collect(),
        age: numbers("age")?,
        life: numbers("life")?,
        kind: view.points::<i32, 1>("state").ok_or_else(|| lacks("state"))?.iter().map(kind).collect(),
        next_id: counter("next_id").ok_or_else(|| incomplete(call, ports.whitewater_births))?,
        births: counter("births").ok_or_else(|| incomplete(call, ports.whitewater_births))?,
    };
    let moved = held.position.iter().chain(&held.velocity);
    let ages = held.age.iter().chain(&held.life);
    if !moved.map(|v| v.is_finite()).chain(ages.map(|x| x.is_finite())).all(|sound| sound) {
        let sentence = format!("`{}`: a value of its particles is not finite", name(call, port));
        return Err(Failure::not_finite(port, sentence));
    }
    Ok((held, vectors("dv").unwrap_or_default()))
}

/// Writes the particles, each with a radius between a half and one and a half of `radius`, m.
pub fn write(call: &mut Call, ports: WhitewaterPorts, held: &Whitewater, radius: f64) -> Result<(), Failure> {
    let attributes = vec![
        AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION),
        AttributeShape::on_points(c"v", Element::F32, 3, Meaning::VECTOR),
        AttributeShape::on_points(c"id", Element::I64, 1, Meaning::PLAIN),
        AttributeShape::on_points(c"age", Element::F32, 1, Meaning::PLAIN),
        AttributeShape::on_points(c"life", Element::F32, 1, Meaning::PLAIN),
        AttributeShape::on_points(c"state", Element::I32, 1, Meaning::PLAIN),
        AttributeShape::on_points(c"pscale", Element::F32, 1, Meaning::PLAIN),
    ];
    let port = ports.whitewater;
    let shape = GeometryShape::points(held.len(), held.origin.to_array(), attributes);
    let mut to = call.shape_geometry(port, 0, &shape)?;
    let written = to.points("P", held.position.iter().map(|x| x.to_array()))
        && to.points("v", held.velocity.iter().map(|v| v.to_array()))
        && to.points("id", held.id.iter().map(|&id| [id]))
        && to.points("age", held.age.iter().map(|&age| [age]))
        && to.points("life", held.life.iter().map(|&life| [life]))
        && to.points("state", held.kind.iter().map(|&kind| [kind as i32]))
        && to.points("pscale", held.id.iter().map(|&id| [radius as f32 * held.size(id)]));
    if !written {
        return Err(Failure::host(port, "the host shaped other geometry than was asked for"));
    }
    call.shape_table(ports.whitewater_births, 0)?;
    call.write_array(ports.whitewater_births, 0, c"next_id", 1, &[held.next_id])?;
    call.write_array(ports.whitewater_births, 0, c"births", 1, &[held.births])
}
