//! Joins fields of several liquids into one.

use crate::coupling::fields::LiquidFields;
use crate::coupling::optional::{Joining, JoiningFaces};
use crate::grid::{FaceGrid, Grid, Topology, halo, leaf};
use crate::levelset::redistance;
use crate::pressure::Density;
use crate::tuned::Tuned;
use rayon::prelude::*;
use std::sync::Arc;

/// Rate, 1/s, at which an overlap of two liquids or a gap between them goes.
const TOGETHER: Tuned<f64> = Tuned::new("several::TOGETHER", 12.0);

/// Every leaf of some topologies.
fn all_leaves<'a>(topologies: impl Iterator<Item = &'a Arc<Topology>>) -> Option<Arc<Topology>> {
    topologies.cloned().reduce(|all, more| if all == more { all } else { Arc::new(all.union(&more)) })
}

/// The grids that are there, on all their leaves, each with the number of the liquid that it is of; `None` where none is.
fn spread(parts: &[Option<&Grid<f32>>]) -> Option<Vec<(usize, Grid<f32>)>> {
    let topology = all_leaves(parts.iter().flatten().map(|grid| &grid.topology))?;
    let on_all = |(i, grid): (usize, &Option<&Grid<f32>>)| grid.map(|grid| (i, grid.on(&topology)));
    Some(parts.iter().enumerate().filter_map(on_all).collect())
}

/// The value of greatest magnitude, of the first of equals.
fn greatest(parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
    folded(parts, |a, b| if b.abs() > a.abs() { b } else { a })
}

/// The sum.
fn sum(parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
    folded(parts, |a, b| a + b)
}

/// The least, of those that have the leaf.
pub(super) fn least(parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
    folded(parts, f32::min)
}

fn folded(parts: &[Option<&Grid<f32>>], fold: impl Fn(f32, f32) -> f32 + Sync) -> Option<Grid<f32>> {
    spread(parts)?.into_iter().map(|(_, grid)| grid).reduce(|mut all, more| {
        let pairs = all.values.par_iter_mut().zip(&more.values).with_min_len(4096);
        pairs.for_each(|(a, &b)| *a = fold(*a, b));
        all
    })
}

/// Joins values on faces of the liquids by a rule.
pub(super) fn faces(by: JoiningFaces, parts: &[Option<&FaceGrid<f32>>]) -> Option<FaceGrid<f32>> {
    let join = match by {
        JoiningFaces::Greatest => f32::max,
    };
    let topology = all_leaves(parts.iter().flatten().map(|faces| &faces.topology))?;
    parts.iter().flatten().map(|faces| faces.on(&topology)).reduce(|mut all, more| {
        for (all, more) in all.values.iter_mut().zip(&more.values) {
            all.iter_mut().zip(more).for_each(|(a, &b)| *a = join(*a, b));
        }
        all
    })
}

/// Of each leaf the values of the first that has it.
fn first_leaf(parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
    let topology = all_leaves(parts.iter().flatten().map(|grid| &grid.topology))?;
    let mut out = Grid::new(topology.clone(), 0.0);
    out.values.par_chunks_mut(leaf::SIZE).zip(topology.origins()).for_each(|(out, &origin)| {
        let first = parts.iter().flatten().find_map(|grid| Some((grid, grid.topology.leaf_of(origin)?)));
        if let Some((grid, l)) = first {
            out.copy_from_slice(&grid.values[l * leaf::SIZE..][..leaf::SIZE]);
        }
    });
    Some(out)
}

/// The solids around the liquids: a face is as open as the solids of all liquids leave it.
pub(super) struct Faces {
    /// What solids leave open.
    pub(super) left: FaceGrid<f32>,
    /// Less than that where others shut faces.
    pub(super) open: Option<FaceGrid<f32>>,
    pub(super) vel_solid: FaceGrid<f32>,
    /// Numbers of the solids; those of a liquid are counted on from those of the liquids before it.
    pub(super) solids: Option<FaceGrid<u32>>,
}

