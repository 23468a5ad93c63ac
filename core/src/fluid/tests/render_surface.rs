//! The surface for renderers against shapes that are known: where it lies, what it encloses, how it moves, how still it is.

mod thin;
mod walls;

use super::*;
use crate::fluid::particles::seeding::{Material, Seeding};
use crate::fluid::render_surface::{Liquid, RenderSurface, Settings, SurfaceError, reconstruct};
use crate::fluid::surface::{SurfaceParams, surface, volume};
use crate::grid::sampling::Sampler;
use crate::grid::{FaceGrid, Grid};
use crate::interrupt::Interrupt;
use crate::levelset::redistance;
use crate::solid::{DomainLimits, Side, Solids};
use glam::DQuat;
use std::f64::consts::PI;

const WATER: Material = Material { density: 1000.0, viscosity: 0.001 };

/// Width of the level set's band, voxels.
const BAND: f32 = 3.0;

/// Particles, their level set and their spray, as the solver makes them.
struct Shape {
    particles: Particles,
    level_set: Grid<f32>,
    spray: Grid<f32>,
    velocity: Option<FaceGrid<f32>>,
}

impl Shape {
    fn of(mut particles: Particles) -> Self {
        let cells = sorted(&mut particles);
        let measured = surface(&particles, &cells, None, &transform(), None, None, &SurfaceParams::default());
        let level_set = redistance(&measured, H as f32, BAND);
        let spray = volume::spray(&particles, &cells, &level_set, &transform(), 8.0);
        Self { particles, level_set, spray, velocity: None }
    }

    /// Filled where `inside` holds.
    fn filled(lo: DVec3, hi: DVec3, seed: u64, inside: impl Fn(DVec3) -> bool + Sync) -> Self {
        let mut particles = Particles::new(DVec3::ZERO);
        let seeding = Seeding { seed, ..Seeding::for_voxel(H as f32) };
        seeding.fill(&mut particles, &transform(), (lo, hi), inside, |_| Vec3::ZERO, WATER, &mut 0);
        Self::of(particles)
    }

    fn at(positions: impl Iterator<Item = Vec3>) -> Self {
        let mut particles = Particles::new(DVec3::ZERO);
        positions.enumerate().for_each(|(id, x)| particles.push(particle(x, Vec3::ZERO, id as i64)));
        Self::of(particles)
    }

    fn volume(&self) -> f64 {
        self.particles.len() as f64 * (0.5 * H).powi(3)
    }

    fn try_surface(&self, settings: &Settings, domain: &DomainLimits) -> Result<RenderSurface, SurfaceError> {
        self.among(settings, &Solids { colliders: &[], domain })
    }

    fn among(&self, settings: &Settings, solids: &Solids) -> Result<RenderSurface, SurfaceError> {
        let arrays = |v: &[Vec3]| v.iter().map(|v| v.to_array()).collect::<Vec<_>>();
        let (position, velocity) = (arrays(&self.particles.position), arrays(&self.particles.velocity));
        let liquid = Liquid {
            transform: transform(),
            surface: self.level_set.clone(),
            velocity: self.velocity.clone(),
            separation: 0.5 * H,
            origin: self.particles.origin,
            position: &position,
            particle_velocity: &velocity,
            mass_share: &[],
        };
        reconstruct(&liquid, solids, settings, Interrupt::NEVER)
    }

    fn surface(&self, settings: &Settings) -> RenderSurface {
        let made = self.try_surface(settings, &DomainLimits::unbounded()).expect("a surface");
        assert_closed(&made);
        made
    }
}

/// Every edge belongs to two triangles that run along it in opposite directions, and no triangle is a line.
fn assert_closed(surface: &RenderSurface) {
    let mut edges = std::collections::BTreeMap::new();
    for &[a, b, c] in &surface.triangles {
        assert!(a != b && b != c && c != a);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *edges.entry((from, to)).or_insert(0) += 1;
        }
    }
    for (&(from, to), &count) in &edges {
        let x = surface.points[from as usize];
        assert!(count == 1 && edges.get(&(to, from)) == Some(&1), "edge {from} {to} near {x}");
    }
    assert!(surface.points.iter().chain(&surface.velocities).all(|x| x.is_finite()));
}

fn enclosed(surface: &RenderSurface) -> f64 {
    let p = |n: u32| surface.points[n as usize].as_dvec3();
    surface.triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
}

/// As made, and not moved to have its volume.
fn unmoved() -> Settings {
    Settings { keep_volume: false, ..Settings::default() }
}

