//! Air that somebody keeps, and blows.

use super::gas::Spring;
use super::identity::Identities;
use super::regions::Regions;
use crate::coupling::fields::{Chamber, LiquidFields};

/// The region of enclosed air around each chamber's place; `None` in open air, liquid and solids.
pub(crate) fn around(fields: &LiquidFields, regions: &Regions) -> Vec<Option<usize>> {
    let region = |chamber: &Chamber| {
        let cell = fields.transform.cell_around(chamber.place)?;
        regions.air_at(cell).filter(|&r| !regions.air[r].exterior)
    };
    fields.chambers.iter().map(region).collect()
}

/// Air blown into each region, m³/s; `None` where nobody keeps it. Open air is kept by nobody.
pub(crate) fn blown(fields: &LiquidFields, regions: &Regions) -> Vec<Option<f64>> {
    let mut blown = vec![None; regions.air.len()];
    for (chamber, r) in fields.chambers.iter().zip(around(fields, regions)) {
        if let Some(r) = r {
            *blown[r].get_or_insert(0.0) += chamber.inflow;
        }
    }
    blown
}

/// Enters what is blown in over the drift that follows, into regions that have a row: they have more air from then on. One that
/// yields (a spring) answers by its pressure, another grows by it, m³/s. What finds no room is not blown in: air that does not yield
/// should have at most twice the volume that it has, and at least half.
pub(crate) fn blow(
    blown: &[Option<f64>],
    regions: &Regions,
    rowed: &[bool],
    springs: &[Option<Spring>],
    drift: f64,
    identities: &mut Identities,
    grow: &mut [f64],
) {
    for (r, inflow) in blown.iter().enumerate().filter(|(r, _)| rowed[*r]) {
        let Some(inflow) = inflow.filter(|q| *q != 0.0) else { continue };
        let book = &mut identities.regions[r].book;
        // No more than half of it leaves in a substep.
        if springs[r].is_some() {
            book.gas += (inflow * drift).max(-0.5 * book.gas);
        } else {
            let (found, rest) = (regions.air[r].volume, book.rest);
            book.rest = (rest + inflow * drift).max(rest.min(0.5 * found)).min(rest.max(2.0 * found));
            grow[r] += (book.rest - rest) / drift;
        }
    }
}
