//! What a wedge came to: a table, `wedge.json`, and a sheet of pictures side by side.

use super::super::inspect::figures;
use super::super::units;
use super::super::vary::Variant;
use crate::output::{Row, side_by_side};
use crate::view::state_of;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Name of the file that lists the variants.
pub(in crate::cli) const LIST: &str = "wedge.json";
/// Name of the sheet.
pub(super) const SHEET: &str = "wedge.png";
/// Moments on the sheet, and most variants.
const MOMENTS: usize = 5;
const ROWS: usize = 40;
/// Most lots of variants alike that are told.
const LOTS: usize = 4;

/// State of a variant that is cooked to its end.
const DONE: &str = "finished";
/// State of a variant while it is cooked.
const COOKING: &str = "cooking";

/// A variant and what became of it.
pub(super) struct Came<'a> {
    variant: &'a Variant,
    state: &'static str,
    why: Option<String>,
    figures: Option<Json>,
}

/// Looks at all variants' folders and writes the list. `now`: the number of the one that is about to be cooked.
pub(super) fn list<'a>(
    out: &Path,
    graph: &Path,
    variants: &'a [Variant],
    failed: &[usize],
    now: Option<usize>,
) -> Result<Vec<Came<'a>>, String> {
    let mut came: Vec<Came> = variants.iter().map(|variant| look(out, variant, failed)).collect();
    came.iter_mut().filter(|c| Some(c.variant.number) == now).for_each(|c| c.state = COOKING);
    let list = json!({
        "format": "meniscus.wedge/1",
        "graph": graph.display().to_string(),
        "variants": came.iter().map(Came::to_json).collect::<Vec<_>>(),
    });
    let text = serde_json::to_string_pretty(&list).map_err(|e| e.to_string())?;
    let path = out.join(LIST);
    crate::files::write_atomically(&path, text.as_bytes())
        .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    Ok(came)
}

/// Looks at all variants' folders and writes the list and, where `preview` names a node of pictures and frames, the sheet. Gives a
/// table. `failed` are the numbers of those that failed just now: one that never began has no folder to tell it. The error is one
/// sentence.
pub(super) fn collect(
    out: &Path,
    graph: &Path,
    variants: &[Variant],
    failed: &[usize],
    preview: Option<(&str, (i32, i32))>,
) -> Result<String, String> {
    let came = list(out, graph, variants, failed, None)?;
    let mut table = table(&came);
    alike(out, &came).iter().for_each(|line| table.push_str(line));
    if let Some((node, frames)) = preview {
        table.push_str(&sheet(out, &came, node, frames)?);
    }
    Ok(table)
}

fn look<'a>(out: &Path, variant: &'a Variant, failed: &[usize]) -> Came<'a> {
    let folder = out.join(&variant.folder);
    let (state, why) = match folder.is_dir() {
        true => state_of(&folder),
        false if failed.contains(&variant.number) => ("failed", None),
        false => ("waiting", None),
    };
    // One that has not begun has no figures.
    let figures = figures(&folder.join("stats.jsonl")).ok();
    Came { variant, state, why, figures }
}

impl Came<'_> {
    fn to_json(&self) -> Json {
        json!({
            "number": self.variant.number, "folder": self.variant.folder, "set": self.variant.set,
            "state": self.state, "message": self.why, "figures": self.figures,
        })
    }

    /// How far the volume that errs most is from what it should be, substeps, and seconds.
    fn words(&self) -> [String; 3] {
        let Some(figures) = &self.figures else { return Default::default() };
        let changes = figures["objects"].as_object().into_iter().flatten();
        let change = changes.filter_map(|(_, o)| o["volume_error"].as_f64());
        let most = change.max_by(|a, b| a.abs().total_cmp(&b.abs()));
        [
            most.map_or(String::new(), |change| format!("{:+.2} %", 100.0 * change)),
            figures["substeps"].to_string(),
            figures["seconds"].as_f64().map_or(String::new(), seconds),
        ]
    }
}

