//! The air of a projection: which regions keep their volume, and the outflow that returns each to the volume it should have.

use super::Constrained;
use super::attached::Attached;
use super::gauge::Gauge;
use super::{Bubble, Error};
use crate::coupling::air::chambers;
use crate::coupling::air::fit::{Fitted, fit};
use crate::coupling::air::gas::{self, Spring};
use crate::coupling::air::growth::{self, growth};
use crate::coupling::air::identity::{Identities, identify};
use crate::coupling::air::regions::{Region, Regions};
use crate::coupling::air::volumes::{ClosedVolume, closed_volumes};
use crate::coupling::fields::LiquidFields;
use crate::coupling::memory::BubbleMemory;
use crate::grid::Grid;

/// What is known of the air before the solve.
pub(super) struct KeptAir {
    pub(super) identities: Identities,
    /// The regions that keep their volume.
    pub(super) constrained: Vec<bool>,
    /// Those of them with a row: something that moves borders them.
    pub(super) rowed: Vec<bool>,
    /// How each yields to pressure, where air can be compressed.
    pub(super) springs: Vec<Option<Spring>>,
    /// The volumes without a way out.
    pub(super) closed: Vec<ClosedVolume>,
    /// Outflow that each region should have, m³/s.
    pub(super) grow: Vec<f64>,
    /// The surface moved to where all have their volumes.
    pub(super) fitted: Option<Fitted>,
}

impl KeptAir {
    /// Of the regions of some fields.
    pub(super) fn find(
        fields: &LiquidFields,
        regions: &Regions,
        constrained: Constrained,
        attached: &Attached,
    ) -> Result<Self, Error> {
        let h = fields.voxel_size();
        let mut identities = identify(regions, fields.previous_bubbles, h * h * h);
        let mut constrained = constrained(regions);
        let blown = chambers::blown(fields, regions);
        constrained.iter_mut().zip(&blown).for_each(|(kept, blown)| *kept |= blown.is_some());
        if fields.bodies.is_some() {
            // In a void there is no air that could push a body.
            constrained.iter_mut().zip(&identities.regions).for_each(|(kept, air)| *kept |= air.void);
        }
        let reached = attached.reached(regions.air.len());
        let has_row = |(r, air): (usize, &Region)| constrained[r] && (air.liquid_faces > 0 || reached[r]);
        let rowed: Vec<bool> = regions.air.iter().enumerate().map(has_row).collect();
        let springs = gas::springs(fields, &identities, &rowed);
        // Air that yields has no free constant, and its volume can change.
        let mut closed = closed_volumes(regions, &constrained, &rowed);
        closed.retain(|volume| volume.air.iter().all(|&r| springs[r].is_none()));
        // Pressures can move bodies to where air has its volume; the fit moves nothing but the surface.
        let gauge = match fields.bodies {
            Some(_) => Gauge::of(&closed, &attached.nets(&attached.operators()?)),
            None => Gauge::of(&closed, &[]),
        };
        let there = growth::targets(regions, &identities, &closed, 0.0, |lacks| gauge.left(lacks));
        let room = growth::targets(regions, &identities, &closed, fields.liquid_excess, |lacks| lacks);
        let gain = if fields.gas.is_some() { gas::SLOWER * fields.volume_gain } else { fields.volume_gain };
        let control = growth::Control { gain, dt: fields.drift, h };
        let moves = fields.bodies.is_some();
        let mut grow = growth(regions, &mut identities, &constrained, &there, moves, control);
        chambers::blow(&blown, regions, &rowed, &springs, fields.drift, &mut identities, &mut grow);
        let fitted = fit(fields, regions, &room, &constrained);
        Ok(Self { identities, constrained, rowed, springs, closed, grow, fitted })
    }

    /// The bubble table; `pressure`, Pa, of a region.
    pub(super) fn bubbles(&self, regions: &Regions, pressure: impl Fn(usize) -> f64) -> Vec<Bubble> {
        let shown = self.fitted.as_ref().map_or(&regions.air, |f| &f.air);
        let bubble = |(r, (region, shown)): (usize, (&Region, &Region))| Bubble {
            id: self.identities.regions[r].id,
            volume: shown.volume,
            found_volume: region.volume,
            rest_volume: self.identities.regions[r].book.rest,
            pressure: pressure(r),
            centroid: shown.centroid,
            constrained: self.rowed[r],
            exterior: region.exterior,
            liquid_faces: region.liquid_faces,
            liquid_area: region.liquid_area,
        };
        regions.air.iter().zip(shown).enumerate().map(bubble).collect()
    }
}

/// One row that air adds to somebody else's pressure system: one unknown λ for all cells of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AirRow {
    /// The region's id in [`BubbleMemory::cells`].
    pub id: i32,
    /// Outflow that its faces should have together, m³/s.
    pub outflow: f64,
}

/// The air of a liquid as data, for a coupling that solves the pressure itself.
#[derive(Clone, Debug)]
pub struct AirShare {
    /// The rows, by ascending id.
    pub rows: Vec<AirRow>,
    /// The cells of the regions, and what the next substep needs to recognise them.
    pub memory: BubbleMemory,
    /// The air regions, in the order of their first cells; their pressures are not known yet.
    pub bubbles: Vec<Bubble>,
    /// The level set, m, fitted to the volumes of liquid and bubbles; `None` where it is unchanged.
    pub surface: Option<Grid<f32>>,
    /// Liquid volume that the fit took away, m³.
    pub taken: f64,
}

/// What the air would add to a system [Goldade and Batty 2017, Eq. 8: B and s_b]. The row of the largest bubble of a closed
/// volume, which a projection of ours leaves out, is there: who solves owns the null space.
pub(crate) fn share(fields: &LiquidFields, constrained: Constrained) -> Result<AirShare, Error> {
    let regions = Regions::find(fields);
    let kept = KeptAir::find(fields, &regions, constrained, &Attached::none(fields.drift))?;
    let bubbles = kept.bubbles(&regions, |_| 0.0);
    let row = |r: usize| AirRow { id: kept.identities.regions[r].id, outflow: kept.grow[r] };
    let mut rows: Vec<AirRow> = (0..regions.air.len()).filter(|&r| kept.rowed[r]).map(row).collect();
    rows.sort_by_key(|row| row.id);
    let KeptAir { identities, fitted, .. } = kept;
    Ok(AirShare {
        rows,
        bubbles,
        taken: fitted.as_ref().map_or(0.0, |f| f.taken),
        surface: fitted.map(|f| f.surface),
        memory: identities.memory(regions),
    })
}
