//! What sources will make, before anything is cooked.

use crate::data::Geometry;
use crate::geometry::Evaluator;
use crate::graph::{Animated, Bound, Network, Problem};
use crate::node::{NodeKind, Value};
use glam::{DVec3, Vec3};

/// What one source will make of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceEstimate {
    /// Name of the source.
    pub name: String,
    /// Name of the object it gives to.
    pub object: String,
    /// What fills its region when it begins, where nothing is yet, m³.
    pub fills: f64,
    /// What it drives out over the shot: the area across its velocity, times speed, times time, m³.
    pub drives: f64,
    /// Distance between the object's particles, m.
    pub separation: f64,
}

impl SourceEstimate {
    /// Particles that a volume, m³, is made of.
    pub fn particles(&self, volume: f64) -> f64 {
        volume / self.separation.powi(3)
    }
}

/// Estimates every source of a network from its region and its parameters, frame by frame.
pub fn poured(network: &Network, evaluator: &mut Evaluator) -> Result<Vec<SourceEstimate>, Problem> {
    let mut all = Vec::new();
    let present = || network.nodes.iter().filter(|n| !n.bypass);
    for (i, node) in network.nodes.iter().enumerate() {
        if node.bypass || !node.node_type.contract.as_ref().is_some_and(|c| c.is_source) {
            continue;
        }
        let solvers = present().filter(|n| n.node_type.kind == NodeKind::Solver && n.inputs.contains(&i));
        let objects = solvers.flat_map(|n| n.inputs.iter().map(|&o| &network.nodes[o]));
        for object in objects.filter(|o| o.node_type.kind == NodeKind::Object && !o.bypass) {
            let Some(separation) = first(object, "particle_separation", 0.0).filter(|s| *s > 0.0) else {
                continue;
            };
            let (fills, drives) = of_source(network, node, evaluator)?;
            let (name, object) = (node.name.clone(), object.name.clone());
            all.push(SourceEstimate { name, object, fills, drives, separation });
        }
    }
    Ok(all)
}

/// What fills a source's region, and what it drives out, m³.
fn of_source(network: &Network, node: &Bound, evaluator: &mut Evaluator) -> Result<(f64, f64), Problem> {
    let (shot, fps) = (network.settings.frames, network.settings.fps);
    let limit = |name| first(node, name, 0.0).filter(|f| *f > 0.0);
    let begins = limit("start_frame").unwrap_or(f64::from(shot.0)).max(f64::from(shot.0));
    let ends = limit("end_frame").unwrap_or(f64::from(shot.1)).min(f64::from(shot.1));
    let is_on = |name, frame| first(node, name, frame).is_none_or(|on| on != 0.0);
    let frames = || (0..).map(|n| begins + f64::from(n)).take_while(|f| *f < ends);
    let Some(opens) = frames().find(|&f| is_on("active", f)) else { return Ok((0.0, 0.0)) };
    let mut regions = Vec::new();
    for &input in &node.inputs {
        regions.push(evaluator.evaluate(network, input, opens, 0.0, 0.0)?);
    }
    let velocity = |frame| match node.params.get("velocity").map(|v| v.at(frame)) {
        Some(Value::Numbers(v)) => <[f64; 3]>::try_from(v).map_or(DVec3::ZERO, DVec3::from_array),
        _ => DVec3::ZERO,
    };
    let open = frames().filter(|&f| is_on("active", f) && is_on("drive", f));
    let flux = |frame| regions.iter().map(|g| across(g, velocity(frame))).sum::<f64>();
    let is_constant = node.params.get("velocity").is_none_or(|v| matches!(v, Animated::Constant(_)));
    let drives = match is_constant {
        true => flux(begins) * open.count() as f64,
        false => open.map(flux).sum(),
    };
    Ok((regions.iter().map(|g| volume(g)).sum(), drives / fps))
}

/// The first number of a parameter at a frame.
fn first(node: &Bound, name: &str, frame: f64) -> Option<f64> {
    match node.params.get(name)?.at(frame) {
        Value::Toggle(on) => Some(f64::from(on)),
        Value::Integers(v) => v.first().map(|&n| n as f64),
        Value::Numbers(v) => v.first().copied(),
        _ => None,
    }
}

fn corners(g: &Geometry) -> impl Iterator<Item = [DVec3; 3]> {
    let p = |i: u32| g.positions().get(i as usize).map_or(DVec3::ZERO, |p| Vec3::from(*p).as_dvec3());
    g.triangles().iter().map(move |t| [p(t[0]), p(t[1]), p(t[2])])
}

/// The volume that closed triangles enclose, m³.
fn volume(g: &Geometry) -> f64 {
    corners(g).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum::<f64>().abs()
}

/// What goes through their projection along a velocity, m³/s.
fn across(g: &Geometry, velocity: DVec3) -> f64 {
    corners(g).map(|[a, b, c]| 0.25 * (b - a).cross(c - a).dot(velocity).abs()).sum()
}
