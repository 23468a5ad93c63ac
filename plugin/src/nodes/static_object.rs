//! The static object: a solid that liquids collide with. Its signed distance moves rigidly, or is computed anew as the
//! mesh deforms.

use super::{collider_ports as ports, frames, limits};
use crate::exchange::{ColliderPorts, Exchange, SolidShape, tell_if_lost};
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Means, Node, NodeKind, Owner, Param, Port, Stage, param, port};
use meniscus_core::grid::Transform;

const WRITE: Access = Access::WRITE;
const BOTH: Access = Access::READ_WRITE;
const READ: Access = Access::READ;
const PORTS: &[Port] = &[
    ports::collision(Owner::OBJECT).on(Stage::INIT, WRITE).on(Stage::PREDICT, BOTH),
    ports::collision_vel(Owner::OBJECT).on(Stage::INIT, WRITE).on(Stage::PREDICT, BOTH),
    ports::motion(Owner::OBJECT).on(Stage::INIT, WRITE).on(Stage::PREDICT, WRITE),
    Port::geometry(Owner::INPUT, c"mesh")
        .required()
        .help(c"Closed meshes; `restP` and the detail's rigid_transform, rigid_linear, rigid_angular, rigid_pivot where they move rigidly, `v` where they deform; rigid_linear_next, rigid_angular_next, `v_next`: in the next substep.")
        .on(Stage::INIT, READ)
        .on(Stage::PREDICT, READ),
    ports::collision_vel_next(Owner::OBJECT).on(Stage::INIT, WRITE).on(Stage::PREDICT, BOTH),
];
const AT: ColliderPorts = ColliderPorts::of(PORTS);
const MESH: u32 = port!(PORTS, mesh);

const PARAMS: &[Param] = &[
    Param::float(c"division_size", c"Division Size", 0.05)
        .means(Means::VOXEL)
        .folder(c"Collisions")
        .unit(c"m")
        .range(0.001, 1.0)
        .not_animated()
        .help(c"Voxel size of the collision field. Higher: thin walls and small details are lost, and edges become rounder. The liquid's voxel size (particle separation times grid scale) suits most shots. Edges are rounded by about one voxel, except those at multiples of the voxel size; make it smaller where a jet should leave a sharp lip.")
        .houdini(c"divsize"),
    frames::START_FRAME,
    frames::END_FRAME,
];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::OBJECT, c"meniscus.static_object", c"Static Object")
    .help(c"A solid that is not moved by what it touches. Its meshes must be closed; they may be animated or deform.")
    .medium(c"collider")
    .houdini(c"staticobject")
    // Seconds where it meets liquid, fitted to the examples at preview.
    .costs((0.0, 380.0), (0.0, 0.7e-6))
    .stages(&[Stage::INIT, Stage::PREDICT])
    .inputs(&[NodeKind::GEOMETRY], 1, 0)
    .ports(PORTS)
    .params(PARAMS);

/// An instance. It remembers from which mesh its signed distance was made, and makes it anew when it cannot tell.
#[derive(Default)]
pub struct StaticObject {
    exchange: Exchange,
    made_of: Option<Vec<u64>>,
}

impl Instance for StaticObject {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        self.exchange.begin(call)?;
        let h = call.number(param!(PARAMS, division_size));
        limits::length("division_size", h)?;
        let shape = self.exchange.solid_shape(call, MESH)?;
        if call.is_trial() {
            self.exchange.check_shape(call, MESH, &shape, h)?;
            tell_if_lost(call, MESH, shape.mesh(), h);
            return Ok(Outcome::Done);
        }
        let stamps = shape.stamps();
        if call.stage() == Stage::INIT || stamps.is_none() || stamps != self.made_of {
            self.made_of = None;
            let last = match call.stage() {
                Stage::INIT => None,
                _ => call.grid(AT.collision, 0).map(|g| Transform::from_row_major(g.index_to_world())),
            };
            self.exchange.write_collision(call, AT, MESH, &shape, h, last)?;
            if call.stage() == Stage::INIT {
                tell_if_lost(call, MESH, shape.mesh(), h);
            }
            self.made_of = stamps;
        } else if let SolidShape::Rigid { placement, .. } = &shape {
            let transform = self.exchange.install(|| shape.lattice(h, None)).to_row_major();
            call.place_grid(AT.collision, 0, &placement.after(&transform))?;
        }
        self.exchange.write_motion(call, AT.motion, &shape)?;
        Ok(Outcome::Done)
    }

    fn drop_caches(&mut self) {
        *self = Self::default();
    }
}
