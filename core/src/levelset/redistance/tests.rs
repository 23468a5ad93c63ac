use super::*;
use crate::grid::Topology;
use crate::levelset::{fractions_inside, volume};
use glam::{IVec3, Vec3};

fn cube(n: i32) -> Arc<Topology> {
    let steps = move || (0..n).step_by(8);
    let origins = steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| IVec3::new(x, y, z))));
    Arc::new(Topology::new(origins.collect()))
}

/// Samples a function of positions in [−1, 1]³.
fn sampled(n: i32, f: impl Fn(Vec3) -> f32 + Sync) -> (Grid<f32>, f32) {
    let h = 2.0 / n as f32;
    (Grid::from_fn(cube(n), 1.0, |c| f((c.as_vec3() + 0.5) * h - 1.0)), h)
}

const CENTRE: Vec3 = Vec3::new(0.02, -0.03, 0.01);

fn ball(p: Vec3) -> f32 {
    p.distance(CENTRE) - 0.6
}

/// The ball's zero set in a function that is far from a distance.
fn distorted(p: Vec3) -> f32 {
    ball(p) * (1.5 + 0.5 * (3.0 * p.x).sin() + 0.4 * p.y)
}

fn measured(phi: &Grid<f32>, h: f32) -> f64 {
    volume(&fractions_inside(phi, h), None, f64::from(h))
}

fn largest_error(phi: &Grid<f32>, h: f32, within: f32, exact: impl Fn(Vec3) -> f32) -> f32 {
    let n = phi.topology.len() * leaf::SIZE;
    let error = |slot: usize| {
        let d = exact((phi.topology.coord(slot).as_vec3() + 0.5) * h - 1.0);
        if d.abs() < within * h { (phi.values[slot] - d).abs() / h } else { 0.0 }
    };
    (0..n).map(error).fold(0.0, f32::max)
}

#[test]
fn a_distorted_ball_becomes_a_distance_with_second_order() {
    let errors = [32, 64].map(|n| {
        let (phi, h) = sampled(n, distorted);
        let out = redistance(&phi, h, 3.0);
        for slot in 0..phi.values.len() {
            assert_eq!(out.values[slot] < 0.0, phi.values[slot] < 0.0);
            assert!(out.values[slot].abs() <= 3.0 * h);
        }
        largest_error(&out, h, 2.5, ball)
    });
    // In voxels: first order would leave this ratio at 1.
    assert!(errors[1] < 0.03 && errors[0] / errors[1] > 1.6, "{errors:?}");
}

#[test]
fn the_interface_stays() {
    for (f, coarse) in [(ball as fn(Vec3) -> f32, 5e-4), (distorted, 5e-3)] {
        let drift = [32, 64].map(|n| {
            let (phi, h) = sampled(n, f);
            let area = 4.0 * std::f64::consts::PI * 0.36;
            let moved = measured(&redistance(&phi, h, 3.0), h) - measured(&sampled(n, ball).0, h);
            (moved / area / f64::from(h)).abs()
        });
        assert!(
            drift[0] < coarse && drift[1] < 0.6 * coarse,
            "mean shift of the surface in voxels: {drift:?}"
        );
    }
}

#[test]
fn a_distance_stays_what_it_is() {
    let (mut phi, h) = sampled(48, ball);
    let before = measured(&phi, h);
    for _ in 0..20 {
        phi = redistance(&phi, h, 4.0);
    }
    assert!(largest_error(&phi, h, 3.0, ball) < 0.05);
    let area = 4.0 * std::f64::consts::PI * 0.36;
    let drift = (measured(&phi, h) - before) / area / f64::from(h);
    assert!(drift.abs() < 2e-3, "20 passes moved the surface by {drift} voxels");
}

#[test]
fn planes_are_exact() {
    let n = Vec3::new(0.36, 0.48, 0.8);
    let (phi, h) = sampled(32, |p| 3.0 * (n.dot(p) - 0.1));
    let out = redistance(&phi, h, 3.0);
    let inner = |p: Vec3| if p.abs().max_element() < 0.7 { n.dot(p) - 0.1 } else { 1e9 };
    let e = largest_error(&out, h, 2.9, inner);
    assert!(e < 2e-3, "{e}");
}

#[test]
fn the_gradient_is_one() {
    let (phi, h) = sampled(64, distorted);
    let out = redistance(&phi, h, 4.0);
    for slot in 0..out.values.len() {
        if out.values[slot].abs() < 2.5 * h {
            let c = out.topology.coord(slot);
            let d = |a: IVec3| (out.get(c + a) - out.get(c - a)) / (2.0 * h);
            let slope = Vec3::new(d(IVec3::X), d(IVec3::Y), d(IVec3::Z)).length();
            assert!((slope - 1.0).abs() < 0.06, "{slope} at {c}");
        }
    }
}

/// Films and drops thinner than the stencil keep their signs and stay bounded.
#[test]
fn thin_features_survive() {
    let (phi, h) = sampled(32, |p| (p.x - 0.01).abs() - 0.04);
    let out = redistance(&phi, h, 3.0);
    let film = |p: Vec3| if p.abs().max_element() < 0.7 { (p.x - 0.01).abs() - 0.04 } else { 1e9 };
    assert!(largest_error(&out, h, 2.9, film) < 0.35);
    let (mut speck, h) = sampled(16, |_| 1.0);
    speck.set(IVec3::splat(7), -1e-3);
    let out = redistance(&speck, h, 3.0);
    assert!(out.get(IVec3::splat(7)) < 0.0 && out.get(IVec3::splat(7)) > -h);
    assert!(out.get(IVec3::new(8, 7, 7)) > 0.0);
}

/// Leaves are added where the band needs them, on the outside as on the inside.
#[test]
fn the_band_grows_over_missing_leaves() {
    let (full, h) = sampled(64, ball);
    let shell = interface(&full);
    let thin = Grid { background: 2.0 * h, ..full.on(&Arc::new(shell.leaves_within(1))) };
    let wide = redistance(&thin, h, 6.0);
    assert!(wide.topology.len() > thin.topology.len());
    let error = largest_error(&wide, h, 5.5, ball);
    assert!(error < 0.05, "{error}");
}

#[test]
fn the_same_on_any_number_of_threads() {
    let (phi, h) = sampled(32, distorted);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        pool.map(|p| p.install(|| redistance(&phi, h, 3.0).values))
    };
    assert!(run(1).is_some() && run(1) == run(5));
}

/// Mirroring the input mirrors the output.
#[test]
fn symmetric_under_reflection() {
    let n = 32;
    let (phi, h) = sampled(n, distorted);
    let mirror = |c: IVec3| IVec3::new(n - 1 - c.x, c.y, c.z);
    let mirrored = Grid::from_fn(phi.topology.clone(), phi.background, |c| phi.get(mirror(c)));
    let (a, b) = (redistance(&phi, h, 3.0), redistance(&mirrored, h, 3.0));
    for slot in 0..a.values.len() {
        assert!((a.values[slot] - b.get(mirror(a.topology.coord(slot)))).abs() < 1e-5 * h);
    }
}
