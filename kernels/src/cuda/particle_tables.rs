//! The data of a liquid's particles that the host sends and receives: arrays with their stamps.

use super::device::Failure;
use super::mirror::{Stamp, Stamped};
use crate::leaf;
use glam::{IVec3, Vec3};

/// The active leaves of a grid, in the order of its channels.
#[derive(Clone, Copy, Debug)]
pub struct LeafTable<'a> {
    /// The stamp of these leaves.
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

/// The values of the particles that are transferred to the faces.
#[derive(Clone, Copy, Debug)]
pub struct ParticleArrays<'a> {
    /// m, relative to the particles' origin.
    pub position: Stamped<'a, Vec3>,
    /// m/s.
    pub velocity: Stamped<'a, Vec3>,
    /// Gradient of each component, 1/s, if it is used.
    pub affine: Option<[Stamped<'a, Vec3>; 3]>,
    /// kg/m³, if it is not the same everywhere.
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
    /// Particles that do not follow it.
    pub newborn: Option<Newborn<'a>>,
    /// World position of the particles' origin, m.
    pub origin: [f64; 3],
    /// Voxels per m/s.
    pub step: f32,
}

/// The result of a particle's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reached its end.
    Arrived,
    /// It is beyond a side that removes liquid.
    Gone,
    /// A solid may stand in its way: its array holds the rest of the way, m.
    MeetsSolid,
}

impl Fate {
    /// As `enum Fate` of advect.cuh.
    pub(super) fn of(number: u8) -> Self {
        match number {
            0 => Self::Arrived,
            1 => Self::Gone,
            _ => Self::MeetsSolid,
        }
    }
}

impl CellList<'_> {
    /// Checks what kernels rely on: every cell has a start, and the last cell ends with the last particle.
    pub(super) fn check(&self, particles: usize) -> Result<(), Failure> {
        let (leaves, start) = (self.leaves.origins.len(), self.start.values);
        let ends = start.last().is_some_and(|&end| end as usize == particles);
        let sound = start.len() == leaves * leaf::SIZE + 1 && start.is_sorted() && ends;
        if sound { Ok(()) } else { Err(Failure("the cell lists do not fit the particles".into())) }
    }
}

impl Field<'_> {
    /// Fails unless every voxel has its values.
    pub(super) fn check(&self, leaves: &LeafTable) -> Result<(), Failure> {
        check_lengths(leaves.origins.len() * leaf::SIZE, self.values.map(|v| v.values.len()))
    }
}

/// Fails unless all arrays have as many values as are wanted.
pub(super) fn check_lengths(wanted: usize, lengths: impl IntoIterator<Item = usize>) -> Result<(), Failure> {
    match lengths.into_iter().find(|&n| n != wanted) {
        None => Ok(()),
        Some(n) => Err(Failure(format!("an array of {n} values where {wanted} are needed"))),
    }
}