impl Faces {
    pub(super) fn of(liquids: &[LiquidFields]) -> Self {
        let leaves = liquids.iter().flat_map(|l| [&l.open.topology, &l.vel_solid.topology]);
        let topology = all_leaves(leaves).unwrap_or_default();
        let mut joined = Self {
            left: FaceGrid::new(topology.clone(), 1.0),
            open: liquids
                .iter()
                .any(|l| l.without_lids.is_some())
                .then(|| FaceGrid::new(topology.clone(), 1.0)),
            vel_solid: FaceGrid::new(topology.clone(), 0.0),
            solids: liquids.iter().any(|l| l.bodies.is_some()).then(|| FaceGrid::new(topology.clone(), 0)),
        };
        let mut counted = 0;
        for liquid in liquids {
            let (left, vel_solid) = (liquid.left_by_solids().on(&topology), liquid.vel_solid.on(&topology));
            if let Some(joined) = &mut joined.open {
                let open = liquid.open.on(&topology);
                let both = joined.values.iter_mut().flatten().zip(open.values.iter().flatten());
                both.for_each(|(joined, &open)| *joined = joined.min(open));
            }
            let owner = liquid.bodies.map(|bodies| bodies.owner.on(&topology));
            for axis in 0..3 {
                for (slot, &alpha) in left.values[axis].iter().enumerate() {
                    // Of equals the first counts.
                    if alpha >= joined.left.values[axis][slot] {
                        continue;
                    }
                    joined.left.values[axis][slot] = alpha;
                    joined.vel_solid.values[axis][slot] = vel_solid.values[axis][slot];
                    if let Some(solids) = &mut joined.solids {
                        let number = owner.as_ref().map_or(0, |owner| owner.values[axis][slot]);
                        solids.values[axis][slot] = if number > 0 { number + counted } else { 0 };
                    }
                }
            }
            counted += liquid.bodies.map_or(0, |bodies| bodies.pieces.len() as u32);
        }
        joined
    }
}

/// Which liquid each cell belongs to, and the surface around all of them.
pub(super) struct Lattice {
    /// The deepest liquid of each cell.
    pub(super) owner: Grid<u8>,
    /// φ of the liquids together, m.
    pub(super) surface: Grid<f32>,
    /// φ of each, m, on the leaves of `surface`.
    pub(super) each: Vec<Grid<f32>>,
    pub(super) h: f32,
}

