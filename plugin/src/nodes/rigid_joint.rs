//! The rigid joint: what holds two bodies, or a body and the world.

use super::{frames, limits, rigid_ports as ports};
use glam::DVec3;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, MenuItem, Node, NodeKind, Owner, Param, Port, Stage, param, port};

const WRITE: Access = Access::WRITE;
const PORTS: &[Port] = &[ports::joint(Owner::OBJECT).on(Stage::INIT, WRITE).on(Stage::PREDICT, WRITE)];

const TYPES: &[MenuItem] = &[
    MenuItem::new(c"fixed", c"Fixed"),
    MenuItem::new(c"ball", c"Ball"),
    MenuItem::new(c"revolute", c"Revolute"),
    MenuItem::new(c"prismatic", c"Prismatic"),
    MenuItem::new(c"spring", c"Spring"),
];
const FIXED: i64 = 0;
const BALL: i64 = 1;
const REVOLUTE: i64 = 2;
const SPRING: i64 = 4;
const MOTORS: &[MenuItem] = &[
    MenuItem::new(c"none", c"None"),
    MenuItem::new(c"speed", c"Speed"),
    MenuItem::new(c"target", c"Target"),
];

const PARAMS: &[Param] = &[
    Param::menu(c"joint_type", c"Type", BALL as u32, TYPES)
        .not_animated()
        .help(c"Fixed: the two are as one. Ball: they turn about a point, as links of a chain. Revolute: they turn about an axis, as a door. Prismatic: one slides along an axis, as a drawer. Spring: a force between two points, which holds nothing."),
    Param::string(c"body_a", c"Body A", c"")
        .not_animated()
        .help(c"A rigid object of the same solver. Of one with several bodies, the one with that id: crates:3. Empty: the world."),
    Param::string(c"body_b", c"Body B", c"")
        .not_animated()
        .disable_when(c"{ chain == 1 }")
        .help(c"The other one. Empty: the world."),
    Param::toggle(c"chain", c"Chain", false)
        .not_animated()
        .disable_when(c"{ body_a == \"\" }")
        .help(c"On: each body of Body A is joined to the one of the next higher id, halfway between their middles; Body B and Pivot do not count."),
    Param::vector3(c"pivot", c"Pivot", [0.0; 3])
        .unit(c"m")
        .not_animated()
        .help(c"Where the joint is when it begins, in the world. Of a spring: its end at Body A."),
    Param::vector3(c"pivot_b", c"Pivot B", [0.0; 3])
        .unit(c"m")
        .not_animated()
        .disable_when(c"{ joint_type != spring }")
        .help(c"The spring's end at Body B when it begins, in the world."),
    Param::vector3(c"axis", c"Axis", [0.0, 1.0, 0.0])
        .not_animated()
        .help(c"Direction, in the world when the joint begins, about which a revolute joint turns and along which a prismatic one slides. Of a ball joint: the middle of the cone of its limit."),
    Param::toggle(c"limited", c"Limited", false)
        .folder(c"Limits")
        .not_animated()
        .disable_when(c"{ joint_type == fixed }")
        .help(c"On: the joint goes no farther than its limits."),
    Param::float(c"limit_low", c"Lower Limit", -45.0)
        .folder(c"Limits")
        .unit(c"deg or m")
        .range(-180.0, 180.0)
        .disable_when(c"{ limited == 0 } { joint_type == ball }")
        .help(c"Degrees of a revolute joint, metres of a prismatic one or that a spring may be shorter than its length; 0 is where it begins. Higher: it stops sooner on its way back."),
    Param::float(c"limit_high", c"Upper Limit", 45.0)
        .folder(c"Limits")
        .unit(c"deg or m")
        .range(-180.0, 180.0)
        .disable_when(c"{ limited == 0 }")
        .help(c"Higher: it goes farther. Of a ball joint: degrees that the axes of both may lean apart. Of a spring: metres that it may be longer than its length; 0 makes it a rope."),
    Param::menu(c"motor", c"Motor", 0, MOTORS)
        .folder(c"Motor")
        .not_animated()
        .disable_when(c"{ joint_type != revolute joint_type != prismatic }")
        .help(c"Speed: it drives the joint at a speed. Target: it brings the joint to a place, which may be keyed. It moves Body B as Body A sees it; of a body and the world, the body. A speed of 0 with little Strength is friction in the joint."),
    Param::float(c"motor_speed", c"Motor Speed", 1.0)
        .folder(c"Motor")
        .unit(c"rad/s or m/s")
        .range(-20.0, 20.0)
        .disable_when(c"{ motor != speed }")
        .help(c"Higher: it turns or slides faster; negative: the other way round."),
    Param::float(c"motor_target", c"Motor Target", 0.0)
        .folder(c"Motor")
        .unit(c"deg or m")
        .range(-360.0, 360.0)
        .disable_when(c"{ motor != target }")
        .help(c"Where the joint is to be; 0 is where it begins. More than 360 degrees are several turns."),
    Param::float(c"motor_strength", c"Motor Strength", 10.0)
        .folder(c"Motor")
        .unit(c"N*m or N")
        .range(0.0, 1000.0)
        .hard_min()
        .disable_when(c"{ motor == none }")
        .help(c"The most that the motor gives. Higher: it speeds up faster and lifts more."),
    Param::float(c"stiffness", c"Stiffness", 0.0)
        .folder(c"Spring")
        .unit(c"N/m or N*m/rad")
        .range(0.0, 10_000.0)
        .hard_min()
        .disable_when(c"{ joint_type == fixed }")
        .help(c"Of a spring, or of a spring in a revolute or prismatic joint. Higher: it pulls harder and swings faster."),
    Param::float(c"damping", c"Damping", 0.0)
        .folder(c"Spring")
        .unit(c"N*s/m or N*m*s/rad")
        .range(0.0, 1000.0)
        .hard_min()
        .disable_when(c"{ joint_type == fixed }")
        .help(c"Higher: it comes to rest sooner, and moves as in honey."),
    Param::float(c"rest_length", c"Rest Length", 0.0)
        .folder(c"Spring")
        .unit(c"deg or m")
        .range(-180.0, 180.0)
        .not_animated()
        .help(c"Length of a spring without force, 0: as long as it begins. Of a revolute or prismatic joint: where its spring leaves it alone."),
    Param::float(c"breaking_force", c"Breaking Force", 0.0)
        .folder(c"Breaking")
        .unit(c"N")
        .range(0.0, 100_000.0)
        .hard_min()
        .help(c"Higher: it takes more to tear the two apart. 0: it never breaks. A hanging mass of 1 kg loads its joint with 9.81 N; an impact for an instant with far more."),
    Param::float(c"breaking_torque", c"Breaking Torque", 0.0)
        .folder(c"Breaking")
        .unit(c"N*m")
        .range(0.0, 100_000.0)
        .hard_min()
        .help(c"Higher: it takes more to break it by bending. 0: it never breaks so."),
    Param::toggle(c"collide", c"Bodies Collide", false)
        .not_animated()
        .help(c"On: the two touch each other where they meet. Off: they pass through each other, so that they may overlap at the joint."),
    frames::START_FRAME,
    frames::END_FRAME,
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::OBJECT, c"meniscus.rigid_joint", c"Rigid Joint")
    .help(c"Holds two bodies of a rigid solver together, or a body to the world, from the frame in which it begins: wire it into the rigid solver beside them.")
    .medium(c"joint")
    .houdini(c"rbdpinconstraint")
    .cites(c"Ryckaert1977")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .ports(PORTS)
    .params(PARAMS);

