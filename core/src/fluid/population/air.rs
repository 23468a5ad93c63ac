//! Passive particles in the air beside the liquid: they mark cells as air that the liquid's particles alone would leave
//! undecided.
//!
//! The level set treats a cell among full cells as full, however few particles it holds. From the liquid's particles
//! alone, a film of air thinner than two voxels cannot be told from a chance gap. Passive particles that move with the
//! air resolve this, similar to the particle level set method [Enright et al. 2003] [Goldade and Batty 2017, §5]: where
//! a cell holds one, it is not full, and the liquid in it counts by its particles. Passive particles never add or
//! remove volume: the volume is that of the liquid's particles, and a passive particle that strays into the liquid
//! changes nothing there.

use crate::fluid::particles::cells::Cells;
use crate::fluid::particles::random;
use crate::fluid::particles::seeding::octant;
use crate::fluid::particles::{IndexFrame, Particles};
use crate::grid::sampling::Sampler;
use crate::grid::{Grid, Transform, leaf};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Width of the band of air that is sampled, voxels: within the layers to which the velocity is extended.
const WIDTH: f32 = 2.5;
/// Distance from the surface, voxels, from which a cell counts as fully on one side: half a cell's diagonal.
const CLEAR: f32 = 0.87;
/// Shares of the particles of a filled voxel: below the first a cell of air is filled up, above the second it is
/// thinned. The liquid's spray counts.
const FEWEST: f32 = 0.75;
const MOST: f32 = 1.5;
/// Distance new particles keep from solids, voxels.
const CLEARANCE: f32 = 0.1;

/// Passive particles: positions and ids, without velocity or material.
pub fn passive(origin: DVec3, position: Vec<Vec3>, id: Vec<i64>) -> Particles {
    let n = position.len();
    Particles {
        origin,
        position,
        velocity: vec![Vec3::ZERO; n],
        affine: std::array::from_fn(|_| vec![Vec3::ZERO; n]),
        id,
        density: vec![0.0; n],
        viscosity: vec![0.0; n],
        mass_share: vec![1.0; n],
    }
}

/// A liquid's particles and their cells.
pub(crate) type Sorted<'a> = (&'a Particles, &'a Cells);

/// Keeps the air beside the surface filled with particles, as densely as the liquid, and removes all other passive
/// particles.
///
/// Cells that the surface may cut are left alone: particles there have moved there with the air. Only while there are
/// no passive particles at all, such cells are filled, too, where `surface` (m) is positive. The cells of the particles
/// and of the liquid, and `surface`, are on the same leaves, and so is `room`, the fraction of a cell that no solid
/// fills. `nodes` is the level set of the solids, m. Ids are unique among the living particles.
pub(crate) fn sample_air(
    (air, own): (&mut Particles, &Cells),
    liquid: Sorted,
    transform: &Transform,
    surface: &Grid<f32>,
    (room, nodes): (&Grid<f32>, &Grid<f32>),
    per_voxel: f32,
) {
    let next_id = air.id.iter().max().map_or(0, |id| id.wrapping_add(1));
    let frame = air.frame(transform);
    let pass = Pass { air, own, liquid, surface, room, nodes, frame, per_voxel, seed: next_id };
    let leaves: Vec<Vec<Site>> = (0..own.topology.len()).into_par_iter().map(|l| pass.leaf(l)).collect();
    let sites: Vec<Site> = leaves.into_iter().flatten().collect();
    let mut fresh = next_id;
    let mut draw = || {
        let id = fresh;
        fresh = fresh.wrapping_add(1);
        id
    };
    let id = sites.iter().map(|site| site.id.unwrap_or_else(&mut draw)).collect();
    *air = passive(air.origin, sites.iter().map(|site| site.position).collect(), id);
}

/// A particle of the new set; one without an id is new.
struct Site {
    position: Vec3,
    id: Option<i64>,
}

struct Pass<'a> {
    air: &'a Particles,
    own: &'a Cells,
    liquid: Sorted<'a>,
    surface: &'a Grid<f32>,
    room: &'a Grid<f32>,
    nodes: &'a Grid<f32>,
    frame: IndexFrame,
    per_voxel: f32,
    seed: i64,
}

