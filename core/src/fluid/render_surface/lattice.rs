//! The lattice around the surface, and the share of space that is liquid on it.

use super::depths::DEEP;
use super::grains::Grain;
use super::{Frame, Liquid, MOST_VOXELS, SurfaceError};
use crate::grid::sampling::Sampler;
use crate::grid::{Coord, Grid, Topology, block, leaf};
use crate::solid::{SolidProbe, Solids};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Leaves around the surface, and the grains that reach into each.
pub(super) struct Lattice {
    /// The leaves.
    pub(super) topology: Arc<Topology>,
    grains: Vec<Grain>,
    /// Leaf in the upper 32 bits, grain in the lower, ascending.
    pairs: Vec<u64>,
    /// Where each leaf's pairs begin, and where the last one's end.
    starts: Vec<usize>,
}

/// The liquid's voxels near its surface, or near that of a solid: within this many of them, or beside a voxel on the other side.
const NEAR: f32 = 2.0;

/// How far the surface goes on into walls, in the liquid's voxels, so that no gap shows; there it is as flat as the wall.
const INTO_WALLS: f32 = 0.5;

/// How far from a wall the level set says whether there is liquid at it, in the liquid's voxels. At the wall itself it cannot tell: its
/// surface lies in there, no deeper than a voxel, and where particles happen to lie apart there is no air.
const OFF_WALLS: f64 = 1.0;

/// Signed distance to the liquid's surface, in its voxels, a voxel off a wall, up to which there is liquid at the wall. Above it, particles
/// may be behind the wall.
const SUBMERGED: f64 = -0.75;

/// Parts of the way between a particle and a place that it may fill; how deep in a solid, in the liquid's voxels, one of their ends must be
/// to hide it: a curved wall is in the way of its neighbours, too.
const LOOKS: u32 = 8;
const HIDDEN: f64 = 0.15;

/// Refuses a lattice that would not fit.
pub(super) fn check_size(liquid: &Liquid, solids: &Solids, frame: &Frame) -> Result<(), SurfaceError> {
    let count = |cells: &Vec<Coord>| cells.len() as f64;
    let cells: f64 = near_cells(liquid, solids, frame).iter().map(count).sum();
    let voxels = cells * f64::from(frame.cell).powi(3);
    if voxels <= MOST_VOXELS as f64 {
        return Ok(());
    }
    Err(SurfaceError::TooFine { voxel: frame.voxel, voxels: voxels as u64 })
}

/// The liquid's voxels near its surface, leaf by leaf; and those near the surface of a solid in which the level set says that there is
/// liquid, as in a plate of a few voxels: there the liquid's surface is the solid's.
fn near_cells(liquid: &Liquid, solids: &Solids, frame: &Frame) -> Vec<Vec<Coord>> {
    let surface = &liquid.surface;
    let near = NEAR * (frame.voxel / frame.scale) as f32;
    let world = |cell: DVec3| frame.world(cell * f64::from(frame.cell));
    let of_leaf = |l: usize| {
        let mut around = [0.0; block::SIZE];
        block::load(&mut around, &surface.values, &surface.topology.neighbours()[l], surface.background);
        let is_near = |n: &usize| {
            let middle = block::centre(*n);
            let own = around[middle];
            let beside = block::STRIDE.iter().flat_map(|step| [around[middle - step], around[middle + step]]);
            own.abs() < near || beside.into_iter().any(|other| (other < 0.0) != (own < 0.0))
        };
        let [low, high] =
            [-0.5, leaf::DIM as f64 - 0.5].map(|end| world(surface.topology.origins()[l].as_dvec3() + end));
        let is_among_solids = solids.colliders.iter().any(|solid| solid.reaches(low, high));
        let mut probe = is_among_solids.then(|| solids.probe());
        let mut is_by_a_solid = |n: &usize| {
            let Some(probe) = probe.as_mut().filter(|_| around[block::centre(*n)] < 0.0) else {
                return false;
            };
            let place = world(surface.topology.coord(l * leaf::SIZE + n).as_dvec3());
            probe.distance(place).abs() < f64::from(near)
        };
        let of_cell = |n: &usize| is_near(n) || is_by_a_solid(n);
        (0..leaf::SIZE).filter(of_cell).map(|n| surface.topology.coord(l * leaf::SIZE + n)).collect()
    };
    (0..surface.topology.len()).into_par_iter().map(of_leaf).collect()
}

