//! Finds the triangle of a mesh nearest to a point, to look up attributes of the surface from anywhere.

use super::{TriMesh, closest_point};
use glam::DVec3;

/// The place of a mesh that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPlace {
    /// Numbers of the triangle's points.
    pub points: [u32; 3],
    /// Barycentric weights of the place: not negative, 1 in all.
    pub weights: [f64; 3],
    /// Squared distance, m².
    pub distance_squared: f64,
}

/// A mesh's triangles in a tree of boxes.
#[derive(Clone, Debug)]
pub struct NearestTriangle {
    /// Corners, in the order of the tree's leaves, metres.
    corners: Vec<[DVec3; 3]>,
    points: Vec<[u32; 3]>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// Triangles, from one to before another.
    Triangles(usize, usize),
    /// The second child; the first is the next node.
    Halves(usize),
}

/// Triangles in a box that is not split.
const FEW: usize = 4;

impl NearestTriangle {
    /// The triangles of a mesh whose coordinates are finite.
    pub fn new(mesh: &TriMesh) -> Self {
        Self::of(&mesh.triangles, |p| mesh.points[p as usize].as_dvec3())
    }

    /// Triangles whose points lie at finite places, m.
    pub fn of(triangles: &[[u32; 3]], place: impl Fn(u32) -> DVec3) -> Self {
        let corners_of = |t: usize| triangles[t].map(&place);
        let mut all: Vec<(DVec3, usize)> =
            (0..triangles.len()).map(|t| (corners_of(t).iter().sum::<DVec3>() / 3.0, t)).collect();
        let mut nodes = Vec::with_capacity(all.len());
        if !all.is_empty() {
            split(&mut nodes, &mut all, 0, &corners_of);
        }
        Self {
            corners: all.iter().map(|&(_, t)| corners_of(t)).collect(),
            points: all.iter().map(|&(_, t)| triangles[t]).collect(),
            nodes,
        }
    }

    /// The place nearest to a point, m; `None` where there is no triangle.
    pub fn nearest(&self, p: DVec3) -> Option<NearestPlace> {
        let mut best: Option<NearestPlace> = None;
        let mut open = Vec::with_capacity(64);
        open.extend((!self.nodes.is_empty()).then_some(0));
        while let Some(n) = open.pop() {
            if best.is_some_and(|b| self.distance_squared(n, p) >= b.distance_squared) {
                continue;
            }
            match self.nodes[n].content {
                Content::Halves(second) => {
                    let (near, far) = match self.distance_squared(second, p) < self.distance_squared(n + 1, p)
                    {
                        true => (second, n + 1),
                        false => (n + 1, second),
                    };
                    open.extend([far, near]);
                }
                Content::Triangles(from, to) => {
                    for t in from..to {
                        let [a, b, c] = self.corners[t];
                        let (found, _) = closest_point(p, [a, b, c]);
                        // A triangle without area may have no place for its weights.
                        let sound = found.iter().all(|w| w.is_finite());
                        let weights = if sound { found } else { nearest_corner(p, [a, b, c]) };
                        let place = weights[0] * a + weights[1] * b + weights[2] * c;
                        let distance_squared = place.distance_squared(p);
                        if best.is_none_or(|b| distance_squared < b.distance_squared) {
                            best = Some(NearestPlace { points: self.points[t], weights, distance_squared });
                        }
                    }
                }
            }
        }
        best
    }

    /// Squared distance from a node's box, m².
    fn distance_squared(&self, node: usize, p: DVec3) -> f64 {
        let Node { low, high, .. } = self.nodes[node];
        p.clamp(low, high).distance_squared(p)
    }
}

/// All of the weight on the corner nearest to a point.
fn nearest_corner(p: DVec3, corners: [DVec3; 3]) -> [f64; 3] {
    let far = corners.map(|c| c.distance_squared(p));
    let nearest = if far[1] < far[0] { 1 } else { 0 };
    let nearest = if far[2] < far[nearest] { 2 } else { nearest };
    std::array::from_fn(|n| f64::from(u8::from(n == nearest)))
}

/// Appends the tree over `triangles` (centroid, number), whose first stands at `first` in the whole, halved at the
/// median of the longest side.
fn split(
    nodes: &mut Vec<Node>,
    triangles: &mut [(DVec3, usize)],
    first: usize,
    corners: &impl Fn(usize) -> [DVec3; 3],
) {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &(_, t) in triangles.iter() {
        for p in corners(t) {
            (low, high) = (low.min(p), high.max(p));
        }
    }
    let at = nodes.len();
    let end = first + triangles.len();
    nodes.push(Node { low, high, content: Content::Triangles(first, end) });
    if triangles.len() <= FEW {
        return;
    }
    let axis = (high - low).max_position();
    let middle = triangles.len() / 2;
    triangles
        .select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then_with(|| a.1.cmp(&b.1)));
    let (lower, upper) = triangles.split_at_mut(middle);
    split(nodes, lower, first, corners);
    nodes[at].content = Content::Halves(nodes.len());
    split(nodes, upper, first + middle, corners);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_triangle_is_nearer(x in -2.0..2.0, y in -2.0..2.0, z in -2.0..2.0) {
            let mesh = shapes::ball(1.0, 12);
            let p = DVec3::new(x, y, z);
            let found = NearestTriangle::new(&mesh).nearest(p).unwrap();
            let least = (0..mesh.triangles.len())
                .map(|t| {
                    let corners = mesh.corners(t).map(|p| p.as_dvec3());
                    let (w, _) = closest_point(p, corners);
                    (0..3).map(|n| w[n] * corners[n]).sum::<DVec3>().distance_squared(p)
                })
                .fold(f64::INFINITY, f64::min);
            prop_assert!((found.distance_squared - least).abs() < 1e-12);
            let place: DVec3 =
                (0..3).map(|n| found.weights[n] * mesh.points[found.points[n] as usize].as_dvec3()).sum();
            prop_assert!((place.distance_squared(p) - least).abs() < 1e-12);
        }
    }

    #[test]
    fn triangles_without_area_have_places_too() {
        let points = [DVec3::ZERO, DVec3::ZERO, DVec3::X, 0.5 * DVec3::X];
        for triangle in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 0], [0, 2, 3], [3, 0, 2]] {
            let tree = NearestTriangle::of(&[triangle], |p| points[p as usize]);
            for p in [DVec3::Y, DVec3::new(0.3, 0.1, 0.0), 2.0 * DVec3::X, 0.7 * DVec3::X] {
                let found = tree.nearest(p).unwrap();
                assert!(
                    found.distance_squared.is_finite()
                        && found.weights.iter().all(|w| (0.0..=1.0).contains(w))
                );
            }
        }
    }

    #[test]
    fn without_triangles_nothing_is_near() {
        let mesh = TriMesh { points: Vec::new(), triangles: Vec::new(), velocities: None };
        assert_eq!(NearestTriangle::new(&mesh).nearest(DVec3::ZERO), None);
    }
}
