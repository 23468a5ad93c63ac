//! Keeps the volume of a body on a fluid's lattice, and the middle of it.

use crate::grid::{Grid, Transform};
use crate::levelset::SignedDistance;
use crate::levelset::fractions::cell_inside;
use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, EulerRot, IVec3, Vec4Swizzles};
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::sync::Arc;

/// What a body encloses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosed {
    /// m³.
    pub volume: f64,
    /// Its middle, in the index space of the body's distance; `None` where nobody says.
    pub centroid: Option<DVec3>,
}

/// A lattice sees a body by its distances at nodes: it cuts off edges and flattens what is round. Without its own volume a body
/// floats too deep. Still water pushes each cell that the body is in at the middle of the cell ([`crate::coupling`]), so it pushes
/// the whole a hundredth of a voxel beside its middle, and a body that weighs what it displaces begins to turn.
///
/// Returns the body with its surface moved outwards by a + b·x, so that `lattice`, that of a fluid's cells, sees the volume
/// that it encloses, and the mean of the middles of the cells, each as far as the body fills it, is its centroid: moments of a quadrature
/// fitted to those of the domain [Mueller et al. 2013]. A body that the lattice hardly sees grows evenly by half a voxel at most, and never by more than half of
/// the band of its distance; b is 0 where it would move the surface by more than `MOST_TILT`.
///
/// `place` puts the distance into the world; it preserves lengths. A body that is [seen anew](is_seen_anew) in every place has its
/// volume and middle there; a larger one, of which less is cut off, has its volume as the mean over some places and turns. One that is
/// larger by far stays as it is.
pub fn with_volume(
    sdf: &SignedDistance,
    place: &Transform,
    lattice: &Transform,
    enclosed: Enclosed,
) -> SignedDistance {
    let h = lattice.voxel_size();
    if size(sdf, place, h).is_some_and(|voxels| voxels > LARGE) {
        return sdf.clone();
    }
    let seen_anew = is_seen_anew(sdf, place, h);
    let nodes = Nodes::at(place, lattice);
    let poses: Vec<Pose> = match seen_anew {
        true => vec![Pose::of(sdf, h, &nodes)],
        false => (0..POSES).into_par_iter().map(|n| Pose::of(sdf, h, &Nodes::turned(place, h, n))).collect(),
    };
    let most = 0.5 * h.min(f64::from(sdf.grid.background));
    let even = evenly(&poses, enclosed.volume / h.powi(3), most / h);
    let fitted = match (seen_anew, enclosed.centroid) {
        (true, Some(centroid)) => {
            let middle = nodes.of(centroid);
            poses[0].fitted(enclosed.volume / h.powi(3), middle, [even, most / h]).map(|o| (o, middle))
        }
        _ => None,
    };
    let (outward, middle) = fitted.unwrap_or((Outward::evenly(even), DVec3::ZERO));
    let mut kept = moved(sdf, h, |c| h * outward.at(nodes.of(c) - middle));
    kept.grown = h * even;
    kept
}

/// How far the surface moves for the volume (voxels) to be right in the mean over poses, voxels; `most` at most.
fn evenly(poses: &[Pose], volume: f64, most: f64) -> f64 {
    let seen = |outward: f64| {
        let outward = Outward::evenly(outward);
        poses.iter().map(|pose| pose.volume(outward)).sum::<f64>() / poses.len() as f64
    };
    // The volume grows with the surface; the secant through both ends is drawn in by halving [Dowell and Jarratt 1971].
    let [mut low, mut high] = [-most, most];
    let (mut below, mut above) = (seen(low) - volume, seen(high) - volume);
    if below >= 0.0 || above <= 0.0 {
        return if above <= 0.0 { most } else { -most };
    }
    for _ in 0..20 {
        let middle = low - below * (high - low) / (above - below);
        let there = seen(middle) - volume;
        if there.abs() <= CLOSE * volume {
            return middle;
        }
        if there < 0.0 {
            (low, below, above) = (middle, there, 0.5 * above);
        } else {
            (high, above, below) = (middle, there, 0.5 * below);
        }
    }
    0.5 * (low + high)
}

/// How far the surface moves outwards, voxels, at a place in voxels.
#[derive(Clone, Copy, Debug)]
struct Outward {
    even: f64,
    tilt: DVec3,
}

impl Outward {
    fn evenly(even: f64) -> Self {
        Self { even, tilt: DVec3::ZERO }
    }

    fn at(self, place: DVec3) -> f64 {
        self.even + self.tilt.dot(place)
    }
}

/// The same with its surface moved outwards, m, by a function of places in index space, for a lattice of voxels of `h` m.
fn moved(sdf: &SignedDistance, h: f64, outward: impl Fn(DVec3) -> f64 + Sync) -> SignedDistance {
    let Grid { topology, values, background } = &sdf.grid;
    let still = still(sdf, h);
    let there = |(slot, &phi): (usize, &f32)| match phi.abs() < still {
        true => phi - outward(topology.coord(slot).as_dvec3()) as f32,
        false => phi,
    };
    let values = values.par_iter().enumerate().with_min_len(4096).map(there).collect();
    SignedDistance::new(Grid { topology: Arc::clone(topology), values, background: *background })
}

