//! Faces that somebody shuts: a lid, a valve, a door without thickness.

use crate::grid::{FaceGrid, leaf};
use std::sync::Arc;

/// Shuts the share s of what is open of each face. What shuts it stands still, so the closed part of the face moves as the mean of
/// both:
///
/// ```text
/// α' = α (1 − s)      u_s' = u_s (1 − α) / (1 − α')
/// ```
pub fn shut(open: &mut FaceGrid<f32>, vel_solid: &mut FaceGrid<f32>, shut: &FaceGrid<f32>) {
    let all = Arc::new(open.topology.union(&shut.topology));
    *open = open.on(&all);
    for (axis, l) in (0..3).flat_map(|axis| (0..shut.topology.len()).map(move |l| (axis, l))) {
        let origin = shut.topology.origins()[l];
        let Some(own) = all.leaf_of(origin) else { continue };
        let solid = vel_solid.topology.leaf_of(origin);
        for n in 0..leaf::SIZE {
            let share = shut.values[axis][l * leaf::SIZE + n].clamp(0.0, 1.0);
            if share <= 0.0 {
                continue;
            }
            let alpha = &mut open.values[axis][own * leaf::SIZE + n];
            let left = *alpha * (1.0 - share);
            if let Some(solid) = solid.filter(|_| left < 1.0) {
                vel_solid.values[axis][solid * leaf::SIZE + n] *= (1.0 - *alpha) / (1.0 - left);
            }
            *alpha = left;
        }
    }
}
