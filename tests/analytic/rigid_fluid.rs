//! Bodies in liquid by Rigid Fluid: Archimedes, what lies on the floor, added mass, and what it refuses.

use crate::{GRAVITY, number};
use meniscus_tests::assert_same_files;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// The solvers' box around a square tank: its width, and its height, m.
fn limits(wide: f64, high: f64) -> Value {
    json!({ "limit_center": [0, 0.5 * high, 0], "limit_size": [wide, high, wide], "side_neg_x": "closed",
            "side_pos_x": "closed", "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" })
}

/// Bodies of `mesh` at `places` in a square tank `wide` m across, with water `deep` m deep in voxels of `h` m.
struct Tank {
    wide: f64,
    deep: f64,
    h: f64,
    mesh: Value,
    places: Option<Value>,
    body: Value,
    frames: u32,
    steps: u32,
}

impl Tank {
    fn graph(&self) -> Value {
        let Self { wide, deep, h, .. } = *self;
        let limits = limits(wide, 3.0 * deep);
        let mut nodes = vec![
            json!({ "name": "fill", "type": "box", "params": { "size": [wide, deep, wide], "center": [0, 0.5 * deep, 0] } }),
            json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.5 * h } }),
            self.mesh.clone(),
        ];
        let mut inputs = vec!["mesh"];
        if let Some(places) = &self.places {
            nodes.push(places.clone());
            inputs.push("places");
        }
        nodes.extend([
            json!({ "name": "body", "type": "rigid_object", "inputs": inputs, "params": self.body }),
            json!({ "name": "gravity", "type": "gravity" }),
            json!({ "name": "rigid", "type": "rigid_solver", "inputs": ["body", "gravity"], "params": limits }),
            json!({ "name": "flip", "type": "flip_solver", "inputs": ["water", "body", "gravity"], "params": limits }),
            json!({ "name": "both", "type": "rigid_fluid", "inputs": ["rigid", "flip"] }),
            json!({ "name": "meshes", "type": "geometry_cache", "inputs": ["both"] }),
        ]);
        json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, self.frames],
                "substeps": { "min": self.steps, "max": 8, "cfl": 1.0 }, "nodes": nodes })
    }

    fn cooked(&self) -> Vec<Value> {
        let shot = Shot::new(&self.graph());
        shot.cook(&[]);
        shot.stats()
    }
}

/// Mean height of the first body over time from `since` on, m.
fn mean_height(stats: &[Value], since: f64) -> f64 {
    let at = |r: &Value| (number(r, "/time") + number(r, "/dt"), number(r, "/bodies/0/position/1"));
    let late: Vec<_> = stats.iter().map(at).filter(|(time, _)| *time >= since).collect();
    let (sum, time) = late.windows(2).fold((0.0, 0.0), |(sum, time), pair| {
        let dt = pair[1].0 - pair[0].0;
        (sum + 0.5 * dt * (pair[0].1 + pair[1].1), time + dt)
    });
    sum / time
}

/// How much deeper a flat box of some density, `cells` voxels high, floats than it should, by its height [Archimedes]. It starts off
/// its place and off the lattice, so it heaves; the mean counts.
fn too_deep(density: f64, cells: f64, frames: u32) -> f64 {
    let high = 0.16;
    let h = high / cells;
    let (wide, across, deep, off) = (1.5 * high, 3.0 * high, 1.5 * high, 0.08 * high);
    let under = density / 1000.0 * high;
    let start = deep - under + 0.5 * high + off;
    let mesh = json!({ "name": "mesh", "type": "box",
                       "params": { "size": [wide, high, wide], "center": [0.13 * h, start, 0.31 * h] } });
    let body = json!({ "density": density, "division_size": 0.5 * h });
    let tank = Tank { wide: across, deep, h, mesh, places: None, body, frames, steps: 1 };
    let stats = tank.cooked();
    // The water that the body pushed away at the start was never there.
    let level = deep + off * (wide / across).powi(2);
    (level - (mean_height(&stats, 0.6 * f64::from(frames) / 24.0) - 0.5 * high) - under) / high
}

fn check_family(densities: &[f64], cells: f64, frames: u32) {
    for &density in densities {
        let error = too_deep(density, cells, frames);
        println!("{density} kg/m³, {cells} voxels high: {error:+.4} of the box too deep");
        assert!(error.abs() < 0.05, "{density} kg/m³ floats {error} of its height too deep");
    }
}