/// Mean and deviation of what `height` says of points where it says something.
fn spread(surface: &RenderSurface, height: impl Fn(DVec3) -> Option<f64>) -> (f64, f64) {
    let heights: Vec<f64> = surface.points.iter().filter_map(|x| height(x.as_dvec3())).collect();
    let n = heights.len() as f64;
    assert!(n > 20.0, "{n}");
    let mean = heights.iter().sum::<f64>() / n;
    (mean, (heights.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / n).sqrt())
}

#[test]
fn balls_lie_where_their_particles_end_and_have_their_volume() {
    for radius in [2.0, 3.0, 4.0, 6.0, 10.0] {
        let c = DVec3::new(2.03, 2.07, 1.98);
        let r = radius * H;
        let half = DVec3::splat(r + 0.2);
        let shape = Shape::filled(c - half, c + half, 1, |x| (x - c).length() < r);
        for scale in [0.25, 0.5, 1.0] {
            let raw = shape.surface(&Settings { voxel_scale: scale, ..unmoved() });
            let kept = shape.surface(&Settings { voxel_scale: scale, ..Settings::default() });
            let (mean, rms) = spread(&raw, |x| Some(((x - c).length() - r) / H));
            let exact = 4.0 / 3.0 * PI * r.powi(3);
            let of = |s: &RenderSurface| 100.0 * (enclosed(s) / shape.volume() - 1.0);
            println!(
                "ball {radius} scale {scale}: mean {mean:.3} rms {rms:.3} h, volume {:.2} % of the ball's {:.2} %, kept {:.2} %, {:?}",
                of(&raw),
                100.0 * (enclosed(&raw) / exact - 1.0),
                of(&kept),
                kept.account
            );
            // Coarse voxels do not see small balls whole.
            if scale < 1.0 && radius >= 3.0 {
                let most = if radius < 6.0 { 3.5 } else { 1.0 };
                assert!(
                    mean.abs() < 0.03 && rms < 0.07 && of(&raw).abs() < most,
                    "{mean} {rms} {}",
                    of(&raw)
                );
                assert!(of(&kept).abs() < 1.0, "{}", of(&kept));
            }
        }
    }
}

#[test]
fn slabs_are_flat_at_every_height_and_tilt() {
    for (tilt, depth) in [(0.0, 1.5), (0.0, 1.52), (0.0, 1.56), (0.3, 1.5), (1.0, 1.5)] {
        let normal = DVec3::new(tilt, 1.0, 0.5 * tilt).normalize();
        let middle = DVec3::new(2.0, depth, 2.0);
        let inside = |x: DVec3| ((x - middle).dot(normal)).abs() < 0.5;
        let shape = Shape::filled(DVec3::ZERO, DVec3::splat(4.0), 0, inside);
        let raw = shape.surface(&unmoved());
        let height = |x: DVec3| {
            let from = x - middle;
            let across = from - normal * from.dot(normal);
            (across.length() < 1.0 && from.dot(normal) > 0.0).then(|| (from.dot(normal) - 0.5) / H)
        };
        let (mean, rms) = spread(&raw, height);
        println!("slab tilt {tilt} at {depth}: mean {mean:.4} rms {rms:.4} h");
        assert!(mean.abs() < 0.02 && rms < 0.05, "{mean} {rms}");
    }
}

/// Where a ray from a point leaves a surface, m.
fn ray(surface: &RenderSurface, from: DVec3, along: DVec3) -> f64 {
    let p = |n: u32| surface.points[n as usize].as_dvec3() - from;
    let hit = |&[a, b, c]: &[u32; 3]| {
        let [a, b, c] = [p(a), p(b), p(c)];
        let normal = (b - a).cross(c - a);
        let slope = normal.dot(along);
        if slope <= 0.0 {
            return None;
        }
        let t = a.dot(normal) / slope;
        let x = along * t;
        let is_in = [(a, b), (b, c), (c, a)]
            .iter()
            .all(|(a, b)| (b - a).cross(x - a).dot(normal) >= -1e-9 * normal.length());
        (is_in && t > 0.0).then_some(t)
    };
    surface.triangles.iter().filter_map(hit).fold(f64::NAN, f64::max)
}

/// The same of the level set.
fn ray_old(level_set: &Grid<f32>, from: DVec3, along: DVec3) -> f64 {
    let mut sampler = Sampler::new(&level_set.topology);
    let mut value = |t: f64| sampler.sample(level_set, transform().to_index(from + along * t));
    let (mut a, mut b) = (0.0, 1.0);
    for _ in 0..40 {
        let m = 0.5 * (a + b);
        if value(m) < 0.0 { a = m } else { b = m }
    }
    a
}

