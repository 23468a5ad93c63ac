//! Velocity between particles and faces: APIC by default, or a FLIP/PIC blend.
//!
//! Each velocity component lives on its own staggered lattice; weights are trilinear on that lattice. Leaves
//! are independent tasks: each sums into its own haloed block, then every face adds the up to eight blocks that
//! reach it in a fixed order, so the result does not depend on the number of threads.

use super::cells::Cells;
use super::halo;
use super::particles::{IndexFrame, Particles};
use crate::grid::{Coord, FaceGrid, Transform, leaf};
use glam::{Vec2, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

/// How particles and faces exchange velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VelocityTransfer {
    /// Affine particle-in-cell [Jiang et al. 2015]: keeps momentum and angular momentum.
    Apic,
    /// Particles take `flip` parts of the change of the face velocity (FLIP) and 1 − `flip` parts of the face
    /// velocity itself (PIC) [Zhu and Bridson 2005].
    Flip {
        /// 1 is pure FLIP, 0 is pure PIC.
        flip: f32,
    },
}

/// Face values carried over from the particles, and how much of them reached each face.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The weighted mean; 0 where nothing arrived.
    pub value: FaceGrid<f32>,
    /// Sum of the weights (of the masses, for the velocity of several liquids); 0 = no data.
    pub weight: FaceGrid<f32>,
}

/// Particles → faces: momentum-weighted mean velocity, m/s.
///
/// With masses m_p and rows c_pa of the affine matrix: (mu)_f = Σ_p m_p w_fp (v_pa + c_pa · (x_f − x_p)),
/// m_f = Σ_p m_p w_fp [Jiang et al. 2015, Eqs. 8-9, one axis at a time]. Liquids of one density use m_p = 1.
pub fn particles_to_faces(
    particles: &Particles,
    cells: &Cells,
    transform: &Transform,
    transfer: VelocityTransfer,
) -> Carried {
    let h = transform.voxel_size() as f32;
    let uniform = particles.uniform_density().is_some();
    let affine = transfer == VelocityTransfer::Apic;
    scatter(particles, cells, transform, |p| {
        let gradient = |a: usize| if affine { particles.affine[a][p] * h } else { Vec3::ZERO };
        Sample {
            mass: if uniform { 1.0 } else { particles.density[p] },
            value: particles.velocity[p].to_array(),
            gradient: [gradient(0), gradient(1), gradient(2)],
        }
    })
}

/// Faces → particles, through the projected (and extrapolated) face velocity.
///
/// APIC: v_p = Σ_f w_fp u_f and c_pa = Σ_f ∇w_fp u_f [Jiang et al. 2015, §5.3]. FLIP needs `before`, the
/// face velocity as it came from the particles.
pub fn faces_to_particles(
    particles: &mut Particles,
    cells: &Cells,
    transform: &Transform,
    velocity: &FaceGrid<f32>,
    before: &FaceGrid<f32>,
    transfer: VelocityTransfer,
) {
    let frame = particles.frame(transform);
    let topology = &cells.topology;
    let positions = &particles.position;
    let [cx, cy, cz] = &mut particles.affine;
    cells
        .split_mut(&mut particles.velocity)
        .into_par_iter()
        .zip(cells.split_mut(cx).into_par_iter().zip(cells.split_mut(cy)).zip(cells.split_mut(cz)))
        .enumerate()
        .filter(|(_, (v, _))| !v.is_empty())
        .for_each(|(l, (v, ((cx, cy), cz)))| {
            let after = FaceBlocks::load(velocity, l);
            let change = match transfer {
                VelocityTransfer::Apic => None,
                VelocityTransfer::Flip { flip } => Some((flip, FaceBlocks::load(before, l))),
            };
            let shift = leaf_shift(&frame, topology.origins()[l]);
            for (n, p) in cells.leaf_range(l).enumerate() {
                let x = frame.local(positions[p]) - shift;
                let (u, gradient) = after.gather(x);
                match &change {
                    None => {
                        v[n] = u;
                        [cx[n], cy[n], cz[n]] = gradient.map(|g| g * frame.per_metre);
                    }
                    Some((flip, before)) => {
                        let (u_before, _) = before.gather(x);
                        v[n] = u + *flip * (v[n] - u_before);
                        [cx[n], cy[n], cz[n]] = [Vec3::ZERO; 3];
                    }
                }
            }
        });
}

