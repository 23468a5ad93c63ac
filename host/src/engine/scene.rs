//! The objects that an output node sees.

use super::simulation::Simulation;
use super::state::Holder;
use crate::data::{Data, Lifetime, Object, Scene};
use crate::graph::{Network, Problem};
use crate::node::NodeKind;
use std::collections::BTreeSet;

/// Port of the stand-in object that carries the geometry of a geometry node wired into an output.
pub(super) const GEOMETRY_PORT: &str = "geometry";

/// The object and geometry nodes upstream of a node, in network order.
pub(super) fn upstream(network: &Network, node: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for &input in &network.nodes[node].inputs {
        let bound = &network.nodes[input];
        match bound.node_type.kind {
            NodeKind::Geometry => drop(found.insert(input)),
            NodeKind::Object if !bound.bypass => drop(found.insert(input)),
            NodeKind::Force | NodeKind::Output => {}
            // The geometry that objects are made of does not show where they are now, so it is left out.
            _ => found.extend(
                upstream(network, input)
                    .into_iter()
                    .filter(|&i| network.nodes[i].node_type.kind != NodeKind::Geometry),
            ),
        }
    }
    found
}

impl Simulation<'_> {
    /// The scene of an output node at the frame where the clock stands.
    pub(super) fn scene(&mut self, output: usize) -> Result<Scene, Problem> {
        let network = self.network;
        let mut scene = Scene::default();
        for i in upstream(network, output) {
            let bound = &network.nodes[i];
            if bound.node_type.kind == NodeKind::Geometry {
                let frame = f64::from(self.state.clock.frame);
                let geometry = self.evaluator.evaluate(network, i, frame, 0.0, 0.0)?;
                let mut object = Object::new(&bound.name, &bound.node_type.id);
                object.set(GEOMETRY_PORT, Lifetime::Substep, Data::Geometry((*geometry).clone()));
                scene.objects.push(object);
            } else if let Some(object) = self.state.holders.get(&Holder::Object(i)) {
                scene.objects.push(object.clone());
            }
        }
        Ok(scene)
    }
}
