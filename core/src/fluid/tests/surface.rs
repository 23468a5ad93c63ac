use super::*;
use crate::fluid::seeding::{Material, Seeding};
use crate::fluid::surface::{SurfaceParams, surface};
use crate::grid::sampling::Sampler;
use crate::grid::{Coord, Grid};

const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };

/// Particles seeded where `inside` holds in a box, and their level set.
pub(super) fn seeded(lo: DVec3, hi: DVec3, inside: impl Fn(DVec3) -> bool + Sync) -> (Particles, Grid<f32>) {
    let mut particles = Particles::new(DVec3::ZERO);
    let seeding = Seeding::for_voxel(H as f32);
    seeding.fill(&mut particles, &transform(), (lo, hi), inside, |_| Vec3::ZERO, WATER, &mut 0);
    let cells = sorted(&mut particles);
    let phi = surface(&particles, &cells, &transform(), None, &SurfaceParams::default());
    (particles, phi)
}

/// Distance (m) from `from` along `direction` to the surface.
fn root(phi: &Grid<f32>, from: DVec3, direction: DVec3, span: f64) -> f64 {
    let mut sampler = Sampler::new(&phi.topology);
    let mut value = |t: f64| sampler.sample(phi, transform().to_index(from + direction * t));
    let (mut a, mut b) = (0.0, span);
    assert!(value(a) < 0.0 && value(b) > 0.0);
    for _ in 0..40 {
        let m = 0.5 * (a + b);
        if value(m) < 0.0 { a = m } else { b = m }
    }
    a
}

#[test]
fn a_pool_is_flat_at_every_depth_and_tilt() {
    for (tilt, depth) in [(0.0, 1.5), (0.0, 1.52), (0.0, 1.56), (0.3, 1.5), (1.0, 1.5)] {
        let normal = DVec3::new(tilt, 1.0, 0.5 * tilt).normalize();
        let middle = DVec3::new(2.0, depth, 2.0);
        let (_, phi) = seeded(DVec3::ZERO, DVec3::new(4.0, 4.0, 4.0), |x| (x - middle).dot(normal) < 0.0);
        let (mut mean, mut worst, mut square, mut n) = (0.0, 0.0f64, 0.0, 0);
        for i in -15..16 {
            for k in -15..16 {
                let across = DVec3::new(i as f64, 0.0, k as f64) * 0.33 * H;
                let foot = middle + across - normal * across.dot(normal);
                let height = root(&phi, foot - normal * 6.0 * H, normal, 12.0 * H) / H - 6.0;
                mean += height;
                square += height * height;
                worst = worst.max(height.abs());
                n += 1;
            }
        }
        let n = n as f64;
        println!(
            "tilt {tilt} depth {depth}: mean {:.4} rms {:.4} max {:.4} h",
            mean / n,
            (square / n).sqrt(),
            worst
        );
        assert!(worst < 0.2, "bumps of {worst} voxels");
    }
}

#[test]
fn a_sphere_has_its_volume() {
    for r in [4.0, 8.0] {
        let c = DVec3::new(1.03, 1.07, 0.98);
        let side = DVec3::splat(r * H + H);
        let (particles, phi) = seeded(c - side, c + side, |x| (x - c).length() < r * H);
        let mut cubes = 0.0;
        let mut n = 0.0;
        for i in 0..20 {
            for j in 0..40 {
                let z: f64 = -0.95 + 0.1 * i as f64;
                let (s, a) = ((1.0 - z * z).sqrt(), j as f64 * 0.1571);
                let d = DVec3::new(s * a.cos(), s * a.sin(), z);
                cubes += root(&phi, c, d, (r + 1.4) * H).powi(3);
                n += 1.0;
            }
        }
        let ratio = cubes / n / (r * H).powi(3);
        let count = particles.len() as f64 / 8.0 / (4.19 * r * r * r);
        println!("R = {r} h: volume {ratio:.4} of the sphere's, particles {count:.4}");
        // What smoothing takes falls with the square of the radius.
        assert!((ratio / count - 1.0).abs() < 0.6 / (r * r), "{ratio} of {count}");
    }
}

#[test]
fn nothing_is_missing_inside() {
    let (_, phi) = seeded(DVec3::ZERO, DVec3::splat(2.0), |_| true);
    for s in 0..phi.values.len() {
        let c = phi.topology.coord(s);
        let inside = c.cmpge(Coord::ZERO).all() && c.cmplt(Coord::splat(20)).all();
        assert_eq!(phi.values[s] < 0.0, inside, "{c}");
    }
}

#[test]
fn thin_sheets_keep_their_volume() {
    for thickness in [2.0, 1.5, 1.25, 1.0, 0.75] {
        for offset in [0.0, 0.2, 0.5, 0.8] {
            let low = 1.0 + offset * H;
            let sheet = |x: DVec3| x.y >= low && x.y < low + thickness * H;
            let (particles, phi) = seeded(DVec3::ZERO, DVec3::new(3.2, 3.0, 3.2), sheet);
            let held = particles.len() as f64 / 8.0 / (32.0 * 32.0);
            // Between the sheet's ends, so that its rim does not count.
            let rows = phi.topology.origins().len() * 512;
            let mut sum = 0.0;
            for slot in 0..rows {
                let c = phi.topology.coord(slot);
                if (8..24).contains(&c.x) && (8..24).contains(&c.z) {
                    sum += (0.5 - f64::from(phi.values[slot]) / H).clamp(0.0, 1.0);
                }
            }
            let measured = sum / 256.0;
            println!("sheet of {thickness} at {offset}: {measured:.3} of {held:.3} voxels");
            // Below a voxel the grid can say that there is a sheet, but hardly how thick it is.
            let tolerance = if thickness < 1.0 { 0.45 } else { 0.25 };
            assert!((measured - held).abs() < tolerance, "{thickness} at {offset}: {measured} of {held}");
        }
    }
}
