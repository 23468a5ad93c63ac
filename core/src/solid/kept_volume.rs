//! Keeps the volume of a body on a fluid's lattice.

use crate::grid::{Grid, Transform};
use crate::levelset::SignedDistance;
use crate::levelset::fractions::cell_inside;
use glam::{DMat3, DQuat, DVec3, EulerRot, IVec3};
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::sync::Arc;

/// A lattice sees a body by its distances at nodes: it cuts off edges and flattens what is round. Without its own volume a body
/// floats too deep.
///
/// Returns the body with its surface moved outwards, evenly, so that `lattice`, that of a fluid's cells, sees `volume` m³ of it. A
/// body that the lattice hardly sees grows by half a voxel at most, and never by more than half of the band of its distance.
///
/// `place` puts the distance into the world; it preserves lengths. A body that is [seen anew](is_seen_anew) in every place has its
/// volume there; a larger one, of which less is cut off, has it as the mean over some places and turns.
pub fn with_volume(
    sdf: &SignedDistance,
    place: &Transform,
    lattice: &Transform,
    volume: f64,
) -> SignedDistance {
    let h = lattice.voxel_size();
    let poses: Vec<Pose> = match is_seen_anew(sdf, place, h) {
        true => vec![Pose::of(sdf, h, &Nodes::at(place, lattice))],
        false => (0..POSES).into_par_iter().map(|n| Pose::of(sdf, h, &Nodes::turned(place, h, n))).collect(),
    };
    let seen = |outward: f64| {
        let sum: f64 = poses.iter().map(|pose| pose.volume(outward)).sum();
        sum / poses.len() as f64 * h.powi(3)
    };
    // The volume grows with the surface; the secant through both ends is drawn in by halving [Dowell and Jarratt 1971].
    let most = 0.5 * h.min(f64::from(sdf.grid.background));
    let [mut low, mut high] = [-most, most];
    let (mut below, mut above) = (seen(low) - volume, seen(high) - volume);
    if below >= 0.0 || above <= 0.0 {
        return moved(sdf, if above <= 0.0 { most } else { -most });
    }
    for _ in 0..20 {
        let middle = low - below * (high - low) / (above - below);
        let there = seen(middle) - volume;
        if there.abs() <= 1e-5 * volume {
            return moved(sdf, middle);
        }
        if there < 0.0 {
            (low, below, above) = (middle, there, 0.5 * above);
        } else {
            (high, above, below) = (middle, there, 0.5 * below);
        }
    }
    moved(sdf, 0.5 * (low + high))
}

/// The same with its surface moved outwards, m.
fn moved(sdf: &SignedDistance, outward: f64) -> SignedDistance {
    let values = sdf.grid.values.iter().map(|phi| phi - outward as f32).collect();
    // Far away nothing changes, or what is inside would depend on where leaves end.
    SignedDistance::new(Grid {
        topology: Arc::clone(&sdf.grid.topology),
        values,
        background: sdf.grid.background,
    })
}

/// Places and turns of the body on the lattice. Half of them are not turned: crates lie flat.
const POSES: u32 = 8;
/// The volume of a body's bounds, voxels, up to which it is looked at in every place. What edges cut off falls with its square: a
/// cube of 16 voxels that lies on faces is seen 0.8 % larger than in the mean.
const SMALL: f64 = 40.0 * 40.0 * 40.0;
/// Cells farther from the surface than this, voxels, are whole whatever it is moved by.
const NEAR: f32 = 2.0;

/// Whether [`with_volume`] depends on the place of a body, on a lattice of voxels of `h` m.
pub fn is_seen_anew(sdf: &SignedDistance, place: &Transform, h: f64) -> bool {
    let Some((low, high)) = surroundings(sdf, h) else { return false };
    let size = (high - low).as_dvec3() * place.voxel_size() / h;
    size.element_product() <= SMALL
}

