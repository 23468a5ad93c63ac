//! Moves the liquid surface so that the liquid and every bubble have exactly the volumes that they should have.

use super::growth;
use super::regions::{Region, Regions};
use crate::coupling::fields::LiquidFields;
use crate::grid::layers::carry_on;
use crate::grid::morphology::VoxelMask;
use crate::grid::{Grid, leaf};
use crate::tuned::Tuned;
use rayon::prelude::*;

/// Farthest that the surface is moved, voxels: half the distance between particles at a grid scale of 2. Their places say
/// no more of where the surface is.
const FARTHEST: Tuned<f64> = Tuned::new("fit::FARTHEST", 0.25);
/// Layers of cells around the air in which the surface is moved: the one beyond the surface that the pressure solve and the
/// volumes read, the one that they interpolate with, and the one that the surface may move through.
const LAYERS: Tuned<usize> = Tuned::new("fit::LAYERS", 3);
/// Smallest |φ| left beside the surface, voxels. No cell changes sign, so the regions keep their cells.
const LEAST: Tuned<f32> = Tuned::new("fit::LEAST", 1e-4);
/// Newton steps towards the volumes. The areas are estimated from voxels, so one step misses a little; the second
/// removes that.
const STEPS: Tuned<usize> = Tuned::new("fit::STEPS", 2);
/// Relative error of its volume up to which a bubble, or the liquid, is left as it is. An error of a bubble that is larger than the
/// liquid counts by the liquid: so little of the air in a room may be half of a splash.
const CLOSE: Tuned<f64> = Tuned::new("fit::CLOSE", 2e-3);

/// The level set and the regions after the surface was moved.
pub(crate) struct Fitted {
    /// φ, m.
    pub(crate) surface: Grid<f32>,
    /// The regions inside that surface.
    pub(crate) air: Vec<Region>,
    /// Liquid volume that moving the surface took away, m³.
    pub(crate) taken: f64,
}

/// Moves φ around every bubble of volume V and liquid area A by (V₀ − V)/A, where V₀ (m³) is its entry in `targets`.
/// Around all air that nothing constrains, φ moves by the rest of the liquid's own excess divided by A. Returns `None`
/// where all volumes are right already.
///
/// Particles place the surface to a few hundredths of a voxel. That is several percent of the volume of a bubble of a
/// few voxels, or of a splash. The volumes are known exactly, so the surface nearest to the particles' own that has the
/// right volumes is taken. [`growth`](super::growth) steers by the volume as the particles leave it, so drift is
/// corrected there and not hidden here. Without a control of the bubbles' volumes (`volume_gain` 0) their surfaces are
/// not moved.
pub(crate) fn fit(
    fields: &LiquidFields,
    regions: &Regions,
    targets: &[f64],
    constrained: &[bool],
) -> Option<Fitted> {
    let h = fields.voxel_size();
    let steered = |r: usize| fields.volume_gain > 0.0 && growth::is_steered(&regions.air[r], constrained[r]);
    let free = |r: usize| !constrained[r];
    let area = |r: usize| regions.air[r].liquid_area;
    let free_area: f64 = (0..targets.len()).filter(|&r| free(r)).map(area).sum();
    let liquid = regions.liquid_cells.iter().sum::<usize>() as f64 * h * h * h;
    let is_close = |error: f64, volume: f64| error.abs() <= CLOSE.get() * volume.min(liquid);
    let (mut ways, mut free_way) = (vec![0.0; targets.len()], 0.0);
    let mut fitted: Option<Fitted> = None;
    for _ in 0..STEPS.get() {
        let (air, taken) = fitted.as_ref().map_or((&regions.air, 0.0), |f| (&f.air, f.taken));
        let (mut any, mut excess) = (false, fields.liquid_excess - taken);
        let mut add = |way: &mut f64, volume: f64, area: f64| {
            let before = *way;
            *way =
                (*way + volume / area.max(f64::MIN_POSITIVE)).clamp(-FARTHEST.get() * h, FARTHEST.get() * h);
            any |= *way != before;
        };
        for r in (0..targets.len()).filter(|&r| steered(r)) {
            let error = targets[r] - air[r].volume;
            excess -= error;
            if !is_close(error, targets[r]) {
                add(&mut ways[r], error, area(r));
            }
        }
        if free_area > 0.0 && !is_close(excess, liquid) {
            add(&mut free_way, excess, free_area);
        }
        if !any {
            break;
        }
        (0..targets.len()).filter(|&r| free(r)).for_each(|r| ways[r] = free_way);
        let surface = moved(fields, regions, &ways);
        let (air, more) = regions.moved_to(&surface, &fields.transform);
        fitted = Some(Fitted { surface, air, taken: -more });
    }
    fitted
}

/// φ moved by `ways` (m), one distance per region. No cell changes sign.
fn moved(fields: &LiquidFields, regions: &Regions, ways: &[f64]) -> Grid<f32> {
    let (surface, least) = (fields.surface, LEAST.get() * fields.voxel_size() as f32);
    let topology = &surface.topology;
    let labels: Vec<_> = topology.origins().par_iter().map(|&origin| regions.of_leaf(origin)).collect();
    let region = |slot: usize| {
        labels[slot / leaf::SIZE].and_then(|labels| usize::try_from(labels[slot % leaf::SIZE]).ok())
    };
    let mut moved = Grid::new(topology.clone(), 0.0);
    moved.values.par_iter_mut().enumerate().with_min_len(4096).for_each(|(slot, moved)| {
        *moved = region(slot).map_or(0.0, |r| ways[r] as f32);
    });
    carry_on(&mut moved, VoxelMask::from_fn(topology.clone(), |slot| region(slot).is_some()), LAYERS.get());
    moved.background = surface.background;
    moved.values.par_iter_mut().zip(&surface.values).with_min_len(4096).for_each(|(moved, &phi)| {
        *moved = match phi < 0.0 {
            true => (phi + *moved).min(-least),
            false => (phi + *moved).max(least),
        };
    });
    moved
}
