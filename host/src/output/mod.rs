//! Output nodes: they write files.

mod caption;
mod drawn;
mod foam;
mod framing;
mod geo_json;
pub(crate) mod geo_read;
mod geometry_cache;
mod mesh_cache;
mod moving;
mod pattern;
mod picture;
mod preview;
pub(crate) mod seal;
mod sheet;
mod surface;
#[cfg(test)]
mod test_scene;
mod usd;
mod vdb_cache;
mod vdb_grid;

pub use framing::Bounds;
pub use pattern::Pattern;
pub use sheet::{Row, side_by_side};

use crate::data::{Drawn, Scene, Shown};
use crate::graph::Problem;
use crate::node::{Carries, NodeType, Params};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The shot as an output node knows it from the start; the same when a cook is resumed.
#[derive(Clone, Debug)]
pub struct Shot {
    /// First and last frame to be written.
    pub frames: (i32, i32),
    /// Frames per second.
    pub fps: f64,
    /// Threads the node may use; its files do not depend on it.
    pub threads: u32,
    /// The node's parameters at the last frame.
    pub params: Params,
    /// True as soon as nobody waits for the file any more; long writes check it.
    pub halt: Arc<AtomicBool>,
    /// Name and bounds of the objects upstream: as they begin and, if they move by themselves, everywhere they go.
    pub extents: Vec<(String, Bounds)>,
    /// Geometry nodes upstream whose geometry never changes.
    pub still: Vec<String>,
    /// Each object with the geometry nodes that it is made of.
    pub made_of: Vec<(String, String)>,
    /// Grids that the VDB caches of the graph write.
    pub volumes: Vec<Volume>,
}

impl Shot {
    /// Whether a pattern names an object, what it is made of, or what is made of it: a glass has two names, that of its mesh and that of the
    /// solid.
    fn names(&self, pattern: &Pattern, name: &str) -> bool {
        let mut all = vec![name];
        for (object, geometry) in &self.made_of {
            all.extend((object == name).then_some(geometry.as_str()));
            all.extend((geometry == name).then_some(object.as_str()));
        }
        pattern.matches_any(&all)
    }
}

/// A grid in the files of a VDB cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// Name of the cache's node.
    pub cache: String,
    /// The files, from the folder of another node; [`FRAME`] stands for the frame's number.
    pub file: String,
    /// The object.
    pub object: String,
    /// Name of the grid at its object.
    pub grid: String,
    /// Its name in the files.
    pub stored: String,
    /// It is stored on faces.
    pub staggered: bool,
}

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
    /// What any of them has at any time; names of files and grids follow from it, so that they stay.
    pub offer: &'a Offer,
    /// The node's parameters at this frame.
    pub params: &'a Params,
    /// Folder of this node's files, already made: `<out>/<node>`.
    pub folder: &'a Path,
}

impl Frame<'_> {
    /// Path of this frame's file of an output called `stem`.
    fn file(&self, stem: &str, extension: &str) -> PathBuf {
        file_of(self.folder, stem, self.number, extension)
    }
}

/// Path of a frame's file: the number last, at least four digits.
fn file_of(folder: &Path, stem: &str, number: i32, extension: &str) -> PathBuf {
    folder.join(file_name(&format!("{stem}.{FRAME}.{extension}"), number))
}

/// Stands for the frame's number in names of files.
pub const FRAME: &str = "$F4";

/// A frame's file by the name that has [`FRAME`] in it.
pub fn file_name(pattern: &str, number: i32) -> String {
    let sign = if number < 0 { "-" } else { "" };
    pattern.replacen(FRAME, &format!("{sign}{:04}", number.unsigned_abs()), 1)
}

/// The frame that a file of such a name belongs to.
pub fn frame_of(pattern: &str, name: &str) -> Option<i32> {
    let (before, after) = pattern.split_once(FRAME)?;
    let number = name.strip_prefix(before)?.strip_suffix(after)?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    number.parse().ok().filter(|_| plain)
}

/// Why a file could not be written: one sentence, without the node's name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{sentence}")]
pub struct OutputError {
    /// The parameter that is to blame, if one is.
    pub param: Option<&'static str>,
    /// What went wrong.
    pub sentence: String,
}

impl OutputError {
    fn new(sentence: impl Into<String>) -> Self {
        Self { param: None, sentence: sentence.into() }
    }

