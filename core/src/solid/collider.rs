//! A single solid, and the union of all solids, sampled at points.

use super::DomainLimits;
use crate::grid::sampling::Sampler;
use crate::grid::{Grid, Transform};
use crate::levelset::{SdfSampler, SignedDistance};
use glam::{DMat3, DVec3, I64Vec3, Vec3};
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
    /// Where its distance may be less than its band is wide: lowest and highest corner, world metres. `None` without leaves.
    reach: Option<(DVec3, DVec3)>,
    is_body: bool,
}

impl Collider {
    /// Places a signed distance in the world. `transform` maps its index space to world metres at the end of
    /// the substep.
    pub fn new(sdf: Arc<SignedDistance>, transform: Transform, motion: Motion) -> Self {
        let reach = sdf.bounds().map(|(low, high)| {
            let (low, high) = (low.as_dvec3() - 1.0, high.as_dvec3() + 1.0);
            let middle = transform.to_world(0.5 * (low + high));
            let half = absolute(transform.linear) * (0.5 * (high - low));
            (middle - half, middle + half)
        });
        Self { sdf, transform, motion, to_index: transform.linear.inverse(), reach, is_body: false }
    }

    /// Whether its distance may be less than its band is wide anywhere in a box, world metres.
    #[inline]
    pub fn reaches(&self, low: DVec3, high: DVec3) -> bool {
        self.reach.is_some_and(|(l, h)| l.cmple(high).all() && h.cmpge(low).all())
    }

    /// Where its distance may be less than its band is wide: lowest and highest corner, world metres. `None` without leaves.
    pub fn reach(&self) -> Option<(DVec3, DVec3)> {
        self.reach
    }

    /// How far from the box in which it reaches a place lies, metres; 0 in it.
    fn beyond_reach(&self, world: DVec3) -> f64 {
        self.reach.map_or(f64::INFINITY, |(low, high)| (world - world.clamp(low, high)).length())
    }

    /// The width of its band, metres: its distance far from it.
    pub fn band(&self) -> f64 {
        f64::from(self.sdf.grid.background)
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
        // Where it does not reach, its lattice may have no number for the place.
        if !self.reaches(world, world) {
            return self.band();
        }
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

    /// A component of [`Self::velocity`] over the index space of a lattice, if it is rigid: its value at the origin, and its
    /// gradient.
    pub(super) fn velocity_on(&self, axis: usize, lattice: &Transform) -> Option<(f64, DVec3)> {
        match &self.motion {
            Motion::Static => Some((0.0, DVec3::ZERO)),
            Motion::Rigid { linear, angular, pivot } => {
                // e·(ω × r) = (e × ω)·r
                let arm = DVec3::AXES[axis].cross(*angular);
                let at_origin = linear[axis] + arm.dot(lattice.translation - *pivot);
                Some((at_origin, lattice.linear.transpose() * arm))
            }
            Motion::PerVoxel(_) => None,
        }
    }
}

/// The absolute values of a matrix: where it takes the half edges of a box.
pub(super) fn absolute(m: DMat3) -> DMat3 {
    DMat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs())
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
    /// Samples the solids and remembers the last leaf, and which colliders are near; keep one per task.
    pub fn probe(&self) -> SolidProbe<'a> {
        let bands = self.colliders.iter().map(Collider::band);
        let widest = bands.clone().fold(0.0, f64::max);
        let edge = BANDS_AN_EDGE * widest.max(f64::MIN_POSITIVE);
        SolidProbe {
            solids: *self,
            samplers: self.colliders.iter().map(|c| c.sdf.sampler()).collect(),
            widest,
            edge,
            beyond: bands.fold(f64::INFINITY, f64::min) + AROUND * edge,
            block: None,
            around: Vec::new(),
            last: None,
        }
    }
}

/// Edge of the blocks of space whose colliders a probe remembers, in widths of the widest band: an edge is about a leaf's.
const BANDS_AN_EDGE: f64 = 4.0;
/// How far from a block, in its edges, the colliders are whose distance from what lies in it is asked.
const AROUND: f64 = 0.5;

/// Distance, normal and velocity of the union of all solids.
#[derive(Clone, Debug)]
pub struct SolidProbe<'a> {
    solids: Solids<'a>,
    samplers: Vec<SdfSampler<'a>>,
    /// The widest band, metres.
    widest: f64,
    /// Edge of a block, metres.
    edge: f64,
    /// No surface of a collider that is not among `around` lies nearer, metres.
    beyond: f64,
    /// The block of space that was asked last.
    block: Option<I64Vec3>,
    /// The colliders that reach to within [`AROUND`] of it.
    around: Vec<usize>,
    /// The place that was asked last, and what was found: a place is often asked for one thing after another.
    last: Option<(DVec3, Nearest)>,
}

/// The colliders at a place.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    /// No surface lies nearer, metres; negative inside.
    clearance: f64,
    /// The nearest of those whose bands reach the place, and its distance, metres.
    solid: Option<(f64, usize)>,
}

