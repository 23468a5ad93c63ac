//! The report on a mesh, `.ply` or `.obj`.

use super::super::units;
use super::{LARGEST, Report, grouped, name_of, number};
use crate::data::Geometry;
use crate::geometry::{MeshFormat, parse_mesh};
use glam::{DVec3, Vec3};
use std::collections::HashSet;
use std::path::Path;

pub(super) fn inspect(path: &Path, format: MeshFormat) -> Result<Report, String> {
    let shown = path.display();
    let bytes = crate::files::read_file(path, LARGEST).map_err(|e| format!("cannot read {shown}: {e}"))?;
    let on_disk = units::bytes(bytes.len() as f64);
    let mut report = Report::default();
    if is_empty(&bytes, format) {
        report.line(format!("{}: mesh without points, {on_disk} on disk", name_of(path)));
        return Ok(report);
    }
    let mesh = parse_mesh(&bytes, format).map_err(|e| format!("{shown}: {e}"))?;
    let (points, triangles) = (mesh.positions().len() as u64, mesh.triangles().len() as u64);
    let counts = format!("{} points, {} triangles", grouped(points), grouped(triangles));
    report.line(format!("{}: mesh, {counts}, {on_disk} on disk", name_of(path)));
    if let Some((low, high)) = mesh.bounds() {
        let place = |p: [f32; 3]| p.map(|c| number(f64::from(c))).join(" ");
        report.line(format!("  from {} to {} m", place(low), place(high)));
    }
    match open_edges(&mesh) {
        0 if triangles > 0 => report.line(format!("  closed, encloses {}", units::volume(volume(&mesh)))),
        0 => report.warn("it has no polygons"),
        n => report.warn(format!("{} edges have one side only: it is not closed", grouped(n))),
    }
    if let Some(v) = mesh.point_vectors("v") {
        let fastest = v.iter().map(|v| Vec3::from(*v).length()).fold(0.0, f32::max);
        report.line(format!("  velocities of up to {} m/s", number(f64::from(fastest))));
    }
    Ok(report)
}

/// Whether it is a mesh of which there is nothing, as a frame without liquid has.
fn is_empty(bytes: &[u8], format: MeshFormat) -> bool {
    match format {
        MeshFormat::Ply => memchr::memmem::find(bytes, b"\nelement vertex 0\n").is_some_and(|at| at < HEADER),
        MeshFormat::Obj => {
            let mut lines =
                bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
            lines.peek().is_some() && lines.all(|line| line.starts_with(b"#"))
        }
    }
}

/// Longest header of a .ply file, bytes.
const HEADER: usize = 1 << 16;

/// Edges of triangles that no other triangle has the other way round.
fn open_edges(mesh: &Geometry) -> u64 {
    let edges = || mesh.triangles().iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let all: HashSet<(u32, u32)> = edges().collect();
    edges().filter(|&(a, b)| !all.contains(&(b, a))).count() as u64
}

/// m³.
fn volume(mesh: &Geometry) -> f64 {
    let p = |n: u32| mesh.positions().get(n as usize).map_or(DVec3::ZERO, |p| Vec3::from(*p).as_dvec3());
    mesh.triangles().iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Result<Report, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let format = if name.ends_with("ply") { MeshFormat::Ply } else { MeshFormat::Obj };
        inspect(&path, format)
    }

    #[test]
    fn meshes_tell_what_they_enclose_and_where_they_are_open() {
        let corners = "v 0 0 0\nv 3 0 0\nv 0 1 0\nv 0 0 2\n";
        let closed = of("a.obj", &format!("{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")).unwrap().text();
        assert!(
            closed.contains("4 points, 4 triangles") && closed.contains("from 0 0 0 to 3 1 2 m"),
            "{closed}"
        );
        assert!(closed.contains(&format!("closed, encloses {}", units::volume(1.0))), "{closed}");
        let open = of("a.obj", &format!("{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\n")).unwrap().text();
        assert!(open.contains("warning: 3 edges have one side only"), "{open}");
        let none = of("a.obj", "# Meniscus, metres, Y up\n").unwrap().text();
        assert!(none.contains("mesh without points"), "{none}");
        let none = "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n";
        assert!(of("a.ply", none).unwrap().text().contains("mesh without points"));
        assert!(of("a.ply", "plywood").is_err() && of("a.obj", "").is_err());
    }
}
