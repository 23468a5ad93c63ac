//! Chooses the sampling lattice of a mesh's signed distance.

use super::{SignedDistance, from_mesh};
use crate::grid::Transform;
use crate::mesh::TriMesh;
use glam::DVec3;
use std::collections::BTreeSet;

/// Distance from a plane of samples, voxels, up to which a point counts as lying in it.
const IN_PLANE: f64 = 1e-4;
/// Fewest voxels between two planes of points that hold samples, so that one sample lies inside the wall between them.
const LEAST_APART: i64 = 2;
/// Voxels across a ball or a rod that may have samples in its middle. Where it is thicker, some lie in it anyway.
const THIN: f64 = 2.0;
/// Voxels from a mesh to the nearest sample beyond which none counts as in it. Nearer ones come to lie inside when its volume is
/// kept (`solid/kept_volume.rs`), and show edges better than one in the middle.
const LOST: f32 = 0.24;

/// The lattice for the signed distance of a mesh, with voxels of `h` metres.
///
/// Interpolation rounds an edge by a voxel unless samples lie on it, and a jet that leaves a rounded lip is wider. So
/// along an axis on which all points of the mesh lie at multiples of `h`, the samples lie at multiples, too. On other
/// axes they lie half way between multiples, and also where two planes of points are only a voxel apart: a wall without
/// a sample inside would vanish. So would a small ball or a rod along an axis: where a mesh is thinner than two voxels along two axes
/// or three, and no sample lies in it or close to it, they lie in the middle of its bounds along these. The same mesh and `h` give
/// the same lattice.
pub fn lattice(mesh: &TriMesh, h: f64) -> Transform {
    let corner = std::array::from_fn(|axis| if is_on_multiples(mesh, axis, h) { -0.5 * h } else { 0.0 });
    let usual = Transform::uniform(h, DVec3::from_array(corner));
    let (low, high) = bounds(mesh);
    let thin = (high - low).cmplt(DVec3::splat(THIN * h));
    let lost = || from_mesh(mesh, &usual, 1.0).is_ok_and(|made| is_lost(&made, h));
    if thin.bitmask().count_ones() < 2 || !lost() {
        return usual;
    }
    let middle = 0.5 * (low + high - h);
    Transform::uniform(h, DVec3::select(thin, middle, usual.translation))
}

/// Whether all samples, `h` metres apart, lie farther outside than a kept volume reaches: then nothing meets the solid.
pub fn is_lost(made: &SignedDistance, h: f64) -> bool {
    made.inside.runs().is_empty() && made.grid.values.iter().all(|d| *d > LOST * h as f32)
}

/// Of all points, whatever the triangles say: the mesh was not checked yet. Without end where some are not finite or none is there.
fn bounds(mesh: &TriMesh) -> (DVec3, DVec3) {
    let none = (DVec3::ZERO, DVec3::INFINITY);
    let all = mesh.points.iter().map(|p| p.as_dvec3());
    let found = all.map(|p| (p, p)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    found.filter(|_| mesh.points.iter().all(|p| p.is_finite())).unwrap_or(none)
}

fn is_on_multiples(mesh: &TriMesh, axis: usize, h: f64) -> bool {
    let mut planes = BTreeSet::new();
    for point in &mesh.points {
        let at = f64::from(point[axis]) / h;
        let plane = at.round();
        if at.is_nan() || (at - plane).abs() >= IN_PLANE {
            return false;
        }
        planes.insert(plane as i64);
    }
    planes.iter().zip(planes.iter().skip(1)).all(|(a, b)| b - a >= LEAST_APART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes;
    use glam::Vec3;

    const H: f64 = 0.02;

    fn cuboid(low: [f32; 3], high: [f32; 3]) -> TriMesh {
        let (low, high) = (Vec3::from_array(low), Vec3::from_array(high));
        let mut mesh = shapes::cuboid(high - low);
        for point in &mut mesh.points {
            *point = Vec3::select(point.cmple(Vec3::ZERO), low, high);
        }
        mesh
    }

    fn at(mesh: &TriMesh, lattice: &Transform, world: DVec3) -> f64 {
        let made = from_mesh(mesh, lattice, 4.0).unwrap();
        let index = (world - lattice.translation) / H;
        f64::from(made.sampler().distance(index)) / H
    }

    #[test]
    fn edges_at_multiples_of_the_voxel_stay_sharp() {
        // A plate of two voxels, its depth between multiples.
        let mesh = cuboid([-0.66, 0.0, -0.13], [-0.08, 0.04, 0.13]);
        let edge = DVec3::new(-0.08, 0.04, 0.0);
        assert!(at(&mesh, &lattice(&mesh, H), edge).abs() < 1e-4);
        assert!(at(&mesh, &lattice(&mesh, H), edge + DVec3::new(-H, -H, 0.0)) < -0.99);
        let between = Transform::uniform(H, DVec3::ZERO);
        assert!(at(&mesh, &between, edge) > 0.25, "what interpolation makes of it");
        assert_eq!(lattice(&mesh, H).translation.z, between.translation.z);
    }

    #[test]
    fn a_wall_of_one_voxel_keeps_a_sample_inside() {
        let mesh = cuboid([-0.4, 0.0, -0.2], [0.4, 0.02, 0.2]);
        let of = lattice(&mesh, H);
        assert!(at(&mesh, &of, DVec3::new(0.0, 0.01, 0.0)) < -0.49);
        // Two planes a voxel apart in one mesh.
        let mut stairs = cuboid([-0.4, 0.0, -0.2], [0.4, 0.4, 0.2]);
        let step = cuboid([-0.2, 0.4, -0.2], [0.2, 0.42, 0.2]);
        stairs.points.extend(step.points);
        assert_eq!(lattice(&stairs, H).translation.y, 0.5 * H);
    }

    /// Balls and spindles from a fifth of a voxel, wherever they lie.
    #[test]
    fn small_balls_and_spindles_are_not_lost() {
        for across in [0.2f32, 0.7, 1.2, 1.7, 1.9, 2.1, 2.5] {
            for at in [Vec3::ZERO, Vec3::new(0.5, 0.5, 0.5), Vec3::new(0.3, -0.2, 7.9)] {
                for long in [1.0f32, 9.3] {
                    let mut mesh = shapes::ball(0.5, 12);
                    let size = across * H as f32 * Vec3::new(1.0, long, 1.0);
                    mesh.points.iter_mut().for_each(|p| *p = *p * size + at * H as f32);
                    let made = from_mesh(&mesh, &lattice(&mesh, H), 4.0).unwrap();
                    let deepest = made.grid.values.iter().copied().fold(f32::INFINITY, f32::min);
                    assert!(deepest < LOST * H as f32, "{across} voxels at {at}: {deepest}");
                }
            }
        }
    }

    #[test]
    fn points_anywhere_are_sampled_half_way() {
        let mut mesh = cuboid([-0.4, 0.003, 0.0], [0.4, 0.4, 0.2]);
        mesh.points[3].z = f32::NAN;
        assert_eq!(lattice(&mesh, H).translation, DVec3::new(0.0, 0.5 * H, 0.5 * H));
        let nothing = TriMesh { points: vec![], triangles: vec![], ..mesh };
        assert!(lattice(&nothing, H).translation.is_finite());
    }
}
