//! Grains: the particles near the surface, each with the ellipsoid that it spreads its volume over.

use super::depths::{DEEP, Depth};
use super::drops::Drops;
use super::neighbours::Neighbours;
use super::{Frame, Liquid};
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
    /// How much the liquid around it is thinner than the level set shows: 0 to 1.
    pub(super) thin: f32,
    /// K⁻¹: the ellipsoid is xᵀ K⁻¹ x ≤ 1.
    shape: Mat3,
    /// V C / √det K.
    amplitude: f32,
    /// How far it brings the surface outwards because the lattice shows nothing thinner.
    pub(super) fat: f32,
    /// Where the particle is that it is an image of, if it is one.
    image_of: Option<DVec3>,
}

/// ∫ C (1 − r⁶)² over the unit ball is 1.
const NORMALISATION: f32 = 0.447_62;

/// Least half-axis² of a grain, spacings²: the ball of a lone particle then encloses the particle's volume. With
/// x = volume / volume of the kernel's support, the kernel is a half there if 15/8 x (1 − x²)² = 1/2, hence x = 0.342 and
/// half-axis² = (3 / 4πx)^⅔ spacing². A thread and a sheet of single particles then have theirs within 3 per cent. A sheet
/// of particles that lie anywhere in its thickness has its own whatever the grains, as long as their half-axes along its normal
/// are less than the thickness.
const LEAST_AXIS: f32 = 0.787;

/// Half-axes squared by the covariance of the places around: along a thread and a sheet 1.6 spacings, 1.2 in a clump of
/// thirty particles.
const AXES_BY_COVARIANCE: f32 = 4.0;

/// The same of particles that lie outside of thick liquid, with their own covariance, spacing²/12: they are spread widely, so
/// that the surface is calm.
const AXES_OF_STRAYS: f32 = 9.445;

/// Half-axis, in voxels of the lattice, below which a sheet or thread may pass between the lattice's places: it then is
/// 0.85 voxels from its middle to its surface, √3/2 being the farthest that a plane through a cube is from all of its corners.
const SHOWN: f32 = 1.5;

/// How far the surface is moved by a longer half-axis: what of it lies inside where the kernel is a half, in a sheet and in
/// a thread.
const FATTENED: f32 = 0.6;

/// Least share at a particle's own place.
const OWN_SHARE: f32 = 0.7;

/// Most that a grain is raised to have that.
const MOST_RAISED: f32 = 4.0;

/// Distance within which particles say what the liquid around one looks like, in spacings.
pub(super) const AROUND: f32 = 2.5;

/// Half-axis along the normal of grains below the surface, in the liquid's voxels: half of the support of the kernel
/// that makes the level set is 0.75.
const NORMAL_AXIS: f32 = 1.0;

/// Half-axes² along the surface by that along its normal. Spreading along the normal moves a curved surface inwards by
/// 2σₙ²/R (the mass that comes from outside is spread over larger spheres), spreading along the surface moves it outwards
/// by σₜ²/R. They cancel at 2, for spheres and for cylinders.
const FLATNESS: f32 = 2.0;

impl Grain {
    fn new(at: DVec3, velocity: Vec3, volume: f32, axes: Mat3, bulk: f32, thin: f32) -> Self {
        let amplitude = volume * NORMALISATION / axes.determinant().sqrt();
        let least = SHOWN * thin;
        let (shown, thinnest) = at_least(axes, least * least);
        let fat = FATTENED * (least - thinnest.sqrt()).max(0.0);
        let reach = Vec3::new(shown.x_axis.x, shown.y_axis.y, shown.z_axis.z).map(f32::sqrt);
        Self { at, reach, velocity, bulk, thin, shape: shown.inverse(), amplitude, fat, image_of: None }
    }

    /// Share of the space at `offset` from it that it fills: V C (1 − q³)² / √det K, q = xᵀ K⁻¹ x.
    #[inline(always)]
    pub(super) fn share(&self, offset: Vec3) -> f32 {
        let q = offset.dot(self.shape * offset);
        let fall = 1.0 - q * q * q;
        if q < 1.0 { self.amplitude * fall * fall } else { 0.0 }
    }

    /// The share there and its change over a voxel along each axis.
    pub(super) fn share_and_slope(&self, offset: Vec3) -> (f32, Vec3) {
        let towards = self.shape * offset;
        let q = offset.dot(towards);
        if q >= 1.0 {
            return (0.0, Vec3::ZERO);
        }
        let fall = 1.0 - q * q * q;
        (self.amplitude * fall * fall, towards * (-12.0 * self.amplitude * fall * q * q))
    }

