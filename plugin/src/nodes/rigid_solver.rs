//! The rigid solver: moves all its bodies at once, so that they meet each other.

use super::box_params::{self, BoxParams};
use super::drive::Drive;
use super::{body_ports, collider_ports as colliders, frames, liquid_ports, rigid_ports as ports};
use crate::exchange::rigid::{self, Published, RigidPorts, Shapes};
use crate::exchange::{ColliderPorts, Exchange, contacts};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Level, Means, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::number::roughly;
use meniscus_core::solid::rigid::{
    Body, Intervals, Settings, Surroundings, Velocity, longest_step, overlap, overlap_with_solids, step,
};
use meniscus_core::solid::{Collider, DomainLimits, Side};

const READ: Access = Access::READ;
const WRITE: Access = Access::WRITE;
const BOTH: Access = Access::READ_WRITE;
const SOLVED: Owner = Owner::SOLVED;
const AFFECTOR: Owner = Owner::AFFECTOR;
const PORTS: &[Port] = &[
    ports::bodies(SOLVED).on(Stage::INIT, READ).on(Stage::PREDICT, BOTH),
    ports::rigid(SOLVED).on(Stage::INIT, READ).on(Stage::PREDICT, BOTH),
    ports::hulls(SOLVED).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    ports::shape(SOLVED).on(Stage::PREDICT, READ),
    ports::moved_mesh(SOLVED).on(Stage::PREDICT, WRITE),
    ports::keyframes(SOLVED).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::motion(SOLVED).on(Stage::PREDICT, WRITE),
    ports::contacts(Owner::NODE).on(Stage::PREDICT, BOTH),
    liquid_ports::forces(SOLVED).on(Stage::PREDICT, READ),
    colliders::collision(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::collision_vel(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::collision_vel_next(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    colliders::motion(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
    body_ports::dynamics(AFFECTOR).on(Stage::INIT, READ).on(Stage::PREDICT, READ),
];
const FIRST_OF_AFFECTORS: u32 = 9;
const AT: RigidPorts =
    RigidPorts { bodies: 0, rigid: 1, hulls: 2, shape: 3, mesh: 4, keyframes: 5, motion: 6 };
const COLLIDERS: ColliderPorts = ColliderPorts {
    collision: FIRST_OF_AFFECTORS,
    collision_vel: FIRST_OF_AFFECTORS + 1,
    collision_vel_next: FIRST_OF_AFFECTORS + 2,
    motion: FIRST_OF_AFFECTORS + 3,
};
const DYNAMICS: u32 = FIRST_OF_AFFECTORS + 4;

const fn side(name: &'static std::ffi::CStr, label: &'static std::ffi::CStr, means: Means) -> Param {
    box_params::side(name, label, means)
        .help(c"Closed: a wall. Open: bodies pass and fly on. Kill: bodies that have passed it are removed.")
}

const PARAMS: &[Param] = &[
    Param::int(c"contact_iterations", c"Contact Iterations", 200)
        .folder(c"Contacts")
        .range(10.0, 1000.0)
        .hard_min()
        .help(c"Sweeps over all contacts in a substep, at most. Higher: high stacks and heavy bodies on light ones stand more firmly, and heaps take longer."),
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
    .help(c"Moves rigid bodies and lets them meet each other and solids. Wire in rigid objects, static objects and forces. A liquid meets the bodies that are also wired into its own solver; by itself it does not push them.")
    .medium(c"rigid")
    .houdini(c"rigidsolver")
    .cites(c"Dullweber1997 Jean1999 Silcowitz2010")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::OBJECT, NodeKind::FORCE], 1, 0)
    .rank(Node::RANK_SOLID)
    .ports(PORTS)
    .params(PARAMS);

/// An instance.
#[derive(Default)]
pub struct RigidSolver {
    exchange: Exchange,
    shapes: Shapes,
}

impl Instance for RigidSolver {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        match call.stage() {
            Stage::INIT => self.init(call),
            _ => self.predict(call),
        }
    }

    fn suggest_dt(&mut self, call: &mut Call) -> Result<Option<f64>, Failure> {
        self.exchange.begin(call)?;
        let bodies = rigid::read(call, AT, &mut self.shapes)?;
        let acceleration = Drive::read(call, port!(PORTS, forces)).acceleration;
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, DYNAMICS)?;
        Ok(Some(longest_step(&bodies, &colliders, acceleration)))
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

impl RigidSolver {
    /// Refuses bodies that start in each other, in solids or outside the box.
    fn init(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let bodies = rigid::read(call, AT, &mut self.shapes)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let [colliders, _] = self.exchange.colliders(call, COLLIDERS, DYNAMICS)?;
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
        if let Some((a, b, depth)) = overlap(&bodies) {
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

    fn predict(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let mut bodies = rigid::read(call, AT, &mut self.shapes)?;
        let domain = box_params::read(call, BoxParams::of(PARAMS))?;
        let names: Vec<String> =
            (0..call.items(AT.rigid)).map(|n| call.item_name(AT.rigid, n).to_owned()).collect();
        let mut memory = contacts::read(call, port!(PORTS, contacts), &names)?;
        let [now, coming] = self.exchange.colliders(call, COLLIDERS, DYNAMICS)?;
        let colliders: [&[Collider]; 2] = [&now, &coming];
        let times = Intervals { drift: call.dt(), kick: call.dt_kick(), next: call.dt_next() };
        let settings = Settings {
            sweeps: call.int(param!(PARAMS, contact_iterations)).clamp(1, 1_000_000) as u32,
            ..Settings::default()
        };
        bodies.retain(|body| !gone(&domain, body));
        let before: Vec<(DVec3, DVec3)> = bodies.iter().map(|b| (b.velocity, b.momentum)).collect();
        let around = Surroundings { colliders, domain: &domain };
        let report = self.exchange.install(|| step(&mut bodies, &mut memory, &around, &times, &settings));
        if let Some(lost) = bodies.iter().find(|b| !(b.pose.position.is_finite() && b.momentum.is_finite())) {
            let name = &names[lost.key[0] as usize];
            let sentence = format!("a body of `{name}` has no place any more: use more substeps");
            return Err(Failure::not_finite(AT.rigid, sentence));
        }
        let back = if times.kick > 0.0 { 0.5 * times.next / times.kick } else { 0.0 };
        let published: Vec<Published> = bodies
            .iter()
            .zip(&before)
            .map(|(body, before)| Published { body, now: synchronised(body, *before, back) })
            .collect();
        for (item, _) in names.iter().enumerate() {
            self.write(call, item as u32, &published)?;
        }
        contacts::write(call, port!(PORTS, contacts), &names, &memory)?;
        call.measure("contacts", &[report.contacts as f64]);
        call.measure("contact_sweeps", &[f64::from(report.sweeps)]);
        call.measure("overlap", &[report.overlap]);
        call.measure("kinetic_energy", &[bodies.iter().map(Body::kinetic_energy).sum::<f64>() + 0.0]);
        let gravity = bodies.iter().map(|b| b.kick.linear.length()).fold(0.0, f64::max);
        if report.capped && report.change > 0.05 * gravity {
            let sentence = "the contacts have not settled within Contact Iterations: raise it, or use more substeps, if stacks sway";
            call.log(Level::DEBUG, sentence);
        }
        Ok(Outcome::Done)
    }

    /// Writes the bodies of an object.
    fn write(&mut self, call: &mut Call, item: u32, all: &[Published]) -> Result<(), Failure> {
        let Some(table) = call.table(AT.rigid, item) else { return Ok(()) };
        let sleeping = table.first::<i32>("sleeping") == Some(1);
        let of: Vec<Published> = all.iter().filter(|p| p.body.key[0] == i64::from(item)).copied().collect();
        let kept = self.shapes.kept(call, AT, item)?;
        let (shape, surface) = kept;
        rigid::write_state(call, AT.rigid, item, &shape, (surface, sleeping), &of)?;
        rigid::write_points(call, AT.bodies, item, &shape, &of)?;
        rigid::write_motion(call, AT.motion, item, &of)?;
        if call.ends_frame() {
            self.exchange.write_moved_mesh(call, (AT.shape, AT.mesh), item, &of)?;
        }
        Ok(())
    }
}

/// Velocity at the time of a body's position: half a substep before that of its momentum.
fn synchronised(body: &Body, (velocity, momentum): (DVec3, DVec3), back: f64) -> Velocity {
    if let Some(led) = body.led {
        return led.velocity[0];
    }
    if body.rest.asleep {
        return Velocity::default();
    }
    let momentum = body.momentum - back * (body.momentum - momentum);
    Velocity {
        linear: body.velocity - back * (body.velocity - velocity),
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
