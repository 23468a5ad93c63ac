//! The rigid solver: moves all its bodies at once, so that they meet each other.

use super::box_params::{self, BoxParams};
use super::drive::Drive;
use super::{body_ports, collider_ports as colliders, frames, liquid_ports, rigid_ports as ports};
use crate::exchange::constraints;
use crate::exchange::contacts::{self, Names};
use crate::exchange::joints::{self, JointPorts, Joints};
use crate::exchange::rigid::{self, Published, RigidPorts, Shapes};
use crate::exchange::{ColliderPorts, Exchange};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome, port_place_of_owner};
use meniscus_abi::{Access, Level, Means, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::fluid::transport::travel::MOST_SPEED;
use meniscus_core::number::roughly;
use meniscus_core::solid::rigid::{
    Body, Intervals, Memory, Report, Settings, Surroundings, Tie, Velocity, fly, given, longest_step, meet,
    overlap, overlap_with_solids,
};
use meniscus_core::solid::{DomainLimits, Side};

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
    body_ports::constraints(SOLVED).on(Stage::CONTRIBUTE, WRITE),
    body_ports::moved(SOLVED).on(Stage::CORRECT, READ),
    touched(ports::joint(AFFECTOR).on(Stage::INIT, READ), READ),
    touched(ports::joints(Owner::NODE), BOTH),
];
const AT: RigidPorts = RigidPorts::of_owner(PORTS, SOLVED);
const COLLIDERS: ColliderPorts = ColliderPorts::of_owner(PORTS, AFFECTOR);
const JOINTS: JointPorts = JointPorts { joint: port!(PORTS, joint), joints: port!(PORTS, joints) };
const DYNAMICS_OF_AFFECTORS: u32 = port_place_of_owner(PORTS, AFFECTOR, "dynamics");
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
        .help(c"Most passes over all contacts in a substep. Higher: tall stacks stand more firmly, and heaps take longer to compute."),
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
    .cites(c"Dullweber1997 Guendelman2003 Jean1999 Silcowitz2010 Ryckaert1977")
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
    /// Whether somebody was told that contacts have not settled.
    told: bool,
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
    /// Refuses bodies that start in each other, in solids or outside the box.
    fn init(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let bodies = rigid::read(call, AT, &mut self.shapes)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, DYNAMICS_OF_AFFECTORS, None)?;
        let named = |body: &Body| {
            let alone = bodies.iter().filter(|b| b.key[0] == body.key[0]).count() == 1;
            let name = call.item_name(AT.rigid, body.key[0] as u32);
            if alone { format!("`{name}`") } else { format!("body {} of `{name}`", body.key[1]) }
        };
        if let Some(body) = bodies.iter().find(|b| b.led.is_none() && !inside(&domain, b)) {
            let sentence = format!(
                "{} starts outside of the box of limit_center and limit_size, or across a closed side of it",
                named(body)
            );
            return Err(Failure::input(AT.rigid, sentence));
        }
        let joints = joints::read(call, JOINTS, &names(call)?.objects, &bodies)?;
        if let Some((a, b, depth)) = overlap(&bodies, &joints.all) {
            let sentence = format!(
                "{} and {} overlap by {} m at the start: move them apart",
                named(&bodies[a]),
                named(&bodies[b]),
                roughly(depth)
            );
            return Err(Failure::input(AT.rigid, sentence));
        }
        if let Some((body, collider, depth)) = overlap_with_solids(&bodies, &colliders) {
            let names = Exchange::collider_names(call, COLLIDERS)?;
            let sentence = format!(
                "{} starts {} m deep in `{}`: move it out",
                named(&bodies[body]),
                roughly(depth),
                names.get(collider).map_or("", String::as_str)
            );
            return Err(Failure::input(AT.rigid, sentence));
        }
        Ok(Outcome::Done)
    }

    /// Bodies drift, and forces act on them.
    fn predict(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let mut bodies = rigid::read(call, AT, &mut self.shapes)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let memory = contacts::read(call, port!(PORTS, contacts), &names(call)?)?;
        let survives: Vec<(i64, bool)> = bodies.iter().map(|b| (b.key[0], !gone(&domain, b))).collect();
        bodies.retain(|body| !gone(&domain, body));
        let before: Vec<Velocity> =
            bodies.iter().map(|b| Velocity { linear: b.velocity, angular: b.momentum }).collect();
        let times = times(call);
        let joints = joints::read(call, JOINTS, &names(call)?.objects, &bodies)?;
        let gap = self.exchange.install(|| fly(&mut bodies, &joints.all, &memory, &times));
        if !joints.all.is_empty() {
            call.measure("joint_gap", &[gap]);
        }
        joints::write(call, JOINTS, &names(call)?.objects, &joints)?;
        check_finite(call, &bodies)?;
        for item in 0..call.items(AT.rigid) {
            let is_own = |body: &Body| body.key[0] == i64::from(item);
            let pulled = |b: &Body| b.kick.linear.length() / b.kicked;
            let free = bodies.iter().filter(|b| is_own(b) && b.led.is_none() && b.kicked > 0.0);
            if let Some(acceleration) = free.map(pulled).reduce(f64::max) {
                Drive { acceleration, speed: 0.0 }.write_of(call, FORCES, item)?;
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

    /// What a coupling is told of the bodies: their velocities, and the joints and contacts that it solves for with its
    /// pressure. Those that press under the pressure of the substep before are a first guess. Friction acts as it does
    /// with that guess; and so do the contacts of more bodies than a coupling can join.
    fn contribute(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let (bodies, before) = rigid::read_flying(call, AT, &mut self.shapes)?;
        let pressed = each(call, &bodies, "pressed")?;
        let mut held = bodies.clone();
        for (body, pressed) in held.iter_mut().zip(&pressed).filter(|(b, _)| b.led.is_none()) {
            body.take(sum(body.speed(), *pressed, body.kicked));
        }
        let alone: Vec<Velocity> = held.iter().map(Body::speed).collect();
        let Met { memory, mut ties, .. } = self.contacts(call, &mut held)?;
        let places = places(call, &bodies);
        ties.retain(|tie| tie.ends.iter().all(|(n, _)| places[*n].is_some()));
        // The coupling finds what these rows give anew.
        let given = given(&held, &ties);
        let told: Vec<Velocity> = (0..bodies.len())
            .map(|n| sum(sum(sum(bodies[n].speed(), held[n].speed(), 1.0), alone[n], -1.0), given[n], -1.0))
            .collect();
        for item in 0..call.items(AT.rigid) {
            if call.table(AT.rigid, item).is_none() || call.table(DYNAMICS, item).is_none() {
                continue;
            }
            let of = |n: &usize| places[*n].is_some() && bodies[*n].key[0] == i64::from(item);
            let own: Vec<usize> = (0..bodies.len()).filter(of).collect();
            let told: Vec<(&Body, Velocity)> = own.iter().map(|&n| (&bodies[n], told[n])).collect();
            let before = own.iter().map(|&n| Velocity {
                linear: before[n].linear,
                angular: bodies[n].inverse_inertia() * before[n].angular,
            });
            rigid::write_dynamics(call, DYNAMICS, item, &told, Some(&before.collect::<Vec<_>>()))?;
            call.write_array(AT.rigid, item, c"wet", 1, &[1i32])?;
        }
        let names = names(call)?;
        if let Some((object, _)) = ties.first().and_then(|tie| places[tie.ends[0].0]) {
            constraints::write(call, CONSTRAINTS, object as u32, &names.objects, &places, &ties)?;
        }
        contacts::write(call, port!(PORTS, contacts), &names, &memory)?;
        Ok(Outcome::Done)
    }

    /// Takes what a coupling has solved for, and lets the bodies touch: the contacts that held in the coupling hold under its
    /// pressures, and rub.
    fn correct(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let (mut bodies, before) = rigid::read_flying(call, AT, &mut self.shapes)?;
        let mut pressed = vec![Velocity::default(); bodies.len()];
        for item in 0..call.items(AT.rigid) {
            let Some(impulses) = rigid::read_moved(call, port!(PORTS, moved), item)? else { continue };
            let is_own = |n: &usize| bodies[*n].key[0] == i64::from(item) && bodies[*n].led.is_none();
            let own: Vec<usize> = (0..bodies.len()).filter(is_own).collect();
            for (n, impulse) in own.into_iter().zip(impulses) {
                let by_pressure = Velocity {
                    linear: impulse.linear / bodies[n].shape.mass(),
                    angular: bodies[n].inverse_inertia() * impulse.angular,
                };
                if bodies[n].kicked > 0.0 {
                    pressed[n] = sum(Velocity::default(), by_pressure, 1.0 / bodies[n].kicked);
                }
                let freed = sum(bodies[n].speed(), by_pressure, 1.0);
                bodies[n].take(freed);
            }
            let own = bodies.iter_mut().filter(|b| b.key[0] == i64::from(item) && b.led.is_none());
            if let Some((touched, voxel)) = rigid::read_touched(call, port!(PORTS, moved), item) {
                let more = FILM * voxel * times(call).kick / SEEPING;
                for (body, touched) in own.zip(touched) {
                    body.film = (body.film + if touched { more } else { -more }).clamp(0.0, FILM * voxel);
                }
            }
        }
        self.touch(call, bodies, &before, &pressed)
    }

    /// Finds the contacts and lets them and the joints act.
    fn contacts(&mut self, call: &Call, bodies: &mut [Body]) -> Result<Met, Failure> {
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let mut memory = contacts::read(call, port!(PORTS, contacts), &names(call)?)?;
        let [now, coming] = self.exchange.colliders(call, COLLIDERS, DYNAMICS_OF_AFFECTORS, None)?;
        let around = Surroundings { colliders: [&now, &coming], domain: &domain };
        let settings = Settings {
            sweeps: call.int(param!(PARAMS, contact_iterations)).clamp(1, 1_000_000) as u32,
            ..Settings::default()
        };
        let times = times(call);
        let mut joints = joints::read(call, JOINTS, &names(call)?.objects, bodies)?;
        let all = &mut joints.all;
        let (report, ties) =
            self.exchange.install(|| meet(bodies, all, &mut memory, &around, &times, &settings));
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
        let synchronised =
            |(body, before): (_, &Velocity)| Published { body, now: synchronised(body, *before, times.next) };
        let published: Vec<Published> = bodies.iter().zip(before).map(synchronised).collect();
        for item in 0..call.items(AT.rigid) {
            let of: Vec<Published> =
                published.iter().filter(|p| p.body.key[0] == i64::from(item)).copied().collect();
            let own = pressed.iter().zip(&bodies).filter(|(_, b)| b.key[0] == i64::from(item));
            self.publish(call, item, &of, &own.map(|(pressed, _)| *pressed).collect::<Vec<_>>())?;
        }
        contacts::write(call, port!(PORTS, contacts), &names(call)?, &memory)?;
        joints::write(call, JOINTS, &names(call)?.objects, &joints)?;
        if !joints.all.is_empty() {
            call.measure("joints", &[joints.all.iter().filter(|j| !j.state.broken).count() as f64]);
        }
        call.measure("contacts", &[report.contacts as f64]);
        call.measure("contact_sweeps", &[f64::from(report.sweeps)]);
        call.measure("overlap", &[report.overlap]);
        call.measure("kinetic_energy", &[bodies.iter().map(Body::kinetic_energy).sum::<f64>() + 0.0]);
        let gravity = bodies.iter().map(|b| b.kick.linear.length()).fold(0.0, f64::max);
        let fastest = bodies.iter().map(|b| b.speed().linear.length()).fold(0.0, f64::max);
        let capped = report.capped && report.change > (UNSETTLED * gravity).max(UNSETTLED_OF_SPEED * fastest);
        call.measure("contacts_capped", &[f64::from(u8::from(capped))]);
        if capped && !std::mem::replace(&mut self.told, true) {
            let sentence = "the contacts have not settled within contact_iterations: raise it, or substeps.min, if stacks sway or sink";
            call.log(Level::WARNING, sentence);
        }
        Ok(Outcome::Done)
    }

    /// Writes the state of an object's bodies; false where it has none.
    fn write_state(&mut self, call: &mut Call, item: u32, of: &[Published]) -> Result<bool, Failure> {
        let Some(table) = call.table(AT.rigid, item) else { return Ok(false) };
        let sleeping = table.first::<i32>("sleeping") == Some(1);
        let wet = table.first::<i32>("wet").unwrap_or(0);
        let (shape, surface) = self.shapes.kept(call, AT, item)?;
        rigid::write_state(call, AT.rigid, item, &shape, (surface, sleeping), of)?;
        call.write_array(AT.rigid, item, c"wet", 1, &[wet])?;
        Ok(true)
    }

    /// Writes an object's bodies for everyone.
    fn publish(
        &mut self,
        call: &mut Call,
        item: u32,
        of: &[Published],
        pressed: &[Velocity],
    ) -> Result<(), Failure> {
        if !self.write_state(call, item, of)? {
            return Ok(());
        }
        if pressed.iter().any(|p| *p != Velocity::default()) {
            rigid::write_velocities(call, AT.rigid, item, c"pressed", pressed)?;
        }
        let (shape, _) = self.shapes.kept(call, AT, item)?;
        rigid::write_points(call, AT.bodies, item, &shape, of)?;
        rigid::write_motion(call, AT.motion, item, of)?;
        if call.ends_frame() {
            self.exchange.write_moved_mesh(call, (AT.shape, AT.mesh), item, of)?;
        }
        Ok(())
    }
}

/// How bodies met: contacts and joints for the next substep, what they were like, and their rows.
struct Met {
    memory: Vec<Memory>,
    joints: Joints,
    report: Report,
    ties: Vec<Tie>,
}

/// Per body that takes part in a coupling: its object, and its number in the `dynamics` of that.
fn places(call: &Call, bodies: &[Body]) -> Vec<Option<(usize, usize)>> {
    let mut counts = vec![0; call.items(AT.rigid) as usize];
    let place = |body: &Body| {
        let object = usize::try_from(body.key[0]).ok()?;
        call.table(DYNAMICS, object as u32).filter(|_| body.led.is_none())?;
        let count = counts.get_mut(object)?;
        *count += 1;
        Some((object, *count - 1))
    };
    bodies.iter().map(place).collect()
}

/// Thickness of the film of liquid that comes between a body and what it touches, voxels. In less than a voxel there is no cell
/// whose pressure would push the body off a floor; in one that is filled to its edges the particles leave air: a stone weighs twice
/// as much then as it does under water, and 1.5 % less in 1.1, 0.9 % more in 1.25, 0.3 % in 1.5 voxels.
const FILM: f64 = 1.5;
/// Time in which it comes, s, or goes where the liquid goes.
const SEEPING: f64 = 0.25;
/// The fastest spin that is followed, rad/s.
const MOST_SPIN: f64 = 1e7;

/// `a` and `share` of `b`.
fn sum(a: Velocity, b: Velocity, share: f64) -> Velocity {
    Velocity { linear: a.linear + share * b.linear, angular: a.angular + share * b.angular }
}

/// What the items' tables hold for each body under a name; zero where they hold nothing.
fn each(call: &Call, bodies: &[Body], what: &str) -> Result<Vec<Velocity>, Failure> {
    let mut all = vec![Velocity::default(); bodies.len()];
    for item in 0..call.items(AT.rigid) {
        let Some(values) = rigid::read_velocities(call, AT, item, what)? else { continue };
        let own = (0..bodies.len()).filter(|&n| bodies[n].key[0] == i64::from(item));
        own.zip(values).for_each(|(n, value)| all[n] = value);
    }
    Ok(all)
}

fn names(call: &Call) -> Result<Names, Failure> {
    let objects = (0..call.items(AT.rigid)).map(|n| call.item_name(AT.rigid, n).to_owned()).collect();
    Ok(Names { objects, colliders: Exchange::collider_names(call, COLLIDERS)? })
}

fn times(call: &Call) -> Intervals {
    Intervals { drift: call.dt(), kick: call.dt_kick(), next: call.dt_next() }
}

/// Whether the bodies have drifted in this substep and their contacts have not been solved for.
fn is_flying(call: &Call) -> bool {
    let flies = |item| call.table(AT.rigid, item).is_some_and(|t| t.array::<f64>("flight").is_some());
    (0..call.items(AT.rigid)).any(flies)
}

fn check_finite(call: &Call, bodies: &[Body]) -> Result<(), Failure> {
    let is_lost = |b: &&Body| !(b.pose.position.is_finite() && b.momentum.is_finite());
    if let Some(lost) = bodies.iter().find(is_lost) {
        let name = call.item_name(AT.rigid, lost.key[0] as u32);
        let sentence =
            format!("the position of a body of `{name}` is no longer a finite number: use more substeps");
        return Err(Failure::not_finite(AT.rigid, sentence));
    }
    let too_fast = |b: &&Body| {
        let Velocity { linear, angular } = b.speed();
        !(linear.length() <= MOST_SPEED && angular.length() <= MOST_SPIN)
    };
    let Some(fast) = bodies.iter().find(too_fast) else { return Ok(()) };
    let Velocity { linear, angular } = fast.speed();
    let sentence = format!(
        "a body of `{}` moves at {} m/s and turns at {} rad/s, which is too fast: look at its mass and at its forces",
        call.item_name(AT.rigid, fast.key[0] as u32),
        roughly(linear.length()),
        roughly(angular.length())
    );
    Err(Failure::not_finite(AT.rigid, sentence))
}

/// Velocity at the time of a body's position: half a substep before that of its momentum.
///
/// `before`: its velocity and its angular momentum before forces acted.
fn synchronised(body: &Body, before: Velocity, next: f64) -> Velocity {
    let back = if body.kicked > 0.0 { 0.5 * next / body.kicked } else { 0.0 };
    if let Some(led) = body.led {
        return led.velocity[0];
    }
    if body.rest.asleep {
        return Velocity::default();
    }
    let momentum = body.momentum - back * (body.momentum - before.angular);
    Velocity {
        linear: body.velocity - back * (body.velocity - before.linear),
        angular: body.inverse_inertia() * momentum,
    }
}

/// Whether a body's middle is in the box and the body does not reach through a closed side, its skin left out.
fn inside(domain: &DomainLimits, body: &Body) -> bool {
    let corners = || body.shape.hulls().iter().flatten().map(|c| body.pose.place(*c));
    let slack = 0.01 * body.shape.radius();
    let closed = (0..6).filter(|&s| domain.sides[s] == Side::Closed);
    domain.contains(body.pose.position)
        && closed.into_iter().all(|s| corners().all(|c| domain.side_distance(s, c) >= -slack))
}

/// Whether a body lies beyond a side that removes bodies, all of it.
fn gone(domain: &DomainLimits, body: &Body) -> bool {
    let beyond = |s: usize| domain.side_distance(s, body.pose.position) < -body.shape.radius();
    body.led.is_none() && (0..6).any(|s| domain.sides[s] == Side::Kill && beyond(s))
}
