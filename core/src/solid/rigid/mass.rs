//! Mass, centre and inertia of a mesh filled with one material.

use crate::mesh::TriMesh;
use glam::{DMat3, DVec3};

/// What a body resists motion with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Inertia about the centre of mass, kg m².
    pub inertia: DMat3,
}

impl MassProperties {
    /// Of a closed mesh filled with `density` kg/m³: exact sums over the tetrahedra that its triangles span with one
    /// point [Mirtich 1996]. Mesh with cavities: their walls are wound the other way, and count negative.
    pub fn of(mesh: &TriMesh, density: f64) -> Self {
        let (low, high) = mesh.bounds();
        // Near the mesh, so that nothing cancels where it is far from the origin.
        let from = 0.5 * (low.as_dvec3() + high.as_dvec3());
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t).map(|p| p.as_dvec3() - from);
            let part = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += part;
            first += part / 4.0 * sum;
            second += (outer(a) + outer(b) + outer(c) + outer(sum)) * (part / 20.0);
        }
        let centre = first / volume;
        let spread = second - outer(centre) * volume;
        let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        let inertia = (DMat3::from_diagonal(DVec3::splat(trace)) - spread) * density;
        Self { mass: density * volume, centre: from + centre, inertia }
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::{ball, cuboid, torus};
    use glam::{DQuat, Vec3};
    use std::f64::consts::PI;

    fn near(a: DMat3, b: DMat3, tolerance: f64) {
        let scale = b.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let worst = (a - b).to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(worst <= tolerance * scale, "{a} is not {b}");
    }

    #[test]
    fn a_box_has_its_textbook_inertia_wherever_it_stands_and_however_it_is_turned() {
        let size = DVec3::new(0.4, 1.0, 0.25);
        let mass = 700.0 * size.element_product();
        let squares = size * size;
        let textbook = DMat3::from_diagonal(
            DVec3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y) * mass / 12.0,
        );
        for (axis, angle, shift) in
            [(DVec3::X, 0.0, DVec3::ZERO), (DVec3::new(1.0, 2.0, -1.0), 0.8, DVec3::new(3.0, -20.0, 7.0))]
        {
            let turn = DQuat::from_axis_angle(axis.normalize(), angle);
            let mut mesh = cuboid(size.as_vec3());
            mesh.points.iter_mut().for_each(|p| *p = (turn * p.as_dvec3() + shift).as_vec3());
            let found = MassProperties::of(&mesh, 700.0);
            let expected = DMat3::from_quat(turn) * textbook * DMat3::from_quat(turn).transpose();
            assert!((found.mass / mass - 1.0).abs() < 1e-4, "{found:?}");
            let centre = mesh.points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / mesh.points.len() as f64;
            assert!((found.centre - centre).length() < 1e-5);
            near(found.inertia, expected, 1e-4);
        }
    }

    #[test]
    fn a_ball_and_a_ring_come_near_their_textbook_values_as_their_meshes_do() {
        let found = MassProperties::of(&ball(0.5, 96), 1000.0);
        let mass = 1000.0 * 4.0 / 3.0 * PI * 0.125;
        assert!((found.mass / mass - 1.0).abs() < 3e-3, "{found:?}");
        near(found.inertia, DMat3::from_diagonal(DVec3::splat(0.4 * mass * 0.25)), 5e-3);
        let (big, tube) = (0.6f64, 0.2f64);
        let found = MassProperties::of(&torus(0.6, 0.2, 192, 96), 1.0);
        let mass = 2.0 * PI * PI * big * tube * tube;
        let axial = mass * (big * big + 0.75 * tube * tube);
        let across = mass * (0.5 * big * big + 0.625 * tube * tube);
        assert!((found.mass / mass - 1.0).abs() < 3e-3, "{found:?}");
        let mut moments = found.inertia.to_cols_array();
        moments.sort_by(f64::total_cmp);
        assert!((moments[8] / axial - 1.0).abs() < 5e-3 && (moments[7] / across - 1.0).abs() < 5e-3);
    }

    #[test]
    fn a_cavity_is_taken_away() {
        let mut mesh = cuboid(Vec3::splat(1.0));
        let inner = cuboid(Vec3::splat(0.5));
        let first = mesh.points.len() as u32;
        mesh.points.extend(inner.points.iter().map(|p| *p + 0.25));
        mesh.triangles.extend(inner.triangles.iter().map(|&[a, b, c]| [a + first, c + first, b + first]));
        let found = MassProperties::of(&mesh, 2.0);
        let whole = |a: f64| 2.0 * a.powi(5) / 6.0;
        assert!((found.mass - 2.0 * (1.0 - 0.125)).abs() < 1e-12);
        near(found.inertia, DMat3::from_diagonal(DVec3::splat(whole(1.0) - whole(0.5))), 1e-12);
    }
}