/// Origins of the leaves that a box of voxels touches.
fn leaves_of(low: Vec3, high: Vec3, from: IVec3) -> impl Iterator<Item = IVec3> {
    let [low, high] = [low, high].map(|end| end.floor().as_ivec3() + from);
    leaves_between(low, high)
}

/// Origins of the leaves that hold the voxels from one to another.
pub(super) fn leaves_between(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    let [low, high] = [low, high].map(|end| end >> leaf::LOG2_DIM as i32);
    let along = move |a: usize| low[a]..=high[a];
    along(0).flat_map(move |x| {
        along(1).flat_map(move |y| along(2).map(move |z| IVec3::new(x, y, z) * leaf::DIM as i32))
    })
}

impl Lattice {
    /// The leaves that grains or the level set's surface reach into, or a voxel beside them.
    pub(super) fn around(liquid: &Liquid, solids: &Solids, frame: &Frame, grains: Vec<Grain>) -> Self {
        let reached = |grain: &Grain| {
            let from = grain.at.floor();
            let middle = (grain.at - from).as_vec3();
            leaves_of(middle - grain.reach - 1.0, middle + grain.reach + 1.0, from.as_ivec3())
        };
        let of_cells = near_cells(liquid, solids, frame).into_par_iter().map(|cells| {
            let mut origins: Vec<IVec3> = Vec::new();
            for cell in cells {
                let middle = cell.as_vec3() * frame.cell;
                let reach = 1.5 * frame.cell + 1.0;
                origins.extend(leaves_of(middle - reach, middle + reach, IVec3::ZERO));
            }
            unique(origins)
        });
        let of_grains =
            grains.par_chunks(4096).map(|grains| unique(grains.iter().flat_map(reached).collect()));
        let mut origins: Vec<Vec<IVec3>> = of_cells.collect();
        origins.extend(of_grains.collect::<Vec<_>>());
        let topology = Arc::new(Topology::new(origins.concat()));
        let numbered = |(n, grain): (usize, &Grain)| {
            let leaves = reached(grain).filter_map(|origin| topology.leaf_of(origin));
            leaves.map(move |l| (l as u64) << 32 | n as u64).collect::<Vec<_>>()
        };
        let mut pairs: Vec<u64> = grains.par_iter().enumerate().flat_map_iter(numbered).collect();
        pairs.par_sort_unstable();
        let starts =
            (0..=topology.len()).map(|l| pairs.partition_point(|pair| *pair < (l as u64) << 32)).collect();
        Self { topology, grains, pairs, starts }
    }

    /// The grains that reach into a leaf or beside it, in their order.
    pub(super) fn grains(&self, leaf: usize) -> impl Iterator<Item = &Grain> {
        let own = &self.pairs[self.starts[leaf]..self.starts[leaf + 1]];
        own.iter().map(|pair| &self.grains[(pair & 0xffff_ffff) as usize])
    }

    /// The share of space that is liquid, less a half: positive inside.
    pub(super) fn share(&self, liquid: &Liquid, solids: &Solids, frame: &Frame) -> Grid<f32> {
        let mut share = Grid::new(self.topology.clone(), -0.5);
        share.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, share)| {
            let origin = self.topology.origins()[l];
            self.grains(l).for_each(|grain| spread(grain, origin, share));
            let (mut sampler, mut probe) = (Sampler::new(&liquid.surface.topology), solids.probe());
            for (n, share) in share.iter_mut().enumerate() {
                let place = IVec3::from_array(leaf::local(n)).as_vec3();
                let distance = sampler.sample(&liquid.surface, frame.in_liquid(origin, place));
                *share = share.max(in_depth(distance, frame) - 0.5);
                if *share > -0.5 {
                    let of_walls = Walls { lattice: self, leaf: l, liquid, frame };
                    *share = of_walls.share(n, *share, distance, &mut sampler, &mut probe);
                }
            }
        });
        share
    }
}

/// The walls in a leaf, and what liquid there is at them.
struct Walls<'a> {
    lattice: &'a Lattice,
    leaf: usize,
    liquid: &'a Liquid<'a>,
    frame: &'a Frame,
}

