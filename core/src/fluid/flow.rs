//! Paths through a face velocity.

use super::particles::IndexFrame;
use crate::grid::sampling::{Position, Sampler};
use crate::grid::{Coord, FaceGrid, halo};
use glam::{IVec3, Vec3, Vec4, Vec4Swizzles};

/// Voxels around a leaf that its block holds: paths that leave it are followed with look-ups.
const WIDTH: usize = 3;
/// Index steps along x, y, z in a block, and its edge.
const STRIDE: [usize; 3] = halo::strides(WIDTH);
const EDGE: usize = STRIDE[1];

/// The origin of a block that holds no position.
const NOWHERE: IVec3 = IVec3::splat(i32::MIN / 2);

/// A face velocity as followed by one task, leaf after leaf.
pub(super) struct Flow<'a> {
    frame: IndexFrame,
    velocity: &'a FaceGrid<f32>,
    sampler: Sampler<'a>,
    /// The faces around one leaf, per axis; the first one's voxel in the local coordinates of the frame.
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

/// Paths that are followed at once: each waits for three look-ups in turn, and others fill the wait.
const GROUP: usize = 16;

impl<'a> Flow<'a> {
    pub(super) fn new(frame: IndexFrame, velocity: &'a FaceGrid<f32>) -> Self {
        let sampler = Sampler::new(&velocity.topology);
        let block = Default::default();
        Self { frame, velocity, sampler, block, origin: IVec3::ZERO, loaded: None }
    }

    /// Takes particles (local index positions) to where they are after `step` voxels per m/s: the third-order
    /// Runge-Kutta scheme of least error [Ralston 1962].
    pub(super) fn follow(&mut self, particles: &mut [Vec3], step: f32) {
        let base = self.frame.base;
        let leaf_of = |x: &Vec3| (floor(*x + 0.5) + base) & !7;
        for group in particles.chunk_by_mut(|a, b| leaf_of(a) == leaf_of(b)) {
            self.come_to(leaf_of(&group[0]));
            group.chunks_mut(GROUP).for_each(|group| self.follow_group(group, step));
        }
    }

    #[inline(always)]
    fn follow_group(&mut self, group: &mut [Vec3], step: f32) {
        let (mut at, mut sum) = ([Vec3::ZERO; GROUP], [Vec3::ZERO; GROUP]);
        at[..group.len()].copy_from_slice(group);
        for (weight, next) in [(2.0, 0.5), (3.0, 0.75), (4.0, 0.0)] {
            for ((x, at), sum) in group.iter().zip(&mut at).zip(&mut sum) {
                let u = self.at(*at);
                *at = *x + (next * step) * u;
                *sum += weight * u;
            }
        }
        for (x, sum) in group.iter_mut().zip(sum) {
            *x += (step / 9.0) * sum;
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
                halo::gather(&self.velocity.topology, values, l, WIDTH, self.velocity.background, block);
            }
        }
    }

    /// Velocity at a local index position.
    #[inline(always)]
    fn at(&mut self, x: Vec3) -> Vec3 {
        let q = x - self.origin.as_vec3();
        // The lattice of an axis' faces may start one voxel later.
        const LAST: f32 = (EDGE - 2) as f32;
        let inside = (q.x >= 0.0) & (q.y >= 0.0) & (q.z >= 0.0) & (q.x < LAST) & (q.y < LAST) & (q.z < LAST);
        if inside { self.in_block(q) } else { self.looked_up(x) }
    }

    #[cold]
    #[inline(never)]
    fn looked_up(&mut self, x: Vec3) -> Vec3 {
        let cell = floor(x);
        let at = Position { base: cell + self.frame.base, fraction: x - cell.as_vec3() };
        self.sampler.sample_velocity(self.velocity, at)
    }

    /// Velocity at a position in the block, from its first voxel.
    #[inline(always)]
    fn in_block(&self, q: Vec3) -> Vec3 {
        let base = q.as_ivec3();
        let f = q - base.as_vec3();
        let first = (base.x as usize * EDGE + base.y as usize) * EDGE + base.z as usize;
        // The lattice of an axis' faces starts half a voxel later: by truncation, since a branch would be a coin's toss.
        let (half, later) = (f + 0.5, (f + 0.5).as_ivec3());
        let on_faces = half - later.as_vec3();
        let [x, y, z] = &self.block;
        Vec3::new(
            trilinear(x, first + later.x as usize * STRIDE[0], Vec3::new(on_faces.x, f.y, f.z)),
            trilinear(y, first + later.y as usize * STRIDE[1], Vec3::new(f.x, on_faces.y, f.z)),
            trilinear(z, first + later.z as usize * STRIDE[2], Vec3::new(f.x, f.y, on_faces.z)),
        )
    }
}

/// Interpolation in the cube of a block that starts at `first`.
#[inline(always)]
fn trilinear(block: &[f32], first: usize, f: Vec3) -> f32 {
    let cube = &block[first..][..STRIDE[0] + STRIDE[1] + 2];
    let plane = |n: usize| Vec4::new(cube[n], cube[n + 1], cube[n + STRIDE[1]], cube[n + STRIDE[1] + 1]);
    let (near, far) = (plane(0), plane(STRIDE[0]));
    // Along x at four places, then along y at two, then along z.
    let x = near + f.x * (far - near);
    let y = x.xy() + f.y * (x.zw() - x.xy());
    y.x + f.z * (y.y - y.x)
}