/// Keeps nothing.
#[derive(Default)]
pub struct RigidJoint;

impl Instance for RigidJoint {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        let kind = call.int(param!(PARAMS, joint_type));
        let number = |param: usize| -> Result<f64, Failure> {
            let value = call.number(param);
            let sentence = "a number of the joint is infinite or none at all: give finite numbers";
            value.is_finite().then_some(value).ok_or_else(|| Failure::parameter(sentence))
        };
        // Turns are in degrees on the node and in radians everywhere else.
        let turns = matches!(kind, FIXED | BALL | REVOLUTE);
        let way = |param: usize| number(param).map(|v| if turns { v.to_radians() } else { v });
        let axis = DVec3::from_array(call.vector(param!(PARAMS, axis)));
        if !(axis.length() > 0.0 && axis.is_finite()) {
            return Err(Failure::parameter("axis has no length: give a direction, as in [0, 1, 0]"));
        }
        let places = [("pivot", param!(PARAMS, pivot)), ("pivot_b", param!(PARAMS, pivot_b))];
        for (name, param) in places {
            limits::place(name, call.vector(param))?;
        }
        let places = places.map(|(_, param)| call.vector(param));
        let bounds = [way(param!(PARAMS, limit_low))?, way(param!(PARAMS, limit_high))?];
        let limited = call.on(param!(PARAMS, limited)) && kind != FIXED;
        if limited && bounds[0] > bounds[1] && kind != BALL {
            return Err(Failure::parameter("limit_low is above limit_high: exchange them"));
        }
        if limited && bounds[1] < 0.0 && kind == BALL {
            return Err(Failure::parameter(
                "limit_high of a ball joint is the angle of its cone, which cannot be below 0",
            ));
        }
        let motor = call.int(param!(PARAMS, motor));
        let aim = if motor == 1 {
            number(param!(PARAMS, motor_speed))?
        } else {
            way(param!(PARAMS, motor_target))?
        };
        let strength = number(param!(PARAMS, motor_strength))?;
        let spring = [
            number(param!(PARAMS, stiffness))?,
            number(param!(PARAMS, damping))?,
            way(param!(PARAMS, rest_length))?,
        ];
        limits::place("rest_length", [spring[2]])?;
        if kind == SPRING && spring[2] < 0.0 {
            return Err(Failure::parameter("rest_length cannot be below 0"));
        }
        let breaking = [number(param!(PARAMS, breaking_force))?, number(param!(PARAMS, breaking_torque))?];
        let toggles = [limited, call.on(param!(PARAMS, chain)), call.on(param!(PARAMS, collide))];
        let names = [call.text(param!(PARAMS, body_a)), call.text(param!(PARAMS, body_b))];
        let names: Vec<u8> = names.iter().flat_map(|name| name.trim().bytes().chain([0])).collect();
        let port = port!(PORTS, joint);
        call.shape_table(port, 0)?;
        call.write_array(port, 0, c"bodies", 1, &names)?;
        call.write_array(port, 0, c"type", 1, &[kind as i32, motor as i32])?;
        call.write_array(port, 0, c"toggles", 1, &toggles.map(i32::from))?;
        call.write_array(port, 0, c"pivot", 3, &places.concat())?;
        call.write_array(port, 0, c"axis", 3, &axis.to_array())?;
        call.write_array(port, 0, c"limits", 1, &bounds)?;
        call.write_array(port, 0, c"motor", 1, &[aim, strength])?;
        call.write_array(port, 0, c"spring", 1, &spring)?;
        call.write_array(port, 0, c"breaking", 1, &breaking)?;
        Ok(Outcome::Done)
    }
}
