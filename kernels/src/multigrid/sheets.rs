//! Sheets in the smoother: what `settle.rs` does for bodies of few degrees of freedom. With W = M⁻¹,
//!
//! ```text
//! y = W (1 + T W)⁻¹ (Cᵀ t + m) = (M + T)⁻¹ (Cᵀ t + m),   s = M y,   T = Cᵀ D⁻¹ C,
//! ```
//!
//! and M + T is sparse. A sheet that is heavy on a level does not change what its sweeps do and is left out there.

use super::aggregation::{Aggregation, Parent};
use super::block::{Motion, SUPERS};
use super::body::{Name, parent};
use super::level::Level;
use super::moving::Moving;
use super::sheet::{Sheet, diagonal, summed};
use super::work::Work;
use crate::checkerboard::{Field, place};
use crate::sparse::SparseFactor;

/// The largest T_jj / M_jj up to which a sheet is left out of a level: by so much the block of a colour differs from D.
/// Measured in docs/pressure.md.
const HEAVY: f64 = 0.1;

/// The sheets of a level whose diagonal is known; no two of them share a cell, nor does one with a block of bodies.
pub fn on_level(level: &Level, sheets: &[Sheet]) -> Vec<Moving> {
    let mut taken: Vec<Name> = Vec::new();
    for member in level.blocks.list.iter().flat_map(|b| &b.members).filter(|_| !sheets.is_empty()) {
        for (colour, cells) in member.cells.iter().enumerate() {
            taken.extend(cells.iter().map(|cell| (colour as u8, cell.0, cell.1)));
        }
        taken.extend(member.supers.iter().map(|s| (SUPERS as u8, s.0, 0)));
    }
    let mut out = Vec::new();
    for sheet in sheets {
        taken.sort_unstable();
        let moving = Moving::new(level, sheet, |name| taken.binary_search(&name).is_err());
        let Some(moving) = moving else { continue };
        for (colour, cells) in moving.cells.iter().enumerate() {
            taken.extend(cells.iter().map(|e| (colour as u8, e.0, e.1)));
        }
        taken.extend(moving.supers.iter().map(|e| (SUPERS as u8, e.0, 0)));
        taken.dedup();
        out.push(moving);
    }
    out
}

/// Gives cells that only sheets couple to anything a diagonal of the sheets' size.
pub fn set_lone_diagonals(level: &mut Level, sheets: &[Sheet]) {
    for sheet in sheets {
        let mass = diagonal(sheet.size, &sheet.mass);
        let form = |row: &mut dyn Iterator<Item = (u32, f64)>| {
            row.map(|(j, c)| c * c / mass[j as usize]).sum::<f64>()
        };
        for run in sheet.cells.chunk_by(|a, b| a.0 == b.0) {
            let (colour, leaf, lane) = run[0].0;
            let place = (colour.into(), (lane >> 2).into(), (lane & 3).into());
            let value = || form(&mut run.iter().map(|e| (e.1, e.2))) as f32;
            level.set_lone_diagonal(leaf as usize, place, value);
        }
        for run in sheet.supers.chunk_by(|a, b| a.0 == b.0) {
            let value = || form(&mut run.iter().map(|e| (e.1, e.2)));
            level.set_lone_super_diagonal(run[0].0 as usize, value);
        }
    }
}

/// Forgets all motion: x = 0.
pub fn rest(work: &mut Work) {
    for motion in &mut work.sheet_motions {
        motion.moved.iter_mut().for_each(|m| m.fill(0.0));
    }
}

/// Computes Cᵀ x of red cells and super-cells anew, after a coarse correction.
pub fn measure(level: &Level, work: &mut Work) {
    let Work { x, x_super, sheet_motions, .. } = work;
    for (sheet, motion) in level.sheets.iter().zip(sheet_motions) {
        for place in [0, SUPERS] {
            motion.moved[place] = sheet.pushed(x, x_super, place);
        }
    }
}

/// Lets the sheets answer a sweep over one colour.
pub fn settle_cells(level: &Level, work: &mut Work, colour: usize) {
    let Work { x, x_super, sheet_motions, .. } = work;
    let diagonal = &level.diagonal[colour];
    for (sheet, motion) in level.sheets.iter().zip(sheet_motions) {
        sheet.answer(colour, &sheet.pushed(x, x_super, colour), motion);
        sheet.for_cells(motion, colour, |leaf, r, k, held| {
            x[colour][leaf][r][k] -= held as f32 / diagonal[leaf][r][k];
        });
    }
}

/// Lets the sheets answer a sweep over the super-cells, of which there are some.
pub fn settle_supers(level: &Level, work: &mut Work) {
    let Work { x, x_super, sheet_motions, .. } = work;
    for (sheet, motion) in level.sheets.iter().zip(sheet_motions) {
        sheet.answer(SUPERS, &sheet.pushed(x, x_super, SUPERS), motion);
        for (b, held) in sheet.of_supers(motion) {
            x_super[b] -= held / level.supers.diagonal[b];
        }
    }
}

