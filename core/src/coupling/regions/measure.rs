//! Volumes, centroids, liquid surface areas and contacts of the regions.

use super::skin::{self, SkinCell};
use super::{LABEL_SOLID, Region, Regions, component_of};
use crate::coupling::block::{self, Block};
use crate::coupling::fields::{AirLimits, LiquidFields};
use crate::coupling::open_volume::open_volume;
use crate::grid::{Coord, Grid, leaf};
use crate::levelset::fractions_inside;
use glam::{DVec3, IVec3};
use rayon::prelude::*;

/// What one leaf adds to one region.
#[derive(Clone, Default)]
struct Share {
    region: usize,
    /// Voxels, and their first moment in index space.
    volume: f64,
    moment: DVec3,
    faces: usize,
    /// Faces' areas, h².
    area: f64,
    exterior: bool,
    liquids: Vec<u32>,
}

/// What one leaf adds to all regions and liquids.
#[derive(Default)]
struct Shares {
    air: Vec<Share>,
    /// (liquid component, cells).
    liquid: Vec<(usize, usize)>,
    /// Its cells near the surface.
    skin: Vec<SkinCell>,
}

/// What the labelled cells hold.
pub(super) struct Measured {
    /// The air regions.
    pub(super) air: Vec<Region>,
    /// Cells of each liquid component.
    pub(super) liquid_cells: Vec<usize>,
    /// Per leaf, its cells near the surface.
    pub(super) skin: Vec<Vec<SkinCell>>,
}

impl Shares {
    fn of(&mut self, region: usize) -> &mut Share {
        let at = self.air.iter().position(|s| s.region == region).unwrap_or_else(|| {
            self.air.push(Share { region, ..Share::default() });
            self.air.len() - 1
        });
        &mut self.air[at]
    }

    fn count_liquid(&mut self, component: usize) {
        match self.liquid.iter_mut().find(|(k, _)| *k == component) {
            Some((_, cells)) => *cells += 1,
            None => self.liquid.push((component, 1)),
        }
    }
}

/// Measures labelled cells with `regions` regions of air.
pub(super) fn measure(found: &Regions, regions: usize, fields: &LiquidFields) -> Measured {
    let limits = &AirLimits::new(&fields.domain, &fields.transform);
    let mut liquid_cells = vec![0; found.liquid_cells.len()];
    let origins = found.cells.topology.origins();
    let liquid = &fractions_inside(fields.surface, fields.voxel_size() as f32);
    let shares: Vec<Shares> = origins
        .par_iter()
        .enumerate()
        .map(|(l, &o)| measure_leaf(found, l, o, fields, liquid, limits))
        .collect();
    let mut total: Vec<Share> = (0..regions).map(|region| Share { region, ..Share::default() }).collect();
    let mut skin = Vec::with_capacity(shares.len());
    for leaf in shares {
        skin.push(leaf.skin);
        for s in leaf.air {
            let t = &mut total[s.region];
            t.volume += s.volume;
            t.moment += s.moment;
            t.faces += s.faces;
            t.area += s.area;
            t.exterior |= s.exterior;
            t.liquids.extend(s.liquids);
        }
        for (k, cells) in leaf.liquid {
            liquid_cells[k] += cells;
        }
    }
    for (gap, &region) in found.gaps.boxes.iter().zip(&found.gap_regions) {
        if region == LABEL_SOLID {
            continue;
        }
        let t = &mut total[region as usize];
        t.exterior |= gap.is_exterior(limits);
        let (volume, centre) = gap.volume_and_centre(limits);
        if volume > 0.0 && volume < f64::INFINITY {
            t.volume += volume;
            t.moment += volume * DVec3::from_array(centre);
        }
    }
    let air = total.into_iter().map(|t| region(t, fields)).collect();
    Measured { air, liquid_cells, skin }
}