impl Lattice {
    /// From φ of each liquid, m, and the voxels' edge, m.
    pub(super) fn of(surfaces: &[&Grid<f32>], h: f32) -> Self {
        let topology = all_leaves(surfaces.iter().map(|s| &s.topology)).unwrap_or_default();
        let each: Vec<Grid<f32>> = surfaces.iter().map(|s| s.on(&topology)).collect();
        let width = surfaces.iter().fold(h, |width, s| width.max(s.background.abs()));
        let mut joined = Grid::new(topology.clone(), width);
        joined.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, out)| close(&each, l, h, out));
        let surface = redistance(&joined, h, width / h);
        let each = match surface.topology == topology {
            true => each,
            false => each.iter().map(|phi| phi.on(&surface.topology)).collect(),
        };
        let deepest = |slot: usize| {
            let deeper = |best: usize, i: usize| match each[i].values[slot] < each[best].values[slot] {
                true => i,
                false => best,
            };
            (1..each.len()).fold(0, deeper) as u8
        };
        let mut owner = Grid::new(surface.topology.clone(), 0);
        owner.values.par_iter_mut().enumerate().with_min_len(4096).for_each(|(n, out)| *out = deepest(n));
        Self { owner, surface, each, h }
    }

    /// Joins grids of the liquids by a rule.
    pub(super) fn joined(&self, by: Joining, parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
        match by {
            Joining::Owner => self.of_owner(parts),
            Joining::Greatest => greatest(parts),
            Joining::Sum => sum(parts),
            Joining::FirstLeaf => first_leaf(parts),
        }
    }

    /// [`of_owner`] of this lattice.
    pub(super) fn of_owner(&self, parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
        of_owner(&self.owner, parts)
    }

    /// The density of all liquids, kg/m³: one, or per cell the mean of those that share it by volume.
    pub(super) fn density(&self, parts: &[Density]) -> Result<f64, Grid<f32>> {
        let one = |rho: &Density| match (rho, parts.first()) {
            (Density::Uniform(rho), Some(Density::Uniform(first))) => rho == first,
            _ => false,
        };
        if let (true, Some(Density::Uniform(rho))) = (parts.iter().all(one), parts.first()) {
            return Ok(*rho);
        }
        // Where no liquid is, the first one's: nothing has no density.
        let elsewhere = match parts.first() {
            Some(Density::PerCell(rho)) => rho.background,
            Some(Density::Uniform(rho)) => *rho as f32,
            None => 0.0,
        };
        let mut out = Grid::new(self.owner.topology.clone(), elsewhere);
        out.values.par_iter_mut().enumerate().with_min_len(4096).for_each(|(slot, out)| {
            let cell = self.owner.topology.coord(slot);
            let (mut volume, mut mass) = (0.0, 0.0);
            for (phi, rho) in self.each.iter().zip(parts) {
                let inside = f64::from(inside(phi.values[slot], self.h));
                volume += inside;
                mass += if inside > 0.0 { inside * rho.at(cell) } else { 0.0 };
            }
            let owner = usize::from(self.owner.values[slot]);
            *out = if volume > 0.0 { mass / volume } else { parts[owner].at(cell) } as f32;
        });
        Err(out)
    }

    /// The divergence, 1/s, that each liquid asks for, and what parts liquids where they overlap and closes the gaps
    /// between them: the shares that they take of a cell below the common surface should sum up to 1. The projection
    /// cannot see that they do not, so that without this one liquid would sink into the other. `drift`, s: no more is
    /// undone in it than there is; `real`: part of the overlaps that is one.
    pub(super) fn divergence(&self, source: Option<Grid<f32>>, real: f32, drift: f64) -> Grid<f32> {
        let rate = TOGETHER.get().min(1.0 / drift) as f32;
        let topology = &self.owner.topology;
        let mut out = source.map_or_else(|| Grid::new(topology.clone(), 0.0), |source| source.on(topology));
        out.values.par_iter_mut().enumerate().with_min_len(4096).for_each(|(slot, out)| {
            if self.surface.values[slot] > -0.5 * self.h {
                return;
            }
            let (mut all, mut liquids) = (0.0, 0);
            for phi in &self.each {
                all += inside(phi.values[slot], self.h);
                liquids += usize::from(phi.values[slot] < self.h);
            }
            if liquids > 1 {
                let beyond = all - 1.0;
                *out += rate * if beyond > 0.0 { real * beyond } else { beyond };
            }
        });
        out
    }

    /// The mass around each face: its velocity and density. m = Σ mᵢ and u = Σ mᵢ uᵢ / m over the liquids, mᵢ the mass of
    /// the liquid in the box of one voxel around the face. Without any mass there, those of the liquid that is nearest.
    pub(super) fn on_faces(&self, vel: &[&FaceGrid<f32>], rho: &[Density]) -> OnFaces {
        let leaves = vel.iter().map(|vel| &vel.topology).chain([&self.owner.topology]);
        let topology = all_leaves(leaves).unwrap_or_default();
        let vel: Vec<FaceGrid<f32>> = vel.iter().map(|vel| vel.on(&topology)).collect();
        let phi: Vec<Grid<f32>> = self.each.iter().map(|phi| phi.on(&topology)).collect();
        let mut out = OnFaces {
            vel: FaceGrid::new(topology.clone(), 0.0),
            density: FaceGrid::new(topology.clone(), 0.0),
        };
        for (axis, (u, density)) in out.vel.values.iter_mut().zip(&mut out.density.values).enumerate() {
            let leaves = u.par_chunks_mut(leaf::SIZE).zip(density.par_chunks_mut(leaf::SIZE));
            leaves.enumerate().for_each(|(l, (u, density))| {
                for n in 0..leaf::SIZE {
                    let slot = l * leaf::SIZE + n;
                    let mut below = leaf::local(n);
                    below[axis] -= 1;
                    let middle = |phi: &Grid<f32>| 0.5 * (phi.values[slot] + phi.reach(l, below));
                    let of = |i: usize| (rho[i].at(topology.coord(slot)), vel[i].values[axis][slot]);
                    let (mut volume, mut mass, mut momentum) = (0.0, 0.0, 0.0);
                    let mut nearest = (f32::MAX, 0);
                    for (i, middle) in phi.iter().map(middle).enumerate() {
                        let inside = f64::from(inside(middle, self.h));
                        if inside > 0.0 {
                            let (rho, u) = of(i);
                            volume += inside;
                            mass += inside * rho;
                            momentum += inside * rho * f64::from(u);
                        }
                        if middle < nearest.0 {
                            nearest = (middle, i);
                        }
                    }
                    (density[n], u[n]) = if mass > 0.0 {
                        ((mass / volume) as f32, (momentum / mass) as f32)
                    } else {
                        let (rho, u) = of(nearest.1);
                        (rho as f32, u)
                    };
                }
            });
        }
        out
    }
}

