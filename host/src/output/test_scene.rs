//! A small scene for the tests of the outputs: a ball of liquid that rotates, with particles.

use super::{About, Offer, Offered};
use crate::data::{
    Array, Data, Drawn, Element, Geometry, Grid, GridClass, Lifetime, Object, Owner, Port, Sampling, Scene,
    Shown,
};
use crate::node::{Carries, NodeType, Params};
use std::sync::Arc;

/// Voxel size, metres.
pub const H: f64 = 0.01;
/// Radius of the ball, metres.
pub const RADIUS: f64 = 0.2;

/// A grid whose leaves are those near `|φ| < 3h` or inside, filled from world positions of its samples.
pub fn grid(
    sampling: Sampling,
    components: usize,
    phi: impl Fn([f64; 3]) -> f64,
    f: impl Fn(usize, [f64; 3]) -> f64,
) -> Grid {
    let mut grid = Grid::new(Element::F32, components, sampling);
    grid.transform = [H, 0., 0., 0., 0., H, 0., 0., 0., 0., H, 0., 0.5 * H, 0.5 * H, 0.5 * H, 1.];
    let mut origins = Vec::new();
    let reach = ((RADIUS / H) as i32 / 8 + 2) * 8;
    let steps = || (-reach..reach).step_by(8);
    for o in steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| [x, y, z]))) {
        let middle = grid.to_world(o.map(|c| f64::from(c) + 3.5));
        if phi(middle) < (3.0 + 7.0) * H {
            origins.push(o);
        }
    }
    grid.shape(origins, Vec::new());
    for c in 0..components {
        let mut values = Vec::new();
        for o in grid.origins.iter() {
            for n in 0..512 {
                let mut p = [o[0] + (n >> 6), o[1] + (n >> 3 & 7), o[2] + (n & 7)].map(f64::from);
                if sampling == Sampling::Face {
                    p[c] -= 0.5;
                }
                values.push(f(c, grid.to_world(p)) as f32);
            }
        }
        grid.channels[c] = Arc::new(Array::F32(values));
    }
    grid
}

/// Distance to the ball, metres.
pub fn ball(p: [f64; 3]) -> f64 {
    p.iter().map(|c| c * c).sum::<f64>().sqrt() - RADIUS
}

/// Velocity of a rigid rotation about y, m/s.
pub fn spin(p: [f64; 3]) -> [f64; 3] {
    [p[2], 0.0, -p[0]]
}

/// The liquid alone.
pub fn scene() -> Scene {
    let mut water = Object::new("water", "meniscus.liquid_object");
    let mut surface = grid(Sampling::Centre, 1, ball, |_, p| ball(p).clamp(-3.0 * H, 3.0 * H));
    surface.background[0] = 3.0 * H;
    let shown = Shown { class: GridClass::LevelSet, drawn: Some(Drawn::Liquid) };
    water.show("surface", Lifetime::State, shown, Data::Grid(surface));
    let vel = grid(Sampling::Face, 3, ball, |c, p| spin(p)[c]);
    water.set("vel", Lifetime::State, Data::Grid(vel));
    let mut particles = Geometry::from_points(&[[0.0, 0.1, 0.0], [0.05, 0.0, -0.1], [1e-7, -0.15, 0.0]]);
    particles.set(Owner::Point, "v", 3, Array::F32(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.5]));
    particles.set(Owner::Point, "id", 1, Array::I64(vec![7, 8, 9]));
    particles.set(Owner::Point, "C0", 3, Array::F32(vec![0.0; 9]));
    water.set("particles", Lifetime::State, Data::Geometry(particles));
    Scene { objects: vec![water] }
}

/// What the objects of a scene have, as if they always had.
pub fn offer(scene: &Scene) -> Offer {
    let of_kind = |object: &Object, kind: &str| -> Vec<String> {
        object.ports.iter().filter(|(_, p)| p.data.kind() == kind).map(|(name, _)| name.clone()).collect()
    };
    let offered = |o: &Object| Offered {
        is_mesh: false,
        about: o.ports.iter().map(|(name, port)| (name.clone(), about(name, port))).collect(),
        separation: None,
        // What is drawn as a liquid and has no level set is a mesh of the others.
        meshes: match o.drawn_geometry(Drawn::Liquid).next().is_some() && of_kind(o, "grid").is_empty() {
            true => scene.objects.iter().map(|other| other.name.clone()).filter(|n| *n != o.name).collect(),
            false => Vec::new(),
        },
        object: o.name.clone(),
        grids: of_kind(o, "grid"),
        geometry: of_kind(o, "geometry"),
        results: ["surface", "vel", "particles"]
            .into_iter()
            .filter(|n| o.ports.contains_key(*n))
            .map(Into::into)
            .collect(),
    };
    Offer { objects: scene.objects.iter().map(offered).collect() }
}

fn about(name: &str, port: &Port) -> About {
    let carries = match &port.data {
        Data::Grid(g) => {
            Carries::Grid { element: Element::F32, components: g.channels.len(), sampling: g.sampling }
        }
        Data::Geometry(_) => Carries::Geometry,
        Data::Table(_) => Carries::Table,
    };
    About { carries, shown: port.shown, unit: if name == "vel" { "m/s" } else { "" }.into() }
}

/// The defaults of a node type.
pub fn defaults(node: &NodeType) -> Params {
    Params { values: node.params.iter().map(|p| (p.name.clone(), p.default.clone())).collect() }
}
