//! The mesh object: triangles, none at first.

use super::{frames, mesh_ports as ports};
use crate::exchange::mesh;
use meniscus_abi::guest::{Call, Failure, Node as Instance, Outcome};
use meniscus_abi::{Access, Node, NodeKind, Owner, Param, Port, Stage, port};

const PORTS: &[Port] = &[ports::mesh(Owner::OBJECT).on(Stage::INIT, Access::WRITE)];
const PARAMS: &[Param] = &[frames::START_FRAME, frames::END_FRAME];

/// The descriptor.
pub const NODE: Node = Node::new(NodeKind::OBJECT, c"meniscus.mesh_object", c"Mesh Object")
    .help(c"Holds the triangles that a liquid_mesher makes. It is empty at first.")
    .medium(c"mesh")
    .stages(&[Stage::INIT])
    .inputs(&[], 0, 0)
    .ports(PORTS)
    .params(PARAMS);

/// Keeps nothing.
#[derive(Default)]
pub struct MeshObject;

impl Instance for MeshObject {
    fn run(&mut self, call: &mut Call) -> Result<Outcome, Failure> {
        mesh::write(call, port!(PORTS, render_mesh), glam::DVec3::ZERO, &[])?;
        Ok(Outcome::Done)
    }
}
