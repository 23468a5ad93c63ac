//! Waves on columns under surface tension and in tanks under gravity, timed by the momentum that they carry to and fro.

use crate::{GRAVITY, number};
use meniscus_tests::shot::Shot;
use serde_json::{Value, json};
use std::f64::consts::{PI, TAU};
use std::fmt::Write;

const DENSITY: f64 = 1000.0;
const TENSION: f64 = 0.5;

/// (time, s; momentum along x, kg m/s) at the end of every substep.
type Samples = Vec<(f64, f64)>;

/// A closed mesh, as an OBJ file: cross-sections of as many corners each, one after another along x, seen from −x
/// counter-clockwise.
fn hull(sections: &[Vec<[f64; 3]>]) -> String {
    let (n, mut text) = (sections[0].len(), String::new());
    for [x, y, z] in sections.iter().flatten() {
        writeln!(text, "v {x:.9} {y:.9} {z:.9}").expect("a string takes it");
    }
    let corner = |section: usize, j: usize| section * n + j % n + 1;
    let line =
        |corners: Vec<usize>| corners.iter().fold("f".to_owned(), |line, c| format!("{line} {c}")) + "\n";
    for s in 1..sections.len() {
        for j in 0..n {
            text += &line(vec![corner(s - 1, j), corner(s - 1, j + 1), corner(s, j + 1), corner(s, j)]);
        }
    }
    let last = sections.len() - 1;
    text += &line((0..n).rev().map(|j| corner(0, j)).collect());
    text + &line((0..n).map(|j| corner(last, j)).collect())
}

/// Cooks a shot of about `time` seconds, `fps` frames in each, with the liquid in `fill.obj`.
fn samples(fill: &str, (time, fps): (f64, f64), substeps: &Value, nodes: &[Value]) -> Samples {
    let mut all = vec![json!({ "name": "fill", "type": "file", "params": { "file": "fill.obj" } })];
    all.extend_from_slice(nodes);
    let shot = Shot::new(&json!({
        "format": "meniscus.graph/1", "fps": fps, "frames": [1, 1 + (time * fps).ceil() as u32],
        "substeps": substeps, "nodes": all
    }));
    shot.file("fill.obj", fill.as_bytes());
    shot.cook(&[]);
    let sample = |record: &Value| {
        let ends = number(record, "/time") + number(record, "/dt");
        (ends, number(record, "/objects/water/momentum/0"))
    };
    shot.stats().iter().map(sample).collect()
}

/// Times, s, at which the momentum turns.
fn zeros(samples: &Samples) -> Vec<f64> {
    let crossing = |pair: &[(f64, f64)]| {
        let ((t0, a), (t1, b)) = (pair[0], pair[1]);
        (a * b < 0.0).then(|| t0 + (t1 - t0) * a / (a - b))
    };
    samples.windows(2).filter_map(crossing).collect()
}

/// The rate ω, 1/s, near `guess` with which a sinh ωt + b cosh ωt is nearest to the samples.
fn growth(samples: &Samples, guess: f64) -> f64 {
    let error = |omega: f64| {
        // Normal equations of the two amplitudes.
        let (mut ss, mut sc, mut cc, mut sp, mut cp, mut pp) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for &(t, p) in samples {
            let (s, c) = ((omega * t).sinh(), (omega * t).cosh());
            (ss, sc, cc) = (ss + s * s, sc + s * c, cc + c * c);
            (sp, cp, pp) = (sp + s * p, cp + c * p, pp + p * p);
        }
        let det = ss * cc - sc * sc;
        let (a, b) = ((sp * cc - cp * sc) / det, (cp * ss - sp * sc) / det);
        pp - a * sp - b * cp
    };
    let rates = (0..401).map(|n| guess * (0.6 + 0.002 * f64::from(n)));
    rates.min_by(|&p, &q| error(p).total_cmp(&error(q))).expect("there are some")
}

/// I₁(x)/I₀(x), modified Bessel functions.
fn bessel_ratio(x: f64) -> f64 {
    let (mut i0, mut i1, mut term) = (0.0, 0.0, 1.0);
    for n in 0..40 {
        let n = f64::from(n);
        i0 += term;
        i1 += term * 0.5 * x / (n + 1.0);
        term *= (0.5 * x / (n + 1.0)).powi(2);
    }
    i1 / i0
}

