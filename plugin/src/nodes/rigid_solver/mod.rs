//! The rigid solver: moves all its bodies at once, so that they meet each other.

mod checks;
mod coupled;
mod publish;

use super::box_params::{self, BoxParams};
use super::drive::Drive;
use super::{body_ports, collider_ports as colliders, frames, liquid_ports, rigid_ports as ports};
use crate::exchange::contacts::{self, Names};
use crate::exchange::joints::{self, JointPorts, Joints};
use crate::exchange::rigid::{self, Published, RigidPorts, Shapes};
use crate::exchange::{ColliderPorts, Exchange};
use checks::{check_finite, gone, tell_if_beyond, tell_if_damped, tell_if_deep, tell_if_jumps, tell_if_long};
use coupled::is_flying;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome, port_place_of_owner};
use meniscus_abi::{Access, Level, Means, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::interrupt::Interrupt;
use meniscus_core::solid::rigid::{
    Body, Intervals, Memory, Report, Settings, Surroundings, Tie, Velocity, fly, longest_step, meet,
};
use publish::synchronised;

const READ: Access = Access::READ;
const WRITE: Access = Access::WRITE;
const BOTH: Access = Access::READ_WRITE;
const SOLVED: Owner = Owner::SOLVED;
const AFFECTOR: Owner = Owner::AFFECTOR;
const PORTS: &[Port] = &[
    touched(ports::bodies(SOLVED).on(Stage::INIT, READ), BOTH),
    touched(ports::rigid(SOLVED).on(Stage::INIT, READ), BOTH),
    touched(ports::hulls(SOLVED).on(Stage::INIT, READ), READ),
    touched(ports::shape(SOLVED), READ),
    touched(ports::moved_mesh(SOLVED), WRITE),
    touched(ports::keyframes(SOLVED).on(Stage::INIT, READ), READ),
    touched(colliders::motion(SOLVED), BOTH),
    touched(ports::contacts(Owner::NODE), BOTH),
    liquid_ports::forces(SOLVED).on(Stage::PREDICT, BOTH),
    touched(colliders::collision(AFFECTOR).on(Stage::INIT, READ), READ),
    touched(colliders::collision_vel(AFFECTOR).on(Stage::INIT, READ), READ),
    touched(colliders::collision_vel_next(AFFECTOR).on(Stage::INIT, READ), READ),
    touched(colliders::motion(AFFECTOR).on(Stage::INIT, READ), READ),
    touched(body_ports::dynamics(AFFECTOR).on(Stage::INIT, READ), READ),
    body_ports::dynamics(SOLVED).on(Stage::CONTRIBUTE, BOTH),
    body_ports::constraints(SOLVED).on(Stage::CONTRIBUTE, WRITE).on(Stage::CORRECT, READ),
    body_ports::moved(SOLVED).on(Stage::CORRECT, READ),
    touched(ports::joint(AFFECTOR).on(Stage::INIT, READ), READ),
    touched(ports::joints(Owner::NODE), BOTH),
];
const AT: RigidPorts = RigidPorts::of_owner(PORTS, SOLVED);
const COLLIDERS: ColliderPorts = ColliderPorts::of_owner(PORTS, AFFECTOR);
const JOINTS: JointPorts = JointPorts { joint: port!(PORTS, joint), joints: port!(PORTS, joints) };
const DYNAMICS_OF_AFFECTORS: u32 = port_place_of_owner(PORTS, AFFECTOR, "dynamics");
const CONTACTS: u32 = port!(PORTS, contacts);
const MOVED: u32 = port!(PORTS, moved);
const FORCES: u32 = port_place_of_owner(PORTS, SOLVED, "forces");
const DYNAMICS: u32 = port_place_of_owner(PORTS, SOLVED, "dynamics");
const CONSTRAINTS: u32 = port_place_of_owner(PORTS, SOLVED, "constraints");

/// A port that is used wherever contacts may be solved: after forces, before and after a coupling.
const fn touched(port: Port, access: Access) -> Port {
    port.on(Stage::PREDICT, access)
        .on(Stage::CONTRIBUTE, access)
        .on(Stage::SOLVE, access)
        .on(Stage::CORRECT, access)
}

const fn side(name: &'static std::ffi::CStr, label: &'static std::ffi::CStr, means: Means) -> Param {
    box_params::side(name, label, means)
        .help(c"Closed: a wall. Open: bodies leave the box and are still simulated. Kill: bodies that have passed it are removed.")
}

const PARAMS: &[Param] = &[
    Param::int(c"contact_iterations", c"Contact Iterations", 200)
        .folder(c"Contacts")
        .range(10.0, 1000.0)
        .hard_min()
        .help(c"Most passes over all contacts in a substep. Higher: large heaps, and what hangs on joints, stand more firmly and take longer to compute. Small stacks hardly need it."),
    box_params::CENTER,
    box_params::size().help(c"Size of the box that contains the simulation. Larger: bodies reach its sides later."),
    side(c"side_neg_x", c"-X Side", Means::BOX_NEG_X),
    side(c"side_pos_x", c"+X Side", Means::BOX_POS_X),
    side(c"side_neg_y", c"-Y Side", Means::BOX_NEG_Y),
    side(c"side_pos_y", c"+Y Side", Means::BOX_POS_Y),
    side(c"side_neg_z", c"-Z Side", Means::BOX_NEG_Z),
    side(c"side_pos_z", c"+Z Side", Means::BOX_POS_Z),
    frames::START_FRAME,
    frames::END_FRAME,
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::SOLVER, c"meniscus.rigid_solver", c"Rigid Solver")
    .help(c"Moves rigid bodies and lets them meet each other and solids. Wire in rigid objects, rigid joints, static objects and forces. A liquid meets the bodies that are also wired into its own solver; it pushes them where both solvers are wired into floating_bodies or constraint_bubbles.")
    .medium(c"rigid")
    .houdini(c"rigidsolver")
    .cites(c"Dullweber1997 Guendelman2003 Jean1999 Silcowitz2010 AlartCurnier1991 Castro2022 DeSaxceFeng1998 Ryckaert1977")
    .stages(&[Stage::INIT, Stage::PREDICT, Stage::CONTRIBUTE, Stage::SOLVE, Stage::CORRECT])
    .inputs(&[NodeKind::OBJECT, NodeKind::FORCE], 1, 0)
    .rank(Node::RANK_SOLID)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct RigidSolver {
    exchange: Exchange,
    shapes: Shapes,
    told: Told,
}

/// What somebody was told already.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Contacts have not settled.
    unsettled: bool,
    /// A body lies beyond a closed side.
    beyond: bool,
    /// Substeps are too long.
    long: bool,
    /// Swings of joints are too fast.
    damped: bool,
    /// A keyframed body jumps.
    jumps: bool,
    /// A body is deep in something.
    deep: bool,
}

