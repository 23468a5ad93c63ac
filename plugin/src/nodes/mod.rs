//! The node types, one short file each; files of their own hold what several nodes share.

mod body_ports;
mod box_params;
mod collider_ports;
mod constraint_bubbles;
mod coupled;
mod coupled_ports;
mod drive;
mod flip_params;
mod flip_solver;
mod flip_step;
mod flip_totals;
mod flip_warnings;
mod floating_bodies;
mod frames;
mod gravity;
mod limits;
mod liquid_mesher;
mod liquid_object;
mod liquid_ports;
mod liquid_sink;
mod liquid_source;
mod material;
mod mesh_object;
mod mesh_ports;
mod projection;
mod rigid_fluid;
mod rigid_joint;
mod rigid_object;
mod rigid_ports;
mod rigid_solver;
mod static_object;
mod whitewater_object;
mod whitewater_ports;
mod whitewater_solver;

use meniscus_abi::guest::Node;

/// The node types, each with what an instance of it is.
macro_rules! nodes {
    ($($module:ident :: $Instance:ident),* $(,)?) => {
        /// Every node type.
        pub static NODES: [meniscus_abi::Node; [$(stringify!($module)),*].len()] = [$($module::NODE),*];

        /// An instance of `NODES[node]`.
        pub fn make(node: u32) -> Option<Box<dyn Node>> {
            let makers: [fn() -> Box<dyn Node>; NODES.len()] = [$(|| Box::<$module::$Instance>::default()),*];
            makers.get(node as usize).map(|make| make())
        }
    };
}

nodes! {
    liquid_object::LiquidObject,
    static_object::StaticObject,
    gravity::Gravity,
    liquid_source::LiquidSource,
    liquid_sink::LiquidSink,
    flip_solver::FlipSolver,
    constraint_bubbles::ConstraintBubbles,
    floating_bodies::FloatingBodies,
    rigid_fluid::RigidFluid,
    rigid_object::RigidObject,
    rigid_joint::RigidJoint,
    rigid_solver::RigidSolver,
    whitewater_object::WhitewaterObject,
    whitewater_solver::WhitewaterSolver,
    mesh_object::MeshObject,
    liquid_mesher::LiquidMesher,
}
