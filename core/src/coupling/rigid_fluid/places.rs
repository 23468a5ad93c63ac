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

/// What is around a face of C.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masses {
    /// Share of its volume in C that the body fills.
    pub(super) share: f64,
    /// Mass of the body in it, kg.
    pub(super) own: f64,
    /// Mass of liquid in the place of the body, kg.
    pub(super) instead: f64,
    /// Mass of the liquid beside it, kg.
    pub(super) liquid: f64,
    /// Density of that liquid, kg/m³.
    pub(super) liquid_density: f64,
    /// Density of both as the pressure meets it, kg/m³: see [`beside`].
    pub(super) density: f32,
}

/// The density, kg/m³, of a share w of body and 1 − w of liquid side by side: what one gradient of pressure moves, each part by
/// itself. 1/ρ = w/ρ_r + (1 − w)/ρ_f.
fn beside(share: f64, body: f64, liquid: f64) -> f64 {
    if liquid > 0.0 && body > 0.0 { 1.0 / (share / body + (1.0 - share) / liquid) } else { body.max(liquid) }
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

/// The density of the cells of C, kg/m³: that of the liquid and, by the share that it fills, of the body [`beside`] it. `bodies`:
/// the faces and the density ρ_r of each. A cell in two bodies counts with the later one.
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
                    density.values[slot] = beside(f64::from(filled), rho, f64::from(liquid)) as f32;
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
    let (share, liquid, volume, density) = match phi.map(|phi| phi < 0.0) {
        [false, false] => return None,
        [true, true] => {
            let liquid = 0.5 * (below.map_or(0.0, liquid) + liquid(place.slot));
            (place.share, liquid, h3, beside(place.share, rho, liquid) as f32)
        }
        [low, _] => {
            let wet = if low { below? } else { place.slot };
            let theta = if low { theta(phi[0], phi[1]) } else { theta(phi[1], phi[0]) };
            (f64::from(domain.filled.values[wet]), liquid(wet), f64::from(theta) * h3, cells.values[wet])
        }
    };
    Some(Masses {
        share,
        own: share * rho * volume,
        instead: share * liquid * volume,
        liquid: (1.0 - share) * liquid * volume,
        liquid_density: liquid,
        density,
    })
}
