//! How often a mesh winds around a place.

use super::TriMesh;
use glam::DVec3;
use std::f64::consts::TAU;

impl TriMesh {
    /// The winding number of a closed mesh about a place off its surface: 1 within, 0 without, −1 within a mesh that is inside
    /// out. It sums the solid angles of the triangles [VanOosterom and Strackee 1983].
    pub(crate) fn winding(&self, at: DVec3) -> f64 {
        let half_angle = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p.as_dvec3() - at);
            let [x, y, z] = [a, b, c].map(DVec3::length);
            let rest = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
            a.dot(b.cross(c)).atan2(rest)
        };
        (0..self.triangles.len()).map(half_angle).sum::<f64>() / TAU
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::{ball, cuboid, torus};
    use glam::Vec3;

    #[test]
    fn a_mesh_winds_once_around_what_it_encloses() {
        for (mesh, place, expected) in [
            (cuboid(Vec3::ONE), DVec3::new(0.5, 0.9, 0.1), 1.0),
            (cuboid(Vec3::ONE), DVec3::new(0.5, 1.1, 0.1), 0.0),
            (ball(1.0, 12), DVec3::new(0.6, -0.6, 0.3), 1.0),
            (torus(0.6, 0.2, 32, 16), DVec3::ZERO, 0.0),
            (torus(0.6, 0.2, 32, 16), DVec3::new(0.6, 0.0, 0.0), 1.0),
        ] {
            let found = mesh.winding(place);
            assert!((found - expected).abs() < 1e-12, "{found} at {place}");
            let turned = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
            let inverted = TriMesh { triangles: turned, ..mesh };
            assert!((inverted.winding(place) + expected).abs() < 1e-12);
        }
    }
}
