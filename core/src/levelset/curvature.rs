//! Mean curvature of a level set.

use super::redistance::interface;
use crate::grid::{Grid, halo, leaf};
use rayon::prelude::*;
use std::sync::Arc;

/// Passes of the (1 2 1)/4 filter, along all axes, in one smoothing.
const PASSES: usize = 3;
/// Voxels on either side of the surface in which the curvature is computed.
const BAND: usize = 2;

/// Mean curvature κ = ∇·(∇φ/|∇φ|), 1/m, of the surface of a signed distance `phi` (m), at the cells near it on the
/// leaves of `phi`; positive for a drop. 0 where the surface is far. A cell has the curvature of the smoothed surface
/// at the point nearest to the cell.
///
/// Bumps the size of a voxel, which particles leave and no grid resolves, would outweigh every real curvature. So φ is
/// smoothed first by S = 2G − G², G three passes of a binomial filter: a wave of ten voxels keeps 93 % of its
/// curvature, one of three voxels 3 %. A band of distances that ends at five voxels costs 0.2 % of a sphere's
/// curvature; with eight voxels there is no loss. The curvature is limited to that of a drop of one voxel's radius.
///
/// The place where the curvature is read matters as much as the smoothing. The level sets around a column of radius R
/// have other curvatures than the column, 1/r at radius r. Reading them at the unsmoothed surface would give short
/// waves of amplitude η the −η/R² of a column that swells by η, without the k²η that smoothing removes. Such waves
/// would grow, as a column breaks up [Rayleigh 1878].
pub fn curvature(phi: &Grid<f32>, h: f32) -> Grid<f32> {
    let near = interface(phi).leaves_within(BAND + 2 * PASSES);
    let phi_near = phi.on(&Arc::new(near));
    let once = smoothed(&phi_near);
    let mut smooth = smoothed(&once);
    smooth.values.par_iter_mut().zip(&once.values).with_min_len(4096).for_each(|(twice, once)| {
        *twice = 2.0 * once - *twice;
    });
    let mut out = Grid::new(phi.topology.clone(), 0.0);
    let topology = out.topology.clone();
    out.values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each_init(
        Vec::new,
        |block, (out, &o)| {
            let Some(l) = smooth.topology.leaf_of(o) else { return };
            halo::gather::<1, _>(&smooth.topology, &smooth.values, l, smooth.background, block);
            for (n, out) in out.iter_mut().enumerate() {
                let at = halo::index(1, leaf::local(n));
                if block[at].abs() <= BAND as f32 * h {
                    *out = on_surface(block, at, h) / h;
                }
            }
        },
    );
    out
}

/// Mean curvature, per voxel, where the surface is nearest to a cell of a block with one voxel around it.
///
/// At the cell, mean and Gaussian curvature, κ and K, follow from central differences
/// [Osher and Fedkiw 2003, Eq. 1.8; Goldman 2005, Eq. 4.1]. Surfaces at a distance d from each other have principal
/// curvatures k and k/(1 + dk), so κ on the surface is (κ − 2dK)/(1 − dκ + d²K).
fn on_surface(block: &[f32], at: usize, h: f32) -> f32 {
    /// Curvature of a drop of one voxel's radius, per voxel.
    const SHARPEST: f32 = 2.0;
    /// Smallest slope of a distance from which a normal is computed: ridges between two surfaces have none.
    const LEAST_SLOPE: f32 = 0.1;
    /// Smallest ratio of the areas of two parallel level sets; below it the cell lies beyond the surface's centre of
    /// curvature.
    const LEAST_APART: f32 = 0.25;
    let [x, y, z] = halo::strides(1);
    let slope = |s: usize| 0.5 * (block[at + s] - block[at - s]);
    let second = |s: usize| block[at + s] - 2.0 * block[at] + block[at - s];
    let mixed = |s: usize, t: usize| {
        0.25 * (block[at + s + t] - block[at + s - t] - block[at - s + t] + block[at - s - t])
    };
    let (px, py, pz) = (slope(x), slope(y), slope(z));
    let length2 = px * px + py * py + pz * pz;
    if length2 <= (LEAST_SLOPE * h).powi(2) {
        return 0.0;
    }
    let (xx, yy, zz) = (second(x), second(y), second(z));
    let (xy, yz, zx) = (mixed(x, y), mixed(y, z), mixed(z, x));
    let sum = (py * py + pz * pz) * xx + (pz * pz + px * px) * yy + (px * px + py * py) * zz
        - 2.0 * (px * py * xy + py * pz * yz + pz * px * zx);
    let cofactors = px * px * (yy * zz - yz * yz)
        + py * py * (zz * xx - zx * zx)
        + pz * pz * (xx * yy - xy * xy)
        + 2.0
            * (px * py * (yz * zx - xy * zz) + py * pz * (zx * xy - yz * xx) + pz * px * (xy * yz - zx * yy));
    let length = length2.sqrt();
    let (mean, gauss) = (sum / (length2 * length), cofactors / (length2 * length2));
    let d = block[at] / length;
    let apart = (1.0 - d * mean + d * d * gauss).max(LEAST_APART);
    ((mean - 2.0 * d * gauss) / apart).clamp(-SHARPEST, SHARPEST)
}

