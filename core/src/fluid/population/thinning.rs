//! Removes particles far below the surface, where one particle per cell is enough.
//!
//! Near the surface, particles define the shape of the liquid, so many are needed. Far below it they only carry
//! velocity and the users' attributes, and one per cell is enough for that [Hong et al. 2008]. Such cells are thinned,
//! count as full of liquid, and are filled again when they come near the surface. Narrow-band methods
//! [Ferstl et al. 2016] keep no particles at all far below the surface, but then forces that act on particles do not
//! reach the deep liquid.

use crate::fluid::faces::inlet::Inlet;
use crate::fluid::liquid::Liquid;
use crate::fluid::particles::cells::{CHUNK, Cells};
use crate::fluid::particles::seeding::Seeding;
use crate::fluid::particles::{Particles, Selection};
use crate::grid::morphology::{VoxelMask, offsets};
use crate::grid::sampling::Sampler;
use crate::grid::{Coord, FaceGrid, Grid, Transform, layers, leaf};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Particles that a thinned cell is left with at most.
pub(crate) const MOST: usize = 2;
/// Smallest share of a full cell's particles that still tells where in the cell the liquid is. Beside thinned cells,
/// fewer particles would stand on one side of the cell and leave a gap on the other.
const ENOUGH: f32 = 0.75;
/// Smallest distance, voxels, of a thinned cell's centre from solids: all of the cell, or nearly all, is open.
const CLEAR: f32 = 0.4;

/// Layers of faces without particles that are filled with the mean of those around them. A substep never makes more
/// layers.
const LAYERS: usize = 2;

/// Marks a particle in no deep cell.
const NOWHERE: u32 = u32::MAX;

/// The cells whose particles were thinned.
pub struct Thinned {
    transform: Transform,
    deep: VoxelMask,
    /// Particles per cell, `[leaf][512]`, at most 255 of them.
    counts: Vec<u8>,
    /// Per particle its cell, or [`NOWHERE`] where that is not deep.
    slots: Vec<u32>,
}

impl Thinned {
    /// The thinned cells of a liquid since the last substep; `None` where nothing was thinned.
    pub fn of(liquid: &Liquid) -> Option<Self> {
        let Liquid { particles, transform, surface, thinned_below, .. } = liquid;
        if *thinned_below <= 0.0 {
            return None;
        }
        let deep = deeper(surface, *thinned_below);
        let slots = slots(particles, transform, &deep);
        let mut counts = vec![0u8; surface.values.len()];
        for &slot in slots.iter().filter(|slot| **slot != NOWHERE) {
            let count = &mut counts[slot as usize];
            *count = count.saturating_add(1);
        }
        Some(Self { transform: *transform, deep, counts, slots })
    }

    /// Whether a point of the world lies in one of them.
    pub fn contain(&self, at: DVec3) -> bool {
        let cell = (self.transform.to_index(at) + 0.5).floor().as_ivec3();
        let slot = self.deep.topology().slot_of(cell);
        slot.is_some_and(|slot| self.deep.has(slot) && usize::from(self.counts[slot]) <= MOST)
    }

    /// How many particles each one stands for, where `per_voxel` fill a voxel.
    pub fn shares(&self, per_voxel: f32) -> Shares {
        let share = |&slot: &u32| match self.counts.get(slot as usize) {
            Some(&count) if usize::from(count) <= MOST => per_voxel / f32::from(count),
            _ => 1.0,
        };
        Shares(Some(self.slots.par_iter().with_min_len(4096).map(share).collect()))
    }
}