impl Walls<'_> {
    /// The share, less a half, at a voxel of the leaf, where particles and level set say it is `share`; `distance`: the level set there, m.
    fn share(
        &self,
        n: usize,
        mut share: f32,
        distance: f32,
        sampler: &mut Sampler,
        probe: &mut SolidProbe,
    ) -> f32 {
        let (Self { liquid, frame, .. }, h) = (self, self.frame.voxel / self.frame.scale);
        let at = self.lattice.topology.origins()[self.leaf] + IVec3::from_array(leaf::local(n));
        let world = frame.world(at.as_dvec3());
        let into_wall = -probe.distance(world) / h;
        if into_wall > -OFF_WALLS {
            let normal = probe.normal(world);
            let off = world + normal * (h * (into_wall + OFF_WALLS));
            let there = sampler.sample(&liquid.surface, liquid.transform.to_index(off));
            if f64::from(there) > SUBMERGED * h {
                let seen = self.seen(at.as_dvec3(), world + normal * (h * into_wall.max(0.0)), probe) - 0.5;
                // What is hidden ends in the middle of the wall.
                let wall = world + normal * (h * into_wall);
                if seen < share {
                    let beyond_middle = into_wall - 0.5 * thickness(wall, normal, h, probe);
                    share = seen.max(share.min(beyond_middle as f32));
                }
            }
            // Where there is liquid off the wall, there is no air at the wall: the surface is where the level set ends in it, at the latest.
            if distance < 0.0 {
                let most = (f64::from(-distance) / (0.5 * h)) as f32;
                share = share.max((in_depth(there, frame) - 0.5).min(most));
            }
        }
        share.min(INTO_WALLS - into_wall as f32).max(-0.5)
    }

    /// The share that liquid fills at a place of the lattice which is not behind a wall, seen from another one, m, outside of the wall.
    fn seen(&self, at: DVec3, from: DVec3, probe: &mut SolidProbe) -> f32 {
        let hidden = -HIDDEN * self.frame.voxel / self.frame.scale;
        let of_grain = |grain: &Grain| {
            let share = grain.share((at - grain.at).as_vec3());
            let to = self.frame.world(grain.particle()) - from;
            let mut between = (1..LOOKS).map(|n| from + to * (f64::from(n) / f64::from(LOOKS)));
            let is_hidden = share > 0.0 && between.any(|p| probe.distance(p) < hidden);
            if is_hidden { 0.0 } else { share }
        };
        self.lattice.grains(self.leaf).map(of_grain).sum()
    }
}

/// Thickness of a wall behind a place on its surface, in the liquid's voxels of `h` metres, as far as liquid reaches through.
fn thickness(wall: DVec3, normal: DVec3, h: f64, probe: &mut SolidProbe) -> f64 {
    const STEP: f64 = 0.125;
    const FARTHEST: u32 = 24;
    let depth = |n: u32| STEP * f64::from(n);
    let mut behind = |n: &u32| probe.distance(wall - normal * (h * depth(*n))) > 0.0;
    (1..FARTHEST).find(|n| behind(n)).map_or(depth(FARTHEST), depth)
}

fn unique(mut origins: Vec<IVec3>) -> Vec<IVec3> {
    origins.sort_unstable_by_key(|o| o.to_array());
    origins.dedup();
    origins
}

/// Adds a grain's share to the voxels of a leaf.
fn spread(grain: &Grain, origin: IVec3, share: &mut [f32]) {
    let middle = (grain.at - origin.as_dvec3()).as_vec3();
    let last = (leaf::DIM - 1) as f32;
    let low = (middle - grain.reach).ceil().clamp(Vec3::ZERO, Vec3::splat(last + 1.0)).as_ivec3();
    let high = (middle + grain.reach).floor().clamp(Vec3::splat(-1.0), Vec3::splat(last)).as_ivec3();
    for x in low.x..=high.x {
        for y in low.y..=high.y {
            let row = leaf::offset(x, y, 0);
            for z in low.z..=high.z {
                share[row + z as usize] += grain.share(Vec3::new(x as f32, y as f32, z as f32) - middle);
            }
        }
    }
}

/// The share that the level set alone says there is: from a half at a voxel of the liquid below its surface to one at
/// [`DEEP`]. Particles that happen to lie far apart leave no hole there, and walls, into which the level set goes on,
/// need no particles.
pub(super) fn in_depth(distance: f32, frame: &Frame) -> f32 {
    let depth = -distance / (frame.voxel / frame.scale) as f32;
    (0.5 * depth).max(depth + 1.0 - DEEP).clamp(0.0, 1.0)
}
