//! The node types, one short file each; what several of them share stands in files of its own.

mod acceleration;
mod collider_ports;
mod constraint_bubbles;
mod flip_params;
mod flip_solver;
mod flip_totals;
mod frames;
mod gravity;
mod limits;
mod liquid_object;
mod liquid_ports;
mod liquid_sink;
mod liquid_source;
mod material;
mod projection;
mod static_object;

use meniscus_abi::guest::Node;

/// Every node type, in the order of [`make`].
pub static NODES: [meniscus_abi::Node; 7] = [
    liquid_object::NODE,
    static_object::NODE,
    gravity::NODE,
    liquid_source::NODE,
    liquid_sink::NODE,
    flip_solver::NODE,
    constraint_bubbles::NODE,
];

/// An instance of `NODES[node]`.
pub fn make(node: u32) -> Option<Box<dyn Node>> {
    Some(match node {
        0 => Box::<liquid_object::LiquidObject>::default(),
        1 => Box::<static_object::StaticObject>::default(),
        2 => Box::new(gravity::Gravity),
        3 => Box::<liquid_source::LiquidSource>::default(),
        4 => Box::<liquid_sink::LiquidSink>::default(),
        5 => Box::<flip_solver::FlipSolver>::default(),
        6 => Box::<constraint_bubbles::ConstraintBubbles>::default(),
        _ => return None,
    })
}
