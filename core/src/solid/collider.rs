//! A single solid, and the union of all solids, sampled at points.

use super::DomainLimits;
use crate::grid::sampling::Sampler;
use crate::grid::{Grid, Transform};
use crate::levelset::{SdfSampler, SignedDistance};
use glam::{DMat3, DVec3, Vec3};
use std::sync::Arc;

/// How a solid moves during the substep.
#[derive(Clone, Debug)]
pub enum Motion {
    /// It is at rest.
    Static,
    /// As a rigid body.
    Rigid {
        /// Velocity of the pivot, m/s.
        linear: DVec3,
        /// Angular velocity, rad/s, world axes.
        angular: DVec3,
        /// The point that moves at `linear`, world metres.
        pivot: DVec3,
    },
    /// By a velocity per voxel of the collider's lattice, m/s, world axes (deforming meshes).
    PerVoxel(Arc<Grid<Vec3>>),
}

impl Motion {
    /// Whether it is at rest.
    pub fn is_still(&self) -> bool {
        match self {
            Motion::Static => true,
            Motion::Rigid { linear, angular, .. } => *linear == DVec3::ZERO && *angular == DVec3::ZERO,
            Motion::PerVoxel(_) => false,
        }
    }

    /// Whether both give the same motion everywhere (grids are compared by identity).
    fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Motion::PerVoxel(a), Motion::PerVoxel(b)) => Arc::ptr_eq(a, b),
            (Motion::Rigid { linear, angular, pivot }, Motion::Rigid { linear: l, angular: a, pivot: p }) => {
                (linear, angular, pivot) == (l, a, p)
            }
            (a, b) => a.is_still() && b.is_still(),
        }
    }
}

/// A solid that fluids collide with: a signed distance on a lattice of its own, placed in the world. When a collider
/// moves rigidly, only its transform changes. The transform must preserve lengths: a scaled solid has other distances,
/// and they must be computed anew.
#[derive(Clone, Debug)]
pub struct Collider {
    sdf: Arc<SignedDistance>,
    transform: Transform,
    motion: Motion,
    to_index: DMat3,
    is_body: bool,
}

impl Collider {
    /// Places a signed distance in the world. `transform` maps its index space to world metres at the end of
    /// the substep.
    pub fn new(sdf: Arc<SignedDistance>, transform: Transform, motion: Motion) -> Self {
        Self { sdf, transform, motion, to_index: transform.linear.inverse(), is_body: false }
    }

    /// The same solid, moved by the pressure of what it meets.
    pub fn as_body(self) -> Self {
        Self { is_body: true, ..self }
    }

    /// Whether the pressure of what it meets moves it.
    pub fn is_body(&self) -> bool {
        self.is_body
    }

    /// The signed distance.
    pub fn sdf(&self) -> &Arc<SignedDistance> {
        &self.sdf
    }

    /// Index space of the signed distance → world.
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// How it moves.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Whether two colliders are the same solid in the same place with the same motion (shared data is
    /// compared by identity).
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.sdf, &other.sdf)
            && self.transform == other.transform
            && self.is_body == other.is_body
            && self.motion.same_as(&other.motion)
    }

    /// Index position (in the collider's lattice) of a world position.
    #[inline]
    pub fn to_index(&self, world: DVec3) -> DVec3 {
        self.to_index * (world - self.transform.translation)
    }

    /// The affine map from another lattice's index space to this collider's: (linear, translation).
    pub fn index_map(&self, from: &Transform) -> (DMat3, DVec3) {
        (self.to_index * from.linear, self.to_index(from.translation))
    }

    /// Signed distance at a world position, metres, negative inside.
    pub fn distance(&self, world: DVec3) -> f64 {
        f64::from(self.sdf.sampler().distance(self.to_index(world)))
    }

    /// Outward unit normal at a world position; zero where the distance is constant (beyond the band).
    pub fn normal(&self, world: DVec3) -> DVec3 {
        self.normal_with(&mut self.sdf.sampler(), world)
    }

    fn normal_with(&self, sampler: &mut SdfSampler, world: DVec3) -> DVec3 {
        let gradient = sampler.smooth_gradient(self.to_index(world)).as_dvec3();
        (self.to_index.transpose() * gradient).normalize_or_zero()
    }

    /// Velocity of the solid's material at a world position, m/s.
    pub fn velocity(&self, world: DVec3) -> DVec3 {
        match &self.motion {
            Motion::Static => DVec3::ZERO,
            Motion::Rigid { linear, angular, pivot } => *linear + angular.cross(world - *pivot),
            Motion::PerVoxel(field) => {
                Sampler::new(&field.topology).sample(field, self.to_index(world)).as_dvec3()
            }
        }
    }
}

