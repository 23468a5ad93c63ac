//! Drops of a few particles. They are finer than the lattice, which would show them in one frame and not in the next;
//! each becomes an ellipsoid with the covariance of its particles and exactly their volume.

use super::depths::Depth;
use super::neighbours::Neighbours;
use super::{Frame, Liquid, RenderSurface};
use crate::union_find::DisjointSets;
use glam::{DVec3, Mat3, Vec3};
use std::f32::consts::PI;

/// Most particles in a drop of its own: larger ones have a level set.
const MOST: usize = 27;

/// Distance at which particles are one drop, in spacings: the balls of two particles touch at 1.24.
const LINK: f32 = 1.5;

/// The drops.
#[derive(Default)]
pub(super) struct Drops {
    /// Whether a particle belongs to one.
    is_drop: Vec<bool>,
    drops: Vec<Drop>,
}

/// A drop; lengths in voxels of the lattice.
struct Drop {
    at: DVec3,
    velocity: Vec3,
    /// What makes the unit sphere the ellipsoid.
    shape: Mat3,
    volume: f32,
}

impl Drops {
    /// Whether that particle belongs to a drop.
    pub(super) fn holds(&self, particle: usize) -> bool {
        self.is_drop.get(particle).is_some_and(|&is| is)
    }

    /// Volume of all, voxels.
    pub(super) fn volume(&self) -> f64 {
        self.drops.iter().map(|d| f64::from(d.volume)).sum()
    }

    /// Adds their triangles.
    pub(super) fn add_to(&self, surface: &mut RenderSurface, frame: &Frame) {
        if self.drops.is_empty() {
            return;
        }
        let (points, triangles) = sphere();
        for drop in &self.drops {
            let first = surface.points.len() as u32;
            let voxel = drop.at.floor();
            let middle = (drop.at - voxel).as_vec3();
            let place = |p: &Vec3| frame.position(voxel.as_ivec3(), middle + drop.shape * *p);
            surface.points.extend(points.iter().map(place));
            surface.velocities.extend(points.iter().map(|_| drop.velocity));
            surface.triangles.extend(triangles.iter().map(|t| t.map(|n| n + first)));
        }
    }
}

/// The drops of a liquid: connected particles outside of the level set that are few and touch nothing else.
pub(super) fn find(liquid: &Liquid, frame: &Frame, places: &[DVec3], depths: &[Depth]) -> Drops {
    let (loose, near): (Vec<usize>, Vec<usize>) = {
        let near: Vec<usize> =
            (0..places.len()).filter(|&n| depths[n].distance > -2.0 * frame.cell).collect();
        (near.iter().copied().filter(|&n| depths[n].distance > 0.0).collect(), near)
    };
    if loose.is_empty() {
        return Drops::default();
    }
    let link = LINK * frame.spacing;
    let at: Vec<DVec3> = near.iter().map(|&n| places[n]).collect();
    let neighbours = Neighbours::new(&at, f64::from(link));
    let mut sets = DisjointSets::new(places.len());
    for &n in &loose {
        let joined = neighbours.around(places[n]).map(|m| near[m]);
        joined
            .filter(|&m| (places[m] - places[n]).length_squared() <= f64::from(link).powi(2))
            .for_each(|m| sets.union(n, m));
    }
    let mut size = vec![0_u32; places.len()];
    let mut is_held = vec![false; places.len()];
    for &n in &near {
        let root = sets.find(n);
        size[root] += 1;
        is_held[root] |= depths[n].distance <= 0.0;
    }
    let mut drops = Drops { is_drop: vec![false; places.len()], drops: Vec::new() };
    let mut members: Vec<(usize, usize)> = Vec::new();
    for &n in &loose {
        let root = sets.find(n);
        if !is_held[root] && size[root] as usize <= MOST {
            drops.is_drop[n] = true;
            members.push((root, n));
        }
    }
    members.sort_unstable();
    let groups = members.chunk_by(|a, b| a.0 == b.0);
    drops.drops = groups.map(|group| drop(liquid, frame, places, group)).collect();
    drops
}

fn drop(liquid: &Liquid, frame: &Frame, places: &[DVec3], members: &[(usize, usize)]) -> Drop {
    let mass = |n: usize| liquid.mass_share.get(n).map_or(1.0, |&[share]| share);
    let all: f32 = members.iter().map(|&(_, n)| mass(n)).sum();
    let share = |n: usize| mass(n) / all;
    let at: DVec3 = members.iter().map(|&(_, n)| places[n] * f64::from(share(n))).sum();
    let velocity = members.iter().map(|&(_, n)| Vec3::from(liquid.particle_velocity[n]) * share(n)).sum();
    let own = frame.spacing.powi(2) / 12.0;
    let mut covariance = Mat3::from_diagonal(Vec3::splat(own));
    for &(_, n) in members {
        let arm = (places[n] - at).as_vec3();
        covariance += Mat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z) * share(n);
    }
    let volume = all * frame.spacing.powi(3);
    let root = cholesky(covariance);
    let unit: f32 = 4.0 / 3.0 * PI * root.determinant();
    Drop { at, velocity, shape: root * (volume / unit).cbrt(), volume }
}

/// The lower triangular L with L Lᵀ = m, of a positive definite m.
fn cholesky(m: Mat3) -> Mat3 {
    let a = m.x_axis.x.sqrt();
    let (b, c) = (m.x_axis.y / a, m.x_axis.z / a);
    let d = (m.y_axis.y - b * b).sqrt();
    let e = (m.y_axis.z - b * c) / d;
    let f = (m.z_axis.z - c * c - e * e).sqrt();
    Mat3::from_cols(Vec3::new(a, b, c), Vec3::new(0.0, d, e), Vec3::new(0.0, 0.0, f))
}

/// An octahedron whose triangles are cut in four, with the volume of the unit ball.
fn sphere() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut points = vec![Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
    let faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    let mut between = std::collections::BTreeMap::new();
    let mut triangles = Vec::new();
    for [a, b, c] in faces {
        let mut middle = |a: u32, b: u32| {
            *between.entry((a.min(b), a.max(b))).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                points.len() as u32 - 1
            })
        };
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        triangles.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    let volume: f32 = triangles
        .iter()
        .map(|t: &[u32; 3]| {
            let [a, b, c] = t.map(|n| points[n as usize]);
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    let grow = (4.0 / 3.0 * PI / volume).cbrt();
    (points.into_iter().map(|p| p * grow).collect(), triangles)
}
