//! Polygons of level sets: where they lie, what they enclose, and that threads do not matter.

use openvdb_sys::{Class, GridOut, Polygons, Values, polygons};

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
