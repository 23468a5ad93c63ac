//! `usd_shot`: the shot as one USD file that opens in any tool, over a layer for each frame.
//!
//! `<node>.usda` holds prims, materials, a camera and which files belong to which frame. Points and polygons of a frame are in
//! `<node>.<frame>.usdc`, meshes that only move in `<node>_<object>.usdc`, grids in the files of the graph's VDB caches. All
//! paths are relative. The shot's layer is written anew with each frame, after the frame's own, so that it opens at any time.

mod binary;
mod layer;
mod look;
mod parts;
mod samples;
mod stage;
mod text;
mod value;

use super::pattern::Pattern;
use super::{FRAME, Frame, Offer, Output, OutputError, Shot, file_name, framing, go_on, save};
use crate::node::{NodeKind, NodeType, ParamSpec, Params};
use parts::Parts;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the list of parts is called in the shot's layer.
const PARTS: &str = "meniscusParts";
/// The mesh in a layer that bodies or all frames share.
const REST: &str = "geometry";
/// Most bytes of a shot's layer that are read.
const LARGEST: u64 = 1 << 28;

/// The node at work. What it keeps from frame to frame it finds in its files when a cook is resumed.
pub struct UsdShot {
    shot: Shot,
    /// The parts of the frames so far.
    parts: Option<Parts>,
    /// Stamps of the meshes that are written, by object.
    rest: BTreeMap<String, Vec<u64>>,
}

/// Its description.
pub fn node_type() -> NodeType {
    let help = "Writes the shot as USD: one small file (.usda) to open, over one file of points and polygons (.usdc) per frame. It \
                points at the files of the graph's VDB caches. Units are metres and seconds.";
    NodeType::host("meniscus.usd_shot", "USD Shot", NodeKind::Output, (1, None), help).with(parameters())
}

fn parameters() -> Vec<ParamSpec> {
    let fixed = |spec: ParamSpec| ParamSpec { animatable: false, ..spec };
    let mut all = vec![
        ParamSpec::names(
            "objects",
            "Objects",
            "*",
            "Objects in the shot, by name. * stands for any part of a name; ^ before a name leaves it out. A geometry node that is wired in counts as one: so the glass around a liquid comes along.",
        ),
        ParamSpec::toggle("surfaces", "Surfaces", true, "On: the surfaces of liquids are in the shot as polygons, one point in each voxel that they cross. Where a mesh of a liquid is wired in, that takes their place."),
        ParamSpec::texts(
            "geometry",
            "Geometry",
            &[],
            "Names of the geometry in the shot; empty: the results of the nodes, of a liquid particles and bubbles. Bodies are always there: each moves a mesh that is written once.",
        ),
        ParamSpec::names(
            "volumes",
            "Volumes",
            "*",
            "VDB caches of the graph whose grids are in the shot, by the names of their nodes. * stands for any part of a name; ^ before a name leaves it out; empty: none.",
        ),
        ParamSpec::number(
            "point_width",
            "Point Width",
            &[0.0],
            "m",
            "Diameter of points that have no pscale. Higher: larger drops. 0: the distance between the particles of their object.",
        )
        .within(Some(0.0), None),
        ParamSpec::names(
            "glass",
            "Glass",
            "",
            "Bodies and geometry nodes that look like clear glass, by their name or that of a solid made of them; the others are matte. * stands for any part of a name; ^ before a name leaves it out; empty: none.",
        ),
        ParamSpec::menu(
            "up_axis",
            "Up Axis",
            &[("y", "Y"), ("z", "Z")],
            "Axis that points up in the shot. Z: the whole shot is turned by 90 degrees about X, VDB files included.",
        ),
    ];
    all.extend(framing::parameters());
    all.into_iter().map(fixed).collect()
}

/// Refuses names that choose nothing, and objects whose prims would have one name.
pub(super) fn check(params: &Params, offer: &Offer) -> Result<(), OutputError> {
    let pattern = Pattern::new(params.text("objects"));
    let names: Vec<&str> = offer.objects.iter().map(|o| o.object.as_str()).collect();
    let chosen: Vec<&str> = names.iter().copied().filter(|name| pattern.matches(name)).collect();
    if chosen.is_empty() {
        return Err(OutputError::param("objects", Offer::no_such_name(&names)));
    }
    for (n, name) in chosen.iter().enumerate() {
        if let Some(other) = chosen[..n].iter().find(|other| identifier(other) == identifier(name)) {
            return Err(OutputError::new(format!(
                "`{other}` and `{name}` are both called {} in USD, which has no -: rename one of them",
                identifier(name)
            )));
        }
        let taken = [look::MATERIALS, look::CAMERA].contains(&identifier(name).as_str());
        if taken {
            let sentence =
                format!("an object cannot be called `{name}` in a USD shot, which has its own: rename it");
            return Err(OutputError::new(sentence));
        }
    }
    let known = offer.geometry();
    let unknown = params.texts("geometry").iter().find(|name| !known.contains(&name.as_str()));
    let refuse = |name: &String| OutputError::param("geometry", Offer::unknown("geometry", name, &known));
    unknown.map_or(Ok(()), |name| Err(refuse(name)))
}

