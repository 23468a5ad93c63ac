//! Keeps the number of particles per cell of the liquid's interior within limits.
//!
//! Only cells that lie completely inside the liquid are changed. There the level set does not depend on how many
//! particles a cell holds, so the liquid keeps its volume. Near the surface the particles define the shape of the
//! liquid and are left alone.
//!
//! Mass and momentum are conserved: newborn particles share their parent's, removed ones leave theirs to an heir
//! (`heritage.rs`).

use super::heritage::{Family, Legacy, bequeath, share_out};
use super::thinning;
use crate::fluid::particles::cells::Cells;
use crate::fluid::particles::four::Four;
use crate::fluid::particles::random;
use crate::fluid::particles::seeding::octant;
use crate::fluid::particles::{IndexFrame, Particles, Selection};
use crate::fluid::transport::transfer::FaceBlocks;
use crate::grid::morphology::VoxelMask;
use crate::grid::sampling::Sampler;
use crate::grid::{FaceGrid, Grid, Transform, leaf};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Extra depth, in voxels, at which a cell is thinned, compared with one that is thinned already. Without this margin,
/// noise in the level set would thin and refill the same cells from one substep to the next.
const TO_AND_FRO: f32 = 0.2;

/// Limits on the particles of an interior cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reseeding {
    /// Cells with fewer particles are filled.
    pub fewest: usize,
    /// How many particles a cell is filled up to.
    pub filled: usize,
    /// Cells with more particles are thinned to this many.
    pub most: usize,
    /// Depth below the surface, in voxels, from which a cell's centre counts as interior: half the diagonal of a
    /// cell, so that the whole cell is liquid.
    pub depth: f32,
    /// Distance new particles keep from solids, in voxels.
    pub clearance: f32,
    /// Depth below the surface, in voxels, from which one particle per cell is enough; 0: nowhere.
    pub thinned_below: f32,
}

/// Particles per voxel that the limits are meant for.
const NOMINAL: f32 = 8.0;

impl Reseeding {
    /// The limits are given for eight particles per voxel; these are the limits scaled to `per_voxel`.
    pub fn for_filling(&self, per_voxel: f32) -> Self {
        let scaled = |limit: usize| ((limit as f32 * per_voxel / NOMINAL).round() as usize).max(1);
        let (fewest, filled) = (scaled(self.fewest), scaled(self.filled));
        Self { fewest, filled, most: scaled(self.most).max(filled + 1), ..*self }
    }

    /// The limits for a liquid of `count` particles that should have `wanted`. Births and deaths do not balance by
    /// themselves, so every percent too many lowers both limits by one, and every percent too few raises them.
    pub fn balanced(&self, count: f64, wanted: f64) -> Self {
        const MOST_SHIFT: f64 = 2.0;
        if wanted <= 0.0 {
            return *self;
        }
        let percent = 100.0 * (count / wanted - 1.0);
        let shift = percent.round().clamp(-MOST_SHIFT, MOST_SHIFT) as i64;
        let shifted = |limit: usize| limit.saturating_add_signed(-shift as isize).max(1);
        let (fewest, filled) = (shifted(self.fewest), shifted(self.filled));
        Self { fewest, filled, most: shifted(self.most).max(filled + 1), ..*self }
    }
}

impl Default for Reseeding {
    fn default() -> Self {
        Self { fewest: 4, filled: 4, most: 12, depth: 0.87, clearance: 0.1, thinned_below: 0.0 }
    }
}

/// The new particles of a leaf.
#[derive(Default)]
struct Renewed {
    /// The old ones they are, or copy the attributes of.
    source: Vec<u32>,
    born: Vec<Birth>,
    /// Removed particles, and their heirs, which stay.
    dead: Vec<(u32, u32)>,
}

impl Renewed {
    /// The new index of each old particle of the leaf, from index `first` on; a removed one continues in its heir.
    fn places(&self, range: std::ops::Range<usize>) -> Vec<u32> {
        let mut places = vec![0; range.len()];
        let mut born = self.born.iter().map(|birth| birth.place).peekable();
        for (place, &p) in (0..).zip(&self.source) {
            if born.next_if_eq(&place).is_none() {
                places[p as usize - range.start] = place;
            }
        }
        for &(dead, heir) in &self.dead {
            places[dead as usize - range.start] = places[heir as usize - range.start];
        }
        places
    }
}

/// The values that a newborn particle does not copy.
struct Birth {
    /// Its index among the particles of its leaf.
    place: u32,
    position: Vec3,
    velocity: Vec3,
    affine: [Vec3; 3],
}

