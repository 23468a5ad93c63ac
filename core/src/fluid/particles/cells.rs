//! Which particles are in which cell: the counting sort that gives particles their order.

use crate::fluid::particles::{Particles, Selection};
use crate::grid::morphology::{VoxelMask, words_of};
use crate::grid::{Coord, Topology, Transform, leaf};
use glam::IVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Particles handled by one task when they are not grouped by leaf.
pub(crate) const CHUNK: usize = 4096;

/// The cell lists of particles sorted by leaf, then cell.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The leaves the cells belong to.
    pub topology: Arc<Topology>,
    /// The cell at slot s holds particles `start[s]..start[s + 1]`.
    pub start: Vec<u32>,
    /// Cells that are full of liquid though they hold few particles, because particles were thinned there.
    pub full: Option<VoxelMask>,
}

impl Cells {
    /// The particles of the cell at a slot (`leaf * 512 + offset`).
    #[inline(always)]
    pub fn range(&self, slot: usize) -> std::ops::Range<usize> {
        self.start[slot] as usize..self.start[slot + 1] as usize
    }

    /// Number of particles in the cell at a slot.
    #[inline(always)]
    pub fn count(&self, slot: usize) -> usize {
        (self.start[slot + 1] - self.start[slot]) as usize
    }

    /// Whether the cell at a slot is full of liquid though it holds few particles.
    #[inline]
    pub fn is_full(&self, slot: usize) -> bool {
        self.full.as_ref().is_some_and(|full| full.has(slot))
    }

    /// The cells of a leaf whose number of particles fulfils a condition: word x, bit `y << 3 | z`.
    pub fn words_where(&self, l: usize, fulfils: impl Fn(u32) -> bool) -> [u64; 8] {
        let start = &self.start[l * leaf::SIZE..][..leaf::SIZE + 1];
        let counts: [u32; leaf::SIZE] = std::array::from_fn(|n| start[n + 1] - start[n]);
        words_of(&counts, fulfils)
    }

    /// The particles of a leaf.
    #[inline]
    pub fn leaf_range(&self, l: usize) -> std::ops::Range<usize> {
        self.start[l * leaf::SIZE] as usize..self.start[(l + 1) * leaf::SIZE] as usize
    }

    /// Cuts a per-particle array into one slice per leaf.
    pub fn split_mut<'a, T>(&self, mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
        (0..self.topology.len())
            .map(|l| {
                let (head, tail) = std::mem::take(&mut values).split_at_mut(self.leaf_range(l).len());
                values = tail;
                head
            })
            .collect()
    }

    /// Cell lists of particles that are already in cell order on a topology that covers them; `None` when
    /// they are not (then [`sort`] is needed).
    pub fn of_sorted(particles: &Particles, transform: &Transform, topology: &Arc<Topology>) -> Option<Self> {
        let slots = slots(particles, transform, topology)?;
        let ordered = slots.par_windows(2).all(|w| w[0] <= w[1]);
        ordered.then(|| Self {
            start: starts(&slots, topology.len()),
            topology: topology.clone(),
            full: None,
        })
    }
}

/// The leaves within `reach` voxels (1..=8) of any particle.
pub fn covering(particles: &Particles, transform: &Transform, reach: i32) -> Topology {
    let frame = particles.frame(transform);
    let needs = neighbour_needs(reach);
    let mut touched: Vec<(Coord, u32)> = particles
        .position
        .par_chunks(CHUNK)
        .flat_map_iter(|positions| {
            let mut seen: Vec<(Coord, u32)> = Vec::new();
            for &x in positions {
                let cell = frame.cell(x);
                let need = needs[leaf::offset(cell.x, cell.y, cell.z)];
                match seen.last_mut() {
                    Some((origin, mask)) if *origin == cell & !7 => *mask |= need,
                    _ => seen.push((cell & !7, need)),
                }
            }
            seen
        })
        .collect();
    touched.sort_unstable_by_key(|(o, _)| o.to_array());
    touched.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 |= next.1;
        }
        same
    });
    let leaves = touched.iter().flat_map(|&(origin, mask)| {
        (0..leaf::NEIGHBOURS)
            .filter(move |s| mask & (1 << s) != 0)
            .map(move |s| origin + IVec3::from_array(leaf::displacement(s)) * leaf::DIM as i32)
    });
    Topology::new(leaves.collect())
}

/// Sorts the particles by leaf, then cell (stable), on a topology that covers them.
///
/// Returns the cell lists and how the particles moved; particles outside the topology are dropped.
pub fn sort(
    particles: &mut Particles,
    transform: &Transform,
    topology: &Arc<Topology>,
) -> (Cells, Selection) {
    let covered = slots(particles, transform, topology);
    let inside = covered.is_none().then(|| {
        let frame = particles.frame(transform);
        let mut inside = Selection::identity(particles.len());
        inside.source.retain(|&p| topology.slot_of(frame.cell(particles.position[p as usize])).is_some());
        particles.select(&inside);
        inside
    });
    let slots = covered.or_else(|| slots(particles, transform, topology)).unwrap_or_default();
    let (start, order) = counting_sort(&slots, topology.len());
    particles.select(&order);
    let selection = inside.map_or_else(|| order.clone(), |inside| inside.then(&order));
    (Cells { topology: topology.clone(), start, full: None }, selection)
}

