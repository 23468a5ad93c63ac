//! `meniscus inspect`: shows what is in a file or folder, with warnings.

mod apart;
mod checkpoint;
mod folder;
mod geo;
mod mesh;
mod stats;
mod vdb;

pub(super) use stats::figures;

use super::args::InspectArgs;
use super::{FAILED, fail, say};
use crate::geometry::MeshFormat;
use crate::text::one_line;
use std::fmt::Write;
use std::path::Path;

/// Longest line of a report, letters.
const LONGEST: usize = 5000;

pub(super) fn run(args: &InspectArgs) -> u8 {
    if apart::is_here(&args.path) {
        return say(&apart::answer(vdb::inspect(&args.path)));
    }
    match look(&args.path) {
        Ok(report) => say(&report.text()),
        Err(e) => fail(FAILED, &one_line(&e, LONGEST)),
    }
}

/// The facts about a file, and warnings.
#[derive(Debug, Default)]
struct Report {
    lines: String,
    warnings: Vec<String>,
}

impl Report {
    fn line(&mut self, line: impl AsRef<str>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.lines, "{}", one_line(line.as_ref(), LONGEST));
    }

    fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(one_line(&warning.into(), LONGEST));
    }

    /// Adds another report, its lines set in.
    fn include(&mut self, other: Report) {
        other.lines.lines().for_each(|l| self.line(format!("  {l}")));
        self.warnings.extend(other.warnings);
    }

    /// Adds the report on a file, whose warnings then name it.
    fn include_file(&mut self, path: &Path) -> Result<(), String> {
        let mut other = look(path)?;
        other.warnings.iter_mut().for_each(|w| *w = format!("{}: {w}", name_of(path)));
        self.include(other);
        Ok(())
    }

    fn text(self) -> String {
        self.warnings.iter().fold(self.lines, |text, w| format!("{text}warning: {w}\n"))
    }
}

/// Largest file that is read as a whole, bytes.
const LARGEST: u64 = 16 << 30;

/// The report on a file or folder; the error is one sentence.
fn look(path: &Path) -> Result<Report, String> {
    let shown = path.display();
    let meta = std::fs::metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    if meta.is_dir() {
        return folder::inspect(path);
    }
    crate::files::open_file(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    match path.extension().and_then(|e| e.to_str()) {
        Some("vdb") => vdb::inspect_apart(path),
        Some("geo") => geo::inspect(path),
        Some("ply") => mesh::inspect(path, MeshFormat::Ply),
        Some("obj") => mesh::inspect(path, MeshFormat::Obj),
        Some("mns") => checkpoint::inspect(path),
        Some("jsonl") => stats::inspect(path),
        _ => Err(format!(
            "{shown} is none of the files that inspect knows: .vdb, .geo, .ply, .obj, checkpoints (.mns), stats.jsonl, or a \
             folder of them"
        )),
    }
}

/// The name of a file without its folder.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A number with its significant digits only.
fn number(x: f64) -> String {
    let text = format!("{x:.6}");
    match x.abs() {
        0.0 => "0".into(),
        1e-3..1e6 => text.trim_end_matches('0').trim_end_matches('.').into(),
        _ => format!("{x:.4e}"),
    }
}

/// A whole number with its thousands apart.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(d);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([grouped(0), grouped(999), grouped(1234567)], ["0", "999", "1,234,567"]);
        assert_eq!(
            [number(0.03), number(-1.5), number(2e-7), number(24.0)],
            ["0.03", "-1.5", "2.0000e-7", "24"]
        );
    }
}