/// Width of a band, voxels of the lattice, from which on what is beyond it stays as it is: no node of a cell that the surface cuts is
/// farther away than the cell's diagonal and what the surface moves. What a narrower band does not tell moves with it.
const TELLING: f64 = 1.9;

/// The distance, m, from which on values are not moved, on a lattice of voxels of `h` m.
fn still(sdf: &SignedDistance, h: f64) -> f32 {
    let band = sdf.grid.background;
    if f64::from(band) < TELLING * h { f32::INFINITY } else { band }
}

/// Farthest that the surface is moved for the sake of the middle, voxels.
const MOST_TILT: f64 = 0.25;
/// How close the volume comes to that of the body, of itself; and the middle, voxels.
const CLOSE: f64 = 1e-5;
/// Places and turns of the body on the lattice. Half of them are not turned: crates lie flat.
const POSES: u32 = 8;
/// The volume of a body's bounds, voxels, up to which it is looked at in every place. What edges cut off falls with its square: a
/// cube of 16 voxels that lies on faces is seen 0.8 % larger than in the mean.
const SMALL: f64 = 40.0 * 40.0 * 40.0;
/// The volume of a body's bounds, voxels, beyond which nothing is done. A cube of this size is seen within 1e-5 of its volume as it
/// is, and the work grows with the cells.
const LARGE: f64 = 500.0 * 500.0 * 500.0;
/// Cells farther from the surface than this, voxels, are whole whatever it is moved by.
const NEAR: f32 = 2.0;

/// Whether [`with_volume`] depends on the place of a body, on a lattice of voxels of `h` m.
pub fn is_seen_anew(sdf: &SignedDistance, place: &Transform, h: f64) -> bool {
    size(sdf, place, h).is_some_and(|voxels| voxels <= SMALL)
}

/// The volume of a body's bounds, voxels of `h` m; `None` where nothing of it can be seen.
fn size(sdf: &SignedDistance, place: &Transform, h: f64) -> Option<f64> {
    let (low, high) = surroundings(sdf, h)?;
    Some(((high - low).as_dvec3() * place.voxel_size() / h).element_product())
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

    /// A place in the index space of the distance, counted in nodes.
    fn of(&self, index: DVec3) -> DVec3 {
        self.linear.inverse() * (index - self.first)
    }
}

/// What a lattice sees of a body in a place. Places are counted in nodes.
struct Pose {
    /// Nodes so far from the surface, voxels, do not move with it.
    still: f32,
    /// Cells inside, far from the surface, and the sum of their middles.
    whole: (usize, DVec3),
    /// The cells near it: their middles, and φ at their corners, voxels.
    near: Vec<(DVec3, [f32; 8])>,
}