/// What one particle gives to the faces around it; gradients per voxel.
struct Sample {
    mass: f32,
    value: [f32; 3],
    gradient: [Vec3; 3],
}

/// Per axis, per voxel of a haloed block: Σ m w value, Σ m w.
const BLOCK: usize = 3 * 2 * halo::SIZE;

fn scatter(
    particles: &Particles,
    cells: &Cells,
    transform: &Transform,
    sample: impl Fn(usize) -> Sample + Sync,
) -> Carried {
    let topology = &cells.topology;
    let frame = particles.frame(transform);
    let mut block_of = vec![leaf::ABSENT; topology.len()];
    let occupied: Vec<usize> = (0..topology.len()).filter(|&l| !cells.leaf_range(l).is_empty()).collect();
    for (b, &l) in occupied.iter().enumerate() {
        block_of[l] = b as u32;
    }

    let mut blocks = vec![0.0f32; occupied.len() * BLOCK];
    blocks.par_chunks_mut(BLOCK).zip(&occupied).for_each(|(block, &l)| {
        let Ok(block) = <&mut [f32; BLOCK]>::try_from(block) else { return };
        let shift = leaf_shift(&frame, topology.origins()[l]);
        // From both halves by turns: sums that the next particle adds to are still on their way to memory.
        let (first, middle) = (cells.leaf_range(l), cells.start[l * leaf::SIZE + leaf::SIZE / 2] as usize);
        let (lower, upper) = (first.start..middle, middle..first.end);
        for n in 0..lower.len().max(upper.len()) {
            for half in [&lower, &upper] {
                let p = half.start + n;
                if p < half.end {
                    add(block, frame.local(particles.position[p]) - shift, &sample(p));
                }
            }
        }
    });

    let mut value = FaceGrid::new(topology.clone(), 0.0);
    let mut weight = FaceGrid::new(topology.clone(), 0.0);
    for axis in 0..3 {
        let axis_blocks = axis * 2 * halo::SIZE;
        value.values[axis]
            .par_chunks_mut(leaf::SIZE)
            .zip(weight.values[axis].par_chunks_mut(leaf::SIZE))
            .zip(topology.neighbours())
            .for_each(|((value, weight), neighbours)| {
                for (s, &m) in neighbours.iter().enumerate() {
                    if m == leaf::ABSENT || block_of[m as usize] == leaf::ABSENT {
                        continue;
                    }
                    let block = &blocks[block_of[m as usize] as usize * BLOCK + axis_blocks..];
                    halo::rows_covered_by(s, |own, there, n| {
                        for z in 0..n {
                            value[own + z] += block[2 * (there + z)];
                            weight[own + z] += block[2 * (there + z) + 1];
                        }
                    });
                }
                for (v, &w) in value.iter_mut().zip(weight.iter()) {
                    if w > 0.0 {
                        *v /= w;
                    }
                }
            });
    }
    Carried { value, weight }
}

/// Position of a leaf's origin in the local coordinates of a frame.
#[inline(always)]
fn leaf_shift(frame: &IndexFrame, origin: Coord) -> Vec3 {
    (origin - frame.base).as_vec3()
}

/// Where a leaf-local position stands on the three staggered lattices of a block.
struct Stencil {
    /// Block index of the lowest of the eight faces around the position, per axis.
    first: [usize; 3],
    /// Trilinear fractions, per axis.
    fraction: [Vec3; 3],
}

impl Stencil {
    /// Whole part and fraction along one axis, the whole part kept in −1..=7: a particle on a leaf's border may
    /// be rounded across it, and its faces must stay inside the block.
    #[inline(always)]
    fn split(q: f32) -> (i32, f32) {
        // Truncation towards zero is a floor from 1 on, and far cheaper than one where SSE4 cannot be assumed.
        let base = ((q + 1.0) as i32).clamp(0, 8) - 1;
        (base, q - base as f32)
    }

