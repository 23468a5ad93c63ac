//! Estimates the liquid that sources will make, before anything is cooked.

use super::super::media::{separation, sources};
use super::super::plan::Plan;
use super::super::span::span;
use super::super::tank::Tank;
use super::claimed::{Claims, corners, left};
use crate::data::Geometry;
use crate::geometry::Evaluator;
use crate::graph::{Animated, Network, Problem};
use glam::DVec3;
use meniscus_abi::Means;
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
        let mut runs = Vec::new();
        for source in sources(network, solver) {
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
            let Some(separation) = separation(object) else { continue };
            for (n, run) in runs.iter().enumerate() {
                let before = runs[..n].iter().filter(|other| other.meets(run));
                let claims = Claims {
                    sources: before.flat_map(|other| &other.regions).map(|g| &**g).collect(),
                    solids: solids.iter().map(|g| &**g).collect(),
                    limits: Tank::of(&network.nodes[solver], f64::from(network.settings.frames.0))
                        .map(|tank| tank.limits()),
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
        let (begins, ends) = span(node, shot);
        let (begins, ends) = (f64::from(begins), f64::from(ends.min(shot.1)));
        let is_on = |means, frame| node.meant(means, frame).is_none_or(|on| on != 0.0);
        let frames = || (0..).map(|n| begins + f64::from(n)).take_while(|f| *f < ends);
        let mut run = Self {
            name: node.name.clone(),
            regions: Vec::new(),
            velocity: DVec3::ZERO,
            fills: 0.0,
            drives: 0.0,
            open: (begins, ends),
        };
        let Some(opens) = frames().find(|&f| is_on(Means::ACTIVE, f)) else { return Ok(run) };
        for &input in &node.inputs {
            run.regions.push(evaluator.evaluate(network, input, opens, 0.0, 0.0)?);
        }
        let velocity =
            |frame| node.meant_vector(Means::VELOCITY, frame).map_or(DVec3::ZERO, DVec3::from_array);
        let open = frames().filter(|&f| is_on(Means::ACTIVE, f) && is_on(Means::DRIVES, f));
        let flux = |frame| run.regions.iter().map(|g| across(g, velocity(frame))).sum::<f64>();
        let is_constant = node.meaning(Means::VELOCITY).is_none_or(|v| matches!(v, Animated::Constant(_)));
        let drives: f64 = match is_constant {
            true => flux(begins) * open.count() as f64,
            false => open.map(flux).sum(),
        };
        run.drives = drives / fps;
        run.fills = run.regions.iter().map(|g| volume(g)).sum();
        run.velocity = if is_on(Means::DRIVES, opens) { velocity(opens) } else { DVec3::ZERO };
        run.open.0 = opens;
        Ok(run)
    }

    /// Whether both run at some time.
    fn meets(&self, other: &Self) -> bool {
        self.open.0 < other.open.1 && other.open.0 < self.open.1
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
