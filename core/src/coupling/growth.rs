//! How fast each bubble should grow to have the volume it should have.

use super::identity::Identities;
use super::regions::Regions;
use crate::fluid::volume::bounded;

/// Most of a bubble that one substep adds or takes, and most voxels that its surface moves for it.
const MOST: f64 = 0.5;

/// Outflow that constrained air regions shall have, m³/s: Q = gain (V₀ − V), so that what the solve's tolerance, the
/// motion of the particles and the smoothing of the surface make of a bubble's volume dies out at rate `gain`, 1/s.
///
/// The projection keeps volumes only to first order in time [Goldade and Batty 2017, §5]; the pull is the divergence
/// control of [Kim et al. 2007], for air that is not simulated. A void, which no air has ever entered, is
/// closed within a few substeps whatever the gain. No surface is moved by more than half a voxel of `h` metres in a
/// step: air that touches the liquid through the chink of a cut cell would shoot it through.
pub(super) fn growth(
    regions: &Regions,
    identities: &Identities,
    constrained: &[bool],
    gain: f64,
    (dt, h): (f64, f64),
) -> Vec<f64> {
    let wanted = |r: usize| {
        let (air, rest) = (&regions.air[r], identities.regions[r].rest_volume);
        if !constrained[r] || air.liquid_faces == 0 || gain <= 0.0 {
            return 0.0;
        }
        let most = MOST * air.volume.max(rest).min(air.liquid_area * h) / dt;
        match rest > 0.0 {
            true => (bounded(gain, dt) * (rest - air.volume)).clamp(-most, most),
            false => -most,
        }
    };
    (0..regions.air.len()).map(wanted).collect()
}