impl UsdShot {
    /// A node for a shot.
    pub fn new(shot: Shot) -> Self {
        Self { shot, parts: None, rest: BTreeMap::new() }
    }

    /// The parts of the frames before; where the cook goes on from, they are listed in the shot's layer.
    fn known(&mut self, frame: &Frame) -> Parts {
        let read = || {
            let bytes = crate::files::read_file(&shot_file(frame), LARGEST).ok()?;
            text::texts_of(&String::from_utf8_lossy(&bytes), PARTS).map(|texts| Parts::from_texts(&texts))
        };
        let before = self.parts.take();
        let begins = frame.number == self.shot.frames.0;
        before.or_else(|| if begins { None } else { read() }).unwrap_or_default()
    }

    /// Writes the meshes that only move, where they are not there yet.
    fn write_rest(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let mut written = Vec::new();
        for shared in parts::shared(frame, &self.shot) {
            let path = frame.folder.join(rest_name(frame.node, shared.object));
            let values = shared.mesh.attributes.iter().map(|a| a.value_id);
            let stamps: Vec<u64> = values.chain([shared.mesh.topology_id]).collect();
            if self.rest.get(shared.object) != Some(&stamps) {
                save(&path, &binary::bytes(&samples::rest(&shared)?)?)?;
                self.rest.insert(shared.object.to_owned(), stamps);
            }
            written.push(path);
            if let Some(number) = shared.bodies {
                let is_glass = self.shot.names(&Pattern::new(frame.params.text("glass")), shared.object);
                let path = frame.folder.join(body_name(frame.node, shared.object));
                let mesh = format!("./{}", rest_name(frame.node, shared.object));
                save(&path, &text::bytes(&look::body(shared.object, &mesh, number, is_glass)))?;
                written.push(path);
            }
        }
        Ok(written)
    }
}

impl Output for UsdShot {
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let mut parts = self.known(frame);
        let mut present = parts::present(frame, &self.shot, &parts);
        // A name stands for the kind of part that it was first.
        present.retain(|p| *parts.0.entry(p.key.clone()).or_insert(p.kind) == p.kind);
        go_on(&self.shot.halt)?;
        let root = identifier(frame.node);
        let samples = samples::layer(&root, frame.number, &present, self.shot.threads)?;
        go_on(&self.shot.halt)?;
        let path = frame.file(frame.node, "usdc");
        save(&path, &binary::bytes(&samples)?)?;
        let mut written = vec![path];
        written.extend(self.write_rest(frame)?);
        let frames = frames_there(frame, self.shot.frames.0);
        let stage = stage::Stage { frame, shot: &self.shot, frames: &frames, parts: &parts };
        for (path, layer) in [(manifest_file(frame), stage.manifest()), (shot_file(frame), stage.layer())] {
            save(&path, &text::bytes(&layer))?;
            written.push(path);
        }
        self.parts = Some(parts);
        Ok(written)
    }

    fn files(&self, node: &str, _params: &Params, offer: &Offer) -> Vec<String> {
        let mut files = vec![format!("{node}.usda"), manifest_name(node), format!("{node}.{FRAME}.usdc")];
        files.extend(offer.objects.iter().map(|o| rest_name(node, &o.object)));
        files.extend(offer.objects.iter().map(|o| body_name(node, &o.object)));
        files
    }
}

/// The frames up to this one whose layers are there.
fn frames_there(frame: &Frame, first: i32) -> Vec<i32> {
    let pattern = format!("{}.{FRAME}.usdc", frame.node);
    let is_there = |n: &i32| frame.folder.join(file_name(&pattern, *n)).is_file();
    (first..=frame.number).filter(is_there).collect()
}

fn shot_file(frame: &Frame) -> PathBuf {
    frame.folder.join(format!("{}.usda", frame.node))
}

fn manifest_file(frame: &Frame) -> PathBuf {
    frame.folder.join(manifest_name(frame.node))
}

fn manifest_name(node: &str) -> String {
    format!("{node}.manifest.usda")
}

/// Name of the file with the mesh that the bodies of an object share.
fn rest_name(node: &str, object: &str) -> String {
    format!("{node}_{object}.usdc")
}

/// Name of the file with what all bodies of an object are: that mesh, with its material.
fn body_name(node: &str, object: &str) -> String {
    format!("{node}_{object}.usda")
}

/// A node's name as USD names prims: letters, digits and _, no digit first.
fn identifier(name: &str) -> String {
    let plain = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain }
}
