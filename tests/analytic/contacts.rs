//! Bodies whose contacts and joints are part of the liquid's solve: what lies on the bottom, what floats on what floats, a
//! pendulum under water.

use crate::{GRAVITY, number};
use meniscus_tests::assert_same_files;
use meniscus_tests::points::vectors;
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};
use std::f64::consts::TAU;

/// Edge of a voxel, m.
const VOXEL: f64 = 0.02;

/// A square tank of water, its width and depth in m, with bodies (name, mesh, density) and further nodes of the rigid solver.
fn tank(
    [wide, deep]: [f64; 2],
    bodies: &[(&str, Value, f64)],
    joints: &[Value],
    (frames, steps): (u32, u32),
) -> Value {
    let limits = json!({
        "limit_center": [0, 0.3, 0], "limit_size": [wide, 0.6, wide], "side_neg_x": "closed", "side_pos_x": "closed",
        "side_neg_y": "closed", "side_neg_z": "closed", "side_pos_z": "closed" });
    let mut nodes = vec![
        json!({ "name": "fill", "type": "box",
                "params": { "size": [wide, deep, wide], "center": [0, 0.5 * deep, 0] } }),
        json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
                "params": { "particle_separation": 0.5 * VOXEL } }),
        json!({ "name": "gravity", "type": "gravity" }),
    ];
    let (mut solid, mut all) = (Vec::new(), Vec::new());
    for (name, mesh, density) in bodies {
        let mut mesh = mesh.clone();
        mesh["name"] = json!(format!("{name}_mesh"));
        nodes.push(mesh);
        nodes.push(json!({ "name": name, "type": "rigid_object", "inputs": [format!("{name}_mesh")],
                           "params": { "density": density, "division_size": 0.5 * VOXEL } }));
        solid.push(json!(name));
    }
    all.extend(solid.iter().cloned());
    all.extend(joints.iter().map(|joint| joint["name"].clone()));
    nodes.extend(joints.iter().cloned());
    let with = |first: &[Value], last: &str| [first, &[json!(last)]].concat();
    nodes.push(
        json!({ "name": "rigid", "type": "rigid_solver", "inputs": with(&all, "gravity"), "params": limits }),
    );
    let wet = with(&[&[json!("water")], solid.as_slice()].concat(), "gravity");
    nodes.push(json!({ "name": "flip", "type": "flip_solver", "inputs": wet, "params": limits }));
    nodes.push(json!({ "name": "both", "type": "floating_bodies", "inputs": ["rigid", "flip"] }));
    nodes.push(json!({ "name": "meshes", "type": "geometry_cache", "inputs": ["both"] }));
    json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames],
            "substeps": { "min": steps, "max": 8, "cfl": 1.0 }, "nodes": nodes })
}

fn cooked(graph: &Value) -> Vec<Value> {
    let shot = Shot::new(graph);
    shot.cook(&[]);
    shot.stats()
}

fn cuboid(size: [f64; 3], center: [f64; 3]) -> Value {
    json!({ "type": "box", "params": { "size": size, "center": center } })
}

/// Place of a body in a record.
fn place(record: &Value, name: &str) -> [f64; 3] {
    let bodies = record["bodies"].as_array().expect("bodies are listed");
    let body = bodies.iter().find(|b| b["name"] == name).expect("the body is listed");
    std::array::from_fn(|c| body["position"][c].as_f64().expect("a number"))
}

fn time(record: &Value) -> f64 {
    number(record, "/time") + number(record, "/dt")
}

/// Mean of a value over the records since a time.
fn mean(stats: &[Value], since: f64, value: impl Fn(&Value) -> f64) -> f64 {
    let late: Vec<&Value> = stats.iter().filter(|r| time(r) >= since).collect();
    late.iter().map(|r| value(r) * number(r, "/dt")).sum::<f64>()
        / late.iter().map(|r| number(r, "/dt")).sum::<f64>()
}

