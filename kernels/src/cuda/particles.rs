//! A liquid's particles on a device: velocity transfer to the faces and back, and advection. Arrays stay on the device
//! between calls: an array whose stamp is there already is not sent again, and results are fetched when asked for.

use super::device::{Device, Failure, Slot};
use super::launch::{Launch, Program};
use super::mirror::{Link, Mirror, Stamp, Stamped, Traffic};
use super::particle_layout as layout;
use super::particle_layout::{Frame, PARTICLE_THREADS};
use super::particle_tables::{
    CellList, Exchange, Fate, Field, LeafTable, ParticleArrays, SolidShape, SolidTable, Way, check_lengths,
};
use crate::leaf;
use glam::Vec3;

/// The leaves of a grid on a device.
struct LeafMirror<D: Device> {
    origins: Mirror<D>,
    neighbours: Mirror<D>,
}

impl<D: Device> Default for LeafMirror<D> {
    fn default() -> Self {
        Self { origins: Mirror::default(), neighbours: Mirror::default() }
    }
}

impl<D: Device> LeafMirror<D> {
    fn bring(&mut self, link: &mut Link<D>, table: LeafTable) -> Result<layout::Leaves, Failure> {
        let LeafTable { stamp, origins, neighbours } = table;
        Ok(layout::Leaves {
            count: origins.len() as u32,
            padding: 0,
            origins: self.origins.bring(link, Stamped::new(stamp, origins))?,
            neighbours: self.neighbours.bring(link, Stamped::new(stamp, neighbours))?,
        })
    }
}

/// A solid's shape on a device.
struct ShapeMirror<D: Device> {
    leaves: LeafMirror<D>,
    values: Mirror<D>,
    inside: Mirror<D>,
}

impl<D: Device> Default for ShapeMirror<D> {
    fn default() -> Self {
        Self { leaves: LeafMirror::default(), values: Mirror::default(), inside: Mirror::default() }
    }
}

impl<D: Device> ShapeMirror<D> {
    fn bring(&mut self, link: &mut Link<D>, shape: &SolidShape) -> Result<layout::Collider, Failure> {
        let stamp = shape.leaves.stamp;
        Ok(layout::Collider {
            leaves: self.leaves.bring(link, shape.leaves)?,
            values: self.values.bring(link, Stamped::new(stamp, shape.values))?,
            inside: self.inside.bring(link, Stamped::new(stamp, shape.inside))?,
            runs: shape.inside.len() as u32,
            background: shape.background,
            to_index: shape.to_index,
            translation: shape.translation,
        })
    }
}

type Vectors<D> = [Mirror<D>; 3];

fn bring_field<D: Device>(
    mirrors: &mut Vectors<D>,
    link: &mut Link<D>,
    field: &Field,
) -> Result<layout::Faces, Failure> {
    let mut values = [0; 3];
    for (axis, mirror) in mirrors.iter_mut().enumerate() {
        values[axis] = mirror.bring(link, field.values[axis])?;
    }
    Ok(layout::Faces { values, background: field.background, padding: 0 })
}

/// A liquid's particles on a device. It holds only copies: dropping it between two calls does not change a bit of the
/// result.
pub struct DeviceParticles<D: Device> {
    link: Link<D>,
    leaves: LeafMirror<D>,
    start: Mirror<D>,
    position: Mirror<D>,
    velocity: Mirror<D>,
    affine: Vectors<D>,
    density: Mirror<D>,
    id: Mirror<D>,
    /// The face velocity transferred from the particles, and the weight that reached each face.
    carried: Vectors<D>,
    weight: Vectors<D>,
    /// The face velocity that particles follow.
    solved: Vectors<D>,
    shapes: Vec<ShapeMirror<D>>,
    colliders: Slot<D>,
    arrived: Mirror<D>,
    fate: Mirror<D>,
}

impl<D: Device> DeviceParticles<D> {
    /// No particles on a device yet.
    pub fn new(device: D) -> Self {
        Self {
            link: Link { device, traffic: Traffic::default() },
            leaves: LeafMirror::default(),
            start: Mirror::default(),
            position: Mirror::default(),
            velocity: Mirror::default(),
            affine: Default::default(),
            density: Mirror::default(),
            id: Mirror::default(),
            carried: Default::default(),
            weight: Default::default(),
            solved: Default::default(),
            shapes: Vec::new(),
            colliders: Slot::default(),
            arrived: Mirror::default(),
            fate: Mirror::default(),
        }
    }

    /// Bytes that went to and from the device so far.
    pub fn traffic(&self) -> Traffic {
        self.link.traffic
    }

