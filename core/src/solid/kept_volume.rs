//! Keeps the volume of a body on a fluid's lattice.

use crate::grid::{Grid, Transform};
use crate::levelset::SignedDistance;
use crate::levelset::fractions::cell_inside;
use glam::{DQuat, DVec3, EulerRot, IVec3};
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::sync::Arc;

/// A lattice sees a body by its distances at nodes: it cuts off edges and flattens what is round. Without its own volume a body
/// floats too deep.
///
/// Returns the body with its surface moved outwards, evenly, so that a lattice of voxels of `h` m sees `volume` m³: the mean
/// over some places and turns. A body that the lattice hardly sees grows by half a voxel at most, and never by more than half
/// of the band of its distance.
///
/// `transform` places the distance in a frame of its own; it preserves lengths.
pub fn with_volume(sdf: &SignedDistance, transform: &Transform, volume: f64, h: f64) -> SignedDistance {
    let poses: Vec<Pose> = (0..POSES).into_par_iter().map(|n| Pose::of(sdf, transform, h, n)).collect();
    let seen = |outward: f64| {
        let sum: f64 = poses.iter().map(|pose| pose.volume(outward)).sum();
        sum / f64::from(POSES) * h.powi(3)
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
/// Cells farther from the surface than this, voxels, are whole whatever it is moved by.
const NEAR: f32 = 2.0;

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
    fn of(sdf: &SignedDistance, transform: &Transform, h: f64, n: u32) -> Self {
        let mut pose = Self { h, whole: 0, near: Vec::new() };
        let Some((low, high)) = sdf.bounds() else { return pose };
        // Additive recurrences of the golden ratio's kind fill the cube of shifts and turns evenly [Roberts 2018].
        let at = |g: f64| (0.5 + f64::from(n) * g).fract();
        let turn = match n < POSES / 2 {
            true => DQuat::IDENTITY,
            false => DQuat::from_euler(EulerRot::XYZ, TAU * at(0.7549), TAU * at(0.5698), TAU * at(0.4302)),
        };
        let shift = DVec3::new(at(0.8192), at(0.6711), at(0.5497));
        let corners = |k: i32| {
            let of = |axis: usize| f64::from(if k >> axis & 1 == 0 { low[axis] - 1 } else { high[axis] + 1 });
            turn * transform.to_world(DVec3::new(of(0), of(1), of(2))) / h + shift
        };
        let (least, most) =
            (0..8).map(corners).fold((DVec3::MAX, DVec3::MIN), |(a, b), p| (a.min(p), b.max(p)));
        let (first, last) = (least.floor().as_ivec3(), most.ceil().as_ivec3());
        let size = (last - first + 1).as_usizevec3();
        let to_index = transform.linear.inverse();
        let mut sampler = sdf.sampler();
        let mut slab = |x: i32| -> Vec<f32> {
            let mut phi = Vec::with_capacity(size.y * size.z);
            for y in first.y..=last.y {
                for z in first.z..=last.z {
                    let node = IVec3::new(x, y, z).as_dvec3();
                    let place = turn.inverse() * ((node - shift) * h);
                    phi.push(sampler.distance(to_index * (place - transform.translation)) / h as f32);
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
        let poses = (100..120).map(|n| Pose::of(sdf, transform, h, n).volume(0.0) * h.powi(3));
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
                    let kept = with_volume(sdf, transform, volume, h);
                    let after = mean_volume(&kept, transform, h) / volume - 1.0;
                    println!("division {division}, voxel {h}: {before:+.4} {after:+.4}");
                    // Of a box of three voxels an edge is seen differently in every place.
                    assert!(after.abs() < 0.02 * (h / 0.3).powi(2) + 1e-3, "{before} {after}");
                }
            }
        }
    }

    #[test]
    fn a_body_that_the_lattice_does_not_see_grows_by_half_a_voxel() {
        let (sdf, transform) = sampled(0.1, |p| p.length() - 0.1);
        let kept = with_volume(&sdf, &transform, 1.0, 0.3);
        let at = transform.to_index(DVec3::new(0.1, 0.0, 0.0));
        let grown = sdf.sampler().distance(at) - kept.sampler().distance(at);
        assert!((grown - 0.15).abs() < 1e-6, "{grown}");
    }
}