/// Lowest and highest voxel of a distance from which the surface, moved by a voxel of `h` m of a fluid, can be seen.
fn surroundings(sdf: &SignedDistance, h: f64) -> Option<(IVec3, IVec3)> {
    let grid = &sdf.grid;
    let (mut low, mut high) = (IVec3::MAX, IVec3::MIN);
    let reach = (NEAR * h as f32).min(grid.background);
    for (slot, &phi) in grid.values.iter().enumerate() {
        if phi < reach {
            let c = grid.topology.coord(slot);
            (low, high) = (low.min(c), high.max(c));
        }
    }
    (low.x <= high.x).then_some((low, high))
}

/// Nodes of a fluid's lattice in the index space of a distance.
struct Nodes {
    linear: DMat3,
    first: DVec3,
}

impl Nodes {
    /// Of a lattice, given by its cells.
    fn at(place: &Transform, lattice: &Transform) -> Self {
        let to_index = place.linear.inverse();
        let first = lattice.to_world(DVec3::splat(-0.5)) - place.translation;
        Self { linear: to_index * lattice.linear, first: to_index * first }
    }

    /// Of a lattice of voxels of `h` m, one of several places and turns. Additive recurrences of the golden ratio's kind fill the
    /// cube of shifts and turns evenly [Roberts 2018].
    fn turned(place: &Transform, h: f64, n: u32) -> Self {
        let at = |g: f64| (0.5 + f64::from(n) * g).fract();
        let turn = match n < POSES / 2 {
            true => DQuat::IDENTITY,
            false => DQuat::from_euler(EulerRot::XYZ, TAU * at(0.7549), TAU * at(0.5698), TAU * at(0.4302)),
        };
        let shift = DVec3::new(at(0.8192), at(0.6711), at(0.5497));
        let to_index = place.linear.inverse();
        let back = DMat3::from_quat(turn.inverse());
        Self { linear: to_index * back * h, first: to_index * (back * (-shift * h) - place.translation) }
    }
}

/// What a lattice sees of a body in a place.
struct Pose {
    /// Voxel, m.
    h: f64,
    /// Cells inside, far from the surface.
    whole: usize,
    /// φ at the corners of the cells near it, voxels.
    near: Vec<[f32; 8]>,
}

impl Pose {
    fn of(sdf: &SignedDistance, h: f64, nodes: &Nodes) -> Self {
        let mut pose = Self { h, whole: 0, near: Vec::new() };
        let Some((low, high)) = surroundings(sdf, h) else { return pose };
        let to_node = nodes.linear.inverse();
        let corners = |k: i32| {
            let of = |axis: usize| f64::from(if k >> axis & 1 == 0 { low[axis] - 1 } else { high[axis] + 1 });
            to_node * (DVec3::new(of(0), of(1), of(2)) - nodes.first)
        };
        let (least, most) =
            (0..8).map(corners).fold((DVec3::MAX, DVec3::MIN), |(a, b), p| (a.min(p), b.max(p)));
        let (first, last) = (least.floor().as_ivec3(), most.ceil().as_ivec3());
        let size = (last - first + 1).as_usizevec3();
        let mut sampler = sdf.sampler();
        let mut slab = |x: i32| -> Vec<f32> {
            let mut phi = Vec::with_capacity(size.y * size.z);
            for y in first.y..=last.y {
                for z in first.z..=last.z {
                    let node = IVec3::new(x, y, z).as_dvec3();
                    phi.push(sampler.distance(nodes.linear * node + nodes.first) / h as f32);
                }
            }
            phi
        };
        let mut before = slab(first.x);
        for x in first.x + 1..=last.x {
            let next = slab(x);
            for y in 0..size.y - 1 {
                for z in 0..size.z - 1 {
                    let from = y * size.z + z;
                    let corner = |k: usize| {
                        let at = from + (k >> 1 & 1) * size.z + (k >> 2);
                        if k & 1 == 0 { before[at] } else { next[at] }
                    };
                    let phi: [f32; 8] = std::array::from_fn(corner);
                    if phi.iter().all(|&p| p < -NEAR) {
                        pose.whole += 1;
                    } else if phi.iter().any(|&p| p < NEAR) {
                        pose.near.push(phi);
                    }
                }
            }
            before = next;
        }
        pose
    }

