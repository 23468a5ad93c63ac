//! A plugin in plain C contributes a piston to the bubbles' solve (examples/c_coupling): periods and pressures are those of
//! textbooks.

use crate::{GRAVITY, number};
use meniscus_tests::{c, meniscus, root};
use serde_json::Value;
use std::f64::consts::TAU;
use std::path::Path;

/// Density of the examples' water, kg/m³.
const WATER: f64 = 1000.0;
/// Cross section of the tube and of the shafts, m².
const AREA: f64 = 0.08 * 0.04;

/// Cooks an example and gives the lines of its stats.jsonl; `set` changes parameters.
fn cook(example: &str, set: &[&str], folder: &Path) -> Vec<Value> {
    let plugin = c::plugin("examples/c_coupling/piston.c", &[], folder);
    let graph = root().join(format!("examples/c_coupling/{example}.meniscus.json"));
    let out = folder.join("out");
    let (graph, out_arg) = (graph.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let mut command = meniscus(&["cook", &graph, "--out", &out_arg, "--set", "preview.sheet=0"]);
    command.args(["--set", "preview.resolution=[16,16]"]);
    for set in set {
        command.args(["--set", set]);
    }
    let output =
        command.env("MENISCUS_PLUGIN_PATH", plugin.parent().expect("a folder")).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(out.join("stats.jsonl")).expect("a cook writes stats.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn of(record: &Value, pointer: &str) -> f64 {
    number(record, pointer)
}

/// Twice the mean time between the changes of sign of a value, s.
fn period(stats: &[Value], value: impl Fn(&Value) -> f64) -> f64 {
    let at: Vec<(f64, f64)> = stats.iter().map(|l| (of(l, "/time") + of(l, "/dt"), value(l))).collect();
    let crossing = |pair: &[(f64, f64)]| {
        let ((t, x), (u, y)) = (pair[0], pair[1]);
        (x * y < 0.0).then(|| t + (u - t) * x / (x - y))
    };
    let turns: Vec<f64> = at.windows(2).filter_map(crossing).collect();
    assert!(turns.len() > 1, "it does not swing");
    2.0 * (turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64
}

/// ω² = 2 ρ g A / (m + ρ A L). L, that of the tube's water, is measured with a piston that weighs what the water does whose
/// place it takes.
#[test]
fn a_piston_slows_a_u_tube_by_its_mass() {
    let swing = |mass: f64| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let stats = cook("u_tube", &["frames=[1, 37]", &format!("piston.mass={mass}")], folder.path());
        period(&stats, |l| of(l, "/bodies/0/v/0"))
    };
    let displaced = WATER * AREA * 0.04;
    let column = 2.0 * WATER * GRAVITY * AREA * (swing(displaced) / TAU).powi(2);
    for mass in [0.05, 1.5] {
        let expected = TAU * ((column - displaced + mass) / (2.0 * WATER * GRAVITY * AREA)).sqrt();
        let measured = swing(mass);
        assert!((measured / expected - 1.0).abs() < 0.015, "{mass} kg: {measured} s, not {expected}");
    }
}

#[test]
fn a_piston_over_a_sealed_cell_stays_where_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let stats =
        cook("spring", &["air.compressible=false", "substeps.min=1", "frames=[1, 49]"], folder.path());
    let (half, last) = (&stats[stats.len() / 2], &stats[stats.len() - 1]);
    let crept = (of(last, "/bodies/0/position/1") - of(half, "/bodies/0/position/1")).abs();
    let speed = crept / (of(last, "/time") - of(half, "/time")) / 0.01;
    assert!(speed < 0.01, "{speed} voxels/s");
    let expected = 2.0 * GRAVITY / AREA;
    // In a single substep it also answers for what the water's surface was moved by.
    let late = &stats[stats.len() / 2..];
    let pressure = late.iter().map(|l| of(l, "/bubbles/0/pressure")).sum::<f64>() / late.len() as f64;
    assert!((pressure / expected - 1.0).abs() < 0.002, "{pressure} Pa, not {expected}");
}

#[test]
fn a_piston_between_two_sealed_chambers_rests_on_the_difference_of_their_pressures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let stats = cook("two_chambers", &["frames=[1, 25]"], folder.path());
    // In a single substep the piston also answers for what the water's surface was moved by.
    let late = &stats[stats.len() / 2..];
    let difference = |record: &Value| {
        let bubbles = record["bubbles"].as_array().expect("bubbles");
        let mut by_height: Vec<(f64, f64)> =
            bubbles.iter().map(|b| (of(b, "/centroid/1"), of(b, "/pressure"))).collect();
        by_height.sort_by(|a, b| a.0.total_cmp(&b.0));
        by_height[0].1 - by_height[by_height.len() - 1].1
    };
    let time: f64 = late.iter().map(|l| of(l, "/dt")).sum();
    let difference = late.iter().map(|l| of(l, "/dt") * difference(l)).sum::<f64>() / time;
    // Six centimetres of water lie on it, which a grid of one centimetre knows to half a voxel.
    let (weight, water) = (20.0 * GRAVITY / AREA, WATER * GRAVITY * 0.06);
    let off = (difference - weight - water).abs();
    assert!(off < 0.005 * weight && off < WATER * GRAVITY * 0.006, "{difference} Pa, not {}", weight + water);
}

/// ω² = γ p A² / (m V) about the volume and pressure at rest.
#[test]
fn a_piston_bounces_on_compressible_air() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let stats = cook("spring", &["frames=[1, 17]"], folder.path());
    let measured = period(&stats, |l| of(l, "/bodies/0/v/1"));
    let (open, weight) = (101_325.0, 2.0 * GRAVITY / AREA);
    let volume = of(&stats[0], "/bubbles/0/rest_volume") * (open / (open + weight)).powf(1.0 / 1.4);
    let expected = TAU * (2.0 * volume / (1.4 * (open + weight) * AREA * AREA)).sqrt();
    assert!((measured / expected - 1.0).abs() < 0.03, "{measured} s, not {expected}");
    let heights: Vec<f64> = stats.iter().map(|l| of(l, "/bodies/0/position/1")).collect();
    let swing = |of: &[f64]| {
        let ends = of.iter().fold((f64::MAX, f64::MIN), |(a, b), &y| (a.min(y), b.max(y)));
        ends.1 - ends.0
    };
    let turn = (expected / of(&stats[0], "/dt")).round() as usize;
    let (first, last) = (swing(&heights[..turn]), swing(&heights[heights.len() - turn..]));
    let periods = (heights.len() - turn) as f64 / turn as f64;
    let a_period = (last / first).powf(2.0 / periods) - 1.0;
    assert!((-0.05..0.01).contains(&a_period), "its energy changes by {:.2} % a period", 100.0 * a_period);
}
