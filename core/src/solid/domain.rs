//! The box that contains a simulation, and what its sides do.

use glam::DVec3;

/// What a side of the domain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A solid wall.
    Closed,
    /// Open: the air beyond is unbounded, and liquid passes.
    Open,
    /// Kill: liquid beyond is removed; the air beyond is unbounded.
    Kill,
}

/// An axis-aligned box in world space and what each of its sides does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DomainLimits {
    /// Lowest corner, metres.
    pub min: DVec3,
    /// Highest corner, metres.
    pub max: DVec3,
    /// −x, +x, −y, +y, −z, +z.
    pub sides: [Side; 6],
}

impl DomainLimits {
    /// A box with six equal sides.
    pub fn uniform(min: DVec3, max: DVec3, side: Side) -> Self {
        Self { min, max, sides: [side; 6] }
    }

    /// Unbounded space.
    pub fn unbounded() -> Self {
        Self::uniform(DVec3::splat(f64::NEG_INFINITY), DVec3::splat(f64::INFINITY), Side::Open)
    }

    /// Signed distance to a side's plane, metres; positive on the domain's side of it.
    pub fn side_distance(&self, side: usize, world: DVec3) -> f64 {
        let axis = side / 2;
        if side.is_multiple_of(2) { world[axis] - self.min[axis] } else { self.max[axis] - world[axis] }
    }

    /// Level set of the closed sides, each a half-space: metres, negative in the walls, +∞ without any.
    pub fn distance(&self, world: DVec3) -> f64 {
        let wall = |side: usize| match self.sides[side] {
            Side::Closed => self.side_distance(side, world),
            _ => f64::INFINITY,
        };
        (0..6).map(wall).fold(f64::INFINITY, f64::min)
    }

    /// The nearest place that lies at least so deep, m, within every closed side.
    pub fn within(&self, world: DVec3, depth: f64) -> DVec3 {
        let inwards = |at: DVec3, side: usize| match self.sides[side] {
            Side::Closed => at + Self::normal(side) * (depth - self.side_distance(side, at)).max(0.0),
            _ => at,
        };
        (0..6).fold(world, inwards)
    }

    /// Distance to the nearest closed side and which side that is.
    pub fn nearest_wall(&self, world: DVec3) -> Option<(f64, usize)> {
        let walls = (0..6).filter(|&s| self.sides[s] == Side::Closed);
        walls.map(|s| (self.side_distance(s, world), s)).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Normal of a side, pointing into the domain.
    pub fn normal(side: usize) -> DVec3 {
        if side.is_multiple_of(2) { DVec3::AXES[side / 2] } else { -DVec3::AXES[side / 2] }
    }

    /// Whether a position lies beyond a side that removes liquid.
    pub fn kills(&self, world: DVec3) -> bool {
        (0..6).any(|s| self.sides[s] == Side::Kill && self.side_distance(s, world) < 0.0)
    }

    /// Whether a position lies in the box.
    pub fn contains(&self, world: DVec3) -> bool {
        world.cmpge(self.min).all() && world.cmple(self.max).all()
    }
}
