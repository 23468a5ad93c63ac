//! Grains: the particles near the surface, each with the ellipsoid that it spreads its volume over.

use super::drops::Drops;
use super::neighbours::Neighbours;
use super::{Frame, Liquid, depths};
use crate::solid::{Side, Solids};
use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

/// A particle and its ellipsoid; lengths in voxels of the lattice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grain {
    /// Place.
    pub(super) at: DVec3,
    /// Half of its bounding box.
    pub(super) reach: Vec3,
    /// Velocity, m/s.
    pub(super) velocity: Vec3,
    /// How much it belongs to liquid that the level set shows: 0 to 1.
    pub(super) bulk: f32,
    /// K⁻¹: the ellipsoid is xᵀ K⁻¹ x ≤ 1.
    shape: Mat3,
    /// V C / √det K.
    amplitude: f32,
}

/// ∫ C (1 − r⁶)² over the unit ball is 1.
const NORMALISATION: f32 = 0.447_62;

/// Half-axes squared by covariance: so large that the ball of a lone particle, whose covariance is taken to be that of a
/// cube, spacing²/12, encloses the particle's volume. With x = volume / volume of the kernel's support, the kernel is
/// a half there if 15/8 x (1 − x²)² = 1/2, hence x = 0.342 and half-axis² = (3 / 4πx)^⅔ spacing². A thread and a
/// sheet of single particles then have theirs within 3 per cent.
const AXES_BY_COVARIANCE: f32 = 9.445;

/// Distance within which particles say what the liquid around one looks like, in spacings.
pub(super) const AROUND: f32 = 2.5;

/// Half-axis along the normal of grains below the surface, in the liquid's voxels: half of the support of the kernel
/// that makes the level set is 0.75.
const NORMAL_AXIS: f32 = 1.0;

/// Half-axes² along the surface by that along its normal. Spreading along the normal moves a curved surface inwards by
/// 2σₙ²/R (the mass that comes from outside is spread over larger spheres), spreading along the surface moves it outwards
/// by σₜ²/R. They cancel at 2, for spheres and for cylinders.
const FLATNESS: f32 = 2.0;

/// Depth from which the level set alone says that there is liquid, in the liquid's voxels.
pub(super) const DEEP: f32 = 1.5;

impl Grain {
    fn new(at: DVec3, velocity: Vec3, volume: f32, axes: Mat3, bulk: f32) -> Self {
        let reach = Vec3::new(axes.x_axis.x, axes.y_axis.y, axes.z_axis.z).map(f32::sqrt);
        let amplitude = volume * NORMALISATION / axes.determinant().sqrt();
        Self { at, reach, velocity, bulk, shape: axes.inverse(), amplitude }
    }

    /// Share of the space at `offset` from it that it fills: V C (1 − q³)² / √det K, q = xᵀ K⁻¹ x.
    #[inline(always)]
    pub(super) fn share(&self, offset: Vec3) -> f32 {
        let q = offset.dot(self.shape * offset);
        let fall = 1.0 - q * q * q;
        if q < 1.0 { self.amplitude * fall * fall } else { 0.0 }
    }

    /// Its mirror image in a wall at `distance` with a unit normal.
    fn mirrored(&self, distance: f64, normal: DVec3) -> Self {
        let n = normal.as_vec3();
        let mirror = Mat3::IDENTITY - outer(n) * 2.0;
        let shape = mirror * self.shape * mirror;
        let axes = shape.inverse();
        let reach = Vec3::new(axes.x_axis.x, axes.y_axis.y, axes.z_axis.z).map(f32::sqrt);
        let velocity = mirror * self.velocity;
        Self { at: self.at - normal * (2.0 * distance), reach, velocity, shape, ..*self }
    }
}