impl Pose {
    fn of(sdf: &SignedDistance, h: f64, nodes: &Nodes) -> Self {
        // Interpolated values round.
        let still = still(sdf, h) / h as f32 * (1.0 - 1e-6);
        let mut pose = Self { still, whole: (0, DVec3::ZERO), near: Vec::new() };
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
                    let middle = DVec3::new(f64::from(x - 1 - first.x), y as f64, z as f64) + 0.5;
                    let middle = first.as_dvec3() + middle;
                    if phi.iter().all(|&p| p < -NEAR) {
                        pose.whole = (pose.whole.0 + 1, pose.whole.1 + middle);
                    } else if phi.iter().any(|&p| p < NEAR) {
                        pose.near.push((middle, phi));
                    }
                }
            }
            before = next;
        }
        pose
    }

    /// The volume, cells, with the surface moved outwards evenly.
    fn volume(&self, outward: Outward) -> f64 {
        self.moments(outward, DVec3::ZERO)[0]
    }

    /// The volume, cells, and its first moment about `from`, with all of a cell in its middle. The surface is moved outwards as told
    /// from there.
    fn moments(&self, outward: Outward, from: DVec3) -> DVec4 {
        let (count, sum) = self.whole;
        let whole = (sum - count as f64 * from).extend(count as f64);
        let near = self.near.iter().map(|(middle, phi)| {
            let arm = middle - from;
            arm.extend(1.0) * self.cut(phi, arm, outward)
        });
        let all = near.fold(whole, |sum, of_cell| sum + of_cell);
        DVec4::new(all.w, all.x, all.y, all.z)
    }

    /// How these moments change with the surface, [1, x]: Σ A [1, x] [1, x]ᵀ, where A is the area of the surface in a cell.
    fn response(&self, outward: Outward, from: DVec3) -> DMat4 {
        const STEP: f64 = 0.05;
        let by = |step: f64| Outward { even: outward.even + step, ..outward };
        let of_cell = |(middle, phi): &(DVec3, [f32; 8])| {
            let arm = middle - from;
            let area = (self.cut(phi, arm, by(STEP)) - self.cut(phi, arm, by(-STEP))) / (2.0 * STEP);
            let row = DVec4::new(1.0, arm.x, arm.y, arm.z);
            DMat4::from_cols(row, row * arm.x, row * arm.y, row * arm.z) * area
        };
        self.near.iter().map(of_cell).fold(DMat4::ZERO, |sum, of_cell| sum + of_cell)
    }

    /// How the surface moves so that the volume (cells) is right and the middles of cells have theirs at `middle`; from a move that
    /// makes the volume right. `None` where that moves it too far: by more than `most`, voxels, or more than [`MOST_TILT`] of it aslant.
    fn fitted(&self, volume: f64, middle: DVec3, [even, most]: [f64; 2]) -> Option<Outward> {
        let mut outward = Outward::evenly(even);
        let response = self.response(outward, middle);
        let radius = self.near.iter().map(|(at, _)| at.distance(middle)).fold(0.0, f64::max);
        for _ in 0..12 {
            let lacks = DVec4::new(volume, 0.0, 0.0, 0.0) - self.moments(outward, middle);
            if lacks.abs().max_element() <= CLOSE * volume {
                return Some(outward);
            }
            let more = response.inverse() * lacks;
            outward = Outward { even: outward.even + more.x, tilt: outward.tilt + more.yzw() };
            let tilt = outward.tilt.length() * radius;
            // Written so that what is no number fails.
            if !(tilt <= MOST_TILT && outward.even.abs() + tilt <= most) {
                return None;
            }
        }
        None
    }

    /// The share of a cell inside, `arm` from where the move is told from, with the surface moved outwards.
    fn cut(&self, phi: &[f32; 8], arm: DVec3, outward: Outward) -> f64 {
        let corner = |k: usize| {
            let of_axis = |axis: usize| if k >> axis & 1 == 0 { -0.5 } else { 0.5 };
            outward.at(arm + DVec3::new(of_axis(0), of_axis(1), of_axis(2))) as f32
        };
        let moved = |k: usize| if phi[k].abs() < self.still { phi[k] - corner(k) } else { phi[k] };
        f64::from(cell_inside(std::array::from_fn(moved)))
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
        let seen = |n| Pose::of(sdf, h, &Nodes::turned(transform, h, n)).volume(Outward::evenly(0.0));
        let poses = (100..120).map(|n| seen(n) * h.powi(3));
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
                // Bands of 0.7 to 10 voxels, among them some about as wide as a cell's diagonal.
                for h in [0.08, 0.1, 0.11, 0.15, 0.3] {
                    let before = mean_volume(sdf, transform, h) / volume - 1.0;
                    for shift in [0.0, 0.3, 0.5] {
                        let lattice = Transform::uniform(h, DVec3::splat(shift * h));
                        let centroid = Some(transform.to_index(DVec3::ZERO));
                        let kept = with_volume(sdf, transform, &lattice, Enclosed { volume, centroid });
                        let nodes = Nodes::at(transform, &lattice);
                        let of = |sdf| {
                            let middle = nodes.of(transform.to_index(DVec3::ZERO));
                            Pose::of(sdf, h, &nodes).moments(Outward::evenly(0.0), middle) * h.powi(3)
                                / volume
                        };
                        let [was, seen] = [of(sdf), of(&kept)];
                        let [off, after] = [was.yzw().length(), seen.yzw().length()];
                        println!(
                            "division {division}, voxel {h}, {shift}: {before:+.4} {:+.5}, middle {off:.4} {after:.5}",
                            seen.x - 1.0
                        );
                        assert!(
                            is_seen_anew(sdf, transform, h) && (seen.x - 1.0).abs() < 5e-4,
                            "{before} {seen}"
                        );
                        assert!(after < 5e-4, "the middle is {after} voxels off, {off} before");
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
        let kept = with_volume(
            &sdf,
            &transform,
            &Transform::uniform(h, DVec3::ZERO),
            Enclosed { volume, centroid: None },
        );
        let after = mean_volume(&kept, &transform, h) / volume - 1.0;
        assert!(after.abs() < 1e-3, "{after}");
    }

    #[test]
    fn a_body_that_the_lattice_does_not_see_grows_by_half_a_voxel() {
        let (sdf, transform) = sampled(0.1, |p| p.length() - 0.1);
        let kept = with_volume(
            &sdf,
            &transform,
            &Transform::uniform(0.3, DVec3::ZERO),
            Enclosed { volume: 1.0, centroid: Some(transform.to_index(DVec3::ZERO)) },
        );
        let at = transform.to_index(DVec3::new(0.1, 0.0, 0.0));
        let grown = sdf.sampler().distance(at) - kept.sampler().distance(at);
        assert!((grown - 0.15).abs() < 1e-6, "{grown}");
    }
}