/// Root mean square of what changes from one frame to the next in rows of values, one row a frame.
fn flicker(frames: &[Vec<f64>]) -> f64 {
    let changes = frames.windows(2).flat_map(|two| two[0].iter().zip(&two[1]).map(|(a, b)| (a - b).powi(2)));
    let (sum, n) = changes.fold((0.0, 0.0), |(sum, n), c| (sum + c, n + 1.0));
    (sum / n).sqrt()
}

#[test]
fn a_ball_that_flies_and_turns_does_not_flicker() {
    let r = 6.0 * H;
    let start = Shape::filled(DVec3::splat(-1.0), DVec3::splat(1.0), 3, |x| x.length() < r);
    let directions: Vec<DVec3> = (0..200)
        .map(|n| {
            let (z, turn) = (1.0 - (2.0 * n as f64 + 1.0) / 200.0, 2.399963 * n as f64);
            DVec3::new((1.0 - z * z).sqrt() * turn.cos(), (1.0 - z * z).sqrt() * turn.sin(), z)
        })
        .collect();
    let (mut new, mut old, mut volumes, mut old_volumes) = (vec![], vec![], vec![], vec![]);
    for frame in 0..8 {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 0.5).normalize(), 0.13 * frame as f64);
        let middle = DVec3::new(0.0317, 0.0473, 0.0191) * frame as f64;
        let moved = start.particles.position.iter().map(|x| (turn * x.as_dvec3() + middle).as_vec3());
        let shape = Shape::at(moved);
        let made = shape.surface(&unmoved());
        new.push(directions.iter().map(|d| ray(&made, middle, turn * *d) / H).collect::<Vec<_>>());
        old.push(
            directions.iter().map(|d| ray_old(&shape.level_set, middle, turn * *d) / H).collect::<Vec<_>>(),
        );
        volumes.push(vec![enclosed(&made) / shape.volume()]);
        old_volumes.push(vec![
            volume::LiquidVolume::measure(
                &shape.level_set,
                &Grid::from_fn(shape.level_set.topology.clone(), 1.0, |_| 1.0),
                &shape.spray,
                &transform(),
            )
            .surface
                / shape.volume(),
        ]);
    }
    println!(
        "flying: flicker {:.4} h, old {:.4} h; volume {:.5}, old {:.5}",
        flicker(&new),
        flicker(&old),
        flicker(&volumes),
        flicker(&old_volumes)
    );
    assert!(flicker(&new) < 0.04 && flicker(&new) < 0.6 * flicker(&old));
    assert!(flicker(&volumes) < 0.002 && flicker(&volumes) < flicker(&old_volumes));
}

#[test]
fn a_pool_whose_particles_wander_is_calm() {
    let (mut new, mut old) = (vec![], vec![]);
    for frame in 0..6 {
        let shape = Shape::filled(DVec3::ZERO, DVec3::new(2.0, 1.03, 2.0), frame, |_| true);
        let made = shape.surface(&unmoved());
        let places: Vec<DVec3> = (0..100)
            .map(|n| DVec3::new(0.5 + 0.0993 * (n % 10) as f64, 0.5, 0.5 + 0.0993 * (n / 10) as f64))
            .collect();
        new.push(places.iter().map(|x| ray(&made, *x, DVec3::Y) / H).collect::<Vec<_>>());
        old.push(places.iter().map(|x| ray_old(&shape.level_set, *x, DVec3::Y) / H).collect::<Vec<_>>());
    }
    println!("wandering: flicker {:.4} h, old {:.4} h", flicker(&new), flicker(&old));
    assert!(flicker(&new) < 0.035);
}

#[test]
fn surfaces_are_level_at_walls_and_go_on_into_them() {
    let domain = DomainLimits {
        min: DVec3::new(0.03, 0.0, 0.0),
        max: DVec3::splat(2.0),
        sides: [Side::Closed, Side::Closed, Side::Closed, Side::Open, Side::Closed, Side::Closed],
    };
    let shape = Shape::filled(domain.min, DVec3::new(2.0, 1.0, 2.0), 2, |_| true);
    let made = shape.try_surface(&unmoved(), &domain).expect("a surface");
    assert_closed(&made);
    for (name, near) in [
        ("middle", DVec3::new(1.0, 1.0, 1.0)),
        ("wall", DVec3::new(0.03, 1.0, 1.0)),
        ("edge", DVec3::new(0.03, 1.0, 0.0)),
    ] {
        let (mean, rms) = spread(&made, |x| {
            let d = x - near;
            (d.x.abs() < 0.25 && d.z.abs() < 0.25 && x.x > 0.0 && x.z > -0.02 && x.y > 0.5)
                .then(|| (x.y - 1.0) / H)
        });
        println!("{name}: height {mean:.3}, rms {rms:.3}");
        assert!(mean.abs() < 0.1 && rms < 0.15, "{name}: {mean} {rms}");
    }
}
