//! What is in a checkpoint.

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
    let made_from: Vec<&str> = saved.made_from.iter().map(|(name, _)| name.as_str()).collect();
    report.line(format!("made from: {}", made_from.join(", ")));
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
