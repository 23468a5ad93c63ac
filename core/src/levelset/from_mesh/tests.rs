use super::*;
use crate::mesh::shapes;

fn cube_distance(size: DVec3, p: DVec3) -> f64 {
    let q = (p - 0.5 * size).abs() - 0.5 * size;
    q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
}

/// Compares with a known distance over a box of voxels around the mesh.
fn agrees(mesh: &TriMesh, h: f64, tolerance: f64, exact: impl Fn(DVec3) -> f64) {
    let transform = Transform::uniform(h, DVec3::new(-0.013, 0.021, 0.007));
    let sdf = from_mesh(mesh, &transform, 4.0).expect("a closed mesh");
    let (low, high) = mesh.bounds();
    let first = (transform.to_index(low.as_dvec3()) - 9.0).floor().as_ivec3();
    let last = (transform.to_index(high.as_dvec3()) + 9.0).ceil().as_ivec3();
    let mut sampler = sdf.sampler();
    let width = 4.0 * h;
    for x in first.x..=last.x {
        for y in first.y..=last.y {
            for z in first.z..=last.z {
                let c = IVec3::new(x, y, z);
                let phi = f64::from(sampler.distance(c.as_dvec3()));
                let wanted = exact(transform.to_world(c.as_dvec3())).clamp(-width, width);
                assert!((phi - wanted).abs() <= tolerance, "{c}: {phi} instead of {wanted}");
            }
        }
    }
}

#[test]
fn distances_of_a_box_are_exact() {
    let size = DVec3::new(0.5, 0.7, 0.31);
    agrees(&shapes::cuboid(size.as_vec3()), 0.02, 1e-6, |p| cube_distance(size, p));
}

#[test]
fn a_ball_has_the_distances_of_a_ball() {
    // The mesh lies inside the sphere by at most its sagitta.
    let sagitta = 0.5 * (1.0 - (std::f64::consts::FRAC_PI_4 / 24.0 * 1.8).cos());
    agrees(&shapes::ball(0.5, 24), 0.03, sagitta + 1e-5, |p| p.length() - 0.5);
}

#[test]
fn thin_walls_keep_both_sides() {
    // A wall of a fifth of a voxel, seen by no voxel centre: never inside, distances right on both sides.
    let size = DVec3::new(0.8, 0.004, 0.8);
    agrees(&shapes::cuboid(size.as_vec3()), 0.02, 1e-6, |p| cube_distance(size, p));
}

#[test]
fn cavities_are_outside() {
    let mut mesh = shapes::cuboid(Vec3::ONE);
    let inner = shapes::cuboid(Vec3::splat(0.5));
    mesh.points.extend(inner.points.iter().map(|&p| p + 0.25));
    mesh.triangles.extend(inner.triangles.iter().map(|t| [t[0] + 8, t[2] + 8, t[1] + 8]));
    agrees(&mesh, 0.04, 1e-6, |p| {
        cube_distance(DVec3::ONE, p).max(-cube_distance(DVec3::splat(0.5), p - 0.25))
    });
}

#[test]
fn memory_grows_with_the_surface() {
    let leaves = |h: f64| {
        let sdf = from_mesh(&shapes::cuboid(Vec3::ONE), &Transform::uniform(h, DVec3::ZERO), 3.0);
        sdf.expect("a closed mesh").grid.topology.len() as f64
    };
    let growth = leaves(1.0 / 128.0) / leaves(1.0 / 64.0);
    assert!(growth < 5.0, "leaves grow by {growth} when the voxel halves");
}

#[test]
fn impossible_sizes_are_refused() {
    let cube = shapes::cuboid(Vec3::ONE);
    let with = |h: f64| from_mesh(&cube, &Transform::uniform(h, DVec3::ZERO), 3.0).map(|_| ());
    assert!(matches!(with(1e-6), Err(MeshError::TooFine { .. })));
    assert!(matches!(with(0.0), Err(MeshError::VoxelSize(_))));
    let mut open = cube.clone();
    open.triangles.pop();
    let open = from_mesh(&open, &Transform::uniform(0.1, DVec3::ZERO), 3.0);
    assert!(matches!(open, Err(MeshError::NotWatertight { .. })));
}

#[test]
fn the_surface_carries_its_velocity() {
    let mut mesh = shapes::ball(0.5, 12);
    let spin = |p: Vec3| Vec3::Z.cross(p) + Vec3::new(0.0, 0.0, 2.0);
    mesh.velocities = Some(mesh.points.iter().map(|&p| spin(p)).collect());
    let transform = Transform::uniform(0.05, DVec3::ZERO);
    let sdf = from_mesh(&mesh, &transform, 3.0).expect("a closed mesh");
    let velocity = mesh_velocity(&mesh, mesh.velocities.as_ref().unwrap(), &sdf.grid, &transform);
    for (slot, v) in velocity.values.iter().enumerate() {
        if sdf.grid.values[slot].abs() < 0.1 {
            let at = transform.to_world(sdf.grid.topology.coord(slot).as_dvec3());
            let surface = (at.normalize() * 0.5).as_vec3();
            assert!(v.distance(spin(surface)) < 0.02, "{v} instead of {}", spin(surface));
        }
    }
}