/// Change of velocity in the last sweep, by that of the kick, from which contacts count as not settled.
const UNSETTLED: f64 = 0.05;
/// The same by the fastest body's speed.
const UNSETTLED_OF_SPEED: f64 = 0.01;

impl Instance for RigidSolver {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        match call.stage() {
            Stage::INIT => self.init(call),
            Stage::PREDICT => self.predict(call),
            Stage::CONTRIBUTE => self.contribute(call),
            _ if !is_flying(call) => Ok(Outcome::Done),
            _ => self.correct(call),
        }
    }

    fn suggest_dt(&mut self, call: &mut Call) -> Result<Option<f64>, Failure> {
        self.exchange.begin(call)?;
        let bodies = rigid::read(call, AT, &mut self.shapes)?;
        let acceleration = Drive::of_all(call, FORCES).acceleration;
        let [_, colliders] = self.exchange.colliders(call, COLLIDERS, DYNAMICS_OF_AFFECTORS, None)?;
        Ok(Some(longest_step(&bodies, &colliders, acceleration)))
    }

    fn drop_caches(&mut self) {
        *self = Self { told: self.told, ..Self::default() };
    }
}

impl RigidSolver {
    /// Bodies drift, and forces act on them.
    fn predict(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let mut bodies = rigid::read(call, AT, &mut self.shapes)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let memory = contacts::read(call, CONTACTS, &names(call)?)?;
        let survives: Vec<(i64, bool)> = bodies.iter().map(|b| (b.key[0], !gone(&domain, b))).collect();
        bodies.retain(|body| !gone(&domain, body));
        let before: Vec<Velocity> =
            bodies.iter().map(|b| Velocity { linear: b.velocity, angular: b.momentum }).collect();
        let times = times(call);
        let acceleration = Drive::of_all(call, FORCES).acceleration;
        let joints = joints::read(call, JOINTS, &names(call)?.objects, &bodies)?;
        let gap = self.exchange.install(|| fly(&mut bodies, &joints.all, &memory, &times));
        if !joints.all.is_empty() {
            call.measure("joint_gap", &[gap]);
        }
        joints::write(call, JOINTS, &names(call)?.objects, &joints)?;
        check_finite(call, &bodies)?;
        tell_if_long(call, &bodies, acceleration, &mut self.told.long);
        tell_if_jumps(call, &bodies, &mut self.told.jumps);
        for item in 0..call.items(AT.rigid) {
            let is_own = |body: &Body| body.key[0] == i64::from(item);
            let pulled = |b: &Body| b.kick.linear.length() / b.kicked;
            let free = bodies.iter().filter(|b| is_own(b) && b.led.is_none() && b.kicked > 0.0);
            if let Some(acceleration) = free.map(pulled).reduce(f64::max) {
                Drive { acceleration, speed: 0.0, alike: false }.write_of(call, FORCES, item)?;
            }
            let flying: Vec<Published> = bodies
                .iter()
                .filter(|b| is_own(b))
                .map(|body| Published { body, now: body.speed() })
                .collect();
            let flights: Vec<(&Body, Velocity)> =
                bodies.iter().zip(before.iter().copied()).filter(|(b, _)| is_own(b)).collect();
            let of_item = || survives.iter().filter(|(object, _)| *object == i64::from(item));
            let pressed = rigid::read_velocities(call, AT, item, "pressed")?.unwrap_or_default();
            let kept = of_item().zip(&pressed).filter(|((_, stays), _)| *stays);
            let pressed: Vec<Velocity> = kept.map(|(_, pressed)| *pressed).collect();
            if self.write_state(call, item, &flying)? {
                rigid::write_velocities(call, AT.rigid, item, c"pressed", &pressed)?;
                rigid::write_flights(call, AT.rigid, item, &flights)?;
                rigid::write_motion(call, AT.motion, item, &flying)?;
            }
        }
        Ok(Outcome::Done)
    }

