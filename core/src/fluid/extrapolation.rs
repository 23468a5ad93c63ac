//! Velocity where the solve left none: in the air around the liquid and inside solids.

use super::cells::Cells;
use super::halo;
use super::inlet::Inlet;
use super::transfer::FaceBlocks;
use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::sampling::{Position, Sampler, trilinear_gradient};
use crate::grid::{Coord, FaceGrid, Grid, leaf};
use crate::solid::SolidFields;
use glam::Vec3;
use rayon::prelude::*;

/// What an extension reached.
pub struct Extended {
    /// Per axis the faces that have a velocity, and the closed ones, which need none.
    pub known: [VoxelMask; 3],
    /// Per axis the open ones among them that took it from others: neither of liquid cells nor of spray alone.
    pub fresh: [VoxelMask; 3],
    /// The liquid's cells.
    pub liquid: VoxelMask,
}

/// Extends a projected face velocity by `layers` faces into air and solids, in place.
///
/// Known are the open faces of liquid cells (`surface` < 0), and those whose velocity an `inlet` gives. Faces that only spray touches (particles in cells
/// that are air, a cell or more away from any known face) keep what the spray carried there, so that drops fly
/// on their own path. Every layer takes the mean of the known faces beside it along the three axes; faces
/// farther away are set to zero. Inside solids the result keeps its tangential part and takes the solid's
/// normal part [Batty et al. 2007, §4.2], so that no particle is driven into a wall.
pub fn extrapolate(
    velocity: &mut FaceGrid<f32>,
    cells: &Cells,
    surface: &Grid<f32>,
    solid: &SolidFields,
    inlet: Option<&Inlet>,
    h: f32,
    layers: usize,
) -> Extended {
    let topology = &cells.topology;
    let driven = inlet.map(|inlet| {
        inlet.drive(velocity);
        inlet.masks(topology)
    });
    let open = &solid.open.on(topology);
    let liquid = VoxelMask::from_fn(topology.clone(), |s| surface.values[s] < 0.0);
    let wet = VoxelMask::from_fn(topology.clone(), |s| cells.count(s) > 0);
    let [x, y, z] = std::array::from_fn(|axis| {
        let (values, open) = (&mut velocity.values[axis], &open.values[axis]);
        let open = VoxelMask::from_fn(topology.clone(), |s| open[s] > 0.0);
        let mut solved = open_faces(axis, &liquid, surface.background < 0.0, &open);
        if let Some(driven) = &driven {
            solved = solved.union(&driven[axis]);
        }
        let mut known = solved.clone();
        grow(values, &mut known);
        let spray = open_faces(axis, &wet, false, &open);
        let given = solved.union(&without(&spray, &known));
        known = known.union(&spray);
        for _ in 2..=layers {
            grow(values, &mut known);
        }
        values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, values)| {
            let unknown = known.words(l).map(|word| !word);
            offsets(&unknown).for_each(|n| values[n] = 0.0);
        });
        let fresh = without(&known, &given);
        let fresh = VoxelMask::from_words(topology.clone(), |l| {
            std::array::from_fn(|x| fresh.words(l)[x] & open.words(l)[x])
        });
        let settled = VoxelMask::from_words(topology.clone(), |l| {
            std::array::from_fn(|x| known.words(l)[x] | !open.words(l)[x])
        });
        (settled, fresh)
    });
    constrain(velocity, open, solid, h);
    if let Some(inlet) = inlet {
        inlet.drive(velocity);
    }
    Extended { known: [x.0, y.0, z.0], fresh: [x.1, y.1, z.1], liquid }
}

/// The open faces across `axis` of a set of cells, to which those without a leaf belong if `beyond`.
fn open_faces(axis: usize, cells: &VoxelMask, beyond: bool, open: &VoxelMask) -> VoxelMask {
    let of_leaf = |l: usize| {
        let below = cells.shifted(l, axis, -1, beyond);
        std::array::from_fn(|x| (cells.words(l)[x] | below[x]) & open.words(l)[x])
    };
    VoxelMask::from_words(cells.topology().clone(), of_leaf)
}

/// The faces of one set that are not in another.
fn without(set: &VoxelMask, other: &VoxelMask) -> VoxelMask {
    let of_leaf = |l: usize| std::array::from_fn(|x| set.words(l)[x] & !other.words(l)[x]);
    VoxelMask::from_words(set.topology().clone(), of_leaf)
}

/// Gives unknown faces beside known ones the mean of those, and makes them known.
fn grow(values: &mut [f32], known: &mut VoxelMask) {
    /// The six faces around one, as (axis, step).
    const AROUND: [(usize, i32); 6] = [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)];
    let topology = known.topology().clone();
    let grown: Vec<Vec<(u16, f32)>> = (0..topology.len())
        .into_par_iter()
        .map(|l| {
            let beside = AROUND.map(|(axis, step)| known.shifted(l, axis, step, false));
            let fresh = std::array::from_fn(|x| {
                beside.iter().fold(0, |any, words| any | words[x]) & !known.words(l)[x]
            });
            if fresh == [0; 8] {
                return Vec::new();
            }
            let mut block = [0.0; halo::SIZE];
            halo::load(&mut block, &*values, &topology.neighbours()[l], 0.0);
            let mean = |n: usize| {
                let c = leaf::local(n);
                let at = halo::index(c[0], c[1], c[2]);
                let (mut sum, mut count) = (0.0, 0);
                for (words, (axis, step)) in beside.iter().zip(AROUND) {
                    if words[n / 64] >> (n % 64) & 1 == 1 {
                        sum += block[at.wrapping_add_signed(step as isize * halo::STRIDE[axis] as isize)];
                        count += 1;
                    }
                }
                (n as u16, sum / count as f32)
            };
            offsets(&fresh).map(mean).collect()
        })
        .collect();
    let fresh = VoxelMask::from_offsets(topology, |l| grown[l].iter().map(|&(n, _)| usize::from(n)));
    *known = known.union(&fresh);
    values.par_chunks_mut(leaf::SIZE).zip(grown).for_each(|(values, grown)| {
        grown.into_iter().for_each(|(n, value)| values[usize::from(n)] = value);
    });
}

