//! Gravity: the same acceleration for everything that forces may move.

use super::drive::announce_acceleration;
use super::liquid_ports;
use glam::DVec3;
use meniscus_abi::guest::{AttributeShape, Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{
    Access, Element, Meaning, Node, NodeKind, Owner, Param, Port, Sampling, Stage, param, port,
};

const PORTS: &[Port] = &[
    Port::every_movable()
        .required()
        .help(c"Points with velocity v (m/s); dv (m/s) takes what forces add over ctx->dt_kick.")
        .on(Stage::PREDICT, Access::READ_WRITE),
    every_grid(Sampling::FACE),
    every_grid(Sampling::CENTER),
    liquid_ports::forces(Owner::OBJECT).on(Stage::INIT, Access::READ_WRITE),
];
/// The points that it moves.
const POINTS: u32 = 0;
/// The grids.
const GRIDS: [u32; 2] = [1, 2];

const fn every_grid(sampling: Sampling) -> Port {
    Port::every_movable_grid(sampling)
        .required()
        .unit(c"m/s")
        .help(c"Velocities that forces add over ctx->dt_kick, one a voxel.")
        .on(Stage::PREDICT, Access::READ_WRITE)
}

const PARAMS: &[Param] = &[Param::vector3(c"force", c"Force", [0.0, -9.81, 0.0])
    .unit(c"m/s^2")
    .help(c"Acceleration of everything in the objects of the solver it is wired into. Larger: faster falls and harder splashes. The default is gravity at the Earth's surface, Y up.")
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
        for item in 0..call.items(POINTS) {
            let mut kick = call.edit_attribute(POINTS, item, &kick)?;
            if !kick.update(|v: [f32; 3]| [v[0] + dv[0], v[1] + dv[1], v[2] + dv[2]]) {
                return Err(Failure::host(POINTS, "the attribute `dv` is not three f32"));
            }
        }
        for port in GRIDS {
            for item in 0..call.items(port) {
                let mut kick = call.edit_grid(port, item)?;
                let axes = kick.all_values::<f32>().filter(|axes| axes.len() == 3);
                let axes = axes.ok_or_else(|| Failure::host(port, "the grid is not of three f32"))?;
                axes.into_iter().zip(dv).for_each(|(axis, dv)| axis.iter_mut().for_each(|v| *v += dv));
            }
        }
        Ok(Outcome::Done)
    }
}
