//! The skin: cells that the liquid's surface cuts, or may cut once it is moved a little. Volumes depend on these cells
//! alone.

use super::{Region, Regions};
use crate::grid::{Coord, Grid, Transform, halo, leaf};
use crate::levelset::{FRACTION_HALO, fraction_inside};
use glam::{DVec3, IVec3};
use rayon::prelude::*;

/// Distance from the surface, voxels, up to which a cell belongs to the skin: a cut cell lies within about one half,
/// and the surface moves by at most a quarter.
pub(crate) const DEPTH: f32 = 1.5;

/// A cell of the skin, as the regions were measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkinCell {
    /// Its place in the leaf.
    pub(crate) offset: u16,
    /// The region that its air belongs to, if any.
    pub(crate) owner: Option<u32>,
    /// Fraction of its volume that no solid fills.
    pub(crate) open: f32,
    /// Fraction that spray fills.
    pub(crate) spray: f32,
    /// Fraction of its open volume inside the liquid.
    pub(crate) inside: f32,
}

impl SkinCell {
    /// The air in it, voxels, when `inside` of it is liquid.
    fn air(&self, inside: f32) -> f64 {
        f64::from((self.open * (1.0 - inside) - self.spray).max(0.0))
    }
}

/// Changes in one leaf: liquid, voxels, and per region its air, voxels, with its first moment in world space.
#[derive(Default)]
struct Change {
    liquid: f64,
    air: Vec<(u32, f64, DVec3)>,
}

impl Regions {
    /// Measures the air regions again, with volumes and centroids inside a surface that has moved by at most a quarter
    /// of a voxel while every cell kept its side. Also returns the volume that the liquid gained, m³.
    pub(crate) fn moved_to(&self, surface: &Grid<f32>, transform: &Transform) -> (Vec<Region>, f64) {
        let h = transform.voxel_size();
        let leaves = self.skin.par_iter().zip(self.cells.topology.origins());
        let changes: Vec<Change> = leaves
            .map_init(Vec::new, |block, (skin, &origin)| change(skin, origin, surface, transform, block))
            .collect();
        let mut air = self.air.clone();
        let mut moments: Vec<DVec3> = air.iter().map(|r| r.volume * r.centroid).collect();
        let mut liquid = 0.0;
        for change in changes {
            liquid += change.liquid;
            for (r, volume, moment) in change.air {
                air[r as usize].volume += volume * h * h * h;
                moments[r as usize] += moment * h * h * h;
            }
        }
        for (r, moment) in air.iter_mut().zip(moments).filter(|(r, _)| r.volume > 0.0 && !r.exterior) {
            r.centroid = moment / r.volume;
        }
        (air, liquid * h * h * h)
    }
}

fn change(
    skin: &[SkinCell],
    origin: Coord,
    surface: &Grid<f32>,
    transform: &Transform,
    block: &mut Vec<f32>,
) -> Change {
    let mut change = Change::default();
    let leaf = if skin.is_empty() { None } else { surface.topology.leaf_of(origin) };
    let Some(l) = leaf else { return change };
    halo::gather::<FRACTION_HALO, _>(&surface.topology, &surface.values, l, surface.background, block);
    for cell in skin {
        let local = leaf::local(usize::from(cell.offset));
        let inside = fraction_inside(block, halo::index(FRACTION_HALO, local), transform.voxel_size() as f32);
        if inside == cell.inside {
            continue;
        }
        change.liquid += f64::from(cell.open * inside) - f64::from(cell.open * cell.inside);
        let Some(owner) = cell.owner else { continue };
        let (volume, at) = (
            cell.air(inside) - cell.air(cell.inside),
            transform.to_world((origin + IVec3::from_array(local)).as_dvec3()),
        );
        match change.air.iter_mut().find(|(r, ..)| *r == owner) {
            Some((_, sum, moment)) => (*sum, *moment) = (*sum + volume, *moment + volume * at),
            None => change.air.push((owner, volume, volume * at)),
        }
    }
    change
}