    /// Its mirror image in a wall at `distance` with a unit normal.
    fn mirrored(&self, distance: f64, normal: DVec3) -> Self {
        let n = normal.as_vec3();
        let mirror = Mat3::IDENTITY - outer(n) * 2.0;
        let shape = mirror * self.shape * mirror;
        let axes = shape.inverse();
        let reach = Vec3::new(axes.x_axis.x, axes.y_axis.y, axes.z_axis.z).map(f32::sqrt);
        let velocity = mirror * self.velocity;
        let at = self.at - normal * (2.0 * distance);
        Self { at, reach, velocity, shape, image_of: Some(self.particle()), ..*self }
    }

    /// Place of its particle.
    pub(super) fn particle(&self) -> DVec3 {
        self.image_of.unwrap_or(self.at)
    }
}

fn outer(v: Vec3) -> Mat3 {
    Mat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// The grains of a liquid without the particles that are drops, and their images in walls: a surface goes on into a wall
/// as it meets it, and stays level there.
pub(super) fn of(
    liquid: &Liquid,
    solids: &Solids,
    frame: &Frame,
    places: &[DVec3],
    depths: &[Depth],
    drops: &Drops,
) -> Vec<Grain> {
    let farthest = (DEEP + NORMAL_AXIS * FLATNESS.sqrt()) * frame.cell;
    let active: Vec<usize> =
        (0..places.len()).filter(|&n| depths[n].distance > -farthest && !drops.holds(n)).collect();
    let at: Vec<DVec3> = active.iter().map(|&n| places[n]).collect();
    let neighbours = Neighbours::new(&at, f64::from(AROUND * frame.spacing));
    let seeded = frame.spacing.powi(3);
    let grain = |&n: &usize| {
        let mass = liquid.mass_share.get(n).map_or(1.0, |&[share]| share);
        let (bulk, thin) = (depths[n].bulk(frame), depths[n].thin(frame));
        let least = LEAST_AXIS * (frame.spacing * mass.cbrt()).powi(2);
        let own = || {
            let wide = covariance(places[n], &at, &neighbours, frame);
            let stray = wide + Mat3::from_diagonal(Vec3::splat(frame.spacing.powi(2) / 12.0));
            at_least(wide * AXES_BY_COVARIANCE, least).0 * thin + stray * (AXES_OF_STRAYS * (1.0 - thin))
        };
        let axes = match bulk {
            1.0 => flat(depths[n].normal, frame),
            0.0 => own(),
            bulk => flat(depths[n].normal, frame) * bulk + own() * (1.0 - bulk),
        };
        let velocity = Vec3::from(liquid.particle_velocity[n]);
        Grain::new(places[n], velocity, mass * seeded, axes, bulk, thin)
    };
    let made: Vec<Grain> = active.par_iter().with_min_len(256).map(grain).collect();
    let mut grains: Vec<Grain> =
        made.par_iter().with_min_len(256).map(|grain| raised(grain, &made, &neighbours)).collect();
    let images: Vec<Vec<Grain>> =
        grains.par_chunks(1024).map(|grains| images(grains, solids, frame)).collect();
    grains.extend(images.into_iter().flatten());
    grains
}

/// A grain of thin liquid, so much higher that there is liquid at its own place, however far from others it is.
fn raised(grain: &Grain, all: &[Grain], neighbours: &Neighbours) -> Grain {
    if grain.thin == 0.0 {
        return *grain;
    }
    let of_all = neighbours.around(grain.at).map(|n| all[n].share((grain.at - all[n].at).as_vec3()));
    let raise = (OWN_SHARE / of_all.sum::<f32>()).clamp(1.0, MOST_RAISED);
    Grain { amplitude: grain.amplitude * (1.0 + (raise - 1.0) * grain.thin), ..*grain }
}

/// With eigenvalues that are not less than some, and the least that there was.
fn at_least(m: Mat3, least: f32) -> (Mat3, f32) {
    let eigen = nalgebra::Matrix3::from_column_slice(&m.to_cols_array()).symmetric_eigen();
    let thinnest = eigen.eigenvalues.min();
    if thinnest >= least {
        return (m, thinnest);
    }
    let column = |n: usize| {
        let axis = eigen.eigenvectors.column(n);
        outer(Vec3::new(axis[0], axis[1], axis[2])) * eigen.eigenvalues[n].max(least)
    };
    (column(0) + column(1) + column(2), thinnest)
}

/// Half-axes² of grains below a surface with that normal.
fn flat(normal: Vec3, frame: &Frame) -> Mat3 {
    let axis = (NORMAL_AXIS * frame.cell).max(1.0).powi(2);
    (Mat3::from_diagonal(Vec3::splat(FLATNESS)) - outer(normal) * (FLATNESS - 1.0)) * axis
}

/// Covariance of the places around one, voxels²: Σ w (x − x̄)(x − x̄)ᵀ / Σ w with w = (1 − (r/R)²)³ [Yu and Turk 2013, Eq. 9].
fn covariance(at: DVec3, places: &[DVec3], neighbours: &Neighbours, frame: &Frame) -> Mat3 {
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
    // It is among them itself.
    let mean = sum / weight;
    squares * (1.0 / weight) - outer(mean)
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