#[test]
fn boxes_displace_their_own_mass() {
    check_family(&[200.0, 850.0], 8.0, 40);
}

#[test]
#[ignore = "several minutes"]
fn boxes_of_16_voxels_displace_their_own_mass() {
    check_family(&[100.0, 300.0, 500.0, 700.0, 900.0], 16.0, 48);
}

/// A ball of some density in deep water.
fn ball(density: f64, height: f64, frames: u32, steps: u32) -> Tank {
    let mesh = json!({ "name": "mesh", "type": "sphere", "params": { "radius": 0.06, "center": [0.004, height, 0.003] } });
    let body = json!({ "density": density, "division_size": 0.01 });
    Tank { wide: 0.48, deep: 0.44, h: 0.02, mesh, places: None, body, frames, steps }
}

/// Accelerations of balls let go deep under water: g (ρ_w − ρ) / (ρ + ½ ρ_w), the added mass being half of the displaced one
/// [Lamb 1932, §92]. Six voxels across; a light one starts too fast, for the fluid that it is taken for dodges at first.
#[test]
fn balls_start_with_half_their_displaced_mass_added() {
    for (density, within) in [(200.0, 0.35), (3000.0, 0.05)] {
        let stats = ball(density, 0.22, 2, 8).cooked();
        let theory = GRAVITY * (1000.0 - density) / (density + 500.0);
        let of = |r: &Value| (number(r, "/time") + number(r, "/dt"), number(r, "/bodies/0/v/1"));
        // Later air may open behind a ball for a moment, a gap between two particles.
        let (first, last) = (of(&stats[0]), of(&stats[3]));
        let measured = (last.1 - first.1) / (last.0 - first.0);
        println!("{density} kg/m³: {measured:.3} m/s², theory {theory:.3}");
        assert!((measured / theory - 1.0).abs() < within, "{density} kg/m³: {measured} m/s², not {theory}");
    }
}

/// Contacts come in as A_c: what lies on the floor stays there, and the water around it comes to rest.
#[test]
fn lead_lies_on_the_floor() {
    let stats = Tank { deep: 0.24, ..ball(11_340.0, 0.12, 36, 1) }.cooked();
    let last = stats.last().expect("a cook has substeps");
    let above = number(last, "/bodies/0/position/1") - 0.06;
    assert!(above.abs() < 0.002, "it lies {above} m too high");
    let speed =
        (2.0 * number(last, "/objects/water/kinetic_energy") / number(last, "/objects/water/mass")).sqrt();
    assert!(speed < 0.1, "the water moves at {speed} m/s");
}

#[test]
fn plates_thinner_than_a_voxel_are_refused() {
    let mesh = json!({ "name": "mesh", "type": "box", "params": { "size": [0.16, 0.006, 0.16], "center": [0, 0.2, 0] } });
    let body = json!({ "density": 2000, "division_size": 0.005 });
    let tank = Tank { mesh, body, deep: 0.24, ..ball(2000.0, 0.2, 3, 1) };
    let told = Shot::new(&tank.graph()).refused_midway();
    assert!(told.contains("`body` is thinner than a voxel"), "{told}");
}

/// The same bytes whatever the number of threads, without caches, and after a stop.
#[test]
fn bodies_are_the_same_however_they_are_cooked() {
    let graph = |last: u32| {
        let mesh = json!({ "name": "mesh", "type": "box", "params": { "size": [0.08, 0.08, 0.08], "rotate": [20, 0, 35] } });
        let places = json!({ "name": "places", "type": "points",
                             "params": { "count": [2, 2, 1], "spacing": [0.13, 0.11, 0], "center": [0, 0.2, 0.01] } });
        let body = json!({ "density": 400, "division_size": 0.0125 });
        Tank { wide: 0.3, deep: 0.16, h: 0.025, mesh, places: Some(places), body, frames: last, steps: 1 }
            .graph()
    };
    let first = Shot::new(&graph(7));
    first.cook(&["--threads", "1"]);
    for how in [&["--threads", "2"][..], &["--drop-caches"]] {
        let again = Shot::new(&graph(7));
        again.cook(how);
        assert_same_files(&first.path("out/meshes"), &again.path("out/meshes"), &[]);
    }
    let resumed = Shot::new(&graph(4));
    resumed.cook(&[]);
    resumed.graph(graph(7).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    assert_same_files(&first.path("out/meshes"), &resumed.path("out/meshes"), &[]);
}