/// Gives closed faces the normal velocity of the solid they lie in.
fn constrain(velocity: &mut FaceGrid<f32>, open: &FaceGrid<f32>, solid: &SolidFields, h: f32) {
    /// Least slope of a level set from which a normal is taken: less means the middle of a thin wall.
    const LEAST_SLOPE: f32 = 0.3;
    let topology = velocity.topology.clone();
    let still = solid.velocity.values.iter().all(|v| v.par_iter().all(|&u| u == 0.0));
    let flows: Vec<bool> = (0..topology.len())
        .into_par_iter()
        .map(|l| velocity.values.iter().any(|v| v[l * leaf::SIZE..][..leaf::SIZE].iter().any(|&u| u != 0.0)))
        .collect();
    let at_rest = |l: usize| {
        let mut near = topology.neighbours()[l].iter().filter(|&&m| m != leaf::ABSENT);
        still && near.all(|&m| !flows[m as usize])
    };
    let before = velocity.clone();
    let [x, y, z] = &mut velocity.values;
    let leaves =
        x.par_chunks_mut(leaf::SIZE).zip(y.par_chunks_mut(leaf::SIZE)).zip(z.par_chunks_mut(leaf::SIZE));
    leaves.enumerate().for_each(|(l, ((x, y), z))| {
        if at_rest(l) {
            return;
        }
        let blocks = FaceBlocks::load(&before, l);
        let mut walls = Walls::around(solid, topology.origins()[l]);
        for (axis, values) in [x, y, z].into_iter().enumerate() {
            for (n, value) in values.iter_mut().enumerate() {
                let slot = l * leaf::SIZE + n;
                if open.values[axis][slot] > 0.0 {
                    continue;
                }
                let u = velocity_at_face(&blocks, n, axis);
                if still && u == Vec3::ZERO {
                    *value = 0.0;
                    continue;
                }
                let gradient = walls.gradient(n, axis);
                let of_solid = if still { Vec3::ZERO } else { walls.velocity(topology.coord(slot), axis) };
                if gradient.length() < LEAST_SLOPE * h {
                    *value = of_solid[axis];
                } else {
                    let normal = gradient.normalize();
                    *value = u[axis] + (of_solid - u).dot(normal) * normal[axis];
                }
            }
        }
    });
}

/// The velocity in the middle of the lower `axis` face of voxel `n`: the other components are the means of the four
/// faces around.
fn velocity_at_face(velocity: &FaceBlocks, n: usize, axis: usize) -> Vec3 {
    let c = leaf::local(n);
    let mut u = Vec3::ZERO;
    for other in 0..3 {
        let at = |back: i32, on: i32| {
            let mut at = c;
            at[axis] -= back;
            at[other] += on;
            velocity.at(other, at)
        };
        u[other] = match other == axis {
            true => velocity.at(axis, c),
            // Axes in order, as an interpolation would take them.
            false if axis < other => 0.25 * ((at(1, 0) + at(0, 0)) + (at(1, 1) + at(0, 1))),
            false => 0.25 * ((at(1, 0) + at(1, 1)) + (at(0, 0) + at(0, 1))),
        };
    }
    u
}

/// The solids around one leaf.
struct Walls<'a> {
    solid: &'a SolidFields,
    nodes: [f32; halo::SIZE],
    sampler: Sampler<'a>,
}

impl<'a> Walls<'a> {
    fn around(solid: &'a SolidFields, origin: Coord) -> Self {
        let (grid, topology) = (&solid.nodes, &solid.nodes.topology);
        let sampler = Sampler::new(topology);
        let mut walls = Self { solid, nodes: [grid.background; halo::SIZE], sampler };
        match topology.leaf_of(origin) {
            Some(l) => halo::load(&mut walls.nodes, &grid.values, &topology.neighbours()[l], grid.background),
            None => walls.look_up(origin),
        }
        walls
    }

    /// Nodes of a leaf that the solids' fields do not have: its neighbours may be there.
    #[cold]
    fn look_up(&mut self, origin: Coord) {
        for x in 0..=8 {
            for y in 0..=8 {
                for z in 0..=8 {
                    self.nodes[halo::index(x, y, z)] = self.solid.nodes.get(origin + Coord::new(x, y, z));
                }
            }
        }
    }

    /// ∇φ, per voxel, in the middle of the lower `axis` face of voxel `n`.
    fn gradient(&self, n: usize, axis: usize) -> Vec3 {
        let c = leaf::local(n);
        let first = halo::index(c[0], c[1], c[2]);
        let [x, y, z] = halo::STRIDE;
        let cube = [0, x, y, x + y, z, x + z, y + z, x + y + z].map(|step| self.nodes[first + step]);
        let mut middle = Vec3::splat(0.5);
        middle[axis] = 0.0;
        trilinear_gradient(&cube, middle).1
    }

    /// The solids' velocity in the middle of the lower `axis` face of a cell.
    fn velocity(&mut self, cell: Coord, axis: usize) -> Vec3 {
        let mut base = cell;
        base[axis] -= 1;
        let middle = Position { base, fraction: 0.5 * Vec3::AXES[axis] };
        self.sampler.sample_velocity(&self.solid.velocity, middle)
    }
}
