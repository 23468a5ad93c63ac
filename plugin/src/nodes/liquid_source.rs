//! The source: fills a region with liquid, or drives liquid out of it at a velocity.

use super::drive::announce_speed;
use super::flip_step::bound_everywhere;
use super::material::{self, MaterialParams};
use super::{frames, limits, liquid_ports as ports};
use crate::exchange::{
    Beside, Exchange, InletPorts, LiquidState, Region, StatePorts, shared_density, write_table,
};
use glam::{DVec3, Vec3};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Means, Node, NodeKind, Owner, Param, Port, Stage, flags, param, port};
use meniscus_core::fluid::faces::inlet::{Inlet, Nozzle};
use meniscus_core::fluid::liquid::Liquid;
use meniscus_core::fluid::particles::seeding::Seeding;
use meniscus_core::fluid::population::sources::{self, Jet};
use meniscus_core::fluid::population::thinning::Thinned;
use meniscus_core::grid::Transform;
use std::sync::Arc;

/// The ports of a sink, and the first of a source: the liquid's state and the region.
pub(super) const STATE_AND_REGION: [Port; 5] = [
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
/// Where these stand in either list: they come first.
pub(super) const STATE: StatePorts = StatePorts::of(&STATE_AND_REGION);
pub(super) const REGION: u32 = port!(STATE_AND_REGION, region);
const NOZZLE: [Port; 4] = [
    ports::forces(Owner::OBJECT).on(Stage::INIT, Access::READ_WRITE).on(Stage::PREDICT, Access::READ),
    ports::inlet(Owner::OBJECT).on(Stage::PREDICT, Access::READ_WRITE),
    ports::vel_inlet(Owner::OBJECT).on(Stage::PREDICT, Access::READ_WRITE),
    Port::table(Owner::NODE, c"jet")
        .help(c"Last substep of a source: time, until (s); of a driving one also velocity (m/s), travelled (m, travel of the lattice of new particles since the start), way (m, its travel in the substep, relative to the region), centre (m, of the region), fills (1: the region was filled).")
        .on(Stage::PREDICT, Access::READ_WRITE),
];
const PORTS: &[Port] = &Port::joined::<5, 4, 9>(STATE_AND_REGION, NOZZLE);
const INLET: InletPorts = InletPorts::of(PORTS);
const JET: u32 = port!(PORTS, jet);

const PARAMS: &[Param] = &[
    Param::toggle(c"active", c"Active", true)
        .means(Means::ACTIVE).help(c"Key it to open and close the tap.").houdini(c"activate"),
    Param::vector3(c"velocity", c"Velocity", [0.0; 3])
        .means(Means::VELOCITY)
        .unit(c"m/s")
        .help(c"Velocity of the liquid that enters. Higher: a faster jet that reaches farther.")
        .houdini(c"velocity"),
    Param::toggle(c"drive", c"Drive Velocity", true)
        .means(Means::DRIVES)
        .help(c"On: the region is a nozzle. Its back and sides are closed, and its front, the side that the velocity points to, emits area times speed, in air and under water. Off, or at speed 0: the region is kept filled, and the liquid flows out of it freely."),
    material::density().help(c"Mass per volume of the liquid that enters."),
    material::viscosity().help(c"Dynamic viscosity of the liquid that enters; use the liquid object's value. Higher: it flows more slowly. Water has 0.001 (use 0), honey 10."),
    frames::START_FRAME,
    frames::END_FRAME,
];

const MATERIAL: MaterialParams = MaterialParams::of(PARAMS);

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::FORCE, c"meniscus.liquid_source", c"Liquid Source")
    .help(c"Lets liquid flow out of a region at a velocity, or keeps the region filled: a tap, a hose, a spring. The liquid that enters takes the point attributes of the nearest triangle of the meshes; attributes density and viscosity replace the parameters.")
    .houdini(c"particlefluidemitter")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::GEOMETRY], 1, 0)
    .flags(flags::IS_SOURCE)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct LiquidSource {
    exchange: Exchange,
    nozzle: Option<LastNozzle>,
}

/// The faces of the last nozzle, and the inputs they were made from.
struct LastNozzle {
    region: Arc<Region>,
    transform: Transform,
    velocity: Vec3,
    faces: Inlet,
}

