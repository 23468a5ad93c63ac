//! Computes the space that a shot takes up, before anything is simulated.

use super::media::{is_liquid, sources};
use super::tank::Tank;
use super::upstream::upstream;
use crate::geometry::Evaluator;
use crate::graph::Network;
use crate::node::NodeKind;
use crate::output::Bounds;
use glam::{DVec3, Vec3};

/// Moments of the shot at which geometry that moves by itself is looked at.
const LOOKS: i32 = 5;

/// Bounds of the geometry that each object upstream of a node is made of, over the whole shot. They depend on the graph
/// alone, so a resumed cook finds the same ones. Geometry that cannot be made is skipped here; the node that needs it
/// reports the error.
///
/// Liquid comes from sources, too, and leaves its starting place. In a tank (a solver's volume limits with four closed sides) it may go everywhere,
/// so the tank counts as well.
pub(super) fn extents(network: &Network, evaluator: &mut Evaluator, node: usize) -> Vec<(String, Bounds)> {
    let mut found = Vec::new();
    for object in upstream(network, node) {
        let bound = &network.nodes[object];
        let mut inputs =
            if bound.node_type.kind == NodeKind::Geometry { vec![object] } else { bound.inputs.clone() };
        if is_liquid(bound) {
            inputs.extend(taps(network, object));
        }
        let made = inputs.iter().filter_map(|&i| seen(network, evaluator, i)).reduce(Bounds::union);
        let Some(mut bounds) = made else { continue };
        for tank in network
            .nodes
            .iter()
            .filter(|n| n.inputs.contains(&object) && !n.bypass)
            .filter_map(|n| Tank::of(n, f64::from(network.settings.frames.0)))
        {
            if let Some((min, max)) = tank.fills((bounds.min, bounds.max)) {
                bounds = Bounds { min, max };
            }
        }
        found.push((bound.name.clone(), bounds));
    }
    found
}

/// The geometry of the sources that a liquid comes from.
fn taps(network: &Network, object: usize) -> Vec<usize> {
    let solves = |i: &usize| network.nodes[*i].inputs.contains(&object) && !network.nodes[*i].bypass;
    let sources = (0..network.nodes.len()).filter(solves).flat_map(|solver| sources(network, solver));
    sources.flat_map(|source| network.nodes[source].inputs.iter().copied()).collect()
}

fn seen(network: &Network, evaluator: &mut Evaluator, node: usize) -> Option<Bounds> {
    if network.nodes[node].node_type.kind != NodeKind::Geometry {
        return None;
    }
    let (first, last) = network.settings.frames;
    let moment = |i: i32| {
        f64::from(first) + (f64::from(last) - f64::from(first)) * f64::from(i) / f64::from(LOOKS - 1)
    };
    (0..LOOKS)
        .filter_map(|i| {
            let g = evaluator.evaluate(network, node, moment(i), 0.0, 0.0).ok()?;
            let origin = DVec3::from(g.origin);
            g.bounds().and_then(|(lo, hi)| {
                Bounds::around([lo, hi].into_iter().map(|p| Vec3::from(p).as_dvec3() + origin))
            })
        })
        .reduce(Bounds::union)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::loader::Plugins;
    use std::path::Path;

    #[test]
    fn a_shot_reaches_as_far_as_its_geometry_ever_moves() {
        let text = r#"{ "format": "meniscus.graph/1", "frames": [1, 9], "nodes": [
            { "name": "brick", "type": "box", "params": { "size": [2, 2, 2] } },
            { "name": "slide", "type": "transform", "inputs": ["brick"],
              "params": { "translate": { "keys": [[1, [0, 1, 0]], [9, [4, 1, 0]]] } } },
            { "name": "lost", "type": "file", "params": { "file": "nowhere.obj" } },
            { "name": "look", "type": "preview", "inputs": ["slide", "lost"] } ] }"#;
        let graph = Graph::read(text, &[]).unwrap();
        let network = Network::bind(&graph, &Plugins::open_all(Vec::new()).types()).unwrap();
        let mut evaluator = Evaluator::new(&network, Path::new("."));
        let node = network.nodes.iter().position(|n| n.name == "look").unwrap();
        let found = extents(&network, &mut evaluator, node);
        let [(name, bounds)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(name, "slide");
        assert_eq!((bounds.min, bounds.max), (DVec3::new(-1.0, 0.0, -1.0), DVec3::new(5.0, 2.0, 1.0)));
    }
}