/// Fills the thinned cells whose centres, m, are `near` something that will cut into them, and says how the particles
/// continue. Each particle becomes as many as it stands for, where `per_voxel` fill a voxel; they are spread over its
/// cell as if seeded there, with the local velocity.
pub fn fill_where(liquid: &mut Liquid, per_voxel: f32, near: impl Fn(DVec3) -> bool) -> Selection {
    let count = liquid.particles.len();
    let Some(thinned) = Thinned::of(liquid) else { return Selection::identity(count) };
    let shares = thinned.shares(per_voxel);
    let Liquid { particles, transform, next_id, born_from, .. } = liquid;
    // They are not newer than the velocity, unless a source has added others that are.
    let none_is_newer = *born_from == *next_id;
    let frame = particles.frame(transform);
    let seeding = Seeding { seed: *next_id as u64, ..Seeding::for_voxel(frame.h) };
    let mut selection = Selection { source: Vec::with_capacity(count) };
    let (mut moved, mut met) = (Vec::new(), vec![0u8; thinned.counts.len()]);
    for (p, &slot) in thinned.slots.iter().enumerate() {
        selection.source.push(p as u32);
        let copies = shares.share(p).round() as i32;
        if copies == 1 {
            continue;
        }
        let cell = thinned.deep.topology().coord(slot as usize);
        if near(transform.to_world(cell.as_dvec3())) {
            let (before, of_cell) = (met[slot as usize], i32::from(thinned.counts[slot as usize]));
            met[slot as usize] += 1;
            selection.source.extend(std::iter::repeat_n(p as u32, copies as usize - 1));
            for copy in 0..copies {
                let o = (i32::from(before) + copy * of_cell) % 8;
                let low = IVec3::new(o & 1, o >> 1 & 1, o >> 2);
                // Clear of the octant's edges, where rounding might put it into the next cell.
                let place = 0.05 + 0.9 * seeding.place(2 * cell + low);
                let local = (cell - frame.base).as_vec3() + 0.5 * (low.as_vec3() + place) - 0.5;
                moved.push(Copied {
                    place: selection.source.len() - (copies - copy) as usize,
                    position: frame.position(local),
                    of: copies as f32,
                    is_new: copy > 0,
                });
            }
        }
    }
    particles.select(&selection);
    for Copied { place: p, position, of, is_new } in moved {
        particles.mass_share[p] /= of;
        let way = position - particles.position[p];
        particles.position[p] = position;
        particles.velocity[p] += Vec3::from(particles.affine.each_ref().map(|rows| rows[p].dot(way)));
        if is_new {
            particles.id[p] = *next_id;
            *next_id += 1;
        }
    }
    *born_from = if none_is_newer { *next_id } else { *born_from };
    selection
}

/// One of the particles that replace a thinned cell's particle.
struct Copied {
    place: usize,
    position: Vec3,
    /// How many particles replace it; they share its mass.
    of: f32,
    is_new: bool,
}

/// How many seeded particles each particle of a liquid stands for.
#[derive(Clone, Debug, Default)]
pub struct Shares(Option<Vec<f32>>);

impl Shares {
    /// Of a liquid's particles, `per_voxel` of which fill a voxel.
    pub fn of(liquid: &Liquid, per_voxel: f32) -> Self {
        Thinned::of(liquid).map_or_else(Self::default, |thinned| thinned.shares(per_voxel))
    }

    /// For how many particle `p` stands.
    pub fn share(&self, p: usize) -> f32 {
        self.0.as_ref().map_or(1.0, |shares| shares[p])
    }

    /// For how many all `count` particles stand.
    pub fn total(&self, count: usize) -> f64 {
        self.0.as_ref().map_or(count as f64, |shares| shares.iter().map(|&share| f64::from(share)).sum())
    }

    /// The particles became those of a selection.
    pub fn follow(&mut self, selection: &Selection) {
        if let Some(shares) = &mut self.0 {
            *shares = selection.gather(shares);
        }
    }

    /// The cells that are full of liquid though they hold few particles: one of their particles, or one in the 26 cells
    /// around, comes from a thinned cell. `per_voxel` particles fill a voxel.
    pub(crate) fn full_cells(&self, cells: &Cells, per_voxel: f32) -> Option<VoxelMask> {
        let shares = self.0.as_ref()?;
        let holding = VoxelMask::from_words(cells.topology.clone(), |l| {
            let first = l * leaf::SIZE;
            let holds = |n: &usize| shares[cells.range(first + n)].iter().any(|&share| share > 1.0);
            let wet = (0..leaf::SIZE).filter(|_| !cells.leaf_range(l).is_empty());
            wet.filter(holds).fold([0; 8], |mut words, n| {
                words[n / 64] |= 1 << (n % 64);
                words
            })
        });
        let few = |l| cells.words_where(l, |count| (count as f32) < ENOUGH * per_voxel);
        Some(VoxelMask::from_words(cells.topology.clone(), |l| both(&holding.grown_in(l, false), &few(l))))
    }
}

/// The cells of a level set's leaves whose centres lie `depth` metres or more below its surface.
fn deeper(surface: &Grid<f32>, depth: f32) -> VoxelMask {
    VoxelMask::of_values(surface.topology.clone(), &surface.values, |phi| phi <= -depth)
}

