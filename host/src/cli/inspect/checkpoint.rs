//! The report on a checkpoint.

use super::super::units;
use super::{Report, grouped, name_of};
use crate::data::{Data, Lifetime};
use crate::engine::Checkpoint;
use std::path::Path;

pub(super) fn inspect(path: &Path) -> Result<Report, String> {
    let saved = Checkpoint::read(path).map_err(|e| e.to_string())?;
    let mut report = Report::default();
    let clock = &saved.state.clock;
    let moment = if clock.substep == 0 {
        format!("the end of frame {}", clock.frame)
    } else {
        format!("{} substeps into frame {} ({:.5} s)", clock.substep, clock.frame, clock.elapsed)
    };
    let size = units::bytes(saved.state.bytes() as f64);
    report.line(format!("{}: Meniscus checkpoint at {moment}, {size}", name_of(path)));
    for object in saved.state.holders.values() {
        report.line(format!("{}: {}, {}", object.name, object.kind, units::bytes(object.bytes() as f64)));
        for (port, held) in object.ports.iter().filter(|(_, p)| p.lifetime == Lifetime::State) {
            report.line(format!("  {port}: {}", describe(&held.data)));
        }
    }
    let origin = &saved.origin;
    let list = |names: Vec<&String>| names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
    report.line(format!("made from: {}", list(origin.nodes.keys().collect())));
    let files: Vec<&String> = origin.files.values().flat_map(|f| f.keys()).collect();
    if !files.is_empty() {
        report.line(format!("files read: {}", list(files)));
    }
    Ok(report)
}

fn describe(data: &Data) -> String {
    match data {
        Data::Grid(g) => format!(
            "grid, {} x {}, {} leaves of voxels of {}",
            g.components(),
            g.element.name(),
            grouped(g.leaves() as u64),
            units::length(g.voxel_size())
        ),
        Data::Geometry(g) => {
            let names: Vec<&str> = g.attributes.iter().map(|a| a.name.as_str()).collect();
            format!("geometry, {} points ({})", grouped(g.points as u64), names.join(" "))
        }
        Data::Table(t) => {
            let names: Vec<&str> = t.columns.iter().map(|c| c.name.as_str()).collect();
            format!("table ({})", names.join(" "))
        }
    }
}
