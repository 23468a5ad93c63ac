//! Keeps the number of particles per cell of the liquid's interior within limits.
//!
//! Only cells that lie wholly inside the liquid are touched: there the level set does not depend on how many
//! particles a cell holds, so the liquid keeps its volume. Near the surface particles are the shape of the
//! liquid and are left alone.

use super::cells::Cells;
use super::four::Four;
use super::particles::{IndexFrame, Particles, Selection};
use super::random;
use super::seeding::octant;
use super::transfer::FaceBlocks;
use crate::grid::sampling::Sampler;
use crate::grid::{FaceGrid, Grid, Transform, leaf};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Limits on the particles of an interior cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reseeding {
    /// Cells with fewer particles are filled up to this many.
    pub fewest: usize,
    /// Cells with more particles are thinned to this many.
    pub most: usize,
    /// Depth below the surface, in voxels, from which a cell's centre counts as interior: half the diagonal of a
    /// cell, so that the whole cell is liquid.
    pub depth: f32,
    /// Distance new particles keep from solids, in voxels.
    pub clearance: f32,
}

impl Reseeding {
    /// The limits for a liquid of `count` particles that should have `wanted`: births and deaths do not balance by
    /// themselves, so every percent too many lowers both limits by one, and too few raises them.
    pub fn balanced(&self, count: usize, wanted: f64) -> Self {
        const MOST_SHIFT: f64 = 2.0;
        if wanted <= 0.0 {
            return *self;
        }
        let percent = 100.0 * (count as f64 / wanted - 1.0);
        let shift = percent.round().clamp(-MOST_SHIFT, MOST_SHIFT) as i64;
        let shifted = |limit: usize| limit.saturating_add_signed(-shift as isize).max(1);
        Self { fewest: shifted(self.fewest), most: shifted(self.most).max(self.fewest + 1), ..*self }
    }
}

impl Default for Reseeding {
    fn default() -> Self {
        Self { fewest: 4, most: 12, depth: 0.87, clearance: 0.1 }
    }
}

/// One particle of the new set: an old one, or a new one that copies the attributes of an old one.
struct Entry {
    source: u32,
    born: Option<Vec3>,
}

/// Thins and fills interior cells. Born particles copy every attribute of the nearest particle and take position,
/// velocity and affine part of the face velocity; ids are drawn from `next_id`. Particles stay in cell order.
///
/// `surface` is the liquid level set (m), `solid` the solids' level set at nodes (m), all on the cells' leaves.
pub fn reseed(
    particles: &mut Particles,
    cells: &Cells,
    transform: &Transform,
    surface: &Grid<f32>,
    velocity: &FaceGrid<f32>,
    solid: Option<&Grid<f32>>,
    limits: &Reseeding,
    next_id: &mut i64,
) -> Selection {
    let frame = particles.frame(transform);
    let pass = Pass { particles, cells, frame, surface, solid, limits, seed: *next_id as u64 };
    let leaves: Vec<Option<Vec<Entry>>> =
        (0..cells.topology.len()).into_par_iter().map(|l| pass.leaf(l)).collect();
    if leaves.iter().all(Option::is_none) {
        return Selection::identity(particles.len());
    }

    let mut selection = Selection { source: Vec::with_capacity(particles.len()) };
    let mut born: Vec<(usize, usize, Vec3)> = Vec::new();
    for (l, entries) in leaves.iter().enumerate() {
        match entries {
            None => selection.source.extend(cells.leaf_range(l).map(|p| p as u32)),
            Some(entries) => {
                for e in entries {
                    if let Some(position) = e.born {
                        born.push((selection.source.len(), l, position));
                    }
                    selection.source.push(e.source);
                }
            }
        }
    }
    particles.select(&selection);
    give_birth(particles, cells, &frame, velocity, &born, next_id);
    selection
}

/// Sets what born particles do not copy. `born`: (particle, leaf, position), in particle order.
fn give_birth(
    particles: &mut Particles,
    cells: &Cells,
    frame: &IndexFrame,
    velocity: &FaceGrid<f32>,
    born: &[(usize, usize, Vec3)],
    next_id: &mut i64,
) {
    for group in born.chunk_by(|a, b| a.1 == b.1) {
        let l = group[0].1;
        let block = FaceBlocks::load(velocity, l);
        let origin = (cells.topology.origins()[l] - frame.base).as_vec3();
        for &(p, _, position) in group {
            let (u, gradient) = block.gather(Four::of(&[frame.local(position) - origin]));
            particles.position[p] = position;
            particles.velocity[p] = u.lane(0);
            for (rows, g) in particles.affine.iter_mut().zip(gradient) {
                rows[p] = g.lane(0) * frame.per_metre;
            }
            particles.id[p] = *next_id;
            *next_id += 1;
        }
    }
}

