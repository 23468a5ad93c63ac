//! Bodies that share a projection with a liquid: what they bring to it, and what they get back.

use super::mass::Mass;
use crate::grid::{Coord, FaceGrid, Grid, Transform, leaf};
use glam::{DVec3, IVec3};
use std::sync::Arc;

/// A rigid velocity field: of a piece of a body, per unit of one degree of freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the pivot, m/s per unit.
    pub linear: DVec3,
    /// Angular velocity, rad/s per unit, world axes.
    pub angular: DVec3,
}

impl Twist {
    /// Velocity at a point `arm` away from the pivot, m/s per unit.
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }
}

/// A solid of a body that moves rigidly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// The point that its twists speak of, world metres.
    pub pivot: DVec3,
    /// How it moves with each of the body's degrees of freedom.
    pub twists: Vec<Twist>,
}

impl Piece {
    /// Velocity along an axis of its point at a world position, m/s per unit of each degree of freedom.
    pub(crate) fn along(&self, axis: usize, place: DVec3) -> impl Iterator<Item = f64> {
        let arm = place - self.pivot;
        self.twists.iter().map(move |twist| twist.at(arm)[axis])
    }
}

/// The triangles of a solid that deforms. The velocities of their corners are its degrees of freedom: 3 i + a is that of point
/// i along axis a. Every place of the solid moves as the nearest place of the triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// World positions, m.
    pub points: Vec<DVec3>,
    /// Points of each triangle. They may enclose the solid, or lie in the middle of a thin one.
    pub triangles: Vec<[u32; 3]>,
}

impl Skin {
    /// Whether it has `freedoms` degrees of freedom, and triangles whose corners are among its points.
    pub fn is_of(&self, freedoms: usize) -> bool {
        let points = self.points.len();
        let inside = self.triangles.as_flattened().iter().all(|&p| (p as usize) < points);
        3 * points == freedoms && !self.triangles.is_empty() && inside
    }
}

/// The solids of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Pieces {
    /// Each moves rigidly with each degree of freedom.
    Rigid(Vec<Piece>),
    /// One, which deforms.
    Skin(Arc<Skin>),
}

impl Pieces {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Rigid(pieces) => pieces.len(),
            Self::Skin(_) => 1,
        }
    }

    /// Those that move rigidly.
    pub(crate) fn rigid(&self) -> &[Piece] {
        match self {
            Self::Rigid(pieces) => pieces,
            Self::Skin(_) => &[],
        }
    }
}

impl Default for Pieces {
    fn default() -> Self {
        Self::Rigid(Vec::new())
    }
}

impl From<Vec<Piece>> for Pieces {
    fn from(pieces: Vec<Piece>) -> Self {
        Self::Rigid(pieces)
    }
}

/// A body with k degrees of freedom. Its kinetic energy is ½ q̇ᵀ M q̇ (J): a velocity is in m/s or rad/s, as its degree of freedom
/// is a length or an angle, and an impulse in N s or N m s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// q̇ as it is without the solve.
    pub velocity: Vec<f64>,
    /// q̇ as it was before forces acted in this kick; `None`: whoever moves the body does not say.
    pub before: Option<Vec<f64>>,
    /// M, symmetric positive definite.
    pub mass: Mass,
    /// The solids that move with it.
    pub pieces: Pieces,
}

/// A joint or a contact: one row J of what bodies must keep. Its impulse λ changes their momenta by Jᵀ λ.
///
/// J q̇ + soft λ is `wanted` where λ is between its least and most, at least `wanted` where λ is the least, and at most
/// `wanted` where it is the most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// J: (body, degree of freedom, coefficient).
    pub entries: Vec<(usize, usize, f64)>,
    /// The speed that it wants, m/s (of a displacement).
    pub wanted: f64,
    /// Speed by impulse with which it gives way, m/s per N s; 0: it is rigid.
    pub soft: f64,
    /// The least and the most impulse that it gives, N s: infinite for a joint, 0 and infinite for a contact.
    pub range: [f64; 2],
    /// An impulse to start from, N s.
    pub pressed: f64,
}

