//! Computes the space that a shot takes up, before anything is simulated.

use super::upstream::upstream;
use crate::geometry::Evaluator;
use crate::graph::Network;
use crate::node::{NodeKind, Params, Value};
use crate::output::Bounds;
use glam::{DVec3, Vec3};

/// Moments of the shot at which geometry that moves by itself is looked at.
const LOOKS: i32 = 5;

/// Bounds of the geometry that each object upstream of a node is made of, over the whole shot. They depend on the graph
/// alone, so a resumed cook finds the same ones. Geometry that cannot be made is skipped here; the node that needs it
/// reports the error.
///
/// Liquid leaves its starting place. In a tank (a solver's volume limits with four closed sides) it may go everywhere,
/// so the tank counts as well.
pub(super) fn extents(network: &Network, evaluator: &mut Evaluator, node: usize) -> Vec<(String, Bounds)> {
    let mut found = Vec::new();
    for object in upstream(network, node) {
        let bound = &network.nodes[object];
        let inputs: &[usize] =
            if bound.node_type.kind == NodeKind::Geometry { &[object] } else { &bound.inputs };
        let made = inputs.iter().filter_map(|&i| seen(network, evaluator, i)).reduce(Bounds::union);
        let Some(mut bounds) = made else { continue };
        for tank in network
            .nodes
            .iter()
            .filter(|n| n.inputs.contains(&object) && !n.bypass)
            .filter_map(|n| tank(&n.params_at(f64::from(network.settings.frames.0))))
        {
            bounds = inside(bounds, tank);
        }
        found.push((bound.name.clone(), bounds));
    }
    found
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

/// The volume limits of a solver whose four sides are closed; whether floor and lid are as well.
struct Tank {
    bounds: Bounds,
    floor: bool,
}

fn tank(params: &Params) -> Option<Tank> {
    let closed = |side: &str| matches!(params.values.get(side), Some(Value::Text(t)) if t == "closed");
    if !["side_neg_x", "side_pos_x", "side_neg_z", "side_pos_z"].into_iter().all(closed) {
        return None;
    }
    let (middle, size) =
        (DVec3::from(params.vector("limit_center")), DVec3::from(params.vector("limit_size")));
    let bounds = Bounds { min: middle - 0.5 * size, max: middle + 0.5 * size };
    Some(Tank { bounds, floor: closed("side_neg_y") })
}

/// Bounds of a liquid in a tank: as wide as the tank, down to its floor.
fn inside(liquid: Bounds, tank: Tank) -> Bounds {
    let floor = if tank.floor { tank.bounds.min.y } else { liquid.min.y };
    let low = DVec3::new(tank.bounds.min.x, floor, tank.bounds.min.z);
    let high = DVec3::new(tank.bounds.max.x, liquid.max.y, tank.bounds.max.z);
    Bounds { min: low, max: high }
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

    #[test]
    fn only_a_tank_widens_its_liquid() {
        let params = |sides: [&str; 5]| {
            let names = ["side_neg_x", "side_pos_x", "side_neg_z", "side_pos_z", "side_neg_y"];
            let menus = names.iter().zip(sides).map(|(n, s)| ((*n).to_owned(), Value::Text(s.into())));
            let box_ = [("limit_center", [0.0, 1.0, 0.0]), ("limit_size", [4.0, 2.0, 1.0])];
            let numbers = box_.map(|(n, v)| (n.to_owned(), Value::Numbers(v.to_vec())));
            Params { values: menus.chain(numbers).collect() }
        };
        let liquid = Bounds { min: DVec3::new(-2.0, 0.25, -0.5), max: DVec3::new(-1.0, 1.5, 0.5) };
        let tank = tank(&params(["closed"; 5])).unwrap();
        let wide = Bounds { min: DVec3::new(-2.0, 0.0, -0.5), max: DVec3::new(2.0, 1.5, 0.5) };
        assert_eq!(inside(liquid, tank), wide);
        let bottomless = super::tank(&params(["closed", "closed", "closed", "closed", "kill"])).unwrap();
        assert_eq!(inside(liquid, bottomless).min.y, 0.25);
        assert!(super::tank(&params(["closed", "open", "closed", "closed", "closed"])).is_none());
    }
}
