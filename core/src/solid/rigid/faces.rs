//! Whole faces of convex parts, and where two of them lie on each other.
//!
//! parry's contacts know four corners of a face, one after the other: of a barrel's cap a sliver, on which nothing stands. And where parts
//! only touch, the way in which it says they overlap may be any. So faces are taken whole here.

use super::shape::Part;
use glam::{DVec2, DVec3};
use parry3d_f64::math::{Pose3, Vec3};
use parry3d_f64::shape::{PolygonalFeature, PolygonalFeatureMap};

/// A convex part where it is in the world.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub part: &'a Part,
    pub at: Pose3,
}

/// A flat side of a part, world.
struct Face {
    /// Its corners, in their order around it.
    corners: Vec<DVec3>,
    normal: DVec3,
}

/// Cosine to the normal of a contact below which a face stands too steep to lie on anything.
const STEEP: f64 = 0.1;

/// Most corners that parry knows of a face.
const KNOWN: usize = 4;

pub(super) fn ours(v: Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

fn theirs(v: DVec3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

impl Placed<'_> {
    /// The height along a direction of the part's farthest place that way, m; `None` for what has no such.
    fn extent(&self, way: DVec3) -> Option<f64> {
        if let Some(climb) = &self.part.climb {
            let local = ours(self.at.rotation.inverse() * theirs(way));
            return Some(climb.height(local) + ours(self.at.translation).dot(way));
        }
        let map = self.part.shape.as_support_map()?;
        Some(ours(map.support_point(&self.at, theirs(way))).dot(way))
    }

    /// The face that looks most along a direction.
    fn face(&self, way: DVec3) -> Option<Face> {
        let local = self.at.rotation.inverse() * theirs(way);
        let world = |p: Vec3| ours(self.at * p);
        if let Some(hull) = self.part.shape.as_convex_polyhedron() {
            let better = |a: f64, b: f64| a.total_cmp(&b);
            let faces = hull.faces().iter();
            let face = faces.max_by(|a, b| better(a.normal.dot(local), b.normal.dot(local)))?;
            let first = face.first_vertex_or_edge as usize;
            let corners = &hull.vertices_adj_to_face()[first..first + face.num_vertices_or_edges as usize];
            let corners = corners.iter().map(|&n| world(hull.points()[n as usize])).collect();
            return Some(Face { corners, normal: ours(self.at.rotation * face.normal) });
        }
        let mut known = PolygonalFeature::default();
        self.part.shape.as_cuboid()?.local_support_feature(local, &mut known);
        let corners: Vec<DVec3> = known.vertices[..known.num_vertices].iter().map(|p| world(*p)).collect();
        let [a, b, c] = [0, 1, 2].map(|n| corners.get(n).copied().unwrap_or_default());
        let normal = (b - a).cross(c - a).normalize_or_zero();
        Some(Face { normal: if normal.dot(way) < 0.0 { -normal } else { normal }, corners })
    }

    /// Outward normals of its faces.
    fn normals(&self) -> Vec<DVec3> {
        let turned = |n: Vec3| ours(self.at.rotation * n);
        match self.part.shape.as_convex_polyhedron() {
            Some(hull) => hull.faces().iter().map(|face| turned(face.normal)).collect(),
            None if self.part.shape.as_cuboid().is_some() => {
                [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|n| [turned(n), turned(-n)]).collect()
            }
            None => Vec::new(),
        }
    }
}

/// How far two parts are apart along a normal from the second to the first, m, negative where they overlap: no place of one is
/// nearer to the other along it.
pub(super) fn apart(first: &Placed, second: &Placed, normal: DVec3) -> f64 {
    let below = first.extent(-normal).map(|height| -height);
    below.zip(second.extent(normal)).map_or(f64::NEG_INFINITY, |(below, above)| below - above)
}

/// The normal, from the second to the first, along which two parts overlap least: one that is known, or that of a face of either. By the
/// separating axes of convex polyhedra [Gottschalk et al. 1996], but for those of two edges.
pub(super) fn clearest(first: &Placed, second: &Placed, known: DVec3) -> DVec3 {
    let of_first = first.normals().into_iter().map(|n| -n);
    let all = std::iter::once(known).chain(of_first).chain(second.normals());
    let measured = all.map(|n| (apart(first, second, n), n));
    // The first of equals.
    measured.reduce(|best, other| if other.0 > best.0 { other } else { best }).map_or(known, |(_, n)| n)
}

/// Whether parry may know only a part of a face that touches along a normal from the second to the first.
pub(super) fn has_many_corners(first: &Placed, second: &Placed, normal: DVec3) -> bool {
    let has_many = |part: &Placed, way: DVec3| {
        let is_hull = part.part.shape.as_convex_polyhedron().is_some();
        is_hull && part.face(way).is_some_and(|face| face.corners.len() > KNOWN)
    };
    has_many(first, -normal) || has_many(second, normal)
}

/// Where the faces of two parts that look at each other along a normal, from the second to the first, lie on each other: the corners of what
/// both cover, each on the first and on the second.
pub(super) fn touching(first: &Placed, second: &Placed, normal: DVec3) -> Vec<[DVec3; 2]> {
    let (Some(upper), Some(lower)) = (first.face(-normal), second.face(normal)) else { return Vec::new() };
    if upper.normal.dot(-normal) < STEEP || lower.normal.dot(normal) < STEEP || upper.corners.len() < 3 {
        return Vec::new();
    }
    let origin = upper.corners[0];
    let (along, across) = normal.any_orthonormal_pair();
    let flat = |face: &Face| -> Vec<DVec2> {
        let of = |p: &DVec3| DVec2::new((*p - origin).dot(along), (*p - origin).dot(across));
        anticlockwise(face.corners.iter().map(of).collect())
    };
    let on = |face: &Face, at: DVec3| {
        at + normal * ((face.corners[0] - at).dot(face.normal) / normal.dot(face.normal))
    };
    let covered = clipped(flat(&lower), &flat(&upper)).into_iter();
    covered.map(|p| origin + along * p.x + across * p.y).map(|at| [on(&upper, at), on(&lower, at)]).collect()
}

fn anticlockwise(mut corners: Vec<DVec2>) -> Vec<DVec2> {
    let twice: f64 = (0..corners.len()).map(|n| corners[n].perp_dot(corners[(n + 1) % corners.len()])).sum();
    if twice < 0.0 {
        corners.reverse();
    }
    corners
}

/// What of a polygon lies in a convex one whose corners go anticlockwise [Sutherland and Hodgman 1974].
fn clipped(mut polygon: Vec<DVec2>, by: &[DVec2]) -> Vec<DVec2> {
    for n in 0..by.len() {
        let (from, edge) = (by[n], by[(n + 1) % by.len()] - by[n]);
        let inside = |p: DVec2| edge.perp_dot(p - from);
        let before = std::mem::take(&mut polygon);
        for (k, &b) in before.iter().enumerate() {
            let a = before[(k + before.len() - 1) % before.len()];
            let (in_a, in_b) = (inside(a), inside(b));
            if (in_a < 0.0) != (in_b < 0.0) {
                polygon.push(a.lerp(b, in_a / (in_a - in_b)));
            }
            if in_b >= 0.0 {
                polygon.push(b);
            }
        }
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_and_the_same_turned_by_an_eighth_share_an_octagon() {
        let square = |turn: f64| -> Vec<DVec2> {
            (0..4).map(|n| DVec2::from_angle(turn + f64::from(n) * std::f64::consts::FRAC_PI_2)).collect()
        };
        let shared = clipped(square(0.3), &square(0.3 + std::f64::consts::FRAC_PI_4));
        assert_eq!(shared.len(), 8);
        let area: f64 = (0..8).map(|n| 0.5 * shared[n].perp_dot(shared[(n + 1) % 8])).sum();
        // Eight triangles with the height of the squares' sides.
        let height = 0.5f64.sqrt();
        assert!((area - 8.0 * height * height * (std::f64::consts::PI / 8.0).tan()).abs() < 1e-12, "{area}");
        assert_eq!(clipped(square(0.0), &square(0.0)).len(), 4);
        assert!(clipped(square(0.0), &square(0.0).iter().map(|p| *p + 3.0).collect::<Vec<_>>()).is_empty());
    }
}