    /// The volume, cells, with the surface moved outwards, m.
    fn volume(&self, outward: f64) -> f64 {
        let outward = (outward / self.h) as f32;
        let cut = |phi: &[f32; 8]| f64::from(cell_inside(phi.map(|p| p - outward)));
        self.whole as f64 + self.near.iter().map(cut).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn sampled(h: f64, distance: impl Fn(DVec3) -> f64 + Sync) -> (SignedDistance, Transform) {
        let transform = Transform::uniform(h, DVec3::splat(0.13 * h));
        let most = IVec3::splat((1.2 / h).ceil() as i32);
        (SignedDistance::from_fn(&transform, -most, most, 4.0, distance), transform)
    }

    /// Its volume on a lattice of `h` in places that are not those of the poses, m³.
    fn mean_volume(sdf: &SignedDistance, transform: &Transform, h: f64) -> f64 {
        let poses =
            (100..120).map(|n| Pose::of(sdf, h, &Nodes::turned(transform, h, n)).volume(0.0) * h.powi(3));
        poses.sum::<f64>() / 20.0
    }

    #[test]
    fn round_and_sharp_bodies_keep_their_volume_on_coarse_lattices() {
        let half = DVec3::new(0.8, 0.5, 0.65);
        let cuboid = move |p: DVec3| {
            let q = p.abs() - half;
            q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
        };
        let exact = [4.0 / 3.0 * PI * 0.9f64.powi(3), 8.0 * half.element_product()];
        for division in [0.05, 0.1, 0.2] {
            let ball = sampled(division, |p| p.length() - 0.9);
            let forms = [ball, sampled(division, cuboid)];
            for ((sdf, transform), volume) in forms.iter().zip(exact) {
                for h in [0.08, 0.15, 0.3] {
                    let before = mean_volume(sdf, transform, h) / volume - 1.0;
                    for shift in [0.0, 0.3, 0.5] {
                        let lattice = Transform::uniform(h, DVec3::splat(shift * h));
                        let kept = with_volume(sdf, transform, &lattice, volume);
                        let seen = Pose::of(&kept, h, &Nodes::at(transform, &lattice)).volume(0.0);
                        let after = seen * h.powi(3) / volume - 1.0;
                        println!("division {division}, voxel {h}, {shift}: {before:+.4} {after:+.4}");
                        assert!(is_seen_anew(sdf, transform, h) && after.abs() < 5e-4, "{before} {after}");
                    }
                }
            }
        }
    }

    /// Of one that is too large to be looked at in every place, the mean is right.
    #[test]
    fn large_bodies_keep_their_volume_in_the_mean() {
        let (sdf, transform) = sampled(0.05, |p| p.length() - 0.9);
        let (h, volume) = (0.04, 4.0 / 3.0 * PI * 0.9f64.powi(3));
        assert!(!is_seen_anew(&sdf, &transform, h));
        let kept = with_volume(&sdf, &transform, &Transform::uniform(h, DVec3::ZERO), volume);
        let after = mean_volume(&kept, &transform, h) / volume - 1.0;
        assert!(after.abs() < 1e-3, "{after}");
    }

    #[test]
    fn a_body_that_the_lattice_does_not_see_grows_by_half_a_voxel() {
        let (sdf, transform) = sampled(0.1, |p| p.length() - 0.1);
        let kept = with_volume(&sdf, &transform, &Transform::uniform(0.3, DVec3::ZERO), 1.0);
        let at = transform.to_index(DVec3::new(0.1, 0.0, 0.0));
        let grown = sdf.sampler().distance(at) - kept.sampler().distance(at);
        assert!((grown - 0.15).abs() < 1e-6, "{grown}");
    }
}
