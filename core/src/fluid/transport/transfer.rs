//! Transfers velocity between particles and faces: APIC by default, or a FLIP/PIC blend.
//!
//! Each velocity component lives on its own staggered lattice; weights are trilinear on that lattice. Leaves
//! are independent tasks: each sums into its own haloed block, then every face adds the up to eight blocks that
//! reach it in a fixed order, so the result does not depend on the number of threads.

use crate::fluid::particles::cells::Cells;
use crate::fluid::particles::four::{self, Four, indices};
use crate::fluid::particles::{IndexFrame, Particles};
use crate::grid::block;
use crate::grid::{Coord, FaceGrid, Transform, leaf};
use glam::{Mat4, Vec3, Vec4};
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

/// The particles' cells, whose faces they exchange velocity with, and the method of the exchange.
#[derive(Clone, Copy, Debug)]
pub struct Transfer<'a> {
    /// The cells, by which the particles are sorted.
    pub cells: &'a Cells,
    /// The transform of the cells.
    pub transform: Transform,
    /// The method.
    pub method: VelocityTransfer,
}

/// Face values transferred from the particles, and the weight that reached each face.
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
/// m_f = Σ_p m_p w_fp [Jiang et al. 2015, Eqs. 8-9, one axis at a time]. Particles of one mass use m_p = 1.
pub fn particles_to_faces(particles: &Particles, transfer: &Transfer) -> Carried {
    let Transfer { cells, transform, method } = transfer;
    let h = transform.voxel_size() as f32;
    let masses = particles.masses();
    let affine = *method == VelocityTransfer::Apic;
    scatter(particles, cells, transform, |p| {
        let gradient = |a: usize| if affine { particles.affine[a][p] * h } else { Vec3::ZERO };
        Sample {
            mass: masses.as_ref().map_or(1.0, |masses| masses[p]),
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
    transfer: &Transfer,
    velocity: &FaceGrid<f32>,
    before: &FaceGrid<f32>,
) {
    let Transfer { cells, transform, method } = transfer;
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
            let change = match *method {
                VelocityTransfer::Apic => None,
                VelocityTransfer::Flip { flip } => Some((flip, FaceBlocks::load(before, l))),
            };
            let shift = leaf_shift(&frame, topology.origins()[l]);
            let own = &positions[cells.leaf_range(l)];
            for (first, four) in (0..own.len()).step_by(4).zip(own.chunks(4)) {
                let x = frame.locals(four).minus(shift);
                let (u, gradient) = after.gather(x);
                let kept = change.as_ref().map(|(flip, before)| (*flip, before.gather(x).0));
                for (lane, n) in (first..first + four.len()).enumerate() {
                    match &kept {
                        None => {
                            v[n] = u.lane(lane);
                            [cx[n], cy[n], cz[n]] = gradient.map(|g| g.lane(lane) * frame.per_metre);
                        }
                        Some((flip, before)) => {
                            v[n] = u.lane(lane) + *flip * (v[n] - before.lane(lane));
                            [cx[n], cy[n], cz[n]] = [Vec3::ZERO; 3];
                        }
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
const BLOCK: usize = 3 * 2 * block::SIZE;

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
        // Two partial sums in turn, because the previous particle's sums may still be on their way to memory.
        let (first, middle) = (cells.leaf_range(l), cells.start[l * leaf::SIZE + leaf::SIZE / 2] as usize);
        for n in (0..(middle - first.start).max(first.end - middle)).step_by(2) {
            let (lower, upper) = (first.start + n, middle + n);
            let four = [lower, upper, lower + 1, upper + 1];
            let ends = [middle, first.end, middle, first.end];
            let x = four.map(|p| frame.local(particles.position[p.min(first.end - 1)]) - shift);
            let stencils = Stencils::new(&Four::of(&x));
            for lane in 0..4 {
                if four[lane] < ends[lane] {
                    add(block, &stencils, lane, &sample(four[lane]));
                }
            }
        }
    });

    let mut value = FaceGrid::new(topology.clone(), 0.0);
    let mut weight = FaceGrid::new(topology.clone(), 0.0);
    let axes = value.values.par_iter_mut().zip(&mut weight.values).enumerate();
    axes.for_each(|(axis, (value, weight))| {
        let axis_blocks = axis * 2 * block::SIZE;
        let leaves = value.par_chunks_mut(leaf::SIZE).zip(weight.par_chunks_mut(leaf::SIZE));
        leaves.zip(topology.neighbours()).for_each(|((value, weight), neighbours)| {
            for (s, &m) in neighbours.iter().enumerate() {
                if m == leaf::ABSENT || block_of[m as usize] == leaf::ABSENT {
                    continue;
                }
                let block = &blocks[block_of[m as usize] as usize * BLOCK + axis_blocks..];
                block::rows_covered_by(s, |own, there, n| {
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
    });
    Carried { value, weight }
}

/// Position of a leaf's origin in the local coordinates of a frame.
#[inline(always)]
fn leaf_shift(frame: &IndexFrame, origin: Coord) -> Vec3 {
    (origin - frame.base).as_vec3()
}

/// Where leaf-local positions stand on the three staggered lattices of a block.
struct Stencils {
    /// Block index of the lowest of the eight faces around each position, per axis.
    first: [[usize; 4]; 3],
    /// Trilinear fractions, per axis.
    fraction: [[Vec4; 3]; 3],
}

impl Stencils {
    /// Whole part, counted from −1, and fraction along one axis, the whole part kept in −1..=7: a particle on a leaf's border
    /// may be rounded across it, and its faces must stay inside the block.
    #[inline(always)]
    fn split(q: Vec4) -> (Vec4, Vec4) {
        let base = four::floor((q + 1.0).max(Vec4::ZERO)).min(Vec4::splat(leaf::DIM as f32));
        (base, q - (base - 1.0))
    }

    #[inline(always)]
    fn new(x: &Four) -> Self {
        const EDGE: f32 = block::DIM as f32;
        let centre = x.0.map(Self::split);
        let face = x.0.map(|x| Self::split(x + 0.5));
        let on = |axis: usize| std::array::from_fn(|d| if d == axis { face[d] } else { centre[d] });
        let lattices: [[(Vec4, Vec4); 3]; 3] = [on(0), on(1), on(2)];
        Self {
            first: lattices.map(|[x, y, z]| indices((x.0 * EDGE + y.0) * EDGE + z.0)),
            fraction: lattices.map(|along| along.map(|(_, fraction)| fraction)),
        }
    }
}

#[inline(always)]
fn add(block: &mut [f32; BLOCK], stencils: &Stencils, lane: usize, sample: &Sample) {
    for axis in 0..3 {
        let f = Vec3::from_array(stencils.fraction[axis].map(|f| f[lane]));
        let first = 2 * (axis * block::SIZE + stencils.first[axis][lane]);
        let g = sample.gradient[axis];
        let at_corner = sample.value[axis] - g.dot(f);
        let along_z = Vec4::new(1.0 - f.z, 1.0 - f.z, f.z, f.z);
        for i in 0..2 {
            let wx = sample.mass * if i == 0 { 1.0 - f.x } else { f.x };
            for j in 0..2 {
                let wxy = wx * if j == 0 { 1.0 - f.y } else { f.y };
                let v = at_corner + g.x * i as f32 + g.y * j as f32;
                let row = &mut block[first + 2 * (i * block::STRIDE[0] + j * block::STRIDE[1])..][..4];
                let given = wxy * along_z * Vec4::new(v, 1.0, v + g.z, 1.0);
                row.copy_from_slice(&(Vec4::from_slice(row) + given).to_array());
            }
        }
    }
}

/// The face velocity of a leaf and its one-voxel shell.
pub(crate) struct FaceBlocks([[f32; block::SIZE]; 3]);

impl FaceBlocks {
    pub(crate) fn load(field: &FaceGrid<f32>, l: usize) -> Self {
        let mut blocks = Self([[0.0; block::SIZE]; 3]);
        for (block, values) in blocks.0.iter_mut().zip(&field.values) {
            block::load(block, values, &field.topology.neighbours()[l], field.background);
        }
        blocks
    }

    /// Velocity and the gradient (per voxel) of each component at leaf-local positions.
    #[inline(always)]
    pub(crate) fn gather(&self, x: Four) -> (Four, [Four; 3]) {
        let stencils = Stencils::new(&x);
        let of_axis = |axis: usize| gather(&self.0[axis], stencils.first[axis], stencils.fraction[axis]);
        let [x, y, z] = [of_axis(0), of_axis(1), of_axis(2)];
        (Four([x.0, y.0, z.0]), [x.1, y.1, z.1])
    }
}

/// Value and gradient (per voxel) of one component in the cubes of a block that start at `first`.
#[inline(always)]
fn gather(block: &[f32; block::SIZE], first: [usize; 4], [x, y, z]: [Vec4; 3]) -> (Vec4, Four) {
    const Y: usize = block::STRIDE[1];
    // Along x at four places of each cube, then along y at two of all four cubes, then along z: of values and of slopes.
    let along_x = |lane: usize| {
        let cube = &block[first[lane]..][..block::STRIDE[0] + Y + 2];
        let plane = |n: usize| Vec4::new(cube[n], cube[n + 1], cube[n + Y], cube[n + Y + 1]);
        let near = plane(0);
        let slope = plane(block::STRIDE[0]) - near;
        (near + x[lane] * slope, slope)
    };
    let [a, b, c, d] = [along_x(0), along_x(1), along_x(2), along_x(3)];
    let v = Mat4::from_cols(a.0, b.0, c.0, d.0).transpose();
    let dx = Mat4::from_cols(a.1, b.1, c.1, d.1).transpose();
    let dy = [v.z_axis - v.x_axis, v.w_axis - v.y_axis];
    let v = [v.x_axis + y * dy[0], v.y_axis + y * dy[1]];
    let dx = [dx.x_axis + y * (dx.z_axis - dx.x_axis), dx.y_axis + y * (dx.w_axis - dx.y_axis)];
    let along_z = |[low, high]: [Vec4; 2]| low + z * (high - low);
    (along_z(v), Four([along_z(dx), along_z(dy), v[1] - v[0]]))
}