/// The inside of a liquid; all fields are on the leaves of its cells.
#[derive(Clone, Copy)]
pub struct Interior<'a> {
    /// The cells of the particles.
    pub cells: &'a Cells,
    /// Where they are.
    pub transform: &'a Transform,
    /// The liquid's level set, m.
    pub surface: &'a Grid<f32>,
    /// Its face velocity, m/s.
    pub velocity: &'a FaceGrid<f32>,
    /// The solids' level set at nodes, m.
    pub solid: Option<&'a Grid<f32>>,
    /// Open fraction of the faces, where there are solids.
    pub open: Option<&'a FaceGrid<f32>>,
    /// The cells to thin.
    pub deep: Option<&'a VoxelMask>,
}

/// Thins and fills interior cells. A newborn particle copies every attribute of the nearest particle and takes its
/// position, velocity and affine part from the face velocity. Ids are drawn from `next_id`. Particles stay in cell
/// order, and their total mass and momentum are unchanged.
///
/// Deep cells are thinned to one particle.
pub fn reseed(
    particles: &mut Particles,
    interior: &Interior,
    limits: &Reseeding,
    next_id: &mut i64,
) -> Selection {
    let Interior { cells, transform, .. } = *interior;
    let frame = particles.frame(transform);
    let pass = Pass { particles, interior, cells, frame, limits, seed: *next_id as u64 };
    let leaves: Vec<Option<Renewed>> =
        (0..cells.topology.len()).into_par_iter().map(|l| pass.leaf(l)).collect();
    if leaves.iter().all(Option::is_none) {
        return Selection::identity(particles.len());
    }

    let mut selection = Selection { source: Vec::with_capacity(particles.len()) };
    let mut first = Vec::with_capacity(leaves.len());
    for (l, renewed) in leaves.iter().enumerate() {
        first.push(selection.source.len());
        match renewed {
            None => selection.source.extend(cells.leaf_range(l).map(|p| p as u32)),
            Some(renewed) => selection.source.extend_from_slice(&renewed.source),
        }
    }
    let lineage = Lineage::of(cells, &leaves, &first);
    let renewed = || first.iter().zip(&leaves).filter_map(|(&first, leaf)| Some((first, leaf.as_ref()?)));
    let dead = renewed().flat_map(|(_, leaf)| &leaf.dead);
    let legacies: Vec<Legacy> =
        dead.map(|&(dead, heir)| Legacy::of(particles, dead as usize, lineage.place(heir))).collect();
    particles.select(&selection);
    legacies.iter().for_each(|legacy| bequeath(particles, legacy));
    let mut families = Vec::new();
    for (first, birth) in renewed().flat_map(|(first, leaf)| leaf.born.iter().map(move |b| (first, b))) {
        let p = first + birth.place as usize;
        (particles.position[p], particles.velocity[p]) = (birth.position, birth.velocity);
        particles.affine.iter_mut().zip(birth.affine).for_each(|(rows, row)| rows[p] = row);
        particles.id[p] = *next_id;
        *next_id += 1;
        families.push(Family { parent: lineage.place(selection.source[p]), child: p });
    }
    share_out(particles, families);
    selection
}

/// Where old particles continue among the new ones.
struct Lineage<'a> {
    cells: &'a Cells,
    /// Where the new particles of each leaf begin.
    first: &'a [usize],
    /// For the leaves that changed, the new indices of their old particles.
    places: Vec<Option<Vec<u32>>>,
}

impl<'a> Lineage<'a> {
    fn of(cells: &'a Cells, leaves: &[Option<Renewed>], first: &'a [usize]) -> Self {
        let of_leaf = |(l, leaf): (usize, &Option<Renewed>)| Some(leaf.as_ref()?.places(cells.leaf_range(l)));
        Self { cells, first, places: leaves.par_iter().enumerate().map(of_leaf).collect() }
    }

    /// The place of an old particle, or of its heir.
    fn place(&self, p: u32) -> usize {
        let leaves = &self.cells.start[..];
        let (mut low, mut high) = (0, self.places.len());
        while high - low > 1 {
            let middle = (low + high) / 2;
            if leaves[middle * leaf::SIZE] <= p { low = middle } else { high = middle }
        }
        let n = (p - leaves[low * leaf::SIZE]) as usize;
        self.first[low] + self.places[low].as_ref().map_or(n, |places| places[n] as usize)
    }
}

struct Pass<'a> {
    particles: &'a Particles,
    interior: &'a Interior<'a>,
    cells: &'a Cells,
    frame: IndexFrame,
    limits: &'a Reseeding,
    seed: u64,
}