/// A region in world units.
fn region(mut t: Share, fields: &LiquidFields) -> Region {
    let h = fields.voxel_size();
    t.liquids.sort_unstable();
    t.liquids.dedup();
    let centre = if t.volume > 0.0 { t.moment / t.volume } else { t.moment };
    Region {
        volume: if t.exterior { f64::INFINITY } else { t.volume * h * h * h },
        centroid: fields.transform.to_world(centre),
        liquid_faces: t.faces,
        liquid_area: t.area * h * h,
        liquids: t.liquids,
        exterior: t.exterior,
    }
}

/// Everything around one leaf that the measures read.
struct Surroundings<'a> {
    labels: Block<i32>,
    phi: Block<f32>,
    /// Fraction of each cell's volume inside the liquid.
    liquid: Block<f32>,
    /// Fraction of the leaf's own cells that spray fills.
    spray: Option<&'a [f32]>,
    open: [Block<f32>; 3],
}

impl Surroundings<'_> {
    /// The six neighbours of a cell: (axis, outward sign, neighbour's position, α of the shared face).
    fn neighbours(&self, i: usize) -> impl Iterator<Item = (usize, f64, usize, f32)> {
        (0..3).flat_map(move |a| {
            let (below, above) = (i - block::STEP[a], i + block::STEP[a]);
            [(a, -1.0, below, self.open[a][i]), (a, 1.0, above, self.open[a][above])]
        })
    }

    /// True when the leaf is all air of one region, no cell of it cut by solids, or by the liquid if that is moved a little.
    fn is_uncut_air(&self, depth: f32) -> bool {
        let first = self.labels[block::centre(0)];
        let whole = |n: usize| {
            let i = block::centre(n);
            self.labels[i] == first
                && self.phi[i] >= depth
                && self.spray(n) == 0.0
                && (0..3).all(|a| self.open[a][i] >= 1.0 && self.open[a][i + block::STEP[a]] >= 1.0)
        };
        first >= 0 && (0..leaf::SIZE).all(whole)
    }

    /// Fraction of the leaf's own cell `n` that spray fills.
    fn spray(&self, n: usize) -> f32 {
        self.spray.map_or(0.0, |spray| spray[n])
    }

    /// Fraction of a cell's volume that no solid fills.
    fn open_fraction(&self, i: usize) -> f32 {
        open_volume(std::array::from_fn(|a| [self.open[a][i], self.open[a][i + block::STEP[a]]]))
    }

    /// |n·e_axis| of the liquid surface at a cell, n the normal.
    fn normal_component(&self, i: usize, axis: usize) -> f64 {
        let slope = |a: usize| f64::from(self.phi[i + block::STEP[a]] - self.phi[i - block::STEP[a]]);
        let gradient = DVec3::new(slope(0), slope(1), slope(2));
        let length = gradient.length();
        if length > 0.0 { gradient[axis].abs() / length } else { 1.0 }
    }

    /// The air region beside a liquid cell, behind the neighbour with the greatest φ.
    fn air_beside(&self, i: usize) -> Option<usize> {
        let air = self.neighbours(i).filter(|&(_, _, j, alpha)| alpha > 0.0 && self.labels[j] >= 0);
        air.fold(None, |best: Option<(f32, i32)>, (_, _, j, _)| match best {
            Some((phi, _)) if phi >= self.phi[j] => best,
            _ => Some((self.phi[j], self.labels[j])),
        })
        .map(|(_, r)| r as usize)
    }
}

