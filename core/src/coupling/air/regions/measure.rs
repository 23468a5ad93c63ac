//! Measures the regions: volumes, centroids, areas of liquid surface, contacts.

use super::sets::{ALL, Around, NONE, Words, has};
use super::skin::{self, SkinCell};
use super::{LABEL_SOLID, Region, Regions, component_of};
use crate::coupling::fields::{AirLimits, LiquidFields};
use crate::grid::block::{self, Block};
use crate::grid::morphology::{offsets, words_of};
use crate::grid::rows::Rows;
use crate::grid::{Coord, Grid, leaf};
use crate::levelset::fractions_inside;
use crate::levelset::open_volume;
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
    /// It holds a cell that no solid cuts.
    uncut: bool,
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

/// The measures of all labelled cells.
pub(crate) struct Measured {
    /// The air regions.
    pub(crate) air: Vec<Region>,
    /// Cells of each liquid component.
    pub(crate) liquid_cells: Vec<usize>,
    /// Per leaf, its cells near the surface.
    pub(crate) skin: Vec<Vec<SkinCell>>,
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
pub(crate) fn measure(found: &Regions, regions: usize, fields: &LiquidFields) -> Measured {
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
            t.uncut |= s.uncut;
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
        t.uncut = true;
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
        uncut: t.uncut,
    }
}

/// Everything around one leaf that the measures read.
struct Surroundings<'a> {
    around: Around<'a>,
    /// φ, where the liquid's surface may be.
    phi: Block<f32>,
    open: [Rows<'a, f32>; 3],
    /// What solids leave open.
    left: [Rows<'a, f32>; 3],
}

impl Surroundings<'_> {
    /// α of face `k` of a cell, by axis, lower first.
    fn alpha(&self, n: usize, k: usize) -> f32 {
        if k % 2 == 1 { self.open[k / 2].at_behind(n, k) } else { self.open[k / 2].at(n) }
    }

    /// φ behind face `k` of a cell.
    fn phi_behind(&self, n: usize, k: usize) -> f32 {
        let (i, step) = (block::centre(n), block::STRIDE[k / 2]);
        self.phi[if k % 2 == 1 { i + step } else { i - step }]
    }

    /// The six faces of a cell, by axis, lower first, that are open to air: (face, air region).
    fn air_behind(&self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..6).filter_map(move |k| {
            let region = usize::try_from(self.around.label_behind(n, k)).ok()?;
            (self.alpha(n, k) > 0.0).then_some((k, region))
        })
    }

    /// Fraction of a cell's volume that no solid fills.
    fn open_fraction(&self, n: usize) -> f32 {
        open_volume(std::array::from_fn(|a| [self.left[a].at(n), self.left[a].at_behind(n, 2 * a + 1)]))
    }

    /// |n·e_axis| of the liquid surface at a cell, n the normal.
    fn normal_component(&self, n: usize, axis: usize) -> f64 {
        let slope = |a: usize| f64::from(self.phi_behind(n, 2 * a + 1) - self.phi_behind(n, 2 * a));
        let gradient = DVec3::new(slope(0), slope(1), slope(2));
        let length = gradient.length();
        if length > 0.0 { gradient[axis].abs() / length } else { 1.0 }
    }

    /// The air region beside a liquid cell, behind the neighbour with the greatest φ.
    fn air_beside(&self, n: usize) -> Option<usize> {
        let greatest = |best: Option<(f32, usize)>, (k, region): (usize, usize)| match best {
            Some((phi, _)) if phi >= self.phi_behind(n, k) => best,
            _ => Some((self.phi_behind(n, k), region)),
        };
        self.air_behind(n).fold(None, greatest).map(|(_, region)| region)
    }

    /// Faces of the liquid cells in `touching` that border air. Σ_f |n_f| α h² over them is the surface's area: the
    /// faces across axis a see its projection ∫ |n_a| dA, and n_x² + n_y² + n_z² = 1.
    fn add_contacts(&self, shares: &mut Shares, touching: &Words) {
        for n in offsets(touching) {
            let component = component_of(self.around.label(n)) as u32;
            for (k, region) in self.air_behind(n) {
                let share = shares.of(region);
                share.faces += 1;
                share.area += f64::from(self.alpha(n, k)) * self.normal_component(n, k / 2);
                if share.liquids.last() != Some(&component) {
                    share.liquids.push(component);
                }
            }
        }
    }
}

/// The values of a leaf, if it is active.
fn leaf_of<T: Copy>(grid: &Grid<T>, origin: Coord) -> Option<&[T; leaf::SIZE]> {
    grid.values.as_chunks().0.get(grid.topology.leaf_of(origin)?)
}

