//! The output nodes of a cook.

use super::cook_options::{CookError, CookOptions};
use super::extent::extents;
use super::listed::Listed;
use super::plan::offer;
use super::simulation::Simulation;
use super::upstream::upstream;
use crate::data::Scene;
use crate::files::is_link;
use crate::graph::{Bound, Network, Problem};
use crate::node::{NodeKind, Params};
use crate::output::{self, Offer, Output, Shot, Volume};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The running output nodes.
#[derive(Default)]
pub(super) struct Outputs {
    nodes: Vec<Node>,
}

struct Node {
    index: usize,
    name: String,
    folder: PathBuf,
    writer: Box<dyn Output + Send>,
    offer: Offer,
    /// Names of its files, `$F4` for the frame.
    files: Vec<String>,
}

/// The data of one frame for the output nodes. Its scenes share their arrays with the simulation.
pub(super) struct View {
    pub(super) number: i32,
    fps: f64,
    nodes: Vec<(Scene, Params)>,
}

/// A name that a list has twice, if any.
fn repeated(names: &[String]) -> Option<&str> {
    let mut seen = std::collections::BTreeSet::new();
    names.iter().find(|name| !seen.insert(name.as_str())).map(String::as_str)
}

impl Outputs {
    /// Makes the output nodes; `frames` are those to be written, and `halt` says when nobody waits for them any more.
    pub(super) fn new(
        simulation: &mut Simulation,
        options: &CookOptions,
        frames: (i32, i32),
        halt: &Arc<AtomicBool>,
    ) -> Result<Self, CookError> {
        let network = simulation.network;
        let volumes = volumes(simulation);
        let mut nodes = Vec::new();
        for (i, node) in network.nodes.iter().enumerate() {
            if node.node_type.kind != NodeKind::Output || node.bypass {
                continue;
            }
            let shot = Shot {
                frames,
                fps: network.settings.fps,
                threads: options.manner.threads,
                halt: halt.clone(),
                params: node.params_at(f64::from(frames.1)),
                extents: extents(network, &mut simulation.evaluator, i),
                still: still(simulation, i),
                made_of: made_of(network),
                volumes: volumes.clone(),
            };
            let writer = output::create(&node.node_type.id, shot).ok_or_else(|| {
                Problem::node(&node.name, format!("`{}` writes nothing here", node.node_type.id))
            })?;
            let offer = offer(network, &simulation.plan, i).unwrap_or_default();
            let files =
                writer.files(&node.name, &node.params_at(f64::from(network.settings.frames.0)), &offer);
            if let Some(twice) = repeated(&files) {
                let sentence =
                    format!("`{twice}` would be written by two objects: give one of them another name");
                return Err(Problem::node(&node.name, sentence).into());
            }
            let folder = options.out.join(&node.name);
            nodes.push(Node { index: i, name: node.name.clone(), folder, writer, offer, files });
        }
        Ok(Self { nodes })
    }

    /// Every file that may be written for these frames.
    pub(super) fn listed(&self, frames: (i32, i32)) -> Vec<Listed> {
        let of_node = |n: &Node| {
            n.files.iter().map(|f| Listed::new(&format!("{}/{f}", n.name), frames)).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of_node).collect()
    }

    /// Makes the folders, and removes temporary files of killed writers from them.
    pub(super) fn make_folders(&self) -> Result<(), CookError> {
        for node in &self.nodes {
            std::fs::create_dir_all(&node.folder).map_err(|e| {
                let shown = node.folder.display();
                Problem::node(&node.name, format!("cannot make the folder {shown}: {e}"))
            })?;
            if !is_link(&node.folder) {
                crate::files::clear_temporaries(&node.folder);
            }
        }
        Ok(())
    }

    /// What is to be written of the frame where the clock stands.
    pub(super) fn look(&self, simulation: &mut Simulation) -> Result<View, CookError> {
        let network = simulation.network;
        let number = simulation.state().clock.frame;
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let params = network.nodes[node.index].params_at(f64::from(number));
            nodes.push((simulation.scene(node.index)?, params));
        }
        Ok(View { number, fps: network.settings.fps, nodes })
    }

    /// Writes a frame.
    pub(super) fn write(&mut self, view: &View) -> Result<Vec<PathBuf>, CookError> {
        let mut files = Vec::new();
        for (node, (scene, params)) in self.nodes.iter_mut().zip(&view.nodes) {
            let frame = output::Frame {
                number: view.number,
                fps: view.fps,
                node: &node.name,
                scene,
                offer: &node.offer,
                params,
                folder: &node.folder,
            };
            let written = node.writer.write(&frame).map_err(|e| e.of(&node.name))?;
            node.replace_frame(view.number, &written)?;
            files.extend(written);
        }
        Ok(files)
    }

    /// The last frame is written.
    pub(super) fn finish(&mut self) -> Result<(), CookError> {
        for node in &mut self.nodes {
            node.writer.finish(&node.folder, &node.name).map_err(|e| e.of(&node.name))?;
        }
        Ok(())
    }
}

/// The grids that the output nodes of a graph write to VDB files.
fn volumes(simulation: &Simulation) -> Vec<Volume> {
    let network = simulation.network;
    let first = f64::from(network.settings.frames.0);
    let writers = network.nodes.iter().enumerate();
    let writers = writers.filter(|(_, n)| n.node_type.kind == NodeKind::Output && !n.bypass);
    let of_writer = |(i, node): (usize, &Bound)| {
        let offer = offer(network, &simulation.plan, i).unwrap_or_default();
        output::volumes(&node.node_type.id, &node.name, &node.params_at(first), &offer)
    };
    writers.flat_map(of_writer).collect()
}

/// Each object with the geometry nodes that it is made of, directly or not.
fn made_of(network: &Network) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for object in network.nodes.iter().filter(|n| n.node_type.kind == NodeKind::Object) {
        let (mut open, mut seen) = (object.inputs.clone(), BTreeSet::new());
        while let Some(i) = open.pop() {
            let node = &network.nodes[i];
            if node.node_type.kind == NodeKind::Geometry && seen.insert(i) {
                found.push((object.name.clone(), node.name.clone()));
                open.extend(&node.inputs);
            }
        }
    }
    found
}

/// The geometry nodes upstream of a node whose geometry never changes.
fn still(simulation: &Simulation, node: usize) -> Vec<String> {
    let network = simulation.network;
    let is_still =
        |i: &usize| network.nodes[*i].node_type.kind == NodeKind::Geometry && !simulation.evaluator.moves(*i);
    upstream(network, node).into_iter().filter(is_still).map(|i| network.nodes[i].name.clone()).collect()
}

impl Node {
    /// Removes files of this frame that an earlier cook wrote and this one did not.
    fn replace_frame(&self, number: i32, written: &[PathBuf]) -> Result<(), CookError> {
        // What a link leads to is not this cook's.
        if is_link(&self.folder) {
            return Ok(());
        }
        let of_frame = self.files.iter().filter(|f| f.contains(output::FRAME));
        for path in of_frame.map(|f| self.folder.join(output::file_name(f, number))) {
            if !written.contains(&path) && path.is_file() {
                std::fs::remove_file(&path).map_err(|e| {
                    Problem::node(&self.name, format!("cannot remove {}: {e}", path.display()))
                })?;
            }
        }
        Ok(())
    }
}
