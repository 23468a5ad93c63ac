//! Ports, roles and schedule of a descriptor.

use super::{MOST_ENTRIES, Reader, in_order, once, ports::port};
use crate::node::{Contract, Cost, NodeKind, PortSpec, Role, Stage, Step};
use crate::text::number;
use meniscus_abi as abi;

/// What a node promises.
pub(super) fn contract(
    read: &Reader,
    node: &abi::Node,
    plugin: usize,
    number: u32,
    kind: NodeKind,
) -> Result<Contract, String> {
    let mut ports = Vec::new();
    for p in read.structs(node.ports, node.port_count, MOST_ENTRIES, "ports")? {
        let port: PortSpec = port(read, &p, node.role_count as usize)?;
        let is_twice = |q: &PortSpec| {
            (&q.name, q.owner) == (&port.name, port.owner)
                && (!port.is_every_movable() || q.carries == port.carries)
        };
        if ports.iter().any(is_twice) {
            return Err(format!("two ports of one owner are called `{}`", port.called()));
        }
        if port.is_every_movable() && kind != NodeKind::Force {
            return Err("a port has no name, which only a force's may lack".into());
        }
        ports.push(port);
    }
    let mut roles = Vec::new();
    for r in read.structs(node.roles, node.role_count, MOST_ENTRIES, "roles")? {
        roles.push(Role {
            name: read.name(r.name, "a role")?,
            medium: read.name(r.medium, "a medium")?,
            min_count: r.min_count as usize,
            max_count: (r.max_count > 0).then_some(r.max_count as usize),
            max_objects: (r.max_objects > 0).then_some(r.max_objects as usize),
        });
        in_order((r.min_count, r.max_count), "participants of one role")?;
    }
    once(&roles, |r| r.name.clone(), "roles")?;
    let mut steps = Vec::new();
    for s in read.items(node.steps, node.step_count, "steps")? {
        let role = (s.role != abi::Step::SELF).then_some(s.role as usize);
        if role.is_some_and(|r| r >= roles.len()) {
            return Err(format!("its schedule names role {}, there are {}", s.role, roles.len()));
        }
        let stage = stage(s.stage).filter(|s| *s != Stage::Init);
        steps.push(Step {
            role,
            stage: stage.ok_or_else(|| format!("its schedule names stage {}", s.stage.0))?,
        });
    }
    let has = |flag| node.flags & flag != 0;
    Ok(Contract {
        plugin,
        node: number,
        medium: read.name(node.medium, "a medium")?,
        stages: Stage::ALL.map(|s| node.stages & (1 << s as u32) != 0),
        accepts: accepted(node, kind),
        ports,
        roles,
        steps,
        accepts_sources: has(abi::flags::ACCEPTS_SOURCES),
        is_source: has(abi::flags::IS_SOURCE),
        rank: node.rank,
        needs_gpu: node.gpu == abi::Gpu::REQUIRED,
        cost: cost(node)?,
    })
}

/// What an object costs.
fn cost(node: &abi::Node) -> Result<Cost, String> {
    let cost = Cost {
        particle_bytes: node.particle_bytes,
        voxel_bytes: node.voxel_bytes,
        particle_seconds: node.particle_seconds,
        voxel_seconds: node.voxel_seconds,
    };
    let all = [cost.particle_bytes, cost.voxel_bytes, cost.particle_seconds, cost.voxel_seconds];
    match all.iter().find(|c| !(**c >= 0.0 && c.is_finite())) {
        Some(c) => Err(format!("it says that a particle or a voxel costs {}", number(*c))),
        None => Ok(cost),
    }
}

/// The kinds a node takes, kept to what its own kind can use.
fn accepted(node: &abi::Node, kind: NodeKind) -> Vec<NodeKind> {
    let sensible: &[(abi::NodeKind, NodeKind)] = match kind {
        NodeKind::Solver => {
            &[(abi::NodeKind::OBJECT, NodeKind::Object), (abi::NodeKind::FORCE, NodeKind::Force)]
        }
        NodeKind::Coupling => {
            &[(abi::NodeKind::SOLVER, NodeKind::Solver), (abi::NodeKind::COUPLING, NodeKind::Coupling)]
        }
        _ => &[(abi::NodeKind::GEOMETRY, NodeKind::Geometry)],
    };
    sensible.iter().filter(|(k, _)| node.takes(*k)).map(|&(_, k)| k).collect()
}

fn stage(s: abi::Stage) -> Option<Stage> {
    usize::try_from(s.0).ok().and_then(|i| Stage::ALL.get(i)).copied()
}
