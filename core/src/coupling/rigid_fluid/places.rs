//! The faces that lie in bodies, and the masses around them.

use super::domain::{Domain, body};
use crate::coupling::bodies::Bodies;
use crate::grid::{Grid, leaf};
use crate::levelset::fractions::theta;

/// A lower face of a cell, of which a body fills a share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) axis: usize,
    /// Of the domain.
    pub(super) slot: usize,
    /// w: share of the volume around it that the body fills, the mean of both cells. Summed over all faces this is the
    /// volume of the body, wherever it lies.
    pub(super) share: f64,
    /// Nothing flows through it.
    pub(super) is_closed: bool,
}

impl Place {
    /// Whether neither of its cells is half full.
    pub(super) fn is_thin(&self, domain: &Domain) -> bool {
        let at = |slot: Option<usize>| slot.map_or(0.0, |slot| domain.filled.values[slot]);
        at(Some(self.slot)).max(at(domain.below(self.axis, self.slot))) < 0.5
    }
}

/// Masses around a face of C, kg.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masses {
    /// Of the body.
    pub(super) own: f64,
    /// Of liquid in the place of the body.
    pub(super) instead: f64,
    /// Of the liquid beside it.
    pub(super) liquid: f64,
    /// Of all, kg/m³.
    pub(super) density: f32,
}

impl Masses {
    /// Of what moves with the body: on a closed face the liquid, too.
    pub(super) fn held(&self, is_closed: bool) -> f64 {
        self.own + if is_closed { self.liquid } else { 0.0 }
    }

    /// Of liquid in the place of what moves with the body.
    pub(super) fn displaced(&self, is_closed: bool) -> f64 {
        self.instead + if is_closed { self.liquid } else { 0.0 }
    }

    /// Of what does not move with the body.
    pub(super) fn free(&self, is_closed: bool) -> f64 {
        if is_closed { 0.0 } else { self.liquid }
    }
}

/// The faces in each body, by leaf.
pub(super) fn places(bodies: &Bodies, domain: &Domain) -> Vec<Vec<Place>> {
    let mut all = vec![Vec::new(); bodies.bodies.len()];
    for l in 0..domain.topology.len() {
        for axis in 0..3 {
            for slot in l * leaf::SIZE..(l + 1) * leaf::SIZE {
                let Some((b, _)) = body(bodies, domain.owner.values[axis][slot]) else { continue };
                let below = domain.below(axis, slot).map_or(0.0, |below| domain.filled.values[below]);
                let share = 0.5 * f64::from(below + domain.filled.values[slot]);
                if share > 0.0
                    && let Some(own) = all.get_mut(b)
                {
                    let is_closed = domain.open.values[axis][slot] <= 0.0;
                    own.push(Place { axis, slot, share, is_closed });
                }
            }
        }
    }
    all
}

/// The density of the cells of C, kg/m³: that of the liquid and, by the share that it fills, of the body. `bodies`: the faces
/// and the density ρ_r of each. A cell in two bodies counts with the later one.
pub(super) fn cell_density<'a>(
    domain: &Domain,
    bodies: impl Iterator<Item = (&'a [Place], f64)>,
) -> Grid<f32> {
    let mut density = domain.liquid_density.clone();
    for (places, rho) in bodies {
        for place in places {
            for slot in [Some(place.slot), domain.below(place.axis, place.slot)].into_iter().flatten() {
                let (filled, liquid) = (domain.filled.values[slot], domain.liquid_density.values[slot]);
                if filled > 0.0 {
                    density.values[slot] = (1.0 - filled) * liquid + filled * rho as f32;
                }
            }
        }
    }
    density
}

/// The masses around a face of a body of density `rho`; `None` where it is no face of C. `cells`: [`cell_density`]; `h3`:
/// volume of a cell, m³.
///
/// Between two cells of C it has half of each. At the surface it has θ of a cell of the kind that lies in C, as the pressure
/// system has it [Gibou et al. 2002].
pub(super) fn masses_at(
    domain: &Domain,
    cells: &Grid<f32>,
    place: &Place,
    rho: f64,
    h3: f64,
) -> Option<Masses> {
    let at = |slot: Option<usize>| slot.map_or(domain.surface.background, |slot| domain.surface.values[slot]);
    let below = domain.below(place.axis, place.slot);
    let phi = [at(below), at(Some(place.slot))];
    let liquid = |slot: usize| f64::from(domain.liquid_density.values[slot]);
    match phi.map(|phi| phi < 0.0) {
        [false, false] => None,
        [true, true] => {
            let liquid = 0.5 * (below.map_or(0.0, liquid) + liquid(place.slot));
            let density = (1.0 - place.share) * liquid + place.share * rho;
            Some(Masses {
                own: place.share * rho * h3,
                instead: place.share * liquid * h3,
                liquid: (1.0 - place.share) * liquid * h3,
                density: density as f32,
            })
        }
        [low, _] => {
            let wet = if low { below? } else { place.slot };
            let theta = if low { theta(phi[0], phi[1]) } else { theta(phi[1], phi[0]) };
            let part = f64::from(theta) * h3;
            let (filled, all) = (f64::from(domain.filled.values[wet]), f64::from(cells.values[wet]));
            let beside = (1.0 - filled) * liquid(wet);
            Some(Masses {
                own: (all - beside).max(0.0) * part,
                instead: filled * liquid(wet) * part,
                liquid: beside * part,
                density: cells.values[wet],
            })
        }
    }
}