/// A stone lies on the bottom and stays; a block on a floating block floats with it at the draft of both [Archimedes], without air
/// between the two.
#[test]
fn a_stone_lies_still_and_a_block_floats_on_a_block() {
    let stone = cuboid([0.12, 0.1, 0.12], [0.003, 0.075, 0.005]);
    let shot = Shot::new(&tank([0.32, 0.24], &[("stone", stone, 2500.0)], &[], (22, 1)));
    shot.cook(&[]);
    let stats = shot.stats();
    let late: Vec<f64> = stats.iter().filter(|r| time(r) > 0.7).map(|r| place(r, "stone")[1]).collect();
    let (low, high) = late.iter().fold((f64::MAX, f64::MIN), |(l, h), &y| (l.min(y), h.max(y)));
    println!("the stone lies between {low} and {high} m");
    assert!(late.len() > 8 && high - low < 1e-4 && (high - 0.05).abs() < 1e-3, "{low} to {high}");
    // The bottom carries its weight less its buoyancy, in every substep: no gap that opens beside it shakes it. Five voxels high, it
    // displaces 2 % too much.
    let carried = |frame: u32| {
        vectors(&shot.path(&format!("out/meshes/meshes_bodies.{frame:04}.geo")), "v_contact")[0][1]
    };
    let expected = GRAVITY * (1.0 - 1000.0 / 2500.0);
    for frame in 17..=22 {
        let carried = carried(frame);
        println!("frame {frame}: its contacts give it {carried} m/s², theory {expected}");
        assert!((carried / expected - 1.0).abs() < 0.025, "frame {frame}: {carried} m/s², not {expected}");
    }
    // What pressed in the substep before presses in this one: one solve is enough.
    let solves = mean(&stats, 0.5, |r| number(r, "/contact_solves"));
    assert!(solves < 1.2, "{solves} solves a substep");

    let (wide, high, load) = (0.16f64, 0.08f64, [0.1f64, 0.05, 0.1]);
    let draft = 0.4 * high + 0.3 * load[1] * f64::powi(load[0] / wide, 2);
    let bottom = 0.24 - draft + 0.006;
    let raft = cuboid([wide, high, wide], [0.002, bottom + 0.5 * high, 0.003]);
    let cargo = cuboid(load, [0.002, bottom + high + 0.5 * load[1], 0.003]);
    let bodies = [("raft", raft, 400.0), ("cargo", cargo, 300.0)];
    let stats = cooked(&tank([0.32, 0.24], &bodies, &[], (44, 1)));
    // The water that the raft pushed away at the start was never there.
    let level = 0.24 + 0.006 * (wide / 0.32f64).powi(2);
    let under = level - (mean(&stats, 0.6, |r| place(r, "raft")[1]) - 0.5 * high);
    let apart = mean(&stats, 0.6, |r| place(r, "cargo")[1] - place(r, "raft")[1]) - 0.5 * (high + load[1]);
    println!("raft: {under} m under water, theory {draft}; its load {apart} m above it");
    assert!((under - draft).abs() < 0.01 * high, "{under} m under water, not {draft}");
    assert!(apart.abs() < 5e-4, "the load is {apart} m above the raft");
}

fn bob(depth: f64) -> Value {
    json!({ "type": "sphere", "params": { "radius": 0.05, "center": [0.05, depth, 0] } })
}

