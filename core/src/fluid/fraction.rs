//! How much of the space around a cell's centre is liquid.

use super::cells::Cells;
use super::halo;
use super::particles::Particles;
use crate::grid::{Grid, Topology, Transform, leaf};
use glam::Vec3;
use rayon::prelude::*;

/// Least open fraction of a kernel from which a fraction of liquid is read at all: in channels narrower than the kernel.
pub(super) const LEAST_OPEN: f32 = 0.25;
/// Least open fraction from which it is read where there is a choice: about that of a cell centred on a flat wall.
/// The few particles that a kernel inside a solid still reaches would open pockets of air by chance.
const TRUSTED: f32 = 0.45;

/// Fraction of liquid around cell centres: of the space not in solids, weighted by a quadratic B-spline.
pub(super) struct Fraction {
    /// `[leaf][512]`, 0..1.
    pub value: Vec<f32>,
    /// False inside solids, where no fraction can be read, or a better one beside it.
    pub known: Vec<bool>,
    /// Open fraction of the cells and of the kernels around their centres, where there are solids.
    open: Option<Open>,
}

struct Open {
    cells: Vec<f32>,
    kernels: Vec<f32>,
}

impl Fraction {
    /// Whether a cell has any space that is not solid.
    pub fn has_room(&self, slot: usize) -> bool {
        self.open.as_ref().is_none_or(|open| open.cells[slot] > 0.0)
    }

    /// The same fraction where each cell holds `liquid` of its space, instead of the particles'.
    pub fn of_cells(&self, topology: &Topology, liquid: &[f32]) -> Vec<f32> {
        let Some(open) = &self.open else { return spread_cells(topology, liquid, 0.0) };
        let wet: Vec<f32> =
            liquid.par_iter().zip(&open.cells).with_min_len(4096).map(|(&l, &o)| l * o).collect();
        let mut value = spread_cells(topology, &wet, 0.0);
        value
            .par_iter_mut()
            .zip(&open.kernels)
            .with_min_len(4096)
            .for_each(|(v, &k)| *v /= k.max(LEAST_OPEN));
        value
    }
}

/// The fraction of liquid around every cell centre. `open` is the open fraction of the cells, `air` the cells of the air's
/// particles, where it is sampled.
pub(super) fn of_liquid(
    particles: &Particles,
    cells: &Cells,
    air: Option<&Cells>,
    transform: &Transform,
    open: Option<&Grid<f32>>,
    per_voxel: f32,
) -> Fraction {
    let topology = &cells.topology;
    let open = open.map(|open| open.values.clone());
    let weights = weights(cells, air, open.as_deref(), per_voxel);
    let mut value = spread(particles, cells, transform, &weights);
    let mut known = Vec::new();
    let open = open.map(|cells| Open { kernels: spread_cells(topology, &cells, 1.0), cells });
    match &open {
        None => known.resize(value.len(), true),
        Some(open) => {
            known = legible(topology, &open.kernels);
            let of_open = |((value, known), reach): ((&mut f32, &bool), &f32)| {
                *value = if *known { *value / reach } else { 0.0 };
            };
            value.par_iter_mut().zip(&known).zip(&open.kernels).with_min_len(4096).for_each(of_open);
        }
    }
    Fraction { value, known, open }
}

/// Where a fraction is read: where the kernel is open enough, and in channels, where it is open a little and
/// no better one is beside it.
fn legible(topology: &Topology, kernels: &[f32]) -> Vec<bool> {
    let mut legible = vec![true; kernels.len()];
    legible.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, legible)| {
        let own = &kernels[l * leaf::SIZE..][..leaf::SIZE];
        if own.iter().all(|&open| open >= TRUSTED) {
            return;
        }
        let mut block = [0.0; halo::SIZE];
        halo::load(&mut block, kernels, &topology.neighbours()[l], 0.0);
        for (n, legible) in legible.iter_mut().enumerate().filter(|(n, _)| own[*n] < TRUSTED) {
            *legible = own[n] >= LEAST_OPEN && around(&block, n).all(|open| open < TRUSTED);
        }
    });
    legible
}