/// Takes what the sheets hold back, C M⁻¹ Cᵀ x, from the coarse right side. The last sweep left M⁻¹ Cᵀ x as its answer, and
/// the black rows solved exactly.
pub fn restrict(level: &Level, work: &Work, map: &Aggregation, coarse: &mut Work) {
    for (sheet, motion) in level.sheets.iter().zip(&work.sheet_motions) {
        for (b, held) in sheet.of_supers(motion) {
            match map.supers[b] {
                Parent::Super(p) => coarse.b_super[p as usize] -= held,
                Parent::Cell(l, n) => {
                    let (colour, r, k) = place(n as usize);
                    coarse.b[colour][l as usize][r][k] -= held as f32;
                }
            }
        }
        sheet.for_cells(motion, 0, |leaf, r, k, held| {
            let (colour, leaf, lane) = parent(map, (0, leaf as u32, (r * 4 + k) as u8));
            let half = &mut coarse.b[usize::from(colour)][leaf as usize];
            half[usize::from(lane >> 2)][usize::from(lane & 3)] -= held as f32;
        });
    }
}

impl Moving {
    /// A sheet on a level, with the cells and super-cells that are free; `None`: it is heavy there.
    fn new(level: &Level, sheet: &Sheet, is_free: impl Fn(Name) -> bool) -> Option<Self> {
        let mut out = Self { size: sheet.size, mass: sheet.mass.clone(), ..Self::default() };
        for &(cell, j, c) in sheet.cells.iter().filter(|e| is_free(e.0)) {
            out.cells[usize::from(cell.0)].push((cell.1, cell.2, j, c as f32));
        }
        let alone = |b: u32| level.supers.neighbours[b as usize].is_empty();
        let supers = sheet.supers.iter().filter(|e| alone(e.0) && is_free((SUPERS as u8, e.0, 0)));
        out.supers = supers.copied().collect();
        let mass = diagonal(out.size, &out.mass);
        let responses = [0, 1, SUPERS].map(|place| out.response(level, place));
        let light = responses.iter().any(|response| {
            let own = diagonal(out.size, response);
            own.iter().zip(&mass).any(|(t, m)| *t > HEAVY * m)
        });
        if !light {
            return None;
        }
        for (place, response) in responses.iter().enumerate() {
            if place < SUPERS || level.super_count() > 0 {
                let entries: Vec<_> = out.mass.iter().chain(response).copied().collect();
                // What rounding has made indefinite is left out.
                out.carry[place] = SparseFactor::new(out.size, &entries).ok()?;
            }
        }
        Some(out)
    }

    /// The lower triangle of Cᵀ D⁻¹ C of a colour, or of the super-cells.
    fn response(&self, level: &Level, place: usize) -> Vec<(u32, u32, f64)> {
        let mut entries = Vec::new();
        let mut add = |row: &[(u32, f64)], d: f64| {
            for &(i, c) in row {
                entries.extend(row.iter().filter(|e| e.0 <= i).map(|&(j, o)| (i, j, c * o / d)));
            }
        };
        if place == SUPERS {
            for run in self.supers.chunk_by(|a, b| a.0 == b.0) {
                let row: Vec<(u32, f64)> = run.iter().map(|e| (e.1, e.2)).collect();
                add(&row, level.supers.diagonal[run[0].0 as usize]);
            }
        } else {
            for run in self.cells[place].chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let row: Vec<(u32, f64)> = run.iter().map(|e| (e.2, e.3.into())).collect();
                let (leaf, lane) = (run[0].0 as usize, run[0].1);
                let d = level.diagonal[place][leaf][usize::from(lane >> 2)][usize::from(lane & 3)];
                add(&row, d.into());
            }
        }
        summed(entries)
    }

    /// Cᵀ x of a colour, or of the super-cells.
    fn pushed(&self, x: &Field<f32>, x_super: &[f64], place: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.size];
        if place == SUPERS {
            self.supers.iter().for_each(|&(b, j, c)| out[j as usize] += c * x_super[b as usize]);
        } else {
            for &(leaf, lane, j, c) in &self.cells[place] {
                let x = x[place][leaf as usize][usize::from(lane >> 2)][usize::from(lane & 3)];
                out[j as usize] += f64::from(c) * f64::from(x);
            }
        }
        out
    }

    /// The new Cᵀ x and y of a place, from Cᵀ t.
    fn answer(&self, place: usize, pushed: &[f64], motion: &mut Motion) {
        let (one, two) = (usize::from(place == 0), if place == SUPERS { 1 } else { SUPERS });
        let others: Vec<f64> = motion.moved[one].iter().zip(&motion.moved[two]).map(|(a, b)| a + b).collect();
        let total: Vec<f64> = pushed.iter().zip(&others).map(|(p, o)| p + o).collect();
        self.carry[place].solve(&total, &mut motion.impulse);
        let y = &motion.impulse;
        let moved = &mut motion.moved[place];
        moved.iter_mut().zip(&others).for_each(|(m, o)| *m = -o);
        for &(i, j, v) in &self.mass {
            moved[i as usize] += v * y[j as usize];
            if i != j {
                moved[j as usize] += v * y[i as usize];
            }
        }
    }

    /// Calls `f(leaf, row, lane, Σ c y)` for every cell of one colour. Light sheets push a cell to and fro by much more than
    /// is left: the sum is f64.
    fn for_cells(&self, motion: &Motion, colour: usize, mut f: impl FnMut(usize, usize, usize, f64)) {
        for run in self.cells[colour].chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (leaf, lane) = (run[0].0 as usize, run[0].1);
            let held = run.iter().map(|e| f64::from(e.3) * motion.impulse[e.2 as usize]).sum();
            f(leaf, (lane >> 2).into(), (lane & 3).into(), held);
        }
    }

    /// (super-cell, c · y) of every entry.
    fn of_supers(&self, motion: &Motion) -> impl Iterator<Item = (usize, f64)> {
        self.supers.iter().map(|&(b, j, c)| (b as usize, c * motion.impulse[j as usize]))
    }
}
