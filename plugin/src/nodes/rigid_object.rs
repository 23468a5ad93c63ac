//! The rigid object: bodies of one mesh.

use super::{body_ports, collider_ports as colliders, frames, limits, liquid_ports, rigid_ports as ports};
use crate::exchange::rigid::{self, Published};
use crate::exchange::{Exchange, RigidRest, Weight, tell_if_lost};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Level, Means, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::number::{roughly, written};
use meniscus_core::solid::rigid::{Body, Shape, Surface, Velocity};
use std::sync::Arc;

const WRITE: Access = Access::WRITE;
const READ: Access = Access::READ;
const PORTS: &[Port] = &[
    ports::moved_mesh(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::bodies(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::rigid(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::hulls(Owner::OBJECT).on(Stage::INIT, WRITE),
    ports::shape(Owner::OBJECT).on(Stage::INIT, Access::READ_WRITE),
    ports::keyframes(Owner::OBJECT).on(Stage::INIT, WRITE).on(Stage::PREDICT, WRITE),
    colliders::collision(Owner::OBJECT).on(Stage::INIT, WRITE),
    colliders::motion(Owner::OBJECT).on(Stage::INIT, WRITE),
    body_ports::dynamics(Owner::OBJECT).on(Stage::INIT, WRITE),
    liquid_ports::forces(Owner::OBJECT).on(Stage::INIT, WRITE),
    Port::geometry(Owner::INPUT, c"mesh")
        .required()
        .help(c"The closed mesh of a body, in metres, and points: with points, a body at each. A point's orient turns its body; v, w give it a velocity.")
        .on(Stage::INIT, READ)
        .on(Stage::PREDICT, READ),
];
const INPUT: u32 = PORTS.len() as u32 - 1;

const PARAMS: &[Param] = &[
    Param::float(c"division_size", c"Division Size", 0.05)
        .means(Means::VOXEL)
        .folder(c"Collisions")
        .unit(c"m")
        .range(0.001, 1.0)
        .not_animated()
        .help(c"Voxel size of the field by which liquids meet the bodies. Higher: thin parts are lost, and edges become rounder. The liquid's voxel size (particle separation times grid scale) suits most shots. Contacts between bodies do not depend on it.")
        .houdini(c"divsize"),
    Param::float(c"density", c"Density", 1000.0)
        .folder(c"Physical")
        .unit(c"kg/m^3")
        .range(10.0, 10_000.0)
        .not_animated()
        .help(c"Mass per volume of the closed mesh. Higher: heavier bodies, which push others aside. Wood has 600, stone 2500, steel 7800. Used while Mass is 0.")
        .houdini(c"density"),
    Param::float(c"mass", c"Mass", 0.0)
        .folder(c"Physical")
        .unit(c"kg")
        .range(0.0, 1000.0)
        .hard_min()
        .not_animated()
        .help(c"Mass of one body. Higher: heavier. 0: it follows from the density and the mesh's volume.")
        .houdini(c"mass"),
    Param::float(c"friction", c"Friction", 0.5)
        .folder(c"Physical")
        .range(0.0, 2.0)
        .hard_min()
        .not_animated()
        .help(c"Higher: bodies stop sliding sooner. At 0.5 a body rests on slopes that rise up to 0.5 m per metre. Between two bodies the geometric mean counts, on other solids their own.")
        .houdini(c"friction"),
    Param::float(c"restitution", c"Bounce", 0.0)
        .folder(c"Physical")
        .range(0.0, 1.0)
        .hard_min()
        .hard_max()
        .not_animated()
        .help(c"Higher: bodies bounce higher. 0: they stay where they hit. 1: they part as fast as they met. Between two bodies the larger counts, on other solids their own.")
        .houdini(c"bounce"),
    Param::float(c"padding", c"Collision Padding", 0.0)
        .folder(c"Physical")
        .unit(c"m")
        .range(0.0, 1.0)
        .hard_min()
        .not_animated()
        .help(c"Higher: the body keeps farther away from what it touches.")
        .houdini(c"collisionpadding"),
    Param::vector3(c"velocity", c"Initial Velocity", [0.0; 3])
        .means(Means::VELOCITY)
        .folder(c"Initial State")
        .unit(c"m/s")
        .not_animated()
        .help(c"Velocity the bodies start with. A point attribute v replaces it.")
        .houdini(c"v"),
    Param::vector3(c"spin", c"Initial Spin", [0.0; 3])
        .folder(c"Initial State")
        .unit(c"rad/s")
        .not_animated()
        .help(c"Angular velocity the bodies start with, about the world's axes. Higher: they turn faster. A point attribute w replaces it.")
        .houdini(c"w"),
    Param::toggle(c"keyframed", c"Keyframed", false)
        .folder(c"Initial State")
        .not_animated()
        .help(c"On: the body follows its mesh, whose center and rotate or a transform after it are keyed, and nothing that it touches moves it; it takes no points. Off: the input only says where it starts."),
    Param::int(c"group", c"Collision Groups", 1)
        .folder(c"Collisions")
        .range(0.0, 255.0)
        .hard_min()
        .not_animated()
        .help(c"Groups that the bodies belong to, as bits: 1, 2, 4, 8 and so on, added up."),
    Param::int(c"mask", c"Meets Groups", -1)
        .folder(c"Collisions")
        .range(-1.0, 255.0)
        .not_animated()
        .help(c"Groups that the bodies meet, as bits, added up; -1: all. Two bodies meet where each belongs to a group that the other meets; others pass through each other."),
    Param::toggle(c"sleeping", c"Sleeping", true)
        .folder(c"Physical")
        .not_animated()
        .help(c"On: bodies that have been still for half a second sleep until something touches them, so that heaps stand as still as stone and cost little. Bodies that a coupling solves with a liquid stay awake. Off: all are always moved."),
    frames::START_FRAME,
    frames::END_FRAME,
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::OBJECT, c"meniscus.rigid_object", c"Rigid Object")
    .help(c"Rigid bodies of one closed mesh: one where the mesh is, or one at each of the points that are wired in as well. Wire it into a rigid solver, and into the FLIP solver of a liquid that it shall push.")
    .medium(c"rigid")
    .houdini(c"rbdpackedobject")
    .cites(c"Mirtich1996 MamouGhorbel2009")
    .costs((0.0, 380.0), (0.0, 6.0e-6))
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::GEOMETRY], 1, 0)
    .ports(PORTS)
    .params(PARAMS);

/// An instance: it keeps nothing.
#[derive(Default)]
pub struct RigidObject {
    exchange: Exchange,
}

/// More bodies than this in one object are taken for a slip of the decimal point.
const MOST: usize = 100_000;

impl Instance for RigidObject {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        let keyframed = call.on(param!(PARAMS, keyframed));
        if call.stage() == Stage::PREDICT {
            if keyframed {
                let led = self.exchange.led(call, INPUT)?;
                rigid::write_keyframes(call, port!(PORTS, keyframes), &led)?;
            }
            return Ok(Outcome::Done);
        }
        let h = call.number(param!(PARAMS, division_size));
        limits::length("division_size", h)?;
        let rest = self.exchange.rigid_rest(call, INPUT, weight(call)?, h)?;
        check_weight(&rest.shape)?;
        check_padding(call, &rest.shape)?;
        if keyframed && rest.starts.len() != 1 {
            let sentence = "keyframed: points say where free bodies start, and a keyframed body follows its mesh: leave out the points, and give each keyframed body a rigid_object of its own";
            return Err(Failure::parameter(sentence));
        }
        if rest.starts.is_empty() || rest.starts.len() > MOST {
            let sentence =
                format!("{} points are wired in for bodies; 1 to {MOST} can be", rest.starts.len());
            return Err(Failure::input(INPUT, sentence));
        }
        tell_if_lost(call, INPUT, &rest.mesh, h);
        if rest.animated && !keyframed {
            let sentence = "its input is animated, and `keyframed` is off: the body starts where the input is, and then goes its own way";
            call.log(Level::WARNING, sentence);
        }
        self.write(call, &rest, h, keyframed)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}

impl RigidObject {
    fn write(
        &mut self,
        call: &mut Call,
        rest: &RigidRest,
        h: f64,
        keyframed: bool,
    ) -> Result<Outcome, Failure> {
        let shape = Arc::new(rest.shape.clone());
        let mut bodies = bodies(call, rest, &shape)?;
        if keyframed {
            let led = self.exchange.led(call, INPUT)?;
            rigid::write_keyframes(call, port!(PORTS, keyframes), &led)?;
            bodies.iter_mut().for_each(|b| b.led = Some(led));
        }
        let now: Vec<Published> = bodies.iter().map(|body| Published { body, now: body.speed() }).collect();
        Exchange::write_rest_mesh(call, port!(PORTS, shape), &rest.mesh)?;
        rigid::write_hulls(call, port!(PORTS, hulls), &shape)?;
        let kept = (surface(call)?, call.on(param!(PARAMS, sleeping)));
        rigid::write_state(call, port!(PORTS, rigid), 0, &shape, kept, &now)?;
        rigid::write_points(call, port!(PORTS, bodies), 0, &shape, &now)?;
        rigid::write_motion(call, port!(PORTS, motion), 0, &now)?;
        rigid::write_volume(call, port!(PORTS, motion), 0, rest.volume)?;
        if !keyframed {
            let free: Vec<(&Body, Velocity)> = bodies.iter().map(|body| (body, body.speed())).collect();
            rigid::write_dynamics(call, port!(PORTS, dynamics), 0, &free, None)?;
        }
        // Forces say here what they are about to do.
        call.shape_table(port!(PORTS, forces), 0)?;
        if call.is_trial() {
            return Ok(Outcome::Done);
        }
        let meshes = (port!(PORTS, shape), PORT_OF_MOVED);
        self.exchange.write_moved_mesh(call, meshes, 0, &now)?;
        let ports = (port!(PORTS, collision), INPUT);
        self.exchange.write_rest_distance(call, ports, &rest.mesh, h)?;
        Ok(Outcome::Done)
    }
}

/// `mesh` of the object; the input is called so, too.
const PORT_OF_MOVED: u32 = 0;

fn weight(call: &Call) -> Result<Weight, Failure> {
    let (density, mass) = (call.number(param!(PARAMS, density)), call.number(param!(PARAMS, mass)));
    if mass > 0.0 && mass < f64::INFINITY {
        return Ok(Weight::Mass(mass));
    }
    match density > 0.0 && density < f64::INFINITY {
        true => Ok(Weight::Density(density)),
        false => Err(Failure::parameter(format!("density must be above 0, not {}", written(density)))),
    }
}

/// Least mass of a body, kg: an electron's. Densities and their inverses stay numbers of a single precision.
const LIGHTEST: f64 = 1e-30;

/// Refuses a body so light, heavy, small or large that its inertia is no number that can be divided by.
fn check_weight(shape: &Shape) -> Result<(), Failure> {
    if shape.mass() >= LIGHTEST && shape.mass().is_finite() && shape.inertia().determinant().is_normal() {
        return Ok(());
    }
    let sentence = format!(
        "one of its bodies would weigh {} kg and be {} m large, which cannot be computed with: look at mass, density and the mesh",
        roughly(shape.mass()),
        roughly(2.0 * shape.radius())
    );
    Err(Failure::parameter(sentence))
}

/// Refuses a padding that is larger than the body.
fn check_padding(call: &Call, shape: &Shape) -> Result<(), Failure> {
    let (padding, most) = (call.number(param!(PARAMS, padding)), 2.0 * shape.radius());
    if padding <= most {
        return Ok(());
    }
    let sentence =
        format!("padding: {} m is more than the body is large, {} m", written(padding), roughly(most));
    Err(Failure::parameter(sentence))
}

fn surface(call: &Call) -> Result<Surface, Failure> {
    Ok(Surface {
        friction: call.number(param!(PARAMS, friction)),
        restitution: call.number(param!(PARAMS, restitution)),
        padding: call.number(param!(PARAMS, padding)),
        group: groups("group", call.int(param!(PARAMS, group)))?,
        mask: match call.int(param!(PARAMS, mask)) {
            -1 => u32::MAX,
            mask => groups("mask", mask)?,
        },
    })
}

/// The bits of groups that a parameter gives.
fn groups(name: &str, bits: i64) -> Result<u32, Failure> {
    let sentence = || format!("{name}: {bits} is no sum of the 32 groups 1, 2, 4, 8 up to 2147483648");
    u32::try_from(bits).map_err(|_| Failure::parameter(sentence()))
}

/// The bodies as they start.
fn bodies(call: &Call, rest: &RigidRest, shape: &Arc<Shape>) -> Result<Vec<Body>, Failure> {
    let linear = limits::velocity(call, param!(PARAMS, velocity), "velocity")?;
    let angular = limits::spin(call, param!(PARAMS, spin), "spin")?;
    let surface = surface(call)?;
    let of = |start: &crate::exchange::Start| {
        let body = Body::new([0, start.id], shape.clone(), surface, start.pose);
        let [own_linear, own_angular] = start.velocity;
        let velocity =
            Velocity { linear: own_linear.unwrap_or(linear), angular: own_angular.unwrap_or(angular) };
        body.moving(velocity)
    };
    Ok(rest.starts.iter().map(of).collect())
}
