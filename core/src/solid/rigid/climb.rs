//! How far a convex hull of many corners reaches along a direction.

use glam::DVec3;
use parry3d_f64::shape::ConvexPolyhedron;

/// Corners from which on it is worth climbing.
const MANY: usize = 64;

/// A hull's corners, and which of them its edges join.
#[derive(Clone, Debug)]
pub(super) struct Climb {
    corners: Vec<DVec3>,
    /// Per corner, where its neighbours begin in `beside`.
    first: Vec<u32>,
    beside: Vec<u32>,
    /// Per direction of `nearest`, a corner that reaches far along it.
    starts: Vec<u32>,
}

impl Climb {
    /// Of a hull with many corners; of others there is none.
    pub fn of(hull: &ConvexPolyhedron) -> Option<Self> {
        let corners: Vec<DVec3> = hull.points().iter().map(|p| DVec3::new(p.x, p.y, p.z)).collect();
        if corners.len() < MANY {
            return None;
        }
        let both = |[a, b]: [u32; 2]| [(a, b), (b, a)];
        let mut pairs: Vec<(u32, u32)> = hull.edges().iter().flat_map(|edge| both(edge.vertices)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let first = (0..=corners.len()).map(|n| pairs.partition_point(|&(a, _)| (a as usize) < n) as u32);
        let (first, beside) = (first.collect(), pairs.iter().map(|&(_, b)| b).collect());
        let mut climb = Self { corners, first, beside, starts: Vec::new() };
        // A corner within a flat side may have no edges.
        let joined = climb.beside.first().copied()?;
        climb.starts = (0..27).map(|n| climb.up(joined, direction(n))).collect();
        Some(climb)
    }

    /// The height along a direction of the corner that reaches farthest.
    pub fn height(&self, way: DVec3) -> f64 {
        self.corners[self.up(self.starts[nearest(way)], way) as usize].dot(way)
    }

    /// From a corner to ever higher neighbours: on a convex hull this ends at the highest.
    fn up(&self, mut at: u32, way: DVec3) -> u32 {
        let height = |n: u32| self.corners[n as usize].dot(way);
        let mut highest = height(at);
        loop {
            let [from, to] = [at as usize, at as usize + 1].map(|n| self.first[n] as usize);
            let beside = self.beside[from..to].iter().map(|&n| (n, height(n)));
            // The first of equals.
            match beside.reduce(|best, other| if other.1 > best.1 { other } else { best }) {
                Some((next, above)) if above > highest => (at, highest) = (next, above),
                _ => return at,
            }
        }
    }
}

/// One of the 27 steps to a cell's neighbours, by its number.
fn direction(n: usize) -> DVec3 {
    DVec3::new((n % 3) as f64, (n / 3 % 3) as f64, (n / 9) as f64) - 1.0
}

/// The number of the step that leads most along a direction.
fn nearest(way: DVec3) -> usize {
    let [x, y, z] = (way / way.abs().max_element().max(f64::MIN_POSITIVE)).round().to_array();
    (x + 3.0 * y + 9.0 * z + 13.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::ball;
    use crate::solid::rigid::Shape;

    #[test]
    fn it_finds_the_corner_that_reaches_farthest() {
        let tall = |n: u32, by: DVec3| {
            let mut mesh = ball(0.3, n);
            mesh.points.iter_mut().for_each(|p| *p *= by.as_vec3());
            Shape::of(&mesh, 1.0).unwrap().0
        };
        for shape in
            [tall(48, DVec3::ONE), tall(16, DVec3::new(1.0, 3.0, 0.2)), tall(24, DVec3::new(5.0, 1.0, 1.0))]
        {
            let hull = shape.parts()[0].shape.as_convex_polyhedron().unwrap();
            let climb = Climb::of(hull).unwrap();
            for n in 0..2000 {
                let [a, b] = [0.7548776662, 0.5698402910].map(|r: f64| (f64::from(n) * r).fract());
                let (z, turn) = (2.0 * a - 1.0, std::f64::consts::TAU * b);
                let way = ((1.0 - z * z).sqrt() * DVec3::new(turn.cos(), turn.sin(), 0.0)).with_z(z);
                let highest = climb.corners.iter().map(|p| p.dot(way)).fold(f64::NEG_INFINITY, f64::max);
                assert!((climb.height(way) - highest).abs() < 1e-9, "{way}: {} {highest}", climb.height(way));
            }
            for n in (0..27).filter(|&n| n != 13) {
                assert_eq!(nearest(direction(n)), n);
            }
        }
    }
}
