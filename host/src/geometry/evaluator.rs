//! Evaluates geometry nodes at moments in time.

use super::matrix::Affine;
use super::motion::{Shape, with_motion};
use super::transform::Placement;
use super::{file, merge, primitives, revolve, transform};
use crate::data::Geometry;
use crate::graph::{Bound, Network, Problem};
use crate::node::{NodeKind, Params, Value};
use crate::text::number;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Part of a frame over which motion is measured where there is no substep (at the first frame).
const INSTANT: f64 = 1.0 / 1024.0;

/// The last result of a node, and the moment it was made for.
#[derive(Debug, Default)]
struct Memory {
    made_from: Option<(Params, Vec<Arc<Geometry>>)>,
    geometry: Option<Arc<Geometry>>,
    rest_from: Option<(Affine, Arc<Geometry>)>,
    rest: Option<Arc<Geometry>>,
    /// Its shapes now, before and after, and the shape now with its motion.
    moved: Option<[Arc<Geometry>; 4]>,
    /// Its shapes at the last frames, the newest first.
    shapes: [Option<(f64, Shape)>; 3],
}

/// Evaluates the geometry nodes of a network. It keeps what did not change, so that stamps stay equal.
#[derive(Debug)]
pub struct Evaluator {
    folder: PathBuf,
    fps: f64,
    /// A reader for every node that reads files.
    files: BTreeMap<usize, file::Reader>,
    memory: Vec<Memory>,
    /// Whether the geometry of each node changes over time.
    moves: Vec<bool>,
}

impl Evaluator {
    /// An evaluator; files are looked for relative to `folder`.
    pub fn new(network: &Network, folder: &Path) -> Self {
        let memory = network.nodes.iter().map(|_| Memory::default()).collect();
        let mut moves: Vec<bool> = Vec::with_capacity(network.nodes.len());
        for node in &network.nodes {
            // Inputs stand before the node.
            let moved = node.inputs.iter().any(|&i| moves.get(i) == Some(&true));
            moves.push(moved || (!node.bypass && moves_by_itself(node)));
        }
        let files = BTreeMap::new();
        Self { folder: folder.into(), fps: network.settings.fps, files, memory, moves }
    }

    /// Whether a node's geometry changes over time.
    pub fn moves(&self, node: usize) -> bool {
        self.moves.get(node) == Some(&true)
    }

    /// The files read so far: node, name as the graph gives it, hash of the bytes.
    pub fn files_read(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.files.iter().flat_map(|(&node, reader)| {
            reader.hashes().iter().map(move |(file, hash)| (node, file.as_str(), hash.as_str()))
        })
    }

    /// The geometry of a node at a frame number (fractions lie between frames). Its velocity is that of the `dt`
    /// seconds before; its next velocity is that of the `ahead` seconds after. With `ahead` 0, or where a sequence of
    /// files ends, the next velocity is that of before; with `dt` 0 (at the first frame) the velocity is that of after.
    pub fn evaluate(
        &mut self,
        network: &Network,
        node: usize,
        frame: f64,
        dt: f64,
        ahead: f64,
    ) -> Result<Arc<Geometry>, Problem> {
        if !self.moves[node] {
            return Ok(self.shape(network, node, frame)?.geometry);
        }
        let after = match ahead > 0.0 {
            true => self.shape(network, node, frame + ahead * self.fps).ok(),
            false => None,
        };
        let (now, other, step) = if dt > 0.0 {
            let before = self.shape(network, node, frame - dt * self.fps)?;
            (self.shape(network, node, frame)?, before, dt)
        } else {
            let now = self.shape(network, node, frame)?;
            let Ok(after) = self.shape(network, node, frame + INSTANT) else { return Ok(now.geometry) };
            (now, after, -INSTANT / self.fps)
        };
        let later = after.as_ref().unwrap_or(&other);
        if let Some([a, b, c, out]) = self.memory.get(node).and_then(|m| m.moved.as_ref())
            && [(a, &now), (b, &other), (c, later)].iter().all(|(kept, new)| Arc::ptr_eq(kept, &new.geometry))
        {
            return Ok(out.clone());
        }
        let out = Arc::new(with_motion(&now, &other, step, after.as_ref().map(|shape| (shape, ahead))));
        if let Some(m) = self.memory.get_mut(node) {
            let later = later.geometry.clone();
            m.moved = Some([now.geometry, other.geometry, later, out.clone()]);
        }
        Ok(out)
    }