    /// The problem of the node of that name.
    pub fn of(self, node: &str) -> Problem {
        match self.param {
            Some(param) => Problem::param(node, param, self.sentence),
            None => Problem::node(node, self.sentence),
        }
    }

    /// Nobody waits for the file any more; not to be shown.
    fn halted() -> Self {
        Self::new("it was broken off")
    }

    fn param(param: &'static str, sentence: impl Into<String>) -> Self {
        Self { param: Some(param), sentence: sentence.into() }
    }
}

/// An output node at work. It keeps nothing from frame to frame: after a resume only the later frames are
/// handed over, and every file must come out the same.
pub trait Output {
    /// Writes the files of one frame (temporary name, then rename) and says which.
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError>;

    /// Names of all files that a node of that name may ever write, [`FRAME`] for the frame's number.
    fn files(&self, node: &str, params: &Params, offer: &Offer) -> Vec<String>;

    /// Called once when the last frame is written, by this cook or by the one that is resumed.
    fn finish(&mut self, _folder: &Path, _node: &str) -> Result<Vec<PathBuf>, OutputError> {
        Ok(Vec::new())
    }
}

/// What the objects upstream of an output node have now or will have: every name that a node which runs says it
/// writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offer {
    /// The objects, in graph order.
    pub objects: Vec<Offered>,
}

/// What one object has now or will have; names are sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offered {
    /// The object's name.
    pub object: String,
    /// It is a geometry node, which nothing simulates.
    pub is_mesh: bool,
    /// Grids.
    pub grids: Vec<String>,
    /// Particles, bubbles, meshes.
    pub geometry: Vec<String>,
    /// Those of them that caches write unless their user names something else, in order.
    pub results: Vec<String>,
    /// What its data is, by name.
    pub about: BTreeMap<String, About>,
    /// Distance between its particles as they begin, m.
    pub separation: Option<f64>,
    /// The liquids that it holds a mesh of, made by a node.
    pub meshes: Vec<String>,
}

/// What data is, as descriptors say.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// What it holds.
    pub carries: Carries,
    /// What it is to output nodes.
    pub shown: Shown,
    /// Its unit.
    pub unit: String,
}

impl Offered {
    /// Whether some of its data is drawn as a liquid.
    fn is_liquid(&self, name: &str) -> bool {
        self.about.get(name).is_some_and(|about| about.shown.drawn == Some(Drawn::Liquid))
    }
}

impl Offer {
    /// Whether a mesh among what is chosen stands for the level set of a liquid: then that is left out.
    fn is_meshed(&self, liquid: &str, is_chosen: impl Fn(&Offered) -> bool) -> bool {
        self.objects.iter().any(|o| o.meshes.iter().any(|meshed| meshed == liquid) && is_chosen(o))
    }

    /// Every grid that any object has, sorted.
    fn grids(&self) -> Vec<&str> {
        names(self.objects.iter().flat_map(|o| &o.grids))
    }

    /// All geometry that any object has, sorted.
    fn geometry(&self) -> Vec<&str> {
        names(self.objects.iter().flat_map(|o| &o.geometry))
    }

    /// The names that were given, or without any the results among what the objects have of a kind.
    fn wanted<'a>(&'a self, given: &'a [String], of: impl Fn(&Offered) -> &Vec<String>) -> Vec<&'a str> {
        if !given.is_empty() {
            return given.iter().map(String::as_str).collect();
        }
        let mut wanted: Vec<&str> = Vec::new();
        for object in &self.objects {
            let results = object.results.iter().filter(|name| of(object).contains(name));
            results.for_each(|name| {
                if !wanted.contains(&name.as_str()) {
                    wanted.push(name)
                }
            });
        }
        wanted
    }