    /// Finds the contacts and lets them and the joints act.
    fn contacts(&mut self, call: &Call, bodies: &mut [Body]) -> Result<Met, Failure> {
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let mut memory = contacts::read(call, CONTACTS, &names(call)?)?;
        let [now, coming] = self.exchange.colliders(call, COLLIDERS, DYNAMICS_OF_AFFECTORS, None)?;
        let watch = call.progress().watch();
        let stopped = || watch.stopped();
        let interrupt = Interrupt::new(&stopped);
        let around = Surroundings { colliders: [&now, &coming], domain: &domain, interrupt };
        let settings = Settings {
            sweeps: call.int(param!(PARAMS, contact_iterations)).clamp(1, 1_000_000) as u32,
            ..Settings::default()
        };
        let times = times(call);
        let mut joints = joints::read(call, JOINTS, &names(call)?.objects, bodies)?;
        let all = &mut joints.all;
        let (report, ties) =
            self.exchange.install(|| meet(bodies, all, &mut memory, &around, &times, &settings));
        if stopped() {
            return Err(Failure::cancelled());
        }
        Ok(Met { memory, joints, report, ties })
    }

    /// Contacts act; the bodies are published.
    fn touch(
        &mut self,
        call: &mut Call,
        mut bodies: Vec<Body>,
        before: &[Velocity],
        pressed: &[Velocity],
    ) -> Result<Outcome, Failure> {
        let Met { memory, joints, report, .. } = self.contacts(call, &mut bodies)?;
        let times = times(call);
        check_finite(call, &bodies)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        tell_if_beyond(call, &domain, &bodies, &mut self.told.beyond);
        let synchronised =
            |(body, before): (_, &Velocity)| Published { body, now: synchronised(body, *before, times.next) };
        let published: Vec<Published> = bodies.iter().zip(before).map(synchronised).collect();
        for item in 0..call.items(AT.rigid) {
            let of: Vec<Published> =
                published.iter().filter(|p| p.body.key[0] == i64::from(item)).copied().collect();
            let own = pressed.iter().zip(&bodies).filter(|(_, b)| b.key[0] == i64::from(item));
            self.publish(call, item, &of, &own.map(|(pressed, _)| *pressed).collect::<Vec<_>>())?;
        }
        contacts::write(call, CONTACTS, &names(call)?, &memory)?;
        joints::write(call, JOINTS, &names(call)?.objects, &joints)?;
        if !joints.all.is_empty() {
            call.measure("joints", &[joints.all.iter().filter(|j| !j.state.broken).count() as f64]);
            call.measure("joints_damped", &[report.damped]);
            tell_if_damped(call, &bodies, report.damped, &mut self.told.damped);
        }
        call.measure("contacts", &[report.contacts as f64]);
        call.measure("contact_sweeps", &[f64::from(report.sweeps)]);
        call.measure("overlap", &[report.overlap]);
        tell_if_deep(call, &bodies, report.overlap, &mut self.told.deep);
        call.measure("kinetic_energy", &[bodies.iter().map(Body::kinetic_energy).sum::<f64>() + 0.0]);
        let gravity = bodies.iter().map(|b| b.kick.linear.length()).fold(0.0, f64::max);
        let fastest = bodies.iter().map(|b| b.speed().linear.length()).fold(0.0, f64::max);
        let unsettled = report.change > (UNSETTLED * gravity).max(UNSETTLED_OF_SPEED * fastest);
        call.measure("contacts_capped", &[f64::from(u8::from(unsettled))]);
        if unsettled && !std::mem::replace(&mut self.told.unsettled, true) {
            let sentence = "the contacts have not settled: raise substeps.min, and contact_iterations where bodies hang on joints, if stacks sway or sink";
            call.log(Level::WARNING, sentence);
        }
        Ok(Outcome::Done)
    }
}

/// How bodies met: contacts and joints for the next substep, what they were like, and their rows.
struct Met {
    memory: Vec<Memory>,
    joints: Joints,
    report: Report,
    ties: Vec<Tie>,
}

/// `a` and `share` of `b`.
fn sum(a: Velocity, b: Velocity, share: f64) -> Velocity {
    Velocity { linear: a.linear + share * b.linear, angular: a.angular + share * b.angular }
}

fn names(call: &Call) -> Result<Names, Failure> {
    let objects = (0..call.items(AT.rigid)).map(|n| call.item_name(AT.rigid, n).to_owned()).collect();
    Ok(Names { objects, colliders: Exchange::collider_names(call, COLLIDERS)? })
}

fn times(call: &Call) -> Intervals {
    Intervals { drift: call.dt(), kick: call.dt_kick(), next: call.dt_next() }
}
