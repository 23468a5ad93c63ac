//! Copies a box of a signed distance into a dense array, for many samples.

use super::{SdfSampler, SignedDistance};
use crate::grid::sampling::{Position, trilinear};
use crate::grid::{Coord, leaf};
use glam::{DVec3, IVec3};

/// Most voxels that a region copies; a larger one is sampled without a copy.
const DENSE_LIMIT: usize = 32 * 32 * 32;

/// The content of a signed distance in a box of index positions.
#[derive(Clone, Debug)]
pub enum Region<'a> {
    /// The same value everywhere, metres: the box lies beyond the band.
    Constant(f32),
    /// A copy of the voxels, so that a sample costs eight loads.
    Dense(Dense),
    /// Too large to copy.
    Sparse(SdfSampler<'a>),
}

/// A dense box of voxels, z fastest.
#[derive(Clone, Debug)]
pub struct Dense {
    low: Coord,
    /// Voxels along each axis.
    size: IVec3,
    values: Vec<f32>,
}

impl SignedDistance {
    /// The level set in the box `low ..= high` of index positions.
    pub fn region(&self, low: DVec3, high: DVec3) -> Region<'_> {
        let outside = Region::Constant(self.grid.background);
        let Some((first, last)) = self.bounds() else { return outside };
        // An interpolated sample reads the lattice points around it; one more for rounding.
        let (low, high) = (low.floor() - 1.0, high.floor() + 2.0);
        if low.cmpgt(last.as_dvec3()).any() || high.cmplt(first.as_dvec3()).any() {
            return outside;
        }
        let size = high - low + 1.0;
        if size.x * size.y * size.z > DENSE_LIMIT as f64 {
            return Region::Sparse(self.sampler());
        }
        let (low, high) = (low.as_ivec3(), high.as_ivec3());
        if !block_range(low, high).any(|o| self.grid.topology.leaf_of(o).is_some()) {
            return Region::Constant(self.beyond_band(low));
        }
        let dense = Dense::copy(self, low, high);
        let value = dense.values[0];
        if dense.values.iter().all(|&v| v == value) { Region::Constant(value) } else { Region::Dense(dense) }
    }
}

impl Region<'_> {
    /// Whether a surface may run through the box: the distances there have both signs, or nobody looked.
    pub fn may_cross(&self) -> bool {
        match self {
            Region::Constant(_) => false,
            Region::Dense(dense) => {
                let (first, rest) = (dense.values[0] > 0.0, &dense.values[1..]);
                rest.iter().fold(false, |crosses, &value| crosses | ((value > 0.0) != first))
            }
            Region::Sparse(_) => true,
        }
    }

    /// Distance at an index position in the box, metres.
    #[inline]
    pub fn distance(&mut self, at: DVec3) -> f32 {
        match self {
            Region::Constant(value) => *value,
            Region::Dense(dense) => dense.distance(at),
            Region::Sparse(sampler) => sampler.distance(at),
        }
    }
}

impl Dense {
    fn copy(sdf: &SignedDistance, low: Coord, high: Coord) -> Self {
        let size = high - low + 1;
        let mut values = vec![sdf.grid.background; (size.x * size.y * size.z) as usize];
        for origin in block_range(low, high) {
            let (first, last) = (origin.max(low), (origin + 7).min(high));
            let count = (last.z - first.z + 1) as usize;
            let source = sdf.grid.topology.leaf_of(origin);
            let beyond = if source.is_none() { sdf.beyond_band(origin) } else { 0.0 };
            for x in first.x..=last.x {
                for y in first.y..=last.y {
                    let p = IVec3::new(x, y, first.z) - low;
                    let row = &mut values[((p.x * size.y + p.y) * size.z + p.z) as usize..][..count];
                    match source {
                        Some(l) => {
                            let start = l * leaf::SIZE + leaf::offset(x, y, first.z);
                            row.copy_from_slice(&sdf.grid.values[start..start + count]);
                        }
                        None => row.fill(beyond),
                    }
                }
            }
        }
        Self { low, size, values }
    }

    #[inline(always)]
    fn distance(&self, at: DVec3) -> f32 {
        let at = Position::from(at);
        let p = at.base - self.low;
        let row = self.size.z as usize;
        let slab = row * self.size.y as usize;
        let n = p.x as usize * slab + p.y as usize * row + p.z as usize;
        let corner = |c: usize| self.values[n + (c & 1) * slab + (c >> 1 & 1) * row + (c >> 2)];
        trilinear(&std::array::from_fn(corner), at.fraction)
    }
}

/// Origins of the leaves that meet the box `low ..= high`.
fn block_range(low: Coord, high: Coord) -> impl Iterator<Item = Coord> {
    let (first, last) = (low & !7, high & !7);
    let steps = move |axis: usize| (first[axis]..=last[axis]).step_by(leaf::DIM);
    steps(0).flat_map(move |x| steps(1).flat_map(move |y| steps(2).map(move |z| IVec3::new(x, y, z))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Transform;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_region_says_what_a_sampler_says(
            x in -10f64..80.0, y in -10f64..80.0, z in -10f64..80.0, size in 0f64..40.0,
        ) {
            let transform = Transform::uniform(1.0 / 32.0, DVec3::splat(-1.0));
            let ball = |p: DVec3| p.length() - 0.8;
            let sdf = SignedDistance::from_fn(&transform, IVec3::ZERO, IVec3::splat(63), 3.0, ball);
            let low = DVec3::new(x, y, z);
            let (mut region, mut sampler) = (sdf.region(low, low + size), sdf.sampler());
            for n in 0..125 {
                let t = DVec3::new((n % 5) as f64, (n / 5 % 5) as f64, (n / 25) as f64) * 0.25;
                let at = low + t * size;
                prop_assert!((sampler.distance(at) - region.distance(at)).abs() < 1e-6);
            }
        }
    }
}