    #[inline(always)]
    fn new(x: Vec3) -> Self {
        let centre = x.to_array().map(Self::split);
        let face = (x + 0.5).to_array().map(Self::split);
        let on = |axis: usize| std::array::from_fn(|d| if d == axis { face[d] } else { centre[d] });
        let lattices: [[(i32, f32); 3]; 3] = [on(0), on(1), on(2)];
        Self {
            first: lattices.map(|[x, y, z]| halo::index(x.0, y.0, z.0)),
            fraction: lattices.map(|[x, y, z]| Vec3::new(x.1, y.1, z.1)),
        }
    }
}

#[inline(always)]
fn add(block: &mut [f32; BLOCK], x: Vec3, sample: &Sample) {
    let stencil = Stencil::new(x);
    for axis in 0..3 {
        let f = stencil.fraction[axis];
        let first = 2 * (axis * halo::SIZE + stencil.first[axis]);
        let g = sample.gradient[axis];
        let at_corner = sample.value[axis] - g.dot(f);
        let along_z = Vec4::new(1.0 - f.z, 1.0 - f.z, f.z, f.z);
        for i in 0..2 {
            let wx = sample.mass * if i == 0 { 1.0 - f.x } else { f.x };
            for j in 0..2 {
                let wxy = wx * if j == 0 { 1.0 - f.y } else { f.y };
                let v = at_corner + g.x * i as f32 + g.y * j as f32;
                let row = &mut block[first + 2 * (i * halo::STRIDE[0] + j * halo::STRIDE[1])..][..4];
                let given = wxy * along_z * Vec4::new(v, 1.0, v + g.z, 1.0);
                row.copy_from_slice(&(Vec4::from_slice(row) + given).to_array());
            }
        }
    }
}

/// The face velocity of a leaf and its one-voxel shell.
pub(super) struct FaceBlocks([[f32; halo::SIZE]; 3]);

impl FaceBlocks {
    pub(super) fn load(field: &FaceGrid<f32>, l: usize) -> Self {
        let mut blocks = Self([[0.0; halo::SIZE]; 3]);
        for (block, values) in blocks.0.iter_mut().zip(&field.values) {
            halo::load(block, values, &field.topology.neighbours()[l], field.background);
        }
        blocks
    }

    /// The `axis` component on the lower face of the voxel at leaf-local coordinates, each in −1..=8.
    #[inline(always)]
    pub(super) fn at(&self, axis: usize, [x, y, z]: [i32; 3]) -> f32 {
        self.0[axis][halo::index(x, y, z)]
    }

    /// Velocity and the gradient (per voxel) of each component at a leaf-local position.
    #[inline(always)]
    pub(super) fn gather(&self, x: Vec3) -> (Vec3, [Vec3; 3]) {
        const Y: usize = halo::STRIDE[1];
        let mut u = Vec3::ZERO;
        let mut gradient = [Vec3::ZERO; 3];
        let stencil = Stencil::new(x);
        for axis in 0..3 {
            let (first, f) = (stencil.first[axis], stencil.fraction[axis]);
            let cube = &self.0[axis][first..][..halo::STRIDE[0] + Y + 2];
            let plane = |n: usize| Vec4::new(cube[n], cube[n + 1], cube[n + Y], cube[n + Y + 1]);
            let near = plane(0);
            // Along x at four places, then along y at two: of the value and of its slopes.
            let dx = plane(halo::STRIDE[0]) - near;
            let value = near + f.x * dx;
            let dy = value.zw() - value.xy();
            let (value, dx) = (value.xy() + f.y * dy, dx.xy() + f.y * (dx.zw() - dx.xy()));
            let along_z = |at: Vec2| at.x + f.z * (at.y - at.x);
            u[axis] = along_z(value);
            gradient[axis] = Vec3::new(along_z(dx), along_z(dy), value.y - value.x);
        }
        (u, gradient)
    }
}
