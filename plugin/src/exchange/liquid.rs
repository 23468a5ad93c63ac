//! Reads a liquid (particles, fields, counters) from the object's ports into the core's types, and writes it back.

use super::particles::Followers;
use super::{Exchange, Field};
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Sampling, port_places};
use meniscus_core::fluid::Particles;
use meniscus_core::fluid::faces::inlet::Inlet;
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::surface::volume::VolumeBook;
use meniscus_core::grid::{FaceGrid, Grid, Transform};
use meniscus_core::solid::SolidFields;
use std::sync::Arc;

port_places! {
    /// The ports of a liquid's state.
    pub struct StatePorts { particles, surface, vel_drift, liquid }
}

port_places! {
    /// The ports of what predict leaves for solve and correct.
    pub struct SubstepPorts {
        vel_transferred, open, vel_solid, solid, density, viscosity, divergence, domain, swelling, tension, spray,
    }
}

port_places! {
    /// The ports that say where sources drive a liquid.
    pub struct InletPorts { inlet, vel_inlet }
}

/// A liquid, what follows its particles, and what else its table says.
#[derive(Debug)]
pub struct LiquidState {
    /// What the core steps.
    pub liquid: Liquid,
    /// User attributes.
    pub followers: Followers,
    /// Distance between particles as they were seeded, m.
    pub particle_separation: f64,
}

impl LiquidState {
    /// Particles per voxel of a filled region.
    pub fn per_voxel(&self) -> f32 {
        (self.liquid.transform.voxel_size() / self.particle_separation).powi(3) as f32
    }
}

impl SubstepPorts {
    /// Those with the fields of solids.
    pub fn of_solids(&self) -> [u32; 3] {
        [self.solid, self.open, self.vel_solid]
    }

    /// What predict leaves, to be written.
    pub fn fields<'a>(&self, liquid: &'a Liquid) -> Vec<Field<'a, f32>> {
        let solid = &liquid.solid;
        let mut fields = vec![
            Field::faces(self.vel_transferred, &liquid.transferred),
            Field::faces(self.open, &solid.open),
            Field::faces(self.vel_solid, &solid.velocity),
            Field::grid(self.solid, Sampling::NODE, &solid.nodes),
        ];
        let optional = [
            (self.swelling, &liquid.swelling),
            (self.density, &liquid.density),
            (self.viscosity, &liquid.viscosity),
            (self.tension, &liquid.tension),
        ];
        let center = |port, grid| Field::grid(port, Sampling::CENTER, grid);
        fields.extend(optional.into_iter().filter_map(|(port, grid)| Some(center(port, grid.as_ref()?))));
        fields.push(center(self.spray, &liquid.spray));
        fields.push(center(self.divergence, &liquid.divergence));
        fields
    }
}

impl Exchange {
    /// The liquid's particles, counters and books. Fields are read by whoever needs them.
    pub fn liquid(&mut self, call: &Call, ports: StatePorts) -> Result<LiquidState, Failure> {
        let lacks = |what: &str| Failure::input(ports.liquid, format!("the table `liquid` lacks `{what}`"));
        let (particles, followers) = self.particles(call, ports.particles)?;
        let surface = call.grid(ports.surface, 0).ok_or_else(|| missing(call, ports.surface))?;
        let transform = Transform::from_row_major(surface.index_to_world());
        let table = call.table(ports.liquid, 0).ok_or_else(|| lacks("everything"))?;
        let count = |name: &str| table.first::<i64>(name).ok_or_else(|| lacks(name));
        let number = |name: &str| {
            table
                .first::<f64>(name)
                .filter(|v| v.is_finite())
                .ok_or_else(|| lacks(&format!("a finite {name}")))
        };
        let mut liquid = Liquid::new(transform, particles.origin);
        (liquid.next_id, liquid.born_from) = (count("next_id")?, count("born_from")?);
        liquid.volume = VolumeBook {
            rest: number("rest_volume")?,
            volume: number("volume")?,
            found: table.first::<f64>("found_volume").map_or_else(|| number("volume"), Ok)?,
            excess: number("excess")?,
            drift: number("drift")?,
            overlap: number("overlap")?,
        };
        liquid.entered_from = table.first::<i64>("entered_from").unwrap_or(0);
        liquid.thinned_below = table.first::<f64>("thinned_below").unwrap_or(0.0) as f32;
        liquid.particles = particles;
        Ok(LiquidState { liquid, followers, particle_separation: number("particle_separation")? })
    }

    /// The liquid's level set, if its particles were thinned.
    pub fn thinned_surface(&mut self, call: &Call, port: u32, liquid: &mut Liquid) -> Result<(), Failure> {
        if liquid.thinned_below > 0.0 {
            liquid.surface = self.required_grid(call, port)?.0;
        }
        Ok(())
    }

    /// Distance between the particles of a liquid as they were seeded, m, where its table says so.
    pub fn particle_separation(&self, call: &Call, port: u32) -> Option<f64> {
        call.table(port, 0)?.first::<f64>("particle_separation").filter(|s| *s > 0.0 && s.is_finite())
    }

    /// Writes particles, level set, face velocity and table, and further fields. `density`: what [`shared_density`] says.
    pub fn write_liquid(
        &mut self,
        call: &mut Call,
        ports: StatePorts,
        held: &LiquidState,
        density: f64,
        further: Vec<Field<f32>>,
    ) -> Result<(), Failure> {
        let liquid = &held.liquid;
        self.write_particles(call, ports.particles, &liquid.particles, &held.followers)?;
        let mut fields = vec![
            Field::grid(ports.surface, Sampling::CENTER, &liquid.surface),
            Field::faces(ports.vel_drift, &liquid.velocity),
        ];
        fields.extend(further);
        self.write_fields(call, &liquid.transform, &fields)?;
        write_table(call, ports.liquid, held, density)
    }

