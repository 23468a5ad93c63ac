//! The surface around each bubble, where the bubble has the volume it should have.

use super::fields::LiquidFields;
use super::growth::is_steered;
use super::regions::{Region, Regions};
use crate::grid::layers::carry_on;
use crate::grid::morphology::VoxelMask;
use crate::grid::{Grid, leaf};
use rayon::prelude::*;

/// Farthest that the surface is moved, voxels: half the distance between particles, whose places say no more.
const FARTHEST: f64 = 0.25;
/// Layers of cells around the air in which it is moved: those that the pressure solve and volumes read.
const LAYERS: usize = 3;
/// Least |φ| left beside the surface, voxels: no cell changes sides, so that the regions stay what they are.
const LEAST: f32 = 1e-4;

/// Newton steps towards the volumes: the second finds what the first misses, whose areas are those of voxels.
const STEPS: usize = 2;
/// Part of its volume that a bubble may miss.
const CLOSE: f64 = 2e-3;

/// The level set and its air, once fitted.
pub(super) struct Fitted {
    /// φ, m.
    pub(super) surface: Grid<f32>,
    /// The regions as they are in it.
    pub(super) air: Vec<Region>,
}

/// φ moved by (V₀ − V)/A around every constrained bubble of volume V and liquid area A; `None` where all have their
/// `targets` V₀ (m³).
///
/// Particles know a surface to a few hundredths of a voxel, which is percents of a bubble of a few voxels; its volume is
/// known exactly. Of the surfaces that the particles allow, this is the nearest in which the air has it. The particles'
/// own account of the volume is what [`growth`](super::growth) steers: what drifts is brought back there, not hidden here.
pub(super) fn fit(
    fields: &LiquidFields,
    regions: &Regions,
    targets: &[f64],
    constrained: &[bool],
) -> Option<Fitted> {
    let farthest = FARTHEST * fields.voxel_size();
    let mut ways = vec![0.0; regions.air.len()];
    let mut fitted: Option<Fitted> = None;
    for _ in 0..STEPS {
        let air = fitted.as_ref().map_or(&regions.air, |f| &f.air);
        let mut any = false;
        for (r, way) in ways.iter_mut().enumerate() {
            let error = targets[r] - air[r].volume;
            if is_steered(&regions.air[r], constrained[r]) && error.abs() > CLOSE * targets[r] {
                let area = regions.air[r].liquid_area.max(f64::MIN_POSITIVE);
                let before = std::mem::replace(way, (*way + error / area).clamp(-farthest, farthest));
                any |= *way != before;
            }
        }
        if !any {
            break;
        }
        let surface = moved(fields, regions, &ways);
        let air = regions.measured(&LiquidFields { surface: &surface, ..*fields });
        fitted = Some(Fitted { surface, air });
    }
    fitted
}

/// φ moved by the `ways` (m) of the regions. No cell changes sides.
fn moved(fields: &LiquidFields, regions: &Regions, ways: &[f64]) -> Grid<f32> {
    let (surface, least) = (fields.surface, LEAST * fields.voxel_size() as f32);
    let topology = &surface.topology;
    let region = |slot: usize| {
        let labels = regions.of_leaf(topology.origins()[slot / leaf::SIZE]);
        labels.and_then(|labels| usize::try_from(labels[slot % leaf::SIZE]).ok())
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
