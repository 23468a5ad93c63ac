//! Faces that somebody shuts: a lid, a valve, a door without thickness.

use crate::grid::{FaceGrid, leaf};
use std::sync::Arc;

/// Shuts the share s of what is open of each face. What shuts it stands still, so the closed part of the face moves as the mean of
/// both:
///
/// ```text
/// α' = α (1 − s)      u_s' = u_s (1 − α) / (1 − α')
/// ```
///
/// A face has one owner, who takes the pressure on its closed part: who closes more of it. So a face beside a body that a lid
/// alone closes is nobody's. Where both close some of a face, whoever closes less of it feels nothing there.
pub fn shut(
    open: &mut FaceGrid<f32>,
    vel_solid: &mut FaceGrid<f32>,
    mut owner: Option<&mut FaceGrid<u32>>,
    shut: &FaceGrid<f32>,
) {
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
            if let Some(owner) = owner.as_deref_mut().filter(|_| *alpha - left > 1.0 - *alpha)
                && let Some(owned) = owner.topology.leaf_of(origin)
            {
                owner.values[axis][owned * leaf::SIZE + n] = 0;
            }
            if let Some(solid) = solid.filter(|_| left < 1.0) {
                vel_solid.values[axis][solid * leaf::SIZE + n] *= (1.0 - *alpha) / (1.0 - left);
            }
            *alpha = left;
        }
    }
}

/// The velocity of what passes faces that are shut in part, from that in what is left open of them: the mean (1 − s) u over all that
/// the liquid's own α calls open, by which it moves as much liquid through the face as the flux α' u says.
pub fn passed(vel: &mut FaceGrid<f32>, shut: &FaceGrid<f32>) {
    for (axis, l) in (0..3).flat_map(|axis| (0..shut.topology.len()).map(move |l| (axis, l))) {
        let Some(own) = vel.topology.leaf_of(shut.topology.origins()[l]) else { continue };
        let faces = &mut vel.values[axis][own * leaf::SIZE..][..leaf::SIZE];
        let shares = &shut.values[axis][l * leaf::SIZE..][..leaf::SIZE];
        faces.iter_mut().zip(shares).for_each(|(u, s)| *u *= 1.0 - s.clamp(0.0, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Coord, Topology};

    /// What moves through a face by its mean velocity is the flux of the projection, and the outflow of what it was before is kept.
    #[test]
    fn what_passes_is_the_flux_of_what_is_left_open() {
        let topology = Arc::new(Topology::covering([Coord::ZERO]));
        let faces = |value: f32| FaceGrid::from_fn(topology.clone(), value, move |_, _| value);
        let (mut open, mut solid, mut vel) = (faces(0.8), faces(0.3), faces(2.0));
        shut(&mut open, &mut solid, None, &faces(0.75));
        passed(&mut vel, &faces(0.75));
        let (flux, mean) = (open.get(0, Coord::ZERO) * 2.0, 0.8 * vel.get(0, Coord::ZERO));
        assert!((flux - mean).abs() < 1e-6, "{flux} and {mean}");
        let wall = (1.0 - open.get(0, Coord::ZERO)) * solid.get(0, Coord::ZERO);
        assert!((wall - 0.2 * 0.3).abs() < 1e-6, "{wall}");
    }

    /// A lid over open faces beside a body is nobody's; where the body closes more of a face than the lid does, it is the body's.
    #[test]
    fn a_lid_is_not_the_body_beside_it() {
        let topology = Arc::new(Topology::covering([Coord::ZERO]));
        let faces = |value: f32| FaceGrid::from_fn(topology.clone(), value, move |_, _| value);
        for (alpha, share, expected) in
            [(1.0, 1.0, 0), (1.0, 0.1, 0), (0.8, 0.75, 0), (0.3, 1.0, 2), (0.8, 0.1, 2)]
        {
            let mut owner = FaceGrid::from_fn(topology.clone(), 2, |_, _| 2);
            shut(&mut faces(alpha), &mut faces(0.0), Some(&mut owner), &faces(share));
            assert!(owner.values.iter().flatten().all(|&number| number == expected), "{alpha} {share}");
        }
    }
}