/// The bodies of a projection, and the faces that they own.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// The bodies.
    pub bodies: &'a [Body],
    /// Joints and contacts of theirs.
    pub constraints: &'a [Constraint],
    /// Solid that a cut face belongs to, counted from 1; 0: to none
    /// ([`SolidFields::owner`](crate::solid::SolidFields::owner)).
    pub owner: &'a FaceGrid<u32>,
    /// Share of each cell that no solid fills; of those that bodies share with other solids, that the first body leaves
    /// ([`SolidFields::left_by_first`](crate::solid::SolidFields::left_by_first)).
    pub left_by_first: &'a Grid<f32>,
    /// Fraction of each cell that no solid fills; `None`: nobody says, and the others fill what a first body leaves.
    pub room: Option<&'a Grid<f32>>,
    /// Body and piece of each solid, by its number; `None` where no solve moves it.
    pub pieces: &'a [Option<(usize, usize)>],
}

impl Bodies<'_> {
    /// Fraction of a cell that bodies share which is left by those that are not the first.
    pub(crate) fn left_by_others(&self, cell: Coord) -> f32 {
        1.0 - self.left_by_first.get(cell) + self.room.map_or(0.0, |room| room.get(cell))
    }

    /// The body and piece that a lower face belongs to.
    pub fn of_face(&self, axis: usize, cell: Coord) -> Option<(usize, usize)> {
        self.of_number(self.owner.get(axis, cell))
    }

    /// The body and piece of a solid, by its number.
    pub fn of_number(&self, number: u32) -> Option<(usize, usize)> {
        let named = self.pieces.get((number as usize).wrapping_sub(1)).copied().flatten();
        named.filter(|(body, _)| *body < self.bodies.len())
    }

    /// Velocity of a piece that moves rigidly at a lower face of a cell that it owns, along the axis, m/s.
    pub(crate) fn wall_velocity(
        &self,
        transform: &Transform,
        moved: &[Moved],
        axis: usize,
        cell: Coord,
    ) -> Option<f32> {
        let (body, piece) = self.of_face(axis, cell)?;
        let piece = self.bodies.get(body)?.pieces.rigid().get(piece)?;
        let along = piece.along(axis, transform.face_centre(axis, cell));
        Some(along.zip(&moved[body].velocity).map(|(j, v)| v * j).sum::<f64>() as f32)
    }

    /// Writes the velocities of the walls of pieces that move rigidly, m/s.
    pub(crate) fn write_walls(&self, transform: &Transform, moved: &[Moved], walls: &mut FaceGrid<f32>) {
        let topology = walls.topology.clone();
        for (l, &origin) in topology.origins().iter().enumerate() {
            if self.owner.topology.leaf_of(origin).is_none() {
                continue;
            }
            for (axis, walls) in walls.values.iter_mut().enumerate() {
                for slot in l * leaf::SIZE..(l + 1) * leaf::SIZE {
                    if let Some(u) = self.wall_velocity(transform, moved, axis, topology.coord(slot)) {
                        walls[slot] = u;
                    }
                }
            }
        }
    }

    /// Whether a face of a cell belongs to a body.
    pub fn touch(&self, cell: Coord) -> bool {
        let of_axis = |axis: usize| {
            [cell, cell + IVec3::AXES[axis]].into_iter().any(|c| self.of_face(axis, c).is_some())
        };
        (0..3).any(of_axis)
    }
}

/// What a projection gives back to a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moved {
    /// q̇ after the solve.
    pub velocity: Vec<f64>,
    /// The impulse of the liquid and its air along each degree of freedom: M times the change of q̇, less what joints and
    /// contacts gave.
    pub impulse: Vec<f64>,
}
