//! The objects that an output node sees.

use super::simulation::Simulation;
use super::state::{Holder, Slot};
use super::upstream::{GEOMETRY_PORT, upstream};
use crate::data::{Data, Lifetime, Object, Scene};
use crate::graph::Problem;
use crate::node::NodeKind;

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
                let mut object = object.clone();
                for (name, port) in &mut object.ports {
                    let slot = Slot { holder: Holder::Object(i), port: name.clone() };
                    port.shown = self.declared.shown.get(&slot).copied().unwrap_or_default();
                }
                scene.objects.push(object);
            }
        }
        Ok(scene)
    }
}