/// Whether all values fulfil a condition. The loop has no early exit, so that it is vectorised.
fn all<T: Copy>(values: &[T; leaf::SIZE], holds: impl Fn(T) -> bool) -> bool {
    values.iter().fold(true, |all, &value| all & holds(value))
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
    let (wet, dry) = (found.liquid.words(l), found.air_cells.words(l));
    let Some(own) = found.cells.values.as_chunks::<{ leaf::SIZE }>().0.get(l) else { return shares };
    if *wet == NONE && *dry == NONE {
        return shares;
    }
    if found.deep[l] {
        shares.liquid.push((component_of(own[0]), leaf::SIZE));
        return shares;
    }
    let beyond = |index: DVec3| {
        (0..3).any(|a| {
            (!limits.walled[2 * a] && index[a] < limits.low[a])
                || (!limits.walled[2 * a + 1] && index[a] > limits.high[a])
        })
    };
    let corners = [origin.as_dvec3(), (origin + 7).as_dvec3()];
    let reaches_out = corners.into_iter().any(beyond);
    let around = found.around(origin);
    let (open, cut) = around.open_and_cut();
    let elsewhere = [fields.surface.background; leaf::SIZE];
    let phi = leaf_of(fields.surface, origin).unwrap_or(&elsewhere);
    let spray = fields.cells.spray.and_then(|spray| leaf_of(spray, origin));
    let depth = skin::DEPTH * fields.voxel_size() as f32;
    // All cells are air of one region; none is cut by solids, or by the liquid even if its surface moves a little.
    let is_whole = *dry == ALL && cut == NONE && (0..6).all(|k| around.whole(k) == ALL);
    let is_uncut = || {
        all(own, |label| label == own[0])
            && all(phi, |phi| phi >= depth)
            && spray.is_none_or(|spray| all(spray, |spray| spray == 0.0))
    };
    if is_whole && !reaches_out && is_uncut() {
        let share = shares.of(own[0] as usize);
        share.uncut = true;
        share.volume = leaf::SIZE as f64;
        share.moment = share.volume * 0.5 * (corners[0] + corners[1]);
        return shares;
    }
    let elsewhere = [liquid.background; leaf::SIZE];
    let inside = leaf_of(liquid, origin).unwrap_or(&elsewhere);
    let (near, part) = (words_of(phi, |phi| phi.abs() < depth), words_of(inside, |inside| inside < 1.0));
    let mut touching = NONE;
    for k in 0..6 {
        let (passable, air) = (around.passable(k), around.air_behind(k));
        (0..leaf::DIM).for_each(|x| touching[x] |= wet[x] & passable[x] & air[x]);
    }
    for n in offsets(wet) {
        shares.count_liquid(component_of(own[n]));
    }
    let at = Surroundings {
        around,
        phi: if touching == NONE { [0.0; block::SIZE] } else { block::of(fields.surface, origin) },
        open: Rows::faces(fields.open, origin),
        left: Rows::faces(fields.left_by_solids(), origin),
    };
    at.add_contacts(&mut shares, &touching);
    // Cells that hold air, or may hold air once the surface moves a little.
    let held: Words = std::array::from_fn(|x| dry[x] | wet[x] & (near[x] | part[x] & touching[x]));
    for n in offsets(&held) {
        let index = (origin + IVec3::from_array(leaf::local(n))).as_dvec3();
        let owner = match usize::try_from(own[n]) {
            Ok(region) => {
                let share = shares.of(region);
                share.exterior |= reaches_out && beyond(index);
                share.uncut |= !has(&cut, n);
                Some(region)
            }
            Err(_) if has(&touching, n) => at.air_beside(n),
            Err(_) => usize::try_from(found.gap_of(l * leaf::SIZE + n)).ok(),
        };
        let open = if has(&cut, n) { at.open_fraction(n) } else { f32::from(u8::from(has(&open, n))) };
        let (inside, spray) = (inside[n], spray.map_or(0.0, |spray| spray[n]));
        if has(&near, n) {
            let owner = owner.map(|r| r as u32);
            shares.skin.push(SkinCell { offset: n as u16, owner, open, spray, inside });
        }
        if let Some(region) = owner {
            let air = open * (1.0 - inside) - spray;
            let volume = f64::from(air.max(0.0));
            let share = shares.of(region);
            share.volume += volume;
            share.moment += volume * index;
        }
    }
    shares
}

/// The all-liquid leaves that are farther than two voxels from the surface. Moving the surface by a fraction of a voxel
/// makes none of their cells air or a neighbour of air.
pub(crate) fn deep_leaves(cells: &Grid<i32>, fields: &LiquidFields) -> Vec<bool> {
    let farthest = -2.0 * fields.voxel_size() as f32;
    let is_deep = |(own, &origin): (&[i32], &Coord)| {
        let leaf = fields.surface.topology.leaf_of(origin).map(|l| &fields.surface.values[l * leaf::SIZE..]);
        own[0] < LABEL_SOLID
            && own.iter().all(|&label| label == own[0])
            && leaf.is_some_and(|phi| phi[..leaf::SIZE].iter().all(|&phi| phi < farthest))
    };
    cells.values.par_chunks(leaf::SIZE).zip(cells.topology.origins()).map(is_deep).collect()
}
