//! A basin of water with rigid bodies in it.

use crate::number;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// A rectangular basin; water from its bottom up to a level, bodies, joints.
#[derive(Clone)]
pub(crate) struct Basin {
    /// Lowest corner, m.
    pub(crate) low: [f64; 3],
    /// Highest corner, m; the upper side is open.
    pub(crate) high: [f64; 3],
    /// Level of the water without bodies, m.
    pub(crate) level: f64,
    /// Edge of a voxel, m.
    pub(crate) h: f64,
    /// Mesh and parameters of each body.
    pub(crate) bodies: Vec<(Value, Value)>,
    pub(crate) joints: Vec<Value>,
    /// The basin's sides hold bodies, too.
    pub(crate) walled: bool,
    pub(crate) coupling: &'static str,
    pub(crate) frames: u32,
    /// Substeps a frame, at least.
    pub(crate) steps: u32,
}

impl Basin {
    pub(crate) fn graph(&self) -> Value {
        let Self { low, high, level, h, .. } = *self;
        let middle = |a: usize| 0.5 * (low[a] + high[a]);
        let (center, size) = ([0, 1, 2].map(middle), [0, 1, 2].map(|a| high[a] - low[a]));
        let mut sides = json!({ "limit_center": center, "limit_size": size });
        let free = json!({ "limit_center": center, "limit_size": size.map(|edge| 3.0 * edge) });
        for side in ["neg_x", "pos_x", "neg_y", "neg_z", "pos_z"] {
            sides[format!("side_{side}")] = json!("closed");
        }
        let deep = level - low[1];
        let mut nodes = vec![
            json!({ "name": "fill", "type": "box",
                    "params": { "size": [high[0] - low[0], deep, high[2] - low[2]],
                                "center": [middle(0), low[1] + 0.5 * deep, middle(2)] } }),
            json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
                    "params": { "particle_separation": 0.5 * h } }),
            json!({ "name": "gravity", "type": "gravity" }),
        ];
        let mut solids = Vec::new();
        for (n, (mesh, params)) in self.bodies.iter().enumerate() {
            let (mesh_name, name) = (format!("mesh_{n}"), format!("body_{n}"));
            let mut mesh = mesh.clone();
            mesh["name"] = json!(mesh_name);
            let mut params = params.clone();
            params["division_size"] = json!(0.5 * h);
            nodes.push(mesh);
            nodes.push(
                json!({ "name": name, "type": "rigid_object", "inputs": [mesh_name], "params": params }),
            );
            solids.push(name);
        }
        let joints = self.joints.iter().map(|joint| joint["name"].as_str().unwrap_or_default().to_owned());
        let moved: Vec<String> = solids.iter().cloned().chain(joints).chain(["gravity".to_owned()]).collect();
        nodes.extend(self.joints.iter().cloned());
        let wet: Vec<String> =
            ["water".to_owned()].into_iter().chain(solids).chain(["gravity".to_owned()]).collect();
        let held = if self.walled { &sides } else { &free };
        nodes.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": moved, "params": held }));
        nodes.push(json!({ "name": "flip", "type": "flip_solver", "inputs": wet, "params": sides }));
        nodes.push(json!({ "name": "both", "type": self.coupling, "inputs": ["rigid", "flip"] }));
        nodes.push(json!({ "name": "meshes", "type": "geometry_cache", "inputs": ["both"] }));
        json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, self.frames],
                "substeps": { "min": self.steps, "max": 8, "cfl": 1.0 }, "nodes": nodes })
    }

    pub(crate) fn cooked(&self) -> Vec<Value> {
        let shot = Shot::new(&self.graph());
        shot.cook(&[]);
        shot.stats()
    }
}

/// The end of a substep, s.
pub(crate) fn time(record: &Value) -> f64 {
    number(record, "/time") + number(record, "/dt")
}

/// (time, s; value) of every substep.
pub(crate) fn samples(stats: &[Value], value: impl Fn(&Value) -> f64) -> Vec<(f64, f64)> {
    stats.iter().map(|record| (time(record), value(record))).collect()
}

/// Mean over time from `since` on.
pub(crate) fn mean(samples: &[(f64, f64)], since: f64) -> f64 {
    let late = samples.windows(2).filter(|pair| pair[0].0 >= since);
    let (sum, time) = late.fold((0.0, 0.0), |(sum, time), pair| {
        let dt = pair[1].0 - pair[0].0;
        (sum + 0.5 * dt * (pair[0].1 + pair[1].1), time + dt)
    });
    sum / time
}

pub(crate) fn cuboid(size: [f64; 3], center: [f64; 3], turn: f64) -> Value {
    json!({ "type": "box", "params": { "size": size, "center": center, "rotate": [0, 0, turn] } })
}
