//! A pressure system as two Matrix Market files: the lower triangle of its symmetric matrix, and its right side.
//! Rows: the unknown cells, x fastest, then the super-cells.

use meniscus_core::grid::leaf;
use meniscus_core::pressure::{CELL, FIXED, PressureSystem, SOLID, Unknowns};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// Writes `<stem>.mtx` and `<stem>_rhs.mtx`. Systems with attached masses are not for this format.
pub fn write(system: &PressureSystem, rhs: &Unknowns, stem: &Path) -> Result<()> {
    let mut cells: Vec<usize> = (0..system.label.len()).filter(|&s| system.label[s] == CELL).collect();
    cells.sort_by_key(|&s| {
        let [x, y, z] = system.topology.coord(s).to_array();
        [z, y, x]
    });
    let mut row_of = vec![usize::MAX; system.label.len()];
    cells.iter().enumerate().for_each(|(row, &s)| row_of[s] = row);
    let rows = cells.len() + system.super_cells.len();
    let entries = lower_triangle(system, &row_of, cells.len());

    let with = |ending: &str| {
        stem.with_file_name(format!("{}{ending}", stem.file_name().unwrap_or_default().display()))
    };
    let mut out = BufWriter::new(File::create(with(".mtx"))?);
    writeln!(out, "%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {}", entries.len())?;
    for ((column, row), value) in &entries {
        writeln!(out, "{} {} {value:.17e}", row + 1, column + 1)?;
    }
    out.flush()?;
    let mut out = BufWriter::new(File::create(with("_rhs.mtx"))?);
    writeln!(out, "%%MatrixMarket matrix array real general\n{rows} 1")?;
    for value in cells.iter().map(|&s| rhs.cells[s]).chain(rhs.supers.iter().copied()) {
        writeln!(out, "{value:.17e}")?;
    }
    out.flush()
}

/// Entries by (column, row), row ≥ column.
fn lower_triangle(system: &PressureSystem, row_of: &[usize], cells: usize) -> BTreeMap<(usize, usize), f64> {
    let mut out = BTreeMap::new();
    let row = |slot: usize| match system.label[slot] {
        CELL => Some(row_of[slot]),
        FIXED | SOLID => None,
        b => Some(cells + b as usize),
    };
    for (b, s) in system.super_cells.iter().enumerate() {
        out.insert((cells + b, cells + b), s.compliance);
    }
    for slot in 0..system.label.len() {
        for axis in 0..3 {
            let mut below = leaf::local(slot % leaf::SIZE);
            below[axis] -= 1;
            let Some(other) = system.topology.reach(slot / leaf::SIZE, below) else { continue };
            let coefficient = system.face[axis][slot] as f64;
            let solid = system.label[slot] == SOLID || system.label[other] == SOLID;
            let (i, j) = (row(slot), row(other));
            if coefficient == 0.0 || solid || i == j {
                continue;
            }
            for end in [i, j].into_iter().flatten() {
                *out.entry((end, end)).or_insert(0.0) += coefficient;
            }
            if let (Some(i), Some(j)) = (i, j) {
                *out.entry((i.min(j), i.max(j))).or_insert(0.0) -= coefficient;
            }
        }
    }
    out
}
