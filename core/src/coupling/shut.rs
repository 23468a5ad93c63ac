//! Faces that somebody shuts: a lid, a valve, a door without thickness.

use crate::grid::{FaceGrid, leaf};
use std::sync::Arc;

/// What is left open of each face where the share s of it is shut besides: α' = α (1 − s).
///
/// What shuts a face stands still, and takes the pressure on its own part α − α'. Solids keep the rest of what is closed, 1 − α:
/// their flux, and the pressure on them, are as without it.
pub fn shut(open: &FaceGrid<f32>, shut: &FaceGrid<f32>) -> FaceGrid<f32> {
    let mut left = open.on(&Arc::new(open.topology.union(&shut.topology)));
    for (axis, l) in (0..3).flat_map(|axis| (0..shut.topology.len()).map(move |l| (axis, l))) {
        let Some(own) = left.topology.leaf_of(shut.topology.origins()[l]) else { continue };
        let faces = &mut left.values[axis][own * leaf::SIZE..][..leaf::SIZE];
        let shares = &shut.values[axis][l * leaf::SIZE..][..leaf::SIZE];
        faces.iter_mut().zip(shares).for_each(|(alpha, s)| *alpha *= 1.0 - s.clamp(0.0, 1.0));
    }
    left
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

    /// What moves through a face by its mean velocity is the flux of the projection.
    #[test]
    fn what_passes_is_the_flux_of_what_is_left_open() {
        let topology = Arc::new(Topology::covering([Coord::ZERO]));
        let faces = |value: f32| FaceGrid::from_fn(topology.clone(), value, move |_, _| value);
        let (open, mut vel) = (shut(&faces(0.8), &faces(0.75)), faces(2.0));
        passed(&mut vel, &faces(0.75));
        let (flux, mean) = (open.get(0, Coord::ZERO) * 2.0, 0.8 * vel.get(0, Coord::ZERO));
        assert!((flux - mean).abs() < 1e-6, "{flux} and {mean}");
    }
}