impl Instance for LiquidSource {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if !call.on(param!(PARAMS, active)) {
            return Ok(Outcome::Done);
        }
        let material = material::read(call, MATERIAL)?;
        let velocity = limits::velocity(call, param!(PARAMS, velocity), "velocity")?;
        self.exchange.begin(call)?;
        if call.stage() == Stage::INIT {
            announce_speed(call, port!(PORTS, forces), velocity.length())?;
            return look_at_region(&mut self.exchange, call);
        }
        let mut held = self.exchange.liquid(call, STATE)?;
        let Some(region) = self.exchange.region(call, REGION, held.particle_separation)? else {
            return Ok(Outcome::Done);
        };
        limits::particles(held.particle_separation, region.bounds())?;
        let watch = call.progress().watch();

        let drives = call.on(param!(PARAMS, drive)) && velocity.as_vec3() != Vec3::ZERO;
        let stroke = if drives { Stroke::of(call, &region, velocity) } else { Stroke::first(DVec3::ZERO) };
        let mut others = None;
        stroke.write_time(call)?;
        if drives {
            stroke.write(call, velocity, &region)?;
            others = self.drive(call, &held.liquid, &region, velocity.as_vec3())?;
        }
        let seeding = Seeding { separation: held.particle_separation as f32, jitter: 1.0, seed: 0 };
        let travelled = call.on(param!(PARAMS, drive)).then_some(stroke.travelled);
        let jet = Jet { velocity: velocity.as_vec3(), travelled, material };
        self.exchange.thinned_surface(call, STATE.surface, &mut held.liquid)?;
        // In thinned cells few particles stand for many, so a small number is no lack of liquid.
        let thinned = Thinned::of(&held.liquid);
        let inside = |at: DVec3| !watch.stopped() && region.contains(at);
        let Liquid { particles, transform, next_id, volume, born_from, entered_from, .. } = &mut held.liquid;
        if others.is_some() && !stroke.fills {
            let new = (*born_from).max(*entered_from);
            let before = particles.len();
            let moved = sources::give_way(particles, new, inside, stroke.way);
            self.exchange.install(|| held.followers.follow(&moved));
            volume.rest -= (before - particles.len()) as f64 * seeding.particle_volume();
        }
        let before = particles.len();
        let selection = self.exchange.install(|| {
            let lacking =
                |at: DVec3| inside(at) && !thinned.as_ref().is_some_and(|thinned| thinned.contain(at));
            let bounds = region.bounds();
            let distance = |at: DVec3| if watch.stopped() { f64::INFINITY } else { region.distance(at) };
            let way = (&jet, stroke.way);
            let selection = match stroke.fills {
                true => sources::emit(particles, transform, &seeding, bounds, lacking, &jet, next_id),
                false => {
                    let others = others.as_ref();
                    sources::enter(particles, transform, &seeding, bounds, distance, way, others, next_id)
                }
            };
            if jet.travelled.is_some() {
                sources::drive(particles, inside, jet.velocity);
            }
            selection
        });
        if watch.stopped() {
            return Ok(Outcome::Cancelled);
        }
        let liquid = &mut held.liquid;
        if stroke.fills {
            liquid.entered_from = liquid.next_id;
        }
        let entered = liquid.particles.len() - before;
        liquid.volume.rest += entered as f64 * seeding.particle_volume();
        self.exchange.install(|| held.followers.follow(&selection));
        held.followers.give(Beside::Now, &held.liquid.particles.velocity[before..]);
        if let Some(carried) = self.exchange.carried(call, REGION)? {
            let LiquidState { liquid, followers, .. } = &mut held;
            self.exchange.hand_over(&carried, &mut liquid.particles, followers, before)?;
        }
        self.exchange.write_particles(call, STATE.particles, &held.liquid.particles, &held.followers)?;
        let density = self.exchange.install(|| shared_density(&held.liquid.particles));
        write_table(call, STATE.liquid, &held, density)?;
        Ok(Outcome::Done)
    }

    fn suggest_dt(&mut self, call: &mut Call) -> Result<Option<f64>, Failure> {
        let until = call.table(JET, 0).and_then(|table| table.first::<f64>("until"));
        let goes_on = until.is_some_and(|until| (until - call.time()).abs() <= ROUNDING);
        if goes_on || !call.on(param!(PARAMS, active)) {
            return Ok(None);
        }
        // What flies past sees the liquid that it is about to make only when that is there.
        bound_everywhere(&mut self.exchange, call, STATE, port!(PORTS, forces))
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

impl LiquidSource {
    /// Tells the solver which faces have a given velocity. Returns those of the other sources.
    fn drive(
        &mut self,
        call: &mut Call,
        liquid: &Liquid,
        region: &Arc<Region>,
        velocity: Vec3,
    ) -> Result<Option<Inlet>, Failure> {
        let watch = call.progress().watch();
        /// Distance from the region, voxels, up to which a face belongs to it.
        const MARGIN: f64 = 0.01;
        let transform = liquid.transform;
        let is_it = |last: &LastNozzle| {
            Arc::ptr_eq(&last.region, region) && last.transform == transform && last.velocity == velocity
        };
        let faces = match self.nozzle.take().filter(is_it) {
            Some(last) => last.faces,
            None => {
                let margin = MARGIN * transform.voxel_size();
                let thickness = region.thickness(velocity);
                let nozzle = Nozzle { bounds: region.bounds(), thickness, velocity };
                let inside = |at: DVec3| !watch.stopped() && region.reaches(at, margin);
                self.exchange.install(|| Inlet::new(&transform, &nozzle, inside))
            }
        };
        if watch.stopped() {
            return Err(Failure::cancelled());
        }
        let others = self.exchange.inlet(call, INLET)?;
        let all = others.as_ref().map(|others| others.and(&faces));
        self.exchange.write_inlet(call, INLET, all.as_ref().unwrap_or(&faces), &transform)?;
        self.nozzle = Some(LastNozzle { region: region.clone(), transform, velocity, faces });
        Ok(others)
    }
}

/// Seconds within which two times are the same.
const ROUNDING: f64 = 1e-9;

/// Share of a substep within which two times are the same.
const SAME: f64 = 1e-6;

/// How far the lattice of new particles of a driving source has moved.
#[derive(Clone, Copy, Debug)]
struct Stroke {
    /// Since the start, m.
    travelled: DVec3,
    /// Since its last call, relative to the region, m.
    way: DVec3,
    /// True when the source has just begun or its region has changed: the region is then filled up where it lacks
    /// liquid. Otherwise particles enter through the back only.
    fills: bool,
}

impl Stroke {
    /// The first substep of a source whose lattice has moved by `travelled`, m, already: its region is filled.
    fn first(travelled: DVec3) -> Self {
        Self { travelled, way: DVec3::ZERO, fills: true }
    }

    /// The state in the substep that begins. The lattice is where it would be if it had moved since time 0, so that
    /// sources of one velocity share it whenever each began.
    fn of(call: &Call, region: &Region, velocity: DVec3) -> Self {
        let (now, dt) = (call.time(), call.dt());
        let Some(table) = call.table(JET, 0) else { return Self::first(velocity * now) };
        let number = |name| table.first::<f64>(name).unwrap_or(f64::NAN);
        let vector = |name| {
            let values = table.array::<f64>(name).and_then(|v| v.try_into().ok());
            values.map_or(DVec3::NAN, DVec3::from_array)
        };
        let travelled = vector("travelled");
        if number("time") == now {
            // Another liquid was stepped before in the same substep.
            let fills = table.first::<i64>("fills") != Some(0);
            return Self { travelled, way: vector("way"), fills };
        }
        let goes_on = (number("until") - now).abs() <= SAME * dt;
        let (last, moved) = (vector("velocity"), region.centre() - vector("centre"));
        let way = last * (now - number("time"));
        if !(goes_on && travelled.is_finite() && way.is_finite() && moved.is_finite()) {
            return Self::first(velocity * now);
        }
        // The region moves the lattice sideways with it, because its sides are closed. Along the velocity, lattice and
        // region move independently.
        let along = moved.project_onto_normalized(last.normalize());
        let jumped = moved.length() > region.bounds().0.distance(region.bounds().1);
        Self { travelled: travelled + way + (moved - along), way: way - along, fills: jumped }
    }

    /// Writes when this substep is.
    fn write_time(&self, call: &mut Call) -> Result<(), Failure> {
        call.shape_table(JET, 0)?;
        call.write_array(JET, 0, c"time", 1, &[call.time()])?;
        call.write_array(JET, 0, c"until", 1, &[call.time() + call.dt()])
    }

    fn write(&self, call: &mut Call, velocity: DVec3, region: &Region) -> Result<(), Failure> {
        call.write_array(JET, 0, c"fills", 1, &[i64::from(self.fills)])?;
        let vectors = [
            (c"velocity", velocity),
            (c"travelled", self.travelled),
            (c"way", self.way),
            (c"centre", region.centre()),
        ];
        vectors.into_iter().try_for_each(|(name, v)| call.write_array(JET, 0, name, 3, &v.to_array()))
    }
}

/// The init stage of a source or a sink: refuses a region that encloses nothing before the shot begins.
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
