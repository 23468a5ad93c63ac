//! Meshes: reads the liquids that they are made of, and writes their triangles.

use super::grids::incomplete;
use super::particles::lacks;
use super::{Exchange, read_domain};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{AttributeShape, Call, Failure, GeometryShape};
use meniscus_abi::{Element, Meaning, port_places};
use meniscus_core::fluid::render_surface::{Liquid, RenderSurface};
use meniscus_core::grid::{FaceGrid, Grid, Transform};
use meniscus_core::solid::DomainLimits;
use std::borrow::Cow;

port_places! {
    /// The ports by which a mesher sees liquids.
    pub struct MeshedPorts { particles, surface, vel, liquid, domain }
}

/// A liquid, its particles read where they stand.
pub struct Meshed<'a> {
    transform: Transform,
    surface: Grid<f32>,
    velocity: Option<FaceGrid<f32>>,
    separation: f64,
    origin: DVec3,
    position: Cow<'a, [[f32; 3]]>,
    particle_velocity: Cow<'a, [[f32; 3]]>,
    mass_share: Cow<'a, [[f32; 1]]>,
}

impl Meshed<'_> {
    /// As the core sees it.
    pub fn seen(&self) -> Liquid<'_> {
        Liquid {
            transform: self.transform,
            surface: self.surface.clone(),
            velocity: self.velocity.clone(),
            separation: self.separation,
            origin: self.origin,
            position: &self.position,
            particle_velocity: &self.particle_velocity,
            mass_share: &self.mass_share,
        }
    }
}

impl Exchange {
    /// The box of the first liquid that has one.
    pub fn first_domain(&self, call: &Call, ports: MeshedPorts) -> Result<Option<DomainLimits>, Failure> {
        let mut all = 0..call.items(ports.domain);
        let first = all.find(|&item| call.table(ports.domain, item).is_some());
        first.map(|item| read_domain(call, ports.domain, item)).transpose()
    }

    /// The liquids among the affectors that are there, in wire order.
    pub fn meshed_liquids<'a>(
        &mut self,
        call: &'a Call,
        ports: MeshedPorts,
    ) -> Result<Vec<Meshed<'a>>, Failure> {
        let mut found = Vec::new();
        for item in 0..call.items(ports.surface) {
            let Some(view) = call.geometry(ports.particles, item) else { continue };
            let Some((surface, transform)) = self.grid::<f32>(call, ports.surface, item)? else { continue };
            let velocity = self.faces(call, ports.vel, item)?.map(|(faces, _)| faces);
            let separation = call
                .table(ports.liquid, item)
                .and_then(|table| table.first::<f64>("particle_separation"))
                .ok_or_else(|| incomplete(call, ports.liquid))?;
            let lacks = |what: &str| lacks(call, ports.particles, what);
            found.push(Meshed {
                transform,
                surface,
                velocity,
                separation,
                origin: DVec3::from_array(view.origin()),
                position: view.points("P").ok_or_else(|| lacks("P"))?,
                particle_velocity: view.points("v").ok_or_else(|| lacks("v"))?,
                mass_share: view.points("mass_share").unwrap_or_default(),
            });
        }
        Ok(found)
    }
}

/// Writes meshes as one, each with the origin that its points are relative to; `origin` is that of the whole.
pub fn write(
    call: &mut Call,
    port: u32,
    origin: DVec3,
    meshes: &[(DVec3, RenderSurface)],
) -> Result<(), Failure> {
    let attributes = vec![
        AttributeShape::on_points(c"P", Element::F32, 3, Meaning::POSITION),
        AttributeShape::on_points(c"v", Element::F32, 3, Meaning::VECTOR),
    ];
    let points: usize = meshes.iter().map(|(_, mesh)| mesh.points.len()).sum();
    let triangles: usize = meshes.iter().map(|(_, mesh)| mesh.triangles.len()).sum();
    let mut corners: Vec<u32> = Vec::with_capacity(3 * triangles);
    let mut first = 0;
    for (_, mesh) in meshes {
        corners.extend(mesh.triangles.iter().flatten().map(|n| n + first));
        first += mesh.points.len() as u32;
    }
    let place = |(own, mesh): &(DVec3, RenderSurface)| {
        let shift = (*own - origin).as_vec3();
        mesh.points.iter().map(|p| (*p + shift).to_array()).collect::<Vec<_>>()
    };
    let velocities = meshes.iter().flat_map(|(_, mesh)| &mesh.velocities).map(Vec3::to_array);
    let places: Vec<[f32; 3]> = meshes.iter().flat_map(place).collect();
    let shape = GeometryShape::triangles(points, triangles, origin.to_array(), attributes);
    let mut to = call.shape_geometry(port, 0, &shape)?;
    let written = to.points("P", places.into_iter())
        && to.points("v", velocities.collect::<Vec<_>>().into_iter())
        && to.write_topology(&corners, &[]);
    if written { Ok(()) } else { Err(Failure::host(port, "the host shaped another mesh than was asked for")) }
}
