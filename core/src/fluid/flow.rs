//! Paths through a face velocity.

use super::particles::IndexFrame;
use crate::grid::sampling::{Position, Sampler};
use crate::grid::{Coord, FaceGrid, halo};
use glam::{IVec3, Vec3};

/// Voxels around a leaf that its block holds: paths that leave it are followed with look-ups.
const WIDTH: usize = 3;
/// Index steps along x, y, z in a block, and its edge.
const STRIDE: [usize; 3] = halo::strides(WIDTH);
const EDGE: usize = STRIDE[1];

/// The origin of a block that holds no position.
const NOWHERE: IVec3 = IVec3::splat(i32::MAX / 2);

/// A face velocity as followed by one task, leaf after leaf.
pub(super) struct Flow<'a> {
    frame: IndexFrame,
    velocity: &'a FaceGrid<f32>,
    sampler: Sampler<'a>,
    /// The faces around one leaf, per axis; that leaf's origin in the local coordinates of the frame.
    block: [Vec<f32>; 3],
    origin: IVec3,
    loaded: Option<Coord>,
}

/// The floor of each component, by truncation: `f32::floor` is a library call where SSE4 cannot be assumed.
#[inline(always)]
fn floor(x: Vec3) -> IVec3 {
    let floor = |x: f32| x as i32 - i32::from((x as i32) as f32 > x);
    IVec3::new(floor(x.x), floor(x.y), floor(x.z))
}

impl<'a> Flow<'a> {
    pub(super) fn new(frame: IndexFrame, velocity: &'a FaceGrid<f32>) -> Self {
        let sampler = Sampler::new(&velocity.topology);
        let block = Default::default();
        Self { frame, velocity, sampler, block, origin: IVec3::ZERO, loaded: None }
    }

    /// Where a particle that starts at `x` (local index position) is after `step` voxels per m/s: the third-order
    /// Runge-Kutta scheme of least error [Ralston 1962].
    #[inline(always)]
    pub(super) fn follow(&mut self, x: Vec3, step: f32) -> Vec3 {
        self.come_to(floor(x + 0.5) + self.frame.base);
        let k1 = self.at(x);
        let k2 = self.at(x + (0.5 * step) * k1);
        let k3 = self.at(x + (0.75 * step) * k2);
        x + (step / 9.0) * (2.0 * k1 + 3.0 * k2 + 4.0 * k3)
    }

    /// Loads the block of the leaf that holds a voxel; without one, every position takes a look-up.
    #[inline(always)]
    fn come_to(&mut self, voxel: Coord) {
        let origin = voxel & !7;
        if self.loaded == Some(origin) {
            return;
        }
        self.origin = origin - self.frame.base;
        self.loaded = Some(origin);
        match self.velocity.topology.leaf_of(origin) {
            None => self.origin = NOWHERE,
            Some(l) => {
                for (block, values) in self.block.iter_mut().zip(&self.velocity.values) {
                    halo::gather(&self.velocity.topology, values, l, WIDTH, self.velocity.background, block);
                }
            }
        }
    }

    /// Velocity at a local index position.
    #[inline(always)]
    fn at(&mut self, x: Vec3) -> Vec3 {
        let cell = floor(x);
        let base = cell - self.origin + WIDTH as i32;
        // The lattice of an axis' faces may start one voxel later.
        if (base.cmpge(IVec3::ZERO) & base.cmplt(IVec3::splat(EDGE as i32 - 2))).all() {
            self.in_block(base, x - cell.as_vec3())
        } else {
            let at = Position { base: cell + self.frame.base, fraction: x - cell.as_vec3() };
            self.sampler.sample_velocity(self.velocity, at)
        }
    }

    #[inline(always)]
    fn in_block(&self, base: IVec3, fraction: Vec3) -> Vec3 {
        let first = (base.x as usize * EDGE + base.y as usize) * EDGE + base.z as usize;
        let lerp = |t: f32, a: f32, b: f32| a + t * (b - a);
        let mut u = Vec3::ZERO;
        for axis in 0..3 {
            let mut f = fraction;
            f[axis] += 0.5;
            let later = f[axis] >= 1.0;
            f[axis] -= f32::from(later);
            let at = first + if later { STRIDE[axis] } else { 0 };
            let cube = &self.block[axis][at..][..STRIDE[0] + STRIDE[1] + 2];
            let row = |n: usize| lerp(f.z, cube[n], cube[n + 1]);
            u[axis] = lerp(
                f.x,
                lerp(f.y, row(0), row(STRIDE[1])),
                lerp(f.y, row(STRIDE[0]), row(STRIDE[0] + STRIDE[1])),
            );
        }
        u
    }
}