/// Lines with a column each for what sets variants apart, what became of them, volume, substeps, time.
fn table(came: &[Came]) -> String {
    let head = ["variant", "state", "volume", "substeps", "stages"].map(str::to_owned);
    let rows = came.iter().map(|c| {
        let [volume, substeps, seconds] = c.words();
        [format!("{} {}", c.variant.number, c.variant.title), c.state.to_owned(), volume, substeps, seconds]
    });
    let lines: Vec<[String; 5]> = [head].into_iter().chain(rows).collect();
    let wide = |n: usize| lines.iter().map(|l| l[n].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(wide);
    let line = |l: &[String; 5]| {
        let cells: Vec<String> = l.iter().zip(widths).map(|(cell, wide)| format!("{cell:wide$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}

/// A line for each lot of variants that came to the same figures and wrote the same last files: what sets them apart has no effect in
/// this graph.
fn alike(out: &Path, came: &[Came]) -> Vec<String> {
    let mut lots: Vec<(Json, Vec<&Came>)> = Vec::new();
    for c in came.iter().filter(|c| c.state == DONE) {
        let Some(Json::Object(mut outcome)) = c.figures.clone() else { continue };
        // Time and memory differ from run to run.
        ["seconds", "memory_bytes"].iter().for_each(|key| drop(outcome.remove(*key)));
        let outcome = Json::Object(outcome);
        match lots.iter_mut().find(|lot| lot.0 == outcome) {
            Some(lot) => lot.1.push(c),
            None => lots.push((outcome, vec![c])),
        }
    }
    // Figures tell little of some shots, so what was written is compared where they are the same.
    let mut found: Vec<(blake3::Hash, Vec<String>)> = Vec::new();
    for c in lots.into_iter().filter(|lot| lot.1.len() > 1).flat_map(|lot| lot.1) {
        let Some(hash) = last_files(&out.join(&c.variant.folder)) else { continue };
        match found.iter_mut().find(|lot| lot.0 == hash) {
            Some(lot) => lot.1.push(c.variant.number.to_string()),
            None => found.push((hash, vec![c.variant.number.to_string()])),
        }
    }
    let lots = found.into_iter().filter(|lot| lot.1.len() > 1).take(LOTS);
    let line = |(_, numbers): (_, Vec<String>)| {
        let all = numbers.join(", ");
        format!("variants {all} came to the same: what sets them apart changes nothing in this graph\n")
    };
    lots.map(line).collect()
}

/// The hash of the last file, by name, that each output node of a cook wrote; `None` where there is none, or one that cannot be read.
fn last_files(folder: &Path) -> Option<blake3::Hash> {
    let entries = |folder: &Path| -> Option<Vec<PathBuf>> {
        let mut all: Vec<PathBuf> =
            std::fs::read_dir(folder).ok()?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>().ok()?;
        all.sort();
        Some(all)
    };
    let mut hasher = blake3::Hasher::new();
    let nodes = entries(folder)?.into_iter().filter(|path| path.is_dir() && !path.ends_with("checkpoints"));
    for node in nodes {
        if let Some(file) = entries(&node)?.into_iter().rfind(|path| path.is_file()) {
            hasher.update_reader(std::fs::File::open(file).ok()?).ok()?;
        }
    }
    (hasher.count() > 0).then(|| hasher.finalize())
}

/// Writes the sheet of the variants that have pictures; a line about it.
fn sheet(out: &Path, came: &[Came], node: &str, frames: (i32, i32)) -> Result<String, String> {
    let drawn: Vec<_> = came.iter().map(|c| (c, out.join(&c.variant.folder).join(node))).collect();
    let drawn: Vec<_> =
        drawn.into_iter().filter(|(c, folder)| c.figures.is_some() && folder.is_dir()).collect();
    let titles: Vec<String> = drawn.iter().map(|(c, _)| title(c)).collect();
    let rows = drawn.iter().zip(&titles).take(ROWS);
    let rows: Vec<Row> = rows.map(|((_, folder), title)| Row { title, folder }).collect();
    let path = out.join(SHEET);
    match side_by_side(&rows, node, frames, MOMENTS, &path) {
        Ok(true) if drawn.len() > ROWS => Ok(format!("{}: the first {ROWS} side by side\n", path.display())),
        Ok(true) => Ok(format!("{}: side by side\n", path.display())),
        Ok(false) => Ok(String::new()),
        Err(e) => Err(e.to_string()),
    }
}

/// What stands above the pictures of a variant.
fn title(came: &Came) -> String {
    let [volume, _, seconds] = came.words();
    let volume = if volume.is_empty() { volume } else { format!("volume {volume}, ") };
    format!("{}: {} - {volume}{seconds}", came.variant.number, came.variant.title)
}

/// A time, with its tenths where it is short.
fn seconds(time: f64) -> String {
    if time < 60.0 { format!("{time:.1} s") } else { units::duration(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(number: usize) -> Variant {
        Variant { number, folder: format!("v{number}"), title: String::new(), set: Vec::new() }
    }

    /// Figures alone do not tell: a body that goes elsewhere has the same ones.
    #[test]
    fn variants_are_alike_by_figures_and_by_what_they_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let variants: Vec<Variant> = (1..=4).map(variant).collect();
        let wrote = ["same", "other", "same", "same"];
        let came: Vec<Came> = variants
            .iter()
            .zip(wrote)
            .map(|(variant, wrote)| {
                let node = dir.path().join(&variant.folder).join("points");
                std::fs::create_dir_all(&node).unwrap();
                std::fs::write(node.join("points.0001.geo"), variant.number.to_string()).unwrap();
                std::fs::write(node.join("points.0002.geo"), wrote).unwrap();
                let substeps = if variant.number == 4 { 9 } else { 8 };
                let figures = json!({ "substeps": substeps, "seconds": variant.number, "objects": {} });
                Came { variant, state: DONE, why: None, figures: Some(figures) }
            })
            .collect();
        let said = alike(dir.path(), &came);
        assert!(said.len() == 1 && said[0].starts_with("variants 1, 3 came to the same"), "{said:?}");
        assert!(alike(dir.path(), &came[1..]).is_empty());
    }
}