/// All solids a fluid meets: colliders and the closed sides of the domain.
#[derive(Clone, Copy, Debug)]
pub struct Solids<'a> {
    /// The colliders, in wire order.
    pub colliders: &'a [Collider],
    /// The limits of the domain.
    pub domain: &'a DomainLimits,
}

impl<'a> Solids<'a> {
    /// Samples the solids and remembers the last leaf; keep one per task.
    pub fn probe(&self) -> SolidProbe<'a> {
        let samplers = self.colliders.iter().map(|c| c.sdf.sampler()).collect();
        SolidProbe { solids: *self, samplers }
    }
}

/// Distance, normal and velocity of the union of all solids.
#[derive(Clone, Debug)]
pub struct SolidProbe<'a> {
    solids: Solids<'a>,
    samplers: Vec<SdfSampler<'a>>,
}

impl SolidProbe<'_> {
    /// Nearest collider and its distance, metres; beyond every collider's band, the smallest band.
    fn nearest_collider(&mut self, world: DVec3) -> Option<(f64, usize)> {
        let distance =
            |(n, c): (usize, &Collider)| (f64::from(self.samplers[n].distance(c.to_index(world))), n);
        self.solids.colliders.iter().enumerate().map(distance).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Signed distance to the union of the solids, metres, negative inside; +∞ when there is none.
    pub fn distance(&mut self, world: DVec3) -> f64 {
        let wall = self.solids.domain.distance(world);
        self.nearest_collider(world).map_or(wall, |(d, _)| d.min(wall))
    }

    /// Outward unit normal of the nearest solid; zero beyond every band.
    pub fn normal(&mut self, world: DVec3) -> DVec3 {
        let wall = self.solids.domain.nearest_wall(world);
        match (self.nearest_collider(world), wall) {
            (Some((d, n)), wall) if wall.is_none_or(|(w, _)| d <= w) => {
                self.solids.colliders[n].normal_with(&mut self.samplers[n], world)
            }
            (_, Some((_, side))) => DomainLimits::normal(side),
            _ => DVec3::ZERO,
        }
    }

    /// Divergence of the nearest solid's velocity over a cube of edge `h` about a world position, 1/s: zero unless it
    /// deforms, and beyond every band.
    pub fn expansion(&mut self, world: DVec3, h: f64) -> f64 {
        let wall = self.solids.domain.distance(world);
        let Some((d, n)) = self.nearest_collider(world).filter(|(d, _)| *d < wall) else { return 0.0 };
        let collider = &self.solids.colliders[n];
        if !matches!(collider.motion, Motion::PerVoxel(_)) || d >= f64::from(collider.sdf.grid.background) {
            return 0.0;
        }
        let across = |axis: usize| {
            let half = 0.5 * h * DVec3::AXES[axis];
            collider.velocity(world + half)[axis] - collider.velocity(world - half)[axis]
        };
        (0..3).map(across).sum::<f64>() / h
    }

    /// The solid whose velocity a place near solids has: the nearest collider; `None` nearer to a closed side, and beyond
    /// every band.
    fn owner(&mut self, world: DVec3) -> Option<usize> {
        let wall = self.solids.domain.distance(world);
        let (d, n) = self.nearest_collider(world)?;
        (d < wall && d < f64::from(self.solids.colliders[n].sdf.grid.background)).then_some(n)
    }

    /// Velocity of the nearest solid, m/s; zero beyond every band.
    pub fn velocity(&mut self, world: DVec3) -> DVec3 {
        self.owner(world).map_or(DVec3::ZERO, |n| self.solids.colliders[n].velocity(world))
    }
}
