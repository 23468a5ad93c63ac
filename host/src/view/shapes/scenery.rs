//! The solids of a shot that nothing moves but their own animation, from the graph in `cook.json`: what the liquid is in.

use super::packed::Packed;
use crate::data::{Drawn, Geometry};
use crate::geometry::Evaluator;
use crate::graph::{Graph, Network, Override};
use crate::loader::Plugins;
use crate::node::{NodeKind, NodeType, PortOwner};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Most bytes of a record.
const LARGEST: u64 = 64 << 20;

/// The solids of the cook with that record, at a frame; of more than `most` triangles none are shown. The error is one
/// sentence.
pub fn shapes(path: &Path, frame: i32, most: usize) -> Result<Vec<u8>, String> {
    let bytes = crate::files::read_file(path, LARGEST).map_err(|e| e.to_string())?;
    let record: Json = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
    let mut overrides = Vec::new();
    for set in record["set"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        overrides.push(Override::parse(set).map_err(|p| p.to_string())?);
    }
    let graph = Graph::read(&record["graph"].to_string(), &overrides).map_err(|p| p.to_string())?;
    let network = Network::bind(&graph, &Plugins::load().types()).map_err(|p| p.to_string())?;
    let file =
        crate::engine::graph_file(&record, path.parent().unwrap_or(Path::new("."))).unwrap_or_default();
    let mut evaluator = Evaluator::new(&network, file.parent().unwrap_or(Path::new(".")));
    let mut packed = Packed::default();
    let mut left = most;
    for node in network.nodes.iter().filter(|n| !n.bypass && stands(&n.node_type)) {
        for &input in &node.inputs {
            if network.nodes[input].node_type.kind != NodeKind::Geometry {
                continue;
            }
            let geometry =
                evaluator.evaluate(&network, input, f64::from(frame), 0.0, 0.0).map_err(|p| p.to_string())?;
            let Some(rest) = left.checked_sub(geometry.triangles().len()) else {
                return Err(format!("its solids have more than {most} triangles"));
            };
            left = rest;
            add(&mut packed, &node.name, &geometry, evaluator.moves(input));
        }
    }
    Ok(packed.bytes())
}

/// Whether objects of a type are solids that the simulation does not move.
fn stands(t: &NodeType) -> bool {
    let own = || t.contract.iter().flat_map(|c| &c.ports).filter(|p| p.owner == PortOwner::Object);
    let is_solid = |drawn: Option<Drawn>| drawn == Some(Drawn::Solid);
    t.kind == NodeKind::Object && own().any(|p| is_solid(p.shown.drawn)) && !own().any(|p| p.is_movable)
}

fn add(packed: &mut Packed, name: &str, geometry: &Geometry, moves: bool) {
    let world =
        |p: &[f32; 3]| -> [f32; 3] { std::array::from_fn(|c| (f64::from(p[c]) + geometry.origin[c]) as f32) };
    let positions: Vec<f32> = geometry.positions().iter().flat_map(world).collect();
    let (p, t) = (packed.floats(&positions), packed.indices(&geometry.triangles().concat()));
    packed
        .shape(json!({ "kind": "triangles", "name": name, "positions": p, "triangles": t, "moves": moves }));
}
