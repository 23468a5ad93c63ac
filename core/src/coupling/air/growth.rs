//! How fast each bubble should grow or shrink to reach its rest volume.

use super::identity::Identities;
use super::regions::{Region, Regions};
use super::volumes::ClosedVolume;
use crate::control::gains;
use crate::coupling::memory::AirBook;
use crate::tuned::Tuned;

/// Largest share of a bubble's volume that one substep adds or takes, and the most voxels that its surface may move for
/// it.
const MOST: Tuned<f64> = Tuned::new("growth::MOST", 0.5);

/// The control that brings bubbles back to their rest volumes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    /// Rate at which an error dies out, 1/s; 0 switches the control off.
    pub(crate) gain: f64,
    /// The substep's drift that follows, s.
    pub(crate) dt: f64,
    /// Edge of a voxel, m.
    pub(crate) h: f64,
}

/// True for air whose volume the control holds.
pub(crate) fn is_steered(air: &Region, constrained: bool) -> bool {
    constrained && air.liquid_faces > 0
}

/// The volume that each region should have, m³: its rest volume, as far as its closed volume can have that.
///
/// `left` takes what the air of each closed volume lacks, m³, and gives the part of it that nothing can make up: all of it between
/// fixed walls, where the air cannot grow as a whole, and nothing where a piston gives way. The rest volumes of a closed volume
/// are scaled by that. `liquid_excess`: the volume (m³) that the liquid has too much of, and leaves to the air.
pub(crate) fn targets(
    regions: &Regions,
    identities: &Identities,
    closed: &[ClosedVolume],
    liquid_excess: f64,
    left: impl Fn(Vec<f64>) -> Vec<f64>,
) -> Vec<f64> {
    let liquid_cells = regions.liquid_cells.iter().sum::<usize>();
    let mut targets: Vec<f64> = identities.regions.iter().map(|i| i.book.rest).collect();
    let sum =
        |volume: &ClosedVolume, of: &dyn Fn(usize) -> f64| volume.air.iter().map(|&r| of(r)).sum::<f64>();
    let rest = |volume: &ClosedVolume| sum(volume, &|r| identities.regions[r].book.rest);
    let there = |volume: &ClosedVolume| {
        let own = volume.liquids.iter().map(|&k| regions.liquid_cells[k]).sum::<usize>();
        let excess = if own > 0 { liquid_excess * own as f64 / liquid_cells as f64 } else { 0.0 };
        sum(volume, &|r| regions.air[r].volume) + excess
    };
    let lacks: Vec<f64> = closed.iter().map(|volume| rest(volume) - there(volume)).collect();
    let left = left(lacks.clone());
    for ((volume, lack), left) in closed.iter().zip(lacks).zip(left) {
        let rest = rest(volume);
        if rest > 0.0 {
            let all = (there(volume) + (lack - left)).max(0.0) / rest;
            volume.air.iter().for_each(|&r| targets[r] *= all);
        }
    }
    targets
}

/// Outflow that constrained air regions should have, m³/s. Also adds this step's error to their books. `with_bodies`:
/// whether bodies take part.
///
/// The projection keeps volumes only to first order in time [Goldade and Batty 2017, §5]. The error left over is
/// removed by the divergence control of [Kim et al. 2007, Eq. 5], applied to air that is not simulated. With e = V₀ −
/// V, V₀ the [`targets`], and y = ∫e dt, the outflow is Q = k_p e + k_i y with the [`gains`], so that a steady leak
/// leaves no steady error.
pub(crate) fn growth(
    regions: &Regions,
    identities: &mut Identities,
    constrained: &[bool],
    targets: &[f64],
    with_bodies: bool,
    control: Control,
) -> Vec<f64> {
    let all = regions.air.iter().zip(&mut identities.regions).zip(constrained.iter().zip(targets));
    all.map(|((air, identity), (&constrained, &target))| match is_steered(air, constrained) {
        true => control.outflow(air, &mut identity.book, target, with_bodies),
        false => 0.0,
    })
    .collect()
}

impl Control {
    /// Outflow of one region, m³/s.
    ///
    /// A void, which no air has ever entered, is closed within a few substeps whatever the gain; where bodies take part
    /// it closes at the rate k_p. Most voids are gaps between particles that the next substep fills, and to close one at once sucks
    /// at what is beside it: a body that a gap of half a voxel opened behind lost three quarters of its lift for a
    /// substep. No surface moves by more than half a voxel in a step: through the small opening of a cut cell, a faster
    /// flow would become a jet of liquid. Error beyond that bound is not added to the integral y.
    fn outflow(&self, air: &Region, book: &mut AirBook, rest: f64, with_bodies: bool) -> f64 {
        if self.gain <= 0.0 {
            return 0.0;
        }
        let most = MOST.get() * air.volume.max(rest).min(air.liquid_area * self.h) / self.dt;
        let [k_p, k_i] = gains(self.gain, self.dt);
        if rest <= 0.0 {
            return if with_bodies { -(k_p * air.volume).min(most) } else { -most };
        }
        let error = rest - air.volume;
        let drift = (book.drift + error * self.dt).clamp(-most / k_i, most / k_i);
        let wanted = k_p * error + k_i * drift;
        if wanted.abs() <= most {
            book.drift = drift;
        }
        wanted.clamp(-most, most)
    }
}