    /// Launches a kernel so many times.
    pub(super) fn launch(&mut self, launch: Launch, times: usize) -> Result<(), Failure> {
        let mut program = Program::default();
        program.push(launch);
        // SAFETY: every address among the arguments is of memory held by `self`, as long as the arrays it was made for;
        // nobody touches it until the launch has ended, since all that is asked of a device happens in order.
        unsafe { self.link.device.run(&program, times) }
    }

    /// Particles → faces, momentum-weighted mean velocity; `stamp` names the result from now on.
    pub fn particles_to_faces(
        &mut self,
        cells: &CellList,
        particles: &ParticleArrays,
        frame: Frame,
        stamp: Stamp,
    ) -> Result<(), Failure> {
        let launch = self.prepare_carrying(cells, particles, frame)?;
        self.launch(launch, 1)?;
        let faces = cells.leaves.origins.len() * leaf::SIZE;
        for mirror in self.carried.iter_mut().chain(&mut self.weight) {
            mirror.written::<f32>(faces, stamp);
        }
        Ok(())
    }

    pub(super) fn prepare_carrying(
        &mut self,
        cells: &CellList,
        particles: &ParticleArrays,
        frame: Frame,
    ) -> Result<Launch, Failure> {
        let count = particles.position.values.len();
        cells.check(count)?;
        let parts = particles.affine.iter().flatten().map(|a| a.values.len());
        let lengths = parts.chain(particles.density.map(|d| d.values.len()));
        check_lengths(count, lengths.chain([particles.velocity.values.len()]))?;
        let link = &mut self.link;
        let mut affine = [0; 3];
        if let Some(rows) = particles.affine {
            for (axis, mirror) in self.affine.iter_mut().enumerate() {
                affine[axis] = mirror.bring(link, rows[axis])?;
            }
        }
        let density = match particles.density {
            Some(density) => self.density.bring(link, density)?,
            None => 0,
        };
        let arrays = layout::Particles {
            position: self.position.bring(link, particles.position)?,
            velocity: self.velocity.bring(link, particles.velocity)?,
            affine,
            density,
        };
        let leaves = self.leaves.bring(link, cells.leaves)?;
        let start = self.start.bring(link, cells.start)?;
        let faces = leaves.count as usize * leaf::SIZE;
        let mut out = layout::Carried::default();
        for axis in 0..3 {
            out.value[axis] = self.carried[axis].room::<f32>(link, faces)?;
            out.weight[axis] = self.weight[axis].room::<f32>(link, faces)?;
        }
        let launch =
            Launch::new("particles_to_faces", leaves.count, PARTICLE_THREADS).with(leaves).with(start);
        Ok(launch.with(arrays).with(frame).with(out))
    }

    /// Waits until everything launched is done.
    pub(super) fn wait(&mut self) -> Result<(), Failure> {
        self.position.wait(&mut self.link)
    }

    /// What [`Self::particles_to_faces`] made of an axis, m/s; 0 where nothing arrived.
    pub fn fetch_carried(&mut self, axis: usize, values: &mut [f32]) -> Result<(), Failure> {
        self.carried[axis].fetch(&mut self.link, values)
    }

    /// Sums of weights (of masses, where densities differ) on an axis' faces; 0 where nothing arrived.
    pub fn fetch_weight(&mut self, axis: usize, values: &mut [f32]) -> Result<(), Failure> {
        self.weight[axis].fetch(&mut self.link, values)
    }

    /// Faces → particles; `stamp` names the particles' velocity and affine part from now on.
    pub fn faces_to_particles(
        &mut self,
        cells: &CellList,
        position: Stamped<Vec3>,
        frame: Frame,
        after: &Field,
        exchange: &Exchange,
        stamp: Stamp,
    ) -> Result<(), Failure> {
        let launch = self.prepare_taking(cells, position, frame, after, exchange)?;
        self.launch(launch, 1)?;
        for mirror in self.affine.iter_mut().chain([&mut self.velocity]) {
            mirror.written::<Vec3>(position.values.len(), stamp);
        }
        Ok(())
    }