fn measure_leaf(
    found: &Regions,
    l: usize,
    origin: Coord,
    fields: &LiquidFields,
    liquid: &Grid<f32>,
    limits: &AirLimits,
) -> Shares {
    let mut shares = Shares::default();
    let own = &found.cells.values[l * leaf::SIZE..][..leaf::SIZE];
    if own.iter().all(|&label| label == LABEL_SOLID) {
        return shares;
    }
    if found.deep[l] {
        shares.liquid.push((component_of(own[0]), leaf::SIZE));
        return shares;
    }
    let around = Surroundings {
        labels: found.block(origin),
        phi: Block::of(fields.surface, origin),
        liquid: Block::of(liquid, origin),
        spray: fields
            .spray
            .and_then(|s| Some(&s.values[s.topology.leaf_of(origin)? * leaf::SIZE..][..leaf::SIZE])),
        open: block::faces(fields.open, origin),
    };
    let beyond = |index: DVec3| {
        (0..3).any(|a| {
            (!limits.walled[2 * a] && index[a] < limits.low[a])
                || (!limits.walled[2 * a + 1] && index[a] > limits.high[a])
        })
    };
    let corners = [origin.as_dvec3(), (origin + 7).as_dvec3()];
    let depth = skin::DEPTH * fields.voxel_size() as f32;
    if around.is_uncut_air(depth) && !corners.into_iter().any(beyond) {
        let share = shares.of(own[0] as usize);
        share.volume = leaf::SIZE as f64;
        share.moment = share.volume * 0.5 * (corners[0] + corners[1]);
        return shares;
    }
    for (n, &label) in own.iter().enumerate() {
        if label == LABEL_SOLID {
            continue;
        }
        let i = block::centre(n);
        let inside = around.liquid[i];
        let near = around.phi[i].abs() < depth;
        let index = (origin + IVec3::from_array(leaf::local(n))).as_dvec3();
        let owner = if label >= 0 {
            let region = label as usize;
            shares.of(region).exterior |= beyond(index);
            Some(region)
        } else {
            let component = component_of(label);
            shares.count_liquid(component);
            add_contacts(&mut shares, &around, i, component as u32);
            if near || inside < 1.0 { around.air_beside(i) } else { None }
        };
        if !near && owner.is_none() {
            continue;
        }
        let open = around.open_fraction(i);
        if near {
            let (owner, spray) = (owner.map(|r| r as u32), around.spray(n));
            shares.skin.push(SkinCell { offset: n as u16, owner, open, spray, inside });
        }
        if let Some(region) = owner {
            let air = open * (1.0 - inside) - around.spray(n);
            let volume = f64::from(air.max(0.0));
            let share = shares.of(region);
            share.volume += volume;
            share.moment += volume * index;
        }
    }
    shares
}

/// The leaves, all liquid, that are farther than two voxels from its surface: however a voxel's fraction moves it, nothing
/// of them is air or borders any.
pub(super) fn deep_leaves(cells: &Grid<i32>, fields: &LiquidFields) -> Vec<bool> {
    let farthest = -2.0 * fields.voxel_size() as f32;
    let is_deep = |(own, &origin): (&[i32], &Coord)| {
        let leaf = fields.surface.topology.leaf_of(origin).map(|l| &fields.surface.values[l * leaf::SIZE..]);
        own[0] < LABEL_SOLID
            && own.iter().all(|&label| label == own[0])
            && leaf.is_some_and(|phi| phi[..leaf::SIZE].iter().all(|&phi| phi < farthest))
    };
    cells.values.par_chunks(leaf::SIZE).zip(cells.topology.origins()).map(is_deep).collect()
}

/// The faces of a liquid cell that border air: Σ_f |n_f| α h² over them is the surface's area, because the
/// faces across axis a see its projection ∫ |n_a| dA, and n_x² + n_y² + n_z² = 1.
fn add_contacts(shares: &mut Shares, around: &Surroundings, i: usize, component: u32) {
    for (axis, _, j, alpha) in around.neighbours(i) {
        if alpha > 0.0 && around.labels[j] >= 0 {
            let share = shares.of(around.labels[j] as usize);
            share.faces += 1;
            share.area += f64::from(alpha) * around.normal_component(i, axis);
            if share.liquids.last() != Some(&component) {
                share.liquids.push(component);
            }
        }
    }
}
