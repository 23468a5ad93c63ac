//! What the FLIP solver says of a liquid that is not as it should be.

use super::flip_params::surface_tension;
use super::liquid_ports::PORTS;
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Level, port};
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::surface::gravity_waves;
use meniscus_core::fluid::surface::tension;
use meniscus_core::fluid::surface::volume::VolumeBook;
use meniscus_core::fluid::transport::travel;
use meniscus_core::fluid::{Particles, material};
use meniscus_core::number::{roughly, written};
use meniscus_core::viscosity::MAX_VISCOSITY;

const PARTICLES: u32 = port!(PORTS, particles);

/// What somebody was told already.
#[derive(Default)]
pub(super) struct Told {
    /// The substeps are too long for the surface tension.
    tension: bool,
    /// Liquid gets lost.
    loss: bool,
    /// The substeps are too long for waves.
    waves: bool,
}

/// How many times longer than waves of gravity bear a substep is when somebody is told. Beyond that the liquid's speed
/// is refused.
const LONG_FOR_WAVES: std::ops::Range<f64> = 1.5..100.0;

impl Told {
    /// Says, once, that a good part of the liquid is not found where it should be.
    pub(super) fn of_loss(&mut self, call: &Call, liquid: &Liquid, drift: f64) {
        let (h, rest) = (liquid.transform.voxel_size(), liquid.volume.rest);
        let lost = 1.0 - liquid.measured.total() / rest;
        if self.loss || rest < LEAST * h.powi(3) || lost.abs() < LOST {
            return;
        }
        self.loss = true;
        let crossed = f64::from(liquid.particles.max_speed()) * drift / h;
        let (what, part) = (if lost > 0.0 { "lost" } else { "gained" }, roughly(100.0 * lost.abs()));
        let why = match crossed > call_cfl(call.cfl()) {
            true => format!(
                "its particles cross up to {} voxels in a substep: raise substeps.max",
                roughly(crossed)
            ),
            false => "make its voxels smaller, or look for walls thinner than two of them".into(),
        };
        call.log(Level::WARNING, &format!("the liquid has {what} {part} % of its volume; {why}"));
    }

    /// Says, once, that the substeps are too long for waves of gravity; `acceleration` is what forces give the liquid on
    /// the mean, m/s².
    pub(super) fn of_waves(&mut self, call: &Call, voxel: f64, acceleration: f64) {
        let (length, most) =
            (0.5 * (call.dt() + call.dt_next()), gravity_waves::longest_step(acceleration, voxel));
        if self.waves || !LONG_FOR_WAVES.contains(&(length / most)) {
            return;
        }
        self.waves = true;
        let sentence = format!(
            "a substep of {} s is too long for waves on voxels of {} m, which gain energy in it; raise substeps.max {} times",
            roughly(length),
            roughly(voxel),
            roughly(length / most)
        );
        call.log(Level::WARNING, &sentence);
    }

    /// The surface tension asked for, N/m, or as much of it as the substep is short enough for.
    pub(super) fn bearable_tension(&mut self, call: &Call, liquid: &Liquid) -> f64 {
        let wanted = surface_tension(call);
        if wanted == 0.0 {
            return wanted;
        }
        let density = least(liquid.particles.density.iter().copied());
        // The first kick of all is longer, but happens once.
        let length = 0.5 * (call.dt() + call.dt_next());
        let most = tension::greatest(density, liquid.transform.voxel_size(), length);
        if wanted <= most {
            return wanted;
        }
        if !std::mem::replace(&mut self.tension, true) {
            let more = (wanted / most).sqrt();
            call.log(
                Level::WARNING,
                &format!(
                    "surface_tension: a substep of {} s bears {} N/m, not {}; raise substeps.max {} times",
                    roughly(length),
                    roughly(most),
                    written(wanted),
                    roughly(more)
                ),
            );
        }
        most
    }
}

/// Share of a liquid's volume that is worth a word when it is not found, and the least volume, voxels, of which it may be one:
/// particles at random give a drop of 64 voxels a volume that is 4 % too large and deviates by 6 % (docs/constants.md).
const LOST: f64 = 0.1;
const LEAST: f64 = 64.0;
/// Share of the volume that is too much to go in one substep, and the least volume, voxels, of which it is: a drop of 16
/// voxels deviates by 4 %. A full tank whose liquid is followed loses 0.3 % at most, one whose liquid is not 19 % and more, so
/// half of it and twice of it refuse the same shots.
const LOST_AT_ONCE: f64 = 0.03;
const LEAST_LOST: f64 = 16.0;

/// Liquid that is thrown into a heap, since it goes farther in a substep than it can be followed, gets a sentence: what
/// lies there in layers upon each other is no longer found. `before` are the books before the substep.
pub(super) fn check_loss(
    liquid: &Liquid,
    before: &VolumeBook,
    outran: &travel::Outrunners,
    cfl: f32,
) -> Result<(), Failure> {
    let rest = liquid.volume.rest;
    let found = liquid.measured.total() / rest;
    // What left through a side of the box is no longer asked for.
    let at_once = (before.volume / before.rest).min(1.0) - found;
    let fine = 1.0 - found < LOST || at_once < LOST_AT_ONCE || outran.share < 0.5 * at_once;
    if fine || rest < LEAST_LOST * liquid.transform.voxel_size().powi(3) {
        return Ok(());
    }
    if !found.is_finite() {
        let sentence = "the liquid's level set holds a value that is no number, which is a fault of this program: cook with other voxels or substeps, and send its makers the graph";
        return Err(Failure::new(meniscus_abi::Status::FAILED, sentence));
    }
    let travel::Outrunners { share, speed, voxels } = *outran;
    let sentence = format!(
        "{} % of the liquid's volume is gone in one substep, in which {} % of it went farther than it can be followed: up \
         to {} voxels at {} m/s, where substeps.cfl wants {}; raise substeps.max about {} times, or give the liquid less \
         speed",
        roughly(100.0 * at_once),
        roughly(100.0 * share),
        roughly(voxels),
        roughly(speed),
        roughly(f64::from(cfl)),
        written((voxels / f64::from(cfl)).ceil()),
    );
    Err(Failure::input(PARTICLES, sentence))
}

/// A viscosity that users put on a particle and that is none gets a sentence.
pub(super) fn check_viscosity(particles: &Particles) -> Result<(), Failure> {
    let Some(p) = material::find_impossible_viscosity(particles) else { return Ok(()) };
    let (id, viscosity) = (particles.id[p], particles.viscosity[p]);
    let sentence = format!(
        "`particles`: the particle with id {id} has a viscosity of {} Pa s, which must be from 0 to {MAX_VISCOSITY:e}",
        written(viscosity.into())
    );
    Err(Failure::input(PARTICLES, sentence))
}

/// The least of some densities; infinite for none.
pub(super) fn least(densities: impl Iterator<Item = f32>) -> f64 {
    f64::from(densities.fold(f32::INFINITY, f32::min))
}

/// Voxels per substep that a step may cross; a host that gives none gets one.
pub(super) fn call_cfl(cfl: f64) -> f64 {
    if cfl > 0.0 { cfl } else { 1.0 }
}
