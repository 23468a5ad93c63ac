//! A liquid's particles on a device: velocity to the faces and back, and the way through it. Arrays stay on the device
//! between calls; what has a stamp and is there already is not sent again, and results are fetched when asked for.

use super::device::{Device, Failure, Slot};
use super::launch::{Launch, Program};
use super::mirror::{Link, Mirror, Stamp, Stamped, Traffic};
use super::particle_layout as layout;
use super::particle_layout::{Frame, PARTICLE_THREADS};
use crate::leaf;
use glam::{IVec3, Vec3};

/// The active leaves of a grid, in the order of its channels.
#[derive(Clone, Copy, Debug)]
pub struct LeafTable<'a> {
    /// Says which leaves these are.
    pub stamp: Stamp,
    /// `[leaf]`: origins, sorted by x, y, z.
    pub origins: &'a [IVec3],
    /// `[leaf][27]`: [`leaf::ABSENT`] where none.
    pub neighbours: &'a [[u32; leaf::NEIGHBOURS]],
}

/// Which particles are in which cell.
#[derive(Clone, Copy, Debug)]
pub struct CellList<'a> {
    /// The leaves the cells belong to.
    pub leaves: LeafTable<'a>,
    /// `[leaf · 512 + 1]`: first particle of each cell.
    pub start: Stamped<'a, u32>,
}

/// What of the particles goes to the faces.
#[derive(Clone, Copy, Debug)]
pub struct ParticleArrays<'a> {
    /// m, relative to the particles' origin.
    pub position: Stamped<'a, Vec3>,
    /// m/s.
    pub velocity: Stamped<'a, Vec3>,
    /// Gradient of each component, 1/s, where it counts.
    pub affine: Option<[Stamped<'a, Vec3>; 3]>,
    /// kg/m³, where it is not the same everywhere.
    pub density: Option<Stamped<'a, f32>>,
}

/// A staggered field on the leaves it is used with.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Per axis, `[leaf][512]`.
    pub values: [Stamped<'a, f32>; 3],
    /// The value outside every leaf.
    pub background: f32,
}

/// How particles take velocity from the faces.
#[derive(Clone, Copy, Debug)]
pub enum Exchange<'a> {
    /// The face velocity and its gradient.
    Apic,
    /// `flip` parts of the change since `before`, and 1 − `flip` parts of the face velocity.
    Flip {
        /// 1 is pure FLIP, 0 pure PIC.
        flip: f32,
        /// The face velocity as it came from the particles.
        before: Field<'a>,
        /// The particles' velocity, m/s.
        velocity: Stamped<'a, Vec3>,
    },
}

/// Particles that move with their own velocity.
#[derive(Clone, Copy, Debug)]
pub struct Newborn<'a> {
    /// `[particle]`: identities.
    pub id: Stamped<'a, i64>,
    /// Identities from here on are newborn.
    pub born_from: i64,
    /// m/s.
    pub velocity: Stamped<'a, Vec3>,
}

/// A signed distance on a lattice of its own.
#[derive(Clone, Copy, Debug)]
pub struct SolidShape<'a> {
    /// The leaves of its band; their stamp is that of the whole shape.
    pub leaves: LeafTable<'a>,
    /// `[leaf][512]`, m, at cell centres.
    pub values: &'a [f32],
    /// Leafless tiles inside, in runs along z: x, y, first z, end z in leaves; sorted.
    pub inside: &'a [[i32; 4]],
    /// Half width of the band, m.
    pub background: f32,
    /// World → index: columns of the linear part, applied after the translation is taken off.
    pub to_index: [f64; 9],
    /// World position of the lattice's origin, m.
    pub translation: [f64; 3],
}

/// All solids and the sides of the domain.
#[derive(Clone, Copy, Debug)]
pub struct SolidTable<'a> {
    /// The shapes.
    pub shapes: &'a [SolidShape<'a>],
    /// World coordinate of each side, m: −x, +x, −y, +y, −z, +z.
    pub side: [f64; 6],
    /// Which sides are walls.
    pub closed: [bool; 6],
    /// Beyond which sides particles are removed.
    pub kills: [bool; 6],
    /// Whether any solid moves.
    pub moving: bool,
    /// The distance that particles keep from solids, m.
    pub separation: f64,
    /// The farthest that a solid's surface moves in the step, m.
    pub swept: f64,
}

/// A step of particles through a field.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// The field's leaves.
    pub leaves: LeafTable<'a>,
    /// The velocity, m/s.
    pub velocity: Field<'a>,
    /// Who does not follow it.
    pub newborn: Option<Newborn<'a>>,
    /// World position of the particles' origin, m.
    pub origin: [f64; 3],
    /// Voxels per m/s.
    pub step: f32,
}

/// What became of a particle on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is where it wanted to go.
    Arrived,
    /// It is beyond a side that removes liquid.
    Gone,
    /// A solid may stand in its way: its array holds the way it wants to go, m.
    MeetsSolid,
}