/// A column between closed ends half a wave apart, of a radius of so many voxels, waved by half a voxel: its rate and
/// Rayleigh's, 1/s: ω² = σ/(ρR³) kR (k²R² − 1) I₁(kR)/I₀(kR), a frequency where that is positive and a growth where it is
/// negative [Rayleigh 1878].
fn column(kr: f64, radius: f64, seed: u32) -> [f64; 2] {
    const VOXEL: f64 = 0.01;
    const AROUND: u32 = 48;
    let radius = radius * VOXEL;
    let (k, amplitude) = (kr / radius, 0.5 * VOXEL);
    let length = PI / k;
    let square = TENSION / (DENSITY * radius.powi(3)) * kr * (kr * kr - 1.0) * bessel_ratio(kr);
    let theory = square.abs().sqrt();
    let step = TAU / f64::from(AROUND);
    let slices = (2.0 * length / VOXEL) as u32;
    let section = |i: u32| {
        let x = length * f64::from(i) / f64::from(slices);
        let mean = (radius * radius - 0.5 * amplitude * amplitude).sqrt();
        // Polygons as large as their circles.
        let r = (mean + amplitude * (k * x).cos()) * (step / step.sin()).sqrt();
        let corner = |j: u32| {
            let (sin, cos) = (step * f64::from(j)).sin_cos();
            [x - 0.5 * length, r * cos, r * sin]
        };
        (0..AROUND).map(corner).collect()
    };
    let fill = hull(&(0..=slices).map(section).collect::<Vec<_>>());
    let wide = 2.0 * radius + 16.0 * VOXEL;
    let nodes = [
        json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
                "params": { "particle_separation": 0.5 * VOXEL, "seed": seed } }),
        json!({ "name": "flip", "type": "flip_solver", "inputs": ["water"], "params": {
            "limit_size": [length, wide, wide], "surface_tension": TENSION,
            "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "open",
            "side_pos_y": "open", "side_neg_z": "open", "side_pos_z": "open" } }),
    ];
    let time = if square > 0.0 { 1.1 * TAU / theory } else { 1.6 / theory };
    let samples = samples(&fill, (time, 20.0 / time), &json!({ "min": 1, "max": 60, "cfl": 1.0 }), &nodes);
    let measured = if square > 0.0 {
        let zeros = zeros(&samples);
        assert!(zeros.len() >= 2, "kR {kr}: the column turns at {zeros:.3?} s only");
        PI * (zeros.len() - 1) as f64 / (zeros[zeros.len() - 1] - zeros[0])
    } else {
        growth(&samples, theory)
    };
    println!("kR {kr}: {measured:.4} 1/s, Rayleigh {theory:.4}, {:+.4}", measured / theory - 1.0);
    [measured, theory]
}

/// Where its particles start moves the rate of one column by a hundredth or two, so it is the mean of some that is compared.
fn check_column(kr: f64, radius: f64) {
    const SEEDS: u32 = 3;
    let off = (0..SEEDS).map(|seed| {
        let [measured, theory] = column(kr, radius, seed);
        measured / theory - 1.0
    });
    let mean = off.sum::<f64>() / f64::from(SEEDS);
    assert!(mean.abs() < 0.05, "kR {kr}: off by {mean} on average");
}

#[test]
#[ignore = "takes a minute: make scenes"]
fn a_short_wave_on_a_column_swings_as_rayleigh_says() {
    check_column(1.4, 6.0);
}

#[test]
#[ignore = "takes minutes: make scenes"]
fn a_long_wave_on_a_column_grows_as_rayleigh_says() {
    check_column(0.7, 8.0);
}

#[test]
#[ignore = "takes many minutes: make scenes"]
fn waves_on_columns_have_rayleighs_rates() {
    for kr in [0.4, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.4, 1.6, 1.8] {
        check_column(kr, 8.0);
    }
}

/// The first mode of a tank of this length and depth (m) on voxels of `voxel` metres: the frequency, 1/s, by the times
/// at which its momentum turns, and ω = √(g k tanh kd) [Lamb 1932, §228].
fn tank(length: f64, depth: f64, voxel: f64) -> [f64; 2] {
    let (k, wide, amplitude) = (PI / length, 2.0 * voxel, 0.8 * voxel);
    let theory = (GRAVITY * k * (k * depth).tanh()).sqrt();
    let slices = (2.0 * length / voxel) as u32;
    let section = |i: u32| {
        let x = length * f64::from(i) / f64::from(slices);
        let (top, x) = (depth + amplitude * (k * x).cos(), x - 0.5 * length);
        vec![[x, 0.0, -wide], [x, top, -wide], [x, top, wide], [x, 0.0, wide]]
    };
    let fill = hull(&(0..=slices).map(section).collect::<Vec<_>>());
    let nodes = [
        json!({ "name": "water", "type": "liquid_object", "inputs": ["fill"],
                "params": { "particle_separation": 0.5 * voxel } }),
        json!({ "name": "gravity", "type": "gravity" }),
        json!({ "name": "flip", "type": "flip_solver", "inputs": ["water", "gravity"], "params": {
            "limit_center": [0.0, depth, 0.0], "limit_size": [length, 2.0 * depth, 2.0 * wide],
            "side_neg_x": "closed", "side_pos_x": "closed", "side_neg_y": "closed",
            "side_pos_y": "open", "side_neg_z": "closed", "side_pos_z": "closed" } }),
    ];
    let substeps = json!({ "min": 2, "max": 2, "cfl": 5.0 });
    let zeros = zeros(&samples(&fill, (2.2 * TAU / theory, 24.0), &substeps, &nodes));
    assert!(zeros.len() >= 4, "a tank {depth} m deep turns at {zeros:.3?} s only");
    let measured = PI * (zeros.len() - 1) as f64 / (zeros[zeros.len() - 1] - zeros[0]);
    println!("{depth} m deep: {measured:.4} 1/s, theory {theory:.4}, {:+.4}", measured / theory - 1.0);
    [measured, theory]
}

#[test]
fn tanks_slosh_at_the_frequency_of_their_depth() {
    for depth in [0.2, 0.6] {
        let [measured, theory] = tank(0.5, depth, 0.02);
        assert!((measured / theory - 1.0).abs() < 0.01, "{depth} m deep: {measured} 1/s, not {theory} 1/s");
    }
}
