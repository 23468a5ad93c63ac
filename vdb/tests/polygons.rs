//! Polygons of level sets and level sets of polygons: where they lie, what they enclose, and that threads do not matter.

use openvdb_sys::{BAND, Class, GridOut, Polygons, Values, level_set, polygons};

const H: f64 = 0.01;

/// A ball of that radius, in voxels, around a place that no voxel has, as polygons in metres.
fn ball(radius: f64, threads: usize) -> Polygons {
    let centre = [0.3, -0.2, 0.45];
    let steps = || (-24..24).step_by(8);
    let origins: Vec<[i32; 3]> =
        steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| [x, y, z]))).collect();
    let distance = |o: &[i32; 3], n: i32| {
        let p = [o[0] + (n >> 6), o[1] + (n >> 3 & 7), o[2] + (n & 7)].map(f64::from);
        let r = (0..3).map(|c| (p[c] - centre[c]).powi(2)).sum::<f64>().sqrt();
        ((r - radius) * H) as f32
    };
    let values: Vec<f32> = origins.iter().flat_map(|o| (0..512).map(move |n| distance(o, n))).collect();
    let grid = GridOut {
        name: "surface",
        class: Class::LevelSet,
        transform: [H, 0., 0., 0., 0., H, 0., 0., 0., 0., H, 0., 0., 0., 0., 1.],
        background: [3.0 * H, 0.0, 0.0],
        origins: &origins,
        masks: None,
        values: Values::Float(&values),
        tiles: &[],
        half: false,
        flood: true,
        vector_type: None,
        metadata: &[],
    };
    polygons(&grid, threads).unwrap()
}

/// The volume that polygons enclose, positive where they are counter-clockwise seen from outside, m³.
fn volume(mesh: &Polygons) -> f64 {
    let at = |n: u32| mesh.points[n as usize].map(f64::from);
    let triple = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let of = |q: &[u32; 4]| triple(at(q[0]), at(q[1]), at(q[2])) + triple(at(q[0]), at(q[2]), at(q[3]));
    mesh.quads.iter().map(of).sum::<f64>() / 6.0
}

#[test]
fn the_polygons_of_a_ball_lie_on_it_and_enclose_it() {
    for radius in [6.0, 15.5] {
        let mesh = ball(radius, 2);
        let whole = 4.0 / 3.0 * std::f64::consts::PI * (radius * H).powi(3);
        let share = volume(&mesh) / whole;
        assert!((share - 1.0).abs() < 0.5 / radius, "radius {radius}: {share} of its volume");
        let centre = [0.3 * H, -0.2 * H, 0.45 * H];
        for p in &mesh.points {
            let r = (0..3).map(|c| (f64::from(p[c]) - centre[c]).powi(2)).sum::<f64>().sqrt();
            assert!(
                (r - radius * H).abs() < 0.1 * H,
                "a point of the ball of {radius} voxels is {} off",
                r - radius * H
            );
        }
        assert_eq!(mesh.points.len(), mesh.quads.len() + 2, "one closed surface without holes");
    }
}

#[test]
fn threads_do_not_matter() {
    assert_eq!(ball(15.5, 1), ball(15.5, 4));
}

#[test]
fn what_has_no_surface_gives_nothing() {
    assert_eq!(ball(-5.0, 1), Polygons::default());
}

/// The triangles of polygons of four corners.
fn halves(mesh: &Polygons) -> Vec<[u32; 3]> {
    mesh.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect()
}

/// From the mesh of a ball back to distances, in voxels of other sizes than it was made from.
#[test]
fn the_level_set_of_a_mesh_is_its_distance() {
    let mesh = ball(15.5, 2);
    let (centre, radius) = ([0.3, -0.2, 0.45], 15.5);
    for voxel in [0.4 * H, 0.77 * H, 2.0 * H] {
        let found = level_set(&mesh.points, &halves(&mesh), voxel, 2).unwrap();
        assert_eq!(
            found,
            level_set(&mesh.points, &halves(&mesh), voxel, 1).unwrap(),
            "threads do not matter"
        );
        assert_eq!(found.values.len(), 512 * found.origins.len());
        let (mut within, band) = (0, BAND * voxel);
        for (leaf, o) in found.origins.iter().enumerate() {
            for n in 0..512 {
                let p = [o[0] + (n >> 6), o[1] + (n >> 3 & 7), o[2] + (n & 7)].map(|c| f64::from(c) * voxel);
                let r = (0..3).map(|c| (p[c] - centre[c] * H).powi(2)).sum::<f64>().sqrt();
                let wanted = (r - radius * H).clamp(-band, band);
                let found = f64::from(found.values[leaf * 512 + n as usize]);
                // The mesh itself lies within a tenth of its voxel of the ball.
                assert!((found - wanted).abs() < 0.1 * (H + voxel), "{p:?}: {found}, not {wanted}");
                within += usize::from(wanted.abs() < 0.9 * band);
            }
        }
        let shell = 4.0 * std::f64::consts::PI * (radius * H).powi(2) * 2.0 * 0.9 * BAND / voxel.powi(2);
        assert!((within as f64 / shell - 1.0).abs() < 0.2, "{within} voxels near it, not {shell}");
    }
}

#[test]
fn meshes_that_are_none_are_refused() {
    let corner = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    assert!(level_set(&corner, &[[0, 1, 2]], 0.1, 1).is_ok(), "an open mesh has distances too");
    assert_eq!(level_set(&corner, &[], 0.1, 1).unwrap().origins.len(), 0);
    for (points, triangle, voxel) in [
        (corner, [0, 1, 3], 0.1),
        (corner, [0, 1, 2], 0.0),
        (corner, [0, 1, 2], f64::NAN),
        (corner, [0, 1, 2], 1e-12),
        ([[0.0; 3], [f32::NAN, 0.0, 0.0], [0.0, 1.0, 0.0]], [0, 1, 2], 0.1),
    ] {
        assert!(level_set(&points, &[triangle], voxel, 1).is_err(), "{points:?} {triangle:?} {voxel}");
    }
}