    pub(super) fn prepare_taking(
        &mut self,
        cells: &CellList,
        position: Stamped<Vec3>,
        frame: Frame,
        after: &Field,
        exchange: &Exchange,
    ) -> Result<Launch, Failure> {
        let count = position.values.len();
        cells.check(count)?;
        after.check(&cells.leaves)?;
        let link = &mut self.link;
        let now = bring_field(&mut self.solved, link, after)?;
        let (velocity, then, flip) = match exchange {
            Exchange::Apic => (self.velocity.room::<Vec3>(link, count)?, now, 0.0),
            Exchange::Flip { flip, before, velocity } => {
                before.check(&cells.leaves)?;
                check_lengths(count, [velocity.values.len()])?;
                let then = bring_field(&mut self.carried, link, before)?;
                (self.velocity.bring(link, *velocity)?, then, *flip)
            }
        };
        let mut affine = [0; 3];
        for (axis, mirror) in self.affine.iter_mut().enumerate() {
            affine[axis] = mirror.room::<Vec3>(link, count)?;
        }
        let position = self.position.bring(link, position)?;
        let arrays = layout::Particles { position, velocity, affine, density: 0 };
        let leaves = self.leaves.bring(link, cells.leaves)?;
        let start = self.start.bring(link, cells.start)?;
        let is_affine = u32::from(matches!(exchange, Exchange::Apic));
        let launch =
            Launch::new("faces_to_particles", leaves.count, PARTICLE_THREADS).with(leaves).with(start);
        Ok(launch.with(arrays).with(frame).with(now).with(then).with(flip).with(is_affine))
    }

    /// The particles' velocity, m/s.
    pub fn fetch_velocity(&mut self, values: &mut [Vec3]) -> Result<(), Failure> {
        self.velocity.fetch(&mut self.link, values)
    }

    /// The gradient of a component of it, 1/s.
    pub fn fetch_affine(&mut self, axis: usize, values: &mut [Vec3]) -> Result<(), Failure> {
        self.affine[axis].fetch(&mut self.link, values)
    }

    /// Moves particles; their order does not matter.
    pub fn advect(
        &mut self,
        position: Stamped<Vec3>,
        frame: Frame,
        way: &Way,
        solids: &SolidTable,
    ) -> Result<(), Failure> {
        let launch = self.prepare_moving(position, frame, way, solids)?;
        self.launch(launch, 1)?;
        self.arrived.written::<Vec3>(position.values.len(), Stamp::NONE);
        self.fate.written::<u8>(position.values.len(), Stamp::NONE);
        Ok(())
    }

    pub(super) fn prepare_moving(
        &mut self,
        position: Stamped<Vec3>,
        frame: Frame,
        way: &Way,
        solids: &SolidTable,
    ) -> Result<Launch, Failure> {
        let count = position.values.len();
        way.velocity.check(&way.leaves)?;
        let link = &mut self.link;
        let mut arrays =
            layout::Particles { position: self.position.bring(link, position)?, ..Default::default() };
        let mut journey =
            layout::Journey { origin: way.origin, step: way.step, count: count as u32, ..Default::default() };
        if let Some(newborn) = &way.newborn {
            check_lengths(count, [newborn.id.values.len(), newborn.velocity.values.len()])?;
            arrays.velocity = self.velocity.bring(link, newborn.velocity)?;
            (journey.id, journey.born_from) = (self.id.bring(link, newborn.id)?, newborn.born_from);
        }
        let leaves = self.leaves.bring(link, way.leaves)?;
        let field = bring_field(&mut self.solved, link, &way.velocity)?;
        let solids = self.bring_solids(solids)?;
        let link = &mut self.link;
        let out = layout::Arrivals {
            position: self.arrived.room::<Vec3>(link, count)?,
            fate: self.fate.room::<u8>(link, count)?,
        };
        let grid = count.div_ceil(PARTICLE_THREADS as usize) as u32;
        let launch = Launch::new("advect", grid, PARTICLE_THREADS).with(leaves).with(field).with(arrays);
        Ok(launch.with(frame).with(journey).with(solids).with(out))
    }

    /// The positions to which [`Self::advect`] moved the particles, m (for those that meet a solid, the rest of their
    /// way), and each one's result.
    pub fn fetch_arrivals(&mut self, positions: &mut [Vec3]) -> Result<Vec<Fate>, Failure> {
        let mut fates = vec![0u8; positions.len()];
        self.arrived.fetch(&mut self.link, positions)?;
        self.fate.fetch(&mut self.link, &mut fates)?;
        Ok(fates.into_iter().map(Fate::of).collect())
    }

    fn bring_solids(&mut self, solids: &SolidTable) -> Result<layout::Solids, Failure> {
        let bits = |flags: [bool; 6]| (0..6).map(|s| u32::from(flags[s]) << s).sum();
        self.shapes.resize_with(solids.shapes.len(), ShapeMirror::default);
        let mut table = Vec::with_capacity(solids.shapes.len());
        for (mirror, shape) in self.shapes.iter_mut().zip(solids.shapes) {
            table.push(mirror.bring(&mut self.link, shape)?);
        }
        Ok(layout::Solids {
            collider: self.colliders.fill(&mut self.link.device, &table)?,
            colliders: table.len() as u32,
            closed: bits(solids.closed),
            kills: bits(solids.kills),
            moving: solids.moving.into(),
            side: solids.side,
            separation: solids.separation,
            swept: solids.swept,
        })
    }
}
