//! The bytes that the output nodes will write.

use super::super::media::separation;
use super::super::plan::{Plan, offer};
use super::{ObjectEstimate, Start};
use crate::graph::{Bound, Network};
use crate::node::{Carries, NodeKind, PortOwner, PortSpec};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a level set in a file per voxel of its narrow band, compressed.
const FILE_BYTES: f64 = 3.0;
/// Bytes of a particle in a .geo text file.
const GEO_BYTES: f64 = 110.0;
/// Bytes of a particle in a USD file.
const USD_BYTES: f64 = 36.0;
/// Bytes of a liquid's surface in a mesh per voxel that it runs through at the start, grown to what a splash makes of it: in a .ply file,
/// as text in an .obj file, and in a USD file.
const PLY_BYTES: f64 = 120.0;
const OBJ_BYTES: f64 = 260.0;
const USD_MESH_BYTES: f64 = 110.0;
/// Bytes of a corner of a closed mesh and of its two triangles in a .geo text file.
const MESH_BYTES: f64 = 90.0;

/// What the output nodes of a graph write of its objects in a frame.
pub(super) struct Files {
    /// Bytes of a voxel.
    voxel: f64,
    /// Bytes of a voxel that a liquid's surface runs through.
    surface: f64,
    /// Bytes of a particle, by object.
    particles: BTreeMap<String, f64>,
    /// The objects of which a node writes other geometry as text.
    drawn: BTreeSet<String>,
}

impl Files {
    pub(super) fn of(network: &Network, plan: &Plan) -> Self {
        let outputs = network.nodes.iter().filter(|n| n.node_type.kind == NodeKind::Output && !n.bypass);
        let has_volumes = outputs.clone().any(|n| n.node_type.short_name() == "vdb_cache");
        let of_mesh = |n: &Bound| match n.node_type.short_name() {
            "mesh_cache" if n.params_at(0.0).text("format") == "obj" => OBJ_BYTES,
            "mesh_cache" => PLY_BYTES,
            "usd_shot" => USD_MESH_BYTES,
            _ => 0.0,
        };
        let mut files = Self {
            voxel: if has_volumes { FILE_BYTES } else { 0.0 },
            surface: outputs.map(of_mesh).sum(),
            particles: BTreeMap::new(),
            drawn: BTreeSet::new(),
        };
        for node in 0..network.nodes.len() {
            files.add_geometry(network, plan, node);
        }
        files
    }

    /// Adds the geometry that an output node writes.
    fn add_geometry(&mut self, network: &Network, plan: &Plan, node: usize) {
        let writer = &network.nodes[node];
        let of_particle = match writer.node_type.short_name() {
            "geometry_cache" => GEO_BYTES,
            "usd_shot" => USD_BYTES,
            _ => return,
        };
        let Some(offer) = offer(network, plan, node).filter(|_| !writer.bypass) else { return };
        for (object, name) in offer.written(&writer.params_at(0.0)) {
            let owner = network.nodes.iter().find(|n| n.name == object);
            if owner.is_some_and(|owner| are_particles(owner, name)) {
                *self.particles.entry(object.to_owned()).or_default() += of_particle;
            } else if of_particle == GEO_BYTES {
                self.drawn.insert(object.to_owned());
            }
        }
    }

    /// Bytes a frame.
    pub(super) fn bytes(&self, object: &ObjectEstimate, start: &Start) -> f64 {
        let of_particle = self.particles.get(&object.name).copied().unwrap_or(0.0);
        let liquid =
            object.voxels * self.voxel + object.particles * of_particle + object.surface * self.surface;
        let is_drawn = object.particles == 0.0 && self.drawn.contains(&object.name);
        let meshes = if is_drawn { (start.corners * start.places.max(1)) as f64 * MESH_BYTES } else { 0.0 };
        liquid + meshes
    }
}

/// Whether geometry of an object is what it is made of, and that is particles.
fn are_particles(object: &Bound, name: &str) -> bool {
    let mut ports = object.node_type.contract.iter().flat_map(|c| &c.ports);
    let is_own = |p: &PortSpec| p.owner == PortOwner::Object && p.is_movable && p.name == name;
    separation(object).is_some() && ports.any(|p| is_own(p) && p.carries == Carries::Geometry)
}