impl SolidProbe<'_> {
    fn nearest(&mut self, world: DVec3) -> Nearest {
        if let Some((_, found)) = self.last.filter(|last| last.0 == world) {
            return found;
        }
        self.enter_block_of(world);
        let mut found = Nearest { clearance: self.beyond, solid: None };
        for &n in &self.around {
            let collider = &self.solids.colliders[n];
            if collider.reaches(world, world) {
                let distance = f64::from(self.samplers[n].distance(collider.to_index(world)));
                found.clearance = found.clearance.min(distance);
                if distance < collider.band() && found.solid.is_none_or(|(nearest, _)| distance < nearest) {
                    found.solid = Some((distance, n));
                }
            } else if collider.band() < found.clearance {
                // Its surface is farther from its box than its band is wide.
                found.clearance = found.clearance.min(collider.band() + collider.beyond_reach(world));
            }
        }
        self.last = Some((world, found));
        found
    }

    /// Finds the colliders near a place's block of space, unless the last place lay in it.
    fn enter_block_of(&mut self, world: DVec3) {
        let block = (world / self.edge).floor();
        if self.block == Some(block.as_i64vec3()) {
            return;
        }
        self.block = Some(block.as_i64vec3());
        let margin = DVec3::splat(AROUND * self.edge);
        let (low, high) = (block * self.edge - margin, (block + 1.0) * self.edge + margin);
        let colliders = self.solids.colliders.iter().enumerate();
        self.around.clear();
        self.around.extend(colliders.filter(|(_, c)| c.reaches(low, high)).map(|(n, _)| n));
    }

    /// A distance, metres, within which no collider's surface lies: the distance of the nearest one where its band reaches, and more
    /// than the width of its band beyond. Negative inside.
    pub fn clearance(&mut self, world: DVec3) -> f64 {
        if self.solids.colliders.is_empty() { f64::INFINITY } else { self.nearest(world).clearance }
    }

    /// The nearest place that lies at least so deep, m, within every closed side of the domain.
    pub fn within_sides(&self, world: DVec3, depth: f64) -> DVec3 {
        self.solids.domain.within(world, depth)
    }

    /// Distance to the nearest closed side of the domain, metres; +∞ when there is none.
    pub fn wall(&self, world: DVec3) -> f64 {
        self.solids.domain.distance(world)
    }

    /// Signed distance to the union of the solids, metres, negative inside; +∞ when there is none, and beyond every band no more than
    /// the widest band.
    pub fn distance(&mut self, world: DVec3) -> f64 {
        let wall = self.wall(world);
        if self.solids.colliders.is_empty() { wall } else { self.clearance(world).min(self.widest).min(wall) }
    }

    /// Outward unit normal of the nearest solid; zero beyond every band.
    pub fn normal(&mut self, world: DVec3) -> DVec3 {
        let wall = self.solids.domain.nearest_wall(world);
        match (self.nearest(world).solid, wall) {
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
        let Some(collider) = self.owner(world).map(|n| &self.solids.colliders[n]) else { return 0.0 };
        if !matches!(collider.motion, Motion::PerVoxel(_)) {
            return 0.0;
        }
        let across = |axis: usize| {
            let half = 0.5 * h * DVec3::AXES[axis];
            collider.velocity(world + half)[axis] - collider.velocity(world - half)[axis]
        };
        (0..3).map(across).sum::<f64>() / h
    }

    /// Whether the places so far on both sides of one, m, have the velocity of the same solid.
    pub fn moves_as_one(&mut self, world: DVec3, half: DVec3) -> bool {
        self.owner(world - half) == self.owner(world + half)
    }

    /// The solid whose velocity a place near solids has: the nearest collider; `None` nearer to a closed side, and beyond
    /// every band.
    fn owner(&mut self, world: DVec3) -> Option<usize> {
        let wall = self.wall(world);
        self.nearest(world).solid.filter(|(distance, _)| *distance < wall).map(|(_, n)| n)
    }

    /// Velocity of the nearest solid, m/s; zero beyond every band.
    pub fn velocity(&mut self, world: DVec3) -> DVec3 {
        self.owner(world).map_or(DVec3::ZERO, |n| self.solids.colliders[n].velocity(world))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::IVec3;

    /// Balls of several sizes and lattices, on and about a line that turns through space.
    fn balls() -> Vec<Collider> {
        let ball = |n: i32| {
            let radius = 0.05 + 0.01 * f64::from(n % 4);
            let lattice = Transform::uniform(0.2 * radius, DVec3::ZERO);
            let cells = IVec3::splat(12);
            let sdf = SignedDistance::from_fn(&lattice, -cells, cells, 3.0, |p: DVec3| p.length() - radius);
            let turn = DMat3::from_rotation_y(0.7 * f64::from(n)) * DMat3::from_rotation_x(0.4);
            let mut placed = lattice;
            placed.linear = turn * lattice.linear;
            placed.translation = turn * DVec3::new(0.11 * f64::from(n) - 2.0, 0.3, 0.02 * f64::from(n % 7));
            Collider::new(Arc::new(sdf), placed, Motion::Static)
        };
        (0..40).map(ball).collect()
    }

    #[test]
    fn no_surface_lies_within_the_clearance() {
        let (colliders, domain) = (balls(), DomainLimits::unbounded());
        let mut probe = Solids { colliders: &colliders, domain: &domain }.probe();
        let narrowest = colliders.iter().map(Collider::band).fold(f64::MAX, f64::min);
        let mut wider = 0;
        for n in 0..20_000 {
            let along = |step: f64| (f64::from(n) * step).sin();
            let world = 2.5 * DVec3::new(along(0.37), 0.15 + 0.1 * along(0.71), 0.1 * along(0.53));
            // Their lattices' nodes pass through their centres.
            let of_ball = |(n, c): (usize, &Collider)| {
                let centre = c.transform().to_world(DVec3::splat(-0.5));
                centre.distance(world) - (0.05 + 0.01 * (n % 4) as f64)
            };
            let exact = colliders.iter().enumerate().map(of_ball).fold(f64::MAX, f64::min);
            let (clearance, distance) = (probe.clearance(world), probe.distance(world));
            assert!(
                exact < 0.0 || clearance < exact + 1e-3,
                "{world}: {clearance}, but a ball is {exact} away"
            );
            assert!(if distance < narrowest { clearance == distance } else { clearance >= distance });
            wider += usize::from(clearance > 1.5 * narrowest);
        }
        assert!(wider > 8000, "only {wider} places are told to have more room than a band is wide");
    }

    /// What is as fine as a hair has a band as narrow, far from it that says nothing of others.
    #[test]
    fn a_fine_solid_elsewhere_changes_nothing_here() {
        let (mut colliders, domain) = (balls(), DomainLimits::unbounded());
        for ball in &mut colliders {
            ball.motion = Motion::Rigid { linear: DVec3::X, angular: DVec3::ZERO, pivot: DVec3::ZERO };
        }
        let lattice = Transform::uniform(1e-4, DVec3::new(0.0, 9.0, 0.0));
        let grain = |p: DVec3| p.distance(DVec3::new(0.0, 9.0, 0.0)) - 5e-4;
        let grain = SignedDistance::from_fn(&lattice, IVec3::splat(-12), IVec3::splat(12), 3.0, grain);
        let more = [&colliders[..], &[Collider::new(Arc::new(grain), lattice, Motion::Static)]].concat();
        let mut probe = Solids { colliders: &colliders, domain: &domain }.probe();
        let mut other = Solids { colliders: &more, domain: &domain }.probe();
        for n in 0..20_000 {
            let along = |step: f64| (f64::from(n) * step).sin();
            let world = 2.5 * DVec3::new(along(0.37), 0.15 + 0.1 * along(0.71), 0.1 * along(0.53));
            assert_eq!(probe.distance(world), other.distance(world), "{world}");
            assert_eq!(probe.velocity(world), other.velocity(world), "{world}");
            assert_eq!(probe.normal(world), other.normal(world), "{world}");
        }
    }

    /// So far away that its lattice has no number for where we stand.
    #[test]
    fn a_collider_far_away_is_as_far_as_its_band() {
        for away in [1e8, 1e10, 1e14] {
            let ball = &balls()[0];
            let mut placed = *ball.transform();
            placed.translation.x += away;
            let collider = Collider::new(ball.sdf().clone(), placed, Motion::Static);
            assert_eq!(collider.distance(DVec3::ZERO), collider.band(), "{away}");
        }
    }

    #[test]
    fn a_probe_finds_the_nearest_of_many_without_asking_each() {
        let (colliders, domain) = (balls(), DomainLimits::unbounded());
        let mut probe = Solids { colliders: &colliders, domain: &domain }.probe();
        let narrowest = colliders.iter().map(Collider::band).fold(f64::MAX, f64::min);
        let mut found = 0;
        for n in 0..20_000 {
            let along = |step: f64| (f64::from(n) * step).sin();
            let world = match n % 2 {
                0 => 2.5 * DVec3::new(along(0.37), 0.3 * along(0.71), along(0.53)),
                // Close about one of them.
                _ => colliders[n as usize % 40].transform().translation + 0.1 * DVec3::splat(along(0.9)),
            };
            let each = colliders.iter().map(|c| c.distance(world));
            let (nearest, expected) = each
                .enumerate()
                .fold((0, f64::MAX), |best, (n, d)| if d < best.1 - 1e-7 { (n, d) } else { best });
            let distance = probe.distance(world);
            // Beyond every band the probe knows more than that.
            assert!(distance > expected - 1e-6, "{world}: {distance}, not {expected}");
            assert!(
                distance < expected + 1e-6 || expected > narrowest - 1e-6,
                "{world}: {distance}, not {expected}"
            );
            if let Some(owner) = probe.owner(world) {
                let d = colliders[owner].distance(world);
                let of_others = colliders
                    .iter()
                    .map(|c| if c.distance(world) < c.band() { c.distance(world) } else { f64::MAX });
                let least = of_others.fold(f64::MAX, f64::min);
                assert!((d - least).abs() < 1e-6, "{world}: {owner} is nearest, not {nearest}");
                found += 1;
            }
        }
        assert!(found > 4000, "only {found} points lie near a ball");
    }
}