impl Fate {
    /// As `enum Fate` of advect.cuh.
    fn of(number: u8) -> Self {
        match number {
            0 => Self::Arrived,
            1 => Self::Gone,
            _ => Self::MeetsSolid,
        }
    }
}

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

    fn bytes(&self) -> usize {
        self.origins.bytes() + self.neighbours.bytes()
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

    fn bytes(&self) -> usize {
        self.leaves.bytes() + self.values.bytes() + self.inside.bytes()
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

/// A liquid's particles on a device. Holds copies only: dropping it between two calls changes no bit.
pub struct DeviceParticles<D: Device> {
    link: Link<D>,
    leaves: LeafMirror<D>,
    start: Mirror<D>,
    position: Mirror<D>,
    velocity: Mirror<D>,
    affine: Vectors<D>,
    density: Mirror<D>,
    id: Mirror<D>,
    /// The face velocity as it came from the particles, and how much of them reached each face.
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

    /// The device, in words.
    pub fn describe(&self) -> String {
        self.link.device.describe()
    }

    /// Bytes that went to and from the device so far.
    pub fn traffic(&self) -> Traffic {
        self.link.traffic
    }

    /// Bytes allocated on the device.
    pub fn bytes(&self) -> usize {
        let lone = [&self.start, &self.position, &self.velocity, &self.density, &self.id, &self.arrived, &self.fate];
        let vectors = [&self.affine, &self.carried, &self.weight, &self.solved];
        let mirrors = lone.into_iter().chain(vectors.into_iter().flatten());
        let shapes = self.shapes.iter().map(ShapeMirror::bytes).sum::<usize>();
        mirrors.map(Mirror::bytes).sum::<usize>() + shapes + self.leaves.bytes() + self.colliders.bytes()
    }

    fn launch(&mut self, launch: Launch) -> Result<(), Failure> {
        let mut program = Program::default();
        program.push(launch);
        // SAFETY: every address among the arguments is of memory held by `self`, as long as the arrays it was made for;
        // nobody touches it until the launch has ended, since all that is asked of a device happens in order.
        unsafe { self.link.device.run(&program, 1) }
    }

    /// Particles → faces, momentum-weighted mean velocity; `stamp` names the result from now on.
    pub fn particles_to_faces(
        &mut self,
        cells: &CellList,
        particles: &ParticleArrays,
        frame: Frame,
        stamp: Stamp,
    ) -> Result<(), Failure> {
        check_cells(cells, particles.position.values.len())?;
        let count = particles.position.values.len();
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
        let launch = Launch::new("particles_to_faces", leaves.count, PARTICLE_THREADS).with(leaves).with(start);
        self.launch(launch.with(arrays).with(frame).with(out))?;
        for mirror in self.carried.iter_mut().chain(&mut self.weight) {
            mirror.written::<f32>(faces, stamp);
        }
        Ok(())
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
        let count = position.values.len();
        check_cells(cells, count)?;
        check_field(&cells.leaves, after)?;
        let link = &mut self.link;
        let now = bring_field(&mut self.solved, link, after)?;
        let (velocity, then, flip) = match exchange {
            Exchange::Apic => (self.velocity.room::<Vec3>(link, count)?, now, 0.0),
            Exchange::Flip { flip, before, velocity } => {
                check_field(&cells.leaves, before)?;
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
        let launch = Launch::new("faces_to_particles", leaves.count, PARTICLE_THREADS).with(leaves).with(start);
        self.launch(launch.with(arrays).with(frame).with(now).with(then).with(flip).with(is_affine))?;
        for mirror in self.affine.iter_mut().chain([&mut self.velocity]) {
            mirror.written::<Vec3>(count, stamp);
        }
        Ok(())
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
        let count = position.values.len();
        check_field(&way.leaves, &way.velocity)?;
        let link = &mut self.link;
        let mut arrays = layout::Particles { position: self.position.bring(link, position)?, ..Default::default() };
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
        self.launch(launch.with(frame).with(journey).with(solids).with(out))?;
        self.arrived.written::<Vec3>(count, Stamp::NONE);
        self.fate.written::<u8>(count, Stamp::NONE);
        Ok(())
    }

    /// Where [`Self::advect`] took the particles, m (of those that meet a solid the way they want to go), and what
    /// became of each.
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

/// What kernels may rely on: a start for every cell, which end with the last particle.
fn check_cells(cells: &CellList, particles: usize) -> Result<(), Failure> {
    let CellList { leaves, start } = cells;
    let ends = start.values.last().is_some_and(|&end| end as usize == particles);
    let sound = start.values.len() == leaves.origins.len() * leaf::SIZE + 1 && start.values.is_sorted() && ends;
    if sound { Ok(()) } else { Err(Failure("the cell lists do not fit the particles".into())) }
}

fn check_field(leaves: &LeafTable, field: &Field) -> Result<(), Failure> {
    check_lengths(leaves.origins.len() * leaf::SIZE, field.values.map(|v| v.values.len()))
}

fn check_lengths(wanted: usize, lengths: impl IntoIterator<Item = usize>) -> Result<(), Failure> {
    match lengths.into_iter().find(|&n| n != wanted) {
        None => Ok(()),
        Some(n) => Err(Failure(format!("an array of {n} values where {wanted} are needed"))),
    }
}