/// Share of a box of one voxel of edge `h` that lies inside a surface whose φ is this at its middle, both m.
pub(super) fn inside(phi: f32, h: f32) -> f32 {
    (0.5 - phi / h).clamp(0.0, 1.0)
}

/// What flows through faces.
pub(super) struct OnFaces {
    /// m/s
    pub(super) vel: FaceGrid<f32>,
    /// kg/m³
    pub(super) density: FaceGrid<f32>,
}

/// Of each cell the value of the liquid that it belongs to, 0 where that has none; `None` where none has any.
pub(super) fn of_owner(owner: &Grid<u8>, parts: &[Option<&Grid<f32>>]) -> Option<Grid<f32>> {
    let grids = spread(parts)?;
    let topology = grids.first()?.1.topology.clone();
    let mut out = Grid::new(topology.clone(), 0.0);
    out.values.par_chunks_mut(leaf::SIZE).enumerate().for_each(|(l, out)| {
        let Some(at) = owner.topology.leaf_of(topology.origins()[l]) else { return };
        for (n, out) in out.iter_mut().enumerate() {
            let owner = usize::from(owner.values[at * leaf::SIZE + n]);
            let own = grids.iter().find(|(i, _)| *i == owner);
            *out = own.map_or(0.0, |(_, grid)| grid.values[l * leaf::SIZE + n]);
        }
    });
    Some(out)
}

/// The least φ of one leaf. Two liquids whose surfaces face each other with less than a voxel between them touch: both
/// surfaces are moved by up to half a voxel there, so that no air is left that the grid cannot resolve.
fn close(each: &[Grid<f32>], l: usize, h: f32, out: &mut [f32]) {
    const STRIDES: [usize; 3] = halo::strides(1);
    let two_least = |n: usize| {
        let mut least = [(f32::MAX, 0); 2];
        for (i, phi) in each.iter().enumerate() {
            let value = (phi.values[l * leaf::SIZE + n], i);
            if value.0 < least[0].0 {
                least = [value, least[0]];
            } else if value.0 < least[1].0 {
                least[1] = value;
            }
        }
        least
    };
    let mut blocks: Vec<Vec<f32>> = Vec::new();
    for (n, out) in out.iter_mut().enumerate() {
        let [(first, i), (second, j)] = two_least(n);
        *out = first;
        let gap = first + second;
        if first.abs() > h || gap.abs() > 2.0 * h {
            continue;
        }
        if blocks.is_empty() {
            blocks = vec![Vec::new(); each.len()];
            for (phi, block) in each.iter().zip(&mut blocks) {
                halo::gather::<1, _>(&phi.topology, &phi.values, l, phi.background, block);
            }
        }
        let at = halo::index(1, leaf::local(n));
        let slope = |k: usize| STRIDES.map(|step| blocks[k][at + step] - blocks[k][at - step]);
        let (a, b) = (slope(i), slope(j));
        let dot = |a: [f32; 3], b: [f32; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f32>();
        let lengths = (dot(a, a) * dot(b, b)).sqrt();
        let facing = if lengths > 0.0 { (-dot(a, b) / lengths).max(0.0) } else { 0.0 };
        *out -= 0.5 * h * facing * (2.0 - gap / h).clamp(0.0, 1.0);
    }
}
