//! The report on a cache folder, or on the folder of a whole cook.

use super::super::units;
use super::{Report, name_of, number, vdb};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Extensions of files that exist once per frame.
const CACHES: [&str; 6] = ["vdb", "geo", "png", "usdc", "ply", "obj"];
/// Of these, those that are opened.
const OPENED: [&str; 3] = ["vdb", "geo", "mns"];
/// Digits that frame numbers have at least.
const DIGITS: usize = 4;

/// Files of one name and extension by frame number.
type Sequences = BTreeMap<(String, String), BTreeMap<i64, PathBuf>>;

pub(super) fn inspect(path: &Path) -> Result<Report, String> {
    known(path)?.ok_or_else(|| {
        format!(
            "{} holds no cache: no .vdb, .geo, .ply, .obj, .usdc or .png, no checkpoint and no stats.jsonl",
            path.display()
        )
    })
}

/// The report on a folder; `None` where nothing in it is known.
fn known(path: &Path) -> Result<Option<Report>, String> {
    let mut report = Report::default();
    report.line(format!("{}:", path.display()));
    let (mut sequences, mut singles, mut folders) = (Sequences::new(), Vec::new(), Vec::new());
    for entry in entries(path)? {
        let name = name_of(&entry);
        if entry.is_dir() {
            folders.push(entry);
        } else if name.starts_with('.') {
            report.warn(format!("{name} is left of a file whose writing was cut off"));
        } else if let Some((stem, frame, digits, extension)) = frame_of(&name) {
            if digits < DIGITS {
                report.warn(format!("{name}: frame numbers have at least {DIGITS} digits"));
            }
            sequences.entry((stem, extension)).or_default().insert(frame, entry);
        } else {
            singles.push(entry);
        }
    }
    for ((stem, extension), files) in &sequences {
        report.include(sequence(stem, extension, files)?);
    }
    for file in singles
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "jsonl" || e == "vdb" || e == "geo" || e == "mns"))
    {
        report.include_file(file)?;
    }
    for folder in folders {
        if entries(&folder)?.iter().any(|f| f.is_file())
            && let Some(other) = known(&folder)?
        {
            report.include(other);
        }
    }
    Ok((report.lines.lines().count() > 1).then_some(report))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let because = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let all = std::fs::read_dir(folder).map_err(because)?;
    let mut paths = all.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(because)?;
    paths.sort();
    Ok(paths)
}

/// Stem, frame, digits and extension of `stem.0001.ext`.
fn frame_of(name: &str) -> Option<(String, i64, usize, String)> {
    let (rest, extension) = name.rsplit_once('.')?;
    let (stem, number) = rest.rsplit_once('.')?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    // A checkpoint within a frame is called by frame and substep.
    let known = CACHES.contains(&extension) || extension == "mns";
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    (known && plain).then(|| Some((stem.into(), number.parse().ok()?, digits.len(), extension.into())))?
}

fn sequence(stem: &str, extension: &str, files: &BTreeMap<i64, PathBuf>) -> Result<Report, String> {
    let mut report = Report::default();
    let (Some((first, _)), Some((last, newest))) = (files.first_key_value(), files.last_key_value()) else {
        return Ok(report);
    };
    let bytes: u64 = files.values().filter_map(|f| std::fs::metadata(f).ok()).map(|m| m.len()).sum();
    let count = if files.len() == 1 { "1 file".into() } else { format!("{} files", files.len()) };
    report.line(format!(
        "{stem}.*.{extension}: frames {first} to {last}, {count}, {}",
        units::bytes(bytes as f64)
    ));
    if extension != "mns" {
        let gaps = gaps(files.keys().copied());
        if !gaps.is_empty() {
            report.warn(format!("{stem}.*.{extension}: frames {} are missing", gaps.join(", ")));
        }
    }
    if extension == "vdb" {
        rates(stem, files, &mut report)?;
    }
    if OPENED.contains(&extension) {
        report.include_file(newest)?;
    }
    Ok(report)
}

/// Every file must open, and all must tell the same fps.
fn rates(stem: &str, files: &BTreeMap<i64, PathBuf>, report: &mut Report) -> Result<(), String> {
    let mut known: Option<(i64, f64)> = None;
    for (&frame, file) in files {
        match (vdb::fps(file)?, known) {
            (Some(fps), None) => known = Some((frame, fps)),
            (Some(fps), Some((other, rate))) if fps != rate => {
                report.warn(format!(
                    "{stem}: frame {other} says {} fps, frame {frame} says {}",
                    number(rate),
                    number(fps)
                ));
                return Ok(());
            }
            _ => {}
        }
    }
    Ok(())
}

/// The frames missing between the first and the last, as ranges.
fn gaps(frames: impl Iterator<Item = i64>) -> Vec<String> {
    let frames: Vec<i64> = frames.collect();
    let missing = frames.windows(2).filter(|w| w[1] - w[0] > 1).map(|w| (w[0] + 1, w[1] - 1));
    missing.map(|(a, b)| if a == b { a.to_string() } else { format!("{a} to {b}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_numbers_and_gaps() {
        assert_eq!(frame_of("a.b.0012.vdb"), Some(("a.b".into(), 12, 4, "vdb".into())));
        assert_eq!(frame_of("mesh.0016.ply"), Some(("mesh".into(), 16, 4, "ply".into())));
        assert_eq!(frame_of("a.-0012.geo"), Some(("a".into(), -12, 4, "geo".into())));
        for other in
            ["a.vdb", "a.x.vdb", "a..vdb", "a.1.txt", "checkpoint.0003-001.mns", "a.99999999999999999999.vdb"]
        {
            assert_eq!(frame_of(other), None, "{other}");
        }
        assert_eq!(gaps([1, 2, 4, 5, 9].into_iter()), ["3", "6 to 8"]);
    }
}
