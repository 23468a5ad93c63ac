//! The bytes that the output nodes will write.

use super::super::media::separation;
use super::super::plan::{Plan, offer};
use super::{ObjectEstimate, Start};
use crate::graph::{Bound, Network};
use crate::node::{Carries, PortOwner, PortSpec};
use crate::output::Offer;
use std::collections::BTreeMap;

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

/// What the output nodes of a graph write of its objects in a frame, by the objects' names.
#[derive(Default)]
pub(super) struct Files {
    of: BTreeMap<String, Written>,
}

/// Bytes written of an object.
#[derive(Default)]
struct Written {
    /// Of a voxel.
    voxel: f64,
    /// Of a voxel that a liquid's surface runs through.
    surface: f64,
    /// Of a particle.
    particle: f64,
    /// Other geometry is written as text.
    as_text: bool,
}

impl Files {
    pub(super) fn of(network: &Network, plan: &Plan) -> Self {
        let mut files = Self::default();
        for node in (0..network.nodes.len()).filter(|&n| !network.nodes[n].bypass) {
            if let Some(offer) = offer(network, plan, node) {
                files.add(network, &network.nodes[node], &offer);
            }
        }
        files
    }

    /// Adds what an output node writes of the objects that it sees.
    fn add(&mut self, network: &Network, writer: &Bound, offer: &Offer) {
        let params = writer.params_at(0.0);
        let (voxel, surface, particle) = match writer.node_type.short_name() {
            "vdb_cache" => (FILE_BYTES, 0.0, 0.0),
            "geometry_cache" => (0.0, 0.0, GEO_BYTES),
            "mesh_cache" if params.text("format") == "obj" => (0.0, OBJ_BYTES, 0.0),
            "mesh_cache" => (0.0, PLY_BYTES, 0.0),
            "usd_shot" => (0.0, USD_MESH_BYTES, USD_BYTES),
            _ => return,
        };
        for object in &offer.objects {
            let written = self.of.entry(object.object.clone()).or_default();
            written.voxel += voxel;
            written.surface += surface;
        }
        if particle == 0.0 {
            return;
        }
        for (object, name) in offer.written(&params) {
            let owner = network.nodes.iter().find(|n| n.name == object);
            let written = self.of.entry(object.to_owned()).or_default();
            match owner.is_some_and(|owner| are_particles(owner, name)) {
                true => written.particle += particle,
                false => written.as_text |= writer.node_type.short_name() == "geometry_cache",
            }
        }
    }

    /// Bytes a frame.
    pub(super) fn bytes(&self, object: &ObjectEstimate, start: &Start) -> f64 {
        let Some(of) = self.of.get(&object.name) else { return 0.0 };
        let liquid = object.voxels * of.voxel + object.particles * of.particle + object.surface * of.surface;
        let is_text = object.particles == 0.0 && of.as_text;
        let meshes = if is_text { (start.corners * start.places.max(1)) as f64 * MESH_BYTES } else { 0.0 };
        liquid + meshes
    }
}

/// Whether geometry of an object is what it is made of, and that is particles.
fn are_particles(object: &Bound, name: &str) -> bool {
    let mut ports = object.node_type.contract.iter().flat_map(|c| &c.ports);
    let is_own = |p: &PortSpec| p.owner == PortOwner::Object && p.is_movable && p.name == name;
    separation(object).is_some() && ports.any(|p| is_own(p) && p.carries == Carries::Geometry)
}
