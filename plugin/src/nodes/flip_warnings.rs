//! What the FLIP solver says of a liquid that is not as it should be.

use super::box_params;
use super::flip_params::surface_tension;
use super::liquid_ports::PORTS;
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure};
use meniscus_abi::{Level, port};
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::surface::gravity_waves;
use meniscus_core::fluid::surface::tension;
use meniscus_core::fluid::surface::volume::VolumeBook;
use meniscus_core::fluid::transport::travel;
use meniscus_core::fluid::{Particles, material};
use meniscus_core::number::{roughly, written};
use meniscus_core::solid::{Collider, DomainLimits, Side, Solids};
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
    /// Liquid leaves for good.
    leaving: bool,
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
                "its particles cross up to {} voxels in a substep: raise substeps.max, or substeps.min where fewer were taken",
                roughly(crossed)
            ),
            false => "make its voxels smaller, or look for walls thinner than two of them".into(),
        };
        call.log(Level::WARNING, &format!("the liquid has {what} {part} % of its volume; {why}"));
    }

    /// Says, once, that liquid has left the solver's box through an open side and goes on for good: nothing lies beyond, and
    /// forces, which accelerate by `acceleration` m/s² on the mean, do not bring it back.
    pub(super) fn of_leaving(&mut self, call: &Call, liquid: &Liquid, solids: &Solids, acceleration: DVec3) {
        let Solids { domain, colliders } = solids;
        if self.leaving || domain.sides.iter().all(|&side| side != Side::Open) {
            return;
        }
        let Particles { origin, position, velocity, .. } = &liquid.particles;
        let beyond = |side: usize, at: DVec3| domain.side_distance(side, at) < 0.0;
        let is_last = |&side: &usize| {
            let met = |c: &Collider| c.reach().is_some_and(|(l, h)| beyond(side, l) || beyond(side, h));
            let brings_back = DomainLimits::normal(side).dot(acceleration) > 0.0;
            domain.sides[side] == Side::Open && !brings_back && !colliders.iter().any(met)
        };
        for side in (0..6).filter(is_last) {
            let inward = DomainLimits::normal(side);
            let leaves = |p: &usize| {
                beyond(side, *origin + position[*p].as_dvec3()) && velocity[*p].as_dvec3().dot(inward) < 0.0
            };
            let Some(p) = (0..position.len()).find(leaves) else { continue };
            self.leaving = true;
            let count = (0..position.len()).filter(leaves).count();
            let place = (*origin + position[p].as_dvec3()).to_array().map(roughly).join(", ");
            let sentence = format!(
                "liquid has left the box through its open side and moves on for good as forces are now, {count} particles so far, as at \
                 [{place}] m with {} m/s: it takes time and memory; let {} kill it, \
                 or enlarge the box",
                roughly(velocity[p].length().into()),
                box_params::SIDE_NAMES[side],
            );
            return call.log(Level::WARNING, &sentence);
        }
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
         to {} voxels at {} m/s, where substeps.cfl wants {}; raise substeps.max (substeps.min where fewer were taken) about {} times, give the liquid less \
         speed, or let solids that jump towards it move in steps",
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