struct Pass<'a> {
    particles: &'a Particles,
    cells: &'a Cells,
    frame: IndexFrame,
    surface: &'a Grid<f32>,
    solid: Option<&'a Grid<f32>>,
    limits: &'a Reseeding,
    seed: u64,
}

impl Pass<'_> {
    /// The new particles of a leaf, or `None` when nothing changes.
    fn leaf(&self, l: usize) -> Option<Vec<Entry>> {
        let interior = -self.limits.depth * self.frame.h;
        let first = l * leaf::SIZE;
        let unruly = |s: usize| {
            let count = self.cells.count(s);
            self.surface.values[s] < interior && (count < self.limits.fewest || count > self.limits.most)
        };
        if !(first..first + leaf::SIZE).any(unruly) {
            return None;
        }
        let mut entries = Vec::with_capacity(self.cells.leaf_range(l).len());
        for s in first..first + leaf::SIZE {
            let range = self.cells.range(s);
            if !unruly(s) {
                entries.extend(range.map(|p| Entry { source: p as u32, born: None }));
            } else if range.len() > self.limits.most {
                self.thin(range, &mut entries);
            } else {
                self.fill(l, s, &mut entries);
            }
        }
        Some(entries)
    }

    /// Keeps `most` particles of a cell: drops the last of the fullest octant until they fit.
    fn thin(&self, range: std::ops::Range<usize>, entries: &mut Vec<Entry>) {
        let mut kept: Vec<usize> = range.collect();
        let octant_of = |p: usize| octant(&self.frame, self.particles.position[p]);
        let mut counts = [0usize; 8];
        for &p in &kept {
            counts[octant_of(p)] += 1;
        }
        while kept.len() > self.limits.most {
            let fullest = (0..8).rev().max_by_key(|&o| counts[o]).unwrap_or(0);
            counts[fullest] -= 1;
            if let Some(last) = kept.iter().rposition(|&p| octant_of(p) == fullest) {
                kept.remove(last);
            }
        }
        entries.extend(kept.into_iter().map(|p| Entry { source: p as u32, born: None }));
    }

    /// Fills the emptiest octants of a cell until it holds `fewest` particles.
    fn fill(&self, l: usize, s: usize, entries: &mut Vec<Entry>) {
        let range = self.cells.range(s);
        let cell = self.cells.topology.coord(s);
        let mut counts = [0usize; 8];
        for p in range.clone() {
            counts[octant(&self.frame, self.particles.position[p])] += 1;
        }
        let missing = self.limits.fewest - range.len();
        entries.extend(range.map(|p| Entry { source: p as u32, born: None }));
        for _ in 0..missing {
            let emptiest = (0..8).min_by_key(|&o| counts[o]).unwrap_or(0);
            counts[emptiest] += 1;
            let o = emptiest as i32;
            let low = IVec3::new(o & 1, o >> 1 & 1, o >> 2);
            let r = random::point(2 * cell + low, self.seed.wrapping_add(counts[emptiest] as u64));
            let place = |r: Vec3| (cell - self.frame.base).as_vec3() + 0.5 * (low.as_vec3() + r) - 0.5;
            // A point on the cell's edge may be rounded into the next; the octant's middle is not.
            let rounded = self.frame.cell(self.frame.position(place(r))) != cell;
            let local = place(if rounded { Vec3::splat(0.5) } else { r });
            if self.in_solid(local) {
                continue;
            }
            let position = self.frame.position(local);
            if let Some(nearest) = self.nearest(l, s, position) {
                entries.push(Entry { source: nearest as u32, born: Some(position) });
            }
        }
    }

    fn in_solid(&self, local: Vec3) -> bool {
        self.solid.is_some_and(|nodes| {
            let at = local.as_dvec3() + self.frame.base.as_dvec3();
            let distance = Sampler::new(&nodes.topology).sample_nodes(nodes, at);
            distance < self.limits.clearance * self.frame.h
        })
    }

    /// The particle nearest to a position of the cell at a slot, among those of the 3³ cells around it.
    fn nearest(&self, l: usize, s: usize, position: Vec3) -> Option<usize> {
        let c = leaf::local(s % leaf::SIZE);
        let mut best: Option<(f32, usize)> = None;
        for n in 0..27i32 {
            let local = [c[0] + n / 9 - 1, c[1] + n / 3 % 3 - 1, c[2] + n % 3 - 1];
            let Some(slot) = self.cells.topology.reach(l, local) else { continue };
            for p in self.cells.range(slot) {
                let d = self.particles.position[p].distance_squared(position);
                if best.is_none_or(|(least, _)| d < least) {
                    best = Some((d, p));
                }
            }
        }
        best.map(|(_, p)| p)
    }
}
