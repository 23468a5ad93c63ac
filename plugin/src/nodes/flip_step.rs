//! The longest substep that a liquid bears, and what allows no longer one.

use super::drive::Drive;
use super::flip_params::domain_limits;
use super::flip_warnings::call_cfl;
use super::liquid_ports::PORTS;
use crate::exchange::{ColliderPorts, Exchange, StatePorts};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, GeometryView};
use meniscus_abi::{PROMISED, port};
use meniscus_core::fluid::greatest_speed;
use meniscus_core::fluid::surface::{gravity_waves, tension};
use meniscus_core::fluid::transport::free_flight::{Drifting, Longest, Parts, Surroundings};
use meniscus_core::fluid::transport::travel;

/// The solids that the liquid meets.
pub(super) const COLLIDERS: ColliderPorts = ColliderPorts::of(PORTS);

/// What the longest step depends on besides the particles.
pub(super) struct LongestStep {
    /// Edge of a voxel, m.
    pub(super) voxel: f64,
    pub(super) drive: Drive,
    /// Surface tension, N/m.
    pub(super) tension: f64,
    /// The least of the liquid, kg/m³.
    pub(super) density: f64,
}

impl LongestStep {
    /// Whether the particles of a liquid, with the velocities of its drift, bear a substep of `dt` seconds: those that
    /// outrun its velocity then fly freely.
    pub(super) fn bears(
        &self,
        exchange: &mut Exchange,
        call: &Call,
        view: &GeometryView,
        dt: f64,
    ) -> Result<bool, Failure> {
        if !self.drive.alike {
            return Ok(false);
        }
        // A step of this length was promised, and kept.
        let longest = self.of_particles(exchange, call, view, (call_cfl(call.cfl()), dt))?;
        Ok(longest.is_none_or(|l| dt <= PROMISED * l.dt))
    }

    /// The longest step, s. What sets it is measured: `speed` (m/s) and `place` (m) of the particle that does, the `speed`
    /// that a source gives, the `acceleration` (m/s²) of waves, or the `surface_tension` (N/m).
    pub(super) fn find(
        &self,
        exchange: &mut Exchange,
        call: &Call,
        view: &GeometryView,
    ) -> Result<f64, Failure> {
        let Drive { acceleration, speed: given, .. } = self.drive;
        let (h, cfl) = (self.voxel, call_cfl(call.cfl()));
        let of_waves = gravity_waves::longest_step(acceleration, h);
        let of_tension = match self.tension > 0.0 && self.density > 0.0 {
            true => tension::longest_step(self.tension, self.density, h),
            false => f64::INFINITY,
        };
        // What a source gives enters beside walls.
        let of_sources = match given > 0.0 {
            true => travel::longest_step(given, h, cfl, acceleration),
            false => f64::INFINITY,
        };
        let most = of_waves.min(of_tension).min(of_sources);
        if let Some(Longest { dt, particle }) = self.of_particles(exchange, call, view, (cfl, most))? {
            let velocity = view.points::<f32, 3>("v_drift").unwrap_or_default();
            call.measure("speed", &[f64::from(speed(velocity[particle]))]);
            if let Some(at) = view.points::<f32, 3>("P").unwrap_or_default().get(particle) {
                let place = DVec3::from_array(view.origin()) + DVec3::from_array(at.map(f64::from));
                call.measure("place", &place.to_array());
            }
            return Ok(dt);
        }
        match () {
            () if most.is_infinite() => {}
            () if most == of_sources => call.measure("speed", &[given]),
            () if most == of_tension => call.measure("surface_tension", &[self.tension]),
            () => call.measure("acceleration", &[acceleration]),
        }
        Ok(most)
    }

    /// The longest step that the particles' velocities allow, if that is less than `most` seconds.
    fn of_particles(
        &self,
        exchange: &mut Exchange,
        call: &Call,
        view: &GeometryView,
        (cfl, most): (f64, f64),
    ) -> Result<Option<Longest>, Failure> {
        let (h, acceleration) = (self.voxel, self.drive.acceleration);
        let velocity = view.points::<f32, 3>("v_drift").unwrap_or_default();
        let fastest = exchange.install(|| greatest_speed(&velocity));
        let as_bound = travel::longest_step(f64::from(fastest), h, cfl, acceleration);
        if as_bound >= most {
            return Ok(None);
        }
        let position = view.points::<f32, 3>("P").unwrap_or_default();
        if !self.drive.alike || position.len() != velocity.len() {
            let at = velocity.iter().position(|&v| speed(v) == fastest);
            return Ok(at.map(|particle| Longest { dt: as_bound, particle }));
        }
        let origin = DVec3::from_array(view.origin());
        let bubbles = call.geometry(port!(PORTS, bubbles), 0);
        let bubbles =
            bubbles.as_ref().and_then(|b| Some((DVec3::from_array(b.origin()), b.points::<f32, 3>("P")?)));
        let bubbles: Vec<DVec3> = bubbles.map_or(Vec::new(), |(origin, at)| {
            at.iter().map(|&at| origin + DVec3::from_array(at.map(f64::from))).collect()
        });
        let domain = domain_limits(call)?;
        let around = Surroundings { domain: &domain, acceleration, bubbles: &bubbles };
        let particles = Drifting { origin, position: &position, velocity: &velocity };
        let parts = exchange.install(|| Parts::of(&particles, h));
        let colliders = || {
            let [_, coming] = exchange.colliders(call, COLLIDERS, port!(PORTS, dynamics), None)?;
            Ok(coming)
        };
        parts.longest_step((cfl, most), &around, colliders)
    }
}

/// The longest step that CFL allows the fastest particle of a liquid, wherever it flies, s; `None` where there is no liquid yet.
/// A node that looks for liquid in a region once a substep bears no longer one: drops in free flight would pass it.
pub(super) fn bound_everywhere(
    exchange: &mut Exchange,
    call: &Call,
    state: StatePorts,
    forces: u32,
) -> Result<Option<f64>, Failure> {
    let voxel = call.table(state.liquid, 0).and_then(|t| t.first::<f64>("voxel_size"));
    let (Some(view), Some(voxel)) = (call.geometry(state.particles, 0), voxel) else { return Ok(None) };
    exchange.begin(call)?;
    let velocity = view.points::<f32, 3>("v_drift").unwrap_or_default();
    let fastest = f64::from(exchange.install(|| greatest_speed(&velocity)));
    call.measure("speed", &[fastest]);
    let Drive { acceleration, .. } = Drive::read(call, forces);
    Ok(Some(travel::longest_step(fastest, voxel, call_cfl(call.cfl()), acceleration)))
}

/// As [`greatest_speed`] has it, m/s.
fn speed(velocity: [f32; 3]) -> f32 {
    Vec3::from(velocity).length_squared().sqrt()
}
