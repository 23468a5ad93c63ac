//! The volume rate at which deforming solids swell inside the cells that they cut.

use crate::grid::{Coord, Grid, Transform, leaf};
use crate::solid::{Motion, SolidFields, Solids};
use glam::IVec3;
use rayon::prelude::*;

/// ∫ ∇·w over the solid part of each cut cell, per volume of the cell, 1/s; `None` where no solid deforms.
///
/// The velocity w of a deforming solid, extended into it from its surface, has a divergence of its own. The flux that
/// it prescribes to the fluid is the flux through the wall inside the cell: ∫ ∇·w − Σ_f ± (1 − α) h² w_f over the solid
/// part. For rigid motion the first term is zero. A cell that is solid but for a sliver of a face needs the term as well:
/// without it the whole of Σ_f ± h² w_f would have to leave through that sliver.
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
                if filled > 0.0 && (filled < 1.0 || has_open_face(fields, topology.coord(slot))) {
                    let centre = transform.to_world(topology.coord(slot).as_dvec3());
                    *out = (filled * probe.expansion(centre, h)) as f32;
                }
            }
        },
    );
    Some(out)
}

fn has_open_face(fields: &SolidFields, cell: Coord) -> bool {
    (0..3).any(|a| [cell, cell + IVec3::AXES[a]].into_iter().any(|c| fields.open.get(a, c) > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Topology;
    use crate::levelset::SignedDistance;
    use crate::solid::{Collider, DomainLimits, rasterise};
    use glam::{DVec3, Vec3};
    use std::sync::Arc;

    /// What a wall prescribes to a cell must leave through its open faces. Through the sliver that is left of a cell inside
    /// a ball that swells, nothing may leave but what the wall in the sliver itself pushes.
    #[test]
    fn what_a_swelling_ball_prescribes_to_a_cell_vanishes_with_its_open_area() {
        let own = Transform::uniform(1.0 / 16.0, DVec3::splat(-1.0));
        let topology = {
            let steps = || (-8..40).step_by(8);
            let origin = move |x: i32| steps().flat_map(move |y| steps().map(move |z| IVec3::new(x, y, z)));
            Arc::new(Topology::new(steps().flat_map(origin).collect()))
        };
        let (mut slivers, mut worst) = (0, 0.0f64);
        for n in 0..60 {
            let radius = 0.4 + 0.0051 * f64::from(n);
            let sdf =
                SignedDistance::from_fn(&own, IVec3::ZERO, IVec3::splat(31), 3.0, |p| p.length() - radius);
            let speed = Grid::from_fn(sdf.grid.topology.clone(), Vec3::ZERO, |c| {
                own.to_world(c.as_dvec3()).normalize_or_zero().as_vec3()
            });
            let ball = Collider::new(Arc::new(sdf), own, Motion::PerVoxel(Arc::new(speed)));
            let h = 1.0 / 16.0;
            let corner = DVec3::splat(-1.0) + DVec3::new(0.31, 0.17, 0.43) * (h * f64::from(n % 7) / 7.0);
            let transform = Transform::uniform(h, corner);
            let (colliders, domain) = ([ball], DomainLimits::unbounded());
            let fields = rasterise(&colliders, &domain, &topology, &transform);
            let solids = Solids { colliders: &colliders, domain: &domain };
            let swelling = swelling(&solids, &fields, &transform).expect("the ball deforms");
            for slot in 0..topology.len() * leaf::SIZE {
                let c = topology.coord(slot);
                let (mut through, mut open) = (0.0, 0.0);
                for a in 0..3 {
                    for (sign, c) in [(-1.0, c), (1.0, c + IVec3::AXES[a])] {
                        let alpha = f64::from(fields.open.get(a, c));
                        through += sign * (1.0 - alpha) * f64::from(fields.velocity.get(a, c));
                        open += alpha;
                    }
                }
                if open > 0.0 && open < 0.3 {
                    slivers += 1;
                    let prescribed = (through - f64::from(swelling.values[slot]) * h).abs();
                    worst = worst.max((prescribed - 1e-6) / open);
                }
            }
        }
        // At a speed of 1 m/s: a flux of a few times the open area, in areas of a face.
        assert!(slivers > 500 && worst < 3.0, "{slivers} slivers, a flux of {worst} times the open area");
    }
}