/// One smoothing of a field: [`PASSES`] of (1 2 1)/4 along each axis.
fn smoothed(field: &Grid<f32>) -> Grid<f32> {
    let topology = &field.topology;
    let mut out = Grid::new(topology.clone(), field.background);
    let strides = halo::strides(PASSES);
    out.values.par_chunks_mut(leaf::SIZE).enumerate().for_each_init(
        || (Vec::new(), Vec::new()),
        |(block, before), (l, out)| {
            halo::gather::<PASSES, _>(topology, &field.values, l, field.background, block);
            for _ in 0..PASSES {
                for step in strides {
                    before.clone_from(block);
                    for at in step..block.len() - step {
                        block[at] = 0.25 * (before[at - step] + before[at + step]) + 0.5 * before[at];
                    }
                }
            }
            for (n, out) in out.iter_mut().enumerate() {
                *out = block[halo::index(PASSES, leaf::local(n))];
            }
        },
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};
    use crate::levelset::redistance;
    use glam::{DVec3, IVec3};

    const H: f32 = 0.01;

    fn grid(phi: impl Fn(DVec3) -> f64 + Sync) -> Grid<f32> {
        let range = -24..24;
        let all = range.clone().flat_map(|x| {
            let range = range.clone();
            range.clone().flat_map(move |y| range.clone().map(move |z| IVec3::new(x, y, z)))
        });
        let topology = Arc::new(Topology::covering(all.filter(|c| *c % 8 == IVec3::ZERO)));
        let far = 5.0 * H;
        Grid::from_fn(topology, far, |c: Coord| (phi(c.as_dvec3()) as f32 * H).clamp(-far, far))
    }

    /// Largest deviation of the curvature, interpolated to the surface along the axes, from `expected` (per voxel).
    fn error(phi: &Grid<f32>, expected: f32) -> f32 {
        let kappa = curvature(phi, H);
        let mut worst = 0f32;
        for slot in 0..phi.values.len() {
            let (c, a) = (phi.topology.coord(slot), phi.values[slot]);
            if c.abs().max_element() > 14 {
                continue;
            }
            for step in IVec3::AXES {
                let b = phi.get(c + step);
                if (a < 0.0) != (b < 0.0) {
                    let t = a / (a - b);
                    let there = (1.0 - t) * kappa.get(c) + t * kappa.get(c + step);
                    worst = worst.max((there * H - expected).abs());
                }
            }
        }
        worst
    }

    #[test]
    fn spheres_and_cylinders_have_theirs() {
        let centre = DVec3::new(0.3, -0.2, 0.45);
        let sphere = |r: f64| error(&grid(|x| (x - centre).length() - r), 2.0 / r as f32) * r as f32 / 2.0;
        let (coarse, fine) = (sphere(6.0), sphere(12.0));
        assert!(coarse < 0.01 && fine < 0.6 * coarse, "{coarse} of 2/R at 6 voxels, {fine} at 12");
        let cylinder = error(&grid(|x| (x - centre).truncate().length() - 10.0), 0.1) * 10.0;
        assert!(cylinder < 0.015, "{cylinder} of 1/R");
        let bubble = error(&grid(|x| 10.0 - (x - centre).length()), -0.2) * 5.0;
        assert!(bubble < 0.015, "{bubble} of −2/R");
    }

    #[test]
    fn tilted_planes_have_none() {
        let n = DVec3::new(0.3, 0.9, -0.2).normalize();
        assert!(error(&grid(|x| x.dot(n) - 0.3), 0.0) < 1e-4);
    }

    #[test]
    fn noise_of_the_size_of_a_voxel_is_filtered_out() {
        let bumps = |x: DVec3| 0.1 * (x.x * 2.1 + 0.3).sin() * (x.z * 2.3).sin();
        let phi = grid(|x| (x - DVec3::splat(0.2)).length() - 10.0 + bumps(x));
        let rough = error(&redistance(&phi, H, 5.0), 0.2) * 5.0;
        // Unfiltered they would have a curvature of five times that of the sphere.
        assert!(rough < 0.2, "{rough} of 2/R");
    }
}
