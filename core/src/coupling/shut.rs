//! Faces that somebody shuts: a lid, a valve, a door without thickness.

use super::air::regions::{LABEL_SOLID, Regions};
use super::fields::LiquidFields;
use crate::grid::{FaceGrid, Topology, leaf};
use crate::solid::rasterise;
use std::sync::Arc;

/// The faces of a liquid's fields where somebody shuts some of them.
#[derive(Clone, Debug)]
pub struct Lids {
    /// Fraction of each face that solids leave open, on more leaves than the fields have; `None` where they have all.
    left: Option<FaceGrid<f32>>,
    /// What is left open of each face.
    pub open: FaceGrid<f32>,
}

impl Lids {
    /// The fields with these lids.
    pub fn over<'a>(&'a self, fields: LiquidFields<'a>) -> LiquidFields<'a> {
        let left = self.left.as_ref().unwrap_or(fields.left_by_solids());
        LiquidFields { open: &self.open, without_lids: Some(left), ..fields }
    }
}

/// What is left open of each face where the share s of it is shut besides: α' = α (1 − s), α that of the fields.
///
/// What shuts a face stands still, and takes the pressure on its own part α − α'. Solids keep the rest of what is closed, 1 − α:
/// their flux, and the pressure on them, are as without it. Where the fields have no leaf, it parts open air; inside solids and
/// beyond closed sides it does nothing.
pub fn shut(fields: &LiquidFields, shut: &FaceGrid<f32>) -> Lids {
    let left = with_air(fields, &shut.topology);
    let mut open = left.as_ref().unwrap_or(fields.open).clone();
    shut_by(&mut open, shut);
    Lids { left, open }
}

/// The open share of faces on those of some leaves, too, that lie in air without leaves; `None` where there are no such leaves.
fn with_air(fields: &LiquidFields, leaves: &Topology) -> Option<FaceGrid<f32>> {
    let open = fields.open;
    let beyond = leaves.origins().iter().copied().filter(|&o| open.topology.leaf_of(o).is_none());
    let beyond: Vec<_> = beyond.collect();
    if beyond.is_empty() {
        return None;
    }
    let regions = Regions::find(fields);
    let is_air = |&o: &_| regions.of_leaf(o).is_some() || regions.at_tile(o) > LABEL_SOLID;
    let air = Arc::new(Topology::new(beyond.into_iter().filter(is_air).collect()));
    // No surface of a solid runs through them but a closed side.
    let sides = rasterise(&[], &fields.domain, &air, &fields.transform).open;
    let mut all = open.on(&Arc::new(open.topology.union(&air)));
    for (l, &origin) in air.origins().iter().enumerate() {
        let Some(own) = all.topology.leaf_of(origin) else { continue };
        for (all, sides) in all.values.iter_mut().zip(&sides.values) {
            all[own * leaf::SIZE..][..leaf::SIZE].copy_from_slice(&sides[l * leaf::SIZE..][..leaf::SIZE]);
        }
    }
    Some(all)
}

/// Takes from each face the share that is shut.
fn shut_by(open: &mut FaceGrid<f32>, shut: &FaceGrid<f32>) {
    for (axis, l) in (0..3).flat_map(|axis| (0..shut.topology.len()).map(move |l| (axis, l))) {
        let Some(own) = open.topology.leaf_of(shut.topology.origins()[l]) else { continue };
        let faces = &mut open.values[axis][own * leaf::SIZE..][..leaf::SIZE];
        let shares = &shut.values[axis][l * leaf::SIZE..][..leaf::SIZE];
        faces.iter_mut().zip(shares).for_each(|(alpha, s)| *alpha *= 1.0 - s.clamp(0.0, 1.0));
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

    /// What moves through a face by its mean velocity is the flux of the projection.
    #[test]
    fn what_passes_is_the_flux_of_what_is_left_open() {
        let topology = Arc::new(Topology::covering([Coord::ZERO]));
        let faces = |value: f32| FaceGrid::from_fn(topology.clone(), value, move |_, _| value);
        let (mut open, mut vel) = (faces(0.8), faces(2.0));
        shut_by(&mut open, &faces(0.75));
        passed(&mut vel, &faces(0.75));
        let (flux, mean) = (open.get(0, Coord::ZERO) * 2.0, 0.8 * vel.get(0, Coord::ZERO));
        assert!((flux - mean).abs() < 1e-6, "{flux} and {mean}");
    }
}