    /// A liquid's level set and velocity, and what predict left beside its state. Of the solids, only nodes, open fractions and velocity are
    /// sure to be there.
    pub fn solved_fields(
        &mut self,
        call: &Call,
        (state, ports): (StatePorts, SubstepPorts),
        liquid: &mut Liquid,
    ) -> Result<(), Failure> {
        let of_solids = ports.of_solids();
        let stamp = |port: u32| (port, call.grid(port, 0).map_or(0, |view| view.value_id()));
        let solids = self.kept.take_solids(of_solids.map(stamp));
        let mut fields = vec![state.surface, state.vel_drift, ports.vel_transferred];
        if solids.is_none() {
            fields.extend(of_solids);
        }
        self.read_ahead(call, &fields);
        liquid.surface = self.required_grid(call, state.surface)?.0;
        liquid.velocity = self.required_faces(call, state.vel_drift)?.0;
        liquid.transferred = self.required_faces(call, ports.vel_transferred)?.0;
        liquid.solid = match solids {
            Some(solids) => solids,
            // Only predict needs the open volume of the cells, and who owns faces.
            None => Arc::new(SolidFields {
                nodes: self.required_grid(call, ports.solid)?.0,
                open: self.required_faces(call, ports.open)?.0,
                velocity: self.required_faces(call, ports.vel_solid)?.0,
                ..SolidFields::open(&Arc::default(), &liquid.transform)
            }),
        };
        self.kept.drop_fields();
        Ok(())
    }

    /// Where sources drive the liquid; `None` where none does.
    pub fn inlet(&mut self, call: &Call, ports: InletPorts) -> Result<Option<Inlet>, Failure> {
        let Some((faces, _)) = self.faces(call, ports.inlet, 0)? else { return Ok(None) };
        let (velocity, _) = self.required_faces(call, ports.vel_inlet)?;
        Ok(Some(Inlet { velocity: velocity.on(&faces.topology), faces }))
    }

    /// Writes where sources drive the liquid.
    pub fn write_inlet(
        &mut self,
        call: &mut Call,
        ports: InletPorts,
        inlet: &Inlet,
        transform: &Transform,
    ) -> Result<(), Failure> {
        let fields =
            [Field::faces(ports.inlet, &inlet.faces), Field::faces(ports.vel_inlet, &inlet.velocity)];
        self.write_fields(call, transform, &fields)
    }

    /// A grid that must be there.
    pub fn required_grid(&mut self, call: &Call, port: u32) -> Result<(Grid<f32>, Transform), Failure> {
        self.required_grid_of(call, port, 0)
    }

    /// A grid that an item of a port must have.
    pub fn required_grid_of(
        &mut self,
        call: &Call,
        port: u32,
        item: u32,
    ) -> Result<(Grid<f32>, Transform), Failure> {
        self.grid(call, port, item)?.ok_or_else(|| missing(call, port))
    }

    /// A staggered field that must be there.
    pub fn required_faces(&mut self, call: &Call, port: u32) -> Result<(FaceGrid<f32>, Transform), Failure> {
        self.required_faces_of(call, port, 0)
    }

    /// A staggered field that an item of a port must have.
    pub fn required_faces_of(
        &mut self,
        call: &Call,
        port: u32,
        item: u32,
    ) -> Result<(FaceGrid<f32>, Transform), Failure> {
        self.faces(call, port, item)?.ok_or_else(|| missing(call, port))
    }
}

/// The density that all particles share, kg/m³; 0 where they do not.
pub fn shared_density(particles: &Particles) -> f64 {
    particles.uniform_density().map_or(0.0, f64::from)
}

/// Writes the table `liquid`. `density`: what [`shared_density`] says.
pub fn write_table(call: &mut Call, port: u32, held: &LiquidState, density: f64) -> Result<(), Failure> {
    let liquid = &held.liquid;
    call.shape_table(port, 0)?;
    call.write_array(port, 0, c"next_id", 1, &[liquid.next_id])?;
    call.write_array(port, 0, c"born_from", 1, &[liquid.born_from])?;
    call.write_array(port, 0, c"entered_from", 1, &[liquid.entered_from])?;
    call.write_array(port, 0, c"volume", 1, &[liquid.volume.volume])?;
    call.write_array(port, 0, c"found_volume", 1, &[liquid.volume.found])?;
    call.write_array(port, 0, c"rest_volume", 1, &[liquid.volume.rest])?;
    call.write_array(port, 0, c"excess", 1, &[liquid.volume.excess])?;
    call.write_array(port, 0, c"drift", 1, &[liquid.volume.drift])?;
    call.write_array(port, 0, c"overlap", 1, &[liquid.volume.overlap])?;
    call.write_array(port, 0, c"particle_separation", 1, &[held.particle_separation])?;
    call.write_array(port, 0, c"thinned_below", 1, &[f64::from(liquid.thinned_below)])?;
    call.write_array(port, 0, c"voxel_size", 1, &[liquid.transform.voxel_size()])?;
    call.write_array(port, 0, c"density", 1, &[density])
}

fn missing(call: &Call, port: u32) -> Failure {
    Failure::input(port, format!("`{}` is not there", super::grids::name(call, port)))
}
