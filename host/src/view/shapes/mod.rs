//! What the page draws: surfaces of level sets as meshes, points and meshes of geometry caches, and the solids of the
//! graph.
//!
//! A file is read in a process of its own with limited memory ([`answer`]), because a cook's folder may come from
//! anybody; the server keeps what it said ([`Store`]).

mod geometry;
mod packed;
mod scenery;
mod store;
mod surface;
mod volume;

pub use store::{Refused, Store};

use packed::Packed;
use std::path::Path;

/// Largest file that is read, bytes.
const LARGEST: u64 = 4 << 30;
/// Most bytes of one answer.
const LONGEST: u64 = 96 << 20;
/// Most triangles of one file's surfaces; more are made fewer by looking at every second voxel, every fourth, …
const TRIANGLES: usize = 400_000;
/// Most points of one file; of more, every so manyth is shown.
const POINTS: usize = 300_000;

/// The kinds of file that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Grids.
    Volume,
    /// Points or meshes.
    Geometry,
    /// A record, of whose graph the solids at a frame are drawn.
    Scenery(i32),
}

impl Kind {
    /// The kind of a file of that name.
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "vdb" => Some(Self::Volume),
            "geo" => Some(Self::Geometry),
            _ => None,
        }
    }

    /// Its words on the command line of the reading process.
    pub fn words(self) -> [String; 2] {
        let (word, frame) = match self {
            Self::Volume => ("vdb", 0),
            Self::Geometry => ("geo", 0),
            Self::Scenery(frame) => ("scenery", frame),
        };
        [word.to_owned(), format!("--frame={frame}")]
    }
}

/// What the reading process says: the shapes of a file of that kind, or why there are none.
pub fn answer(kind: &str, path: &Path, frame: i32) -> Vec<u8> {
    crate::process::apart::limit_memory(std::fs::metadata(path).map_or(0, |m| m.len()));
    let shapes = match kind {
        "vdb" => volume::shapes(path, TRIANGLES),
        "scenery" => scenery::shapes(path, frame, TRIANGLES),
        _ => geometry::shapes(path, TRIANGLES, POINTS),
    };
    shapes.unwrap_or_else(|why| Packed::default().refusal(&why))
}
