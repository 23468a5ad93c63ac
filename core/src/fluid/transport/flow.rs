//! Paths of particles through a face velocity.

use crate::fluid::particles::IndexFrame;
use crate::fluid::particles::four::{self, Four, indices};
use crate::grid::sampling::{Position, Sampler};
use crate::grid::{Coord, FaceGrid, halo};
use glam::{IVec3, Mat4, Vec3, Vec4};

/// Voxels around a leaf that its block holds. Paths that leave the block use look-ups.
const WIDTH: usize = 3;
/// Index steps along x, y, z in a block, and its edge.
const STRIDE: [usize; 3] = halo::strides(WIDTH);
const EDGE: usize = STRIDE[1];

/// The origin of a block that contains no position.
const NOWHERE: IVec3 = IVec3::splat(i32::MIN / 2);

/// A face velocity as followed by one task, leaf after leaf.
pub(crate) struct Flow<'a> {
    frame: IndexFrame,
    velocity: &'a FaceGrid<f32>,
    sampler: Sampler<'a>,
    /// The faces around one leaf, per axis; the first one's voxel in the local coordinates of the frame.
    block: [Vec<f32>; 3],
    origin: IVec3,
    loaded: Option<Coord>,
}

/// The floor of each component, by truncation: `f32::floor` is a library call where a build does not assume SSE4.
#[inline(always)]
fn floor(x: Vec3) -> IVec3 {
    let floor = |x: f32| x as i32 - i32::from((x as i32) as f32 > x);
    IVec3::new(floor(x.x), floor(x.y), floor(x.z))
}

/// Groups of four paths that are followed at once, so that the processor has work while look-ups wait for memory.
const FOURS: usize = 4;

impl<'a> Flow<'a> {
    pub(crate) fn new(frame: IndexFrame, velocity: &'a FaceGrid<f32>) -> Self {
        let sampler = Sampler::new(&velocity.topology);
        Self { frame, velocity, sampler, block: Default::default(), origin: NOWHERE, loaded: None }
    }

    /// Takes particles (local index positions) to where they are after `step` voxels per m/s: the third-order
    /// Runge-Kutta scheme of least error [Ralston 1962].
    pub(crate) fn follow(&mut self, particles: &mut [Vec3], step: f32) {
        let base = self.frame.base;
        let leaf_of = |x: &Vec3| (floor(*x + 0.5) + base) & !7;
        for group in particles.chunk_by_mut(|a, b| leaf_of(a) == leaf_of(b)) {
            self.come_to(leaf_of(&group[0]));
            group.chunks_mut(4 * FOURS).for_each(|group| self.follow_group(group, step));
        }
    }

    fn follow_group(&mut self, group: &mut [Vec3], step: f32) {
        let mut start = [Four::default(); FOURS];
        start.iter_mut().zip(group.chunks(4)).for_each(|(start, four)| *start = Four::of(four));
        let count = group.len().div_ceil(4);
        let (mut at, mut sum) = (start, [Four::default(); FOURS]);
        for (weight, next) in [(2.0, 0.5), (3.0, 0.75), (4.0, 0.0)] {
            for n in 0..count {
                let u = self.at(at[n]);
                at[n] = start[n].plus(next * step, u);
                sum[n] = sum[n].plus(weight, u);
            }
        }
        for (n, four) in group.chunks_mut(4).enumerate() {
            let end = start[n].plus(step / 9.0, sum[n]);
            four.iter_mut().enumerate().for_each(|(lane, x)| *x = end.lane(lane));
        }
    }

    /// Loads the block of a leaf; without one, every position takes a look-up.
    fn come_to(&mut self, leaf: Coord) {
        if self.loaded == Some(leaf) {
            return;
        }
        self.origin = NOWHERE;
        self.loaded = Some(leaf);
        if let Some(l) = self.velocity.topology.leaf_of(leaf) {
            self.origin = leaf - self.frame.base - WIDTH as i32;
            for (block, values) in self.block.iter_mut().zip(&self.velocity.values) {
                halo::gather::<WIDTH, _>(&self.velocity.topology, values, l, self.velocity.background, block);
            }
        }
    }

    /// Velocity at local index positions.
    #[inline(always)]
    fn at(&mut self, x: Four) -> Four {
        let q = x.minus(self.origin.as_vec3());
        // The lattice of an axis' faces may start one voxel later.
        let last = Vec4::splat((EDGE - 2) as f32);
        let is_inside = |q: Vec4| q.cmpge(Vec4::ZERO) & q.cmplt(last);
        match (is_inside(q.0[0]) & is_inside(q.0[1]) & is_inside(q.0[2])).all() {
            true => self.in_block(q),
            false => Four::of(&std::array::from_fn::<_, 4, _>(|lane| self.looked_up(x.lane(lane)))),
        }
    }