/// Per particle its cell, or [`NOWHERE`] where that is not one of `cells`.
fn slots(particles: &Particles, transform: &Transform, cells: &VoxelMask) -> Vec<u32> {
    let (frame, topology) = (particles.frame(transform), cells.topology());
    let mut slots = vec![NOWHERE; particles.len()];
    let chunks = slots.par_chunks_mut(CHUNK).zip(particles.position.par_chunks(CHUNK));
    chunks.for_each(|(slots, positions)| {
        let (mut origin, mut l) = (Coord::MAX, None);
        for (slot, &x) in slots.iter_mut().zip(positions) {
            let cell = frame.cell(x);
            if origin != cell & !7 {
                (origin, l) = (cell & !7, topology.leaf_of(cell));
            }
            let here = l.map(|l| l * leaf::SIZE + leaf::offset(cell.x, cell.y, cell.z));
            *slot = here.filter(|&here| cells.has(here)).map_or(NOWHERE, |here| here as u32);
        }
    });
    slots
}

/// The cells to thin: `depth` metres or more below the surface, away from solids (their level set at nodes, m), and not
/// in or beside the region of a driving source.
pub(crate) fn to_thin(
    surface: &Grid<f32>,
    depth: f32,
    solid: &Grid<f32>,
    inlet: Option<&Inlet>,
    h: f32,
) -> VoxelMask {
    let topology = &surface.topology;
    let deep = deeper(surface, depth);
    let driven = inlet.map(|inlet| {
        let given = VoxelMask::from_fn(topology.clone(), |s| inlet.velocity_in(topology.coord(s)).is_some());
        given.grown(false)
    });
    VoxelMask::from_words(topology.clone(), |l| {
        let mut nodes = Sampler::new(&solid.topology);
        std::array::from_fn(|x| {
            let own = deep.words(l)[x] & !driven.as_ref().map_or(0, |driven| driven.words(l)[x]);
            bits(own).fold(0, |clear, bit| {
                let centre = topology.coord(l * leaf::SIZE + x * 64 + bit).as_dvec3();
                clear | u64::from(nodes.sample_nodes(solid, centre) >= CLEAR * h) << bit
            })
        })
    })
}

/// The voxels of both sets in a leaf.
fn both(a: &[u64; 8], b: &[u64; 8]) -> [u64; 8] {
    std::array::from_fn(|x| a[x] & b[x])
}

/// The places of the bits of a word.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

/// Gives the faces of full cells that no particle reached the mean of the faces around them.
pub(crate) fn fill_gaps(velocity: &mut FaceGrid<f32>, cells: &Cells) {
    let Some(full) = &cells.full else { return };
    let topology = velocity.topology.clone();
    let empty = VoxelMask::from_words(topology.clone(), |l| match *full.words(l) == [0; 8] {
        true => [0; 8],
        false => both(full.words(l), &cells.words_where(l, |count| count == 0)),
    });
    for axis in 0..3 {
        let values = &velocity.values[axis];
        let gaps = VoxelMask::from_words(topology.clone(), |l| {
            let (own, below) = (empty.words(l), empty.shifted(l, axis, -1, false));
            std::array::from_fn(|x| {
                let first = l * leaf::SIZE + x * 64;
                bits(own[x] & below[x]).fold(0, |w, bit| w | u64::from(values[first + bit] == 0.0) << bit)
            })
        });
        if gaps.count() > 0 {
            let known = VoxelMask::from_words(topology.clone(), |l| gaps.words(l).map(|word| !word));
            let values = std::mem::take(&mut velocity.values[axis]);
            let mut field = Grid { topology: topology.clone(), values, background: velocity.background };
            layers::carry_on(&mut field, known, LAYERS);
            velocity.values[axis] = field.values;
        }
    }
}

/// How many particles the cells of a set lack, where `per_voxel` fill a voxel.
pub(crate) fn spared(deep: &VoxelMask, cells: &Cells, per_voxel: f32) -> f64 {
    let of_leaf = |l: usize| -> f64 {
        let own = offsets(deep.words(l)).map(|n| cells.count(l * leaf::SIZE + n));
        own.map(|count| f64::from(per_voxel) - count as f64).sum()
    };
    (0..cells.topology.len()).map(of_leaf).sum()
}