    /// The object and the name of all geometry that a node with a parameter `geometry`, and perhaps `objects`, writes.
    pub fn written<'a>(&'a self, params: &'a Params) -> Vec<(&'a str, &'a str)> {
        let wanted = self.wanted(params.texts("geometry"), |o| &o.geometry);
        let objects = params.values.contains_key("objects").then(|| Pattern::new(params.text("objects")));
        let is_chosen = |o: &&Offered| objects.as_ref().is_none_or(|pattern| pattern.matches(&o.object));
        let of = |o: &'a Offered| {
            let has = move |name: &&str| o.geometry.iter().any(|own| own == name);
            wanted.clone().into_iter().filter(has).map(|name| (o.object.as_str(), name))
        };
        self.objects.iter().filter(is_chosen).flat_map(of).collect()
    }

    /// True when two objects have such data at some time, so that its name alone does not say whose it is.
    fn is_shared(&self, has: impl Fn(&Offered) -> bool) -> bool {
        self.objects.iter().filter(|o| has(o)).count() > 1
    }

    /// The sentence where no name was given and nothing is a result.
    fn nothing(what: &str, known: &[&str]) -> String {
        let known = if known.is_empty() {
            "there is none at all".into()
        } else {
            format!("there are {}", known.join(", "))
        };
        format!("no {what} is named, and none upstream is a result of its node; {known}")
    }

    /// The sentence for a pattern that chooses none of these objects.
    fn no_such_name(objects: &[&str]) -> String {
        format!("no object has such a name; there are {}", objects.join(", "))
    }

    /// The sentence for a name that none of `known` is.
    fn unknown(what: &str, name: &str, known: &[&str]) -> String {
        let known = if known.is_empty() { "none at all".into() } else { known.join(", ") };
        format!("no object upstream has {what} `{name}`; there are {known}")
    }
}

fn names<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    all.map(String::as_str).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Refuses an output node that asks for what nobody upstream ever has.
pub fn check(type_id: &str, params: &Params, offer: &Offer) -> Result<(), OutputError> {
    match bare(type_id) {
        "vdb_cache" => vdb_cache::check(params, offer),
        "geometry_cache" => geometry_cache::check(params, offer),
        "mesh_cache" => mesh_cache::check(offer),
        "preview" => preview::check(params, offer),
        "usd_shot" => usd::check(params, offer),
        _ => Ok(()),
    }
}

/// The output node types of the host.
pub fn types() -> Vec<NodeType> {
    vec![
        vdb_cache::node_type(),
        geometry_cache::node_type(),
        mesh_cache::node_type(),
        preview::node_type(),
        usd::node_type(),
    ]
}

/// An output node of that type, or `None` when there is no such type.
pub fn create(type_id: &str, shot: Shot) -> Option<Box<dyn Output + Send>> {
    match bare(type_id) {
        "vdb_cache" => Some(Box::new(vdb_cache::VdbCache)),
        "geometry_cache" => Some(Box::new(geometry_cache::GeometryCache)),
        "mesh_cache" => Some(Box::new(mesh_cache::MeshCache::new(shot))),
        "preview" => Some(Box::new(preview::Preview::new(shot))),
        "usd_shot" => Some(Box::new(usd::UsdShot::new(shot))),
        _ => None,
    }
}

/// The grids that a node of that type and name writes to VDB files.
pub fn volumes(type_id: &str, node: &str, params: &Params, offer: &Offer) -> Vec<Volume> {
    match bare(type_id) {
        "vdb_cache" => vdb_cache::volumes(node, params, offer),
        _ => Vec::new(),
    }
}

/// Pixels of the picture that a node of that type draws of a frame; `None` where it draws none.
pub fn pixels(type_id: &str, params: &Params) -> Option<f64> {
    (bare(type_id) == "preview").then(|| preview::pixels(params))
}

fn bare(type_id: &str) -> &str {
    type_id.strip_prefix("meniscus.").unwrap_or(type_id)
}

/// An error once nobody waits for the file any more.
fn go_on(halt: &AtomicBool) -> Result<(), OutputError> {
    if halt.load(Ordering::Relaxed) { Err(OutputError::halted()) } else { Ok(()) }
}

/// What the caches write as `creator`, before the version.
pub(crate) const CREATOR: &str = "Meniscus";

/// What the caches write as `creator`.
fn creator() -> String {
    format!("{CREATOR} {}", env!("CARGO_PKG_VERSION"))
}

/// Writes a file that is whole or not there.
fn save(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    crate::files::write_atomically(path, bytes)
        .map_err(|e| OutputError::new(format!("cannot write {}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_frames_are_read_as_they_are_written() {
        for n in [1, -12, 12345, 0] {
            assert_eq!(frame_of("a.b.$F4.vdb", &file_name("a.b.$F4.vdb", n)), Some(n));
        }
        assert_eq!(file_name("a.$F4.vdb", -12), "a.-0012.vdb");
        for other in ["a.vdb", "a.x.vdb", "a.+001.vdb", "a.1.vdb.tmp", "b.0001.vdb", "a.-.vdb"] {
            assert_eq!(frame_of("a.$F4.vdb", other), None, "{other}");
        }
        assert_eq!(frame_of("a_sheet.png", "a_sheet.png"), None);
    }
}
