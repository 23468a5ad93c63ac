//! The volume rate at which deforming solids swell inside the cells that they cut.

use crate::grid::{Grid, Transform, leaf};
use crate::solid::{Motion, SolidFields, Solids};
use rayon::prelude::*;

/// ∫ ∇·w over the solid part of each cut cell, per volume of the cell, 1/s; `None` where no solid deforms.
///
/// The velocity w of a deforming solid, extended into it from its surface, has a divergence of its own. The flux that
/// it prescribes to the fluid is the flux through the wall inside the cell: ∫ ∇·w − Σ_f ± (1 − α) h² w_f over the solid
/// part. For rigid motion the first term is zero.
pub fn swelling(solids: &Solids, fields: &SolidFields, transform: &Transform) -> Option<Grid<f32>> {
    if !solids.colliders.iter().any(|c| matches!(c.motion(), Motion::PerVoxel(_))) {
        return None;
    }
    let h = transform.voxel_size();
    let topology = fields.volume.topology.clone();
    let mut out = Grid::new(topology.clone(), 0.0);
    out.values.par_chunks_mut(leaf::SIZE).enumerate().for_each_init(
        || solids.probe(),
        |probe, (l, out)| {
            for (n, out) in out.iter_mut().enumerate() {
                let slot = l * leaf::SIZE + n;
                let filled = 1.0 - f64::from(fields.volume.values[slot]);
                if filled > 0.0 && filled < 1.0 {
                    let centre = transform.to_world(topology.coord(slot).as_dvec3());
                    *out = (filled * probe.expansion(centre, h)) as f32;
                }
            }
        },
    );
    Some(out)
}