    /// A node's shape at a frame; those of the nodes upstream are made first, however long the chain is.
    fn shape(&mut self, network: &Network, node: usize, frame: f64) -> Result<Shape, Problem> {
        let mut waiting = vec![node];
        while let Some(&at) = waiting.last() {
            let missing: Vec<usize> = match self.known_shape(at, frame) {
                Some(_) => Vec::new(),
                None => {
                    let inputs = network.nodes[at].inputs.iter();
                    inputs.copied().filter(|&i| self.known_shape(i, frame).is_none()).collect()
                }
            };
            if !missing.is_empty() {
                waiting.extend(missing.into_iter().rev());
                continue;
            }
            waiting.pop();
            if self.known_shape(at, frame).is_none() {
                let shape = self.shape_of(network, at, frame)?;
                let moment = self.moment(at, frame);
                let known = &mut self.memory[at].shapes;
                known.rotate_right(1);
                known[0] = Some((moment, shape));
            }
        }
        let known = self.known_shape(node, frame).cloned();
        known.ok_or_else(|| Problem::node(&network.nodes[node].name, "gave no geometry"))
    }

    /// A geometry at rest is the same at all frames.
    fn moment(&self, at: usize, frame: f64) -> f64 {
        if self.moves[at] { frame } else { 0.0 }
    }

    fn known_shape(&self, at: usize, frame: f64) -> Option<&Shape> {
        let moment = self.moment(at, frame);
        self.memory[at].shapes.iter().flatten().find(|(known, _)| *known == moment).map(|(_, shape)| shape)
    }

    /// A node's shape, made of those of its inputs.
    fn shape_of(&mut self, network: &Network, at: usize, frame: f64) -> Result<Shape, Problem> {
        let node = &network.nodes[at];
        let inputs: Vec<Shape> =
            node.inputs.iter().filter_map(|&i| self.known_shape(i, frame).cloned()).collect();
        if node.bypass {
            return Ok(inputs.into_iter().next().unwrap_or_else(|| Shape::still(self.empty(at))));
        }
        let params = node.params_at(frame);
        if node.node_type.id == "meniscus.transform" {
            return self.transformed(at, node, &params, inputs);
        }
        if only_moves(node) {
            return self.moved(at, node, params, frame);
        }
        let params = with_path(params, frame);
        let sources: Vec<Arc<Geometry>> = inputs.into_iter().map(|s| s.geometry).collect();
        if let Some(kept) = self.kept(at, &params, &sources) {
            return Ok(Shape::still(kept));
        }
        let geometry = self.make(at, node, &params, &sources, frame)?;
        check(node, &geometry)?;
        Ok(Shape::still(self.keep(at, params, sources, geometry)))
    }

    /// A shape of which only the middle and the turn change: made once about the origin, and moved rigidly.
    fn moved(&mut self, at: usize, node: &Bound, params: Params, frame: f64) -> Result<Shape, Problem> {
        let motion = primitives::placement(&params);
        let rest = match self.memory[at].rest.clone() {
            Some(rest) => rest,
            None => {
                let mut there = params.clone();
                let places = there.values.iter_mut().filter(|(name, _)| PLACED_BY.contains(&name.as_str()));
                places.for_each(|(_, value)| *value = Value::Numbers(vec![0.0; 3]));
                let rest = self.make(at, node, &there, &[], frame)?;
                self.memory[at].rest.insert(rest).clone()
            }
        };
        let geometry = match self.kept(at, &params, &[]) {
            Some(kept) => kept,
            None => {
                let geometry = Arc::new(transform::apply(&rest, &motion));
                check(node, &geometry)?;
                self.keep(at, params, Vec::new(), geometry)
            }
        };
        Ok(Shape { geometry, rigid: Some((rest, motion)) })
    }

    fn make(
        &mut self,
        at: usize,
        node: &Bound,
        params: &Params,
        inputs: &[Arc<Geometry>],
        frame: f64,
    ) -> Result<Arc<Geometry>, Problem> {
        let problem = |(param, e): (&str, String)| Problem::param(&node.name, param, e);
        Ok(match node.node_type.id.as_str() {
            "meniscus.box" => Arc::new(primitives::cuboid(params)),
            "meniscus.grid" => Arc::new(primitives::grid(params)),
            "meniscus.points" => Arc::new(primitives::points(params).map_err(|e| problem(("count", e)))?),
            "meniscus.sphere" => Arc::new(revolve::sphere(params)),
            "meniscus.tube" => Arc::new(revolve::tube(params).map_err(problem)?),
            "meniscus.file" => {
                let pattern = params.text("file");
                let reader = self.files.entry(at).or_default();
                reader.read(&self.folder, pattern, frame, self.fps).map_err(|e| problem(("file", e)))?
            }
            "meniscus.merge" => {
                let inputs: Vec<&Geometry> = inputs.iter().map(AsRef::as_ref).collect();
                Arc::new(merge::merge(&inputs).map_err(|e| Problem::node(&node.name, e))?)
            }
            other => return Err(Problem::node(&node.name, format!("`{other}` makes no geometry"))),
        })
    }