/// Per cell, how much each of its particles counts, in cells; for an empty cell 1 if it is full all the same.
///
/// A cell whose 26 neighbours are wet (or solid) amid at least half the nominal number of particles is full:
/// gaps that particles leave between them inside the liquid are not air, and how many particles share it does
/// not matter. Elsewhere a particle counts for the volume that one has in the full cells next to it, so that neither
/// chance nor reseeding moves the surface; in spray, away from full cells, for the volume it was seeded with. A cell in
/// which the air has a particle is not full.
fn weights(cells: &Cells, air: Option<&Cells>, open: Option<&[f32]>, per_voxel: f32) -> Vec<f32> {
    let topology = &cells.topology;
    let content = content(cells, open);
    let wet_leaf = |l: usize| {
        let around = topology.neighbours()[l].iter();
        around.clone().any(|&m| m != leaf::ABSENT && !cells.leaf_range(m as usize).is_empty())
    };
    let mut full = vec![0.0f32; content.len()];
    full.par_chunks_mut(leaf::SIZE).enumerate().filter(|(l, _)| wet_leaf(*l)).for_each(|(l, full)| {
        let mut block = [0.0; halo::SIZE];
        halo::load(&mut block, &content, &topology.neighbours()[l], 0.0);
        for (n, full) in full.iter_mut().enumerate() {
            let s = l * leaf::SIZE + n;
            let has_air = air.is_some_and(|air| air.count(s) > 0);
            *full = if !has_air && is_full(&block, n, per_voxel) { content[s].max(GAP) } else { 0.0 };
        }
    });
    let mut weights = vec![0.0f32; content.len()];
    weights.par_chunks_mut(leaf::SIZE).enumerate().filter(|(l, _)| wet_leaf(*l)).for_each(|(l, weights)| {
        let mut block = [0.0; halo::SIZE];
        halo::load(&mut block, &full, &topology.neighbours()[l], 0.0);
        for (n, weight) in weights.iter_mut().enumerate() {
            *weight = match (full[l * leaf::SIZE + n], content[l * leaf::SIZE + n]) {
                (GAP, _) => 1.0,
                (own, _) if own > 0.0 => 1.0 / own,
                (_, count) if count > 0.0 => 1.0 / nearby_count(&block, n, per_voxel),
                _ => 0.0,
            };
        }
    });
    weights
}

/// Stands for the number of particles of a cell that is solid and holds none.
const SOLID: f32 = -1.0;
/// Stands for the number of particles of a full cell that holds none.
const GAP: f32 = 1e-3;

/// Particles per cell, or [`SOLID`].
fn content(cells: &Cells, open: Option<&[f32]>) -> Vec<f32> {
    let mut content = vec![0.0f32; cells.topology.len() * leaf::SIZE];
    content.par_iter_mut().enumerate().with_min_len(4096).for_each(|(s, content)| {
        let solid = open.is_some_and(|o| o[s] < LEAST_OPEN);
        *content = match cells.count(s) {
            0 if solid => SOLID,
            count => count as f32,
        };
    });
    content
}

/// The 3³ values around a voxel of a block.
fn around(block: &[f32; halo::SIZE], n: usize) -> impl Iterator<Item = f32> + '_ {
    let c = leaf::local(n);
    let first = halo::index(c[0] - 1, c[1] - 1, c[2] - 1);
    (0..27).map(move |d| block[first + d / 9 * halo::STRIDE[0] + d / 3 % 3 * halo::STRIDE[1] + d % 3])
}

/// Whether a cell is liquid throughout, from the [`content`] around it.
fn is_full(block: &[f32; halo::SIZE], n: usize, per_voxel: f32) -> bool {
    let c = leaf::local(n);
    let at = halo::index(c[0], c[1], c[2]);
    let own = block[at];
    // An empty cell is full only amid wet ones: most are told by the cells above and below.
    if own == SOLID || own == 0.0 && (block[at - 1] == 0.0 || block[at + 1] == 0.0) {
        return false;
    }
    let (mut total, mut places, mut dry) = (0.0, 0.0, 0);
    for count in around(block, n) {
        total += count.max(0.0);
        places += f32::from(count != SOLID);
        dry += i32::from(count == 0.0);
    }
    total >= 0.5 * per_voxel * places && dry == i32::from(own == 0.0)
}