impl Pass<'_> {
    /// The new particles of a leaf, or `None` when nothing changes.
    fn leaf(&self, l: usize) -> Option<Renewed> {
        let interior = -self.limits.depth * self.frame.h;
        let first = l * leaf::SIZE;
        let Reseeding { fewest, most, thinned_below, .. } = *self.limits;
        let well_below = -(thinned_below + TO_AND_FRO) * self.frame.h;
        let unruly = |s: usize| {
            let (count, phi) = (self.cells.count(s), self.interior.surface.values[s]);
            if phi >= interior {
                return false;
            }
            let (fewest, most) = match self.is_deep(s) {
                false if count < fewest => (self.of_room(fewest, s), most),
                false => (fewest, most),
                true if phi < well_below => (1, thinning::MOST),
                true => (1, most),
            };
            count < fewest || count > most
        };
        if !(first..first + leaf::SIZE).any(unruly) {
            return None;
        }
        let mut renewed = Renewed::default();
        renewed.source.reserve(self.cells.leaf_range(l).len());
        let mut nursery = Nursery::new(self.interior, l);
        for s in first..first + leaf::SIZE {
            let range = self.cells.range(s);
            if !unruly(s) {
                renewed.source.extend(range.map(|p| p as u32));
            } else if self.is_deep(s) {
                self.leave_one(s, &mut nursery, &mut renewed);
            } else if range.len() > self.limits.most {
                self.thin(range, &mut renewed);
            } else {
                self.fill(s, &mut nursery, &mut renewed);
            }
        }
        Some(renewed)
    }

    /// A limit on a cell's particles, reduced to the open part of the cell. With the limit of a whole cell, slivers
    /// would be filled in every substep, the crowds beside the wall would be spread into the liquid, and the liquid
    /// would swell.
    fn of_room(&self, limit: usize, s: usize) -> usize {
        /// Tolerance for rounding, as a share of a particle.
        const ROUNDING: f32 = 0.01;
        let Some(open) = self.interior.open else { return limit };
        // A wall at right angles to an axis leaves the same share of the cell as of its faces along the other axes, and
        // half that of the faces it closes.
        let cell = self.cells.topology.coord(s);
        let along = |axis: usize| 0.5 * (open.get(axis, cell) + open.get(axis, cell + IVec3::AXES[axis]));
        let room = along(0).min(along(1)).min(along(2));
        (limit as f32 * room + ROUNDING) as usize
    }

    fn is_deep(&self, s: usize) -> bool {
        self.interior.deep.is_some_and(|deep| deep.has(s))
    }

    /// Leaves one particle in a deep cell: the one nearest to its middle, or a new one at a random place.
    fn leave_one(&self, s: usize, nursery: &mut Nursery, renewed: &mut Renewed) {
        let cell = self.cells.topology.coord(s);
        let centre = (cell - self.frame.base).as_vec3();
        let off_centre = |&p: &usize| self.frame.local(self.particles.position[p]).distance_squared(centre);
        let nearest = self.cells.range(s).min_by(|p, q| off_centre(p).total_cmp(&off_centre(q)));
        if let Some(heir) = nearest {
            renewed.source.push(heir as u32);
            let dead = self.cells.range(s).filter(|&p| p != heir);
            renewed.dead.extend(dead.map(|dead| (dead as u32, heir as u32)));
            return;
        }
        // Away from the cell's edges, where rounding might move it into the next cell.
        let place = 0.9 * (random::point(cell, self.seed) - 0.5);
        let place = if self.in_solid(centre + place, nursery) { Vec3::ZERO } else { place };
        self.bear(s, centre + place, nursery, renewed);
    }

    /// Keeps `most` particles of a cell: drops the last of the fullest octant until they fit.
    fn thin(&self, range: std::ops::Range<usize>, renewed: &mut Renewed) {
        let (mut kept, mut dead): (Vec<usize>, Vec<usize>) = (range.collect(), Vec::new());
        let octant_of = |p: usize| octant(&self.frame, self.particles.position[p]);
        let mut counts = [0usize; 8];
        for &p in &kept {
            counts[octant_of(p)] += 1;
        }
        while kept.len() > self.limits.most {
            let fullest = (0..8).rev().max_by_key(|&o| counts[o]).unwrap_or(0);
            counts[fullest] -= 1;
            if let Some(last) = kept.iter().rposition(|&p| octant_of(p) == fullest) {
                dead.push(kept.remove(last));
            }
        }
        let position = |p: usize| self.particles.position[p];
        for dead in dead {
            let away = |&p: &usize| position(p).distance_squared(position(dead));
            let heir = kept.iter().copied().min_by(|p, q| away(p).total_cmp(&away(q)));
            renewed.dead.extend(heir.map(|heir| (dead as u32, heir as u32)));
        }
        renewed.source.extend(kept.into_iter().map(|p| p as u32));
    }

    /// Fills the emptiest octants of a cell until it holds `filled` particles.
    fn fill(&self, s: usize, nursery: &mut Nursery, renewed: &mut Renewed) {
        let range = self.cells.range(s);
        let cell = self.cells.topology.coord(s);
        let mut counts = [0usize; 8];
        for p in range.clone() {
            counts[octant(&self.frame, self.particles.position[p])] += 1;
        }
        let missing = self.of_room(self.limits.filled, s).saturating_sub(range.len());
        renewed.source.extend(range.map(|p| p as u32));
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
            if !self.in_solid(local, nursery) {
                self.bear(s, local, nursery, renewed);
            }
        }
    }

    /// A new particle at a place, in voxels, of the cell at a slot; `None` where no other particle is near.
    fn bear(&self, s: usize, local: Vec3, nursery: &mut Nursery, renewed: &mut Renewed) {
        let position = self.frame.position(local);
        let Some(nearest) = self.nearest(s, local, position) else { return };
        let origin = (self.cells.topology.origins()[nursery.leaf] - self.frame.base).as_vec3();
        let (u, gradient) = nursery.faces().gather(Four::of(&[self.frame.local(position) - origin]));
        let affine = gradient.map(|g| g.lane(0) * self.frame.per_metre);
        let place = renewed.source.len() as u32;
        renewed.born.push(Birth { place, position, velocity: u.lane(0), affine });
        renewed.source.push(nearest as u32);
    }

    fn in_solid(&self, local: Vec3, nursery: &mut Nursery) -> bool {
        let at = local.as_dvec3() + self.frame.base.as_dvec3();
        nursery.distance_from_solids(at).is_some_and(|d| d < self.limits.clearance * self.frame.h)
    }

    /// The particle nearest to a position of the cell at a slot (`local` in voxels), among those of the 3³ cells around it.
    fn nearest(&self, s: usize, local: Vec3, position: Vec3) -> Option<usize> {
        /// The cell itself first: what is near in it rules out most of the others.
        const ORDER: [i32; 27] = {
            let (mut order, mut n) = ([13; 27], 1);
            while n < 27 {
                order[n] = if n <= 13 { n as i32 - 1 } else { n as i32 };
                n += 1;
            }
            order
        };
        let (l, c) = (s / leaf::SIZE, leaf::local(s % leaf::SIZE));
        let centre = (self.cells.topology.coord(s) - self.frame.base).as_vec3();
        // Squared distances from the lower and upper sides of the cell, in metres with some room for rounding.
        let off = (local - centre).to_array();
        let beyond = off
            .map(|off| [-1.0, 0.0, 1.0].map(|d: f32| (d * (0.5 - d * off) * self.frame.h).powi(2) * 0.999));
        let mut best: Option<(f32, usize)> = None;
        for n in ORDER {
            let d = [n / 9, n / 3 % 3, n % 3];
            let least = beyond[0][d[0] as usize] + beyond[1][d[1] as usize] + beyond[2][d[2] as usize];
            if best.is_some_and(|(best, _)| best <= least) {
                continue;
            }
            let there = [c[0] + d[0] - 1, c[1] + d[1] - 1, c[2] + d[2] - 1];
            let Some(slot) = self.cells.topology.reach(l, there) else { continue };
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

/// What is around the new particles of a leaf.
struct Nursery<'a> {
    interior: &'a Interior<'a>,
    leaf: usize,
    faces: Option<FaceBlocks>,
    solid: Option<Sampler<'a>>,
}

impl<'a> Nursery<'a> {
    fn new(interior: &'a Interior<'a>, leaf: usize) -> Self {
        let solid = interior.solid.map(|nodes| Sampler::new(&nodes.topology));
        Self { interior, leaf, faces: None, solid }
    }

    /// The velocity of its faces, looked up for its first particle.
    fn faces(&mut self) -> &FaceBlocks {
        self.faces.get_or_insert_with(|| FaceBlocks::load(self.interior.velocity, self.leaf))
    }

    /// Distance, m, of a point, in voxels, from the solids, where there are any.
    fn distance_from_solids(&mut self, at: DVec3) -> Option<f32> {
        Some(self.solid.as_mut()?.sample_nodes(self.interior.solid?, at))
    }
}