    /// A transform: rigid motion is kept apart from the constant part, so that rest positions keep their stamps.
    fn transformed(
        &mut self,
        at: usize,
        node: &Bound,
        params: &Params,
        inputs: Vec<Shape>,
    ) -> Result<Shape, Problem> {
        let Some(input) = inputs.into_iter().next() else {
            return Err(Problem::node(&node.name, "needs an input to transform"));
        };
        let place = Placement::of(params).map_err(|(p, e)| Problem::param(&node.name, p, e))?;
        let rigid = match (&input.rigid, place.rigid()) {
            (Some((rest, motion)), Some(map)) => Some((rest.clone(), motion.then(&map))),
            (None, _) if node.is_animated() && !swells(node) => {
                Some((self.rest(at, &place.rest(), &input.geometry), place.motion()))
            }
            _ => None,
        };
        let sources = vec![input.geometry.clone()];
        if let Some(kept) = self.kept(at, params, &sources) {
            return Ok(Shape { geometry: kept, rigid });
        }
        let geometry = Arc::new(match &rigid {
            Some((rest, motion)) => transform::apply(rest, motion),
            None => transform::apply(&input.geometry, &place.map()),
        });
        check(node, &geometry)?;
        Ok(Shape { geometry: self.keep(at, params.clone(), sources, geometry), rigid })
    }

    /// The constant part of a rigid motion, made once.
    fn rest(&mut self, at: usize, map: &Affine, input: &Arc<Geometry>) -> Arc<Geometry> {
        let memory = &mut self.memory[at];
        match (&memory.rest_from, &memory.rest) {
            (Some((m, i)), Some(rest)) if m == map && Arc::ptr_eq(i, input) => rest.clone(),
            _ => {
                let rest = Arc::new(transform::apply(input, map));
                memory.rest_from = Some((*map, input.clone()));
                memory.rest = Some(rest.clone());
                rest
            }
        }
    }

    fn empty(&mut self, at: usize) -> Arc<Geometry> {
        self.memory[at].geometry.get_or_insert_default().clone()
    }

    fn kept(&self, at: usize, params: &Params, inputs: &[Arc<Geometry>]) -> Option<Arc<Geometry>> {
        let memory = self.memory.get(at)?;
        let (p, i) = memory.made_from.as_ref()?;
        let same =
            p == params && i.len() == inputs.len() && i.iter().zip(inputs).all(|(a, b)| Arc::ptr_eq(a, b));
        memory.geometry.as_ref().filter(|_| same).cloned()
    }

    fn keep(
        &mut self,
        at: usize,
        params: Params,
        inputs: Vec<Arc<Geometry>>,
        g: Arc<Geometry>,
    ) -> Arc<Geometry> {
        self.memory[at].made_from = Some((params, inputs));
        self.memory[at].geometry = Some(g.clone());
        g
    }
}

/// True when a transform's scale or pivot changes over time.
fn swells(node: &Bound) -> bool {
    ["scale", "uniform_scale", "pivot"].iter().any(|p| node.params.get(*p).is_some_and(|v| v.is_animated()))
}

/// Where a node that makes a shape of its own puts it.
const PLACED_BY: [&str; 2] = ["center", "rotate"];

/// True when a node makes a shape of its own and nothing but its place changes over time.
fn only_moves(node: &Bound) -> bool {
    let places = |name: &str| PLACED_BY.contains(&name);
    let mut changing = node.params.iter().filter(|(_, value)| value.is_animated()).peekable();
    changing.peek().is_some() && changing.all(|(name, _)| places(name))
}

/// True when a node's geometry changes over time whatever its inputs do.
fn moves_by_itself(node: &Bound) -> bool {
    let sequence = matches!(node.params.get("file"), Some(crate::graph::Animated::Constant(Value::Text(t))) if t.contains("$F"));
    node.is_animated() || sequence
}

/// Puts the moment into the path of a mesh sequence, so that two moments are told apart.
fn with_path(mut params: Params, frame: f64) -> Params {
    if matches!(params.values.get("file"), Some(Value::Text(t)) if t.contains("$F")) {
        params.values.insert("frame".into(), Value::Numbers(vec![frame]));
    }
    params
}

fn check(node: &Bound, g: &Geometry) -> Result<(), Problem> {
    debug_assert_eq!(node.node_type.kind, NodeKind::Geometry);
    if let Some(defect) = g.defect() {
        return Err(Problem::node(&node.name, defect));
    }
    match g.positions().iter().flatten().find(|c| !c.is_finite() || c.abs() > super::FAR) {
        Some(c) => Err(Problem::node(
            &node.name,
            format!(
                "a point lies at {} m: positions must stay within {:e} m",
                number((*c).into()),
                super::FAR
            ),
        )),
        None => Ok(()),
    }
}
