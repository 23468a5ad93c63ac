//! The surface, where liquid and bubbles have the volumes they should have.

use super::growth;
use super::regions::{Region, Regions};
use crate::coupling::fields::LiquidFields;
use crate::grid::layers::carry_on;
use crate::grid::morphology::VoxelMask;
use crate::grid::{Grid, leaf};
use rayon::prelude::*;

/// Farthest that the surface is moved, voxels: half the distance between particles at a grid scale of 2. Their places say
/// no more of where the surface is.
const FARTHEST: f64 = 0.25;
/// Layers of cells around the air in which it is moved: those that the pressure solve and volumes read.
const LAYERS: usize = 3;
/// Least |φ| left beside the surface, voxels: no cell changes sides, so that the regions stay what they are.
const LEAST: f32 = 1e-4;
/// Newton steps towards the volumes: the second finds what the first misses, whose areas are those of voxels.
const STEPS: usize = 2;
/// Part of its volume that a bubble, or the liquid, may miss.
const CLOSE: f64 = 2e-3;

/// The level set and what is around it, once fitted.
pub(crate) struct Fitted {
    /// φ, m.
    pub(crate) surface: Grid<f32>,
    /// The regions as they are in it.
    pub(crate) air: Vec<Region>,
    /// What the liquid has less in it, m³.
    pub(crate) taken: f64,
}

/// φ moved by (V₀ − V)/A around every bubble of volume V, liquid area A and `targets` V₀ (m³), and around all air that
/// nothing constrains by what is left of the liquid's own excess over A; `None` where all have what they should.
///
/// Particles know a surface to a few hundredths of a voxel, which is percents of a bubble of a few voxels, or of a splash;
/// the volumes are known exactly. Of the surfaces that the particles allow, this is the nearest in which they are right.
/// The particles' own account of the volume is what [`growth`](super::growth) steers: what drifts is brought back there,
/// not hidden here. Without a control of the bubbles' volumes (`volume_gain` 0) their surfaces stay.
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
    let close = CLOSE * regions.liquid_cells.iter().sum::<usize>() as f64 * h * h * h;
    let (mut ways, mut free_way) = (vec![0.0; targets.len()], 0.0);
    let mut fitted: Option<Fitted> = None;
    for _ in 0..STEPS {
        let (air, taken) = fitted.as_ref().map_or((&regions.air, 0.0), |f| (&f.air, f.taken));
        let (mut any, mut excess) = (false, fields.liquid_excess - taken);
        let mut add = |way: &mut f64, volume: f64, area: f64| {
            let before = *way;
            *way = (*way + volume / area.max(f64::MIN_POSITIVE)).clamp(-FARTHEST * h, FARTHEST * h);
            any |= *way != before;
        };
        for r in (0..targets.len()).filter(|&r| steered(r)) {
            let error = targets[r] - air[r].volume;
            excess -= error;
            if error.abs() > CLOSE * targets[r] {
                add(&mut ways[r], error, area(r));
            }
        }
        if free_area > 0.0 && excess.abs() > close {
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

/// φ moved by the `ways` (m) of the regions. No cell changes sides.
fn moved(fields: &LiquidFields, regions: &Regions, ways: &[f64]) -> Grid<f32> {
    let (surface, least) = (fields.surface, LEAST * fields.voxel_size() as f32);
    let topology = &surface.topology;
    let labels: Vec<_> = topology.origins().par_iter().map(|&origin| regions.of_leaf(origin)).collect();
    let region = |slot: usize| {
        labels[slot / leaf::SIZE].and_then(|labels| usize::try_from(labels[slot % leaf::SIZE]).ok())
    };
    let mut moved = Grid::new(topology.clone(), 0.0);
    moved.values.par_iter_mut().enumerate().with_min_len(4096).for_each(|(slot, moved)| {
        *moved = region(slot).map_or(0.0, |r| ways[r] as f32);
    });
    carry_on(&mut moved, VoxelMask::from_fn(topology.clone(), |slot| region(slot).is_some()), LAYERS);
    moved.background = surface.background;
    moved.values.par_iter_mut().zip(&surface.values).with_min_len(4096).for_each(|(moved, &phi)| {
        *moved = match phi < 0.0 {
            true => (phi + *moved).min(-least),
            false => (phi + *moved).max(least),
        };
    });
    moved
}
