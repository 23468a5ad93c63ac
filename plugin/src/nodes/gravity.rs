//! Gravity: the same acceleration for every particle.

use super::drive::announce_acceleration;
use super::liquid_ports;
use glam::DVec3;
use meniscus_abi::guest::{AttributeShape, Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Element, Meaning, Node, NodeKind, Owner, Param, Port, Stage, param, port};

const PORTS: &[Port] = &[
    Port::every_movable()
        .required()
        .help(c"Points with velocity v (m/s); dv (m/s) takes what forces add over ctx->dt_kick.")
        .on(Stage::PREDICT, Access::READ_WRITE),
    liquid_ports::forces(Owner::OBJECT).on(Stage::INIT, Access::READ_WRITE),
];
/// What it moves.
const MOVED: u32 = 0;

const PARAMS: &[Param] = &[Param::vector3(c"force", c"Force", [0.0, -9.81, 0.0])
    .unit(c"m/s^2")
    .help(c"Acceleration of everything with mass. Larger: faster falls and harder splashes. The default is gravity at the Earth's surface, Y up.")
    .houdini(c"force")];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::FORCE, c"meniscus.gravity", c"Gravity")
    .help(c"Pulls the objects of the solver it is wired into.")
    .houdini(c"gravity")
    .stages(&[Stage::INIT, Stage::PREDICT])
    .ports(PORTS)
    .params(PARAMS);

/// Keeps nothing.
#[derive(Default)]
pub struct Gravity;

impl Instance for Gravity {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        if call.stage() == Stage::INIT {
            let acceleration = DVec3::from_array(call.vector(param!(PARAMS, force))).length();
            announce_acceleration(call, port!(PORTS, forces), acceleration)?;
            return Ok(Outcome::Done);
        }
        let dv = call.vector(param!(PARAMS, force)).map(|g| (g * call.dt_kick()) as f32);
        let kick = AttributeShape::on_points(c"dv", Element::F32, 3, Meaning::VECTOR);
        for item in 0..call.items(MOVED) {
            let mut kick = call.edit_attribute(MOVED, item, &kick)?;
            if !kick.update(|v: [f32; 3]| [v[0] + dv[0], v[1] + dv[1], v[2] + dv[2]]) {
                return Err(Failure::host(MOVED, "the attribute `dv` is not three f32"));
            }
        }
        Ok(Outcome::Done)
    }
}
