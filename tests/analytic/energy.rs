//! A sealed tank that sloshes gains no energy, however its substeps are cut.

use crate::{GRAVITY, number};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};
use std::f64::consts::{PI, TAU};

/// Length and mean depth of the water, m.
const LENGTH: f64 = 1.0;
const DEPTH: f64 = 0.35;
/// What one period may gain, of the first one's energy.
const MOST: f64 = 0.005;
/// How its level is tilted at first, as a part of the depth at the ends: a low wave, and one that breaks.
const LOW: f64 = 0.2;
const HIGH: f64 = 0.57;

/// A member of the family.
#[derive(Clone, Copy, Debug)]
struct Tank {
    voxel: f64,
    tilt: f64,
    bubbles: bool,
    transfer: &'static str,
    fps: f64,
    cfl: f64,
}

/// Cooks a tank whose level is tilted at first, and gives per period of its first wave the mean of kinetic and potential
/// energy, J, counted from the flat level, and of the kinetic energy alone.
fn energies(tank: &Tank, seconds: f64) -> Vec<[f64; 2]> {
    let &Tank { voxel, tilt, bubbles, transfer, fps, cfl } = tank;
    let (wide, x) = (2.0 * voxel, 0.5 * LENGTH);
    let corners = [(-x, 0.0), (x, 0.0), (x, (1.0 - tilt) * DEPTH), (-x, (1.0 + tilt) * DEPTH)];
    let mut fill = String::new();
    for z in [-wide, wide] {
        corners.iter().for_each(|(x, y)| fill += &format!("v {x} {y} {z}\n"));
    }
    fill += "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    let sides: Value =
        ["neg_x", "pos_x", "neg_y", "pos_y", "neg_z", "pos_z"].map(|s| format!("side_{s}")).iter().fold(
            json!({ "limit_center": [0.0, DEPTH, 0.0], "limit_size": [LENGTH, 2.0 * DEPTH, 2.0 * wide],
                    "velocity_transfer": transfer }),
            |mut params, side| {
                params[side] = json!("closed");
                params
            },
        );
    let mut graph = json!({
        "format": "meniscus.graph/1", "fps": fps, "frames": [1, 1 + (seconds * fps).ceil() as u32],
        "substeps": { "min": 1, "max": 64, "cfl": cfl },
        "nodes": [
            { "name": "fill", "type": "file", "params": { "file": "fill.obj" } },
            { "name": "water", "type": "liquid_object", "inputs": ["fill"], "params": { "particle_separation": 0.5 * voxel } },
            { "name": "gravity", "type": "gravity" },
            { "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"], "params": sides }
        ]
    });
    if let Some(nodes) = graph["nodes"].as_array_mut().filter(|_| bubbles) {
        nodes.push(json!({ "name": "air", "type": "constraint_bubbles", "inputs": ["flip"] }));
    }
    let shot = Shot::new(&graph);
    shot.file("fill.obj", fill.as_bytes());
    shot.cook(&[]);
    let k = PI / LENGTH;
    let period = TAU / (GRAVITY * k * (k * DEPTH).tanh()).sqrt();
    let mut sums = vec![[0.0; 3]; (seconds / period) as usize];
    for record in shot.stats() {
        let of = |what: &str| number(&record, &format!("/objects/water/{what}"));
        let dt = number(&record, "/dt");
        let (mass, volume, kinetic) = (of("mass"), of("rest_volume"), of("kinetic_energy"));
        let flat = 0.5 * mass * GRAVITY * volume / (LENGTH * 2.0 * wide);
        let energy = kinetic + of("potential_energy") - flat;
        let ends = number(&record, "/time") + dt;
        if let Some(sum) = sums.get_mut(((ends - 1e-9) / period) as usize) {
            *sum = [sum[0] + energy * dt, sum[1] + kinetic * dt, sum[2] + dt];
        }
    }
    sums.iter().map(|[energy, kinetic, time]| [energy / time, kinetic / time]).collect()
}

fn gains_none(tank: Tank, seconds: f64) {
    let energies = energies(&tank, seconds);
    let gain =
        |pair: &[[f64; 2]]| (0..2).map(|i| (pair[1][i] - pair[0][i]) / energies[0][i]).fold(0.0, f64::max);
    let gained = energies.windows(2).map(gain).fold(0.0, f64::max);
    println!("{tank:?}: {gained:.4}, {energies:.4?}");
    assert!(energies.len() >= 3 && gained <= MOST, "{tank:?}: a period gains {gained:.4}: {energies:.4?}");
}

#[test]
fn a_sealed_tank_gains_no_energy() {
    let tank = Tank { voxel: 0.05, tilt: LOW, bubbles: false, transfer: "apic", fps: 24.0, cfl: 2.0 };
    gains_none(tank, 4.5);
    gains_none(Tank { transfer: "flip", fps: 12.0, cfl: 5.0, ..tank }, 4.5);
    gains_none(Tank { tilt: HIGH, bubbles: true, fps: 12.0, ..tank }, 4.5);
}

#[test]
#[ignore = "takes minutes: make scenes"]
fn sealed_tanks_gain_no_energy_however_their_steps_are_cut() {
    for (tilt, bubbles) in [(LOW, false), (HIGH, true)] {
        for transfer in ["apic", "flip"] {
            for fps in [12.0, 24.0, 60.0] {
                for cfl in [0.5, 2.0, 5.0] {
                    gains_none(Tank { voxel: 0.025, tilt, bubbles, transfer, fps, cfl }, 10.0);
                }
            }
        }
    }
}