impl Pass<'_> {
    /// The particles of a leaf, cell by cell.
    fn leaf(&self, l: usize) -> Vec<Site> {
        let mut sites = Vec::new();
        let mut inside = Inside::new(self);
        for s in l * leaf::SIZE..(l + 1) * leaf::SIZE {
            let phi = self.surface.values[s] / self.frame.h;
            if !(-CLEAR..WIDTH).contains(&phi) {
                continue;
            }
            let first = sites.len();
            let kept = |p: usize| Site { position: self.air.position[p], id: Some(self.air.id[p]) };
            sites.extend(self.own.range(s).map(kept));
            let nominal = self.per_voxel * self.room.values[s];
            let spray = self.liquid.1.count(s);
            let count = (sites.len() - first + spray) as f32;
            let is_new = self.air.is_empty();
            if phi > CLEAR && count > MOST * nominal {
                let most = (MOST * nominal).ceil() as usize;
                sites.truncate(first + most.saturating_sub(spray).min(sites.len() - first));
            } else if is_new && count < nominal || phi > CLEAR && count < FEWEST * nominal {
                let missing = (nominal - count).round() as usize;
                self.fill(s, missing, first, &mut inside, &mut sites);
            }
        }
        sites
    }

    /// Adds `missing` particles to the emptiest octants of a cell whose own particles begin at `first`; none in the
    /// liquid and none in solids.
    fn fill(&self, s: usize, missing: usize, first: usize, inside: &mut Inside, sites: &mut Vec<Site>) {
        let cell = self.own.topology.coord(s);
        let mut counts = [0u64; 8];
        for site in &sites[first..] {
            counts[octant(&self.frame, site.position)] += 1;
        }
        for p in self.liquid.1.range(s) {
            counts[octant(&self.frame, self.liquid.0.position[p])] += 1;
        }
        for _ in 0..missing {
            let emptiest = (0..8).min_by_key(|&o| counts[o]).unwrap_or(0);
            counts[emptiest] += 1;
            let o = emptiest as i32;
            let low = IVec3::new(o & 1, o >> 1 & 1, o >> 2);
            let r = random::point(2 * cell + low, (self.seed as u64).wrapping_add(counts[emptiest]));
            let local = (cell - self.frame.base).as_vec3() + 0.5 * (low.as_vec3() + r) - 0.5;
            let position = self.frame.position(local);
            if inside.air(local) && self.frame.cell(position) == cell {
                sites.push(Site { position, id: None });
            }
        }
    }
}

/// Look-ups of one leaf.
struct Inside<'a> {
    pass: &'a Pass<'a>,
    surface: Sampler<'a>,
    nodes: Sampler<'a>,
}

impl<'a> Inside<'a> {
    fn new(pass: &'a Pass<'a>) -> Self {
        let (surface, nodes) = (Sampler::new(&pass.surface.topology), Sampler::new(&pass.nodes.topology));
        Self { pass, surface, nodes }
    }

    /// Whether a local index position is in the air.
    fn air(&mut self, local: Vec3) -> bool {
        let Pass { surface, nodes, frame, .. } = self.pass;
        let at = local.as_dvec3() + frame.base.as_dvec3();
        let solid = self.nodes.sample_nodes(nodes, at);
        // In a gap one voxel wide all nodes around may lie in its walls. There, a point that keeps its distance from
        // the cell's sides also keeps it from the walls.
        let is_clear = || (local - local.round()).abs().max_element() <= 0.5 - CLEARANCE;
        let is_free = solid >= CLEARANCE * frame.h || solid == 0.0 && self.is_gap(at) && is_clear();
        is_free && self.surface.sample(surface, at) > 0.0
    }

    /// Whether a position lies in a cell that is open though all nodes around lie in walls.
    fn is_gap(&mut self, at: DVec3) -> bool {
        let cell = at.round().as_ivec3();
        let corner = |n: i32| cell + IVec3::new(n & 1, n >> 1 & 1, n >> 2);
        self.pass.room.get(cell) > 0.0 && (0..8).all(|n| self.pass.nodes.get(corner(n)) == 0.0)
    }
}
