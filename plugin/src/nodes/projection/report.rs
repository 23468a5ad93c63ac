//! What a projection tells: its solves for stats.jsonl, and a sentence where something is not as it should be.

use meniscus_abi::guest::{Call, SolveReport};
use meniscus_core::coupling::{ConstraintReport, Projection};
use meniscus_core::grid::{Grid, Transform};
use meniscus_core::number::{roughly, written};
use meniscus_core::pressure::{Info, Params};
use meniscus_core::viscosity as viscous;

/// The pressure solve, for stats.jsonl.
pub(super) fn pressure(call: &Call, name: &str, projected: &Projection) {
    let info = &projected.info;
    call.solved(&SolveReport {
        name,
        device: info.device,
        unknowns: info.unknowns as u64,
        iterations: info.iterations as u32,
        residual: info.residual,
        seconds: info.setup_seconds + info.solve_seconds,
    });
    call.measure("max_divergence", &[projected.max_divergence]);
}

/// What joints and contacts of bodies did, for stats.jsonl.
pub(super) fn constraints(call: &Call, of: &ConstraintReport) {
    call.measure("contact_solves", &[of.passes as f64]);
    call.measure("contact_solves_capped", &[f64::from(u8::from(!of.settled))]);
}

/// The viscosity solve, for stats.jsonl.
pub(super) fn viscosity(call: &Call, info: &viscous::Info) {
    call.solved(&SolveReport {
        name: "viscosity",
        device: "cpu",
        unknowns: info.unknowns as u64,
        iterations: info.iterations as u32,
        residual: info.residual,
        seconds: info.seconds,
    });
}

/// What was reached by the first solve that stopped short of its tolerance, in a sentence.
pub(super) fn unconverged(info: &Info, viscosity: Option<&viscous::Info>, params: &Params) -> Option<String> {
    let short = |what: &str, iterations: usize, residual: f64, tolerance: f64| {
        let iterations =
            if iterations == 1 { "1 iteration".into() } else { format!("{iterations} iterations") };
        format!(
            "after {iterations} the residual of the {what} is {}, not {}",
            roughly(residual),
            written(tolerance)
        )
    };
    if !info.converged {
        let (iterations, residual) = (info.iterations, info.residual);
        let told = short("pressure", iterations, residual, params.tolerance);
        return Some(match iterations < params.max_iterations {
            false => format!("{told}; raise max_iterations, or look at what the graph asks of the liquid"),
            true => format!(
                "{told}: its numbers lie too far apart; look for a body of almost no mass, or of a huge one"
            ),
        });
    }
    let info = viscosity.filter(|info| !info.converged)?;
    Some(short("viscosity", info.iterations, info.residual, viscous::Params::default().tolerance))
}

/// A closed volume that cannot take what sources and swelling solids make in all liquids (1/s, per cell), in a sentence.
pub(super) fn no_room<'a>(
    made: impl Iterator<Item = &'a Grid<f32>>,
    transform: &Transform,
    projected: &Projection,
) -> Option<String> {
    /// Share of what is made from which it is worth a word; and from which others press, such as solids that move.
    const PRESSED: std::ops::Range<f64> = 0.5..1.25;
    let made: f64 = made.flat_map(|made| &made.values).map(|&rate| f64::from(rate.max(0.0))).sum();
    let (made, flux) = (made * transform.voxel_size().powi(3), projected.incompatible_flux);
    (made > 0.0 && PRESSED.contains(&(flux / made))).then(|| {
        format!(
            "{:.3} L/s are pressed into a closed volume that has no room for them; open a side of it, leave it more air, or close the source",
            1e3 * flux
        )
    })
}

/// A liquid much of which is in the place of another, in a sentence; volumes in m³.
pub(super) fn in_one_place(name: &str, overlap: f64, volume: f64) -> Option<String> {
    /// Share from which it is worth a word: liquids that stir each other have a few per cent.
    const SHARED: f64 = 0.25;
    (overlap > SHARED * volume && volume > 0.0).then(|| {
        format!(
            "{} % of the volume of `{name}` is in the place of another liquid, and is pushed out of it; if they start so, move their shapes apart",
            roughly(100.0 * overlap / volume)
        )
    })
}
