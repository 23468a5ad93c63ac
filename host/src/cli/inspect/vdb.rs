//! The report on a `.vdb` file.

use super::super::units;
use super::{Report, apart, grouped, name_of, number};
use openvdb_sys::{Class, Element, Entry, File, Info, LevelSetCheck, Stats};
use std::path::Path;

/// Names under which other programs look for a velocity.
const VELOCITIES: [&str; 3] = ["vel", "velocity", "v"];
/// Voxels outside these sizes, m, suggest a wrong unit.
const VOXELS: std::ops::RangeInclusive<f64> = 1e-5..=10.0;
/// A level set's mean |∇φ| may be this far from 1: it is less in films and drops of a few voxels, where two surfaces are near.
const GRADIENT_SLACK: f64 = 0.2;
/// Metadata that other lines of the report already show.
const TOLD: [&str; 3] = ["class", "name", "is_saved_as_half_float"];

/// The report on a file, made in a process of its own.
pub(super) fn inspect_apart(path: &Path) -> Result<Report, String> {
    // Faults found here need no other process.
    openvdb_sys::outline(path).map_err(|e| e.to_string())?;
    apart::look(path)
}

/// The report on a file; a damaged file of another program may end the process.
pub(super) fn inspect(path: &Path) -> Result<Report, String> {
    let file = openvdb_sys::open(path).map_err(|e| e.to_string())?;
    let mut report = Report::default();
    let size = std::fs::metadata(path).map_or(0.0, |m| m.len() as f64);
    let grids = file.grids().map_err(|e| e.to_string())?;
    let count = if grids.len() == 1 { "1 grid".into() } else { format!("{} grids", grids.len()) };
    report.line(format!("{}: OpenVDB, {count}, {} on disk", name_of(path), units::bytes(size)));
    let metadata = file.metadata();
    report.line(format!("  {}", entries(&metadata)));
    if !metadata.iter().any(|e| e.key == "fps") {
        report.warn("the file does not say its fps");
    }
    for (i, info) in grids.iter().enumerate() {
        grid(&file, i, info, &mut report)?;
    }
    let transforms_differ = grids.windows(2).any(|w| w[0].transform != w[1].transform);
    if transforms_differ {
        report.warn("the grids do not share one transform");
    }
    Ok(report)
}

/// Frames per second that a file tells; its grids are not read.
pub(super) fn fps(path: &Path) -> Result<Option<f64>, String> {
    Ok(openvdb_sys::outline(path).map_err(|e| e.to_string())?.number("fps"))
}

fn entries(metadata: &[Entry]) -> String {
    let told: Vec<String> = metadata.iter().map(|e| format!("{} {}", e.key, e.value)).collect();
    if told.is_empty() { "no metadata".into() } else { told.join(", ") }
}

fn grid(file: &File, at: usize, info: &Info, report: &mut Report) -> Result<(), String> {
    let half = if info.half { ", 16-bit" } else { "" };
    report.line(format!("{}: {}, {}{half}", info.name, info.value_type, class(info.class)));
    let [x, y, z] = info.voxel_size();
    let cubic = (x - y).abs() <= 1e-6 * x && (x - z).abs() <= 1e-6 * x;
    let edges: &[f64] = if cubic { &[x] } else { &[x, y, z] };
    let voxel = edges.iter().map(|&e| number(e)).collect::<Vec<_>>().join(" x ");
    report.line(format!("  voxel size: {voxel} m"));
    report.line(format!(
        "  active voxels: {} ({} leaves, {} tiles)",
        grouped(info.active_voxels),
        grouped(info.leaves),
        grouped(info.tiles)
    ));
    if let Some((lo, hi)) = info.bounds {
        let edge: Vec<String> =
            (0..3).map(|c| (i64::from(hi[c]) - i64::from(lo[c]) + 1).to_string()).collect();
        report.line(format!("  index bounds: {lo:?} -> {hi:?}, {}", edge.join(" x ")));
        report.line(format!("  world bounds: {}", world(info, lo, hi)));
    }
    if info.element != Element::Other {
        let stats = file.stats(at).map_err(|e| e.to_string())?;
        values(info, &stats, report);
    }
    report.line(format!(
        "  memory: {} ({} bytes)",
        units::bytes(info.memory_bytes as f64),
        grouped(info.memory_bytes)
    ));
    for e in info.metadata.iter().filter(|e| !TOLD.contains(&e.key.as_str())) {
        report.line(format!("  {}: {}", e.key, e.value));
    }
    conventions(info, [x, y, z], report);
    Ok(())
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Unknown => "class unknown",
        Class::LevelSet => "class level set",
        Class::FogVolume => "class fog volume",
        Class::Staggered => "class staggered",
    }
}

