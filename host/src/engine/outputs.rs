//! The output nodes of a cook.

use super::cook::{CookError, CookOptions};
use super::extent::extents;
use super::simulation::Simulation;
use crate::graph::Problem;
use crate::node::NodeKind;
use crate::output::{self, Output, Shot};
use std::path::PathBuf;

/// The output nodes at work.
#[derive(Default)]
pub(super) struct Outputs {
    nodes: Vec<Node>,
}

struct Node {
    index: usize,
    name: String,
    folder: PathBuf,
    writer: Box<dyn Output>,
}

impl Outputs {
    /// Makes the output nodes and their folders; `frames` are those to be written.
    pub(super) fn new(
        simulation: &mut Simulation,
        options: &CookOptions,
        frames: (i32, i32),
    ) -> Result<Self, CookError> {
        let network = simulation.network;
        let mut nodes = Vec::new();
        for (i, node) in network.nodes.iter().enumerate() {
            if node.node_type.kind != NodeKind::Output || node.bypass {
                continue;
            }
            let shot = Shot {
                frames,
                threads: options.threads,
                params: node.params_at(f64::from(frames.1)),
                extents: extents(network, &mut simulation.evaluator, i),
            };
            let writer = output::create(&node.node_type.id, shot).ok_or_else(|| {
                Problem::node(&node.name, format!("`{}` writes nothing here", node.node_type.id))
            })?;
            let folder = options.out.join(&node.name);
            std::fs::create_dir_all(&folder).map_err(|e| {
                Problem::node(&node.name, format!("cannot make the folder {}: {e}", folder.display()))
            })?;
            nodes.push(Node { index: i, name: node.name.clone(), folder, writer });
        }
        Ok(Self { nodes })
    }

    /// Writes the frame where the clock stands.
    pub(super) fn write(&mut self, simulation: &mut Simulation) -> Result<Vec<PathBuf>, CookError> {
        let mut files = Vec::new();
        let network = simulation.network;
        for node in &mut self.nodes {
            let scene = simulation.scene(node.index)?;
            let number = simulation.state().clock.frame;
            let params = network.nodes[node.index].params_at(f64::from(number));
            let frame = output::Frame {
                number,
                fps: network.settings.fps,
                node: &node.name,
                scene: &scene,
                params: &params,
                folder: &node.folder,
            };
            files.extend(node.writer.write(&frame).map_err(|e| e.of(&node.name))?);
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