    #[cold]
    #[inline(never)]
    fn looked_up(&mut self, x: Vec3) -> Vec3 {
        let cell = floor(x);
        let at = Position { base: cell + self.frame.base, fraction: x - cell.as_vec3() };
        self.sampler.sample_velocity(self.velocity, at)
    }

    /// Velocity at positions in the block, from its first voxel.
    #[inline(always)]
    fn in_block(&self, q: Four) -> Four {
        let base = q.0.map(four::floor);
        let f: [Vec4; 3] = std::array::from_fn(|a| q.0[a] - base[a]);
        let first = (base[0] * EDGE as f32 + base[1]) * EDGE as f32 + base[2];
        Four(std::array::from_fn(|axis| {
            // The lattice of an axis' faces starts half a voxel later.
            let half = f[axis] + 0.5;
            let later = Vec4::select(half.cmpge(Vec4::ONE), Vec4::ONE, Vec4::ZERO);
            let mut on_faces = f;
            on_faces[axis] = half - later;
            trilinear(&self.block[axis], first + later * STRIDE[axis] as f32, on_faces)
        }))
    }
}

/// Interpolation in the cubes of a block that start at `first`.
#[inline(always)]
fn trilinear(block: &[f32], first: Vec4, [x, y, z]: [Vec4; 3]) -> Vec4 {
    let first = indices(first);
    // Along x at four places of each cube, then along y at two, then along z, for all four cubes.
    let along_x = |lane: usize| {
        let cube = &block[first[lane]..][..STRIDE[0] + STRIDE[1] + 2];
        let plane = |n: usize| Vec4::new(cube[n], cube[n + 1], cube[n + STRIDE[1]], cube[n + STRIDE[1] + 1]);
        let (near, far) = (plane(0), plane(STRIDE[0]));
        near + x[lane] * (far - near)
    };
    let places = Mat4::from_cols(along_x(0), along_x(1), along_x(2), along_x(3)).transpose();
    let low = places.x_axis + y * (places.z_axis - places.x_axis);
    let high = places.y_axis + y * (places.w_axis - places.y_axis);
    low + z * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Topology, Transform};
    use glam::DVec3;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A field that differs from face to face, on a block of leaves and one leaf away from it.
    fn rough() -> FaceGrid<f32> {
        let leaves =
            [[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8], [-8, 0, 0], [40, 0, 0]].map(IVec3::from_array);
        let noise = |n: i32| (n.wrapping_mul(0x2c1b_3c6d) ^ (n >> 7)).wrapping_mul(0x297a_2d39) as f32 / 1e9;
        FaceGrid::from_fn(Arc::new(Topology::new(leaves.to_vec())), 0.3, |axis, c| {
            noise(c.x * 7919 + c.y * 104_729 + c.z * 1_299_709 + axis as i32 * 15_485_863)
        })
    }

    proptest! {
        #[test]
        fn paths_in_blocks_are_those_of_single_look_ups(
            start in prop::collection::vec(prop::array::uniform3(-12f32..18.0), 1..70),
            step in 0f32..3.0,
        ) {
            let velocity = rough();
            let frame = IndexFrame::new(DVec3::new(3.2, 0.0, -1.7), &Transform::uniform(1.0, DVec3::ZERO));
            let start: Vec<Vec3> = start.into_iter().map(Vec3::from_array).collect();
            let mut end = start.clone();
            Flow::new(frame, &velocity).follow(&mut end, step);
            let mut sampler = Sampler::new(&velocity.topology);
            let mut at = |x: Vec3| {
                let cell = x.floor();
                let at = Position { base: cell.as_ivec3() + frame.base, fraction: x - cell };
                sampler.sample_velocity(&velocity, at)
            };
            for (x, end) in start.into_iter().zip(end) {
                let k1 = at(x);
                let k2 = at(x + 0.5 * step * k1);
                let k3 = at(x + 0.75 * step * k2);
                let expected = x + step / 9.0 * (2.0 * k1 + 3.0 * k2 + 4.0 * k3);
                prop_assert!(end.distance(expected) < 1e-3, "from {x}: {end} {expected}");
            }
        }
    }
}