/// Corners of the active voxels, metres.
fn world(info: &Info, lo: [i32; 3], hi: [i32; 3]) -> String {
    let m = &info.transform;
    let at = |i: [i32; 3], beyond: f64| -> Vec<String> {
        let p = i.map(|c| f64::from(c) + beyond);
        (0..3).map(|c| number(p[0] * m[c] + p[1] * m[4 + c] + p[2] * m[8 + c] + m[12 + c])).collect()
    };
    format!("[{}] -> [{}] m", at(lo, -0.5).join(", "), at(hi, 0.5).join(", "))
}

fn values(info: &Info, stats: &Stats, report: &mut Report) {
    let (what, background) = if info.element == Element::Vector {
        ("lengths", info.background.map(number).join(", "))
    } else {
        ("values", number(info.background[0]))
    };
    let range = format!("{} to {}", number(stats.minimum), number(stats.maximum));
    report.line(format!("  {what}: {range}, background {background}"));
    if stats.non_finite > 0 {
        report.warn(format!(
            "grid {}: {} voxels are not finite numbers",
            info.name,
            grouped(stats.non_finite)
        ));
    }
    if let Some(check) = &stats.level_set {
        level_set(info, check, report);
    }
}

fn level_set(info: &Info, check: &LevelSetCheck, report: &mut Report) {
    let name = &info.name;
    if check.samples > 0 {
        report.line(format!(
            "  |gradient| near the surface: {} mean, {} to {}",
            number(check.gradient_mean),
            number(check.gradient_min),
            number(check.gradient_max)
        ));
        if (check.gradient_mean - 1.0).abs() > GRADIENT_SLACK {
            report.warn(format!(
                "grid {name}: it is no distance, its gradient is {} on average",
                number(check.gradient_mean)
            ));
        }
    }
    if check.wrong_sign > 0 {
        report.warn(format!(
            "grid {name}: {} voxels beyond the band have the wrong sign, the inside is not filled",
            grouped(check.wrong_sign)
        ));
    }
    if check.beyond_band > 0 {
        report.warn(format!(
            "grid {name}: {} active values lie beyond the background",
            grouped(check.beyond_band)
        ));
    }
}

/// Warnings about facts that other programs do not handle.
fn conventions(info: &Info, voxel: [f64; 3], report: &mut Report) {
    let name = &info.name;
    if let Some(size) = voxel.into_iter().find(|v| !VOXELS.contains(v)) {
        report.warn(format!("grid {name}: voxels of {} m; is the file in metres?", number(size)));
    }
    match info.class {
        Class::LevelSet if info.half => {
            report.warn(format!("grid {name}: a level set in 16 bits shows steps"));
        }
        Class::LevelSet if (info.background[0] / voxel[0] - 3.0).abs() > 0.01 => {
            let width = number(info.background[0] / voxel[0]);
            report.warn(format!("grid {name}: its half width is {width} voxels; most programs expect 3"));
        }
        _ => {}
    }
    if info.element == Element::Vector
        && !VELOCITIES.iter().any(|v| name == v || name.ends_with(&format!("_{v}")))
    {
        report.warn(format!("grid {name}: renderers look for a velocity under the names vel, velocity or v"));
    }
}
