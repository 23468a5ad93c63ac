//! A narrow-band signed distance, with the tiles that say which side each point outside the band is on.

use super::InsideTiles;
use crate::grid::sampling::{Position, Sampler, trilinear};
use crate::grid::{Coord, Grid, Topology, Transform, leaf};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// A narrow-band level set (metres, negative inside, sampled at cell centres) and the tiles inside it. Beyond
/// the band it is +background outside and −background inside.
#[derive(Clone, Debug)]
pub struct SignedDistance {
    /// The band; its background is the half width of the band, metres.
    pub grid: Grid<f32>,
    /// The leafless part of the inside.
    pub inside: InsideTiles,
    bounds: Option<(Coord, Coord)>,
    /// How far its surface was moved outwards to keep a volume, m; 0 where it was not. Two solids that touch lie in each other by the
    /// sum of theirs.
    pub grown: f64,
}

impl SignedDistance {
    /// Wraps a narrow-band grid, whose leaves must hold every voxel next to the surface.
    pub fn new(grid: Grid<f32>) -> Self {
        let (inside, bounds) = (InsideTiles::of(&grid), reached(&grid));
        Self { grid, inside, bounds, grown: 0.0 }
    }

    /// Samples a distance function of world positions (metres) in a band of `band` voxels around its zero set, between
    /// the voxels `low` and `high`. `distance` must be 1-Lipschitz: whole blocks that are farther from the surface than
    /// their own size are skipped without sampling.
    pub fn from_fn(
        transform: &Transform,
        low: Coord,
        high: Coord,
        band: f32,
        distance: impl Fn(DVec3) -> f64 + Sync,
    ) -> Self {
        let h = transform.voxel_size();
        let width = f64::from(band) * h;
        let reach = |size: i32| 0.5 * f64::from(size - 1) * 3f64.sqrt() * h + width;
        let mut size = 8;
        while size < (high - low).max_element() + 8 {
            size *= 2;
        }
        let mut blocks: Vec<Coord> = block_range(low, high, size);
        loop {
            let near = |o: &Coord| {
                let centre = o.as_dvec3() + 0.5 * f64::from(size - 1);
                distance(transform.to_world(centre)).abs() <= reach(size)
            };
            blocks = blocks.into_par_iter().filter(near).collect();
            if size == 8 {
                break;
            }
            size /= 2;
            let children = |o: &Coord| {
                let o = *o;
                (0..8).map(move |n| o + IVec3::new(n & 1, n >> 1 & 1, n >> 2) * size)
            };
            let overlaps = |o: &Coord| o.cmple(high).all() && (*o + size - 1).cmpge(low).all();
            blocks = blocks.iter().flat_map(children).filter(overlaps).collect();
        }
        let topology = Arc::new(Topology::new(blocks));
        Self::new(Grid::from_fn(topology, width as f32, |c| {
            distance(transform.to_world(c.as_dvec3())).clamp(-width, width) as f32
        }))
    }

    /// Lowest and highest voxel with a value below the background; `None` where there is none.
    pub fn bounds(&self) -> Option<(Coord, Coord)> {
        self.bounds
    }

    /// The value of a voxel without a leaf.
    #[inline]
    pub fn beyond_band(&self, ijk: Coord) -> f32 {
        if self.inside.contains(ijk) { -self.grid.background } else { self.grid.background }
    }

    /// A look-up with a memory; keep one per task.
    pub fn sampler(&self) -> SdfSampler<'_> {
        let beyond = (IVec3::ZERO, self.beyond_band(IVec3::ZERO));
        SdfSampler { sdf: self, sampler: Sampler::new(&self.grid.topology), beyond }
    }
}

/// Lowest and highest voxel with a value below the background: leaves are whole, and a small solid fills little of its own.
fn reached(grid: &Grid<f32>) -> Option<(Coord, Coord)> {
    let leaves = grid.values.par_chunks(leaf::SIZE).zip(grid.topology.origins());
    let of_leaf = |(values, origin): (&[f32], &Coord)| {
        let near = values.iter().enumerate().filter(|(_, phi)| **phi < grid.background);
        let mut all = near.map(|(n, _)| *origin + IVec3::from_array(leaf::local(n)));
        let first = all.next()?;
        Some(all.fold((first, first), |(low, high), c| (low.min(c), high.max(c))))
    };
    leaves.filter_map(of_leaf).reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Origins of the blocks of `size` voxels (a power of two) that meet the box `low ..= high`.
fn block_range(low: Coord, high: Coord, size: i32) -> Vec<Coord> {
    let (first, last) = (low & !(size - 1), high & !(size - 1));
    let steps = |axis: usize| (first[axis]..=last[axis]).step_by(size as usize);
    steps(0).flat_map(|x| steps(1).flat_map(move |y| steps(2).map(move |z| IVec3::new(x, y, z)))).collect()
}

/// Interpolation of a [`SignedDistance`], with a memory of the last leaf.
#[derive(Clone, Debug)]
pub struct SdfSampler<'a> {
    sdf: &'a SignedDistance,
    sampler: Sampler<'a>,
    /// The last leafless tile that was looked up, and its value.
    beyond: (Coord, f32),
}

impl SdfSampler<'_> {
    #[inline(always)]
    fn cube(&mut self, base: Coord) -> [f32; 8] {
        let (sdf, beyond) = (self.sdf, &mut self.beyond);
        self.sampler.cube_values(&sdf.grid.values, base, |c| {
            if c & !7 != beyond.0 {
                *beyond = (c & !7, sdf.beyond_band(c));
            }
            beyond.1
        })
    }

    /// Distance at an index position, metres.
    #[inline]
    pub fn distance(&mut self, at: impl Into<Position>) -> f32 {
        let at = at.into();
        trilinear(&self.cube(at.base), at.fraction)
    }

    /// Gradient (metres per index unit) by central differences over one voxel. It is continuous; the gradient of the
    /// interpolant is not.
    pub fn smooth_gradient(&mut self, at: DVec3) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|axis| {
            let half = 0.5 * DVec3::AXES[axis];
            self.distance(at + half) - self.distance(at - half)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(radius: f64) -> impl Fn(DVec3) -> f64 + Sync {
        move |p| p.length() - radius
    }

    #[test]
    fn the_sign_is_known_everywhere_and_memory_grows_with_the_surface() {
        let leaves = |n: i32| {
            let transform = Transform::uniform(2.0 / f64::from(n), DVec3::splat(-1.0));
            let sdf = SignedDistance::from_fn(&transform, IVec3::ZERO, IVec3::splat(n - 1), 3.0, ball(0.9));
            let mut sampler = sdf.sampler();
            for s in 0..2000 {
                let p = DVec3::new((s % 13) as f64, (s / 13 % 13) as f64, (s / 169) as f64) / 6.0 - 1.0;
                let exact = p.length() - 0.9;
                let phi = f64::from(sampler.distance(transform.to_index(p)));
                let h = transform.voxel_size();
                if exact.abs() < 1.5 * h {
                    assert!((phi - exact).abs() < 0.05 * h, "{p}");
                } else {
                    assert!(phi * exact > 0.0 && phi.abs() > 1.4 * h, "{p}");
                }
            }
            sdf.grid.topology.len() as f64
        };
        let growth = leaves(256) / leaves(128);
        assert!(growth < 5.0, "leaves grow by {growth} when the voxel halves");
    }
}
