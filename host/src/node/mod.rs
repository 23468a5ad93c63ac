//! Node types as data: name, inputs, parameters, contract.
//!
//! The host's own nodes and those of plugins are described by the same [`NodeType`]; the one description
//! drives the checks of a graph, the help text, and the reading of parameters.

mod condition;
mod contract;
mod kind;
mod param;
mod spec;

pub use condition::holds_by;
pub use contract::{
    Access, Carries, Contract, Cost, Merge, PortOwner, PortSpec, Report, Reported, Role, STAGES, STATS_KEYS,
    Stage, Step,
};
pub use kind::NodeKind;
pub use param::{Params, Value};
pub use spec::{NodeType, ParamKind, ParamSpec, Range};
