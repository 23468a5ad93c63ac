//! The energy of a frictionless triple pendulum of bodies and hinges, beside Runge and Kutta's method.

use crate::{GRAVITY, number};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};

/// Rods of 1 m and 1 kg hang from each other, at angles from the vertical.
const ANGLES: [f64; 3] = [1.5, 1.8, 1.6];
const THICK: f64 = 0.1;
/// By how much they can fall, J: energies are shares of it.
const DEPTH: f64 = 4.5 * GRAVITY;

/// Moment of inertia of a rod about its middle, kg m².
const INERTIA: f64 = (1.0 + THICK * THICK) / 12.0;

/// The energy after every substep of ten seconds, J; `steps`: a frame of 24 a second.
fn energies(steps: u32) -> Vec<f64> {
    let (mut nodes, mut inputs, mut at) = (Vec::new(), Vec::new(), [0.0, 0.0]);
    for (n, angle) in ANGLES.into_iter().enumerate() {
        let way = [angle.sin(), -angle.cos()];
        let middle = [at[0] + 0.5 * way[0], at[1] + 0.5 * way[1], 0.0];
        let (mesh, rod, hinge) = (format!("mesh_{n}"), format!("rod_{n}"), format!("hinge_{n}"));
        let above = if n > 0 { format!("rod_{}", n - 1) } else { String::new() };
        nodes.extend([
            json!({ "name": mesh, "type": "box", "params": { "size": [THICK, 1.0, THICK], "center": middle,
                    "rotate": [0, 0, angle.to_degrees()] } }),
            // They pass through each other.
            json!({ "name": rod, "type": "rigid_object", "inputs": [mesh],
                    "params": { "mass": 1.0, "mask": 0, "division_size": 0.05 } }),
            json!({ "name": hinge, "type": "rigid_joint",
                    "params": { "joint_type": "revolute", "body_a": rod, "body_b": above, "pivot": [at[0], at[1], 0],
                                "axis": [0, 0, 1] } }),
        ]);
        inputs.extend([rod, hinge]);
        at = [at[0] + way[0], at[1] + way[1]];
    }
    inputs.push("gravity".to_owned());
    nodes.push(json!({ "name": "gravity", "type": "gravity" }));
    nodes.push(json!({ "name": "rigid", "type": "rigid_solver", "inputs": inputs,
                       "params": { "limit_size": [20, 20, 20] } }));
    nodes.push(json!({ "name": "meshes", "type": "geometry_cache", "inputs": ["rigid"] }));
    let shot = Shot::new(&json!({ "format": "meniscus.graph/1", "fps": 24, "frames": [1, 241],
        "substeps": { "min": steps, "max": steps, "cfl": 1.0 }, "nodes": nodes }));
    shot.cook(&[]);
    let of_rod = |r: &Value, n: usize| {
        let of = |what: &str, c: usize| number(r, &format!("/bodies/{n}/{what}/{c}"));
        let (u, v, spin) = (of("v", 0), of("v", 1), of("w", 2));
        0.5 * (u * u + v * v + INERTIA * spin * spin) + GRAVITY * of("position", 1)
    };
    shot.stats().iter().map(|r| (0..3).map(|n| of_rod(r, n)).sum()).collect()
}

/// Angular accelerations of the rods: M θ″ = −(∂M/∂θ terms) − gravity, M_ij = c_ij cos(θ_i − θ_j).
fn accelerations(q: [f64; 3], v: [f64; 3]) -> [f64; 3] {
    // Of what hangs below each joint, times the arms.
    let c = |i: usize, j: usize| {
        let (low, high) = (i.max(j), i.min(j));
        let below = 2.0 - low as f64;
        if low == high { INERTIA + 0.25 + below } else { 0.5 + below }
    };
    let mut m = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = c(i, j) * (q[i] - q[j]).cos();
            m[i][3] -= c(i, j) * (q[i] - q[j]).sin() * v[j] * v[j];
        }
        m[i][3] -= GRAVITY * (2.5 - i as f64) * q[i].sin();
    }
    // Gauss and Jordan; M is positive definite.
    for p in 0..3 {
        for row in (0..3).filter(|&row| row != p) {
            let by = m[row][p] / m[p][p];
            (0..4).for_each(|k| m[row][k] -= by * m[p][k]);
        }
    }
    [0, 1, 2].map(|i| m[i][3] / m[i][i])
}

/// The energies of the classical fourth-order method with the same steps.
fn energies_of_runge_kutta(steps: u32) -> Vec<f64> {
    let dt = 1.0 / (24.0 * f64::from(steps));
    let add = |a: [f64; 3], b: [f64; 3], by: f64| [0, 1, 2].map(|n| a[n] + by * b[n]);
    let energy = |q: [f64; 3], v: [f64; 3]| {
        let (mut at, mut speed, mut sum) = ([0.0f64; 2], [0.0f64; 2], 0.0);
        for (q, v) in q.into_iter().zip(v) {
            let (way, turned) = ([q.sin(), -q.cos()], [v * q.cos(), v * q.sin()]);
            let own = [speed[0] + 0.5 * turned[0], speed[1] + 0.5 * turned[1]];
            sum += 0.5 * (own[0] * own[0] + own[1] * own[1] + INERTIA * v * v);
            sum += GRAVITY * (at[1] + 0.5 * way[1]);
            (at, speed) = ([at[0] + way[0], at[1] + way[1]], [speed[0] + turned[0], speed[1] + turned[1]]);
        }
        sum
    };
    let (mut q, mut v) = (ANGLES, [0.0; 3]);
    let mut found = vec![energy(q, v)];
    for _ in 0..240 * steps {
        let a = accelerations(q, v);
        let vb = add(v, a, 0.5 * dt);
        let b = accelerations(add(q, v, 0.5 * dt), vb);
        let vc = add(v, b, 0.5 * dt);
        let c = accelerations(add(q, vb, 0.5 * dt), vc);
        let vd = add(v, c, dt);
        let d = accelerations(add(q, vc, dt), vd);
        q = [0, 1, 2].map(|n| q[n] + dt / 6.0 * (v[n] + 2.0 * vb[n] + 2.0 * vc[n] + vd[n]));
        v = [0, 1, 2].map(|n| v[n] + dt / 6.0 * (a[n] + 2.0 * b[n] + 2.0 * c[n] + d[n]));
        found.push(energy(q, v));
    }
    found
}

/// Mean of the last second less that of the first, and the largest swing.
fn drift_and_swing(energies: &[f64]) -> [f64; 2] {
    let second = energies.len() / 10;
    let mean = |e: &[f64]| e.iter().sum::<f64>() / e.len() as f64;
    let (first, last) = (mean(&energies[..second]), mean(&energies[energies.len() - second..]));
    let swing = energies.iter().map(|e| (e - energies[0]).abs()).fold(0.0, f64::max);
    [(last - first) / DEPTH, swing / DEPTH]
}

/// The solver's leapfrog, whose drift keeps hinges together by the method SHAKE [Ryckaert et al. 1977].
#[test]
fn a_frictionless_triple_pendulum_keeps_its_energy_for_ten_seconds() {
    for (steps, bound) in [(5, 0.005), (10, 0.002)] {
        let [ours, theirs] = [energies(steps), energies_of_runge_kutta(steps)].map(|e| drift_and_swing(&e));
        println!("dt 1/{}: drift and swing of the leapfrog {ours:?}, of RK4 {theirs:?}", 24 * steps);
        assert!(ours[0].abs() < bound, "the energy drifts by {} of the fall", ours[0]);
    }
}