/// Particles per full cell near a voxel, from the full cells around it and one as it was seeded.
fn nearby_count(full: &[f32; halo::SIZE], n: usize, per_voxel: f32) -> f32 {
    let (mut sum, mut cells) = (per_voxel, 1.0);
    for count in around(full, n).filter(|&c| c >= 1.0) {
        sum += count;
        cells += 1.0;
    }
    sum / cells
}

/// Σ_p w_p B(x − x_p) at cell centres, B the tensor product of quadratic B-splines.
fn spread(particles: &Particles, cells: &Cells, transform: &Transform, weights: &[f32]) -> Vec<f32> {
    let topology = &cells.topology;
    let frame = particles.frame(transform);
    let mut blocks = vec![0.0f32; topology.len() * halo::SIZE];
    let mut used = vec![false; topology.len()];
    blocks.par_chunks_mut(halo::SIZE).zip(&mut used).enumerate().for_each(|(l, (block, used))| {
        let Ok(block) = <&mut [f32; halo::SIZE]>::try_from(block) else { return };
        let origin = (topology.origins()[l] - frame.base).as_vec3();
        for (n, &weight) in weights[l * leaf::SIZE..][..leaf::SIZE].iter().enumerate() {
            if weight == 0.0 {
                continue;
            }
            *used = true;
            let c = leaf::local(n);
            let centre = Vec3::new(c[0] as f32, c[1] as f32, c[2] as f32);
            let first = halo::index(c[0] - 1, c[1] - 1, c[2] - 1);
            let range = cells.range(l * leaf::SIZE + n);
            if range.is_empty() {
                add(block, first, Vec3::ZERO, weight);
            }
            for p in range {
                add(block, first, frame.local(particles.position[p]) - origin - centre, weight);
            }
        }
    });

    let mut value = vec![0.0f32; topology.len() * leaf::SIZE];
    value.par_chunks_mut(leaf::SIZE).zip(topology.neighbours()).for_each(|(value, neighbours)| {
        for (s, &m) in neighbours.iter().enumerate() {
            if m == leaf::ABSENT || !used[m as usize] {
                continue;
            }
            let block = &blocks[m as usize * halo::SIZE..][..halo::SIZE];
            halo::rows_covered_by(s, |own, there, n| {
                for z in 0..n {
                    value[own + z] += block[there + z];
                }
            });
        }
    });
    value
}

/// Adds a weight at offset `d` (each in −½..½, voxels) from the centre of the cell in the middle of the 3³ cells
/// that start at block index `first`.
#[inline(always)]
fn add(block: &mut [f32; halo::SIZE], first: usize, d: Vec3, weight: f32) {
    let below = 0.5 * (0.5 - d) * (0.5 - d);
    let above = 0.5 * (0.5 + d) * (0.5 + d);
    let middle = 1.0 - below - above;
    let along = |a: usize| [below[a], middle[a], above[a]];
    let (x, y, z) = (along(0).map(|w| w * weight), along(1), along(2));
    for i in 0..3 {
        for j in 0..3 {
            let w = x[i] * y[j];
            let row = &mut block[first + i * halo::STRIDE[0] + j * halo::STRIDE[1]..][..3];
            row[0] += w * z[0];
            row[1] += w * z[1];
            row[2] += w * z[2];
        }
    }
}

/// The same sum for cells that are filled evenly: `content` each, `beyond` where there is no leaf.
pub(super) fn spread_cells(topology: &Topology, content: &[f32], beyond: f32) -> Vec<f32> {
    // The integrals of B over a neighbour of a cell and the cell itself.
    const SHARE: [f32; 2] = [1.0 / 6.0, 4.0 / 6.0];
    let mut sum = vec![0.0f32; content.len()];
    sum.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, sum)| {
        let mut block = [0.0; halo::SIZE];
        halo::load(&mut block, content, &topology.neighbours()[l], beyond);
        if block.iter().all(|&o| o == block[0]) {
            sum.fill(block[0]);
            return;
        }
        for step in halo::STRIDE {
            let before = block;
            for at in step..halo::SIZE - step {
                block[at] = SHARE[0] * (before[at - step] + before[at + step]) + SHARE[1] * before[at];
            }
        }
        for (n, sum) in sum.iter_mut().enumerate() {
            let c = leaf::local(n);
            *sum = block[halo::index(c[0], c[1], c[2])];
        }
    });
    sum
}
