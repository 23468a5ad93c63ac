//! The closest point of a triangle, and the normal there that decides between inside and outside.

use super::TriMesh;
use glam::DVec3;
use rustc_hash::FxHashMap;

/// The part of a triangle a point is closest to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Corner 0, 1 or 2.
    Corner(usize),
    /// The edge from corner n to the next.
    Edge(usize),
    /// Between them.
    Face,
}

/// The closest point of a triangle, as weights of its corners, and where it lies [Ericson 2005, 5.1.5].
pub(crate) fn closest_point(p: DVec3, [a, b, c]: [DVec3; 3]) -> ([f64; 3], Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return ([1.0, 0.0, 0.0], Feature::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return ([0.0, 1.0, 0.0], Feature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return ([1.0 - t, t, 0.0], Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return ([0.0, 0.0, 1.0], Feature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return ([1.0 - t, 0.0, t], Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    let (along, against) = (d4 - d3, d5 - d6);
    if va <= 0.0 && along >= 0.0 && against >= 0.0 {
        let t = along / (along + against);
        return ([0.0, 1.0 - t, t], Feature::Edge(1));
    }
    let sum = va + vb + vc;
    ([va / sum, vb / sum, vc / sum], Feature::Face)
}

/// Normals of faces, edges and corners with which the sign of the distance is right wherever the closest
/// point lies [Baerentzen and Aanaes 2005]: edges take the sum of their faces' normals, corners the sum
/// weighted by the faces' angles.
pub(crate) struct Normals {
    faces: Vec<DVec3>,
    edges: Vec<[DVec3; 3]>,
    corners: Vec<[DVec3; 3]>,
}

impl Normals {
    /// Of a closed mesh; points at the same place count as one.
    pub fn of(mesh: &TriMesh) -> Self {
        let welded = mesh.welded();
        let faces: Vec<DVec3> = (0..mesh.triangles.len()).map(|t| mesh.face_normal(t)).collect();
        let mut edges: Vec<[DVec3; 3]> = faces.iter().map(|&n| [n; 3]).collect();
        for group in mesh.edges(&welded).chunk_by(|a, b| a.points == b.points) {
            let sum = group.iter().map(|e| faces[e.triangle as usize]).sum();
            group.iter().for_each(|e| edges[e.triangle as usize][e.side as usize] = sum);
        }
        let mut at_point: FxHashMap<u32, DVec3> = FxHashMap::default();
        for (t, welded) in welded.iter().enumerate() {
            let at = mesh.corners(t).map(|p| p.as_dvec3());
            for n in 0..3 {
                let (to_next, to_last) = (at[(n + 1) % 3] - at[n], at[(n + 2) % 3] - at[n]);
                let angle = to_next.cross(to_last).length().atan2(to_next.dot(to_last));
                *at_point.entry(welded[n]).or_default() += angle * faces[t];
            }
        }
        let corners = welded.iter().map(|t| t.map(|p| at_point[&p])).collect();
        Self { faces, edges, corners }
    }

    /// The normal at a feature of a triangle; its length has no meaning.
    pub fn at(&self, triangle: usize, feature: Feature) -> DVec3 {
        match feature {
            Feature::Corner(n) => self.corners[triangle][n],
            Feature::Edge(n) => self.edges[triangle][n],
            Feature::Face => self.faces[triangle],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = DVec3> {
        (-2.0..2.0, -2.0..2.0, -2.0..2.0).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    proptest! {
        #[test]
        fn no_sample_of_the_triangle_is_closer(p in point(), a in point(), b in point(), c in point()) {
            let (weights, feature) = closest_point(p, [a, b, c]);
            let at = |w: [f64; 3]| w[0] * a + w[1] * b + w[2] * c;
            let zeros = weights.iter().filter(|&&w| w == 0.0).count();
            prop_assert!(weights.iter().all(|&w| w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            match feature {
                Feature::Corner(n) => prop_assert!(zeros == 2 && weights[n] == 1.0),
                Feature::Edge(n) => prop_assert_eq!(weights[(n + 2) % 3], 0.0),
                Feature::Face => {}
            }
            let found = at(weights).distance(p);
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    prop_assert!(found <= at([1.0 - u - v, u, v]).distance(p) + 1e-9);
                }
            }
        }
    }
}
