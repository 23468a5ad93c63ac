//! Estimates the liquid that sources will make, before anything is cooked.

use super::claimed::{Claims, corners, left};
use super::plan::Plan;
use crate::data::Geometry;
use crate::geometry::Evaluator;
use crate::graph::{Animated, Bound, Network, Problem};
use crate::node::Value;
use glam::DVec3;
use std::sync::Arc;

/// The liquid that one source makes for one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceEstimate {
    /// Name of the source.
    pub name: String,
    /// Name of the object it gives to.
    pub object: String,
    /// Volume that fills its empty region when it begins, m³.
    pub fills: f64,
    /// Volume that it drives out over the shot, m³: the area across its velocity, times speed, times time.
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

/// Estimates every source of a network from its region and its parameters, frame by frame. A place in the regions of
/// several sources counts once; a place in a solid or outside the box does not count.
pub fn poured(
    network: &Network,
    plan: &Plan,
    evaluator: &mut Evaluator,
) -> Result<Vec<SourceEstimate>, Problem> {
    let mut all = Vec::new();
    for (&solver, wires) in &plan.solvers {
        let is_source = |n: &Bound| n.node_type.contract.as_ref().is_some_and(|c| c.is_source);
        let wired = &network.nodes[solver].inputs;
        let sources = wired.iter().filter(|&&i| is_source(&network.nodes[i]) && !network.nodes[i].bypass);
        let mut runs = Vec::new();
        for &source in sources {
            runs.push(Run::of(network, source, evaluator)?);
        }
        if runs.is_empty() {
            continue;
        }
        let mut solids = Vec::new();
        for &input in wires.affectors.iter().flat_map(|&solid| &network.nodes[solid].inputs) {
            solids.push(evaluator.evaluate(
                network,
                input,
                f64::from(network.settings.frames.0),
                0.0,
                0.0,
            )?);
        }
        for &object in &wires.solved {
            let object = &network.nodes[object];
            let Some(separation) = first(object, "particle_separation", 0.0).filter(|s| *s > 0.0) else {
                continue;
            };
            for (n, run) in runs.iter().enumerate() {
                let before = runs[..n].iter().filter(|other| other.meets(run));
                let claims = Claims {
                    sources: before.flat_map(|other| &other.regions).map(|g| &**g).collect(),
                    solids: solids.iter().map(|g| &**g).collect(),
                    limits: limits(&network.nodes[solver]),
                };
                let regions: Vec<&Geometry> = run.regions.iter().map(|g| &**g).collect();
                let left = left(&regions, run.velocity, &claims);
                let (fills, drives) = (run.fills * left.volume, run.drives * left.front);
                let (name, object) = (run.name.clone(), object.name.clone());
                all.push(SourceEstimate { name, object, fills, drives, separation });
            }
        }
    }
    Ok(all)
}

/// The box of a solver, infinite at its open sides.
fn limits(solver: &Bound) -> Option<(DVec3, DVec3)> {
    let vector = |name| match solver.params.get(name)?.at(0.0) {
        Value::Numbers(v) => <[f64; 3]>::try_from(v).ok().map(DVec3::from_array),
        _ => None,
    };
    let (centre, half) = (vector("limit_center")?, vector("limit_size")? * 0.5);
    let is_open = |name: String| {
        solver.params.get(&name).is_some_and(|p| matches!(p.at(0.0), Value::Text(side) if side == "open"))
    };
    let (mut low, mut high) = (centre - half, centre + half);
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
        if is_open(format!("side_neg_{letter}")) {
            low[axis] = f64::NEG_INFINITY;
        }
        if is_open(format!("side_pos_{letter}")) {
            high[axis] = f64::INFINITY;
        }
    }
    Some((low, high))
}

/// A source by itself.
struct Run {
    name: String,
    regions: Vec<Arc<Geometry>>,
    /// When it opens, m/s; 0 where it does not drive.
    velocity: DVec3,
    /// What fills its region, m³.
    fills: f64,
    /// What it drives out, m³.
    drives: f64,
    /// Between its first frame and its last.
    open: (f64, f64),
}

impl Run {
    /// A source that never runs makes nothing.
    fn of(network: &Network, source: usize, evaluator: &mut Evaluator) -> Result<Self, Problem> {
        let node = &network.nodes[source];
        let (shot, fps) = (network.settings.frames, network.settings.fps);
        let limit = |name| first(node, name, 0.0).filter(|f| *f > 0.0);
        let begins = limit("start_frame").unwrap_or(f64::from(shot.0)).max(f64::from(shot.0));
        let ends = limit("end_frame").unwrap_or(f64::from(shot.1)).min(f64::from(shot.1));
        let is_on = |name, frame| first(node, name, frame).is_none_or(|on| on != 0.0);
        let frames = || (0..).map(|n| begins + f64::from(n)).take_while(|f| *f < ends);
        let mut run = Self {
            name: node.name.clone(),
            regions: Vec::new(),
            velocity: DVec3::ZERO,
            fills: 0.0,
            drives: 0.0,
            open: (begins, ends),
        };
        let Some(opens) = frames().find(|&f| is_on("active", f)) else { return Ok(run) };
        for &input in &node.inputs {
            run.regions.push(evaluator.evaluate(network, input, opens, 0.0, 0.0)?);
        }
        let velocity = |frame| match node.params.get("velocity").map(|v| v.at(frame)) {
            Some(Value::Numbers(v)) => <[f64; 3]>::try_from(v).map_or(DVec3::ZERO, DVec3::from_array),
            _ => DVec3::ZERO,
        };
        let open = frames().filter(|&f| is_on("active", f) && is_on("drive", f));
        let flux = |frame| run.regions.iter().map(|g| across(g, velocity(frame))).sum::<f64>();
        let is_constant = node.params.get("velocity").is_none_or(|v| matches!(v, Animated::Constant(_)));
        let drives: f64 = match is_constant {
            true => flux(begins) * open.count() as f64,
            false => open.map(flux).sum(),
        };
        run.drives = drives / fps;
        run.fills = run.regions.iter().map(|g| volume(g)).sum();
        run.velocity = if is_on("drive", opens) { velocity(opens) } else { DVec3::ZERO };
        run.open.0 = opens;
        Ok(run)
    }

    /// Whether both run at some time.
    fn meets(&self, other: &Self) -> bool {
        self.open.0 < other.open.1 && other.open.0 < self.open.1
    }
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

/// The volume that closed triangles enclose, m³.
fn volume(g: &Geometry) -> f64 {
    corners(g).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum::<f64>().abs()
}

/// What goes through their projection along a velocity, m³/s.
fn across(g: &Geometry, velocity: DVec3) -> f64 {
    corners(g).map(|[a, b, c]| 0.25 * (b - a).cross(c - a).dot(velocity).abs()).sum()
}
