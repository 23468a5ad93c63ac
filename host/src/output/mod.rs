//! Output nodes: what leaves the host as files.

mod atomic;
mod geo_json;
mod geometry_cache;
#[cfg(test)]
mod test_scene;
mod vdb_cache;
mod vdb_grid;

use crate::data::Scene;
use crate::node::{NodeType, Params};
use std::path::{Path, PathBuf};

/// One finished frame as an output node sees it.
pub struct Frame<'a> {
    /// The shot's own frame number.
    pub number: i32,
    /// Frames per second.
    pub fps: f64,
    /// Name of the output node; files are called `<node>.<frame, 4 digits>.<extension>`.
    pub node: &'a str,
    /// The objects upstream of the node.
    pub scene: &'a Scene,
    /// The node's parameters at this frame.
    pub params: &'a Params,
    /// Folder of this node's files, already made: `<out>/<node>`.
    pub folder: &'a Path,
}

impl Frame<'_> {
    /// Path of this frame's file of an output called `stem`: the number last, at least four digits.
    fn file(&self, stem: &str, extension: &str) -> PathBuf {
        let sign = if self.number < 0 { "-" } else { "" };
        self.folder.join(format!("{stem}.{sign}{:04}.{extension}", self.number.unsigned_abs()))
    }
}

/// Why a frame could not be written: one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OutputError(pub String);

/// An output node at work. It may keep what a last file needs (a contact sheet), but nothing that a resumed
/// cook would miss: after a resume only the later frames are handed over.
pub trait Output {
    /// Writes the files of one frame (temporary name, then rename) and says which.
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError>;

    /// Called once when the last frame is written.
    fn finish(&mut self, folder: &Path, node: &str) -> Result<Vec<PathBuf>, OutputError>;
}

/// The output node types of the host.
pub fn types() -> Vec<NodeType> {
    vec![vdb_cache::node_type(), geometry_cache::node_type()]
}

/// An output node of that type, or `None` when there is no such type.
pub fn create(type_id: &str) -> Option<Box<dyn Output>> {
    match type_id.strip_prefix("meniscus.").unwrap_or(type_id) {
        "vdb_cache" => Some(Box::new(vdb_cache::VdbCache)),
        "geometry_cache" => Some(Box::new(geometry_cache::GeometryCache)),
        _ => None,
    }
}

/// What the caches write as `creator`.
fn creator() -> String {
    format!("Meniscus {}", env!("CARGO_PKG_VERSION"))
}
