//! Where liquid enters.

use super::{frames, limits, liquid_ports as ports, material};
use crate::exchange::{Exchange, Held, InletPorts, Region, StatePorts, shared_density, write_table};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Node, NodeKind, Owner, Param, Port, Stage, flags};
use meniscus_core::fluid::flip::Liquid;
use meniscus_core::fluid::inlet::Inlet;
use meniscus_core::fluid::seeding::Seeding;
use meniscus_core::fluid::sources::{self, Jet};
use meniscus_core::fluid::thinning::Thinned;

/// The ports of a sink, and the first of a source: the liquid's state and the region.
pub(super) const PORTS: [Port; 5] = [
    ports::particles(Owner::OBJECT).required().on(Stage::PREDICT, Access::READ_WRITE),
    ports::surface(Owner::OBJECT).required().on(Stage::PREDICT, Access::READ),
    ports::vel_drift(Owner::OBJECT).required().on(Stage::PREDICT, Access::READ),
    ports::liquid(Owner::OBJECT)
        .required()
        .on(Stage::INIT, Access::READ)
        .on(Stage::PREDICT, Access::READ_WRITE),
    Port::geometry(Owner::INPUT, c"region")
        .required()
        .help(c"Closed meshes: the region where liquid enters or leaves.")
        .on(Stage::INIT, Access::READ)
        .on(Stage::PREDICT, Access::READ),
];
pub(super) const STATE: StatePorts = StatePorts { particles: 0, surface: 1, vel: 2, liquid: 3 };
pub(super) const REGION: u32 = 4;
const INLET: InletPorts = InletPorts { faces: 5, velocity: 6 };
static OWN_PORTS: [Port; 7] = [
    PORTS[0],
    PORTS[1],
    PORTS[2],
    PORTS[3],
    PORTS[4],
    ports::inlet(Owner::OBJECT).on(Stage::PREDICT, Access::READ_WRITE),
    ports::vel_inlet(Owner::OBJECT).on(Stage::PREDICT, Access::READ_WRITE),
];

const ACTIVE: usize = 0;
const VELOCITY: usize = 1;
const DRIVE: usize = 2;
const DENSITY: usize = 3;
const VISCOSITY: usize = 4;
static PARAMS: [Param; 7] = [
    Param::toggle(c"active", c"Active", true).help(c"Key it to open and close the tap.").houdini(c"activate"),
    Param::vector3(c"velocity", c"Velocity", [0.0; 3])
        .unit(c"m/s")
        .help(c"Velocity of the liquid that enters.")
        .houdini(c"velocity"),
    Param::toggle(c"drive", c"Drive Velocity", true)
        .help(c"Gives the velocity to all liquid in the region, whatever pulls at it: area times speed comes out. Off, or at no speed, the region is kept filled and the liquid goes its own way."),
    material::density().help(c"Mass per volume of what enters."),
    material::viscosity().help(c"Dynamic viscosity of what enters; give it what the liquid has. Water has 0.001 (give it 0), honey 10."),
    frames::PARAMS[0],
    frames::PARAMS[1],
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::FORCE, c"meniscus.liquid_source", c"Liquid Source")
    .help(c"Keeps a region filled with liquid, which leaves it at a velocity: a tap, a hose, a spring. Point attributes of the meshes go to what enters; density and viscosity among them take the place of the parameters.")
    .houdini(c"particlefluidemitter")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::GEOMETRY], 1, 0)
    .flags(flags::IS_SOURCE)
    .ports(&OWN_PORTS)
    .params(&PARAMS);

/// An instance.
#[derive(Default)]
pub struct LiquidSource {
    exchange: Exchange,
}

impl Instance for LiquidSource {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if !call.on(ACTIVE) {
            return Ok(Outcome::Done);
        }
        let material = material::read(call, DENSITY, VISCOSITY)?;
        let velocity = limits::velocity(call, VELOCITY, "velocity")?;
        self.exchange.begin(call)?;
        if call.stage() == Stage::INIT {
            return look_at_region(&mut self.exchange, call);
        }
        let mut held = self.exchange.liquid(call, STATE)?;
        let Some(region) = self.exchange.region(call, REGION, held.particle_separation)? else {
            return Ok(Outcome::Done);
        };
        limits::particles(held.particle_separation, region.bounds())?;
        let watch = call.progress().watch();
        let seeding = Seeding { separation: held.particle_separation as f32, jitter: 1.0, seed: 0 };
        let travelled = call.on(DRIVE).then(|| velocity * call.time());
        let jet = Jet { velocity: velocity.as_vec3(), travelled, material };
        if jet.travelled.is_some() && jet.velocity != Vec3::ZERO {
            self.drive(call, &held.liquid, &region, jet.velocity)?;
        }
        self.exchange.thinned_surface(call, STATE.surface, &mut held.liquid)?;
        // Where particles were thinned, few of them are no lack of liquid.
        let thinned = Thinned::of(&held.liquid);
        let Liquid { particles, transform, next_id, .. } = &mut held.liquid;
        let before = particles.len();
        let selection = self.exchange.install(|| {
            let inside = |at: DVec3| !watch.stopped() && region.contains(at);
            let lacking =
                |at: DVec3| inside(at) && !thinned.as_ref().is_some_and(|thinned| thinned.contain(at));
            if jet.travelled.is_some() {
                sources::drive(particles, inside, jet.velocity);
            }
            sources::emit(particles, transform, &seeding, region.bounds(), lacking, &jet, next_id)
        });
        if watch.stopped() {
            return Ok(Outcome::Cancelled);
        }
        let liquid = &mut held.liquid;
        let entered = liquid.particles.len() - before;
        liquid.volume.rest += entered as f64 * seeding.particle_volume();
        held.followers.follow(&selection);
        if let Some(carried) = self.exchange.carried(call, REGION)? {
            let Held { liquid, followers, .. } = &mut held;
            self.exchange.hand_over(&carried, &mut liquid.particles, followers, before)?;
        }
        self.exchange.write_particles(call, STATE.particles, &held.liquid.particles, &held.followers)?;
        let density = self.exchange.install(|| shared_density(&held.liquid.particles));
        write_table(call, STATE.liquid, &held, density)?;
        Ok(Outcome::Done)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

impl LiquidSource {
    /// Tells the solver which faces have a velocity of their own, besides those of other sources.
    fn drive(
        &mut self,
        call: &mut Call,
        liquid: &Liquid,
        region: &Region,
        velocity: Vec3,
    ) -> Result<(), Failure> {
        let watch = call.progress().watch();
        let inside = |at: DVec3| !watch.stopped() && region.contains(at);
        let bounds = region.bounds();
        let own = self.exchange.install(|| Inlet::new(&liquid.transform, bounds, inside, velocity));
        if watch.stopped() {
            return Err(Failure::cancelled());
        }
        let all = match self.exchange.inlet(call, INLET)? {
            Some(others) => others.and(&own),
            None => own,
        };
        self.exchange.write_inlet(call, INLET, &all, &liquid.transform)
    }
}

/// What init does for a source or a sink: a region that encloses nothing is refused before the shot begins.
pub(super) fn look_at_region(exchange: &mut Exchange, call: &Call) -> Result<Outcome, Failure> {
    if let Some(separation) = exchange.particle_separation(call, STATE.liquid) {
        if let Some(bounds) = exchange.bounds(call, REGION)? {
            limits::particles(separation, bounds)?;
        }
        match call.is_trial() {
            true => exchange.check_region(call, REGION, separation)?,
            false => drop(exchange.region(call, REGION, separation)?),
        }
        exchange.carried(call, REGION)?;
    }
    Ok(Outcome::Done)
}