fn outer(v: Vec3) -> Mat3 {
    Mat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// The grains of a liquid without the particles that are drops, and their images in walls: a surface goes on into a wall
/// as it meets it, and stays level there.
pub(super) fn of(liquid: &Liquid, solids: &Solids, frame: &Frame, drops: &Drops) -> Vec<Grain> {
    let places: Vec<DVec3> = liquid.position.par_iter().map(|&p| frame.place(p)).collect();
    let depths = depths::sample(liquid, frame, &places);
    let farthest = (DEEP + NORMAL_AXIS * FLATNESS.sqrt()) * frame.cell;
    let active: Vec<usize> =
        (0..places.len()).filter(|&n| depths[n].0 > -farthest && !drops.holds(n)).collect();
    // Deep particles far from any others' thin parts need no look around.
    let near: Vec<usize> = (0..places.len()).filter(|&n| depths[n].0 > -2.0 * frame.cell).collect();
    let around: Vec<DVec3> = near.iter().map(|&n| places[n]).collect();
    let neighbours = Neighbours::new(&around, f64::from(AROUND * frame.spacing));
    let seeded = frame.spacing.powi(3);
    let grain = |&n: &usize| {
        let mass = liquid.mass_share.get(n).map_or(1.0, |&[share]| share);
        let (depth, normal, steepness) = depths[n];
        let bulk = bulk(depth / frame.cell, steepness);
        let flat = || flat(normal, frame);
        let axes = match bulk {
            1.0 => flat(),
            0.0 => AXES_BY_COVARIANCE * covariance(places[n], &around, &neighbours, frame, mass),
            bulk => {
                let own = AXES_BY_COVARIANCE * covariance(places[n], &around, &neighbours, frame, mass);
                flat() * bulk + own * (1.0 - bulk)
            }
        };
        // What is finer than the lattice would be seen in some of its voxels only.
        let least = (1.0 - (0.9 * frame.spacing).powi(2)).max(0.0);
        let axes = axes + Mat3::from_diagonal(Vec3::splat(least));
        let velocity = Vec3::from(liquid.particle_velocity[n]);
        Grain::new(places[n], velocity, mass * seeded, axes, bulk)
    };
    let mut grains: Vec<Grain> = active.par_iter().with_min_len(256).map(grain).collect();
    let images: Vec<Vec<Grain>> =
        grains.par_chunks(1024).map(|grains| images(grains, solids, frame)).collect();
    grains.extend(images.into_iter().flatten());
    grains
}

/// How much a particle belongs to liquid that the level set shows, from its signed distance in the liquid's voxels and the
/// length of its gradient. In the middle of a sheet or drop finer than that, the gradient vanishes.
fn bulk(distance: f32, steepness: f32) -> f32 {
    if distance < -1.0 {
        return 1.0;
    }
    smooth(1.0 - 2.0 * distance) * smooth(2.0 * steepness - 0.5)
}

/// Half-axes² of grains below a surface with that normal.
fn flat(normal: Vec3, frame: &Frame) -> Mat3 {
    let axis = (NORMAL_AXIS * frame.cell).powi(2);
    (Mat3::from_diagonal(Vec3::splat(FLATNESS)) - outer(normal) * (FLATNESS - 1.0)) * axis
}

/// Covariance of the liquid around a particle, voxels²: Σ w (x − x̄)(x − x̄)ᵀ / Σ w with w = (1 − (r/R)²)³
/// [Yu and Turk 2013, Eq. 9], and that of the particle itself.
fn covariance(at: DVec3, places: &[DVec3], neighbours: &Neighbours, frame: &Frame, mass: f32) -> Mat3 {
    let reach = AROUND * frame.spacing;
    let (mut weight, mut sum, mut squares) = (0.0, Vec3::ZERO, Mat3::ZERO);
    for n in neighbours.around(at) {
        let arm = (places[n] - at).as_vec3();
        let fall = 1.0 - arm.length_squared() / (reach * reach);
        if fall > 0.0 {
            let w = fall * fall * fall;
            weight += w;
            sum += arm * w;
            squares += outer(arm) * w;
        }
    }
    let own = Mat3::from_diagonal(Vec3::splat(frame.spacing.powi(2) * mass.powf(2.0 / 3.0) / 12.0));
    if weight <= 0.0 {
        return own;
    }
    let mean = sum / weight;
    squares * (1.0 / weight) - outer(mean) + own
}

/// The images of grains in the walls that they reach into: in each closed side of the domain, also of images in others, so
/// that corners are filled, and in the nearest collider.
fn images(grains: &[Grain], solids: &Solids, frame: &Frame) -> Vec<Grain> {
    let mut probe = solids.probe();
    let mut made = Vec::new();
    let sides: Vec<usize> = (0..6).filter(|&s| solids.domain.sides[s] == Side::Closed).collect();
    for grain in grains {
        let world = frame.world(grain.at);
        let far = f64::from(grain.reach.max_element()) * frame.voxel;
        let first = made.len();
        for &side in &sides {
            let distance = solids.domain.side_distance(side, world);
            if distance < far && distance > 0.0 {
                let normal = crate::solid::DomainLimits::normal(side);
                let mirrored = |g: &Grain| g.mirrored(distance / frame.voxel, normal);
                let of_images: Vec<Grain> = made[first..].iter().map(mirrored).collect();
                made.push(mirrored(grain));
                made.extend(of_images);
            }
        }
        let distance = probe.distance(world);
        let is_wall = solids.domain.distance(world) <= distance;
        if distance < far && distance > 0.0 && !is_wall {
            made.push(grain.mirrored(distance / frame.voxel, probe.normal(world)));
        }
    }
    made
}

/// 3x² − 2x³ between 0 and 1.
pub(super) fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