/// A ball of thrice the water's density on a wire of no mass: ω² = (m − ρV) g L / ((m + ½ ρV) L² + ⅖ m R²), for half the
/// displaced mass goes with it [Lamb 1932, §92] and does not turn; a little slower between walls. The wire does not stretch, and the
/// same bytes come out however it is cooked.
#[test]
fn a_pendulum_under_water_swings_with_its_added_mass() {
    let hook = json!({ "name": "wire", "type": "rigid_joint",
                       "params": { "joint_type": "ball", "body_a": "bob", "pivot": [0, 0.33, 0] } });
    let graph = |frames: u32| {
        tank([0.4, 0.3], &[("bob", bob(0.13), 3000.0)], std::slice::from_ref(&hook), (frames, 2))
    };
    let shot = Shot::new(&graph(36));
    shot.cook(&["--threads", "1"]);
    let stats = shot.stats();
    let (length, volume) = (0.2, 4.0 / 3.0 * std::f64::consts::PI * 0.05f64.powi(3));
    let (mass, water) = (3000.0 * volume, 1000.0 * volume);
    let inertia = (mass + 0.5 * water) * length * length + 0.4 * mass * 0.05 * 0.05;
    let expected = TAU * (inertia / ((mass - water) * GRAVITY * length)).sqrt();
    let ways: Vec<(f64, f64)> = stats.iter().map(|r| (time(r), place(r, "bob")[0])).collect();
    let crosses = |p: &[(f64, f64)]| {
        (p[0].1 * p[1].1 < 0.0).then(|| p[0].0 - p[0].1 * (p[1].0 - p[0].0) / (p[1].1 - p[0].1))
    };
    let turns: Vec<f64> = ways.windows(2).filter_map(crosses).collect();
    let period = 2.0 * (turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64;
    println!("period {period} s, theory {expected} s");
    assert!((period / expected - 1.0).abs() < 0.04, "{period} s, not {expected} s");
    let rod = 0.05f64.hypot(0.2);
    let stretched = |r: &Value| {
        let [x, y, z] = place(r, "bob");
        ((x * x + (y - 0.33).powi(2) + z * z).sqrt() - rod).abs()
    };
    let worst = stats.iter().map(stretched).fold(0.0, f64::max);
    assert!(worst < 1e-6, "the wire is {worst} m longer or shorter");
    let swings = |from: f64, to: f64| {
        ways.iter().filter(|(t, _)| (from..to).contains(t)).map(|w| w.1.abs()).fold(0.0, f64::max)
    };
    assert!(swings(0.9, 1.5) < swings(0.0, 0.3), "water does not drive it");
    for how in [&["--threads", "2"][..], &["--drop-caches"]] {
        let again = Shot::new(&graph(8));
        again.cook(how);
        let first = Shot::new(&graph(8));
        first.cook(&["--threads", "1"]);
        assert_same_files(&first.path("out/meshes"), &again.path("out/meshes"), &[]);
    }
    let resumed = Shot::new(&graph(4));
    resumed.cook(&[]);
    resumed.graph(graph(8).to_string().as_bytes());
    resumed.cook(&["--resume"]);
    let first = Shot::new(&graph(8));
    first.cook(&[]);
    assert_same_files(&first.path("out/meshes"), &resumed.path("out/meshes"), &[]);
}

/// A plate on a hinge along z, both of whose ends nearly touch walls: the hinge holds it where it is, and nothing pushes it away.
#[test]
fn walls_do_not_push_what_a_joint_holds_beside_them() {
    for motor in ["none", "speed"] {
        let plate = cuboid([0.1, 0.04, 0.32 - 0.05], [0.003, 0.12, 0.0]);
        let hinge = json!({ "name": "hinge", "type": "rigid_joint",
                            "params": { "joint_type": "revolute", "body_a": "plate", "pivot": [0, 0.12, 0], "axis": [0, 0, 1],
                                        "motor": motor, "motor_speed": 60, "motor_strength": 0.05 } });
        let stats = cooked(&tank([0.32, 0.2], &[("plate", plate, 1200.0)], &[hinge], (14, 1)));
        let [x, y, z] = place(stats.last().expect("substeps"), "plate");
        let off = ((x.hypot(y - 0.12) - 0.003).abs()).max(z.abs());
        assert!(off < 1e-4, "motor {motor}: the plate is {off} m off its hinge");
        let fastest = stats.iter().map(|r| number(r, "/kinetic_energy")).fold(0.0, f64::max);
        assert!(fastest < 0.1, "motor {motor}: {fastest} J");
    }
}

/// A ball that bounces in a tank without gravity: it and the water it takes along never part from a wall faster than they came, with
/// any density; with e = 0.5 at half of it at most.
#[test]
fn a_bounce_under_water_adds_no_energy() {
    for (density, restitution) in [(3000.0, 1.0), (300.0, 1.0), (1000.0, 0.5)] {
        let ball = json!({ "type": "sphere", "params": { "radius": 0.05, "center": [0.003, 0.13, 0.005] } });
        let mut graph = tank([0.28, 0.26], &[("ball", ball, density)], &[], (14, 4));
        for node in graph["nodes"].as_array_mut().expect("nodes") {
            if node["name"] == "ball" {
                node["params"]["restitution"] = json!(restitution);
                node["params"]["velocity"] = json!([0, -1.0, 0]);
            }
            if node["name"] == "gravity" {
                node["params"] = json!({ "force": [0, 0, 0] });
            }
        }
        let stats = cooked(&graph);
        let speeds: Vec<f64> =
            stats.iter().map(|r| r["bodies"][0]["v"][1].as_f64().expect("a number")).collect();
        let down = speeds.iter().take_while(|v| **v < 0.0).count();
        let (came, left) =
            (-speeds[down.saturating_sub(2)], speeds[down..].iter().copied().fold(0.0, f64::max));
        println!("density {density}: came at {came}, left at {left} m/s");
        assert!(down > 1 && left > 0.2 * restitution * came, "it does not bounce: {came}, {left}");
        assert!(left < 1.03 * restitution * came, "density {density}: came at {came}, left at {left} m/s");
    }
}