/// Some of the particles, sorted by leaf.
struct Chunk {
    /// Where each leaf's begin in `particles`, and where the last one's end.
    first: Vec<u32>,
    particles: Vec<u32>,
}

impl Chunk {
    fn of(slots: &[u32], number: usize, leaves: usize) -> Self {
        let leaf_of = |slot: u32| slot as usize / leaf::SIZE;
        let mut first = vec![0u32; leaves + 1];
        slots.iter().for_each(|&s| first[leaf_of(s) + 1] += 1);
        (0..leaves).for_each(|l| first[l + 1] += first[l]);
        let (mut next, mut particles) = (first.clone(), vec![0u32; slots.len()]);
        for (p, &slot) in (number as u32..).zip(slots) {
            let place = &mut next[leaf_of(slot)];
            particles[*place as usize] = p;
            *place += 1;
        }
        Self { first, particles }
    }

    fn of_leaf(&self, l: usize) -> &[u32] {
        &self.particles[self.first[l] as usize..self.first[l + 1] as usize]
    }
}

/// The starts of the cells, and the order that sorts particles by slot (stable): chunks are sorted by leaf in parallel,
/// then leaves by cell.
fn counting_sort(slots: &[u32], leaves: usize) -> (Vec<u32>, Selection) {
    /// Particles of a chunk.
    const SORTED: usize = 1 << 15;
    let chunks: Vec<Chunk> =
        slots.par_chunks(SORTED).enumerate().map(|(c, slots)| Chunk::of(slots, c * SORTED, leaves)).collect();
    let members = |l: usize| chunks.iter().flat_map(move |chunk| chunk.of_leaf(l));
    let mut order = Selection { source: vec![0; slots.len()] };
    let (mut first, mut rest) = (0, order.source.as_mut_slice());
    let mut own = Vec::with_capacity(leaves);
    for l in 0..leaves {
        let count = chunks.iter().map(|chunk| chunk.of_leaf(l).len()).sum();
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(count);
        own.push((first as u32, head));
        (first, rest) = (first + count, tail);
    }
    let mut start = vec![slots.len() as u32; leaves * leaf::SIZE + 1];
    start.par_chunks_exact_mut(leaf::SIZE).zip(own).enumerate().for_each(|(l, (start, (first, own)))| {
        let cell = |p: u32| slots[p as usize] as usize % leaf::SIZE;
        let mut next = [0u32; leaf::SIZE];
        members(l).for_each(|&p| next[cell(p)] += 1);
        let mut before = 0;
        for (start, next) in start.iter_mut().zip(&mut next) {
            *start = first + before;
            before += std::mem::replace(next, before);
        }
        for &p in members(l) {
            let place = &mut next[cell(p)];
            own[*place as usize] = p;
            *place += 1;
        }
    });
    (start, order)
}

/// Slot of every particle's cell, or `None` if one lies outside the topology.
fn slots(particles: &Particles, transform: &Transform, topology: &Topology) -> Option<Vec<u32>> {
    let frame = particles.frame(transform);
    let mut slots = vec![0u32; particles.len()];
    let covered = slots
        .par_chunks_mut(CHUNK)
        .zip(particles.position.par_chunks(CHUNK))
        .map(|(slots, positions)| {
            let mut cached = (IVec3::MAX, 0);
            for (slot, &x) in slots.iter_mut().zip(positions) {
                let cell = frame.cell(x);
                if cached.0 != cell & !7 {
                    cached = match topology.leaf_of(cell) {
                        Some(l) => (cell & !7, l),
                        None => return false,
                    };
                }
                *slot = (cached.1 * leaf::SIZE + leaf::offset(cell.x, cell.y, cell.z)) as u32;
            }
            true
        })
        .reduce(|| true, |a, b| a && b);
    covered.then_some(slots)
}

/// The starts of the cells of particles in order.
fn starts(slots: &[u32], leaves: usize) -> Vec<u32> {
    let mut start = vec![slots.len() as u32; leaves * leaf::SIZE + 1];
    start.par_chunks_exact_mut(leaf::SIZE).enumerate().for_each(|(l, start)| {
        let mut p = slots.partition_point(|&slot| (slot as usize) < l * leaf::SIZE);
        for (s, start) in (l * leaf::SIZE..).zip(start) {
            *start = p as u32;
            p += slots[p..].iter().take_while(|&&slot| slot as usize == s).count();
        }
    });
    start
}

/// Per voxel of a leaf, which of the 27 leaves around lie within `reach` voxels (a bit per slot).
fn neighbour_needs(reach: i32) -> [u32; leaf::SIZE] {
    let reach = reach.clamp(1, leaf::DIM as i32);
    std::array::from_fn(|n| {
        let local = leaf::local(n);
        let within = |d: i32, x: i32| match d {
            -1 => x < reach,
            1 => x >= leaf::DIM as i32 - reach,
            _ => true,
        };
        (0..leaf::NEIGHBOURS).fold(0, |mask, s| {
            let d = IVec3::from_array(leaf::displacement(s)).to_array();
            let needed = (0..3).all(|a| within(d[a], local[a]));
            mask | (u32::from(needed) << s)
        })
    })
}
